// An answer of a tool within a client (MCP Apps): recurring failures, one of them, or what to read first of a session.

const host = window.parent;
const waiting = new Map();
const main = document.getElementById("main");
let asked = 0;
let callsTools = false;

function send(message) {
  host.postMessage({ jsonrpc: "2.0", ...message }, "*");
}

/** Asks the client for something; an error of its own comes back like an answer without a result. */
function ask(method, params) {
  asked += 1;
  send({ id: asked, method, params });
  return new Promise((done) => waiting.set(asked, done));
}

addEventListener("message", (event) => {
  if (event.source !== host || event.data?.jsonrpc !== "2.0") return;
  const { id, method, params, result } = event.data;
  if (method === undefined) {
    waiting.get(id)?.(result ?? {});
    waiting.delete(id);
  } else if (method === "ui/notifications/tool-result") showAnswer(params);
  else if (method === "ui/notifications/tool-cancelled") main.replaceChildren(make("p", { class: "nothing" }, "The call was cancelled."));
  else if (method === "ui/notifications/host-context-changed") follow(params);
  else if (id !== undefined) send({ id, result: {} });
});

/** Takes the client's theme. */
function follow(context) {
  if (context?.theme) document.documentElement.dataset.theme = context.theme;
}

const DRAWN = { IssueList: issueRows, IssueDetails: issueInFull, Explanation: explained };

/** Draws an answer by its values, or by its text where the client keeps them back; `back` is drawn again on request. */
function showAnswer(answer, back) {
  const found = answer?._meta?.["helix-graph/answer"];
  const text = (answer?.content || []).map((part) => part.text || "").join("\n");
  const content = found && DRAWN[found.kind] && !answer.isError ? DRAWN[found.kind](found.value, answer) : make("pre", { class: "text" }, visible(text));
  main.replaceChildren(back ? make("button", { type: "button", class: "more", onclick: () => showAnswer(back) }, "\u2190 All issues") : "", content);
  if (back) main.focus({ preventScroll: true });
  document.body.dataset.ready = "";
}

function issueRows(found, answer) {
  const rows = found.issues.map((one) =>
    make(
      "li",
      {},
      issueTitle(one, answer),
      " ",
      one.state && chip(one.state, STATES[one.state]),
      one.message && make("span", { class: "said" }, quoted(one.message, 200)),
      make("p", { class: "soft" }, `${one.sessions} of ${count(found.sessions, "session")}; ${cost(one) || "no cost recorded"}; repaired ${shareOf(one.repaired - one.suppressed, one.occurrences)}`),
      one.remedy ? remedyOf(one.remedy) : one.way && [make("p", { class: "soft" }, "Fixed in different ways, most often:"), remedyOf(one.way)],
      one.suppressed > 0 && make("p", { class: "soft" }, `Silenced by a marker ${one.suppressed} of the ${one.occurrences} times: a habit, not advice.`),
    ),
  );
  return make("section", {}, make("h1", {}, "What keeps failing"), rows.length ? make("ol", { class: "rows" }, rows) : make("p", { class: "nothing" }, `No failure recurs in ${count(found.sessions, "session")}.`), make("p", { class: "soft" }, found.note));
}

/** The title of an issue, which opens it where the client lets pages call tools. */
function issueTitle(one, answer) {
  if (!callsTools || !one.id) return make("b", {}, quoted(one.title));
  return make("button", { type: "button", class: "open", onclick: async () => showAnswer(await ask("tools/call", { name: "issues", arguments: { id: one.id } }), answer) }, quoted(one.title));
}

const HOW = { run: "run", instead: "run in its place", "edit named": "edit the file that it names", edit: "edit", edits: "edit", "edit test": "edit the test itself", again: "calling the tool again", silence: "a marker that silences the check: a habit, not advice" };

function remedyOf(one) {
  const how = one.how === "edits" && one.times > 1 ? "no common fix:" : HOW[one.how];
  return make("div", {}, make("p", { class: "fix" }, `${how} `, quoted(one.each?.length ? one.each.map(([name, times]) => `${name} (${times})`).join(", ") : one.what, 160), ` (${shareOf(one.times, one.of)}, ${one.verified} seen to pass)`), one.diff.length > 0 && diffOf(one.diff));
}

/** What the list of remedies is called: to call a tool again got past a failure and repaired nothing. */
function headingOf({ remedies }) {
  if (remedies.every((one) => one.how === "instead")) return "What worked instead";
  return remedies.length && remedies.every((one) => ["again", "silence"].includes(one.how)) ? "How it was got past" : "What repaired it";
}

function issueInFull(found) {
  const one = found.issue;
  return make(
    "article",
    {},
    make("h1", {}, quoted(one.title), " ", one.state && chip(one.state, STATES[one.state])),
    one.message && make("blockquote", {}, visible(one.message)),
    make("p", { class: "soft" }, `${count(one.occurrences, "time")} in ${count(one.sessions, "session")}, `, when(one.first_seen), " to ", when(one.last_seen), `; ${cost(one) || "no cost recorded"}; repaired ${shareOf(one.repaired - one.suppressed, one.occurrences)}`),
    make("h2", {}, headingOf(found)),
    found.remedies.length ? make("ol", { class: "rows" }, found.remedies.slice(0, 5).map((remedy) => make("li", {}, remedyOf(remedy)))) : make("p", { class: "nothing" }, "No repair was seen in any session."),
    make("h2", {}, found.occurrences.length < one.occurrences ? `The last ${found.occurrences.length} of ${one.occurrences} occurrences` : "Occurrences"),
    make("ol", { class: "rows" }, [...found.occurrences].reverse().map(occurrenceRow)),
  );
}

function occurrenceRow(met) {
  const ended = met.repaired ? [chip("success", "\u2713 repaired"), " ", quoted(met.changes.join("; "), 200)] : met.instead ? [chip("success", "\u2713 worked instead"), " ", quoted(met.instead, 200)] : [chip("failure", "\u2717 not repaired"), " ", ENDS[met.ended] || ""];
  return make("li", {}, make("p", {}, when(met.date, moment), " ", ended), make("span", { class: "said" }, quoted(met.message, 200)), make("p", { class: "where" }, command(`helix-graph sessions show ${met.session}${met.line ? ` --line ${met.line}` : ""}`, met.line ? `line ${met.line}` : "log")));
}

function explained(found) {
  const session = found.episode.replace(/^episode-/, "");
  const places = found.reading.slice(0, 5).map((one) => placeRow(session, one.quote, [one.trouble, ...one.reasons], one.line));
  const steps = found.suspects.slice(0, 5).map((one) => placeRow(session, one.chosen || one.label, one.reasons, one.line));
  return make(
    "article",
    {},
    make("h1", {}, found.outcome === "failure" ? "Why it failed" : "How it came out", " ", chip(found.outcome, `${OUTCOME_SIGNS[found.outcome]} ${OUTCOMES[found.outcome]}`)),
    make("p", { class: "soft" }, found.rule && `${found.rule}. `, `Based on ${found.basis}.`),
    places.length > 0 && [make("h2", {}, "Read first"), make("ol", { class: "leads" }, places)],
    make("h2", {}, "Suspects"),
    steps.length ? [make("ul", { class: "leads" }, steps), make("p", { class: "soft" }, "The likeliest first. Leads, not conclusions.")] : make("p", { class: "nothing" }, "No step stands out."),
  );
}

function placeRow(session, text, reasons, line) {
  return make("li", {}, quoted(text, 200), make("p", { class: "where" }, make("span", { class: "soft" }, quoted(reasons.filter(Boolean).join("; "))), line ? command(`helix-graph sessions show ${session} --line ${line}`, `line ${line}`) : null));
}

/** Shakes hands with the client, and tells it from then on how high the page is. */
async function begin() {
  const greeting = await ask("ui/initialize", { protocolVersion: "2026-01-26", appInfo: { name: "helix-graph", version: "1" }, appCapabilities: { availableDisplayModes: ["inline", "fullscreen"] } });
  callsTools = Boolean(greeting.hostCapabilities?.serverTools);
  follow(greeting.hostContext);
  send({ method: "ui/notifications/initialized", params: {} });
  new ResizeObserver(() => {
    const { width, height } = document.documentElement.getBoundingClientRect();
    send({ method: "ui/notifications/size-changed", params: { width: Math.ceil(width), height: Math.ceil(height) } });
  }).observe(document.documentElement);
}

begin();
