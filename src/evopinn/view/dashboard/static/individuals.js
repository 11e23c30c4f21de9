// All individuals of a run, a page at a time, sorted and chosen by the database.

import { at, el, fill, say } from "./dom.js";
import { count, plural } from "./format.js";
import { get } from "./live.js";
import { Table } from "./tables.js";

export function individualsTable(name) {
  // What was chosen is part of the address, so that it is still chosen when one comes back.
  const given = new URLSearchParams(location.search);
  const wish = {
    sort: given.get("sort") ?? "task",
    descending: given.get("descending") !== "false",
    status: given.get("status") ?? "",
    generation: given.get("generation") ?? "",
  };
  let trail = [""]; // where this page and those before it begin
  let following = null;
  let known = -1;
  let turn = 0;

  const table = new Table({
    run: name,
    sort: { key: wish.sort, descending: wish.descending },
    onsort: ({ key: sort, descending }) => begin({ sort, descending }),
    empty: "No evaluations match.",
    caption: "All individuals",
  });
  const status = el("select", { onchange: () => begin({ status: status.value }) }, el("option", { value: "" }, "any"));
  const generation = el("input", { type: "number", min: 1, step: 1, placeholder: "all", value: wish.generation, onchange: () => generation.reportValidity() && begin({ generation: generation.value }) });
  const before = el("button", { type: "button", class: "button", onclick: back, disabled: true }, "Previous");
  const after = el("button", { type: "button", class: "button", onclick: on, disabled: true }, "Next");
  const where = el("span", { class: "muted", "aria-live": "polite" });
  const element = el(
    "div",
    {},
    el("div", { class: "bar" }, el("label", {}, "status ", status), el("label", {}, "generation ", generation), where),
    table.element,
    el("div", { class: "bar" }, before, after),
  );

  function begin(change) {
    Object.assign(wish, change);
    history.replaceState(null, "", `?${new URLSearchParams(wish)}`);
    trail = [""];
    load();
  }

  function on() {
    if (following !== null) trail.push(following);
    load();
  }

  function back() {
    if (trail.length > 1) trail.pop();
    load();
  }

  async function load() {
    const mine = (turn += 1);
    try {
      const { data } = await get(`${at.data(name, "/individuals")}?${new URLSearchParams({ ...wish, after: trail.at(-1) }).toString().replace("&generation=&", "&")}`);
      if (mine !== turn) return; // somebody has asked for another page since
      following = data.following;
      table.update(data.table);
      options(status, [["", "any"], ...Object.entries(data.statuses).map(([word, number]) => [word, `${word} (${count(number)})`])], wish.status);
      before.disabled = trail.length === 1;
      after.disabled = following === null;
      const pages = Math.max(1, Math.ceil(data.total / data.size));
      say(where, `${plural(data.total, "evaluation")}, page ${count(trail.length)} of ${count(pages)}`);
    } catch (error) {
      if (mine === turn) say(where, error.message);
    }
  }

  /** A run has changed: the first page shows what is new; a later one stays as it is. */
  function know(run) {
    generation.max = run.last_generation;
    const seen = run.attempts;
    if (seen === known) return;
    known = seen;
    if (trail.length === 1) load();
  }

  return { element, know };
}

function options(select, list, chosen) {
  const words = JSON.stringify(list);
  if (select.dataset.words === words) return;
  select.dataset.words = words;
  fill(select, list.map(([value, text]) => el("option", { value }, text)));
  select.value = chosen;
}
