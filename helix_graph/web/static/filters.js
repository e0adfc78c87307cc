// What is shown: types, statuses, the least evidence, a project, a span of days.

const filters = {
  types: new Set(TYPES),
  kinds: new Set(KINDS),
  statuses: new Set(STATUSES),
  evidence: 1,
  project: "",
  from: "",
  to: "",
};

let sessionPasses = data.sessions.map(() => true);
let everySession = true;

/** Works out once which sessions pass; nodes and edges are then asked by the thousand. */
function renewSessions() {
  const { project, from, to } = filters;
  everySession = !(project || from || to);
  sessionPasses = data.sessions.map(
    (session) =>
      (!project || session.project === project) &&
      ((!from && !to) || Boolean(session.day)) &&
      (!from || session.day >= from) &&
      (!to || session.day <= to),
  );
}

function inSessions(part) {
  return everySession || part.sessions.some((session) => sessionPasses[session]);
}

function nodePasses(node) {
  return filters.types.has(node.type) && node.frequency >= filters.evidence && inSessions(node);
}

/** Whether an edge passes by itself; its ends are asked beside it. */
function edgePasses(edge) {
  return (
    filters.kinds.has(edge.type) &&
    filters.statuses.has(edge.status) &&
    edge.evidence >= filters.evidence &&
    inSessions(edge)
  );
}
