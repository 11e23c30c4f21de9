// All runs of a directory.

import { at, el, fill, page, say } from "./dom.js";
import { count, plural } from "./format.js";
import { follow } from "./live.js";
import { Table } from "./tables.js";

const MOST = 8; // as many as a chart has colours for
const chosen = new Set();
const lead = el("p", { class: "lead" });
const link = el("a", { class: "button", href: "/compare" }, "Compare");
const hint = el("span", { class: "muted small" }, "");
const trouble = el("div");

const table = new Table({
  caption: "Runs",
  sort: { key: "started", descending: true },
  before: { label: "compare", make: box },
  cells: { trained: progress },
});

function progress({ key, more: { trained, trainings, state } }) {
  const words = trainings ? `${count(trained)} of ${count(trainings)}` : plural(trained, "training");
  const bar = trainings ? el("progress", { max: trainings, value: trained, class: state, "aria-label": `progress of ${key}` }) : null;
  return el("div", {}, bar, el("span", { class: "small" }, words));
}

function box({ key, more: { state } }) {
  if (state === "unreadable") return "";
  const change = (event) => {
    if (event.target.checked) chosen.add(key);
    else chosen.delete(key);
    offer();
  };
  return el("input", { type: "checkbox", checked: chosen.has(key), disabled: full() && !chosen.has(key), "aria-label": `choose ${key} to compare`, onchange: change });
}

function full() {
  return chosen.size >= MOST;
}

function offer() {
  const enough = chosen.size > 1;
  link.toggleAttribute("hidden", !enough);
  hint.toggleAttribute("hidden", enough && !full());
  say(hint, full() ? "No more runs can be compared at once." : "Choose two or more runs to compare them.");
  for (const each of table.body.querySelectorAll("input")) each.disabled = full() && !each.checked;
  link.href = at.compare([...chosen]);
  say(link, `Compare ${chosen.size} runs`);
}

page("Runs", [], el("h1", {}, "Runs"), lead, trouble, table.element, el("div", { class: "bar" }, link, hint));
offer();

follow("/api/runs", (data, message) => {
  if (!data) return fill(trouble, el("p", { class: "notice" }, message));
  fill(trouble);
  const { rows } = data.table;
  const running = rows.filter((row) => row.more.state === "running").length;
  say(lead, `${plural(rows.length, "run")} in ${data.directory}${running ? `, ${running} running` : ""}`);
  for (const key of chosen) if (!rows.some((row) => row.key === key)) chosen.delete(key);
  table.update(data.table);
  offer();
  if (rows.length < 2) hint.hidden = true;
  if (!rows.length) {
    const words = "There are no runs yet. Start a search, and it appears here:";
    fill(trouble, el("div", { class: "card" }, el("p", {}, words), el("pre", {}, "evopinn search klein-gordon --budget 10m")));
  }
  return undefined;
}, { pass: () => table.again() });
