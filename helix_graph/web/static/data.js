// The page's data, and what is looked up in it again and again.

const data = JSON.parse(document.getElementById("data").textContent);

const TYPES = ["decision", "error", "event", "outcome", "pattern"].filter((type) =>
  data.nodes.some((node) => node.type === type),
);
const STATUSES = ["supported", "contradicted", "asserted"];
const KINDS = ["causes", "enables", "prevents", "correlates"].filter((kind) =>
  data.edges.some((edge) => edge.type === kind),
);
const PROJECTS = [...new Set(data.sessions.map((session) => session.project))].filter(Boolean).sort();
const DAYS = data.sessions.map((session) => session.day).filter(Boolean).sort();

/** Fewer judged sessions than this make no rate; as everywhere else in the memory. */
const ENOUGH = 10;

function isEarly(node) {
  return node.measured < ENOUGH;
}

/** The edges out of and into each node, the best evidenced first. */
const edgesFrom = data.nodes.map(() => []);
const edgesTo = data.nodes.map(() => []);
data.edges.forEach((edge, place) => {
  edgesFrom[edge.source].push(place);
  edgesTo[edge.target].push(place);
});
const byEvidence = (one, other) =>
  data.edges[other].evidence - data.edges[one].evidence || data.edges[other].weight - data.edges[one].weight || one - other;
edgesFrom.forEach((places) => places.sort(byEvidence));
edgesTo.forEach((places) => places.sort(byEvidence));

/** Where a piece of evidence stands, as one would type it: `log:line`. */
function whereabouts(sighting) {
  const log = sighting.log || data.sessions[sighting.session].log || "";
  const name = log.split(/[\\/]/).pop();
  if (!name) return sighting.line ? `line ${sighting.line}` : "";
  return sighting.line ? `${name}:${sighting.line}` : name;
}
