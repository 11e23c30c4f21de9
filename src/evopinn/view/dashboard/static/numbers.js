// What a chart shows, as a table: for those who do not see it, or want the figures.

import { el } from "./dom.js";
import { count, scientific } from "./format.js";
import { Table } from "./tables.js";

const MOST = 100;

/** The points of a chart's series in a table that can be opened; of long series every few. */
export class Numbers {
  constructor({ caption, of, x, y }) {
    this.table = new Table({
      caption,
      key: (row) => `${row.name} ${row.place}`,
      empty: "There are none yet.",
      columns: [
        { label: of, class: "words", cell: (row) => row.name },
        { label: x.label, number: true, cell: (row) => (x.whole ? count(row.x) : scientific(row.x)) },
        { label: y.label, number: true, cell: (row) => scientific(row.y) },
      ],
    });
    this.element = el("details", {}, el("summary", {}, "As a table"), this.table.element);
  }

  update(series) {
    this.table.update(series.flatMap(({ name, points }) => thinned(points).map(([x, y], place) => ({ name, place, x, y }))));
  }
}

function thinned(points) {
  const others = points.filter((point, index) => index === 0 || String(point) !== String(points[index - 1]));
  const every = Math.max(1, Math.ceil(others.length / MOST));
  return others.filter((_, index) => index % every === 0 || index === others.length - 1);
}
