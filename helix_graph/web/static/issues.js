// The tab of issues: the list, and one issue with its time, remedies, occurrences and what is like it.

const ORDERS = {
  steps: ["steps", (one) => one.steps ?? 0],
  minutes: ["minutes", (one) => one.minutes ?? 0],
  last: ["last seen", (one) => momentOf(one.last_seen)?.getTime() ?? 0],
  left: ["not repaired", (one) => one.occurrences - one.repaired],
};

async function issuesTab(name, chosen) {
  const [found, sessions] = await Promise.all([pack("issues"), allSessions()]);
  if (name) return issuePage(found.issues.find((one) => one.id === name) || found.issues.find((one) => one.id.startsWith(name)), found, sessions);
  const results = make("div", { class: "results" });
  const fields = [
    { name: "q", label: "Search", all: "Words of an issue, a file, a remedy", wide: true },
    { name: "state", label: "State", all: "not muted", options: optionsOf(found.issues.map((one) => one.state), (one) => STATES[one]) },
    { name: "check", label: "Check or tool", all: "any", options: optionsOf(found.issues.map((one) => one.check)) },
    { name: "file", label: "File", all: "part of a path" },
    ...sessionFields(sessions),
    { name: "by", label: "Order", all: "sessions", options: Object.entries(ORDERS).map(([value, [text]]) => [value, text]) },
  ];
  const show = (values) => results.replaceChildren(...issueList(found, sessions, values));
  show(chosen);
  const form = filterForm(fields, chosen, (values) => {
    rewrite("issues", values);
    show(values);
  });
  return make("section", {}, make("h1", {}, "Issues"), make("p", { class: "lead" }, leadOf(found, sessions)), form, results);
}

function leadOf(found, sessions) {
  const again = found.issues.filter((one) => one.sessions > 1).length;
  return `What keeps failing in ${count(sessions.session.length, "session")}: ${count(again, "issue")} came in more than one. ${found.note}`;
}

/** The issues that pass the filters, with the sessions of each that do. */
function issueList(found, sessions, chosen) {
  const passes = sessionFilter(sessions, chosen);
  const narrowed = ["agent", "model", "author", "project", "days"].some((name) => chosen[name]);
  const rows = [];
  for (const issue of found.issues) {
    if (chosen.state ? issue.state !== chosen.state : issue.state === "muted" || issue.state === "resolved") continue;
    if (chosen.check && issue.check !== chosen.check) continue;
    if (chosen.file && !issue.paths.some((path) => path.toLowerCase().includes(chosen.file.toLowerCase()))) continue;
    if (chosen.q && !hasWords([issue.title, issue.message, issue.thing, issue.best, issue.check, ...issue.paths].join(" "), chosen.q)) continue;
    const met = narrowed ? issue.met.filter(passes) : issue.met;
    if (met.length) rows.push({ issue, met, sessions: new Set(met).size });
  }
  const order = ORDERS[chosen.by]?.[1];
  if (order) rows.sort((one, other) => order(other.issue) - order(one.issue));
  else if (narrowed) rows.sort((one, other) => other.sessions - one.sessions);
  if (!rows.length) return [make("p", { class: "nothing" }, found.issues.length ? "No issue passes the filters." : "Nothing has failed in these sessions.")];
  const total = sessions.session.filter((_, place) => passes(place)).length;
  const head = make("div", { class: "issue head", "aria-hidden": "true" }, ["What fails", "When", "Sessions", "Last seen", "Cost", "Repaired"].map((text) => make("span", {}, text)));
  const left = found.left ? [make("p", { class: "soft" }, `${count(found.left, "more issue")} not on this page: helix-graph issues --by issue`)] : [];
  return [make("p", { class: "soft", role: "status" }, count(rows.length, "issue")), head, ...listed(rows, (row) => issueRow(row, sessions, total), { class: "issues" }), ...left];
}

function issueRow({ issue, met, sessions: times }, sessions, total) {
  const span = spanOf(sessions);
  return make(
    "li",
    {},
    link(
      `issues/${issue.id}`,
      { class: "issue" },
      make(
        "span",
        { class: "what" },
        make("b", {}, quoted(issue.title)),
        issue.state && chip(issue.state, STATES[issue.state]),
        issue.message && make("span", { class: "said" }, quoted(issue.message, 160)),
        issue.best ? make("span", { class: "fix" }, "Best remedy: ", quoted(issue.best, 120)) : make("span", { class: "fix none" }, issue.repaired ? "Repaired differently each time." : "Never repaired in a session that met it."),
      ),
      spark(met.map((place) => sessions.moments[place]), span, { name: `Occurrences over time, ${count(met.length, "time")}.` }),
      make("span", { class: "number", "data-name": "sessions" }, make("b", {}, times.toLocaleString("en")), ` of ${total.toLocaleString("en")}`),
      make("span", { class: "number", "data-name": "last seen" }, when(issue.last_seen)),
      make("span", { class: "number", "data-name": "cost" }, cost(issue) || "none recorded"),
      make("span", { class: "number", "data-name": "repaired" }, `${issue.repaired.toLocaleString("en")} of ${issue.occurrences.toLocaleString("en")}`),
    ),
  );
}

async function issuePage(issue, found, sessions) {
  if (!issue) {
    return make("section", {}, link("issues", { class: "back" }, "All issues"), make("h1", {}, "This issue is not on the page"), make("p", {}, "It may be newer, or one of many that one session met. ", command("helix-graph issues --by issue --limit 200")));
  }
  const points = issue.met.map((place, at) => [sessions.moments[place], issue.outcomes[at] > 0]);
  const facts = [
    ["Sessions", `${issue.sessions} of ${sessions.session.length.toLocaleString("en")}`],
    ["Occurrences", String(issue.occurrences)],
    ["Cost", cost(issue) || "none recorded"],
    ["Repaired", `${issue.repaired} of ${issue.occurrences} (${issue.verified} seen to pass)`],
    ["First seen", when(issue.first_seen)],
    ["Last seen", when(issue.last_seen)],
    ["Check or tool", quoted(issue.check)],
    ["Agents", issue.agents.join(", ")],
    ["Models", issue.models.map(modelName).join(", ")],
    ["Files", make("ul", {}, issue.paths.slice(0, 6).map((path) => make("li", {}, link(`issues?file=${encodeURIComponent(path)}`, {}, quoted(path)))))],
  ].filter(([, value]) => value && (typeof value === "string" || value.textContent));
  return make(
    "article",
    {},
    link("issues", { class: "back" }, "All issues"),
    make("h1", {}, quoted(issue.title), " ", issue.state && chip(issue.state, STATES[issue.state])),
    issue.message && make("blockquote", {}, visible(issue.message)),
    make(
      "div",
      { class: "pair" },
      make("div", {}, make("h2", {}, "Still fixed?"), make("p", { class: "lead" }, stillFixed(issue)), occurrencesChart(points, spanOf(sessions)), link(`sessions?issue=${issue.id}`, {}, `All ${count(issue.sessions, "session")} that met it`)),
      make("dl", { class: "facts" }, facts.map(([name, value]) => [make("dt", {}, name), make("dd", {}, value)])),
    ),
    make("h2", {}, "What repaired it"),
    issue.remedies.length ? make("ol", { class: "cards broad" }, issue.remedies.map((one) => remedyCard(one, sessions))) : make("p", { class: "nothing" }, "No repair was seen in any session."),
    make("h2", {}, issue.occurrences > issue.shown.length ? `The last ${issue.shown.length} of ${issue.occurrences} occurrences` : "Occurrences"),
    make("ol", { class: "cards" }, [...issue.shown].reverse().map((met) => occurrenceCard(met, sessions))),
    issue.occurrences > issue.shown.length && make("p", {}, "All of them: ", command(`helix-graph issues show ${issue.id.slice(0, 8)}`)),
    issue.similar.length > 0 && [make("h2", {}, "Similar issues"), make("ul", { class: "plain" }, issue.similar.map((one) => make("li", {}, found.issues.some((other) => other.id === one.id) ? link(`issues/${one.id}`, {}, quoted(one.title)) : quoted(one.title), make("span", { class: "soft" }, ` ${count(one.sessions, "session")}. `, quoted(one.message, 120)))))],
    make("p", { class: "commands" }, "Not worth showing, or done with? ", command(`helix-graph issues mute ${issue.id.slice(0, 8)}`), command(`helix-graph issues resolve ${issue.id.slice(0, 8)}`)),
  );
}

/** Whether an issue is gone, in a sentence. */
function stillFixed(issue) {
  const since = `${count(issue.since, issue.unit.slice(0, -1))} of ${issue.unit === "runs" ? issue.check : "this project"} since it was last seen`;
  const last = issue.outcomes.at(-1);
  const ended = last === 2 ? "its last occurrence was repaired and seen to pass" : last === 1 ? "its last occurrence was repaired, which no check confirmed" : "its last occurrence was not repaired";
  const verdict = {
    new: "Too early to say: one session has met it",
    recurring: "No: it keeps coming back",
    regressed: "No: it came back after it had been quiet",
    quiet: "It seems so",
    muted: "Muted by a person",
    resolved: "Resolved, says a person",
  }[issue.state || "recurring"];
  return `${verdict}; ${ended}. ${since.charAt(0).toUpperCase()}${since.slice(1)}.`;
}

/** A remedy with what its newest use changed. */
function remedyCard(one, sessions) {
  const place = sessions.places.get(one.session);
  return make(
    "li",
    {},
    make("p", { class: "title" }, quoted(one.words)),
    make("p", { class: "soft" }, `${count(one.sessions, "session")}; ${one.verified} of ${one.times} seen to pass afterwards`, one.how === "silence" && " (a habit, not advice)"),
    one.diff ? diffOf(one.diff) : one.example && make("pre", {}, visible(one.example)),
    one.session && make("p", { class: "where" }, "Latest: ", place === undefined ? quoted(one.session) : sessionLink(sessions, place), logPlace(one.session, one.log, one.line)),
  );
}

function occurrenceCard(met, sessions) {
  const place = sessions.places.get(met.session);
  const ended = met.repaired ? [chip("success", "\u2713 repaired"), " ", met.changes?.length ? quoted(met.changes.join("; "), 200) : null, met.verified_by && [", shown by ", quoted(met.verified_by, 80)]] : [chip("failure", "\u2717 not repaired"), " ", ENDS[met.ended] || ""];
  return make(
    "li",
    {},
    make("p", { class: "title" }, place === undefined ? quoted(met.session) : sessionLink(sessions, place, met.step)),
    make("p", { class: "soft" }, when(met.date, moment), met.agent && ` \u00b7 ${met.agent}`, met.author && ` \u00b7 ${met.author}`, met.path && [" \u00b7 ", quoted(met.path)]),
    make("blockquote", {}, visible(met.quote || met.message)),
    make("p", {}, ended),
    make("p", { class: "where" }, cost(met) && `${cost(met)} `, logPlace(met.session, met.log, met.line)),
  );
}
