// Tables that the server describes. They stay as they are while their rows change: the order, the place scrolled
// to, what has the focus.

import { arrange, at, badge, el, fill } from "./dom.js";
import { age, moment } from "./format.js";
import { now } from "./live.js";

const CLASSES = { code: "genome", words: "words", note: "words" };

/** How cells of a kind are shown, where it is not just their text; `run` is the name of the run that they are of. */
const KINDS = {
  code: ({ text }) => (text ? el("code", {}, text) : ""),
  verdict: ({ text }) => badge(text),
  run: ({ text }, run) => el("a", { href: at.run(run) }, text),
  task: ({ text, value }, run) => (value === null ? text : el("a", { href: at.task(run, value) }, text)),
  tasks: ({ text }, run) => el("span", {}, text.split(" ").flatMap((task) => [el("a", { href: at.task(run, task) }, task), " "])),
};

/** A value on its own, or words. */
export function shown(part, run) {
  if (typeof part === "string") return part;
  return part.text && KINDS[part.kind] ? KINDS[part.kind](part, run) : part.text;
}

/** Named values, each of parts that are words or values. */
export function facts(list, run) {
  const known = list.filter(({ parts }) => parts.some((part) => part !== "" && part.text !== ""));
  return el("dl", { class: "facts" }, known.map(({ name, parts }) => [el("dt", {}, name), el("dd", {}, parts.map((part) => shown(part, run)))]));
}

/**
 * A table of the `columns` and `rows` that the server sends. `run` is the name of the run that it is of, if it is of one;
 * `cells` has functions that make elements of rows, by the key of a column; `before` is a column of such elements. With
 * `onsort` it is left to somebody else to put rows in order.
 */
export class Table {
  constructor({ run = null, cells = {}, before = null, sort = null, onsort = null, empty = "", caption = "" }) {
    Object.assign(this, { run, cells, before, sort, onsort, caption });
    this.rows = [];
    this.lines = new Map();
    this.headers = [];
    this.head = el("tr");
    this.body = el("tbody");
    this.named = el("caption", { class: "unseen" }, caption);
    const table = el("table", { "data-sortable": "" }, this.named, el("thead", {}, this.head), this.body);
    this.note = el("p", { class: "muted", hidden: true }, empty);
    this.box = el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": caption }, table);
    this.element = el("div", {}, this.box, this.note);
  }

  update({ columns, rows, sorted_by: sorted = "", title = "" }) {
    this.describe(columns, sorted, title);
    this.rows = rows;
    const focused = document.activeElement;
    const before = this.lines;
    this.lines = new Map();
    for (const row of this.ordered(rows)) {
      const line = before.get(row.key) ?? { element: el("tr"), cells: [], shown: [] };
      this.show(line, row);
      this.lines.set(row.key, line);
    }
    const elements = Array.from(this.lines.values(), (line) => line.element);
    if (arrange(this.body, elements) && this.body.contains(focused)) focused.focus({ preventScroll: true });
    const none = rows.length === 0 && this.note.textContent !== "";
    if (this.box.hidden !== none) [this.box.hidden, this.note.hidden] = [none, !none];
  }

  /** Show the same rows again: time has passed, or another order was chosen. */
  again() {
    if (this.columns) this.update({ columns: this.columns, rows: this.rows });
  }

  describe(columns, sorted, title) {
    const words = JSON.stringify(columns);
    if (words === this.words) return;
    [this.words, this.columns, this.lines] = [words, columns, new Map()];
    this.sort ??= sorted ? { key: sorted, descending: false } : null;
    if (!this.caption) {
      this.named.textContent = title;
      this.box.setAttribute("aria-label", title);
    }
    this.headers = columns.map((column) => this.header(column));
    const first = this.before ? el("th", { scope: "col" }, el("span", { class: "unseen" }, this.before.label)) : null;
    fill(this.head, first, this.headers);
    this.mark();
  }

  header(column) {
    const name = column.sortable ? el("button", { type: "button", onclick: () => this.choose(column) }, column.label) : column.label;
    return el("th", { scope: "col", class: column.right ? "number" : null }, name);
  }

  choose({ key }) {
    this.sort = { key, descending: this.sort?.key === key && !this.sort.descending };
    this.mark();
    if (this.onsort) this.onsort(this.sort);
    else this.again();
  }

  mark() {
    this.columns.forEach(({ key }, index) => {
      if (this.sort?.key !== key) this.headers[index].removeAttribute("aria-sort");
      else this.headers[index].setAttribute("aria-sort", this.sort.descending ? "descending" : "ascending");
    });
  }

  show(line, row) {
    line.element.classList.toggle("chosen", Boolean(row.chosen));
    if (this.before) this.put(line, 0, "td", null, [row.key, row.more], () => this.before.make(row));
    this.columns.forEach((column, index) => {
      const cell = row.cells[index];
      const old = column.kind === "moment" && cell.value ? age(cell.value, now()) : "";
      const look = column.right ? "number" : CLASSES[column.kind];
      const content = () => {
        if (row.reason && column.kind !== "verdict") return cell.text === row.reason ? el("span", { class: "reason" }, cell.text) : cell.text;
        if (old) return el("span", { title: moment(cell.value) }, old);
        return this.cells[column.key]?.(row) ?? shown({ kind: column.kind, ...cell }, this.run ?? row.key);
      };
      this.put(line, index + (this.before ? 1 : 0), column.heads ? "th" : "td", look, [cell, old || row.more], content);
    });
  }

  /** Put a cell's content in its place, and touch it only if it is another than before. */
  put(line, place, tag, look, facts, make) {
    const words = JSON.stringify(facts);
    if (line.shown[place] === words) return;
    line.shown[place] = words;
    if (!line.cells[place]) {
      line.cells[place] = el(tag, { scope: tag === "th" ? "row" : null, class: look });
      line.element.append(line.cells[place]);
    }
    fill(line.cells[place], make());
  }

  ordered(rows) {
    const place = this.columns.findIndex((each) => each.key === this.sort?.key);
    if (this.onsort || place < 0) return rows;
    const sign = this.sort.descending ? -1 : 1;
    // What has no value stays at the end.
    return [...rows].sort((first, second) => {
      const [a, b] = [first.cells[place].value, second.cells[place].value];
      if (a === null || b === null) return (a === null) - (b === null);
      return sign * (typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b), "en"));
    });
  }
}
