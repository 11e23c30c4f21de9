// What a chart shows, as a table: for those who do not see it, or want the figures.

import { el } from "./dom.js";
import { count, scientific } from "./format.js";
import { Table } from "./tables.js";

const MOST = 100;

/** The points of a chart's series in a table that can be opened; of long series every few. */
export class Numbers {
  constructor({ caption, of, x, y }) {
    this.columns = [
      { key: "name", label: of, kind: "words" },
      { key: "x", label: x.label, kind: "number", right: true },
      { key: "y", label: y.label, kind: "number", right: true },
    ];
    this.shown = x.whole ? count : scientific;
    this.table = new Table({ caption, empty: "There are none yet." });
    this.element = el("details", {}, el("summary", {}, "As a table"), this.table.element);
  }

  update(series) {
    const rows = series.flatMap(({ name, points }) =>
      thinned(points).map(([x, y], place) => ({ key: `${name} ${place}`, cells: [name, this.shown(x), scientific(y)].map((text) => ({ text })) })),
    );
    this.table.update({ columns: this.columns, rows });
  }
}

function thinned(points) {
  const others = points.filter((point, index) => index === 0 || String(point) !== String(points[index - 1]));
  const every = Math.max(1, Math.ceil(others.length / MOST));
  return others.filter((_, index) => index % every === 0 || index === others.length - 1);
}
