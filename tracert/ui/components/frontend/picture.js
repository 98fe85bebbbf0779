/* The graph of a stage as a PNG, made in the browser: the graph as it is seen at twice the
 * sharpness, with the question above and the caption below it. */
(() => {
  const SHARP = 2, EDGE = 28;

  function wrapped(ctx, text, width, most) {
    const lines = [""];
    for (const word of text.split(/\s+/).filter(Boolean)) {
      const cut = word.length > 60 ? `${word.slice(0, 59)}…` : word;
      const longer = lines.at(-1) ? `${lines.at(-1)} ${cut}` : cut;
      if (ctx.measureText(longer).width <= width || !lines.at(-1)) lines[lines.length - 1] = longer;
      else if (lines.length === most) { lines[most - 1] += " …"; break; } else lines.push(cut);
    }
    return lines[0] ? lines : [];
  }

  /* The canvas of the graph, drawn once more at twice the density and then put back. */
  function sharp(stage, wide, high) {
    const { network } = stage;
    const shown = stage.net.querySelector("canvas");
    const before = Object.getOwnPropertyDescriptor(globalThis, "devicePixelRatio");
    const copy = document.createElement("canvas");
    copy.width = wide * SHARP;
    copy.height = high * SHARP;
    const at = { position: network.getViewPosition(), scale: network.getScale() };
    const draw = () => { network.setSize("100%", "100%"); network.moveTo(at); network.redraw(); };
    Object.defineProperty(globalThis, "devicePixelRatio", { value: SHARP, configurable: true });
    try {
      draw();
      copy.getContext("2d").drawImage(shown, 0, 0, copy.width, copy.height);
    } finally {
      if (before) Object.defineProperty(globalThis, "devicePixelRatio", before);
      else delete globalThis.devicePixelRatio;
      draw();
    }
    return copy;
  }

  function picture(stage) {
    const wide = stage.canvas.clientWidth, high = stage.canvas.clientHeight;
    const graph = sharp(stage, wide, high);
    const out = document.createElement("canvas");
    const ctx = out.getContext("2d");
    const font = (weight, size) => `${weight} ${size}px ${stage.font}`;
    ctx.font = font(700, 19);
    const heading = wrapped(ctx, stage.data.question ?? "", wide - 2 * EDGE, 2);
    ctx.font = font(400, 14);
    const said = wrapped(ctx, stage.say.textContent, wide - 2 * EDGE, 4);
    const top = heading.length ? EDGE + heading.length * 25 + 8 : 0;
    const bottom = said.length ? 12 + said.length * 21 + EDGE : 0;
    out.width = wide * SHARP;
    out.height = (top + high + bottom) * SHARP;
    ctx.scale(SHARP, SHARP);
    ctx.fillStyle = stage.colours.paper;
    ctx.fillRect(0, 0, wide, top + high + bottom);
    ctx.drawImage(graph, 0, top, wide, high);
    ctx.fillStyle = stage.colours.ink;
    ctx.textBaseline = "top";
    ctx.font = font(700, 19);
    heading.forEach((line, i) => ctx.fillText(line, EDGE, EDGE + i * 25));
    ctx.font = font(400, 14);
    said.forEach((line, i) => ctx.fillText(line, EDGE, top + high + 12 + i * 21));
    return out.toDataURL("image/png");
  }

  /* Save the picture of what the stage shows; no server has a part in it. */
  function save(stage) {
    const link = document.createElement("a");
    link.href = picture(stage);
    link.download = `tracert-step-${stage.step}.png`;
    link.click();
  }

  globalThis.tracert = globalThis.tracert ?? {};
  Object.assign(globalThis.tracert, { picture, savePicture: save });
})();
