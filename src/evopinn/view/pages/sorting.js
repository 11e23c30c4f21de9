// Sorts every <table data-sortable> by the header whose button is pressed. Buttons bring Enter and Space
// along. A cell is sorted by its data-value if it has one, as a number if it reads as one, otherwise as text.
// Cells without a value stay at the end in both directions. A table that is added later is sorted too.
"use strict";

(() => {
  const keyOf = (row, column) => {
    const cell = row.cells[column];
    const text = cell ? (cell.dataset.value ?? cell.textContent).trim() : "";
    const number = text === "" ? NaN : Number(text);
    return { text, number, empty: text === "" || text === "nan" };
  };

  const order = (first, second) => {
    if (!Number.isNaN(first.number) && !Number.isNaN(second.number)) {
      return first.number - second.number || 0;
    }
    return first.text.localeCompare(second.text, undefined, { numeric: true });
  };

  const sort = (table, header) => {
    const column = header.cellIndex;
    const rising = header.getAttribute("aria-sort") !== "ascending";
    for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
    header.setAttribute("aria-sort", rising ? "ascending" : "descending");
    for (const body of table.tBodies) {
      const keyed = Array.from(body.rows, (row) => ({ row, key: keyOf(row, column) }));
      keyed.sort((first, second) => {
        if (first.key.empty || second.key.empty) return first.key.empty - second.key.empty;
        return rising ? order(first.key, second.key) : order(second.key, first.key);
      });
      body.append(...keyed.map((each) => each.row));
    }
  };

  // One listener for all tables, also those that come later.
  document.addEventListener("click", (event) => {
    const button = event.target.closest("table[data-sortable] thead th button");
    if (button) sort(button.closest("table"), button.closest("th"));
  });
})();
