// What is drawn: labels, or groups of them, with the edges between. Places come from the data; here is only which.
// An element's id tells what it is: n12 a node, g3 a group, e7 an edge, b… a bundle of edges between groups.

const picture = { every: !data.overview, open: new Set(), undrawn: 0 };

// More lines than this are a grey field, and the page would not answer within two seconds; the best evidenced are drawn.
const LINES_DRAWN = 1500;

// A label under a node is as wide as this; a block of an opened group has rows and columns of this size.
const STEP_X = 190;
const STEP_Y = 84;
const COLUMN_GAP = 220;
const ROW_GAP = 128;

/** What stands for a node: itself, or its group while that is closed. */
function standsFor(place) {
  const node = data.nodes[place];
  return picture.every || picture.open.has(node.group) ? `n${place}` : `g${node.group}`;
}

/** Every element of the picture as it is now, for cytoscape. */
function elements() {
  const shown = data.nodes.map(nodePasses);
  const spots = picture.every ? null : blocks(shown);
  const drawn = new Map();
  data.nodes.forEach((node, place) => {
    if (!shown[place]) return;
    const id = standsFor(place);
    if (id[0] === "n") drawn.set(id, nodeElement(place, spots ? spots.get(id) : node));
    else if (!drawn.has(id)) drawn.set(id, groupElement(node.group, shown, spots.get(id)));
  });
  return [...drawn.values(), ...edgeElements(shown)];
}

function nodeElement(place, spot) {
  const node = data.nodes[place];
  const size = 24 + 9 * Math.min(5, Math.log2(1 + node.frequency));
  return {
    group: "nodes",
    data: { id: `n${place}`, place, type: node.type, label: short(node.label, 46), size, width: wide(node.type, size), ...ring(node) },
    position: { x: spot.x, y: spot.y },
    classes: data.focus.includes(place) ? "asked" : "",
  };
}

/** Boxes are wider than high. */
function wide(type, size) {
  return type === "decision" ? 1.25 * size : size;
}

/** The success rate as two parts of a circle; nothing where nobody judged. */
function ring(node) {
  return node.rate === null ? { won: 0, lost: 0 } : { won: 100 * node.rate, lost: 100 - 100 * node.rate, early: isEarly(node) };
}

function groupElement(place, shown, spot) {
  const group = data.groups[place];
  const members = group.members.filter((member) => shown[member]).length;
  const size = 30 + 6 * Math.log2(1 + members);
  return {
    group: "nodes",
    data: {
      id: `g${place}`,
      group: place,
      type: group.type,
      label: `${short(group.label, 40)}\n${count(members, "label")}`,
      size,
      width: wide(group.type, size),
      won: 0,
      lost: 0,
    },
    position: { x: spot.x, y: spot.y },
    classes: "many",
  };
}

/** Edges between what is drawn; those that fall together are one bundle. */
function edgeElements(shown) {
  const bundles = new Map();
  data.edges.forEach((edge, place) => {
    if (!shown[edge.source] || !shown[edge.target] || !edgePasses(edge)) return;
    const source = standsFor(edge.source);
    const target = standsFor(edge.target);
    if (source === target && source[0] === "g") return;
    const key = `${source} ${target} ${edge.type}`;
    if (!bundles.has(key)) bundles.set(key, { source, target, places: [] });
    bundles.get(key).places.push(place);
  });
  const best = [...bundles.values()].sort((one, other) => lineEvidence(other) - lineEvidence(one)).slice(0, LINES_DRAWN);
  picture.undrawn = bundles.size - best.length;
  return best.map(edgeElement);
}

function lineEvidence({ places }) {
  return places.reduce((sum, place) => sum + data.edges[place].evidence, 0);
}

function edgeElement({ source, target, places }) {
  const first = data.edges[places[0]];
  const statuses = new Set(places.map((place) => data.edges[place].status));
  const weight = places.reduce((sum, place) => sum + data.edges[place].weight, 0) / places.length;
  return {
    group: "edges",
    data: {
      id: places.length === 1 ? `e${places[0]}` : `b${places[0]}`,
      source,
      target,
      places,
      type: first.type,
      status: statuses.size === 1 ? first.status : "asserted",
      width: 1 + 3 * weight + Math.min(2, Math.log2(places.length) / 2),
    },
    classes: picture.every ? "" : "between",
  };
}

/** Where groups and the members of opened ones stand: columns of blocks, each as large as it needs to be. */
function blocks(shown) {
  const columns = [];
  data.groups.forEach((group, place) => {
    const members = group.members.filter((member) => shown[member]);
    if (!members.length) return;
    const wide = picture.open.has(place) ? Math.max(1, Math.round(Math.sqrt(members.length / 1.6))) : 1;
    const high = picture.open.has(place) ? Math.ceil(members.length / wide) : 1;
    (columns[group.column] ||= []).push({ place, row: group.row, members, wide, high });
  });
  const spots = new Map();
  let left = 0;
  for (const column of columns.filter(Boolean)) {
    column.sort((one, other) => one.row - other.row);
    const wide = Math.max(...column.map((block) => block.wide));
    stack(column, left + ((wide - 1) * STEP_X) / 2, spots);
    left += (wide - 1) * STEP_X + COLUMN_GAP;
  }
  return spots;
}

function stack(column, middle, spots) {
  const height = (block) => (block.high - 1) * STEP_Y + ROW_GAP;
  let top = -column.reduce((sum, block) => sum + height(block), 0) / 2;
  for (const block of column) {
    const centre = top + height(block) / 2;
    if (picture.open.has(block.place)) spread(block, middle, centre, spots);
    else spots.set(`g${block.place}`, { x: middle, y: centre });
    top += height(block);
  }
}

function spread(block, middle, centre, spots) {
  block.members.forEach((member, at) => {
    const x = middle + ((at % block.wide) - (block.wide - 1) / 2) * STEP_X;
    const y = centre + (Math.floor(at / block.wide) - (block.high - 1) / 2) * STEP_Y;
    spots.set(`n${member}`, { x, y });
  });
}
