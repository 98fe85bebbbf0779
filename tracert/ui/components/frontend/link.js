/* A link to what the page shows: its address in a field and a button that copies it. The address
 * of the page is the browser's own, so that it holds behind any proxy. */
(() => {
  const mounted = new WeakMap();

  function build(root, css) {
    const style = document.createElement("style");
    style.textContent = css;
    const box = document.createElement("div");
    box.className = "link";
    const field = document.createElement("input");
    field.readOnly = true;
    field.setAttribute("aria-label", "Link to what this page shows");
    field.addEventListener("focus", () => field.select());
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = "Copy link";
    const said = document.createElement("span");
    said.className = "said";
    said.setAttribute("role", "status");
    button.addEventListener("click", async () => {
      let copied = true;
      try { await navigator.clipboard.writeText(field.value); } catch { field.select(); copied = document.execCommand("copy"); }
      said.textContent = copied ? "Copied." : "Select the link and copy it.";
      clearTimeout(box.timer);
      box.timer = setTimeout(() => { said.textContent = ""; }, 4000);
    });
    box.append(field, button, said);
    root.replaceChildren(style, box);
    return { box, field };
  }

  globalThis.tracert = globalThis.tracert ?? {};
  globalThis.tracert.link = ({ parentElement, data }, css) => {
    let made = mounted.get(parentElement);
    if (!made) { made = build(parentElement, css); mounted.set(parentElement, made); }
    const address = new URL(location.href);
    address.search = data.query;
    address.hash = "";
    made.field.value = address.href;
    return () => { clearTimeout(made.box.timer); mounted.delete(parentElement); };
  };
})();
