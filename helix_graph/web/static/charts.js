// Small charts. What differs in colour differs in height, place or pattern as well, and each has a sentence for a name.

/** Numbers over time as bars, one for each of equal spans. */
function spark(moments, [first, last], { bars = 24, name } = {}) {
  const heights = new Array(bars).fill(0);
  for (const at of moments) {
    if (at !== null) heights[last > first ? Math.min(bars - 1, Math.floor((bars * (at - first)) / (last - first))) : bars - 1] += 1;
  }
  const highest = Math.max(1, ...heights);
  return draw(
    "svg",
    { class: "spark", viewBox: `0 0 ${4 * bars} 24`, role: "img", "aria-label": name, preserveAspectRatio: "none" },
    draw("line", { x1: 0, x2: 4 * bars, y1: 23.5, y2: 23.5, class: "rail" }),
    heights.map((number, place) => {
      const height = number ? Math.max(3, (22 * number) / highest) : 0;
      return number ? draw("rect", { x: 4 * place, y: 23 - height, width: 3, height, class: "bar" }) : null;
    }),
  );
}

/** A session from left to right: green until it first failed, then red until its failures were over. */
function strip(trouble, mended) {
  const name =
    trouble === null
      ? "No failure."
      : `First failed at ${Math.round(trouble / 10)} % of it; ` +
        (mended === null ? "a failure was left." : `the last was over at ${Math.round(mended / 10)} %.`);
  const end = mended ?? 1000;
  return draw(
    "svg",
    { class: "strip", viewBox: "0 0 1000 12", role: "img", "aria-label": name, preserveAspectRatio: "none" },
    draw("title", {}, name),
    draw("rect", { class: "fine", x: 0, y: 4, width: trouble ?? 1000, height: 4 }),
    trouble === null ? null : draw("rect", { class: "trouble", x: trouble, y: 0, width: Math.max(12, end - trouble), height: 12 }),
    trouble === null || mended === null ? null : draw("rect", { class: "fine", x: end, y: 4, width: Math.max(0, 1000 - end), height: 4 }),
  );
}

/** A share from 0 to 1 with its range, beside the usual share as a line. */
function rateBar({ share, low, high, usual, worse, name }) {
  return draw(
    "svg",
    { class: `rate ${worse ? "worse" : ""}`, viewBox: "0 0 100 14", role: "img", "aria-label": name, preserveAspectRatio: "none" },
    draw("title", {}, name),
    draw("rect", { class: "ground", x: 0, y: 2, width: 100, height: 7 }),
    draw("rect", { class: "share", x: 0, y: 2, width: 100 * share, height: 7 }),
    low === null || low === undefined ? null : draw("rect", { class: "range", x: 100 * low, y: 11.5, width: Math.max(1, 100 * (high - low)), height: 1.5 }),
    usual === null || usual === undefined ? null : draw("rect", { class: "usual", x: 100 * usual - 0.3, y: 0, width: 0.6, height: 11 }),
  );
}

/** Occurrences over time as stacked bars: repaired (or what else `good` says) below, not repaired above and hatched. */
function occurrencesChart(points, [first, last], good = "repaired") {
  const bars = 30;
  const spans = Array.from({ length: bars }, () => [0, 0]);
  for (const [at, repaired] of points) {
    if (at === null) continue;
    const place = last > first ? Math.min(bars - 1, Math.floor((bars * (at - first)) / (last - first))) : bars - 1;
    spans[place][repaired ? 0 : 1] += 1;
  }
  const highest = Math.max(1, ...spans.map(([fine, left]) => fine + left));
  const height = (number) => (84 * number) / highest;
  const repaired = points.filter(([, one]) => one).length;
  const name = `${count(points.length, "occurrence")} from ${day(new Date(first).toISOString())} to ${day(new Date(last).toISOString())}, ${repaired} ${good}.`;
  return make(
    "figure",
    {},
    draw(
      "svg",
      { class: "history", viewBox: "0 0 600 104", role: "img", "aria-label": name },
      draw("defs", {}, draw("pattern", { id: "hatch", width: 5, height: 5, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" }, draw("rect", { class: "hatch", width: 2, height: 5 }))),
      draw("line", { x1: 0, x2: 600, y1: 90.5, y2: 90.5, class: "rail" }),
      spans.map(([fine, left], place) => [
        fine ? draw("rect", { class: "fine", x: 20 * place + 2, y: 90 - height(fine), width: 16, height: height(fine) }) : null,
        left ? draw("rect", { class: "trouble", x: 20 * place + 2, y: 90 - height(fine + left), width: 16, height: height(left) }) : null,
        left ? draw("rect", { fill: "url(#hatch)", x: 20 * place + 2, y: 90 - height(fine + left), width: 16, height: height(left) }) : null,
      ]),
    ),
    make(
      "figcaption",
      {},
      make("span", {}, day(new Date(first).toISOString())),
      make("span", { class: "legend" }, repaired > 0 && make("span", {}, make("i", { class: "fine" }), good), repaired < points.length && make("span", {}, make("i", { class: "trouble" }), "not repaired")),
      make("span", {}, day(new Date(last).toISOString())),
    ),
  );
}
