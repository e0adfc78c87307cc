// One session: how it ended, where to look first, and its steps with what they took and what came of them.

const SIGNS = { decision: "\u25c6", error: "\u2717", test: "\u2713", commit: "\u25cf", tool_call: "\u25cb", milestone: "\u2691", handoff: "\u21c4" };

async function sessionPage(sessions, name, step, chosen) {
  const place = sessions.places.get(name) ?? sessions.session.findIndex((one) => one.startsWith(name));
  if (place === undefined || place < 0) return make("section", {}, link("sessions", { class: "back" }, "All sessions"), make("h1", {}, "This session is not on the page"), make("p", {}, command(openingCommand(name))));
  const trace = await pack(`trace-${place}`);
  const head = sessionHead(sessions, place, trace, chosen.with !== undefined);
  if (!trace) return make("article", {}, ...head, make("p", { class: "nothing" }, "Its steps are not on this page, which has those of the newest sessions and of each issue's last occurrences. Show them with ", command(`helix-graph explain ${briefName(sessions.session[place])} --steps`), "."));
  if (chosen.with !== undefined) return make("article", {}, ...head, await comparison(sessions, place, trace, chosen.with));
  const steps = make("ol", { class: "steps" }, trace.steps.map((one, at) => stepItem(one, at, trace, sessions.session[place])));
  const page = make("article", {}, ...head, ...whatFailed(trace, name, (await pack("issues")).issues), make("div", { class: "pair even" }, readFirst(trace, name), suspectsOf(trace, sessions, place)), ...memoryShown(trace), ...refused(trace), make("h2", {}, count(trace.steps.length, "step")), openEdits(steps, trace), steps, lessonsOf(trace));
  if (step) queueMicrotask(() => openStep(page, step, trace));
  return page;
}

/** Opens a step and scrolls to it; `line-12` is the step at that line of the log. */
function openStep(page, step, trace) {
  const line = /^line-(\d+)$/.exec(step)?.[1];
  const id = line ? stepAt(trace, Number(line))?.id : step;
  const item = id && page.querySelector(`[data-step="${CSS.escape(id)}"]`);
  if (!item) return;
  item.querySelector("details").open = true;
  item.scrollIntoView({ block: "center" });
  item.querySelector("summary").focus({ preventScroll: true });
}

/** The step that is on a line of the log, else the last before it. */
function stepAt(trace, line) {
  return trace.steps.find((one) => one.line === line || one.also?.includes(line)) || trace.steps.findLast((one) => one.line && one.line <= line) || trace.steps[0];
}

function sessionHead(sessions, place, trace, compared) {
  const about = [sessions.agent[place], sessions.model[place] && modelName(sessions.model[place]), sessions.author[place], sessions.branch[place] && `branch ${sessions.branch[place]}`, ...sessionFacts(sessions, place)].filter(Boolean);
  const name = sessions.session[place];
  return [
    link("sessions", { class: "back" }, "All sessions"),
    make("h1", {}, quoted(trace ? trace.task : sessions.title[place] || name, 300)),
    make("p", { class: "soft" }, when(sessions.time[place], moment), about.map((text) => [" \u00b7 ", quoted(text)])),
    make("p", {}, outcomeChip(sessions.outcome[place], sessions.basis[place]), trace && [" ", trace.rule || trace.why_unknown, trace.quote && [": ", trace.source ? link(`sessions/${encodeURIComponent(name)}/${trace.source}`, {}, quoted(trace.quote, 160)) : quoted(trace.quote, 160)]]),
    strip(sessions.trouble[place], sessions.mended[place]),
    make("p", { class: "commands" }, trace && !compared && link(`sessions/${encodeURIComponent(name)}?with=`, { class: "button" }, "Compare with another session"), command(openingCommand(name)), command(`helix-graph explain ${briefName(name)}`)),
  ];
}

/** So few steps are read as they are. */
const FEW_STEPS = 3;

/** The places to read first, as `explain` has them. */
function readFirst(trace, session) {
  if (!trace.reading?.length || trace.steps.length <= FEW_STEPS) return null;
  const titles = new Map(trace.steps.map((one) => [one.id, one.text]));
  return make(
    "div",
    {},
    make("h2", {}, "Read first"),
    make("p", { class: "soft" }, trace.from_log ? "Places of its log, the most telling first." : "What the memory kept of its log, the most telling first; the log itself was not read."),
    make(
      "ol",
      { class: "leads" },
      trace.reading.map((one) => {
        const step = one.steps?.find((id) => titles.has(id));
        const why = [one.trouble, ...(one.reasons || [])].filter(Boolean);
        // Of a call its step says more than its arguments in a row.
        const said = step ? quoted(titles.get(step), 160) : quoted(one.quote, 160);
        return make("li", {}, step ? link(`sessions/${encodeURIComponent(session)}/${encodeURIComponent(step)}`, {}, said) : said, make("p", { class: "where" }, make("span", { class: "soft" }, why.join("; ")), one.line ? logPlace(session, one.file || trace.log, one.line, "line") : null));
      }),
    ),
  );
}

/** So many failures of a session are named at its head. */
const MOST_FAILURES = 6;

/** What failed in a session and was not meant to, what was left first. */
function whatFailed(trace, session, issues) {
  const byId = new Map(trace.steps.map((one) => [one.id, one]));
  const failures = trace.steps.filter((one) => isFailure(one) && !one.deliberate && !one.looked);
  const left = failures.filter((one) => !one.repaired_by?.length);
  if (!failures.length) return [];
  const alike = new Map();
  for (const one of [...left, ...failures.filter((one) => one.repaired_by?.length)]) {
    const key = [one.text, one.message, one.issue, one.repaired_by].join("\n");
    alike.set(key, [...(alike.get(key) || []), one]);
  }
  const shown = [...alike.values()].slice(0, MOST_FAILURES);
  const more = [...alike.values()].slice(MOST_FAILURES).flat().length;
  const known = new Map(issues.map((one) => [one.id, one]));
  const about = (issue) => [make("br"), make("small", {}, "issue ", link(`issues/${issue.id}`, {}, quoted(issue.title, 120)), `, ${count(issue.sessions, "session")}. `, quoted(issue.repair, 160), ".")];
  const how = (one) => (one.repaired_by?.length ? [chip("mended", "repaired"), " by ", quoted(one.repaired_by.map((id) => byId.get(id)?.text).filter(Boolean).join("; "), 160)] : chip("failure", "not repaired"));
  return [
    make("h2", {}, `${count(failures.length, "failure")}, ${repairedOf(failures.length, left.length)}`),
    make("ul", { class: "plain failures" }, shown.map(([one, ...again]) => make("li", {}, link(`sessions/${encodeURIComponent(session)}/${encodeURIComponent(one.id)}`, {}, "\u2717 ", quoted(one.text, 160)), again.length > 0 && make("small", {}, ` ${again.length + 1} times`), one.message && !one.text.includes(one.message) && make("small", {}, " ", quoted(one.message, 160)), " ", how(one), known.has(one.issue) && about(known.get(one.issue))))),
    more > 0 && make("p", { class: "soft" }, `${more} more among the steps below.`),
  ];
}

/** How many of some failures were repaired. */
function repairedOf(all, left) {
  if (left === all) return all > 1 ? "none repaired" : "not repaired";
  return left ? `${left} not repaired` : all > 1 ? "all repaired" : "repaired";
}

/** The steps that something points at, as `explain` has them of one log alone. */
function suspectsOf(trace, sessions, place) {
  const byId = new Map(trace.steps.map((one) => [one.id, one]));
  if (!trace.order.length && sessions.outcome[place] === "success") return null;
  const head = make("h2", {}, "Suspects");
  if (!trace.order.length) return make("div", {}, head, make("p", { class: "nothing" }, trace.sentence || "No step stands out."));
  return make(
    "div",
    {},
    head,
    make("p", { class: "soft" }, trace.sentence && `${trace.sentence} `, "Steps before what went wrong, the likeliest first. Leads, not conclusions, from this session's log alone; helix-graph explain compares it with the others as well."),
    make(
      "ul",
      { class: "leads" },
      trace.order.slice(0, 5).map((id) => {
        const one = byId.get(id);
        return make("li", {}, chip("suspect", `suspect ${one.suspect.rank}`), " ", stepButton(one, sessions.session[place]), make("ul", {}, one.suspect.reasons.map((reason) => make("li", {}, quoted(reason)))));
      }),
    ),
  );
}

/** A link to a step of the same session. */
function stepButton(one, session) {
  return link(`sessions/${encodeURIComponent(session)}/${encodeURIComponent(one.id)}`, {}, quoted(one.text, 120));
}

function memoryShown(trace) {
  if (!trace.shown?.length) return [];
  return [make("h2", {}, "What the memory had shown"), make("ul", { class: "plain" }, trace.shown.map((text) => make("li", {}, quoted(text, 300))))];
}

function refused(trace) {
  const calls = trace.steps.filter((one) => one.how === "rejected");
  if (!calls.length) return [];
  return [make("h2", {}, "What was refused"), make("ul", { class: "plain" }, calls.map((one) => make("li", {}, quoted(one.text, 360))))];
}

function lessonsOf(trace) {
  if (!trace.lessons?.length) return null;
  return make("div", {}, make("h2", {}, "Lessons"), make("ul", { class: "plain" }, trace.lessons.map((text) => make("li", {}, quoted(text)))));
}

/** A button that opens every step with a diff, or closes them. */
function openEdits(steps, trace) {
  const edits = trace.steps.filter((one) => one.diff?.length);
  if (!edits.length) return null;
  const button = make("button", { type: "button", class: "button", "aria-pressed": "false" }, edits.length === 1 ? "Show the edit" : `Show the ${count(edits.length, "edit")}`);
  button.addEventListener("click", () => {
    const open = button.getAttribute("aria-pressed") === "false";
    button.setAttribute("aria-pressed", String(open));
    for (const one of edits) steps.querySelector(`[data-step="${CSS.escape(one.id)}"] > details`).open = open;
  });
  return make("div", { class: "picker" }, button);
}

function isFailure(one) {
  return one.type === "error";
}

function stepItem(one, at, trace, session) {
  const sign = one.kind === "decision" ? SIGNS.decision : isFailure(one) || one.how === "rejected" ? SIGNS.error : SIGNS[one.type] || SIGNS.tool_call;
  const kind = isFailure(one) ? "error" : one.kind === "event" && one.type === "test" ? "success" : one.kind;
  const chips = [
    one.suspect && chip("suspect", `suspect ${one.suspect.rank}`),
    isFailure(one) && !one.deliberate && !one.looked && (one.repaired_by?.length ? chip("mended", "repaired") : chip("failure", "not repaired")),
    one.deliberate && chip("unknown", "deliberate"),
    one.looked && chip("unknown", "found nothing"),
    one.how === "rejected" && chip("failure", "refused"),
    one.suspect && !one.suspect.clear && chip("unknown", "could be chance"),
  ];
  const took = [momentOf(one.time) && clock(momentOf(one.time)), durationOf(trace, at), one.tokens && `${thousands(one.tokens)} tokens`].filter(Boolean);
  const byId = new Map(trace.steps.map((other) => [other.id, other]));
  const body = make("div", { class: "body" });
  const item = make(
    "li",
    { "data-step": one.id, class: `step ${kind}${isFailure(one) && !one.repaired_by?.length && !one.deliberate && !one.looked ? " left" : ""}` },
    make("details", { ontoggle: () => body.childElementCount || body.append(...stepBody(one, byId, session)) }, make("summary", {}, make("span", { class: "sign", "aria-hidden": "true" }, sign), make("span", { class: "text" }, quoted(one.text, 200), one.kind === "decision" && one.why && one.why !== lastReason(trace, at) && make("small", {}, quoted(one.why, 140)), isFailure(one) && one.message && make("small", {}, quoted(one.message, 160))), make("span", { class: "chips" }, chips), make("span", { class: "took" }, took.join(" \u00b7 "))), body),
  );
  return item;
}

/** The reason of the decision before a step: what one sentence announced is said once. */
function lastReason(trace, at) {
  return trace.steps.slice(0, at).findLast((one) => one.kind === "decision")?.why;
}

/** What a failure took until it was over, of other steps the time to the next one; a pause is no work. */
function durationOf(trace, at) {
  if (isFailure(trace.steps[at]) && trace.steps[at].minutes !== undefined) return `took ${lasting(60 * trace.steps[at].minutes)}`;
  const begun = momentOf(trace.steps[at].time);
  const next = trace.steps.slice(at + 1).find((one) => momentOf(one.time) > begun);
  const seconds = begun && next && (momentOf(next.time) - begun) / 1000;
  if (!seconds) return null;
  return seconds > 60 * meta.pause ? "then a pause" : lasting(seconds);
}

const LINKS = { causes: ["then", "after"], enables: ["then", "after"], prevents: ["repaired", "was repaired by"], correlates: ["goes with", "goes with"] };

function stepBody(one, byId, session) {
  const ends = (links, way) => links.filter(([id]) => byId.has(id)).map(([id, type, reason]) => make("li", {}, `${LINKS[type][way]} `, stepButton(byId.get(id), session), make("small", { class: "soft" }, ` (${because(reason)})`)));
  return [
    one.situation && make("p", { class: "soft" }, "Situation: ", quoted(one.situation, 240)),
    one.why && make("p", {}, "Why: ", quoted(one.why)),
    one.message && !one.quote?.includes(one.message) && make("p", {}, quoted(one.message)),
    one.diff?.length ? diffOf(one.diff) : one.quote && make("blockquote", {}, visible(one.quote)),
    one.suspect && make("ul", { class: "plain" }, one.suspect.reasons.map((text) => make("li", {}, quoted(text)))),
    make("ul", { class: "plain" }, ends(one.led_by, 1), ends(one.leads_to, 0)),
    isFailure(one) && cost(one) && make("p", { class: "soft" }, `It took ${cost(one)}.`),
    make("p", { class: "where" }, one.line ? logPlace(session, one.log, one.line) : null, (one.also || []).map((line) => logPlace(session, one.log, line, "line")), one.issue && link(`issues/${one.issue}`, {}, "Its issue"), one.node && link(`graph/${one.node}`, {}, "What came before and after it in all sessions")),
  ].filter(Boolean);
}
