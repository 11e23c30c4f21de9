// Small charts as SVG: lines, stairs, bands and bars, on a linear or logarithmic axis. Colours come from the
// style sheet, so that they follow light and dark.

import { el, fill, say } from "./dom.js";

const SVG = "http://www.w3.org/2000/svg";
const MARGIN = { top: 12, right: 12, bottom: 40, left: 58 };
const MINUS = "\u2212";
const NAME_ROOM = 34;

/**
 * A chart. `y.log` has a logarithmic axis, `y.zero` one that begins at zero. Series have a `name`, a `kind`
 * (line, steps, stairs, band, bars), a `colour` of the style sheet and `points`: pairs of numbers, of a band
 * x, low and high. A number that is null is left out. Some values of x may have names, which stand below the
 * axis in their place.
 */
export class Chart {
  constructor({ title, about, x, y, height = 260, read = null }) {
    Object.assign(this, { title, about, x, y, height, read, series: [], names: new Map() });
    this.id = `chart-${title.toLowerCase().replace(/[^a-z]+/g, "-")}`;
    this.canvas = svg("svg", { role: "img", "aria-labelledby": `${this.id}-title ${this.id}-about` });
    this.legend = el("ul", { class: "legend" });
    this.readout = el("p", { class: "readout small", "aria-hidden": "true" }, "\u00a0");
    this.element = el("figure", { class: "chart" }, this.legend, this.canvas, this.readout);
    this.canvas.addEventListener("pointermove", (event) => this.point(event));
    this.canvas.addEventListener("pointerleave", () => this.unpoint());
    new ResizeObserver(() => this.draw()).observe(this.element);
  }

  update(series, names = new Map()) {
    const words = JSON.stringify([series, [...names]]);
    if (words === this.words) return;
    this.words = words;
    this.names = names;
    this.series = series.filter((each) => each.points.length);
    fill(
      this.legend,
      this.series.map((each) =>
        el("li", { class: `key ${each.kind} ${each.colour}${each.dashed ? " dashed" : ""}` }, each.name),
      ),
    );
    this.draw();
  }

  draw() {
    const width = this.element.clientWidth;
    if (!width) return;
    const height = width < 480 ? Math.min(this.height, 220) : this.height;
    this.canvas.setAttribute("viewBox", `0 0 ${width} ${height}`);
    this.canvas.setAttribute("width", width);
    this.canvas.setAttribute("height", height);
    this.canvas.replaceChildren(
      svg("title", { id: `${this.id}-title` }, this.title),
      svg("desc", { id: `${this.id}-about` }, this.about),
    );
    const inner = {
      left: MARGIN.left,
      right: width - MARGIN.right,
      top: MARGIN.top,
      bottom: height - MARGIN.bottom,
    };
    this.inner = inner;
    const bounds = this.bounds();
    if (!bounds) {
      this.write(width / 2, height / 2, "nothing yet", "middle", "muted");
      this.across = null;
      return;
    }
    const room = Math.max(2, Math.floor((inner.right - inner.left) / 48));
    this.across = linear(bounds.x, [inner.left, inner.right], { room, whole: this.x.whole });
    const span = [inner.bottom, inner.top];
    this.up = this.y.log
      ? logarithmic(bounds.y, span)
      : linear(bounds.y, span, { room: 5, zero: this.y.zero, whole: this.y.whole });
    this.axes();
    for (const each of this.series) this.add(each);
    this.cursor = svg("line", { class: "cursor", y1: inner.top, y2: inner.bottom, visibility: "hidden" });
    this.canvas.append(this.cursor);
  }

  bounds() {
    const xs = [];
    const ys = [];
    for (const { points, kind } of this.series) {
      for (const [x, ...values] of points) {
        const shown = values.filter((value) => value !== null && (!this.y.log || value > 0));
        if (!shown.length) continue;
        xs.push(...(kind === "stairs" || kind === "bars" ? [x - 0.5, x + 0.5] : [x]));
        ys.push(...shown);
      }
    }
    return xs.length ? { x: extent(xs), y: extent(ys) } : null;
  }

  axes() {
    const { left, right, top, bottom } = this.inner;
    for (const tick of this.up.ticks) {
      const y = this.up.place(tick);
      this.canvas.append(svg("line", { class: "grid", x1: left, x2: right, y1: y, y2: y }));
      this.write(left - 8, y + 4, this.y.log ? power(tick) : round(tick), "end", "tick");
    }
    for (const [x, words] of this.ticks()) {
      this.canvas.append(svg("line", { class: "tickmark", x1: x, x2: x, y1: bottom, y2: bottom + 4 }));
      this.write(x, bottom + 17, words, "middle", "tick");
    }
    this.canvas.append(svg("line", { class: "axis", x1: left, x2: right, y1: bottom, y2: bottom }));
    this.write((left + right) / 2, bottom + 35, this.x.label, "middle", "label");
    const label = this.write(0, 0, this.y.label, "middle", "label");
    label.setAttribute("transform", `translate(13 ${(top + bottom) / 2}) rotate(-90)`);
  }

  /** Places and words below the axis; a number makes room for a name. */
  ticks() {
    const [from, to] = this.across.range;
    const named = [...this.names].map(([value, name]) => [this.across.place(value), name]).filter(([x]) => x >= from && x <= to);
    const numbers = this.across.ticks.map((tick) => [this.across.place(tick), round(tick)]);
    return [...numbers.filter(([x]) => named.every(([other]) => Math.abs(other - x) > NAME_ROOM)), ...named];
  }

  add({ kind, colour, points, dashed }) {
    const place = (x, y) => `${this.across.place(x).toFixed(1)} ${this.up.place(y).toFixed(1)}`;
    const look = `mark ${kind} ${colour}${dashed ? " dashed" : ""}`;
    const parts = runs(points, (value) => value !== null && (!this.y.log || value > 0));
    for (const part of parts) {
      if (kind === "bars") {
        for (const [x, y] of part) {
          const [from, to] = [this.across.place(x - 0.5), this.across.place(x + 0.5)];
          const gap = to - from > 6 ? 1 : 0;
          const high = this.up.place(y);
          const size = { x: from + gap, width: Math.max(0.5, to - from - 2 * gap), y: high };
          this.canvas.append(svg("rect", { class: look, ...size, height: Math.max(0, this.inner.bottom - high) }));
        }
        continue;
      }
      let path = "";
      if (kind === "band") {
        const back = [...part].reverse();
        path = `M${part.map(([x, , high]) => place(x, high)).join("L")}L${back.map(([x, low]) => place(x, low)).join("L")}Z`;
      } else if (kind === "stairs") {
        path = `M${part.map(([x, y]) => `${place(x - 0.5, y)}L${place(x + 0.5, y)}`).join("L")}`;
      } else if (kind === "steps") {
        path = part.map(([x, y], index) => (index ? `H${this.across.place(x).toFixed(1)}V${this.up.place(y).toFixed(1)}` : `M${place(x, y)}`)).join("");
      } else {
        path = `M${part.map(([x, y]) => place(x, y)).join("L")}`;
      }
      this.canvas.append(svg("path", { class: look, d: path }));
      if (kind !== "band" && (part.length === 1 || (kind === "line" && part.length <= 40))) {
        for (const [x, y] of part) {
          const centre = { cx: this.across.place(x), cy: this.up.place(y), r: part.length === 1 ? 3.5 : 2.2 };
          this.canvas.append(svg("circle", { class: `dot ${colour}`, ...centre }));
        }
      }
    }
  }

  write(x, y, words, anchor, look) {
    const text = svg("text", { x, y, "text-anchor": anchor, class: look }, words);
    this.canvas.append(text);
    return text;
  }

  point(event) {
    if (!this.across || !this.read) return;
    const box = this.canvas.getBoundingClientRect();
    const x = this.across.value(((event.clientX - box.left) / box.width) * this.canvas.viewBox.baseVal.width);
    const all = this.series.flatMap(({ points }) => points.map(([first]) => first));
    const nearest = all.reduce((best, each) => (Math.abs(each - x) < Math.abs(best - x) ? each : best));
    const place = this.across.place(nearest);
    for (const end of ["x1", "x2"]) this.cursor.setAttribute(end, place);
    this.cursor.setAttribute("visibility", "visible");
    say(this.readout, this.read(nearest));
  }

  unpoint() {
    this.cursor?.setAttribute("visibility", "hidden");
    say(this.readout, "\u00a0");
  }
}

function svg(tag, attributes, words) {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  if (words !== undefined) element.textContent = words;
  return element;
}

function extent(values) {
  return values.reduce(([low, high], value) => [Math.min(low, value), Math.max(high, value)], [Infinity, -Infinity]);
}

/** Stretches of points without gaps. */
function runs(points, shown) {
  const parts = [[]];
  for (const point of points) {
    if (point.slice(1).every(shown)) parts.at(-1).push(point);
    else if (parts.at(-1).length) parts.push([]);
  }
  return parts.filter((part) => part.length);
}

function linear([low, high], [from, to], { room, zero = false, whole = false }) {
  if (zero) low = 0;
  if (low === high) [low, high] = whole ? [low - 0.5, high + 0.5] : [low - Math.abs(low || 1) / 2, high + Math.abs(high || 1) / 2];
  if (zero) high *= 1.05;
  const raw = (high - low) / room;
  const base = 10 ** Math.floor(Math.log10(raw));
  let step = [1, 2, 5, 10].map((factor) => factor * base).find((each) => each >= raw) ?? raw;
  if (whole) step = Math.max(1, Math.round(step));
  const ticks = [];
  for (let tick = Math.ceil(low / step) * step; tick <= high + 1e-9 * step; tick += step) ticks.push(Math.abs(tick) < 1e-9 * step ? 0 : tick);
  return {
    ticks,
    range: [from, to],
    place: (value) => from + ((value - low) / (high - low)) * (to - from),
    value: (place) => low + ((place - from) / (to - from)) * (high - low),
  };
}

function logarithmic([low, high], [from, to]) {
  let [first, last] = [Math.log10(low), Math.log10(high)];
  const air = Math.max(0.05 * (last - first), 0.08);
  [first, last] = [first - air, last + air];
  if (Math.floor(last) - Math.ceil(first) < 1) [first, last] = [Math.floor(first + 1e-9), Math.ceil(last - 1e-9)];
  const every = Math.max(1, Math.ceil((Math.floor(last) - Math.ceil(first)) / 6));
  const ticks = [];
  for (let tick = Math.ceil(first / every) * every; tick <= last; tick += every) ticks.push(10 ** tick);
  return { ticks, place: (value) => from + ((Math.log10(value) - first) / (last - first)) * (to - from) };
}

const RAISED = { "-": "\u207b", 0: "\u2070", 1: "\u00b9", 2: "\u00b2", 3: "\u00b3", 4: "\u2074", 5: "\u2075", 6: "\u2076", 7: "\u2077", 8: "\u2078", 9: "\u2079" };

function power(value) {
  const exponent = Math.round(Math.log10(value));
  return `10${Array.from(String(exponent), (each) => RAISED[each]).join("")}`;
}

function round(value) {
  const size = Math.abs(value);
  if (size >= 1e6) return `${Number((value / 1e6).toPrecision(3))}M`;
  if (size >= 1e4) return `${Number((value / 1e3).toPrecision(3))}k`;
  return String(Number(value.toPrecision(6))).replace("-", MINUS);
}
