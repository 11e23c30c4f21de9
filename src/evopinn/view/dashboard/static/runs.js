// All runs of a directory.

import { at, el, fill, page, say } from "./dom.js";
import { age, count, moment, plural, scientific } from "./format.js";
import { follow, now } from "./live.js";
import { Table } from "./tables.js";

const MOST = 8; // as many as a chart has colours for
const chosen = new Set();
const lead = el("p", { class: "lead" });
const link = el("a", { class: "button", href: "/compare" }, "Compare");
const hint = el("span", { class: "muted small" }, "");
const trouble = el("div");

const table = new Table({
  caption: "Runs",
  key: (run) => run.name,
  sort: { name: "created", descending: true },
  columns: [
    { label: "compare", unseen: true, cell: (run) => ({ name: run.name, state: run.state === "unreadable", make: () => box(run) }) },
    { name: "name", label: "run", head: true, value: (run) => run.name, cell: (run) => named(run) },
    { name: "state", label: "state", value: (run) => run.state, cell: (run) => ({ badge: run.state }) },
    { name: "loss", label: "best loss", number: true, value: (run) => run.loss, cell: (run) => figure(run, run.loss) },
    { name: "error", label: "error", number: true, value: (run) => run.error, cell: (run) => figure(run, run.error) },
    { name: "progress", label: "progress", value: (run) => share(run), cell: (run) => ({ trained: run.trained, trainings: run.trainings, state: run.state, make: () => progress(run) }) },
    { name: "problem", label: "problem", class: "words", value: (run) => run.problem, cell: (run) => run.reason ? { reason: run.reason, make: () => el("span", { class: "reason" }, run.reason) } : run.problem },
    { name: "method", label: "method", value: (run) => run.method, cell: (run) => run.method ?? "" },
    { name: "created", label: "started", value: (run) => run.created, cell: (run) => (run.reason ? "" : { text: age(run.created, now()), make: () => el("span", { title: moment(run.created) }, age(run.created, now())) }) },
  ],
});

function named(run) {
  return run.reason ? run.name : { text: run.name, href: at.run(run.name) };
}

function figure(run, value) {
  return run.reason ? "" : scientific(value);
}

function share(run) {
  return run.trainings ? run.trained / run.trainings : null;
}

function progress(run) {
  if (run.state === "unreadable") return "";
  const words = run.trainings ? `${count(run.trained)} of ${count(run.trainings)}` : plural(run.trained, "training");
  const bar = run.trainings
    ? el("progress", { max: run.trainings, value: run.trained, class: run.state, "aria-label": `progress of ${run.name}` })
    : null;
  return el("div", {}, bar, el("span", { class: "small" }, words));
}

function box(run) {
  if (run.state === "unreadable") return "";
  const change = (event) => {
    if (event.target.checked) chosen.add(run.name);
    else chosen.delete(run.name);
    offer();
  };
  return el("input", { type: "checkbox", checked: chosen.has(run.name), disabled: full() && !chosen.has(run.name), "aria-label": `choose ${run.name} to compare`, onchange: change });
}

function full() {
  return chosen.size >= MOST;
}

function offer() {
  const enough = chosen.size > 1;
  link.toggleAttribute("hidden", !enough);
  hint.toggleAttribute("hidden", enough && !full());
  say(hint, full() ? "These are as many as can be compared." : "Choose two or more runs to compare them.");
  for (const each of table.body.querySelectorAll("input")) each.disabled = full() && !each.checked;
  link.href = at.compare([...chosen]);
  say(link, `Compare ${chosen.size} runs`);
}

page("Runs", [], el("h1", {}, "Runs"), lead, trouble, table.element, el("div", { class: "bar" }, link, hint));
offer();

follow("/api/runs", (data, message) => {
  if (!data) return fill(trouble, el("p", { class: "notice" }, message));
  fill(trouble);
  const running = data.runs.filter((run) => run.state === "running").length;
  say(lead, `${plural(data.runs.length, "run")} in ${data.directory}${running ? `, ${running} running` : ""}`);
  for (const name of chosen) if (!data.runs.some((run) => run.name === name)) chosen.delete(name);
  table.update(data.runs);
  offer();
  if (data.runs.length < 2) hint.hidden = true;
  if (!data.runs.length) {
    const words = "A search makes one; it appears here by itself:";
    fill(trouble, el("div", { class: "card" }, el("p", {}, words), el("pre", {}, "evopinn search klein-gordon --budget 10m")));
  }
  return undefined;
}, { pass: () => table.update(table.rows) });
