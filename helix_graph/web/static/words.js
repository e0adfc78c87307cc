// Numbers, times and outcomes as people read them.

function count(number, noun) {
  return `${number.toLocaleString("en")} ${noun}${number === 1 ? "" : "s"}`;
}

function shareOf(part, all) {
  return `${part.toLocaleString("en")} of ${all.toLocaleString("en")}`;
}

function rangeOf(low, high) {
  return low === high ? String(low) : `${low} to ${high}`;
}

function percent(share) {
  return `${Math.round(100 * share)} %`;
}

const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/** The time of a text, or null; one without a zone counts as UTC, as everywhere in the memory. */
function momentOf(text) {
  if (!text) return null;
  const at = new Date(/(?:Z|[+-]\d\d:?\d\d)$/.test(text) || !text.includes("T") ? text : `${text}Z`);
  return Number.isNaN(at.getTime()) ? null : at;
}

/** A day in local time: `4 Mar 2026`. */
function day(text) {
  const at = momentOf(text);
  return at ? `${at.getDate()} ${MONTHS[at.getMonth()]} ${at.getFullYear()}` : "no date";
}

/** A day and an hour in local time: `4 Mar 2026, 10:05`. */
function moment(text) {
  const at = momentOf(text);
  return at ? `${day(text)}, ${clock(at)}` : "no date";
}

function clock(at) {
  return `${at.getHours()}:${String(at.getMinutes()).padStart(2, "0")}`;
}

/** A time as an element that shows the whole of it. */
function when(text, shown = day) {
  const at = momentOf(text);
  return make("time", at ? { datetime: at.toISOString(), title: moment(text) } : {}, shown(text));
}

/** A length of time: `45 s`, `12 min`, `3 h 20 min`. */
function lasting(seconds) {
  if (seconds < 60) return `${Math.round(seconds)} s`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 60) return `${minutes} min`;
  return minutes % 60 ? `${Math.floor(minutes / 60)} h ${minutes % 60} min` : `${minutes / 60} h`;
}

/** What no minutes on the page have in them. */
function leftOut() {
  return `pauses over ${meta.pause} minutes and all waiting for a person are left out`;
}

function thousands(number) {
  if (number >= 1e6) return `${(number / 1e6).toFixed(1)}M`;
  return number >= 1000 ? `${Math.round(number / 1000)}k` : String(number);
}

/** A number without its fraction as the commands round it: a half goes to the even one. */
function whole(number) {
  const below = Math.floor(number);
  return number - below === 0.5 ? below + (below % 2) : Math.round(number);
}

/** What a failure, or all of an issue, took. */
function cost(one) {
  const parts = [];
  if (one.steps !== null && one.steps !== undefined) parts.push(count(whole(one.steps), "step"));
  if (one.minutes) parts.push(lasting(60 * one.minutes));
  if (one.tokens) parts.push(`${thousands(one.tokens)} tokens`);
  return parts.join(", ");
}

const OUTCOMES = { success: "succeeded", partial: "partly done", failure: "failed", unknown: "unknown" };
const OUTCOME_SIGNS = { success: "\u2713", partial: "\u25d0", failure: "\u2717", unknown: "?" };

function outcomeChip(outcome, basis) {
  const claimed = basis === "declared" && outcome !== "unknown" ? ", says the agent" : "";
  return chip(outcome, `${OUTCOME_SIGNS[outcome]} ${OUTCOMES[outcome]}${claimed}`);
}

/** What a model is called without its maker's date. */
function modelName(text) {
  return text.replace(/-\d{8}$/, "");
}

/** Whether every word of a question is in a text; upper and lower case make no difference. */
function hasWords(text, question) {
  const within = text.toLowerCase();
  return question.toLowerCase().split(/\s+/).every((word) => within.includes(word));
}

/** What the states of an issue are called, and how an occurrence ended. */
const STATES = { new: "new", recurring: "recurring", regressed: "came back", quiet: "quiet", muted: "muted", resolved: "resolved" };
const ENDS = {
  repair: "repaired",
  pass: "passed again, without a change that was seen to repair it",
  instead: "went on with another command",
  prompt: "not repaired before the next prompt",
  left: "the agent went on to something else",
  session: "not repaired in this session",
};
