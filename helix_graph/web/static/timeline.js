// One session, step by step, with its suspects, and the session beside it.

const timeline = document.getElementById("timeline");

function fillTimeline() {
  const one = data.timeline;
  const stepOf = new Map(one.steps.map((step) => [step.id, step]));
  const suspects = one.steps.filter((step) => step.suspect).sort((a, b) => a.suspect.rank - b.suspect.rank);
  const about = [one.agent, one.project, one.time, one.log].filter(Boolean);
  timeline.replaceChildren(
    make(
      "div",
      { class: "sheet" },
      make("h2", { dir: "auto" }, visible(short(one.task, 400))),
      make("p", { class: "about" }, outcomeChip(one.outcome), ` ${one.basis}${one.rule ? `: ${visible(one.rule)}` : ""} `, one.quote ? quoted(`\u201c${short(one.quote, 200)}\u201d`) : ""),
      make("p", { class: "about" }, quoted(one.episode), ` \u00b7 ${visible(about.join(" \u00b7 "))}`),
      make("p", { class: "about" }, `Read from ${visible(one.compared)}.`),
      one.sentence ? make("p", {}, one.sentence) : null,
      suspects.length ? [make("h3", {}, "Look here first"), make("ul", { class: "links" }, suspects.slice(0, 5).map(suspectLine))] : [],
      make("h3", {}, "Step by step"),
      one.steps.length ? null : make("p", {}, "Nothing in its log is a decision or an event."),
      make("ol", { class: "steps" }, one.steps.map((step) => make("li", {}, stepButton(step, stepOf)))),
      lessons(one),
      beside(one),
    ),
  );
}

function suspectLine(step) {
  return make(
    "li",
    {},
    make(
      "button",
      { type: "button", onclick: () => chooseStep(step.id, true) },
      suspectChip(step),
      make("span", {}, quoted(short(step.text, 110)), make("small", {}, visible(step.suspect.reasons[0] || ""))),
    ),
  );
}

function suspectChip(step) {
  return make("span", { class: "chip suspect" }, `suspect ${step.suspect.rank}`);
}

function glyphType(step) {
  return step.kind === "decision" ? "decision" : step.type === "error" || step.how === "error" ? "error" : "event";
}

function stepButton(step) {
  return make(
    "button",
    { type: "button", class: "step", "data-step": step.id, onclick: () => chooseStep(step.id) },
    make("span", { class: "line" }, step.line === null ? "\u2013" : String(step.line)),
    glyph(glyphType(step)),
    make("span", { class: "text" }, quoted(short(step.text, 220)), make("small", {}, stepWords(step))),
    make("span", { class: "chips" }, step.suspect ? suspectChip(step) : null, step.how && step.how !== "unknown" ? make("span", { class: `chip ${step.how}` }, step.how) : null),
  );
}

function stepWords(step) {
  const linked = step.led_by.length + step.leads_to.length;
  return `${step.kind}, ${step.type}${linked ? `, ${count(linked, "link")}` : ""}`;
}

function lessons(one) {
  if (!one.lessons.length) return [];
  return [make("h3", {}, "Lessons"), make("ul", {}, one.lessons.map((lesson) => make("li", {}, quoted(short(lesson, 400)))))];
}

function beside(one) {
  const { other, why, likeness, partings } = one.beside;
  const title = make("h3", { id: "beside" }, "Beside a session that succeeded");
  if (!other) return [title, make("p", {}, `None: ${visible(why)}.`)];
  const intro = make("p", { class: "about" }, quoted(other), ` (${visible(why)}; ${percent(likeness)} of the labels are in both). Two sessions differ in many ways at once: these are places to look at, not reasons.`);
  if (!partings.length) return [title, intro, make("p", {}, "The two did the same, step by step.")];
  const rows = partings.map((parting) =>
    make(
      "tr",
      {},
      make("td", {}, parting.after ? quoted(parting.after) : "at the start"),
      make("td", {}, did(parting.here, parting.here_ids)),
      make("td", {}, did(parting.there, [])),
    ),
  );
  const head = make("tr", {}, ["After", "this one did", "the other did"].map((text) => make("th", { scope: "col" }, text)));
  return [title, intro, make("table", { class: "partings" }, make("thead", {}, head), make("tbody", {}, rows))];
}

function did(labels, ids) {
  if (!labels.length) return make("span", { class: "quiet" }, "nothing");
  return make(
    "ul",
    { class: "links" },
    labels.map((label, at) =>
      ids[at] ? make("li", {}, make("button", { type: "button", onclick: () => chooseStep(ids[at], true) }, quoted(label))) : make("li", {}, quoted(label)),
    ),
  );
}

function stepPanel(step) {
  const stepOf = new Map(data.timeline.steps.map((one) => [one.id, one]));
  fill(
    heading(glyphType(step), `${step.kind}, ${step.type}${step.how && step.how !== step.type ? `, ${step.how}` : ""}`, short(step.text, 400)),
    figures([
      ["Step", step.id],
      ["Where", `${step.log ? visible(step.log) : "log unknown"}${step.line === null ? "" : `:${step.line}`}`],
      ...(step.time ? [["When", visible(step.time)]] : []),
      ...[["Why", step.why], ["Situation", step.situation], ["Message", step.message]]
        .filter(([, text]) => text && text !== step.text && text !== step.quote)
        .map(([name, text]) => [name, quoted(short(text, 500))]),
    ]),
    step.suspect ? suspectSection(step.suspect) : null,
    step.quote ? section("In the log", make("blockquote", { dir: "auto", tabindex: "0" }, visible(step.quote))) : null,
    stepLinks("Links into it", step.led_by, stepOf),
    stepLinks("Links out of it", step.leads_to, stepOf),
    step.node === null ? null : section("Its label, over all sessions", make("ul", { class: "links" }, make("li", {}, nodeButton(step.node)))),
  );
}

function suspectSection(one) {
  const others = (title, names, all) => (names.length ? [make("p", { class: "quiet" }, `${title} (${all}):`), make("ul", { class: "words" }, names.map((name) => make("li", {}, quoted(name))))] : []);
  return section(
    `Suspect ${one.rank}${one.clear ? "" : ": could be chance"}`,
    make("ul", { class: "words" }, one.reasons.map((reason) => make("li", {}, visible(reason)))),
    ...others("For it: sessions with it that failed", one.supporting, one.failed_with),
    ...others("Against it: sessions with it that succeeded", one.contrary, one.succeeded_with),
    make("p", { class: "quiet" }, "Suspects are leads, not conclusions."),
  );
}

function stepLinks(title, list, stepOf) {
  if (!list.length) return [];
  return section(
    title,
    make(
      "ul",
      { class: "links" },
      list.map(([id, type, reason]) => {
        const other = stepOf.get(id);
        const text = other ? quoted(short(other.text, 90)) : `the session's ${id}`;
        const button = make("button", { type: "button", onclick: () => other && chooseStep(id, true) }, other ? glyph(glyphType(other)) : null, make("span", {}, text), make("small", {}, `${type} \u00b7 ${reason}`));
        return make("li", {}, button);
      }),
    ),
  );
}

/** Marks a step and what it is linked to. */
function markStep(step) {
  const tied = new Set([...step.led_by, ...step.leads_to].map(([id]) => id));
  for (const button of timeline.querySelectorAll(".step")) {
    button.setAttribute("aria-current", String(button.dataset.step === step.id));
    button.classList.toggle("tied", tied.has(button.dataset.step));
  }
}
