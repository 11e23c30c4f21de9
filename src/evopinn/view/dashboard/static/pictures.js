// Pictures that the server draws. Where there is none, the reason stands in its place.

import { el, fill } from "./dom.js";

/**
 * A picture of an address. `look` is a class; `ask` is what to press if a file has to be run for it, `better` if there is one
 * without and a better one with.
 */
export function picture(address, words, { look = "", caption = "", ask = "", better = "" } = {}) {
  const place = el("div", { class: "waiting" });
  const figure = el("figure", { class: `picture ${look}` }, place, caption ? el("figcaption", {}, caption) : null);

  async function draw(from) {
    fill(place, el("p", { class: "muted" }, "Drawing …"));
    try {
      const response = await fetch(from, { cache: "no-store" });
      if (response.headers.get("Content-Type")?.startsWith("image/")) {
        const source = URL.createObjectURL(await response.blob());
        const image = el("img", { src: source, alt: words });
        await image.decode().catch(() => {});
        URL.revokeObjectURL(source); // the image has what it needs, and nobody else asks for it
        fill(place, image);
        place.classList.remove("waiting");
      } else {
        const { message } = await response.json();
        fill(place, el("p", { class: "notice" }, message ?? "There is no picture."));
      }
    } catch {
      const again = el("button", { type: "button", class: "button", onclick: () => draw(from) }, "Try again");
      fill(place, el("p", { class: "notice" }, "The picture could not be fetched. ", again));
    }
  }

  const loaded = `${address}?load=true`;
  const button = (label, press) => el("p", {}, el("button", { type: "button", class: "button", onclick: press }, label));
  if (ask) fill(place, button(ask, () => draw(loaded)));
  else draw(address);
  if (better) {
    const offer = button(better, () => {
      offer.remove();
      draw(loaded);
    });
    figure.append(offer);
  }
  return figure;
}
