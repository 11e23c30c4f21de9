// One individual: its network, its training, its ancestors.

import { Chart } from "./charts.js";
import { at, el, fill, here, page, section } from "./dom.js";
import { follow } from "./live.js";
import { Numbers } from "./numbers.js";
import { pictures } from "./pictures.js";
import { facts, Table } from "./tables.js";

const COLOURS = ["vermilion", "green", "purple", "orange", "sky", "ink"];
const { name, task } = here();
const trouble = el("div");
const standing = el("div");
const drawings = el("div");
const training = el("div");
const family = el("div");
const rest = el("div", { hidden: true }, standing, section("Network", drawings), section("Training", training), section("Lineage", family));

page(
  `Task ${task} of ${name}`,
  [[name, at.run(name)], [`task ${task}`, null]],
  el("h1", {}, `Task ${task}`),
  trouble,
  rest,
);

function showStanding(data) {
  const weights = data.kept ? el("a", { href: at.download(name, `networks/${data.task}`), download: true }, "Download the network") : "The weights of this network were not kept.";
  fill(
    standing,
    el("p", { class: "genome-text" }, el("code", {}, data.genome)),
    el("div", { class: "card" }, facts(data.facts, name), el("p", {}, weights), data.note ? [el("h3", {}, "Note"), el("pre", { class: "note", tabindex: "0" }, data.note)] : null),
  );
}

function showPictures(data) {
  fill(
    drawings,
    pictures(data.pictures, at.data(name, `/tasks/${data.task}`)),
    data.latex ? el("details", {}, el("summary", {}, "The activation in LaTeX"), el("pre", { tabindex: "0" }, data.latex)) : null,
  );
}

function showHistory(data) {
  const many = data.attempts.rows.length > 1;
  const attempts = new Table({ run: name });
  attempts.update(data.attempts);
  const history = data.history;
  if (!history) {
    fill(training, el("p", { class: "muted" }, data.attempts.rows.length ? "No history of this training was recorded." : "Nothing is recorded yet."), many ? attempts.element : null);
    return;
  }
  const x = { label: "epoch", whole: true };
  const loss = new Chart({ title: "Loss by epoch", about: "The loss over the epochs of this training; the table below has the numbers.", x, y: { label: "loss", log: true } });
  const errors = new Chart({ title: "Error by epoch", about: "The relative error of each field over the epochs of this training; the table below has the numbers.", x, y: { label: "relative L₂ error", log: true } });
  const fields = Object.entries(history.errors);
  const numbers = new Numbers({ caption: "Loss and error by epoch", of: "of", x, y: { label: "value" } });
  fill(training, el("div", { class: "card" }, el("div", { class: "pair" }, loss.element, fields.length ? errors.element : null)), numbers.element, many ? attempts.element : null);
  const losses = [{ name: "loss", kind: "line", colour: "blue", points: history.losses }];
  const measured = fields.map(([field, points], index) => ({ name: `error of ${field}`, kind: "line", colour: COLOURS[index % COLOURS.length], points }));
  loss.update(losses);
  errors.update(measured);
  numbers.update([...losses, ...measured]);
}

function showFamily(data) {
  const table = new Table({ run: name });
  table.update(data.ancestors);
  const known = data.ancestors.rows.length > 0;
  fill(
    family,
    facts(data.family, name),
    known ? [el("p", { class: "muted" }, "From the nearest ancestor to the first, at each step through the better parent:"), table.element] : null,
  );
}

let before = "";

follow(at.data(name, `/tasks/${encodeURIComponent(task)}`), (data, message) => {
  if (!data) {
    fill(trouble, el("p", { class: "notice" }, message));
    return;
  }
  fill(trouble);
  rest.hidden = false;
  const words = JSON.stringify(data);
  if (words === before) return;
  const redraw = before === "" || JSON.parse(before).kept !== data.kept;
  before = words;
  showStanding(data);
  if (redraw) showPictures(data);
  showHistory(data);
  showFamily(data);
}, { every: 5000 });
