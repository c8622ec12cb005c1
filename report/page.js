// A click, or Enter, on a heading sorts its table by that column, and again the other way round.
for (const table of document.querySelectorAll("table.sortable")) {
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, i) => head.querySelector("button").addEventListener("click", () => {
    const up = head.getAttribute("aria-sort") !== "ascending";
    heads.forEach(h => h.removeAttribute("aria-sort"));
    head.setAttribute("aria-sort", up ? "ascending" : "descending");
    const numeric = head.classList.contains("number");
    const key = row => row.cells[i].dataset.sort;
    const compare = (a, b) => numeric ? Number(a) - Number(b) : a.localeCompare(b);
    const rows = [...table.tBodies[0].rows];
    rows.sort((a, b) => {
      if ((key(a) === "") !== (key(b) === "")) return key(a) === "" ? 1 : -1; // what is not known comes last
      return up ? compare(key(a), key(b)) : compare(key(b), key(a));
    });
    table.tBodies[0].append(...rows);
  }));
}
