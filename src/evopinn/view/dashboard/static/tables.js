// Tables that stay as they are while their rows change: the order, the place scrolled to, what has the focus.

import { arrange, badge, el, fill } from "./dom.js";

/**
 * A table. A column has a `label`, what is shown of a row (`cell`: a text, or an object with `text` and, if
 * wanted, `href`, `badge`, `code`, `title`, or `make`, a function that gives an element) and, if rows can be sorted by it, the
 * `value` to sort by. With `onsort` it is left to somebody else to put rows in order.
 */
export class Table {
  constructor({ caption, columns, key, sort = null, onsort = null, empty = "" }) {
    Object.assign(this, { columns, key, sort, onsort, empty });
    this.rows = [];
    this.lines = new Map();
    this.body = el("tbody");
    this.headers = columns.map((column) => this.header(column));
    const table = el(
      "table",
      { "data-sortable": "" },
      el("caption", { class: "unseen" }, caption),
      el("thead", {}, el("tr", {}, this.headers)),
      this.body,
    );
    this.note = el("p", { class: "muted", hidden: true }, empty);
    const box = el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": caption }, table);
    this.element = el("div", {}, box, this.note);
    this.box = box;
    this.mark();
  }

  header(column) {
    const words = column.label;
    const name = column.value
      ? el("button", { type: "button", onclick: () => this.choose(column) }, words)
      : el("span", { class: column.unseen ? "unseen" : null }, words);
    return el("th", { scope: "col", class: column.number ? "number" : null }, name);
  }

  choose(column) {
    const again = this.sort?.name === column.name;
    this.sort = { name: column.name, descending: again && !this.sort.descending };
    this.mark();
    if (this.onsort) this.onsort(this.sort);
    else this.update(this.rows);
  }

  mark() {
    this.columns.forEach((column, index) => {
      if (!this.sort || this.sort.name !== column.name) this.headers[index].removeAttribute("aria-sort");
      else this.headers[index].setAttribute("aria-sort", this.sort.descending ? "descending" : "ascending");
    });
  }

  update(rows) {
    this.rows = rows;
    const focused = document.activeElement;
    const before = this.lines;
    this.lines = new Map();
    for (const row of this.sorted(rows)) {
      const key = String(this.key(row));
      const line = before.get(key) ?? { element: el("tr"), cells: [], shown: [] };
      this.show(line, row);
      this.lines.set(key, line);
    }
    const elements = Array.from(this.lines.values(), (line) => line.element);
    if (arrange(this.body, elements) && this.body.contains(focused)) focused.focus({ preventScroll: true });
    const none = rows.length === 0 && this.empty !== "";
    if (this.box.hidden !== none) [this.box.hidden, this.note.hidden] = [none, !none];
  }

  show(line, row) {
    this.columns.forEach((column, index) => {
      const cell = column.cell(row);
      const parts = typeof cell === "object" && cell !== null ? cell : { text: cell };
      const words = JSON.stringify(parts);
      if (line.shown[index] === words && line.cells[index]) return;
      line.shown[index] = words;
      if (!line.cells[index]) {
        const tag = column.head ? "th" : "td";
        line.cells[index] = el(tag, { scope: tag === "th" ? "row" : null, class: column.number ? "number" : column.class });
        line.element.append(line.cells[index]);
      }
      fill(line.cells[index], content(parts));
    });
  }

  sorted(rows) {
    const column = this.columns.find((each) => each.name === this.sort?.name);
    if (this.onsort || !column?.value) return rows;
    const sign = this.sort.descending ? -1 : 1;
    // What has no value stays at the end.
    return [...rows].sort((first, second) => {
      const [a, b] = [column.value(first), column.value(second)];
      if (a === null || a === undefined) return b === null || b === undefined ? 0 : 1;
      if (b === null || b === undefined) return -1;
      return sign * (typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b), "en"));
    });
  }
}

function content(parts) {
  const { text, href, badge: state, code, title, make } = parts;
  if (make) return make();
  if (state) return badge(state);
  let inner = text ?? "";
  if (code) inner = el("code", { title }, inner);
  return href ? el("a", { href, title: code ? null : title }, inner) : inner;
}
