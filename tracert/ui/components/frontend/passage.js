/* A passage in its source: pieces of text with a role each, put in as text and never as HTML. */
(() => {
  globalThis.tracert = globalThis.tracert ?? {};
  globalThis.tracert.passage = ({ parentElement, data }, css) => {
    const style = document.createElement("style");
    style.textContent = css;
    const box = document.createElement("div");
    box.className = "passage";
    box.tabIndex = 0;
    box.setAttribute("role", "document");
    box.setAttribute("aria-label", data.label);
    for (const [role, text] of data.pieces) {
      const piece = document.createElement(role === "sentence" ? "mark" : "span");
      if (role !== "sentence") piece.className = role;
      piece.textContent = text;
      box.append(piece);
    }
    parentElement.replaceChildren(style, box);
    const here = box.querySelector(".here, mark");
    if (here) box.scrollTop = Math.max(0, here.offsetTop - box.offsetTop - 60);
  };
})();
