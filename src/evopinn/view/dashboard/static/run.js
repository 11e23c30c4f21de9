// One run, live while it goes.

import { arrange, at, badge, el, facts, fill, here, page, say, section } from "./dom.js";
import { age, count, duration, moment, plural, scientific } from "./format.js";
import { generationCharts } from "./generations.js";
import { individualsTable } from "./individuals.js";
import { follow, get, now } from "./live.js";
import { picture } from "./pictures.js";
import { stopButton } from "./stopping.js";
import { Table } from "./tables.js";

const { name } = here();
const parts = {
  state: el("span"),
  lead: el("p", { class: "lead" }),
  trouble: el("div"),
  bar: el("progress", { max: 1, value: 0, "aria-label": "progress" }),
  standing: el("p"),
  heard: el("p", { class: "unseen", "aria-live": "polite" }),
  tiles: el("dl", { class: "tiles" }),
  actions: el("div", { class: "bar" }),
  winner: el("div"),
  finalists: el("div"),
  failures: el("div"),
  events: el("ul", { class: "plain" }),
};
const charts = generationCharts();
const stop = stopButton(name, () => look());

const genome = (row) => ({ text: row.genome, code: true });
const linked = (task) => ({ text: String(task), href: at.task(name, task) });
const hall = new Table({
  caption: "Hall of fame",
  key: (row) => row.task,
  sort: { name: "loss", descending: false },
  empty: "No training has come to a finite loss yet.",
  columns: [
    { name: "task", label: "task", number: true, value: (row) => row.task, cell: (row) => linked(row.task) },
    { name: "loss", label: "loss", number: true, value: (row) => row.loss, cell: (row) => scientific(row.loss) },
    { name: "error", label: "error", number: true, value: (row) => row.error, cell: (row) => scientific(row.error) },
    { name: "generation", label: "generation", number: true, value: (row) => row.generation, cell: (row) => count(row.generation) },
    { name: "epochs", label: "epochs", number: true, value: (row) => row.epochs, cell: (row) => count(row.epochs) },
    { name: "seconds", label: "time", number: true, value: (row) => row.seconds, cell: (row) => duration(row.seconds) },
    { name: "genome", label: "genome", class: "genome", value: (row) => row.genome, cell: genome },
  ],
});
const finalists = new Table({
  caption: "Final evaluations",
  key: (row) => row.genome,
  sort: { name: "mean_loss", descending: false },
  columns: [
    { name: "mean_loss", label: "mean loss", number: true, value: (row) => row.mean_loss, cell: (row) => scientific(row.mean_loss) },
    { name: "mean_error", label: "mean error", number: true, value: (row) => row.mean_error, cell: (row) => scientific(row.mean_error) },
    { name: "tasks", label: "trainings", value: (row) => row.tasks.length, cell: (row) => ({ tasks: row.tasks, make: () => tasksOf(row) }) },
    { name: "genome", label: "genome", class: "genome", value: (row) => row.genome, cell: genome },
  ],
});
const failures = new Table({
  caption: "Failures by kind",
  key: (row) => row.status,
  columns: [
    { name: "status", label: "kind", head: true, value: (row) => row.status, cell: (row) => row.status },
    { name: "failed", label: "failed", number: true, value: (row) => row.failed, cell: (row) => count(row.failed) },
    { name: "retried", label: "tried again", number: true, value: (row) => row.retried, cell: (row) => count(row.retried) },
    { label: "the first", class: "words", cell: (row) => ({ ...row, make: () => first(row) }) },
  ],
});
const individuals = individualsTable(name);

function tasksOf(row) {
  const links = row.tasks.map((task, index) => el("a", { href: at.task(name, task), title: `loss ${scientific(row.losses[index])}` }, String(task)));
  return el("span", {}, links.flatMap((link) => [link, " "]));
}

function first(row) {
  const link = el("a", { href: at.task(name, row.task) }, `task ${row.task}`);
  return el("div", {}, link, `: ${row.reason}`);
}

const rest = el(
  "div",
  { hidden: true },
  el("div", { class: "card progress" }, parts.bar, parts.standing, parts.heard),
  parts.tiles,
  parts.actions,
  section("Winner", parts.winner),
  section("Generations", charts.element),
  parts.finalists,
  section("Hall of fame", el("p", { class: "muted" }, "The best training of each genome."), hall.element),
  section("All individuals", individuals.element),
  parts.failures,
  section("Events", parts.events),
  section("Settings", settings()),
);

page(name, [[name, null]], el("div", { class: "head" }, el("h1", {}, name), parts.state), parts.lead, parts.trouble, rest);

function standing(run) {
  const last = run.generations.at(-1);
  const words = [
    run.trainings ? `${count(run.trained)} of ${run.state === "finished" ? "" : "at most "}${count(run.trainings)} trainings` : plural(run.trained, "training"),
  ];
  const kinds = { generation: "generation", batch: "batch", bests: "the generations' bests once more", final: "final evaluations" };
  if (last && run.state !== "finished") {
    const planned = last.kind === "generation" && run.planned.length ? ` of ${run.planned.length}` : "";
    words.push(["generation", "batch"].includes(last.kind) ? `${kinds[last.kind]} ${count(last.generation)}${planned}` : kinds[last.kind]);
    if (run.state === "running") words.push(`${count(run.asked - run.trained)} under way or waiting`);
  }
  if (run.state === "running" && run.left !== null) words.push(`about ${duration(run.left)} left`);
  return words.join(" · ");
}

const tiled = new Map();

function tile(label, value, note = "") {
  if (!tiled.has(label)) {
    const parts = { value: el("span"), note: el("div", { class: "note" }) };
    const element = el("div", { class: "tile" }, el("dt", {}, label), el("dd", {}, parts.value, parts.note));
    tiled.set(label, { ...parts, element });
  }
  const known = tiled.get(label);
  say(known.value, value);
  say(known.note, note);
  return known.element;
}

function tiles(run) {
  const means = run.means ? `${run.mean === "geometric" ? "geometric mean" : "mean"} of ${run.means}` : "one training";
  const all = [
    tile("best loss", scientific(run.loss), run.loss === null ? "nothing yet" : means),
    run.error === null ? null : tile("relative L₂ error", scientific(run.error), means),
    tile("trained", count(run.trained), run.failed ? `${count(run.failed)} failed` : "none failed"),
    tile("epochs", count(run.epochs)),
    tile("workers' time", duration(run.seconds)),
    tile(run.state === "running" ? "started" : "last training", age(run.state === "running" ? run.created : run.ended ?? run.created, now())),
  ];
  arrange(parts.tiles, all.filter((each) => each !== null));
}

let drawn = null;

function winner(run) {
  const best = run.best;
  const mark = best ? `${best.task} ${run.kept.includes(best.task)} ${run.state === "running"} ${run.means > 0}` : "none";
  if (mark === drawn) return;
  const before = drawn;
  drawn = mark;
  if (!best) {
    fill(parts.winner, el("p", { class: "muted" }, "No training has come to a finite loss yet."));
    return;
  }
  // Pictures take the server time: while a search goes on they are drawn when asked for.
  const of = (what) => at.data(name, `/tasks/${best.task}/pictures/${what}`);
  const kept = run.kept.includes(best.task);
  const file = run.has_problem_file ? `Draw the solution (runs ${run.source})` : "";
  const live = run.state === "running" && before !== null ? "Draw the solution" : "";
  fill(
    parts.winner,
    el("p", { class: "genome-text" }, el("code", {}, best.genome)),
    el("p", {}, el("a", { href: at.task(name, best.task) }, `Task ${best.task}`), ` has its history and its ancestors.`),
    el("div", { class: "pair" },
      picture(of("formula"), `the activation ${best.activation}`, { look: "lines formula-picture" }),
      picture(of("structure"), `the structure: ${best.genome}`, { look: "lines" })),
    kept
      ? picture(of("solution"), "solution, reference and error over the domain", { look: "map", ask: file || live, caption: `The solution of the best single training (task ${best.task}), the reference where one is known, and the error of that training; the figures above are ${run.means ? "means of the final evaluations" : "its own"}.` })
      : el("p", { class: "muted" }, "The weights of this network are not there, so its solution cannot be drawn."),
  );
}

let offered = "";

function actions(run) {
  const words = `${run.state} ${run.best?.task} ${run.kept.includes(run.best?.task)}`;
  if (words === offered) return;
  offered = words;
  const take = (what, label) => el("a", { class: "button", href: at.download(name, what), download: true }, label);
  fill(
    parts.actions,
    run.state === "running" ? stop : null,
    run.best && run.kept.includes(run.best.task) ? take(`networks/${run.best.task}`, "Best network") : null,
    take("report", run.has_problem_file ? "Report (runs the problem's file)" : "Report"),
    take("evaluations", "Evaluations (CSV)"),
    take("record", "Record (SQLite)"),
  );
}

function settings() {
  const place = el("div", {}, el("p", { class: "muted" }, "Loading …"));
  const load = async (event) => {
    if (!event.target.open || place.dataset.loaded) return;
    try {
      const { data } = await get(at.data(name, "/settings"));
      place.dataset.loaded = "yes";
      fill(place, facts({ directory: data.directory, ...data.versions }), el("pre", { tabindex: "0" }, data.config));
    } catch (error) {
      fill(place, el("p", { class: "notice" }, error.message));
    }
  };
  return el("details", { ontoggle: load }, el("summary", {}, "Configuration and versions"), place);
}

let happened = "";

function events(run) {
  const all = [{ time: run.created, kind: "started", text: "" }, ...run.events];
  const words = JSON.stringify(all);
  if (words === happened) return;
  happened = words;
  fill(parts.events, all.map((event) => el("li", {}, el("span", { class: "muted" }, `${moment(event.time)} `), event.kind, event.text ? `: ${event.text}` : "")));
}

function show(run, message) {
  if (!run) {
    fill(parts.trouble, el("p", { class: "notice" }, message));
    return;
  }
  fill(parts.trouble);
  rest.hidden = false;
  if (parts.state.textContent !== run.state) fill(parts.state, badge(run.state));
  say(parts.lead, `${run.problem} · ${run.method}${run.seed === null ? "" : `, seed ${run.seed}`} · ${run.plan || `started ${moment(run.created)}`}`);
  parts.bar.className = run.state;
  parts.bar.max = run.trainings || Math.max(run.asked, 1);
  parts.bar.value = run.trained;
  say(parts.standing, standing(run));
  // Read aloud is only what matters: not each training.
  say(parts.heard, `${run.state}, round ${run.generations.at(-1)?.generation ?? 0}`);
  tiles(run);
  actions(run);
  winner(run);
  charts.update(run);
  hall.update(run.hall_of_fame);
  finalists.update(run.finalists);
  if (run.finalists.length && !parts.finalists.firstChild) fill(parts.finalists, section("Final evaluations", el("p", { class: "muted" }, `Each candidate trained several times anew; the winner has the least ${run.mean === "geometric" ? "geometric mean of its losses; means here are geometric ones" : "mean loss"}.`), finalists.element));
  failures.update(run.failures);
  if (run.failures.length && !parts.failures.firstChild) fill(parts.failures, section("Failures", failures.element));
  individuals.know(run);
  events(run);
  latest = run;
}

let latest = null;
const look = follow(at.data(name), show, { pass: () => latest && tiles(latest) });
