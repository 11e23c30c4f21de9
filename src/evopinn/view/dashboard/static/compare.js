// Several runs side by side.

import { Chart } from "./charts.js";
import { el, fill, page, say } from "./dom.js";
import { follow } from "./live.js";
import { Numbers } from "./numbers.js";
import { Table } from "./tables.js";

const COLOURS = ["blue", "vermilion", "green", "purple", "orange", "sky", "ink", "grey"];
const COSTS = { epochs: [1, "epochs"], seconds: [2, "seconds of workers"], trainings: [0, "trainings"] };
const asked = new URLSearchParams(location.search).getAll("run");
const names = asked.slice(0, COLOURS.length);

let latest = [];
const trouble = el("div");
const box = el("div", { class: "card" });
const rest = el("div", { hidden: !names.length });
const choice = el("select", { onchange: draw }, Object.entries(COSTS).map(([value, [, label]]) => el("option", { value }, label)));
let chart = null;
let numbers = null;

const table = new Table({ caption: "Runs that are compared", sort: { key: "mean_loss", descending: false } });
const warning = el("p", { class: "notice", hidden: true }, "These runs are of different problems: their losses are not comparable.");

function draw() {
  const [, label] = COSTS[choice.value];
  const x = { label, whole: choice.value !== "seconds" };
  const y = { label: "best loss so far", log: true };
  const about = `The best loss that each run had found, against ${label}; the table below has the numbers.`;
  chart = new Chart({ title: "Best loss so far", about, x, y, height: 340 });
  numbers = new Numbers({ caption: "Best losses so far", of: "run", x, y });
  fill(box, chart.element, numbers.element);
  update();
}

function update() {
  const [column] = COSTS[choice.value];
  const series = latest.filter(({ more }) => more.progress).map(({ key, more }) => ({
    name: key,
    kind: "steps",
    colour: COLOURS[names.indexOf(key)],
    points: more.progress.map((point) => [point[column], point[3]]),
  }));
  chart.update(series);
  numbers.update(series);
}

page(
  "Compare",
  [["compare", null]],
  el("h1", {}, "Runs side by side"),
  trouble,
  asked.length > names.length ? el("p", { class: "notice" }, `Only the first ${names.length} of these ${asked.length} runs are compared.`) : null,
  rest,
);
fill(
  rest,
  warning,
  el("div", { class: "bar" }, el("label", {}, "against ", choice)),
  box,
  table.element,
  el("p", { class: "muted small" }, "Loss and error are means of the final evaluations where there are any, geometric ones where a run ranks by them. The chart has single trainings; a line restarts where a run switches to more points, because losses on fewer points are not comparable."),
);
draw();

if (names.length) {
  follow(`/api/compare?${new URLSearchParams(names.map((name) => ["run", name]))}`, (data, message) => {
    fill(trouble, data ? null : el("p", { class: "notice" }, message));
    if (!data) return;
    latest = data.table.rows;
    warning.hidden = !data.mixed;
    table.update(data.table);
    update();
  }, { every: 3000 });
} else {
  say(trouble, "No runs were chosen; go back and choose some.");
}
