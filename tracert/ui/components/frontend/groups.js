/* Communities as circles under the graph, for the stage (see tracert.render.groups). Each circle
 * has a tint of its own; what the walk has kept is drawn strong. Titles are painted on the canvas. */
(() => {
  const TINTS = { light: ["#0067a5", "#b5520f", "#00795a", "#7a4fa3", "#8a6d00", "#a33b5e"], dark: ["#62b8f0", "#ff9a4d", "#3ecf9f", "#c3a0ee", "#e0c044", "#f08cae"] };

  /* One line that fits, cut with an ellipsis. */
  function cut(ctx, text, width) {
    if (ctx.measureText(text).width <= width) return text;
    let low = 0, high = text.length;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (ctx.measureText(`${text.slice(0, middle).trimEnd()}…`).width <= width) low = middle; else high = middle - 1;
    }
    return low > 3 ? `${text.slice(0, low).trimEnd()}…` : "";
  }

  /* The titles of the communities that the walk has reached, with their places. */
  function titled(ctx, groups, { scale, strong, selected, font }) {
    const zoom = Math.max(0.75, Math.min(2.2, 1 / scale));
    ctx.save();
    ctx.font = `600 ${12.5 * zoom}px ${font}`;
    const rows = groups.filter((group) => strong.has(group.id) || group.id === selected).map((group) => {
      const text = cut(ctx, group.title, Math.max(2 * group.r + 24, 90 * zoom));
      return { text, x: group.x, y: group.y - group.r - 9 * zoom, width: ctx.measureText(text).width, high: 14 * zoom };
    });
    ctx.restore();
    return { rows, zoom };
  }

  /* Draw the circles, and say which room the titles over them will take. `strong` are the ids of
   * the communities that the walk has reached. */
  function paint(ctx, groups, look) {
    const { dark, scale, strong, selected } = look;
    const tints = dark ? TINTS.dark : TINTS.light;
    const thick = Math.max(0.75, Math.min(1.4, 1 / scale));
    groups.forEach((group, place) => {
      const reached = strong.has(group.id);
      ctx.save();
      ctx.beginPath();
      ctx.arc(group.x, group.y, group.r, 0, 2 * Math.PI);
      ctx.fillStyle = ctx.strokeStyle = tints[place % tints.length];
      ctx.globalAlpha = reached ? (dark ? 0.2 : 0.14) : (dark ? 0.08 : 0.06);
      ctx.fill();
      ctx.globalAlpha = reached ? 0.9 : 0.4;
      ctx.lineWidth = (group.id === selected ? 3.5 : reached ? 2 : 1.2) * thick;
      if (!reached) ctx.setLineDash([5, 5]);
      ctx.stroke();
      ctx.restore();
    });
    return titled(ctx, groups, look).rows.map(({ x, y, width, high }) => [x - width / 2, y - high, width, high]);
  }

  function titles(ctx, groups, look) {
    const { rows, zoom } = titled(ctx, groups, look);
    ctx.save();
    ctx.font = `600 ${12.5 * zoom}px ${look.font}`;
    ctx.textAlign = "center";
    ctx.textBaseline = "bottom";
    ctx.lineJoin = "round";
    ctx.lineWidth = 4.5 * zoom;
    ctx.strokeStyle = look.paper;
    ctx.fillStyle = look.ink;
    for (const { text, x, y } of rows) {
      ctx.strokeText(text, x, y);
      ctx.fillText(text, x, y);
    }
    ctx.restore();
  }

  globalThis.tracert = globalThis.tracert ?? {};
  globalThis.tracert.groups = { paint, titles };
})();
