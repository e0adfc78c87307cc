// The tab of sessions: the list with outcome, cost and strip. One session and two of them side by side are next to it.

/** A link to a session, or to one of its steps, by its title. */
function sessionLink(sessions, place, step) {
  const name = sessions.session[place];
  return link(`sessions/${encodeURIComponent(name)}${step ? `/${encodeURIComponent(step)}` : ""}`, {}, quoted(sessions.title[place] || name, 100));
}

/** What is counted of a session. */
const measures = () => [
  ["Minutes", `of work, in the whole session: ${leftOut()}.`],
  ["Call", "one use of a tool by the agent."],
  ["Tokens", "what the model read anew and wrote, where the log says so."],
  ["Failures", "those that were not announced; in brackets the minutes of work from each to its repair, counted alike."],
  ["Outcome", "what the log shows: the last run of a check over what was changed, a commit after it, the user's verdict. Without these it is unknown."],
];

async function sessionsTab(name, chosen, rest) {
  const sessions = await allSessions();
  if (name) return sessionPage(sessions, name, rest, chosen);
  const issues = chosen.issue ? (await pack("issues")).issues : [];
  const issue = issues.find((one) => one.id.startsWith(chosen.issue || " "));
  const results = make("div", { class: "results" });
  const show = (values) => results.replaceChildren(...sessionList(sessions, values, issue));
  show(chosen);
  const fields = [
    { name: "q", label: "Search", all: "Words of the task, a session's id", wide: true },
    { name: "outcome", label: "Outcome", all: "any", options: optionsOf(sessions.outcome, (one) => OUTCOMES[one]) },
    ...sessionFields(sessions),
    { name: "by", label: "Order", all: "newest", options: [["lost", "time lost to failures"], ["failures", "failures"], ["minutes", "length"], ["tokens", "tokens"]].filter(([column]) => sessions[column].some(Boolean)) },
  ];
  const form = filterForm(fields, chosen, (values) => {
    const all = issue ? { ...values, issue: issue.id } : values;
    rewrite("sessions", all);
    show(all);
  });
  return make(
    "section",
    {},
    make("h1", {}, "Sessions"),
    make("p", { class: "lead" }, "The strip is a session from its first step to its last: thin and green until it first failed, then thick and red until the last of its failures was repaired or got past. A look-up that found nothing is no failure."),
    meaningOf(measures()),
    issue && make("p", {}, "Sessions with ", link(`issues/${issue.id}`, {}, quoted(issue.title)), ". ", link("sessions", {}, "Show all")),
    form,
    results,
  );
}

function sessionList(sessions, chosen, issue) {
  const passes = sessionFilter(sessions, chosen);
  const met = issue ? new Set(issue.met) : null;
  let places = sessions.session.map((_, place) => place).reverse();
  places = places.filter(
    (place) =>
      passes(place) &&
      (!met || met.has(place)) &&
      (!chosen.outcome || sessions.outcome[place] === chosen.outcome) &&
      (!chosen.q || hasWords(`${sessions.title[place]} ${sessions.session[place]} ${sessions.branch[place] || ""}`, chosen.q)),
  );
  if (chosen.by) places.sort((one, other) => (sessions[chosen.by][other] ?? -1) - (sessions[chosen.by][one] ?? -1));
  if (!places.length) return [make("p", { class: "nothing" }, "No session passes the filters.")];
  return [make("p", { class: "soft", role: "status" }, count(places.length, "session")), ...listed(places, (place) => sessionRow(sessions, place), { class: "sessions" })];
}

/** What a session took: its length, calls, tokens and failures. */
function sessionFacts(sessions, place) {
  const facts = [];
  if (sessions.minutes[place]) facts.push(lasting(60 * sessions.minutes[place]));
  if (sessions.calls[place]) facts.push(count(sessions.calls[place], "call"));
  if (sessions.tokens[place]) facts.push(`${thousands(sessions.tokens[place])} tokens`);
  if (sessions.failures[place]) facts.push(count(sessions.failures[place], "failure") + (sessions.lost[place] ? ` (${lasting(sessions.lost[place])})` : ""));
  return facts;
}

function sessionRow(sessions, place) {
  return make(
    "li",
    {},
    link(
      `sessions/${encodeURIComponent(sessions.session[place])}`,
      { class: "session" },
      make("span", { class: "what" }, make("b", {}, quoted(sessions.title[place] || sessions.session[place]))),
      outcomeChip(sessions.outcome[place], sessions.basis[place]),
      strip(sessions.trouble[place], sessions.mended[place]),
      make("span", { class: "soft about" }, when(sessions.time[place], moment), [sessions.agent[place], sessions.model[place] && modelName(sessions.model[place]), sessions.author[place], ...sessionFacts(sessions, place)].filter(Boolean).map((text) => [" \u00b7 ", quoted(text)])),
    ),
  );
}
