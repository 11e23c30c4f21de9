// One individual: what it is, how its training went, whom it descends from.

import { Chart } from "./charts.js";
import { at, el, facts, fill, here, page, section } from "./dom.js";
import { count, duration, moment, scientific } from "./format.js";
import { follow } from "./live.js";
import { Numbers } from "./numbers.js";
import { picture } from "./pictures.js";
import { Table } from "./tables.js";

const COLOURS = ["vermilion", "green", "purple", "orange", "sky", "ink"];
const { name, task } = here();
const trouble = el("div");
const standing = el("div");
const pictures = el("div");
const course = el("div");
const family = el("div");
const rest = el("div", { hidden: true }, standing, section("Network", pictures), section("Training", course), section("Lineage", family));

page(
  `Task ${task} of ${name}`,
  [[name, at.run(name)], [`task ${task}`, null]],
  el("h1", {}, `Task ${task}`),
  trouble,
  rest,
);

function link(number, words = `task ${number}`) {
  return el("a", { href: at.task(name, number) }, words);
}

function showStanding(data) {
  const last = data.attempts.at(-1);
  const errors = last ? Object.entries(last.errors).map(([field, error]) => [`error of ${field}`, scientific(error)]) : [];
  fill(
    standing,
    el("p", { class: "genome-text" }, el("code", {}, data.genome)),
    el("div", { class: "card" }, facts({
      status: last ? `${last.status}${last.meaning ? `: ${last.meaning}` : ""}${last.final ? "" : "; it is tried again"}` : "not over yet: it is under way, or waits for a worker",
      loss: last ? scientific(last.loss) : null,
      ...Object.fromEntries(errors),
      generation: `${count(data.generation)}${data.round && data.round !== "generation" ? ` (${data.round})` : ""}`,
      epochs: last ? `${count(last.epochs)} of ${count(data.epochs)}` : count(data.epochs),
      time: last ? `${duration(last.seconds)}, ended ${moment(last.ended)}` : null,
      seed: data.seed,
      points: data.coarseness > 1 ? `coarser by ${data.coarseness} along each axis` : null,
      "goes on from": data.continues === null ? null : link(data.continues),
      weights: data.kept ? el("a", { href: at.download(name, `networks/${data.task}`), download: true }, "download the network") : "not kept",
    }),
    last?.note ? [el("h3", {}, "Note"), el("pre", { class: "note", tabindex: "0" }, last.note)] : null),
  );
}

function showPictures(data) {
  const of = (what) => at.data(name, `/tasks/${data.task}/pictures/${what}`);
  fill(
    pictures,
    el("div", { class: "pair" },
      picture(of("formula"), `the activation ${data.activation}`, { look: "lines formula-picture" }),
      picture(of("structure"), `the structure: ${data.structure}`, { look: "lines" })),
    data.latex ? el("details", {}, el("summary", {}, "The activation in LaTeX"), el("pre", { tabindex: "0" }, data.latex)) : null,
    picture(of("activation"), "the activation and its first two derivatives", { look: "lines", better: data.kept && data.problem_file ? `Draw it over what reaches it (runs ${data.problem_file})` : "", caption: data.kept ? "The activation and its derivatives, with the parameters that each layer has learnt." : "The activation and its derivatives around zero, with all parameters 1: the weights of this network were not kept." }),
  );
}

function showCourse(data) {
  const many = data.attempts.length > 1;
  const attempts = new Table({
    caption: "Attempts",
    key: (row) => row.attempt,
    columns: [
      { label: "attempt", number: true, cell: (row) => count(row.attempt) },
      { label: "status", cell: (row) => row.status },
      { label: "loss", number: true, cell: (row) => scientific(row.loss) },
      { label: "time", number: true, cell: (row) => duration(row.seconds) },
      { label: "worker", number: true, cell: (row) => count(row.worker) },
      { label: "note", class: "words", cell: (row) => row.note },
    ],
  });
  attempts.update(data.attempts);
  const history = data.history;
  if (!history) {
    fill(course, el("p", { class: "muted" }, data.attempts.length ? "No course of this training was recorded." : "Nothing is recorded yet."), many ? attempts.element : null);
    return;
  }
  const x = { label: "epoch", whole: true };
  const loss = new Chart({ title: "Loss by epoch", about: "The loss over the epochs of this training; the table below has the numbers.", x, y: { label: "loss", log: true } });
  const errors = new Chart({ title: "Error by epoch", about: "The relative error of each field over the epochs of this training; the table below has the numbers.", x, y: { label: "relative L₂ error", log: true } });
  const fields = Object.entries(history.errors);
  const numbers = new Numbers({ caption: "Loss and error by epoch", of: "of", x, y: { label: "value" } });
  fill(course, el("div", { class: "card" }, el("div", { class: "pair" }, loss.element, fields.length ? errors.element : null)), numbers.element, many ? attempts.element : null);
  const losses = [{ name: "loss", kind: "line", colour: "blue", points: history.losses }];
  const measured = fields.map(([field, points], index) => ({ name: `error of ${field}`, kind: "line", colour: COLOURS[index % COLOURS.length], points }));
  loss.update(losses);
  errors.update(measured);
  numbers.update([...losses, ...measured]);
}

function showFamily(data) {
  const table = new Table({
    caption: "Ancestors",
    key: (row) => row.task,
    columns: [
      { label: "task", number: true, cell: (row) => ({ text: String(row.task), href: at.task(name, row.task) }) },
      { label: "generation", number: true, cell: (row) => count(row.generation) },
      { label: "loss", number: true, cell: (row) => scientific(row.loss) },
      { label: "came about by", class: "words", cell: (row) => row.operations?.join(", ") ?? "" },
      { label: "genome", class: "genome", cell: (row) => ({ text: row.genome ?? "", code: true }) },
    ],
  });
  const parents = data.parents.flatMap((parent, index) => [index ? ", " : "", link(parent.task), parent.loss === null || parent.loss === undefined ? "" : ` (loss ${scientific(parent.loss)})`]);
  fill(
    family,
    facts({ "came about by": data.operations.join(", "), parents: parents.length ? el("span", {}, parents) : "none" }),
    data.line.length ? [el("p", { class: "muted" }, "From the nearest ancestor to the first, at each step by way of the better parent:"), table.element] : null,
  );
  if (data.line.length) table.update(data.line);
}

let shown = "";

follow(at.data(name, `/tasks/${encodeURIComponent(task)}`), (data, message) => {
  if (!data) {
    fill(trouble, el("p", { class: "notice" }, message));
    return;
  }
  fill(trouble);
  rest.hidden = false;
  const words = JSON.stringify(data);
  if (words === shown) return;
  const redraw = shown === "" || JSON.parse(shown).kept !== data.kept;
  shown = words;
  showStanding(data);
  if (redraw) showPictures(data);
  showCourse(data);
  showFamily(data);
}, { every: 5000 });
