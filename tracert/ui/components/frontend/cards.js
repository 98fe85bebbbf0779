/* Lists of passages and prose with citations: buttons that select, text that is only text. */
(() => {
  const make = (tag, name, text) => {
    const node = document.createElement(tag);
    if (name) node.className = name;
    if (text !== undefined) node.textContent = text;
    return node;
  };

  function row(item, data, pick) {
    const line = make(item.id ? "button" : "div", "row");
    if (item.id) {
      line.type = "button";
      line.dataset.node = item.id;
      line.setAttribute("aria-pressed", String(item.id === data.selected));
      line.addEventListener("click", () => pick(item.id));
    }
    if (item.badge) line.append(make("span", item.path ? "badge path" : "badge", item.badge));
    const body = make("span", "body", item.title);
    if (item.where) body.append(make("small", "", item.where));
    line.append(body);
    const entry = document.createElement("li");
    entry.append(line);
    return entry;
  }

  function prose(sentences, pick) {
    const box = make("div", "prose");
    for (const sentence of sentences) {
      box.append(make("span", "", sentence.text));
      for (const cite of sentence.cites) {
        const chip = make("button", "cite", cite.number);
        chip.type = "button";
        chip.title = cite.title;
        chip.setAttribute("aria-label", `Citation: ${cite.title}`);
        chip.addEventListener("click", () => pick(cite.id));
        box.append(chip);
      }
      for (const name of sentence.unknown) {
        const chip = make("span", "cite unknown", `? ${name}`);
        chip.title = "The model cited a passage that is not among the evidence.";
        box.append(chip);
      }
      box.append(" ");
    }
    return box;
  }

  globalThis.tracert = globalThis.tracert ?? {};
  globalThis.tracert.cards = ({ parentElement, data, setStateValue }, css) => {
    const pick = (id) => setStateValue("pick", { id, moment: Date.now() });
    const style = document.createElement("style");
    style.textContent = css;
    const box = make("div", "cards");
    box.style.setProperty("--mark", data.mark ?? (data.dark ? "#ff9a4d" : "#c2500a"));
    if (data.prose) box.append(prose(data.prose, pick));
    for (const group of data.groups ?? []) {
      if (group.heading) {
        const heading = make("h4", "", group.heading);
        if (group.count !== undefined) heading.append(make("span", "", group.count));
        box.append(heading);
      }
      if (group.call) box.append(make("code", group.now ? "call now" : "call", group.call));
      if (group.lead) box.append(make("p", "", group.lead));
      if (!group.items.length && group.empty) box.append(make("p", "", group.empty));
      const list = document.createElement(group.ordered ? "ol" : "ul");
      if (group.mark) list.style.setProperty("--mark", group.mark);
      list.append(...group.items.map((item) => row(item, data, pick)));
      box.append(list);
    }
    parentElement.replaceChildren(style, box);
  };
})();
