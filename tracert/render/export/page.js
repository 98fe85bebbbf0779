/* A run on a page of its own: the stage and, around it, map, step, passage, answer and path.
 * Everything is drawn from the JSON in the page; text only ever goes in as text. */
(() => {
  const { stage: graph, run, trace, css } = JSON.parse(document.getElementById("data").textContent);
  const nodes = new Map(trace.nodes.map((node) => [node.id, node]));
  const rules = new Map(graph.rules.map((rule) => [rule.name, rule]));
  const root = document.documentElement;
  const SVG = "http://www.w3.org/2000/svg";
  const WIDE = 640, HIGH = 470, EDGE = 34;
  const state = { step: graph.frames.length - 1, node: null };

  function el(tag, attributes = {}, ...children) {
    const node = tag.includes(":") ? document.createElementNS(SVG, tag.slice(4)) : document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
      if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
      else if (value !== null && value !== undefined && value !== false) node.setAttribute(name, value === true ? "" : value);
    }
    node.append(...children.filter((child) => child !== null && child !== undefined));
    return node;
  }
  const title = (id) => run.nodes[id]?.[0] ?? id;
  const place = (id) => run.nodes[id]?.[1] ?? "";
  const panel = (heading, ...children) => el("section", { class: "panel" }, el("h2", {}, heading), ...children);
  const capital = (word) => word.charAt(0).toUpperCase() + word.slice(1);
  const passage = (id) => nodes.get(id)?.kind === "chunk" || nodes.get(id)?.kind === "note";

  /* --- the stage ------------------------------------------------------------------------- */

  const host = el("div", { class: "host" });
  const dark = () => root.dataset.theme === "dark";
  let command = 1;
  function update(step, selected) {
    globalThis.tracert.stage({ parentElement: host, data: { ...graph, dark: dark(), command, step, selected }, setStateValue: hear }, css);
  }
  const box = () => host.querySelector("section.stage")?.stage;
  function hear(_name, at) {
    state.step = at.step;
    state.node = at.selected;
    draw();
  }
  function select(id) { if (box()?.nodes.has(id)) box().select(id); state.node = id; draw(); }

  function theme(name) {
    root.dataset.theme = name;
    themeButton.textContent = dark() ? "Light" : "Dark";
    themeButton.title = dark() ? "Show on light paper" : "Show on dark paper";
    if (box()) { update(null, state.node); draw(); }
  }

  /* --- the head -------------------------------------------------------------------------- */

  const themeButton = el("button", { type: "button", onclick: () => theme(dark() ? "light" : "dark") });
  function saveTrace() {
    const link = el("a", { download: "trace.json" });
    link.href = URL.createObjectURL(new Blob([JSON.stringify(trace)], { type: "application/json" }));
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  }
  const stop = trace.result.stop;
  const head = el("header", {},
    el("div", { class: "line" },
      el("span", { class: "badge" }, run.title),
      el("span", { class: `badge ${run.arrived ? "good" : "short"}` }, stop.reason.replaceAll("_", " ")),
      el("span", { class: "grow" }),
      el("span", { class: "tools" },
        themeButton,
        el("button", { type: "button", title: "Print the run, or save it as PDF", onclick: () => print() }, "Print"),
        el("button", { type: "button", title: "The trace in this page as JSON, for Tracert to open", onclick: saveTrace }, "Save trace"))),
    el("h1", {}, trace.question),
    el("p", { class: "about" }, `Over “${trace.corpus.name}”, ${trace.corpus.size.toLocaleString("en")} ${run.unit}s, embedder ${trace.corpus.embedder}.`),
    run.goal && el("p", { class: "about" }, el("b", {}, `Goal${run.goal[0] ? ` (${run.goal[0].toLowerCase()})` : ""}: `), run.goal[1]),
    ...run.notes.map((note) => el("p", { class: "note" }, note)));

  /* --- the map --------------------------------------------------------------------------- */

  const chart = el("svg:svg", { viewBox: `0 0 ${WIDE} ${HIGH}`, role: "img", "aria-label": "Map of the corpus with the walk" });
  const ground = el("svg:g", { class: "ground" });
  const walk = el("svg:g", {});
  chart.append(ground, walk);
  let at = null;
  if (trace.map) {
    const points = [...trace.map.background, ...Object.values(trace.map.positions)];
    const bounds = [0, 1].map((axis) => points.reduce(([low, high], point) => [Math.min(low, point[axis]), Math.max(high, point[axis])], [Infinity, -Infinity]));
    const scale = (value, [low, high], room) => EDGE + ((value - low) / Math.max(high - low, 1e-9)) * (room - 2 * EDGE);
    at = ([x, y]) => [scale(x, bounds[0], WIDE), HIGH - scale(y, bounds[1], HIGH)];
    const dot = trace.map.background.length > 1500 ? 1.5 : 3;
    for (const point of trace.map.background) {
      const [x, y] = at(point);
      ground.append(el("svg:circle", { cx: x.toFixed(1), cy: y.toFixed(1), r: dot }));
    }
  }

  function spot(id) {
    const point = trace.map?.positions[id];
    return point ? at(point) : null;
  }
  function mark(id, shape, colour, size, number) {
    const where = spot(id);
    if (!where) return null;
    const [x, y] = where;
    const forms = {
      dot: `M${-size} 0A${size} ${size} 0 1 0 ${size} 0A${size} ${size} 0 1 0 ${-size} 0Z`,
      diamond: `M0 ${-size * 1.25}L${size * 1.25} 0L0 ${size * 1.25}L${-size * 1.25} 0Z`,
      triangle: `M0 ${-size * 1.1}L${size} ${size * 0.8}L${-size} ${size * 0.8}Z`,
      star: `M${Array.from({ length: 10 }, (_, i) => { const r = i % 2 ? size * 0.6 : size * 1.35; const a = -Math.PI / 2 + (i * Math.PI) / 5; return `${(r * Math.cos(a)).toFixed(1)} ${(r * Math.sin(a)).toFixed(1)}`; }).join("L")}Z`,
    };
    const group = el("svg:g", { transform: `translate(${x.toFixed(1)} ${y.toFixed(1)})`, class: id === state.node ? "mark on" : "mark", style: `--colour: var(--${colour})`, onclick: () => select(id) },
      el("svg:title", {}, title(id)),
      id === state.node ? el("svg:circle", { class: "ring", r: size + 6 }) : null,
      el("svg:path", { d: forms[shape], class: number || shape === "dot" ? "full" : "open" }),
      number ? el("svg:text", { "text-anchor": "middle", dy: "0.36em" }, String(number)) : null);
    return group;
  }
  function drawMap() {
    if (!at) return;
    const frame = graph.frames[state.step];
    const lines = [];
    const moves = [...(box()?.unrolled?.[state.step] ?? frame.trail)];
    if (frame.source && frame.target && !graph.branches) moves.push([frame.source, frame.target]);
    if (graph.branches) for (const [id, , kept] of frame.candidates) if (kept) moves.push([frame.source, id]);
    for (const [from, to] of moves) {
      const [a, b] = [spot(from), spot(to)];
      if (a && b) lines.push(el("svg:line", { x1: a[0], y1: a[1], x2: b[0], y2: b[1], class: "way" }));
    }
    const weighed = frame.candidates.filter(([id, , kept]) => !kept && !(id in frame.order)).slice(0, 60)
      .map(([id, name]) => mark(id, "dot", rules.get(name)?.colour ?? "rejected", 4));
    const walked = Object.entries(frame.order).map(([id, number]) => mark(id, "dot", "path", 11, number));
    const ends = graph.nodes.filter((node) => ["query", "goal", "hop"].includes(node.kind))
      .map((node) => mark(node.id, { query: "diamond", goal: "star", hop: "triangle" }[node.kind], node.kind === "goal" ? "goal" : "query", node.kind === "hop" ? 7 : 10));
    const chosen = passage(state.node) && !(state.node in frame.order) && !frame.candidates.some(([id]) => id === state.node) ? [mark(state.node, "dot", "kept", 5)] : [];
    walk.replaceChildren(...[...lines, ...weighed, ...chosen, ...walked, ...ends].filter(Boolean));
  }

  /* --- step, passage, answer, path ------------------------------------------------------- */

  const table = el("div", { class: "table", tabindex: "0", role: "region", "aria-label": "Candidates of this step" });
  const counted = el("p", { class: "about" });
  function drawStep() {
    const step = run.steps[state.step - 1];
    if (!step) {
      table.replaceChildren();
      counted.textContent = "The candidates appear with the first step. Press play, or use the arrows.";
      return;
    }
    const used = run.columns.map((_, i) => step.rows.some((row) => row[4 + i] !== "n/a"));
    const columns = run.columns.map((column, i) => [column, i]).filter((_, i) => used[i]);
    const header = el("tr", {}, el("th", { scope: "col" }, "Rule"), ...columns.map(([[label, meaning]]) => el("th", { scope: "col", class: "number", title: meaning }, label)), el("th", { scope: "col" }, capital(run.unit)), el("th", { scope: "col" }, "Why"));
    const rows = step.rows.map(([id, name, kept, reason, ...numbers]) => {
      const rule = rules.get(name);
      return el("tr", { class: `${kept ? "kept" : ""} ${id === state.node ? "on" : ""}` },
        el("td", {}, el("i", { class: "swatch", style: `background: var(--${rule?.colour ?? "rejected"})` }), rule?.label ?? name),
        ...columns.map(([, i]) => el("td", { class: "number" }, numbers[i])),
        el("td", {}, el("button", { type: "button", class: "plain", title: place(id), onclick: () => select(id) }, title(id))),
        el("td", { class: "why" }, reason));
    });
    table.replaceChildren(el("table", {}, el("thead", {}, header), el("tbody", {}, ...rows)));
    counted.textContent = `Listed: ${step.rows.length.toLocaleString("en")} of ${step.all.toLocaleString("en")} candidates of step ${state.step}, best first.`;
  }

  const where = el("p", { class: "about selected" });
  const text = el("div", { class: "text" });
  function drawPassage() {
    const node = nodes.get(state.node);
    where.textContent = node ? [run.order[node.id] ? `${capital(run.unit)} ${run.order[node.id]}` : "", place(node.id)].filter(Boolean).join(" · ") : "";
    text.textContent = node ? node.text : `Select a ${run.unit} in the graph, on the map or in the table.`;
  }

  const cite = (id) => el("button", { type: "button", class: "cite", title: place(id) || title(id), onclick: () => select(id) }, String(run.order[id] ?? "·"));
  function answer() {
    const said = trace.result.answer;
    if (!said?.sentences.length) return [el("p", { class: "about" }, "There is no answer, since nothing was found to answer from.")];
    return [
      el("p", { class: "prose" }, ...said.sentences.flatMap((sentence) => [sentence.text, ...sentence.citations.filter((id) => nodes.has(id)).map(cite), ...sentence.unknown.map((name) => el("span", { class: "unknown", title: "The model cites what is not there." }, `${name}?`)), " "])),
      el("p", { class: "about" }, said.source === "extract" ? "An extract: sentences word for word. No model wrote this." : `Written by ${said.source}. ${said.note}`)];
  }

  const path = el("ol", { class: "path", start: "0" }, ...run.path.map((said, i) => el("li", {}, el("button", { type: "button", class: "plain", onclick: () => box()?.go(i) }, said))));
  const found = trace.result.evidence.map((id) => el("article", { class: "source" },
    el("h3", {}, cite(id), " ", el("span", {}, title(id))), el("p", { class: "about" }, place(id)), el("div", { class: "text" }, nodes.get(id).text)));
  const all = el("details", { class: "panel" }, el("summary", {}, found.length === 1 ? `The ${run.unit} found` : `All ${found.length} ${run.unit}s found`), ...found);
  const more = el("details", { class: "panel" }, el("summary", {}, "Settings, cost and method"),
    el("p", {}, run.chapters),
    el("dl", {}, ...run.settings.flatMap(([name, value]) => [el("dt", {}, name), el("dd", {}, value)])),
    el("p", { class: "about" }, `Spent: ${run.spent}`),
    el("p", { class: "about" }, `Seed ${trace.seed}. Corpus fingerprint ${trace.corpus.fingerprint}`));

  function draw() {
    drawMap();
    drawStep();
    drawPassage();
    [...path.children].forEach((item, i) => item.classList.toggle("on", i === state.step));
  }

  const mapKind = trace.map ? `${trace.map.kind.toUpperCase()} map` : "Map";
  document.getElementById("page").append(
    head,
    el("div", { class: "columns" },
      el("div", {}, host),
      el("div", {}, panel(mapKind, trace.map ? chart : el("p", { class: "about" }, "This run was saved without a map."), trace.map ? el("p", { class: "about" }, `${run.goal ? "Question and goal were" : "The question was"} placed on the map afterwards, so approximate.`) : null))),
    el("div", { class: "columns" },
      el("div", {}, panel("The answer", ...answer()), panel("This step in numbers", table, counted)),
      el("div", {}, panel(`The ${run.unit}`, where, text), panel("The path in words", path))),
    all, more,
    el("footer", {}, "One file, made by Tracert. It asks no network, and every text in it is shown as text."));

  const prefers = matchMedia("(prefers-color-scheme: dark)");
  theme(prefers.matches ? "dark" : "light");
  prefers.addEventListener("change", (event) => theme(event.matches ? "dark" : "light"));
  const passages = Object.keys(run.order);
  state.node = passages.at(-1) ?? trace.result.path.at(-1) ?? null;
  update(state.step, state.node);
  draw();

  /* Paper is light, and nothing on it is folded. */
  let before = null;
  addEventListener("beforeprint", () => {
    before = { theme: root.dataset.theme, open: [all.open, more.open] };
    all.open = more.open = true;
    theme("light");
  });
  addEventListener("afterprint", () => {
    if (!before) return;
    [all.open, more.open] = before.open;
    theme(before.theme);
    before = null;
  });
})();
