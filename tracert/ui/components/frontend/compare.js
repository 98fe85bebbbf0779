/* Methods beside one another: cards of what each found, and the matrix of passages by finder. */
(() => {
  const make = (tag, name, text) => {
    const node = document.createElement(tag);
    if (name) node.className = name;
    if (text !== undefined) node.textContent = text;
    return node;
  };
  const SVG = "http://www.w3.org/2000/svg";
  const SHAPES = {
    circle: "M12 2a10 10 0 1 0 0.001 0z",
    square: "M3.2 3.2h17.6v17.6H3.2z",
    diamond: "M12 0.6L23.4 12 12 23.4 0.6 12z",
    triangle: "M12 1.5L23.2 21.8H0.8z",
    hexagon: "M6.2 2h11.6L23.6 12l-5.8 10H6.2L0.4 12z",
    star: "M12 0.8l3.3 7.6 8.2.8-6.2 5.5 1.8 8.1L12 18.6l-7.1 4.2 1.8-8.1L.5 9.2l8.2-.8z",
    pentagon: "M12 1l11.4 8.3-4.4 13.4H5L.6 9.3z",
  };

  function mark(method, text, hollow) {
    const svg = document.createElementNS(SVG, "svg");
    svg.setAttribute("viewBox", "-1.5 -1.5 27 27");
    svg.setAttribute("class", hollow ? "mark hollow" : "mark");
    svg.setAttribute("aria-hidden", "true");
    svg.style.color = method.colour;
    const path = document.createElementNS(SVG, "path");
    path.setAttribute("d", SHAPES[method.shape] ?? SHAPES.circle);
    svg.append(path);
    if (text !== undefined) {
      const label = document.createElementNS(SVG, "text");
      label.setAttribute("x", "12");
      label.setAttribute("y", method.shape === "triangle" ? "18.6" : "16.2");
      label.textContent = text;
      svg.append(label);
    }
    return svg;
  }

  function chip(gold, method, data, pick) {
    const found = gold.hop !== null;
    const node = make("button", found ? "gold found" : "gold missed");
    node.type = "button";
    node.style.setProperty("--own", method.colour);
    node.append(make("b", "", `${gold.number}`));
    node.append(make("span", "", found ? `hop ${gold.hop}` : gold.filled ? "fill-up" : "missed"));
    node.title = gold.title;
    node.setAttribute("aria-label", `${method.title}: ${gold.said}`);
    node.setAttribute("aria-pressed", String(gold.id === data.selected));
    if (gold.id) node.addEventListener("click", () => pick(gold.id));
    else node.disabled = true;
    return node;
  }

  function board(data, pick) {
    const box = make("div", "board");
    for (const method of data.methods) {
      const card = make("section", "card");
      card.style.setProperty("--own", method.colour);
      const head = make("h4");
      head.append(mark(method), make("span", "", method.title));
      card.append(head);
      const big = make("p", "big", method.big);
      if (method.of) big.append(make("small", "", method.of));
      card.append(big);
      if (method.gold.length) {
        const line = make("div", "golds");
        line.append(...method.gold.map((gold) => chip(gold, method, data, pick)));
        card.append(line);
      }
      for (const line of method.lines) card.append(make("p", "line", line));
      if (method.note) card.append(make("p", "note", method.note));
      box.append(card);
    }
    return box;
  }

  function cell(entry, method, row) {
    const td = make("td", "cell");
    if (!entry) {
      td.append(make("span", "none", "·"));
      td.setAttribute("aria-label", `${method.title}: not found`);
      return td;
    }
    td.append(mark(method, entry.filled ? undefined : String(entry.rank), entry.filled));
    td.title = entry.said;
    td.setAttribute("aria-label", `${method.title}: ${entry.said}`);
    return td;
  }

  function line(row, data, pick) {
    const tr = make("tr", "passage");
    tr.dataset.node = row.id;
    if (row.id === data.selected) tr.classList.add("chosen");
    row.cells.forEach((entry, place) => tr.append(cell(entry, data.methods[place], row)));
    const th = make("th", "name");
    th.scope = "row";
    const button = make("button", "pick");
    button.type = "button";
    button.setAttribute("aria-pressed", String(row.id === data.selected));
    if (row.gold) {
      const gold = make("b", "star", `★ ${row.gold}`);
      gold.title = `Gold passage ${row.gold}`;
      button.append(gold);
    }
    button.append(make("span", "", row.title), make("small", "", row.where));
    th.append(button);
    tr.append(th);
    tr.addEventListener("click", () => pick(row.id));
    return tr;
  }

  function matrix(data, pick) {
    const table = make("table", "matrix");
    table.setAttribute("aria-label", data.label);
    const head = make("tr");
    for (const method of data.methods) {
      const th = make("th", "method");
      th.scope = "col";
      th.append(mark(method), make("span", "", method.title));
      head.append(th);
    }
    const last = make("th", "name");
    last.scope = "col";
    last.append(make("span", "", data.heading));
    head.append(last);
    const top = make("thead");
    top.append(head);
    table.append(top);
    const most = Math.max(1, ...data.groups.map((group) => group.rows.length));
    for (const group of data.groups) {
      const body = make("tbody");
      const tr = make("tr", "group");
      group.dots.forEach((on, place) => {
        const td = make("td", "dot");
        const dot = make("i", on ? "on" : "");
        if (on) dot.style.background = data.methods[place].colour;
        td.append(dot);
        tr.append(td);
      });
      const th = make("th", "name");
      th.scope = "rowgroup";
      const bar = make("i", "bar");
      bar.style.width = `${Math.round((90 * group.rows.length) / most)}px`;
      th.append(bar, make("b", "", String(group.rows.length)), make("span", "", group.label));
      tr.append(th);
      body.append(tr, ...group.rows.map((row) => line(row, data, pick)));
      table.append(body);
    }
    const box = make("div", "scroll");
    box.append(table);
    return box;
  }

  globalThis.tracert = globalThis.tracert ?? {};
  globalThis.tracert.compare = ({ parentElement, data, setStateValue }, css) => {
    const pick = (id) => setStateValue("pick", { id, moment: Date.now() });
    const style = document.createElement("style");
    style.textContent = css;
    const kept = parentElement.querySelector(".scroll")?.scrollTop ?? 0;
    const box = make("div", data.dark ? "compare dark" : "compare");
    box.append(data.kind === "board" ? board(data, pick) : matrix(data, pick));
    parentElement.replaceChildren(style, box);
    const scroll = box.querySelector(".scroll");
    if (scroll) scroll.scrollTop = kept;
  };
})();
