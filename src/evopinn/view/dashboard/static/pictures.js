// Pictures that the server draws. Where there is none, the reason stands in its place.

import { el, fill } from "./dom.js";

/** Pictures as the server lists them, below an address: line drawings side by side, then the others. */
export function pictures(list, address, { later = false } = {}) {
  const drawn = list.map((each) => [each.kind, picture(each, `${address}/pictures/${each.name}`, later)]);
  const of = (wanted) => drawn.filter(([kind]) => (kind === "svg") === wanted).map(([, element]) => element);
  return [el("div", { class: "pair" }, of(true)), ...of(false)];
}

/** A picture; with `later`, or if a file has to be run for it, once a button is pressed. */
function picture({ name, words, caption, colours, kind, missing, at_once: free, press, better }, address, later) {
  if (missing) return el("p", { class: "muted" }, missing);
  const place = el("div", { class: "waiting" });
  const figure = el("figure", { class: `picture ${colours ? "map" : "lines"} ${name}` }, place, el("figcaption", {}, caption));

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
  const button = (label, pressed) => el("p", {}, el("button", { type: "button", class: "button", onclick: pressed }, label));
  if (free && !(later && kind === "png")) draw(address);
  else fill(place, button(press, () => draw(free ? address : loaded)));
  if (better) {
    const offer = button(better, () => {
      offer.remove();
      draw(loaded);
    });
    figure.append(offer);
  }
  return figure;
}
