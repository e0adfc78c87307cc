// Two sessions side by side: what one did or met and the other did not, the largest difference first.

/** How often a session did or met each thing, by the name that sessions have in common. */
function tally(trace) {
  const times = new Map();
  for (const one of trace.steps) {
    if (!one.label) continue;
    const key = one.kind === "decision" ? one.text : one.label;
    const known = times.get(key) || { times: 0, failed: isFailure(one), id: one.id };
    known.times += 1;
    times.set(key, known);
  }
  return times;
}

/** The different things that a session did, and the issues that it met. */
function thingsOf(trace) {
  return new Set([...tally(trace).keys(), ...trace.steps.map((one) => one.issue).filter(Boolean)]);
}

/** The traced session that did and met the most of the same, of those with another known outcome where there are any; and why. */
async function mostAlike(sessions, place, trace) {
  const mine = thingsOf(trace);
  const traced = sessions.session.map((_, other) => other).filter((other) => other !== place && sessions.traced[other]).reverse();
  const differing = traced.filter((other) => sessions.outcome[other] !== sessions.outcome[place] && sessions.outcome[other] !== "unknown");
  const among = differing.length ? differing : traced;
  let best = null;
  for (const other of among) {
    const theirs = thingsOf(await pack(`trace-${other}`));
    const shared = [...mine].filter((one) => theirs.has(one)).length;
    const all = mine.size + theirs.size - shared;
    const alike = shared / (all || 1);
    if (!best || alike > best.alike) best = { other, alike, shared, all };
  }
  if (!best) return {};
  const whose = differing.length ? `the ${count(among.length, "session")} on this page that came out otherwise` : `the ${count(among.length, "session")} on this page, none of which is known to have come out otherwise,`;
  return { other: best.other, why: `Of ${whose} it has most in common with this one: ${best.shared} of ${best.all} steps and failures of the two.` };
}

async function comparison(sessions, place, trace, name) {
  const { other, why } = name ? { other: sessions.places.get(name) } : await mostAlike(sessions, place, trace);
  const theirs = other === undefined ? null : await pack(`trace-${other}`);
  if (!theirs) return make("p", { class: "nothing" }, "There is no other session on this page to compare it with.");
  const mine = encodeURIComponent(sessions.session[place]);
  const choice = make(
    "select",
    { "aria-label": "The other session", onchange: (event) => (location.hash = `sessions/${mine}?with=${encodeURIComponent(event.target.value)}`) },
    sessions.session.map((one, at) => at).filter((at) => sessions.traced[at] && at !== place).reverse().map((at) => make("option", { value: sessions.session[at], selected: at === other }, `${OUTCOME_SIGNS[sessions.outcome[at]]} ${day(sessions.time[at])}  ${short(sessions.title[at], 70)}`)),
  );
  const [here, there] = [tally(trace), tally(theirs)];
  const rows = [...new Set([...here.keys(), ...there.keys()])].map((key) => [key, here.get(key)?.times || 0, there.get(key)?.times || 0, (here.get(key) || there.get(key)).failed]);
  rows.sort((one, two) => Math.abs(two[1] - two[2]) - Math.abs(one[1] - one[2]) || Number(two[3]) - Number(one[3]) || two[1] + two[2] - one[1] - one[2]);
  const differ = rows.filter(([, one, two]) => one !== two);
  const figures = [
    ["Outcome", (at) => outcomeChip(sessions.outcome[at], sessions.basis[at])],
    ["Course", (at) => strip(sessions.trouble[at], sessions.mended[at])],
    ["Length", (at) => (sessions.minutes[at] ? lasting(60 * sessions.minutes[at]) : "-")],
    ["Calls", (at) => String(sessions.calls[at] ?? "-")],
    ["Tokens", (at) => (sessions.tokens[at] ? thousands(sessions.tokens[at]) : "-")],
    ["Failures", (at) => String(sessions.failures[at])],
  ];
  return make(
    "div",
    { class: "compare" },
    make("h2", {}, "Compared with"),
    make("p", {}, choice, " ", link(`sessions/${mine}`, { class: "button" }, "Back to its steps")),
    why && make("p", { class: "soft" }, why),
    make(
      "table",
      {},
      make("thead", {}, make("tr", {}, make("th", { scope: "col" }, "Difference"), make("th", { scope: "col" }, "This session"), make("th", { scope: "col" }, link(`sessions/${encodeURIComponent(sessions.session[other])}`, {}, "The other session")))),
      make("tbody", {}, figures.map(([text, value]) => make("tr", {}, make("th", { scope: "row" }, text), make("td", {}, value(place)), make("td", {}, value(other))))),
      make("tbody", {}, differ.slice(0, 60).map(([key, one, two, failed]) => make("tr", { class: failed ? "failed" : "" }, make("th", { scope: "row" }, failed && "\u2717 ", quoted(key, 120)), make("td", {}, times(one)), make("td", {}, times(two))))),
    ),
    make("p", { class: "soft" }, `${count(rows.length - differ.length, "thing")} as often in both. Two sessions differ in many ways at once: a difference is a place to look at, not a reason.`),
  );
}

function times(number) {
  return number ? count(number, "time") : "never";
}
