// Elements are made here and nowhere else. What comes from a run is only ever put in as text, so that it
// shows as it is, whatever it contains.

const BOOLEAN = new Set(["disabled", "checked", "open", "hidden", "download"]);

/** An element with attributes, listeners (`onclick`) and children, which are elements or text. */
export function el(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (BOOLEAN.has(name)) element.toggleAttribute(name, true);
    else element.setAttribute(name, value);
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined));
  return element;
}

/** Put children in the place of those that an element has. */
export function fill(element, ...children) {
  element.replaceChildren(...children.flat(Infinity).filter((child) => child !== null && child !== undefined));
  return element;
}

/** Have an element contain these children, and touch it only if they are others than before. */
export function arrange(element, children) {
  const same = children.length === element.children.length && children.every((child, index) => child === element.children[index]);
  if (!same) element.replaceChildren(...children);
  return !same;
}

/** Change a text only if it is another: what is selected or read aloud is left alone. */
export function say(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/** The page's content, its title, and the way back to the list of runs. */
export function page(title, trail, ...children) {
  document.title = `${title} · evopinn`;
  const steps = [["evopinn", "/"], ...trail];
  const links = steps.map(([text, href]) =>
    el("li", {}, href ? el("a", { href }, text) : el("span", { "aria-current": "page" }, text)),
  );
  fill(document.getElementById("trail"), links);
  return fill(document.getElementById("content"), children);
}

/** A heading with what belongs to it. */
export function section(title, ...children) {
  const id = `part-${title.toLowerCase().replace(/[^a-z]+/g, "-")}`;
  return el("section", { "aria-labelledby": id }, el("h2", { id }, title), children);
}

/** The state of a run in a word. */
export function badge(state) {
  const look = state === "unreadable" ? "failed" : state;
  const known = ["running", "finished", "stopped", "failed"].includes(look) ? look : "";
  return el("span", { class: `badge ${known}` }, state);
}

/** Addresses of pages and data; names of runs may have any characters. */
export const at = {
  run: (name) => `/runs/${encodeURIComponent(name)}`,
  task: (name, task) => `/runs/${encodeURIComponent(name)}/tasks/${task}`,
  compare: (names) => `/compare?${new URLSearchParams(names.map((name) => ["run", name]))}`,
  data: (name, rest = "") => `/api/runs/${encodeURIComponent(name)}${rest}`,
  download: (name, what) => `/runs/${encodeURIComponent(name)}/downloads/${what}`,
};

/** The parts of this page's address: `/runs/NAME/tasks/NUMBER`. */
export function here() {
  const [, , name = "", , task = ""] = location.pathname.split("/").map(decodeURIComponent);
  return { name, task };
}
