/* The stage: the graph of a trace and its player. Loaded once on globalThis.tracert by the
 * loader; each mount gives `data` (see tracert.render.network.payload). Steps are drawn here at
 * once; Python hears of them afterwards through setStateValue("at", ...). Text of documents
 * only ever goes through textContent and the canvas. */
(() => {
  const mounted = new WeakMap();
  const still = () => matchMedia("(prefers-reduced-motion: reduce)").matches;
  const SPEEDS = [["0.5", "½×"], ["1", "1×"], ["2", "2×"], ["4", "4×"]];
  const BEAT = 1600;
  const TWEEN = 420;
  const ICONS = {
    first: "M3 3h2v10H3zM13 3v10L6 8z", back: "M11 3v10L4 8z", play: "M4 2.5v11L13 8z",
    before: "M13 3v10L8 8zM7 3v10L2 8z", after: "M3 3v10l5-5zM9 3v10l5-5z",
    pause: "M4 3h3v10H4zM9 3h3v10H9z", next: "M5 3v10l7-5z", last: "M11 3h2v10h-2zM3 3v10l7-5z",
  };

  function el(tag, attributes = {}, ...children) {
    const node = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
      if (name === "class") node.className = value;
      else if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
      else if (value === true) node.setAttribute(name, "");
      else if (value !== false && value != null) node.setAttribute(name, value);
    }
    node.append(...children);
    return node;
  }

  function svg(tag, attributes) {
    const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
    return node;
  }

  function icon(name) {
    const box = svg("svg", { viewBox: "0 0 16 16", "aria-hidden": "true" });
    box.append(svg("path", { d: ICONS[name] }));
    return box;
  }

  /* The outline of each shape, about the origin, with radius r; for canvas and legend alike. */
  function outline(shape, r) {
    const ring = (points) => "M" + points.map(([x, y]) => `${x.toFixed(2)} ${y.toFixed(2)}`).join("L") + "Z";
    if (shape === "diamond") return ring([[0, -r * 1.2], [r * 1.2, 0], [0, r * 1.2], [-r * 1.2, 0]]);
    if (shape === "square") return ring([[-r, -r], [r, -r], [r, r], [-r, r]]);
    if (shape === "triangle") return ring([[0, -r * 1.1], [r, r * 0.8], [-r, r * 0.8]]);
    if (shape === "star") {
      return ring(Array.from({ length: 10 }, (_, i) => {
        const length = i % 2 ? r * 0.58 : r * 1.32;
        const angle = -Math.PI / 2 + (i * Math.PI) / 5;
        return [length * Math.cos(angle), length * Math.sin(angle)];
      }));
    }
    if (shape === "cross") {
      const d = r * 0.75;
      return `M${-d} ${-d}L${d} ${d}M${d} ${-d}L${-d} ${d}`;
    }
    return `M${r} 0A${r} ${r} 0 1 1 ${-r} 0A${r} ${r} 0 1 1 ${r} 0Z`;
  }
  const hollow = (shape) => shape === "ring" || shape === "cross";

  const leadsAway = (link) => link && link.target !== "_blank" && !link.hasAttribute("download")
    && link.origin === location.origin && link.pathname !== location.pathname;

  class Stage {
    constructor(root, css) {
      this.root = root;
      this.step = 0;
      this.selected = null;
      this.hovered = null;
      this.layout = "path";
      this.speed = 1;
      this.network = null;
      this.command = null;
      this.data = null;
      this.build(css);
    }

    build(css) {
      const style = document.createElement("style");
      style.textContent = css;
      const button = (name, label, action) => el("button", { type: "button", "aria-label": label, title: label, class: name, onclick: action }, icon(name));
      this.box = el("section", { class: "stage", tabindex: "0", role: "group", "aria-label": "Graph of the walk with a player. Left and right arrows step, up and down go through the candidates, space plays." });
      this.search = el("input", { type: "search", placeholder: "Find a passage", "aria-label": "Find a passage in the graph", role: "combobox", "aria-expanded": "false", "aria-controls": "found", autocomplete: "off" });
      this.found = el("ul", { class: "found", id: "found", role: "listbox", "aria-label": "Passages found" });
      this.pathButton = el("button", { type: "button", "aria-pressed": "true", title: "The walk unrolled from left to right", onclick: () => this.setLayout("path") }, "Path");
      this.treeButton = el("button", { type: "button", "aria-pressed": "false", hidden: true, title: "The whole graph of notes around the question", onclick: () => this.setLayout("tree") }, "Tree");
      this.bareButton = el("button", { type: "button", "aria-pressed": "false", hidden: true, title: "Hide what has not been revealed yet, as the model sees it", onclick: () => this.setBare(!this.bare) }, "Only what is revealed");
      this.mapButton = el("button", { type: "button", "aria-pressed": "false", title: "The positions of the map", onclick: () => this.setLayout("map") }, "Map");
      this.count = el("span", { class: "muted count" });
      this.net = el("div", { class: "net", "aria-hidden": "true" });
      this.wait = el("div", { class: "wait" }, "Drawing the graph…");
      this.card = el("div", { class: "card", hidden: true });
      this.canvas = el("div", { class: "canvas" }, this.net, this.wait, this.card);
      this.legend = el("ul", { class: "legend", "aria-label": "Legend" });
      this.say = el("div", { class: "say", role: "status", "aria-live": "polite" });
      this.playButton = button("play", "Play (space)", () => this.toggle());
      this.firstButton = button("first", "First step (Home)", () => this.go(0));
      this.backButton = button("back", "One step back (left arrow)", () => this.go(this.step - 1));
      this.nextButton = button("next", "Next step (right arrow)", () => this.go(this.step + 1));
      this.lastButton = button("last", "Last step (End)", () => this.go(this.lastStep()));
      this.beforeButton = button("before", "Previous hop (page up)", () => this.leap(-1));
      this.afterButton = button("after", "Next hop (page down)", () => this.leap(1));
      this.slider = el("input", { type: "range", min: "0", step: "1", "aria-label": "Step", oninput: () => this.go(Number(this.slider.value)) });
      this.at = el("span", { class: "at muted" });
      this.speedBox = el("select", { "aria-label": "Speed of playing", onchange: () => { this.speed = Number(this.speedBox.value); if (this.timer) this.beat(); } },
        ...SPEEDS.map(([value, label]) => el("option", { value, selected: value === "1" }, label)));
      this.box.append(
        el("div", { class: "bar top" },
          el("span", { class: "pair", role: "group", "aria-label": "Layout of the graph" }, this.treeButton, this.pathButton, this.mapButton),
          this.bareButton,
          el("button", { type: "button", title: "Show the whole graph", onclick: () => this.fit(true) }, "Fit"),
          el("button", { type: "button", title: "Save a picture of the graph", onclick: () => globalThis.tracert.savePicture(this) }, "PNG"),
          el("span", { class: "grow" }), this.count,
          el("div", { class: "find" }, this.search, this.found)),
        this.canvas,
        el("div", { class: "bar player", role: "group", "aria-label": "Player" },
          this.firstButton, this.beforeButton, this.backButton, this.playButton, this.nextButton, this.afterButton, this.lastButton,
          this.slider, this.at, this.speedBox),
        this.say, this.legend);
      // For scripts of the browser tests and of teachers: where is a node, which step is it?
      this.box.stage = this;
      this.root.replaceChildren(style, this.box);
      this.search.addEventListener("input", () => this.showFound());
      this.search.addEventListener("keydown", (event) => this.searchKey(event));
      this.search.addEventListener("blur", () => setTimeout(() => this.closeFound(), 150));
      this.onKey = (event) => this.key(event);
      document.addEventListener("keydown", this.onKey);
      this.onLink = (event) => { if (leadsAway(event.target.closest?.("a[href]"))) this.leave(); };
      // Pressed is early enough for what is on its way already; a key clicks without pressing.
      for (const name of ["pointerdown", "click"]) document.addEventListener(name, this.onLink, true);
      this.onHistory = () => this.leave();
      window.addEventListener("popstate", this.onHistory, true);
      this.observer = new ResizeObserver(() => this.resized());
      this.observer.observe(this.canvas);
    }

    /* --- data from Python --------------------------------------------------------------- */

    update(data, send) {
      this.send = send;
      const fresh = this.data === null || this.data.revision !== data.revision;
      this.data = data;
      this.dark = data.dark;
      this.box.classList.toggle("dark", this.dark);
      if (fresh) {
        this.unrolled = this.unroll();
        this.ends = this.endsOf(data);
        this.beforeButton.hidden = this.afterButton.hidden = !data.branches;
        this.pathButton.textContent = data.groups?.length ? "Groups" : data.branches ? "Tree" : "Path";
        this.pathButton.title = data.groups?.length ? "Entities in the circles of their communities, and the passages that they lead to" : data.branches ? "Hop under hop, each query above what it found" : "The walk unrolled from left to right";
        this.nodes = new Map(data.nodes.map((node) => [node.id, node]));
        this.rules = new Map(data.rules.map((rule) => [rule.name, rule]));
        if (!this.nodes.has(this.selected)) this.selected = null;
      }
      if (data.command !== this.command) {
        this.command = data.command;
        this.selected = data.selected;
        if (fresh || data.step !== null) this.step = Math.min(data.step ?? this.lastStep(), this.lastStep());
      }
      this.step = Math.max(0, Math.min(this.step, this.lastStep()));
      this.slider.max = String(this.lastStep());
      const placed = Object.keys(data.layouts.map).length > 0;
      const tree = Boolean(data.layouts.tree);
      this.treeButton.hidden = this.bareButton.hidden = !tree;
      if (tree && !this.wasTree) this.layout = "tree";
      if (!tree && this.layout === "tree") this.layout = "path";
      this.wasTree = tree;
      const unit = data.unit ?? "passage";
      this.search.placeholder = `Find a ${unit}`;
      this.search.setAttribute("aria-label", `Find a ${unit} in the graph`);
      this.mapButton.disabled = !placed;
      this.mapButton.textContent = data.mapKind || "Map";
      if (!placed && this.layout === "map") this.layout = "path";
      this.pressLayout();
      this.count.textContent = `Showing ${data.shown} of ${data.total} nodes`;
      this.count.title = `The trace names ${data.total} of the corpus's ${data.size} ${unit}s, question and goal included.`;
      this.readColours();
      if (fresh) this.make();
      this.draw();
      this.box.dataset.revision = data.revision;
    }

    readColours() {
      const style = getComputedStyle(this.box);
      const read = (name) => style.getPropertyValue(name).trim();
      this.colours = { query: read("--query"), goal: read("--goal"), path: read("--path"), kept: read("--kept"), rejected: read("--rejected"), ink: read("--st-text-color"), paper: read("--st-background-color"), line: read("--st-border-color") };
      this.font = read("--st-font") || "sans-serif";
    }

    /* The kept passages that lead nowhere: those of a rule that has a hollow shape. */
    endsOf(data) {
      const rules = new Set(data.rules.filter((rule) => rule.colour === "path" && hollow(rule.shape)).map((rule) => rule.name));
      return new Set(data.frames.flatMap((frame) => frame.candidates.filter(([, name]) => rules.has(name)).map(([id]) => id)));
    }

    /* The moves before each frame. A walk that branches sends what each frame adds. */
    unroll() {
      if (!this.data.branches) return this.data.frames.map((frame) => frame.trail);
      let all = [];
      return this.data.frames.map((frame) => (all = frame.trail.length ? all.concat(frame.trail) : all));
    }

    trail(step = this.step) { return this.unrolled[step]; }

    /* What the rules ended at the queries before this frame: [query, passage, rule]. */
    stubs() {
      if (!this.data.branches) return [];
      const found = [];
      for (const frame of this.data.frames.slice(1, this.step)) {
        for (const [id, name, kept] of frame.candidates) if (!kept) found.push([frame.source, id, name]);
      }
      return found.slice(-400);
    }

    lastStep() { return this.data ? this.data.frames.length - 1 : 0; }

    make() {
      const kept = this.network && this.kept ? { at: this.network.getViewPosition(), scale: this.network.getScale() } : null;
      if (this.network) this.network.destroy();
      const vis = globalThis.vis;
      this.points = new vis.DataSet(this.data.nodes.map((node) => this.point(node)));
      this.lines = new vis.DataSet([]);
      this.network = new vis.Network(this.net, { nodes: this.points, edges: this.lines }, {
        physics: false, autoResize: false, layout: { improvedLayout: false },
        interaction: { hover: true, dragNodes: false, keyboard: false, selectConnectedEdges: false, tooltipDelay: 1e9 },
        nodes: { shape: "custom", ctxRenderer: (context) => this.paint(context), chosen: false },
        edges: { smooth: false, chosen: false, hoverWidth: 0, selectionWidth: 0 },
      });
      this.network.on("click", (event) => { this.box.focus({ preventScroll: true }); if (event.nodes.length) this.select(event.nodes[0]); });
      this.network.on("hoverNode", (event) => this.hover(event.node));
      this.network.on("blurNode", () => this.hover(null));
      this.network.on("zoom", () => { this.kept = true; this.hover(null); });
      this.network.on("dragEnd", () => { this.kept = true; });
      this.network.on("beforeDrawing", (context) => this.circles("paint", context));
      this.network.on("afterDrawing", (context) => { this.circles("titles", context); this.token(context); });
      this.wait.hidden = true;
      this.width = this.canvas.clientWidth;
      this.network.setSize("100%", "100%");
      this.network.redraw();
      if (kept) this.network.moveTo({ position: kept.at, scale: kept.scale });
      else this.fit(false);
    }

    /* The communities under the nodes, and their titles over them. */
    circles(what, context) {
      if (what === "paint") this.taken = [];
      if (this.layout !== "path" || !this.data.groups?.length) return;
      const reached = new Set(this.trail().flat());
      for (const [id, , kept] of this.data.frames[this.step].candidates) if (kept) reached.add(id);
      const around = new Map(this.data.nodes.map((node) => [node.id, node.group]));
      for (const id of [...reached]) if (around.get(id)) reached.add(around.get(id));
      const rooms = globalThis.tracert.groups[what](context, this.data.groups, { dark: this.dark, scale: this.network.getScale(), strong: reached, selected: this.selected, ink: this.colours.ink, paper: this.colours.paper, font: this.font });
      if (what === "paint") this.taken = rooms;
    }

    /* Whether a label finds room among those drawn already; if so the room is taken. */
    hasRoom(left, top, width, height) {
      const meets = ([x, y, w, h]) => left < x + w && x < left + width && top < y + h && y < top + height;
      if (this.taken?.some(meets)) return false;
      this.taken?.push([left, top, width, height]);
      return true;
    }

    point(node) {
      const [x, y] = this.data.layouts[this.layout][node.id] ?? [0, 0];
      return { id: node.id, x, y, fixed: true, label: "", hidden: this.isHidden(node.id) };
    }

    /* A graph of notes draws those that the walk has not revealed as outlines, or not at all. */
    isHidden(id) {
      if (!this.data.links) return false;
      return !this.data.layouts[this.layout][id] || Boolean(this.bare && this.seen && !this.seen.has(id));
    }

    pressLayout() {
      for (const [name, button] of [["tree", this.treeButton], ["path", this.pathButton], ["map", this.mapButton]]) {
        button.setAttribute("aria-pressed", String(this.layout === name));
      }
    }

    setBare(bare) {
      this.bare = bare;
      this.bareButton.setAttribute("aria-pressed", String(bare));
      this.draw();
    }

    /* The notes revealed up to this step, and the score that each got last. */
    readReveals() {
      this.seen = null;
      this.scores = {};
      if (!this.data.links) return;
      this.seen = new Set(this.data.nodes.filter((node) => node.kind !== "note").map((node) => node.id));
      for (const [from, to] of this.data.overlay?.moves ?? []) this.seen.add(from).add(to);
      for (const frame of this.data.frames.slice(0, this.step + 1)) {
        for (const id of frame.revealed) this.seen.add(id);
        Object.assign(this.scores, frame.scores);
      }
    }

    setLayout(name) {
      if (this.layout === name || !this.data) return;
      this.layout = name;
      this.pressLayout();
      this.points.update(this.data.nodes.map((node) => this.point(node)));
      this.draw();
      this.fit(true);
    }

    resized() {
      if (!this.network || !this.canvas.clientWidth) return;
      const before = this.width;
      this.width = this.canvas.clientWidth;
      this.network.setSize("100%", "100%");
      this.network.redraw();
      if (!this.kept || before !== this.width) this.fit(false);
    }

    /* Labels beside the kept passages need room to the right of them. */
    margin() {
      if (!this.data.layered || this.layout !== "path") return [];
      const kept = new Set(this.data.frames[this.lastStep()].candidates.filter(([, , yes]) => yes).map(([id]) => id));
      return this.data.nodes.filter((node) => kept.has(node.id) && node.kind === "chunk").map((node) => { const [x, y] = this.data.layouts.path[node.id]; return [x + 400, y]; });
    }

    /* The whole graph, with room at its edges for the labels. */
    fit(animate) {
      if (!this.network) return;
      this.kept = false;
      const rims = this.layout === "path" ? (this.data.groups ?? []).flatMap(({ x, y, r }) => [[x - r, y - r - 24], [x + r, y + r]]) : [];
      const places = [...Object.values(this.data.layouts[this.layout]), ...rims, ...this.margin()];
      if (!places.length) return;
      const span = (axis) => { const all = places.map((place) => place[axis]); return [Math.min(...all), Math.max(...all)]; };
      const [[left, right], [top, bottom]] = [span(0), span(1)];
      const { clientWidth: wide, clientHeight: high } = this.canvas;
      const scale = Math.min((wide - 110) / Math.max(right - left, 1), (high - 76) / Math.max(bottom - top, 1), 1.25);
      this.network.moveTo({
        position: { x: (left + right) / 2, y: (top + bottom) / 2 }, scale: Math.max(scale, 0.05),
        animation: animate && !still() ? { duration: 300, easingFunction: "easeInOutQuad" } : false,
      });
    }

    /* --- one frame ------------------------------------------------------------------------ */

    draw() {
      if (!this.network) return;
      const frame = this.data.frames[this.step];
      this.readReveals();
      this.roles = this.rolesOf(frame);
      this.lines.clear();
      this.lines.add([...this.outlines(), ...this.edges(frame)]);
      this.points.update(this.data.nodes.map((node) => ({ id: node.id, size: this.roles.get(node.id).radius, hidden: this.isHidden(node.id) })));
      this.say.textContent = frame.say;
      this.slider.value = String(this.step);
      this.at.textContent = this.step === 0 ? "Start" : frame.at ? frame.at : `Step ${this.step} of ${this.lastStep()}`;
      this.slider.setAttribute("aria-valuetext", this.at.textContent);
      this.firstButton.disabled = this.backButton.disabled = this.step === 0;
      this.nextButton.disabled = this.lastButton.disabled = this.step === this.lastStep();
      this.playButton.disabled = this.lastStep() === 0;
      this.beforeButton.disabled = this.firstButton.disabled;
      this.afterButton.disabled = this.nextButton.disabled;
      this.drawLegend(frame);
      this.box.dataset.step = String(this.step);
      this.box.dataset.selected = this.selected ?? "";
      if (this.hovered) this.hover(this.hovered);
    }

    rolesOf(frame) {
      const roles = new Map();
      const walked = new Set(this.trail().flat());
      for (const node of this.data.nodes) {
        roles.set(node.id, { colour: "rejected", shape: "ring", radius: 4.5, opacity: this.data.links ? 0.6 : 0.35, number: null, label: false });
      }
      for (const [, id, name] of this.stubs()) {
        const rule = this.rules.get(name);
        if (rule && roles.has(id)) roles.set(id, { colour: rule.colour, shape: rule.shape, radius: 4.5, opacity: 0.55, number: null, label: false });
      }
      let near = 0;
      for (const [id, name, kept, score] of frame.candidates) {
        const rule = this.rules.get(name);
        if (!rule || !roles.has(id)) continue;
        if (this.seen && !this.seen.has(id)) continue;
        const strong = rule.line !== "none" && !kept ? near++ < 8 : kept;
        roles.set(id, { colour: rule.colour, shape: rule.shape, radius: kept ? 11 : rule.line === "none" ? 5 : 7.5, opacity: kept || strong ? 1 : rule.line === "none" ? 0.5 : 0.75, number: null, label: false, under: this.data.branches && !kept && Number.isFinite(Number(score)) ? Number(score).toFixed(2) : null });
      }
      if (this.data.layered) this.markKept(roles, walked);
      const roomy = !this.data.branches || this.layout !== "path" || this.data.labelWidth >= 90;
      for (const [id, number] of Object.entries(frame.order)) {
        if (roles.has(id)) roles.set(id, { colour: "path", shape: "dot", radius: 15, opacity: 1, number, label: roomy, hollow: this.ends.has(id) });
      }
      if (this.data.layered && this.layout === "path") for (const id of Object.keys(frame.order)) if (roles.has(id)) roles.get(id).side = true;
      for (const node of this.data.nodes) {
        if (node.kind === "hop") roles.set(node.id, { colour: "query", shape: "triangle", radius: 11, opacity: walked.has(node.id) ? 1 : 0.3, number: null, label: false, beside: node.name, hollow: !walked.has(node.id) });
        if (node.kind === "query") roles.set(node.id, { colour: "query", shape: "diamond", radius: 15, opacity: 1, number: null, label: true, name: "Question" });
        if (node.kind === "goal") roles.set(node.id, { colour: "goal", shape: "star", radius: 16, opacity: 1, number: null, label: true, name: "Goal", hollow: !walked.has(node.id) && frame.target !== node.id });
      }
      if (this.seen) this.sizeByScore(roles);
      if (frame.source && roles.has(frame.source)) roles.get(frame.source).hand = true;
      if (frame.target && roles.has(frame.target)) roles.get(frame.target).chosen = true;
      return roles;
    }

    /* Steps that keep several things: what was kept stays marked, and is named. */
    markKept(roles, walked) {
      for (const node of this.data.nodes) {
        const role = roles.get(node.id);
        if (walked.has(node.id) && node.kind !== "chunk") Object.assign(role, { colour: "path", shape: "dot", radius: 9, opacity: 1 });
        if (node.kind === "entity") Object.assign(role, { label: role.colour === "path", crowded: true });
        // Its title stands on its circle; without circles, as on the map, it is named like the others.
        if (node.kind === "community") Object.assign(role, { shape: "square", radius: role.colour === "path" ? 8 : 5, label: role.colour === "path" && this.layout !== "path", crowded: true });
      }
    }

    /* The score is the size, and stands beside the note. */
    sizeByScore(roles) {
      for (const id of this.seen) {
        const role = roles.get(id);
        const score = this.scores[id];
        if (!role || role.name) continue;
        if (role.colour === "rejected" && role.radius < 5) Object.assign(role, { colour: "kept", opacity: 0.7, radius: 6 });
        if (score !== undefined) Object.assign(role, { score, radius: (role.number ? 10 : 4) + score * 0.07 });
      }
      for (const id of new Set((this.data.overlay?.moves ?? []).flat())) if (roles.has(id)) roles.get(id).person = !roles.get(id).name;
    }

    /* The links between notes, below the walk: the tree in thin lines, related links dashed. */
    outlines() {
      if (!this.data.links) return [];
      const colour = this.colours;
      const lines = [];
      for (const [from, to, related] of this.data.links) {
        if (this.isHidden(from) || this.isHidden(to) || (this.layout !== "tree" && !(this.seen.has(from) && this.seen.has(to)))) continue;
        const known = this.seen.has(from) && this.seen.has(to);
        lines.push({ from, to, width: known ? 1.6 : 1, dashes: related ? [4, 5] : false, color: { color: known ? colour.kept : colour.rejected, opacity: known ? (related ? 0.45 : 0.7) : related ? 0.22 : 0.6 } });
      }
      for (const path of this.data.layouts[this.layout] && this.layout === "tree" ? this.data.roots ?? [] : []) {
        if (!this.isHidden(path)) lines.push({ from: "query", to: path, width: 1, color: { color: colour.rejected, opacity: 0.25 } });
      }
      for (const [from, to] of this.data.overlay?.moves ?? []) {
        if (this.nodes.has(from) && this.nodes.has(to) && !this.isHidden(from) && !this.isHidden(to)) {
          lines.push({ from, to, width: 4, dashes: [10, 6], color: { color: colour.goal, opacity: 0.95 }, arrows: { to: { enabled: true, scaleFactor: 0.75 } }, smooth: { enabled: true, type: "curvedCW", roundness: 0.18 } });
        }
      }
      return lines;
    }

    edges(frame) {
      const lines = [];
      const colour = this.colours;
      const arrow = { to: { enabled: true, scaleFactor: 0.75 } };
      for (const [from, to, name] of this.stubs()) {
        const rule = this.rules.get(name);
        if (rule && this.nodes.has(to)) lines.push({ from, to, width: 1, dashes: rule.line === "dotted" ? [1, 5] : [6, 5], color: { color: colour[rule.colour], opacity: 0.22 } });
      }
      this.trail().forEach(([from, to]) => {
        if (this.nodes.has(from) && this.nodes.has(to)) lines.push({ from, to, width: this.data.branches ? 2.6 : this.data.layered ? 1.4 : 3.5, color: { color: colour.path, opacity: this.data.layered ? 0.4 : 0.75 }, arrows: arrow });
      });
      let drawn = 0;
      for (const [id, name, kept] of frame.candidates) {
        const rule = this.rules.get(name);
        if (!rule || !frame.source || (id === frame.source && !frame.parents?.[id]) || !this.nodes.has(id) || this.isHidden(id)) continue;
        if (this.seen && !this.seen.has(id)) continue;
        if (kept) lines.push({ from: this.nodes.has(frame.parents?.[id]) ? frame.parents[id] : frame.source, to: id, width: this.data.branches ? 4 : this.data.layered ? 2.4 : 5, color: { color: colour.path }, arrows: arrow });
        else if (rule.line !== "none" && drawn++ < 24) {
          lines.push({ from: frame.source, to: id, width: 1.2, dashes: rule.line === "dotted" ? [1, 5] : [6, 5], color: { color: colour[rule.colour], opacity: drawn <= 8 ? 0.7 : 0.28 } });
        }
      }
      if (!frame.candidates.length && frame.source && frame.target && frame.source !== frame.target) lines.push({ from: frame.source, to: frame.target, width: 5, color: { color: colour.path }, arrows: arrow });
      return lines;
    }

    paint({ ctx, id, x, y }) {
      const role = this.roles?.get(id) ?? { colour: "rejected", shape: "ring", radius: 5, opacity: 0.4 };
      const colour = this.colours[role.colour];
      // Question, goal and path keep a size that can be read when the whole graph is far away.
      const big = role.number || role.name || role.beside ? Math.max(1, Math.min(1.7, 0.85 / this.network.getScale())) : 1;
      const radius = role.radius * big;
      const path = new Path2D(outline(role.shape, radius));
      return {
        drawNode: () => {
          ctx.save();
          ctx.translate(x, y);
          ctx.globalAlpha = role.opacity;
          if (role.hand || role.chosen) {
            ctx.beginPath();
            ctx.arc(0, 0, radius + 9, 0, 2 * Math.PI);
            ctx.fillStyle = colour;
            ctx.globalAlpha = role.hand ? 0.2 : 0.12;
            ctx.fill();
            ctx.globalAlpha = 1;
            if (role.hand) { ctx.lineWidth = 2; ctx.strokeStyle = this.colours.ink; ctx.stroke(); }
          }
          if (id === this.selected) {
            ctx.beginPath();
            ctx.arc(0, 0, radius + 6, 0, 2 * Math.PI);
            ctx.lineWidth = 3;
            ctx.setLineDash([4, 3]);
            ctx.strokeStyle = this.colours.ink;
            ctx.globalAlpha = 1;
            ctx.stroke();
            ctx.setLineDash([]);
          }
          if (role.person) {
            const side = radius + 5;
            ctx.lineWidth = 2.5;
            ctx.strokeStyle = this.colours.goal;
            ctx.globalAlpha = 1;
            ctx.strokeRect(-side, -side, 2 * side, 2 * side);
            ctx.globalAlpha = role.opacity;
          }
          ctx.lineWidth = role.number || role.name ? 2.5 : 1.8;
          ctx.strokeStyle = colour;
          const empty = hollow(role.shape) || role.hollow;
          ctx.fillStyle = empty ? this.colours.paper : colour;
          if (role.shape !== "cross") ctx.fill(path);
          ctx.globalAlpha = role.opacity;
          ctx.stroke(path);
          if (role.number) {
            ctx.fillStyle = empty ? colour : this.colours.paper;
            ctx.font = `700 ${15 * big}px ${this.font}`;
            ctx.textAlign = "center";
            ctx.textBaseline = "middle";
            ctx.fillText(String(role.number), 0, 0.5);
          }
          if (role.beside) {
            ctx.font = `650 ${15 * big}px ${this.font}`;
            ctx.textAlign = "left";
            ctx.textBaseline = "middle";
            ctx.lineWidth = 4;
            ctx.strokeStyle = this.colours.paper;
            ctx.strokeText(role.beside, radius + 5, 0);
            ctx.fillStyle = colour;
            ctx.fillText(role.beside, radius + 5, 0);
          }
          if (role.under && this.layout === "path" && id !== this.selected && id !== this.hovered) {
            ctx.font = `400 ${11 * Math.max(1, Math.min(2, 1 / this.network.getScale()))}px ${this.font}`;
            ctx.textAlign = "center";
            ctx.textBaseline = "top";
            ctx.globalAlpha = 0.85;
            ctx.fillStyle = this.colours.ink;
            ctx.fillText(role.under, 0, radius + 3);
          }
          ctx.restore();
        },
        drawExternalLabel: () => this.paintLabel(ctx, id, x, y, role, radius),
        nodeDimensions: { width: radius * 2, height: radius * 2 },
      };
    }

    /* Labels keep their size on the screen whatever the zoom, within bounds. */
    paintLabel(ctx, id, x, y, role, radius) {
      const node = this.nodes.get(id);
      const rated = role.score === undefined ? null : String(role.score);
      let text = role.name ?? (role.label || id === this.selected || id === this.hovered ? node?.label : null);
      if (rated !== null) text = text ? `${text} · ${rated}` : rated;
      if (!text) return;
      const zoom = Math.max(0.75, Math.min(2.8, 1 / this.network.getScale()));
      const size = (role.name ? 15 : 13.5) * zoom;
      const high = size * 1.22;
      const font = `${role.name ? 650 : 450} ${size}px ${this.font}`;
      const lines = this.wrap(ctx, text, font, this.layout !== "path" ? 150 * zoom : this.data.layered ? (role.side ? 400 : 116 * zoom) : this.data.branches ? Math.max(this.data.labelWidth - 12, 110) : 330);
      ctx.save();
      ctx.font = font;
      ctx.textAlign = role.side ? "left" : "center";
      ctx.textBaseline = "top";
      ctx.lineJoin = "round";
      // Labels of neighbours on the path stand above and below in turn, so that they never meet.
      const above = this.layout === "path" && (this.data.branches || this.data.layered) ? false : this.layout === "path" && role.number ? role.number % 2 === 1 : this.layout === "tree" && y < 0;
      const gap = radius + 7 * zoom;
      const top = role.side ? y - lines.length * high / 2 : above ? y - gap - lines.length * high : y + gap;
      if (role.side) x += gap;
      if (role.crowded && id !== this.selected && id !== this.hovered) {
        const wide = Math.max(...lines.map((line) => ctx.measureText(line).width));
        if (!this.hasRoom(x - wide / 2, top, wide, lines.length * high)) { ctx.restore(); return; }
      }
      lines.forEach((line, i) => {
        ctx.lineWidth = 5 * zoom;
        ctx.strokeStyle = this.colours.paper;
        ctx.strokeText(line, x, top + i * high);
        ctx.fillStyle = role.name ? this.colours[role.colour] : this.colours.ink;
        ctx.fillText(line, x, top + i * high);
      });
      ctx.restore();
    }

    wrap(ctx, text, font, width) {
      const key = `${font}|${width}|${text}`;
      this.wrapped ??= new Map();
      if (this.wrapped.has(key)) return this.wrapped.get(key);
      ctx.save();
      ctx.font = font;
      const lines = [""];
      for (const word of text.split(" ")) {
        const longer = lines[lines.length - 1] ? `${lines[lines.length - 1]} ${word}` : word;
        if (ctx.measureText(longer).width <= width || !lines[lines.length - 1]) lines[lines.length - 1] = longer;
        else if (lines.length === 2) { lines[1] = `${lines[1].replace(/…$/, "")}…`; break; } else lines.push(word);
      }
      ctx.restore();
      const cut = lines.map((line) => (line.length > 40 ? `${line.slice(0, 39)}…` : line));
      if (this.wrapped.size > 2000) this.wrapped.clear();
      this.wrapped.set(key, cut);
      return cut;
    }

    /* A spark runs along the chosen edge while a step is new. */
    token(ctx) {
      if (!this.spark) return;
      const share = Math.min(1, (performance.now() - this.spark.begun) / TWEEN);
      const at = this.network.getPositions([this.spark.from, this.spark.to]);
      const [a, b] = [at[this.spark.from], at[this.spark.to]];
      if (share >= 1 || !a || !b) { this.spark = null; return; }
      const eased = share * (2 - share);
      ctx.beginPath();
      ctx.arc(a.x + (b.x - a.x) * eased, a.y + (b.y - a.y) * eased, 9, 0, 2 * Math.PI);
      ctx.fillStyle = this.colours.path;
      ctx.fill();
      ctx.lineWidth = 3;
      ctx.strokeStyle = this.colours.paper;
      ctx.stroke();
      requestAnimationFrame(() => this.network?.redraw());
    }

    drawLegend(frame) {
      const row = (shape, colour, line, label, title, n) => {
        const box = svg("svg", { viewBox: "0 0 26 16", "aria-hidden": "true" });
        if (line !== "none") box.append(svg("path", { d: "M0 8H26", stroke: this.colours[colour], "stroke-width": line === "solid" ? 3 : 1.5, "stroke-dasharray": line === "solid" ? "none" : line === "dotted" ? "1 4" : "5 3", fill: "none" }));
        box.append(svg("path", { d: outline(shape, shape === "star" ? 6 : 5.5), transform: "translate(13 8)", fill: hollow(shape) ? this.colours.paper : this.colours[colour], stroke: this.colours[colour], "stroke-width": 1.6 }));
        return el("li", { title }, box, label, ...(n === undefined ? [] : [el("span", { class: "n" }, Number(n).toLocaleString("en"))]));
      };
      const kinds = new Set(this.data.nodes.map((node) => node.kind));
      this.legend.replaceChildren(
        row("diamond", "query", "none", "Question", "Where the walk starts: the vector of the question."),
        ...(kinds.has("goal") ? [row("star", "goal", "none", "Goal", "Where the walk wants to go: the vector of the predicted answer.")] : []),
        ...(kinds.has("community") ? [row("square", "path", "none", "Community", "Entities more tied to one another than to the rest; its circle holds those that the walk named.")] : []),
        ...(kinds.has("hop") ? [row("triangle", "query", "none", ...(this.data.hop ?? ["Moved query", "The query's vector after the gates saw a passage."]))] : []),
        ...this.data.rules.filter((rule) => this.step === 0 || frame.counts[rule.name]).map((rule) => row(rule.shape, rule.colour, rule.line, rule.label, rule.meaning, frame.counts[rule.name])),
        ...(this.data.links ? [
          row("dot", "kept", "solid", "Revealed", "A note that the walk has been shown; its size and number are its score.", this.seen.size - 1),
          ...(this.bare ? [] : [row("ring", "rejected", "solid", "Not revealed", "A note that the walk has not been shown.")]),
          row("ring", "kept", "dashed", "Related", "A related link, beside the tree of parents and children."),
        ] : []),
        ...(this.data.overlay ? [row("square", "goal", "dashed", this.data.overlay.label, "The trail that you walked yourself.")] : []));
    }

    /* --- what a person does ------------------------------------------------------------- */

    go(step, playing = false) {
      if (!playing) this.stop();
      const to = Math.max(0, Math.min(step, this.lastStep()));
      if (to === this.step) return;
      const forward = to === this.step + 1;
      this.step = to;
      const frame = this.data.frames[to];
      this.follow(frame);
      this.spark = forward && frame.source && frame.target && frame.source !== frame.target && !still() && this.nodes.has(frame.target) ? { from: frame.source, to: frame.target, begun: performance.now() } : null;
      this.draw();
      this.tell(140);
    }

    /* To the end of the next hop or of the one before. */
    leap(by) {
      const { parts } = this.data;
      let to = this.step;
      if (by < 0) while (to > 0 && parts[to] === parts[this.step]) to -= 1;
      else {
        const part = parts[Math.min(to + 1, this.lastStep())];
        while (to < this.lastStep() && parts[to + 1] <= part) to += 1;
      }
      this.go(to);
    }

    /* The selection goes along with the walk, unless it was put beside the path on purpose. */
    follow(frame) {
      const walked = new Set(this.trail(this.lastStep()).flat());
      const end = this.data.frames[this.lastStep()];
      const node = this.nodes.get(this.selected);
      const along = !node || node.kind === "query" || node.kind === "goal" || walked.has(node.id) || end.target === node.id;
      // A moved query in hand is what the gates are shown for.
      const moved = this.nodes.get(frame.source)?.kind === "hop" ? frame.source : null;
      if (along) this.selected = moved ?? frame.target ?? frame.source ?? this.data.nodes.find((one) => one.kind === "query")?.id ?? null;
    }

    select(id) {
      this.selected = id;
      this.draw();
      this.network.redraw();
      this.tell(0);
    }

    tell(delay) {
      clearTimeout(this.pending);
      const message = { revision: this.data.revision, step: this.step, selected: this.selected, moment: Date.now() };
      this.pending = setTimeout(() => this.send("at", message), delay);
    }

    /* The page is about to go. A message now would ask for the old page after the new one, and
       the old page's parts would be drawn into the new page. */
    leave() {
      this.stop();
      clearTimeout(this.pending);
    }

    toggle() { if (this.timer) this.stop(); else this.play(); }

    play() {
      if (this.step === this.lastStep()) { this.step = 0; this.draw(); this.tell(140); }
      this.playButton.replaceChildren(icon("pause"));
      this.playButton.setAttribute("aria-label", "Pause (space)");
      this.beat();
    }

    beat() {
      clearInterval(this.timer);
      this.timer = setInterval(() => {
        this.go(this.step + 1, true);
        if (this.step === this.lastStep()) this.stop();
      }, BEAT / this.speed);
    }

    stop() {
      clearInterval(this.timer);
      this.timer = null;
      this.playButton.replaceChildren(icon("play"));
      this.playButton.setAttribute("aria-label", "Play (space)");
    }

    key(event) {
      if (!this.data || event.altKey || event.ctrlKey || event.metaKey || !this.box.isConnected) return;
      const host = this.root.host ?? this.box;
      const inside = document.activeElement === host || this.box.contains(document.activeElement);
      if (!inside && document.activeElement && document.activeElement !== document.body) return;
      const target = this.root.activeElement ?? document.activeElement;
      if (target instanceof HTMLInputElement && target.type === "search") return;
      if (target instanceof HTMLSelectElement) return;
      if (event.key === " " && target instanceof HTMLButtonElement) return;
      // Away from the stage only the two arrows that scroll nothing are taken.
      if (!inside && event.key !== "ArrowLeft" && event.key !== "ArrowRight") return;
      const action = {
        ArrowLeft: () => this.go(this.step - 1), ArrowRight: () => this.go(this.step + 1),
        ...(this.data.branches ? { PageUp: () => this.leap(-1), PageDown: () => this.leap(1) } : {}),
        Home: () => this.go(0), End: () => this.go(this.lastStep()), " ": () => this.toggle(),
        ArrowDown: () => this.through(1), ArrowUp: () => this.through(-1),
        Escape: () => this.hover(null),
      }[event.key];
      if (!action) return;
      event.preventDefault();
      action();
    }

    through(by) {
      const frame = this.data.frames[this.step];
      const ids = frame.candidates.length ? frame.candidates.map(([id]) => id) : this.data.nodes.map((node) => node.id);
      const at = ids.indexOf(this.selected);
      this.select(ids[at < 0 ? 0 : Math.max(0, Math.min(ids.length - 1, at + by))]);
    }

    /* What this frame says of a node, or in a walk that branches the last one that spoke of it. */
    entry(id) {
      for (let step = this.step; step >= 0; step -= 1) {
        const found = this.data.frames[step].candidates.find(([name]) => name === id);
        if (found || !this.data.branches) return found;
      }
      return undefined;
    }

    hover(id) {
      this.hovered = id;
      if (!id || !this.nodes.has(id)) { this.card.hidden = true; this.network?.redraw(); return; }
      const node = this.nodes.get(id);
      const entry = this.entry(id);
      const title = el("b");
      title.textContent = node.label;
      const where = el("div", { class: "where" });
      where.textContent = node.place;
      const parts = [title, where];
      if (entry) {
        const rule = this.rules.get(entry[1]);
        const list = el("dl", {}, el("dt", {}, "Rule"), el("dd", {}, rule ? rule.label : entry[1]));
        this.data.columns.forEach((column, i) => {
          // A number that this candidate does not have is left out.
          if (entry[3 + i] !== "n/a") list.append(el("dt", {}, column.label), el("dd", {}, entry[3 + i]));
        });
        parts.push(list);
      }
      this.card.replaceChildren(...parts);
      this.card.hidden = false;
      const at = this.network.canvasToDOM(this.network.getPositions([id])[id]);
      const { clientWidth: wide, clientHeight: high } = this.canvas;
      const { offsetWidth: w, offsetHeight: h } = this.card;
      this.card.style.left = `${Math.max(6, Math.min(at.x + 18 + w > wide ? at.x - w - 18 : at.x + 18, wide - w - 6))}px`;
      this.card.style.top = `${Math.max(6, Math.min(at.y - h / 2, high - h - 6))}px`;
    }

    /* --- search ------------------------------------------------------------------------- */

    showFound() {
      const words = this.search.value.toLowerCase().split(/\s+/).filter(Boolean);
      const hits = words.length ? this.data.nodes.filter((node) => words.every((word) => `${node.label} ${node.place}`.toLowerCase().includes(word))).slice(0, 12) : [];
      this.found.replaceChildren(...hits.map((node, i) => {
        const row = el("li", { role: "option", id: `hit-${i}`, "aria-selected": String(i === 0), onpointerdown: (event) => { event.preventDefault(); this.take(node.id); } });
        const where = el("small");
        row.textContent = node.label;
        where.textContent = node.place;
        row.append(where);
        row.dataset.node = node.id;
        return row;
      }));
      if (words.length && !hits.length) {
        this.found.replaceChildren(el("li", { "aria-disabled": "true" }, "No node of this graph has these words."));
      }
      this.search.setAttribute("aria-expanded", String(words.length > 0));
      if (hits.length) this.search.setAttribute("aria-activedescendant", "hit-0"); else this.search.removeAttribute("aria-activedescendant");
    }

    closeFound() { this.found.replaceChildren(); this.search.setAttribute("aria-expanded", "false"); }

    searchKey(event) {
      const rows = [...this.found.querySelectorAll("[role=option]")];
      const at = rows.findIndex((row) => row.getAttribute("aria-selected") === "true");
      if (event.key === "Escape") { this.search.value = ""; this.closeFound(); }
      if (event.key === "Enter" && rows[at]) this.take(rows[at].dataset.node);
      if ((event.key === "ArrowDown" || event.key === "ArrowUp") && rows.length) {
        event.preventDefault();
        const to = Math.max(0, Math.min(rows.length - 1, at + (event.key === "ArrowDown" ? 1 : -1)));
        rows.forEach((row, i) => row.setAttribute("aria-selected", String(i === to)));
        rows[to].scrollIntoView({ block: "nearest" });
        this.search.setAttribute("aria-activedescendant", rows[to].id);
      }
    }

    take(id) {
      this.closeFound();
      this.search.value = "";
      this.select(id);
      this.kept = true;
      this.network.focus(id, { scale: Math.max(this.network.getScale(), 0.8), animation: still() ? false : { duration: 300, easingFunction: "easeInOutQuad" } });
    }

    destroy() {
      this.stop();
      clearTimeout(this.pending);
      document.removeEventListener("keydown", this.onKey);
      for (const name of ["pointerdown", "click"]) document.removeEventListener(name, this.onLink, true);
      window.removeEventListener("popstate", this.onHistory, true);
      this.observer.disconnect();
      this.network?.destroy();
      this.network = null;
    }
  }

  globalThis.tracert = globalThis.tracert ?? {};
  globalThis.tracert.stage = (component, css) => {
    const { parentElement, data, setStateValue } = component;
    let stage = mounted.get(parentElement);
    if (!stage) { stage = new Stage(parentElement, css); mounted.set(parentElement, stage); }
    stage.update(data, setStateValue);
    return () => { stage.destroy(); mounted.delete(parentElement); };
  };
})();
