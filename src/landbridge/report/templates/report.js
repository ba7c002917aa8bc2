// Tables sort on a click on a heading. Without scripts they stay as written, best first.
for (const table of document.querySelectorAll("table.sortable")) {
  const body = table.tBodies[0];
  // Numbers and texts are not mixed in a column; unknown numbers come last.
  const value = (cell) =>
    "value" in cell.dataset ? Number.parseFloat(cell.dataset.value || "NaN") : cell.textContent;
  const compare = (a, b) =>
    typeof a === "string" ? a.localeCompare(b, undefined, { numeric: true }) : a - b;
  for (const [column, heading] of [...table.tHead.rows[0].cells].entries()) {
    if (heading.className === "graph") continue;
    const button = document.createElement("button");
    button.type = "button";
    button.append(...heading.childNodes);
    heading.append(button);
    button.addEventListener("click", () => {
      const down = heading.getAttribute("aria-sort") === "ascending";
      for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
      heading.setAttribute("aria-sort", down ? "descending" : "ascending");
      const keyed = [...body.rows].map((row) => [value(row.cells[column]), row]);
      const known = keyed.filter(([key]) => !Number.isNaN(key));
      const unknown = keyed.filter(([key]) => Number.isNaN(key));
      known.sort(([a], [b]) => (down ? compare(b, a) : compare(a, b)));
      body.append(...[...known, ...unknown].map(([, row]) => row));
    });
  }
}
