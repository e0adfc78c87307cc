// The panel at the right: what is chosen, with its figures and the evidence down to the line of the log.

const panel = document.getElementById("panel");

function fill(...children) {
  panel.replaceChildren(...children.flat(Infinity).filter(Boolean));
  panel.scrollTop = 0;
  panel.dataset.about = "choice";
}

function heading(type, kind, label) {
  return [
    make("p", { class: "kind" }, type ? glyph(type) : null, kind),
    make("h2", { dir: "auto" }, visible(label)),
  ];
}

function section(title, ...children) {
  return [make("h3", {}, title), ...children];
}

function figures(rows) {
  return make("dl", { class: "figures" }, rows.flatMap(([name, value]) => [make("dt", {}, name), make("dd", {}, value)]));
}

/** A rate with its interval, as a bar from 0 to 100 %. */
/** A range of shares, and the rate in it; null where there is none yet. */
function bar(low, high, point, words) {
  const span = draw("rect", { class: "span", x: 100 * low, y: 0, width: Math.max(1, 100 * (high - low)), height: 9 });
  const mark = point === null ? [] : [draw("rect", { class: "point", x: Math.min(98.4, Math.max(0, 100 * point - 0.8)), y: 0, width: 1.6, height: 9 })];
  const box = draw("svg", { viewBox: "0 0 100 9", preserveAspectRatio: "none", role: "img", "aria-label": words }, span, ...mark);
  return make("div", { class: "bar" }, box);
}

function links(places, end) {
  return make(
    "ul",
    { class: "links" },
    places.map((place) => {
      const edge = data.edges[place];
      const node = data.nodes[edge[end]];
      return make(
        "li",
        {},
        make(
          "button",
          { type: "button", onclick: () => chooseEdge(place) },
          glyph(node.type),
          make("span", {}, quoted(short(node.label, 90))),
          make("small", {}, `${edge.type} \u00b7 ${edge.status === "asserted" ? "" : `${edge.status} \u00b7 `}${edge.evidence}`),
        ),
      );
    }),
  );
}

// As many links as fit a look; the rest opens on demand.
const LINKS_SHOWN = 8;

function someLinks(title, places, end) {
  if (!places.length) return [];
  const box = make("div", {}, links(places.slice(0, LINKS_SHOWN), end));
  const left = places.length - LINKS_SHOWN;
  if (left > 0) {
    const more = make("button", { type: "button", class: "as-link" }, `${left} more`);
    more.addEventListener("click", () => box.replaceChildren(links(places, end)));
    box.append(more);
  }
  return section(`${title} (${places.length})`, box);
}

function nodePanel(place) {
  const node = data.nodes[place];
  const judged = node.measured
    ? `${node.successes} of ${node.measured} judged sessions succeeded (${isEarly(node) ? "too early for a rate" : percent(node.rate)}; at 95 % between ${percent(node.low)} and ${percent(node.high)})`
    : "Too early: nobody but the agent judged a session that has it.";
  fill(
    heading(node.type, node.type, node.label),
    figures([
      ["Seen", `${count(node.frequency, "time")} in ${count(node.episodes, "session")}`],
      ["Sessions with it", judged],
    ]),
    node.measured ? bar(node.low, node.high, isEarly(node) ? null : node.rate, judged) : null,
    someLinks("Edges into it", edgesTo[place], "source"),
    someLinks("Edges out of it", edgesFrom[place], "target"),
    wordings(node),
    evidence(node.sightings, Math.max(0, node.frequency - node.sightings.length)),
  );
}

function wordings(node) {
  if (!node.wordings.length) return [];
  const rows = node.wordings.map(([text, times]) => make("li", {}, quoted(short(text, 300)), times > 1 ? ` (${times}\u00d7)` : ""));
  const left = node.wordings_left ? [make("li", { class: "quiet" }, `and ${count(node.wordings_left, "other wording")}`)] : [];
  return section("In the logs' words", make("ul", { class: "words" }, rows, left));
}

function evidence(places, left) {
  if (!places.length) return [];
  const rest = left ? make("p", { class: "quiet" }, `and ${count(left, "older place")}, not on this page`) : null;
  return section("Evidence", make("ol", { class: "evidence" }, places.map(oneSighting)), rest).filter(Boolean);
}

function oneSighting(place) {
  const sighting = data.sightings[place];
  return make("li", {}, sessionLine(sighting), sightingBody(sighting));
}

function sightingBody(sighting) {
  const where = whereabouts(sighting);
  const said = sighting.quote || sighting.text;
  return [
    where ? make("p", { class: "where" }, make("b", { class: "place" }, quoted(where))) : null,
    said ? make("blockquote", { dir: "auto", tabindex: "0" }, visible(said)) : make("p", { class: "quiet" }, "No words of a log."),
  ];
}

function sessionLine(sighting) {
  const session = data.sessions[sighting.session];
  if (session.asserted) return make("p", { class: "where" }, "Asserted by hand");
  return [
    make(
      "p",
      { class: "where" },
      make("span", {}, session.day || "day unknown"),
      outcomeChip(session.outcome),
      PROJECTS.length > 1 && session.project ? quoted(short(session.project, 60)) : null,
      quoted(session.id),
    ),
    session.task ? make("p", { class: "task" }, quoted(short(session.task, 160))) : null,
  ];
}

function outcomeChip(outcome) {
  return make("span", { class: `chip ${outcome}` }, outcome);
}

const STATUS_MEANS = {
  asserted: "Asserted: logs or people say so; the sessions do not tell, or are too few.",
  supported: "Supported: over all sessions the two go together as the logs say. That is an association, not a proof.",
  contradicted: "Contradicted: over all sessions they do not go together as the logs say.",
};

function edgePanel(place) {
  const edge = data.edges[place];
  const ends = [edge.source, edge.target].map((end) => data.nodes[end]);
  fill(
    heading(null, `${edge.type}, ${edge.status}`, `${ends[0].label} \u2192 ${ends[1].label}`),
    make("p", { class: "lead quiet" }, STATUS_MEANS[edge.status]),
    figures([
      ["Said in", count(edge.evidence, "session")],
      ["Weight", `${edge.weight.toFixed(2)}: how sure the logs are that the two belong together`],
      ["Because", edge.reasons.join(", ")],
      ...(edge.comparison ? comparisonRows(edge.comparison) : []),
    ]),
    section(
      "Ends",
      make("ul", { class: "links" }, [edge.source, edge.target].map((end) => make("li", {}, nodeButton(end)))),
    ),
    joints(edge),
  );
}

function comparisonRows(one) {
  return [
    ["Among like sessions", `${points(one.difference)} points (at 95 % ${points(one.low)} to ${points(one.high)}; q ${one.q.toFixed(2)})`],
    ["Target met with it", `${one.successes} of ${one.uses} sessions`],
    ["Target met without", `${one.successes_of_others} of ${one.others} sessions`],
  ];
}

function nodeButton(place) {
  const node = data.nodes[place];
  return make(
    "button",
    { type: "button", onclick: () => chooseNode(place) },
    glyph(node.type),
    make("span", {}, quoted(short(node.label, 90))),
    make("small", {}, `${node.frequency}\u00d7`),
  );
}

function joints(edge) {
  const rows = edge.joints.map(([from, to]) => {
    const first = data.sightings[from];
    return make("li", {}, sessionLine(first), sightingBody(first), make("p", { class: "quiet" }, `\u2193 ${edge.type}`), sightingBody(data.sightings[to]));
  });
  const left = edge.evidence - edge.joints.length;
  return section(
    "Evidence",
    make("ol", { class: "evidence" }, rows),
    left > 0 ? make("p", { class: "quiet" }, `and ${count(left, "older session")}, not on this page`) : null,
  ).filter(Boolean);
}

function bundlePanel(places) {
  fill(
    heading(null, "several edges", `${count(places.length, "edge")} of type ${data.edges[places[0]].type}`),
    make("p", { class: "lead quiet" }, "Between labels of two groups; choose one for its evidence."),
    make(
      "ul",
      { class: "links" },
      [...places].sort(byEvidence).slice(0, 60).map((place) => make("li", {}, edgeButton(place))),
    ),
  );
}

function edgeButton(place) {
  const edge = data.edges[place];
  const [from, to] = [edge.source, edge.target].map((end) => quoted(short(data.nodes[end].label, 60)));
  return make(
    "button",
    { type: "button", onclick: () => chooseEdge(place) },
    make("span", {}, stroke(edge.type, edge.status), " ", from, ` ${edge.type} `, to),
    make("small", {}, `${edge.evidence}\u00d7`),
  );
}

function groupPanel(place) {
  const group = data.groups[place];
  const members = group.members.filter((member) => nodePasses(data.nodes[member]));
  const isOpen = picture.open.has(place);
  fill(
    heading(group.type, `group of ${count(members.length, "label")}`, group.label),
    picture.every
      ? null
      : make("p", { class: "lead" }, make("button", { type: "button", class: "button", onclick: () => toggleGroup(place) }, isOpen ? "Close the group" : "Open the group")),
    section("The most frequent", make("ul", { class: "links" }, members.slice(0, 40).map((member) => make("li", {}, nodeButton(member))))),
  );
}

function pathPanel() {
  const steps = data.path.nodes.flatMap((place, at) => {
    const edge = data.path.edges[at];
    const link =
      edge === undefined
        ? []
        : [make("li", {}, make("button", { type: "button", onclick: () => chooseEdge(edge) }, make("span", {}, `\u2193 ${data.edges[edge].type}, said in ${count(data.edges[edge].evidence, "session")}, weight ${data.edges[edge].weight.toFixed(2)}`)))];
    return [make("li", {}, nodeButton(place)), ...link];
  });
  const drawn = new Set(cy.edges().map((edge) => edge.data("places")).flat());
  const hidden = data.path.edges.filter((place) => !drawn.has(place)).length;
  fill(
    heading(null, "path", data.path.found ? "How one leads to the other" : "No path"),
    make("p", { class: "lead" }, visible(data.path.sentence)),
    hidden ? make("p", { class: "lead" }, `${hidden} of its ${count(data.path.edges.length, "edge")} ${hidden === 1 ? "is" : "are"} not drawn now: filters hide ${hidden === 1 ? "it" : "them"}.`) : null,
    make("ul", { class: "links" }, steps),
  );
}

/** What one sees before anything is chosen: what the page is, and where to begin. */
function whatToClick() {
  if (data.timeline) return "Click a step for its words, its reasons and its links.";
  if (data.overview) return "It opens with groups of labels that begin alike: click one to open it.";
  return "Click a label or an edge for its evidence.";
}

function startPanel() {
  const most = data.nodes.map((_, place) => place).filter((place) => nodePasses(data.nodes[place]));
  const failing = most
    // Even the upper end of the interval is below one half: anything weaker could be chance.
    .filter((place) => data.nodes[place].measured && data.nodes[place].high < 0.5 && data.nodes[place].type === "decision")
    .sort((one, other) => data.nodes[one].high - data.nodes[other].high || one - other);
  const told = data.edges.map((_, place) => place).filter((place) => data.edges[place].status !== "asserted").sort(byEvidence);
  fill(
    heading(null, visible(data.part), "What led to what"),
    make(
      "p",
      { class: "lead" },
      `${count(data.nodes.length, "label")} and ${count(data.edges.length, "edge")} from ${count(data.sessions.filter((one) => !one.asserted).length, "session")}${data.updated && !data.timeline ? `, the newest of ${data.updated}` : ""}. `,
      whatToClick(),
    ),
    ...data.notes.map((note) => make("p", { class: "lead quiet" }, visible(note))),
    told.length ? section("Edges that the sessions bear out or speak against", make("ul", { class: "links" }, told.slice(0, 6).map((place) => make("li", {}, edgeButton(place))))) : null,
    section(`Met most often${data.nodes.length < data.nodes_in_all ? ", in the whole memory" : ""}`, make("ul", { class: "links" }, most.slice(0, 8).map((place) => make("li", {}, nodeButton(place))))),
    failing.length ? section("Decisions of sessions that mostly fail", make("ul", { class: "links" }, failing.slice(0, 5).map((place) => make("li", {}, nodeButton(place))))) : null,
    make("p", { class: "lead quiet" }, "Correlation is not causation."),
  );
  panel.dataset.about = "everything";
}
