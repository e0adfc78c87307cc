// The tab of issues: the list, and one issue with its time, remedies, occurrences and what is like it.

const ORDERS = {
  steps: ["most steps first", ({ issue }) => issue.steps ?? 0],
  minutes: ["most minutes first", ({ issue }) => issue.minutes ?? 0],
  last: ["last seen first", (row) => momentOf(row.last)?.getTime() ?? 0],
  left: ["most unrepaired first", (row) => row.times - row.repaired],
};

async function issuesTab(name, chosen) {
  const [found, sessions] = await Promise.all([pack("issues"), allSessions()]);
  if (name) return issuePage(found.issues.find((one) => one.id === name) || found.issues.find((one) => one.id.startsWith(name)), found, sessions);
  const results = make("div", { class: "results" });
  const fields = [
    { name: "q", label: "Search", all: "Words, files, remedies", wide: true },
    { name: "state", label: "State", all: "not muted", options: optionsOf(found.issues.map((one) => one.state), (one) => STATES[one]) },
    { name: "check", label: "Check or tool", all: "any", options: optionsOf(found.issues.map((one) => one.check)) },
    { name: "file", label: "File", all: "part of a path" },
    ...sessionFields(sessions),
    { name: "by", label: "Order", all: "most sessions", options: Object.entries(ORDERS).map(([value, [text]]) => [value, text]) },
  ];
  const show = (values) => results.replaceChildren(...issueList(found, sessions, values));
  show(chosen);
  const form = filterForm(fields, chosen, (values) => {
    rewrite("issues", values);
    show(values);
  });
  return make("section", {}, make("h1", {}, "Issues"), make("p", { class: "lead" }, leadOf(found, sessions)), costliest(found), meaningOf(columns()), form, results);
}

function leadOf(found, sessions) {
  const again = found.issues.filter((one) => !one.group && one.sessions > 1).length;
  return `What keeps failing in ${count(sessions.session.length, "session")}: ${count(again, "failure")} came in more than one. ${found.note}`;
}

/** What the columns of the list count. */
const columns = () => [
  ["Sessions", "how many of all sessions met it."],
  ["Step", "one call of a tool by the agent, from the failing result to the one that shows the repair; without a repair until the check passes or the next prompt."],
  ["Minutes", `of work: ${leftOut()}.`],
  ["Tokens", "what the model read anew and wrote in these steps, where the log says so."],
  ["Repaired", "of its occurrences, those after which a change is seen to have mended it. Failures that were announced (a test written first) are not counted."],
  ["Group", "failures of one check and kind. Its issues are within it and are counted in it: do not add them to it."],
];

/** What words on this page mean, to be opened. */
function meaningOf(rows) {
  return make("details", { class: "soft how" }, make("summary", {}, "What the figures mean"), make("dl", { class: "meanings" }, rows.map(([name, text]) => [make("dt", {}, name), make("dd", {}, text)])));
}

/** So many issues that took equally many steps are named. */
const MOST_TIES = 3;

/** The issues that took most steps, with their remedies; what is within a group counts with it. */
function costliest(found) {
  const open = found.issues.filter((one) => one.steps && !one.group && one.state !== "muted" && one.state !== "resolved");
  if (!open.length) return null;
  const most = Math.max(...open.map((one) => whole(one.steps)));
  const first = open.filter((one) => whole(one.steps) === most);
  const told = (one) => [link(`issues/${one.id}`, {}, quoted(one.title)), ` (${cost(one)}; ${count(one.sessions, "session")}). `, quoted(one.repair, 160), "."];
  if (first.length === 1) return make("p", { class: "costliest" }, "Most steps went to ", told(first[0]));
  const more = first.length > MOST_TIES && `, ${MOST_TIES} of them`;
  return make("div", { class: "costliest" }, make("p", {}, `The ${first.length} that took most steps took equally many${more || ""}:`), make("ul", { class: "plain" }, first.slice(0, MOST_TIES).map((one) => make("li", {}, told(one)))));
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
    if (chosen.q && !hasWords([issue.title, issue.message, issue.thing, issue.repair, issue.check, ...issue.paths].join(" "), chosen.q)) continue;
    const met = narrowed ? issue.met.filter(passes) : issue.met;
    if (met.length) rows.push({ issue, met, sessions: new Set(met).size, ...(narrowed ? figuresOf(issue, passes, sessions) : { repaired: issue.repaired, times: issue.occurrences, last: issue.last_seen }) });
  }
  const [ranking, order] = ORDERS[chosen.by] || ["most sessions first"];
  if (order) rows.sort((one, other) => order(other) - order(one));
  else if (narrowed) rows.sort((one, other) => other.sessions - one.sessions);
  const within = new Map(rows.map((row) => [row.issue.id, []]));
  const top = rows.filter((row) => !within.get(row.issue.group)?.push(row));
  if (!rows.length) return [make("p", { class: "nothing" }, found.issues.length ? "No issue passes the filters." : "Nothing has failed in these sessions.")];
  const total = sessions.session.filter((_, place) => passes(place)).length;
  const head = make("div", { class: "issue head", "aria-hidden": "true" }, ["What fails", "When", "Sessions", "Last seen", narrowed ? "Cost, all time" : "Cost", "Repaired"].map((text) => make("span", {}, text)));
  const left = found.left ? [make("p", { class: "soft" }, `${count(found.left, "more issue")} not on this page: helix-graph issues --by issue`)] : [];
  const groups = top.filter((row) => row.issue.kind === "group").length;
  const inGroups = rows.length - top.length;
  const said = count(top.length - groups, "issue") + (groups ? `, and ${inGroups.toLocaleString("en")} more in ${count(groups, "group")}` : "");
  const entry = (row) => issueEntry(row, within.get(row.issue.id), { sessions, total, narrowed, open: Boolean(chosen.q || chosen.file) });
  const note = narrowed && " States, costs and remedies are those of all time and of all sessions.";
  return [make("p", { class: "soft", role: "status" }, `${said}, ${ranking}.`, note), head, ...listed(top, entry, { class: "issues" }), ...left];
}

/** What the chosen sessions say of an issue; what each occurrence cost is not on the page. */
function figuresOf(issue, passes, sessions) {
  const own = issue.met.map((place, at) => [place, issue.outcomes[at]]).filter(([place]) => passes(place));
  const last = own.reduce((newest, [place]) => Math.max(newest, place), -1);
  return { times: own.length, repaired: own.filter(([, outcome]) => outcome === REPAIRED || outcome === VERIFIED).length, last: sessions.time[last] };
}

/** What became of an occurrence. */
const REPAIRED = 1;
const VERIFIED = 2;
const INSTEAD = 3;

/** Where another command worked instead, in how many sessions it did. */
function answeredIn(issue) {
  return issue.remedy?.how === "instead" ? `another command worked in ${issue.remedy.times} of ${issue.remedy.of < issue.sessions ? "the last " : ""}${count(issue.remedy.of, "session")}` : "";
}

/** How often a marker silenced an issue, which repairs nothing; of chosen sessions alone the page does not know it. */
function silencedIn(issue, narrowed) {
  return issue.suppressed > 0 && make("small", { class: "soft" }, `; silenced ${issue.suppressed.toLocaleString("en")}`, narrowed && " (all time)");
}

/** A row with the issues of its group within it, ranked once as a whole. */
function issueEntry(row, members, { sessions, total, narrowed, open }) {
  const own = issueRow(row, sessions, total, narrowed);
  if (!members.length) return make("li", {}, own);
  const list = make("ol", { class: "issues" });
  const fill = () => list.childElementCount || list.append(...members.map((one) => make("li", {}, issueRow(one, sessions, total, narrowed))));
  if (open) fill();
  const rest = row.issue.kinds - members.length;
  const named = `${members.length === row.issue.kinds ? `Its ${count(members.length, "issue")}` : `${members.length} of its ${row.issue.kinds} issues`}, counted in it`;
  return make("li", {}, own, make("details", { class: "members", open, ontoggle: fill }, make("summary", {}, named), list, rest > 0 && make("p", { class: "soft" }, `${rest} more: `, link(`issues/${row.issue.id}`, {}, "the group's page"), " has its last occurrences.")));
}

/** A group names how many issues it has. */
function kindChip(issue) {
  return issue.kind === "group" ? chip("group", issue.kinds > 1 ? `group of ${count(issue.kinds, "issue")}` : "group") : null;
}

function issueRow({ issue, met, sessions: times, times: occurrences, repaired, last }, sessions, total, narrowed) {
  const span = spanOf(sessions);
  return link(
    `issues/${issue.id}`,
    { class: "issue" },
    make(
      "span",
      { class: "what" },
      make("b", {}, quoted(issue.title)),
      kindChip(issue),
      issue.state && chip(issue.state, STATES[issue.state]),
      issue.message && make("span", { class: "said" }, issue.kinds > 1 && `one of ${issue.kinds}: `, quoted(issue.message, 160)),
      make("span", { class: issue.remedy ? "fix" : "fix none" }, quoted(repairOf(issue), 160), narrowed ? " (all time)." : "."),
    ),
    spark(met.map((place) => sessions.moments[place]), span, { name: `Occurrences over time, ${count(met.length, "time")}.` }),
    make("span", { class: "number", "data-name": "sessions" }, make("b", {}, times.toLocaleString("en")), ` of ${total.toLocaleString("en")}`),
    make("span", { class: "number", "data-name": "last seen" }, when(last)),
    make("span", { class: "number", "data-name": narrowed ? "cost, all time" : "cost" }, cost(issue) || "none recorded"),
    make("span", { class: "number", "data-name": "repaired" }, `${(narrowed ? repaired : repaired - issue.suppressed).toLocaleString("en")} of ${occurrences.toLocaleString("en")}`, silencedIn(issue, narrowed), answeredIn(issue) && make("small", { class: "soft" }, `; ${answeredIn(issue)}`)),
  );
}

/** What repaired an issue; a look-up that found nothing, or a skill that is not there, leaves nothing to repair. */
function repairOf(issue) {
  return issue.looks && !issue.repaired && !issue.remedy ? "What was looked for is not there: nothing to repair" : issue.repair;
}

async function issuePage(issue, found, sessions) {
  if (!issue) {
    return make("section", {}, link("issues", { class: "back" }, "All issues"), make("h1", {}, "This issue is not on the page"), make("p", {}, "It may be newer, or one of many that one session met. ", command("helix-graph issues --by issue --limit 200")));
  }
  const points = issue.met.map((place, at) => [sessions.moments[place], issue.outcomes[at] > 0]);
  const facts = [
    ["Sessions", shareOf(issue.sessions, sessions.session.length)],
    ["Occurrences", issue.occurrences.toLocaleString("en")],
    ["Cost", cost(issue) || "none recorded"],
    ["Repaired", `${shareOf(issue.repaired - issue.suppressed, issue.occurrences)} ${answeredIn(issue) ? `(${answeredIn(issue)})` : `(${issue.verified.toLocaleString("en")} seen to pass${issue.suppressed ? ", silenced ones too" : ""})`}`],
    ["Silenced", issue.suppressed && shareOf(issue.suppressed, issue.occurrences)],
    ["First seen", when(issue.first_seen)],
    ["Last seen", when(issue.last_seen)],
    ["Check or tool", quoted(issue.check)],
    ["Agents", issue.agents.join(", ")],
    ["Models", issue.models.map(modelName).join(", ")],
    ["Files", make("ul", {}, issue.paths.slice(0, 6).map((path) => make("li", {}, link(`issues?file=${encodeURIComponent(path)}`, {}, quoted(path)))), issue.paths.length > 6 ? make("li", {}, `and ${issue.paths.length - 6} more`) : null)],
  ].filter(([, value]) => value && (typeof value === "string" || value.textContent));
  return make(
    "article",
    {},
    link("issues", { class: "back" }, "All issues"),
    make("h1", {}, quoted(issue.title), " ", kindChip(issue), " ", issue.state && chip(issue.state, STATES[issue.state])),
    memberOf(issue, found),
    membersOf(issue, found),
    issue.kinds > 1 && make("p", { class: "soft" }, `One of its ${issue.kinds} issues says:`),
    issue.message && make("blockquote", {}, visible(issue.message)),
    make("p", { class: issue.remedy ? "fix" : "fix none" }, quoted(repairOf(issue)), "."),
    make(
      "div",
      { class: "pair" },
      make("div", {}, make("h2", {}, "Still fixed?"), make("p", { class: "lead" }, stillFixed(issue)), occurrencesChart(points, spanOf(sessions), answeredIn(issue) ? "another command worked" : "repaired"), link(`sessions?issue=${issue.id}`, {}, issue.sessions === 1 ? "The session that met it" : `All ${count(issue.sessions, "session")} that met it`)),
      make("dl", { class: "facts" }, facts.map(([name, value]) => [make("dt", {}, name), make("dd", {}, value)])),
    ),
    make("h2", {}, issue.remedies.length ? issue.heading : "What repaired it"),
    issue.remedies.length ? make("ol", { class: "cards broad" }, issue.remedies.map((one) => remedyCard(one, sessions))) : make("p", { class: "nothing" }, issue.repaired ? "What changed is not recorded." : `${repairOf(issue)}.`),
    make("h2", {}, issue.occurrences > issue.shown.length ? `The last ${shareOf(issue.shown.length, issue.occurrences)} occurrences` : "Occurrences"),
    make("ol", { class: "cards" }, [...issue.shown].reverse().map((met) => occurrenceCard(met, sessions, issue.looks))),
    issue.occurrences > issue.shown.length && make("p", {}, "All of them: ", command(`helix-graph issues show ${issue.id.slice(0, 8)}`)),
    issue.similar.length > 0 && [make("h2", {}, "Similar issues"), make("ul", { class: "plain" }, issue.similar.map((one) => make("li", {}, found.issues.some((other) => other.id === one.id) ? link(`issues/${one.id}`, {}, quoted(one.title)) : quoted(one.title), make("span", { class: "soft" }, ` ${count(one.sessions, "session")}. `, quoted(one.message, 120)))))],
    make("p", { class: "commands" }, "Not worth showing, or done with? ", command(`helix-graph issues mute ${issue.id.slice(0, 8)}`), command(`helix-graph issues resolve ${issue.id.slice(0, 8)}`)),
  );
}

/** The group that an issue is in, as a link. */
function memberOf(issue, found) {
  const group = issue.group && found.issues.find((one) => one.id === issue.group);
  return group ? make("p", {}, "In the group ", link(`issues/${group.id}`, {}, quoted(group.title)), ` (${count(group.kinds, "issue")}, ${count(group.sessions, "session")}).`) : null;
}

/** The issues of a group that are on the page, as links. */
function membersOf(group, found) {
  const members = found.issues.filter((one) => one.group === group.id);
  const rest = group.kinds - members.length;
  const named = rest ? `${members.length} of its ${group.kinds} issues, counted in it; the other${rest > 1 ? "s are" : " is"} not on this page:` : "Its issues, counted in it:";
  return members.length ? make("details", { class: "members", open: members.length < 6 }, make("summary", {}, named), make("ul", { class: "plain" }, members.map((one) => make("li", {}, link(`issues/${one.id}`, {}, quoted(one.title)), make("span", { class: "soft" }, ` ${count(one.sessions, "session")}. `, quoted(one.message, 120)))))) : null;
}

/** Whether an issue is gone, in a sentence. */
function stillFixed(issue) {
  const later = issue.unit === "runs" ? `${count(issue.since, "run")} of ${issue.check}` : count(issue.since, "session");
  const since = issue.since ? `In later sessions: ${later} without it.` : issue.unit === "runs" ? `No later session ran ${issue.check}.` : "It is in the newest session.";
  const repaired = (one) => [VERIFIED, REPAIRED, INSTEAD].includes(one);
  const last = issue.outcomes.at(-1);
  const back = issue.outcomes.slice(0, -1).some(repaired);
  const ended = {
    [VERIFIED]: "its last occurrence was repaired and seen to pass",
    [REPAIRED]: "its last occurrence was repaired, which no check confirmed",
    [INSTEAD]: "in its last occurrence another command worked instead",
  }[last] || (issue.looks ? "its last occurrence was a look-up that found nothing" : "its last occurrence was not repaired");
  const verdict = {
    new: "Too early to say: only one session had it",
    recurring: !repaired(last) ? "No" : back ? "Not for good so far: it came back after earlier repairs" : "Too early to say: it was repaired for the first time",
    regressed: "No: it came back after it had been quiet",
    quiet: "It seems so",
    muted: "Muted by a person",
    resolved: "Resolved, says a person",
  }[issue.state || "recurring"];
  return `${verdict}; ${ended}. ${since}`;
}

/** A remedy with what its newest use changed. */
function remedyCard(one, sessions) {
  const place = sessions.places.get(one.session);
  return make(
    "li",
    {},
    make("p", { class: "title" }, quoted(one.words)),
    make("p", { class: "soft" }, `${count(one.sessions, "session")}; ${shareOf(one.verified, one.times)} seen to pass afterwards`, one.how === "silence" && " (a habit, not advice)"),
    one.diff ? diffOf(one.diff) : one.example && make("pre", {}, visible(one.example)),
    one.session && make("p", { class: "where" }, "Latest: ", place === undefined ? quoted(one.session) : sessionLink(sessions, place, one.line && `line-${one.line}`), one.line && logPlace(one.session, one.log, one.line)),
  );
}

function occurrenceCard(met, sessions, looks) {
  const place = sessions.places.get(met.session);
  const ended = met.repaired ? [chip("success", "\u2713 repaired"), " ", met.changes?.length ? quoted(met.changes.join("; "), 200) : null, met.verified_by && [", shown by ", quoted(met.verified_by, 80)]] : met.instead ? [chip("success", "\u2713 worked instead"), " ", quoted(met.instead, 200)] : looks ? chip("unknown", "a look-up that found nothing") : [chip("failure", "\u2717 not repaired"), " ", ENDS[met.ended] || ""];
  return make(
    "li",
    {},
    make("p", { class: "title" }, place === undefined ? quoted(met.session) : sessionLink(sessions, place, met.step)),
    make("p", { class: "soft" }, when(met.date, moment), met.agent && ` \u00b7 ${met.agent}`, met.author && ` \u00b7 ${met.author}`, met.path && [" \u00b7 ", quoted(met.path)]),
    make("blockquote", {}, visible(met.quote || met.message)),
    make("p", {}, ended),
    make("p", { class: "where" }, cost(met) && `${cost(met)} `, place !== undefined && sessions.traced[place] && link(`sessions/${encodeURIComponent(met.session)}/${encodeURIComponent(met.step)}`, {}, "Its step in the trace"), logPlace(met.session, met.log, met.line)),
  );
}
