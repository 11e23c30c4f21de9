// Ending a run, once more than one press has said so.

import { at, el, say } from "./dom.js";
import { get } from "./live.js";

export function stopButton(name, done) {
  const told = el("p", { role: "status" });
  const sure = el("button", { type: "button", class: "button danger", onclick: stop }, "Stop the run");
  const leave = el("button", { type: "button", class: "button", onclick: () => dialog.close() }, "Keep it running");
  const dialog = el(
    "dialog",
    { "aria-labelledby": "stop-title" },
    el("h2", { id: "stop-title" }, "Stop this run?"),
    el("p", {}, "Recorded results are kept. Trainings in progress are repeated when the run is resumed."),
    told,
    el("div", { class: "bar" }, sure, leave),
  );
  document.body.append(dialog);
  const button = el("button", { type: "button", class: "button danger", onclick: open }, "Stop …");

  function open() {
    say(told, "");
    sure.disabled = false;
    say(leave, "Keep it running");
    dialog.showModal();
    leave.focus();
  }

  async function stop() {
    sure.disabled = true;
    say(told, "Stop requested; waiting for the run to end …");
    try {
      const { data } = await get(at.data(name, "/stop"), { method: "POST", signal: AbortSignal.timeout(45000) });
      say(told, data.message);
    } catch (error) {
      say(told, error.message);
    }
    say(leave, "Close");
    done();
  }

  return button;
}
