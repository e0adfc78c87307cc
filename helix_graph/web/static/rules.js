// The tab of rules: how far each is followed, before and after it came, and rules that are missing.

const RULE_STATES = { ignored: "failure", mixed: "partial", followed: "success", usage: "unknown", "too early": "unknown", "not applicable": "unknown", "not read": "unknown", "cannot be observed": "unknown" };
const VERDICTS = { better: "success", worse: "failure", "changed nothing": "unknown", "stopped before": "unknown", "too early": "unknown" };

const VERDICT_WORDS = {
  better: "What the rule is against happened less often after the rule came, by more than chance.",
  worse: "What the rule is against happened more often after the rule came, by more than chance.",
  "changed nothing": "What the rule is against happened about as often before the rule as after it.",
  "stopped before": "What the rule is against had stopped before the rule came, so its end is no effect of the rule.",
  "too early": "Too little was seen before or after the rule to say whether the rule works.",
};

async function rulesTab() {
  const [found, issues, sessions] = await Promise.all([pack("rules"), pack("issues"), allSessions()]);
  const [begun] = spanOf(sessions);
  const known = new Set(issues.issues.map((one) => one.id));
  return make(
    "section",
    {},
    make("h1", {}, "Rules"),
    make("p", { class: "lead" }, "What the rules written for agents ask for, what sessions did, and whether anything changed when a rule came. Before and after is association, not cause."),
    make("details", { class: "soft how" }, make("summary", {}, "How it is counted"), make("p", {}, "An opportunity is a place in a session where a rule asks for something: a commit, a push, the first change of a file, a run of that kind of check. It is taken where the session did what the rule says. ", found.note)),
    found.rules.length ? make("ol", { class: "cards" }, found.rules.map((one) => ruleCard(one, begun, sessions))) : make("p", { class: "nothing" }, found.nothing),
    found.rules.length > 0 && found.unread && make("p", { class: "soft" }, found.unread),
    found.unobservable > 0 && make("p", { class: "soft" }, `${count(found.unobservable, "more line")} of these files cannot be observed in sessions.`),
    make("h2", {}, "Rules that are missing"),
    found.proposals.length ? [make("p", { class: "soft" }, coded(found.proposals_note)), make("ol", { class: "cards" }, found.proposals.map((one) => proposalCard(one, known, found.into)))] : make("p", { class: "nothing" }, "For no recurring issue do sessions show what a rule should say; ", command("helix-graph advise"), " lists those that a person would have to word one for."),
  );
}

function ruleCard(one, begun, sessions) {
  const share = one.opportunities ? one.followed / one.opportunities : 0;
  return make(
    "li",
    { "data-rule": one.id },
    make("p", { class: "title" }, coded(one.text.replaceAll("**", ""))),
    make("p", { class: "soft" }, quoted(one.file), ", since ", when(one.since)),
    make("p", {}, chip(RULE_STATES[one.state], one.state), one.opportunities > 0 && (one.state === "usage" ? `: used in ${one.followed.toLocaleString("en")} of ${count(one.opportunities, "session")} with such changes` : `: ${one.followed.toLocaleString("en")} of ${count(one.opportunities, "opportunity").replace("opportunitys", "opportunities")} taken, in ${count(one.sessions, "session")}${one.instead ? `; ${count(one.instead, "other time")} another check of that kind ran` : ""}`)),
    one.opportunities > 0 && rateBar({ share, usual: null, name: `Followed ${one.followed} of ${one.opportunities}.` }),
    one.change ? beforeAfter(one.change) : one.opportunities > 0 && make("p", { class: "soft" }, momentOf(one.since) <= begun ? "Whether the rule works cannot be said: the rule is older than the first session." : "Whether the rule works cannot be said: sessions before the rule have too little to compare with."),
    one.missed.length > 0 && [make("p", { class: "soft" }, one.opportunities - one.followed > one.missed.length ? `Not taken ${one.opportunities - one.followed} times, last in:` : "Not taken in:"), make("ul", { class: "plain" }, one.missed.map(([place, line, what]) => make("li", { class: "where" }, sessionLink(sessions, place, line && `line-${line}`), make("span", { class: "soft" }, coded(what)), line ? logPlace(sessions.session[place], "", line) : null)))],
    make("p", {}, command(`helix-graph rules show ${one.id.slice(0, 8)}`)),
  );
}

/** When what a rule is against happened last, and for how long it had not when the rule came. */
function lastSeen(change) {
  if (change.last_seen === null) return false;
  if (change.after.events) return ["This was last seen ", when(change.last_seen), ". "];
  return ["This was last seen ", when(change.last_seen), ", before the rule came", change.quiet > 0 && `; the ${count(change.quiet, "session")} between had none of it`, ". "];
}

/** What a rule is against, before it came and after, as two bars, with the ratio and its interval. */
function beforeAfter(change) {
  const row = (text, rate) => {
    const name = `${text}: ${change.event} ${rate.events} of ${rate.opportunities}`;
    return make("tr", {}, make("th", { scope: "row" }, text), make("td", {}, rateBar({ share: rate.opportunities ? rate.events / rate.opportunities : 0, usual: null, name })), make("td", { class: "number" }, shareOf(rate.events, rate.opportunities)));
  };
  const ratio = change.ratio === null ? null : `${change.ratio.toFixed(2)} times as often (95 % ${change.low.toFixed(2)} to ${change.high === null ? "no end" : change.high.toFixed(2)})`;
  return make(
    "div",
    {},
    make("table", { class: "change" }, make("caption", { class: "soft" }, `${change.event}, of all opportunities`), make("tbody", {}, row("before", change.before), row("after", change.after))),
    make("p", {}, chip(VERDICTS[change.verdict], change.verdict), `: ${VERDICT_WORDS[change.verdict]}`, ratio && ` After the rule: ${ratio}.`),
    make("p", { class: "soft" }, lastSeen(change), change.left_out > 0 && `Left out of "before": the last ${count(change.left_out, "opportunity").replace("opportunitys", "opportunities")} before the rule, in case a bad spell led to it. `, change.control !== null && `For comparison, checks that the rule does not name failed ${change.control.toFixed(2)} times as often after the rule as before.`),
  );
}

function proposalCard(one, known, into) {
  return make(
    "li",
    {},
    make("p", { class: "title" }, coded(one.sentence)),
    make("p", { class: "soft" }, one.kind === "hook" ? "A hook, since the rule is written and ignored. " : "", "Why: ", coded(one.reason), "."),
    make("p", {}, "For ", known.has(one.issue) ? link(`issues/${one.issue}`, {}, quoted(one.title)) : quoted(one.title), `: ${count(one.sessions, "session")}${cost(one) ? `, ${cost(one)} so far` : ""}.`),
    one.kind !== "hook" && make("p", {}, command(`helix-graph advise --accept ${one.id.slice(0, 8)} --into ${into}`)),
  );
}
