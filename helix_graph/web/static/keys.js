// The keyboard in the graph: arrows go along edges or to what stands next, Enter opens, Escape goes back.

const graphBox = document.getElementById("graph");

/** The element the arrows start from: what is chosen, else the most frequent in view. */
function cursor() {
  const element = chosen && chosen.id ? cy.$id(chosen.id) : cy.collection();
  if (element.length && element.isNode()) return element;
  if (element.length) return element.source();
  return cy.nodes().max((node) => node.data("size")).ele || cy.collection();
}

/** The neighbour along the best evidenced edge out of (or into) a node, that is not where one comes from. */
function along(node, outwards) {
  const edges = (outwards ? node.outgoers("edge") : node.incomers("edge")).filter((edge) => edge.source().id() !== edge.target().id());
  const strength = (edge) => edge.data("places").reduce((sum, place) => sum + data.edges[place].evidence, 0);
  const best = edges.sort((one, other) => strength(other) - strength(one) || (one.id() < other.id() ? -1 : 1));
  return best.length ? (outwards ? best[0].target() : best[0].source()) : null;
}

/** The nearest node above or below; far to the side counts twice. */
function beyond(node, downwards) {
  const here = node.position();
  let nearest = null;
  let least = Infinity;
  cy.nodes().forEach((other) => {
    const { x, y } = other.position();
    const ahead = downwards ? y - here.y : here.y - y;
    const distance = ahead + 2 * Math.abs(x - here.x);
    if (ahead > 1 && distance < least) [nearest, least] = [other, distance];
  });
  return nearest;
}

const MOVES = {
  ArrowRight: (node) => along(node, true),
  ArrowLeft: (node) => along(node, false),
  ArrowDown: (node) => beyond(node, true),
  ArrowUp: (node) => beyond(node, false),
};

graphBox.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (MOVES[event.key]) {
    event.preventDefault();
    const start = cursor();
    const next = chosen && chosen.id ? start.length && MOVES[event.key](start) : start;
    if (next && next.length) chooseElement(next);
    else announce("Nothing further in this direction");
  } else if (event.key === "Enter") {
    if (chosen && chosen.kind === "group") toggleGroup(chosen.group);
    else if (chosen) panel.focus();
  } else if (event.key === "+" || event.key === "=") cy.zoom({ level: cy.zoom() * 1.3, renderedPosition: { x: cy.width() / 2, y: cy.height() / 2 } });
  else if (event.key === "-") cy.zoom({ level: cy.zoom() / 1.3, renderedPosition: { x: cy.width() / 2, y: cy.height() / 2 } });
  else if (event.key === "f") fit();
});

timeline.addEventListener("keydown", (event) => {
  const steps = [...timeline.querySelectorAll(".step")];
  const at = steps.indexOf(document.activeElement);
  const next = { ArrowDown: at + 1, ArrowUp: at - 1 }[event.key];
  if (next === undefined || at < 0 || !steps[next]) return;
  event.preventDefault();
  steps[next].focus();
});

document.addEventListener("keydown", (event) => {
  const typing = event.target.matches("input, select, textarea");
  if (event.key === "/" && !typing && !event.ctrlKey && !event.metaKey) {
    event.preventDefault();
    searchBox.focus();
    searchBox.select();
  } else if (event.key === "Escape" && !typing) {
    if (panel.contains(document.activeElement)) (timeline.hidden ? graphBox : currentStep() || timeline).focus();
    else unchoose();
  }
});

function currentStep() {
  return timeline.querySelector('.step[aria-current="true"]');
}
