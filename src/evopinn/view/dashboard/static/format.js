// Numbers as a person reads them.

export function scientific(value) {
  if (typeof value !== "number" || !Number.isFinite(value)) return "–";
  return value === 0 ? "0" : value.toExponential(2).replace("e+", "e");
}

export function count(value) {
  return typeof value === "number" ? value.toLocaleString("en") : "–";
}

export function age(moment, now) {
  if (typeof moment !== "number") return "–";
  const minutes = Math.max(0, now - moment) / 60;
  if (minutes < 1) return "just now";
  if (minutes < 60) return `${Math.floor(minutes)} min ago`;
  return minutes < 48 * 60 ? `${Math.floor(minutes / 60)} h ago` : `${Math.floor(minutes / 1440)} days ago`;
}

export function moment(seconds) {
  return typeof seconds === "number"
    ? new Date(1000 * seconds).toLocaleString("en-GB", { dateStyle: "medium", timeStyle: "short" })
    : "–";
}

export function plural(number, word) {
  return `${count(number)} ${word}${number === 1 ? "" : "s"}`;
}
