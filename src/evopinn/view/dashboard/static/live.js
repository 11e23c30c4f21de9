// Asking again and again, while somebody looks, and saying when there is no answer.

import { say } from "./dom.js";

const PATIENCE = 20000;
let ahead = 0; // seconds by which the server's clock is ahead of this one

/** The server's time, in seconds since 1970. */
export function now() {
  return Date.now() / 1000 + ahead;
}

/** Data of an address. Throws an Error with a sentence in it if there is none. */
export async function get(address, options = {}) {
  const response = await fetch(address, { cache: "no-store", signal: AbortSignal.timeout(PATIENCE), ...options });
  const date = Date.parse(response.headers.get("Date") ?? "");
  if (!Number.isNaN(date) && Math.abs(date / 1000 - Date.now() / 1000) > 2) ahead = date / 1000 - Date.now() / 1000;
  if (response.status === 304) return { same: true };
  const data = await response.json().catch(() => ({}));
  if (response.ok) return { data, tag: response.headers.get("ETag") };
  const told = new Error(data.message ?? `the dashboard answered ${response.status}.`);
  told.status = response.status;
  throw told;
}

/**
 * Show the data of an address, and again when they have changed; `show` gets them, or what went wrong. If they
 * are the same, only time has passed: `pass` is called.
 */
export function follow(address, show, { every = 2000, pass = () => {} } = {}) {
  let tag = null;
  let timer = 0;
  let asking = false;

  async function ask() {
    try {
      const answer = await get(address, tag ? { headers: { "If-None-Match": tag } } : {});
      connected("");
      if (answer.same) return pass;
      tag = answer.tag;
      return () => show(answer.data, null);
    } catch (error) {
      if (error.status === 401) connected("The dashboard has restarted: open the address that it printed.");
      else if (!error.status) connected("Connection lost; trying again.");
      else {
        tag = null;
        connected("");
        return () => show(null, error.message);
      }
      return () => {};
    }
  }

  async function look() {
    clearTimeout(timer);
    if (asking) return;
    asking = true;
    try {
      const tell = await ask();
      tell();
    } finally {
      asking = false;
      if (!document.hidden) timer = setTimeout(look, every);
    }
  }

  document.addEventListener("visibilitychange", () => (document.hidden ? clearTimeout(timer) : look()));
  look();
  return look;
}

function connected(trouble) {
  const place = document.getElementById("connection");
  place.classList.toggle("lost", trouble !== "");
  say(place, trouble);
}
