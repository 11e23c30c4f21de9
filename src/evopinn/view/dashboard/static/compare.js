// Several runs side by side.

import { Chart } from "./charts.js";
import { at, el, fill, page, say } from "./dom.js";
import { count, duration, scientific } from "./format.js";
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

const table = new Table({
  caption: "Runs that are compared",
  key: (run) => run.name,
  sort: { name: "loss", descending: false },
  columns: [
    { name: "name", label: "run", head: true, value: (run) => run.name, cell: (run) => ({ text: run.name, href: at.run(run.name) }) },
    { name: "state", label: "state", value: (run) => run.state, cell: (run) => ({ badge: run.state }) },
    { name: "problem", label: "problem", class: "words", value: (run) => run.problem, cell: (run) => run.reason ?? run.problem },
    { name: "method", label: "method", value: (run) => run.method, cell: (run) => (run.reason ? "" : `${run.method}, seed ${run.seed}`) },
    { name: "loss", label: "best loss", number: true, value: (run) => run.loss, cell: (run) => scientific(run.loss) },
    { name: "error", label: "error", number: true, value: (run) => run.error, cell: (run) => scientific(run.error) },
    { name: "trained", label: "trainings", number: true, value: (run) => run.trained, cell: (run) => count(run.trained) },
    { name: "epochs", label: "epochs", number: true, value: (run) => run.epochs, cell: (run) => count(run.epochs) },
    { name: "seconds", label: "workers' time", number: true, value: (run) => run.seconds, cell: (run) => duration(run.seconds) },
    { name: "genome", label: "best genome", class: "genome", value: (run) => run.genome, cell: (run) => (run.genome ? { text: run.genome, code: true, href: at.task(run.name, run.task) } : "") },
  ],
});
const warning = el("p", { class: "notice", hidden: true }, "These runs are of different problems: their losses do not compare.");

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
  const series = latest.filter((run) => run.course).map((run) => ({
    name: run.name,
    kind: "steps",
    colour: COLOURS[names.indexOf(run.name)],
    points: run.course.map((point) => [point[column], point[3]]),
  }));
  chart.update(series);
  numbers.update(series);
}

page(
  "Compare",
  [["compare", null]],
  el("h1", {}, "Runs side by side"),
  trouble,
  asked.length > names.length ? el("p", { class: "notice" }, `Of these ${asked.length} runs, the first ${names.length} are compared.`) : null,
  rest,
);
fill(
  rest,
  warning,
  el("div", { class: "bar" }, el("label", {}, "against ", choice)),
  box,
  table.element,
  el("p", { class: "muted small" }, "Loss and error are means of the final evaluations where there are any, geometric ones where a run ranks by them. The chart has single trainings; a line begins anew where a run goes over to more points, since losses on fewer do not compare."),
);
draw();

if (names.length) {
  follow(`/api/compare?${new URLSearchParams(names.map((name) => ["run", name]))}`, (data, message) => {
    fill(trouble, data ? null : el("p", { class: "notice" }, message));
    if (!data) return;
    latest = data.runs;
    warning.hidden = new Set(latest.filter((run) => run.problem).map((run) => run.problem)).size < 2;
    table.update(latest);
    update();
  }, { every: 3000 });
} else {
  say(trouble, "No runs were chosen; go back and choose some.");
}
