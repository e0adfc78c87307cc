// The drawing itself: cytoscape with our style, and what is faded, marked and in view.

const SHAPES = {
  decision: "round-rectangle",
  error: "diamond",
  event: "ellipse",
  outcome: "hexagon",
  pattern: "triangle",
};
const DASHES = { causes: "solid", enables: "dashed", prevents: "solid", correlates: "dotted" };
// Above so many elements lines are drawn straight and without heads, which takes a fifth of the time; those of what is
// chosen have them all the same.
const MANY = 900;
// What a node and its label take up around its place.
const AROUND_X = 120;
const AROUND_Y = 62;
// The line of keys at the foot of the drawing.
const FOOT = 40;
// Below this labels are too small to be read.
const READABLE = 0.6;

const cy = cytoscape({
  container: document.getElementById("graph"),
  elements: [],
  layout: { name: "preset" },
  minZoom: 0.02,
  maxZoom: 3,
  boxSelectionEnabled: false,
  autounselectify: true,
  autoungrabify: true,
});

/** A colour of the style sheet as the browser resolves it now, for the canvas. */
function colour(name) {
  const probe = make("span");
  probe.style.color = `var(--${name})`;
  document.body.append(probe);
  const resolved = getComputedStyle(probe).color;
  probe.remove();
  return resolved;
}

function styleSheet(many) {
  const line = colour("line");
  const page = colour("page");
  const ink = colour("ink");
  const path = colour("path");
  return [
    {
      selector: "node",
      style: {
        width: "data(width)",
        height: "data(size)",
        "border-width": 1.5,
        "border-color": page,
      },
    },
    {
      // Among many, rings and labels are made of those only that are near enough to be read: each property of each
      // element takes time, and text has most of them.
      selector: many ? "node.named, node.near, node.on-path" : "node",
      style: {
        label: "data(label)",
        color: ink,
        "font-family": "system-ui, sans-serif",
        "font-size": 13,
        "min-zoomed-font-size": 7,
        "text-valign": "bottom",
        "text-margin-y": 5,
        "text-wrap": "wrap",
        "text-max-width": 165,
        "text-background-color": page,
        "text-background-opacity": 0.82,
        "text-background-padding": 2,
        "pie-size": "62%",
        "pie-hole": "62%",
        "pie-1-background-color": colour("ring"),
        "pie-1-background-size": "data(won)",
        "pie-2-background-color": colour("ring"),
        "pie-2-background-size": "data(lost)",
        "pie-2-background-opacity": 0.28,
      },
    },
    { selector: many ? "node.named[?early], node.near[?early], node.on-path[?early]" : "node[?early]", style: { "pie-hole": "84%" } },
    ...TYPES.map((type) => ({
      selector: `node[type="${type}"]`,
      style: { shape: SHAPES[type], "background-color": colour(type) },
    })),
    { selector: "node.many", style: { "border-style": "double", "border-width": 7, "border-color": page, "font-weight": 600, "font-size": 16, "text-max-width": 200, "min-zoomed-font-size": 5 } },
    {
      selector: "edge",
      style: {
        width: "data(width)",
        "curve-style": many ? "haystack" : "bezier",
        "control-point-step-size": 34,
        "arrow-scale": 0.9,
        "target-arrow-shape": "triangle",
        opacity: many ? 0.45 : 0.85,
        "loop-direction": "-45deg",
      },
    },
    ...KINDS.map((kind) => ({ selector: `edge[type="${kind}"]`, style: { "line-style": DASHES[kind] } })),
    { selector: "edge[type='prevents']", style: { "target-arrow-shape": "tee" } },
    { selector: "edge[type='correlates']", style: { "target-arrow-shape": "none" } },
    ...STATUSES.map((status) => ({
      selector: `edge[status="${status}"]`,
      style: {
        "line-color": colour(status),
        "target-arrow-color": colour(status),
        "mid-target-arrow-color": colour(status),
      },
    })),
    { selector: "edge.between", style: { opacity: 0.4 } },
    // Said by shape too, for those who do not see the colours.
    { selector: "edge[status='supported']", style: { "mid-target-arrow-shape": "circle", opacity: 1 } },
    { selector: "edge[status='contradicted']", style: { "mid-target-arrow-shape": "tee", opacity: 1 } },
    { selector: ".faded", style: { opacity: 0.13 } },
    { selector: "node.faded", style: { "text-opacity": 0.25 } },
    { selector: "node.near", style: { "min-zoomed-font-size": 5 } },
    { selector: "edge.near, edge.on-path", style: { "curve-style": "bezier" } },
    { selector: "edge.near", style: { opacity: 1, "z-index": 5 } },
    { selector: "node.asked", style: { "border-width": 4, "border-color": path } },
    { selector: "node.on-path", style: { "border-width": 5, "border-color": path, "min-zoomed-font-size": 0 } },
    {
      selector: "edge.on-path",
      // Its head is wider than the mark around the line, or nobody would see which way it leads.
      style: {
        "underlay-color": path,
        "underlay-opacity": 0.45,
        "underlay-padding": 5,
        "target-arrow-color": path,
        "arrow-scale": 2.4,
        opacity: 1,
        "z-index": 9,
      },
    },
    {
      selector: ".chosen",
      style: { "overlay-color": colour("accent"), "overlay-opacity": 0.22, "overlay-padding": 7, opacity: 1 },
    },
    { selector: "node.chosen", style: { "min-zoomed-font-size": 0, "z-index": 10, "border-color": line } },
    { selector: "core", style: { "active-bg-opacity": 0 } },
  ];
}

/** Draws everything anew; the view stays where it was. */
function redraw() {
  const wanted = elements();
  cy.elements().remove();
  restyle(wanted.length > MANY); // before anything is there to be styled twice
  cy.add(wanted);
  document.getElementById("nothing").hidden = wanted.length > 0;
  highlight();
}

let styled = "";

function restyle(many = cy.elements().length > MANY) {
  const next = `${many} ${colour("page")}`;
  if (next === styled) return;
  styled = next;
  cy.style(styleSheet(many));
}

/** Shows all nodes, or those among some parts. By their places alone: measuring every label would take seconds. */
function fit(parts) {
  cy.resize();
  const places = (parts && parts.length ? parts.nodes() : cy.nodes()).map((node) => node.position());
  if (!places.length) return;
  const [xs, ys] = [places.map((place) => place.x), places.map((place) => place.y)];
  const [left, right] = [Math.min(...xs) - AROUND_X, Math.max(...xs) + AROUND_X];
  const [top, bottom] = [Math.min(...ys) - AROUND_Y, Math.max(...ys) + AROUND_Y];
  const high = cy.height() - FOOT;
  const zoom = Math.min(1.25, cy.width() / (right - left), high / (bottom - top));
  const pan = { x: cy.width() / 2 - (zoom * (left + right)) / 2, y: high / 2 - (zoom * (top + bottom)) / 2 };
  cy.viewport({ zoom, pan });
}

/** Among many, only labels large enough to be read are made at all: those in view, once one is near enough. */
function nameThoseInView() {
  if (cy.elements().length <= MANY || cy.zoom() < 0.5) return;
  const { x1, x2, y1, y2 } = cy.extent();
  const unnamed = cy.nodes().filter((node) => {
    const { x, y } = node.position();
    return !node.hasClass("named") && x > x1 && x < x2 && y > y1 && y < y2;
  });
  unnamed.addClass("named");
}

let naming = 0;
cy.on("viewport", () => {
  clearTimeout(naming);
  naming = setTimeout(nameThoseInView, 80);
});

// What is chosen: { kind: "node" | "edge" | "group" | "bundle" | "path", … } or null.
let chosen = null;

/** Marks what is chosen with its neighbours, and fades the rest. */
function highlight() {
  cy.batch(() => {
    cy.elements().removeClass("faded near chosen on-path");
    if (!chosen) return;
    const marked = chosen.kind === "path" ? markPath() : markChosen();
    if (marked.length) cy.elements().not(marked).addClass("faded");
  });
}

function markPath() {
  const nodes = cy.collection(data.path.nodes.map((place) => cy.$id(standsFor(place))).filter((one) => one.length));
  const edges = cy.edges().filter((edge) => edge.data("places").some((place) => data.path.edges.includes(place)));
  return nodes.union(edges).addClass("on-path");
}

function markChosen() {
  const element = cy.$id(chosen.id);
  if (!element.length) return element;
  element.addClass("chosen");
  const near = element.isNode() ? element.closedNeighborhood() : element.union(element.connectedNodes());
  return near.addClass("near");
}

/** Brings a node into view, with its neighbours where they fit; what can be seen already is not moved. */
function bring(id) {
  const element = cy.$id(id);
  if (!element.length) return;
  const { x, y } = element.renderedPosition();
  const inside = x > 30 && y > 30 && x < cy.width() - 30 && y < cy.height() - 30 - FOOT;
  if (inside && cy.zoom() >= 0.45) return;
  fit(element.closedNeighborhood());
  if (cy.zoom() < READABLE) {
    cy.zoom(0.8);
    cy.center(element);
  }
}

/** Shows the members of a group that has been opened; of a large one its beginning, at a size that can be read. */
function showMembers(members) {
  fit(members);
  if (cy.zoom() >= READABLE || !members.length) return;
  const { x1, x2, y1 } = members.boundingBox({ includeLabels: false });
  const middle = cy.width() / 2 - (READABLE * (x1 + x2)) / 2;
  cy.viewport({ zoom: READABLE, pan: { x: Math.max(middle, AROUND_Y - READABLE * x1), y: 40 - READABLE * y1 } });
}

/** What the mouse is over shows its neighbours, while nothing is chosen. */
function hint(element) {
  if (chosen || cy.elements().length > MANY) return;
  const near = element.isNode() ? element.closedNeighborhood() : element.union(element.connectedNodes());
  cy.batch(() => cy.elements().not(near.addClass("near")).addClass("faded"));
}
