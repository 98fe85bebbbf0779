"use strict";
/* Sorts the tables and turns light to dark. The page is whole without it. */
const button = document.getElementById("theme");
button.hidden = false;
button.addEventListener("click", () => {
  const root = document.documentElement;
  const dark = root.dataset.theme ? root.dataset.theme === "dark"
    : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = dark ? "light" : "dark";
});
const valueOf = (row, place) => {
  const cell = row.cells[place];
  if (cell.dataset.value !== undefined) return Number(cell.dataset.value);
  return cell.classList.contains("number") ? null : cell.textContent;
};
const compare = (a, b) => typeof a === "number" && typeof b === "number"
  ? a - b : String(a).localeCompare(String(b));
for (const table of document.querySelectorAll("table.sorts")) {
  table.classList.add("live");
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, place) => {
    head.tabIndex = 0;
    const sort = () => {
      const down = head.getAttribute("aria-sort") !== "descending";
      heads.forEach((each) => each.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      const rows = [...table.tBodies[0].rows].map((row) => [valueOf(row, place), row]);
      rows.sort(([a], [b]) => (a === null) - (b === null)
        || (a === null ? 0 : (down ? -1 : 1) * compare(a, b)));
      table.tBodies[0].append(...rows.map(([, row]) => row));
    };
    head.addEventListener("click", sort);
    head.addEventListener("keydown", (event) => {
      if (event.key === "Enter" || event.key === " ") { event.preventDefault(); sort(); }
    });
  });
}
