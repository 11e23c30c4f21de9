// One run, live while it goes.

import { arrange, at, badge, el, fill, here, page, say, section } from "./dom.js";
import { age, moment } from "./format.js";
import { generationCharts } from "./generations.js";
import { individualsTable } from "./individuals.js";
import { follow, get, now } from "./live.js";
import { pictures } from "./pictures.js";
import { stopButton } from "./stopping.js";
import { facts, Table } from "./tables.js";

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

const tables = {
  hall_of_fame: new Table({ run: name, empty: "No training has reached a finite loss yet." }),
  finalists: new Table({ run: name }),
  failures: new Table({ run: name }),
};
const individuals = individualsTable(name);

const rest = el(
  "div",
  { hidden: true },
  el("div", { class: "card progress" }, parts.bar, parts.standing, parts.heard),
  parts.tiles,
  parts.actions,
  section("Most accurate network", parts.winner),
  section("Generations", charts.element, searchPictures()),
  parts.finalists,
  section("Hall of fame", el("p", { class: "muted" }, "The best training of each genome."), tables.hall_of_fame.element),
  section("All individuals", individuals.element),
  parts.failures,
  section("Events", parts.events),
  section("Settings", settings()),
);

page(name, [[name, null]], el("div", { class: "head" }, el("h1", {}, name), parts.state), parts.lead, parts.trouble, rest);

const tiled = new Map();

function tiles(run) {
  const all = run.tiles.map(({ label, note, ...cell }) => {
    if (!tiled.has(label)) {
      const places = { value: el("span"), note: el("div", { class: "note" }) };
      tiled.set(label, { ...places, element: el("div", { class: "tile" }, el("dt", {}, label), el("dd", {}, places.value, places.note)) });
    }
    const known = tiled.get(label);
    say(known.value, cell.kind === "moment" ? age(cell.value, now()) : cell.text);
    say(known.note, note);
    return known.element;
  });
  arrange(parts.tiles, all);
}

/** A section that is there once its table has rows. */
function optional(place, run, key, note) {
  const table = run.tables[key];
  tables[key].update(table);
  if (table.rows.length && !place.firstChild) fill(place, section(table.title, note ? el("p", { class: "muted" }, note) : null, tables[key].element));
}

let drawn = null;

function winner(run) {
  const best = run.best;
  const mark = best ? `${best.task} ${run.kept.includes(best.task)} ${run.state === "running"} ${best.evaluations > 0}` : "none";
  if (mark === drawn) return;
  const before = drawn;
  drawn = mark;
  if (!best) {
    fill(parts.winner, el("p", { class: "muted" }, "No training has reached a finite loss yet."));
    return;
  }
  // Pictures take the server time: while a search goes on they are drawn when asked for.
  const later = run.state === "running" && before !== null;
  fill(
    parts.winner,
    el("p", { class: "genome-text" }, el("code", {}, best.genome)),
    el("p", {}, el("a", { href: at.task(name, best.task) }, `Task ${best.task}`), ` shows its history and its ancestors.`),
    pictures(run.pictures, at.data(name, `/tasks/${best.task}`), { later }),
  );
}

/** Figures of the search, drawn anew whenever they are opened. */
function searchPictures() {
  const place = el("div");
  const draw = (event) => event.target.open && latest && fill(place, pictures(latest.search_pictures, at.data(name)));
  return el("details", { ontoggle: draw }, el("summary", {}, "More figures of the search"), place);
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
      fill(place, facts(data.facts, name), el("pre", { tabindex: "0" }, data.config));
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
  say(parts.lead, run.lead);
  parts.bar.className = run.state;
  parts.bar.max = run.trainings || Math.max(run.asked, 1);
  parts.bar.value = run.trained;
  say(parts.standing, run.standing);
  // Read aloud is only what matters: not each training.
  say(parts.heard, `${run.state}, ${run.round}`);
  tiles(run);
  actions(run);
  winner(run);
  charts.update(run);
  tables.hall_of_fame.update(run.tables.hall_of_fame);
  optional(parts.finalists, run, "finalists", "Each candidate is trained several times from scratch; the best mean is the recommended architecture's.");
  optional(parts.failures, run, "failures");
  individuals.know(run);
  events(run);
  latest = run;
}

let latest = null;
const look = follow(at.data(name), show, { pass: () => latest && tiles(latest) });
