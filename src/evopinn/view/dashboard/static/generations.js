// The course of a search: losses by generation, and the staircase of populations and epochs.

import { Chart } from "./charts.js";
import { el } from "./dom.js";
import { count, scientific } from "./format.js";
import { Table } from "./tables.js";

export function generationCharts() {
  let rows = new Map();
  const read = (tell) => (x) => (rows.has(x) ? tell(rows.get(x)) : "\u00a0");
  const losses = new Chart({
    title: "Losses by generation",
    about: "The best loss of each generation, the median and the quartiles; the table below has the numbers.",
    x: { label: "generation", whole: true },
    y: { label: "loss", log: true },
    height: 300,
    read: read((row) => `${row.name}: best ${scientific(row.best)}${row.median === null ? "" : `, quartiles ${scientific(row.low)}, ${scientific(row.median)}, ${scientific(row.high)}`}`),
  });
  const networks = new Chart({
    title: "Networks by generation",
    about: "How many networks each generation trains; the table below has the numbers.",
    x: { label: "generation", whole: true },
    y: { label: "networks", zero: true, whole: true },
    height: 190,
    read: read((row) => `${row.name}: ${count(row.settled)} of ${count(row.asked)} trained, ${count(row.failed)} failed`),
  });
  const epochs = new Chart({
    title: "Epochs by generation",
    about: "For how many epochs each generation trains its networks; the table below has the numbers.",
    x: { label: "generation", whole: true },
    y: { label: "epochs of each", zero: true, whole: true },
    height: 190,
    read: read((row) => `${row.name}: ${count(row.effort)} epochs each`),
  });
  const table = new Table({});
  const merged = el("p", { class: "muted small", hidden: true });
  const element = el(
    "div",
    {},
    el("div", { class: "card" }, losses.element, el("div", { class: "pair" }, networks.element, epochs.element), merged),
    el("details", {}, el("summary", {}, "As a table"), table.element),
  );

  function update(run) {
    rows = new Map(run.generations.map((row) => [row.generation, row]));
    const searched = run.generations.filter((row) => row.searched);
    const closing = run.generations.filter((row) => !row.searched);
    const points = (list, pick) => list.map((row) => [row.generation, ...pick(row)]);
    const quartiles = searched.some((row) => row.median !== null);
    let least = Infinity;
    const best = quartiles
      ? points(searched, (row) => [row.best])
      : points(searched, (row) => [(least = Math.min(least, row.best ?? Infinity)) < Infinity ? least : null]);
    const names = new Map(closing.map((row) => [row.generation, row.label]));
    losses.update([
      { name: "quartiles", kind: "band", colour: "blue", points: quartiles ? points(searched, (row) => [row.low, row.high]) : [] },
      { name: "median", kind: "line", colour: "blue", points: quartiles ? points(searched, (row) => [row.median]) : [] },
      { name: quartiles ? "best" : "best so far", kind: quartiles ? "line" : "steps", colour: "vermilion", points: best },
      { name: "best of the final evaluations", kind: "line", colour: "green", points: points(closing.filter((row) => row.kind === "final"), (row) => [row.best]) },
    ], names);
    const ahead = run.planned.map(([size, effort], index) => [index + 1, size, effort]).filter(([number]) => number > (searched.at(-1)?.generation ?? 0));
    networks.update([
      { name: "trained", kind: "bars", colour: "sky", points: points(searched, (row) => [row.settled]) },
      { name: "failed", kind: "bars", colour: "vermilion", points: searched.some((row) => row.failed) ? points(searched, (row) => [row.failed]) : [] },
      { name: "asked for", kind: "stairs", colour: "blue", points: points(searched, (row) => [row.asked]) },
      { name: "planned", kind: "stairs", colour: "grey", dashed: true, points: ahead.map(([number, size]) => [number, size]) },
    ]);
    epochs.update([
      { name: "epochs of each", kind: "stairs", colour: "blue", points: points(searched, (row) => [row.effort]) },
      { name: "planned", kind: "stairs", colour: "grey", dashed: true, points: ahead.map(([number, , effort]) => [number, effort]) },
    ]);
    table.update(run.tables.generations);
    merged.hidden = run.generation_count === run.generations.length;
    merged.textContent = `${count(run.generation_count)} rounds are shown as ${count(run.generations.length)}: neighbouring rounds are merged.`;
  }

  return { element, update };
}
