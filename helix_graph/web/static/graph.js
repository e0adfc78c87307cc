// The tab of the graph: one thing in the middle, what came before it on the left, what came after it on the right; or a path.

const TYPE_SIGNS = { decision: "\u25c6", error: "\u2717", event: "\u25cb", outcome: "\u2691", pattern: "\u25b2" };
const NODE = { width: 192, height: 56, gap: 14, between: 60, letters: 25, margin: 10, font: "12.5px system-ui" };
/** So many of the commonest are drawn on each side, by their steps from the middle; the lists below have more. */
const MOST_IN_COLUMN = { 1: 10, 2: 6 };

/** What an edge says of its ends, left to right; a repair comes after what it repairs. */
const EDGE_WORDS = { causes: "came before", enables: "came before", prevents: "was repaired by", correlates: "goes with" };
/** The same between the steps of a path, read downwards. */
const STEP_WORDS = { causes: "came before", enables: "came before", prevents: "repaired", correlates: "goes with" };
/** Why an edge was drawn, from left to right. */
const REASON_WORDS = { call: "its result", answer: "done in answer to it", "edit-test": "the next run of the check", fix: "the check passed afterwards", commit: "committed", spawn: "handed over", entry: "recorded together", stated: "stated in the log", decided: "what the outcome rests on", asserted: "a person says so" };

/** The graph with the edges of each node, those of most sessions first. */
async function wholeGraph() {
  const found = await pack("graph");
  if (!found.places) {
    found.places = new Map(found.id.map((id, place) => [id, place]));
    found.out = found.id.map(() => []);
    found.into = found.id.map(() => []);
    found.left = found.source.map((source, edge) => (found.edge[edge] === "prevents" ? found.target[edge] : source));
    found.right = found.source.map((source, edge) => (found.edge[edge] === "prevents" ? source : found.target[edge]));
    // An answer that repaired is shown once, as the repair.
    const repairs = new Set(found.edge.map((type, edge) => (type === "prevents" ? `${found.left[edge]} ${found.right[edge]}` : "")));
    found.edge.forEach((type, edge) => {
      if (type !== "prevents" && repairs.has(`${found.left[edge]} ${found.right[edge]}`)) return;
      found.out[found.left[edge]].push(edge);
      found.into[found.right[edge]].push(edge);
    });
  }
  return found;
}

async function graphTab(name, chosen) {
  const [graph, sessions] = await Promise.all([wholeGraph(), allSessions()]);
  const head = [make("h1", {}, "Graph"), nodeSearch(graph)];
  if (name === "path") return make("section", {}, ...head, ...pathPage(await pack("path"), sessions));
  if (!graph.id.length) return make("section", {}, ...head, make("p", { class: "nothing" }, "No session has any steps yet."));
  const place = graph.places.get(name) ?? (name ? undefined : graph.opens);
  if (place === undefined) return make("section", {}, ...head, make("p", { class: "nothing" }, "This is not among the ", graph.id.length.toLocaleString("en"), " most frequent things that the page has. ", command("helix-graph causes TEXT")));
  return make("section", {}, ...head, ...focused(graph, sessions, place, chosen.hops === "1" ? 1 : 2));
}

function nodeSearch(graph) {
  const results = make("ul", { class: "plain found", "aria-live": "polite" });
  const show = (text) => {
    if (!text.trim()) return results.replaceChildren();
    const found = [];
    for (let place = 0; place < graph.id.length && found.length < 12; place += 1) if (hasWords(`${graph.label[place]} ${graph.kind[place]}`, text.trim())) found.push(place);
    results.replaceChildren(...(found.length ? found.map((place) => make("li", {}, nodeLink(graph, place), make("span", { class: "soft" }, ` ${count(graph.sessions[place], "session")}`))) : [make("li", { class: "soft" }, "Nothing on this page has these words.")]));
  };
  const field = make("input", { type: "search", name: "node", placeholder: "A file, a failure, a command", autocomplete: "off", spellcheck: "false", oninput: (event) => show(event.target.value) });
  const form = make("form", { class: "filters", role: "search", onsubmit: (event) => { event.preventDefault(); results.querySelector("a")?.click(); } }, make("label", { class: "wide" }, make("span", {}, "Look at"), field));
  return make("div", {}, form, results);
}

function nodeLink(graph, place) {
  return link(`graph/${graph.id[place]}`, {}, `${TYPE_SIGNS[graph.type[place]]} `, quoted(graph.label[place], 120));
}

function focused(graph, sessions, place, hops) {
  const label = graph.label[place];
  const ways = [
    [graph.into, "left", "What came before it"],
    [graph.out, "right", "What came after it"],
  ];
  const judged = graph.judged[place] ? ` ${graph.succeeded[place].toLocaleString("en")} of ${count(graph.judged[place], "session")} with a confirmed outcome succeeded.` : "";
  const picker = make("div", { class: "picker", role: "group", "aria-label": "How far" }, [1, 2].map((number) => link(`graph/${graph.id[place]}?hops=${number}`, { class: "button", "aria-current": hops === number ? "true" : null }, count(number, "step"))));
  const lists = ways.map(([edges, end, title]) => {
    const items = edges[place].slice(0, 15).map((edge) => make("li", {}, graph.edge[edge] === "prevents" && chip("mended", end === "right" ? "repair" : "repaired"), " ", nodeLink(graph, graph[end][edge]), make("span", { class: "soft" }, ` in ${ofItsSessions(graph, edge)} (${because(graph.reasons[edge])})`)));
    return make("div", {}, make("h2", {}, title), items.length ? make("ul", { class: "plain" }, items) : make("p", { class: "nothing" }, "Nothing on this page."));
  });
  const around = columnsAround(graph, place, hops);
  return [
    make("h2", { class: "focus" }, `${TYPE_SIGNS[graph.type[place]]} `, quoted(label)),
    make("p", { class: "lead" }, `${count(graph.times[place], "time")} in ${count(graph.sessions[place], "session")}.${judged}`),
    make("p", { class: "where" }, graph.met[place].map(([session, step]) => make("span", {}, sessionLink(sessions, session, step), make("span", { class: "soft" }, ", ", when(sessions.time[session]))))),
    picker,
    drawing(graph, place, around),
    make("p", { class: "soft legend-line" }, "A line is as thick as the share of sessions with its left end in which it is there; a dashed green line leads to what repaired it. Drawn are the commonest; what is on both sides came before it in some sessions and after it in others. To come before is not to cause. ", legendOf(graph, around)),
    make("div", { class: "pair even" }, lists),
  ];
}

/** What the signs in a drawing mean; of those that are in it. */
const KEYS = { decision: ["decision", "done by the agent"], failed: ["failed", "failure"], event: ["event", "seen in the log"], good: ["good", "success"], unknown: ["unknown", "another outcome"], pattern: ["", "pattern"] };

function legendOf(graph, { columns }) {
  const drawn = new Map();
  for (const node of [...columns.values()].flat()) {
    const kind = nodeClass(graph.type[node], graph.label[node]);
    if (KEYS[kind]) drawn.set(kind, TYPE_SIGNS[graph.type[node]]);
  }
  return Object.keys(KEYS).filter((kind) => drawn.has(kind)).map((kind) => make("span", { class: `key ${KEYS[kind][0]}` }, `${drawn.get(kind)} ${KEYS[kind][1]}`));
}

/** In how many of the sessions that have an edge's left end it is there. */
function ofItsSessions(graph, edge) {
  return `${graph.together[edge].toLocaleString("en")} of ${count(graph.sessions[graph.left[edge]], "session")}`;
}

function because(reasons) {
  return reasons.split(" ").map((one) => REASON_WORDS[one] || one).join(", ");
}

/** The nodes to draw in columns, -hops to hops, and each edge with the columns of its ends. */
function columnsAround(graph, place, hops) {
  const columns = new Map([[0, [place]]]);
  const shown = new Set([place]);
  const lines = [];
  for (let hop = 1; hop <= hops; hop += 1) {
    for (const [direction, from, end, start] of [[-1, graph.into, "left", "right"], [1, graph.out, "right", "left"]]) {
      const near = columns.get(direction * (hop - 1));
      const found = near.flatMap((node) => from[node]).sort((one, other) => graph.together[other] - graph.together[one]);
      const column = [];
      const edges = [];
      for (const edge of found) {
        const node = graph[end][edge];
        // What both led to the thing and followed from it is on both sides; further away each node is there once.
        if (!column.includes(node) && (hop === 1 || !shown.has(node)) && column.length < MOST_IN_COLUMN[hop]) column.push(node);
        if (column.includes(node)) edges.push(edge);
      }
      for (const node of column) shown.add(node);
      columns.set(direction * hop, ordered(column, near, (node) => edges.filter((edge) => graph[end][edge] === node).map((edge) => graph[start][edge])));
      lines.push(...edges.map((edge) => ({ edge, left: direction < 0 ? -hop : hop - 1, right: direction < 0 ? 1 - hop : hop })));
    }
  }
  return { columns, lines };
}

/** A column in the order of the neighbours of its nodes, so that few lines cross. */
function ordered(column, near, neighbours) {
  const middle = new Map(column.map((node) => {
    const rows = neighbours(node).map((other) => near.indexOf(other)).filter((row) => row >= 0);
    return [node, rows.reduce((sum, row) => sum + row, 0) / (rows.length || 1)];
  }));
  return column.toSorted((one, other) => middle.get(one) - middle.get(other));
}

function drawing(graph, place, { columns, lines }) {
  const used = [...columns.keys()].filter((column) => columns.get(column).length).sort((one, other) => one - other);
  const tallest = Math.max(...used.map((column) => columns.get(column).length));
  const height = tallest * (NODE.height + NODE.gap) + NODE.gap;
  const width = used.length * NODE.width + (used.length - 1) * NODE.between + 8;
  const spots = new Map();
  used.forEach((column, at) => {
    const nodes = columns.get(column);
    const top = (height - nodes.length * (NODE.height + NODE.gap) + NODE.gap) / 2;
    nodes.forEach((node, row) => spots.set(`${column} ${node}`, [4 + at * (NODE.width + NODE.between), top + row * (NODE.height + NODE.gap)]));
  });
  const picture = draw("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "group", "aria-label": `${graph.label[place]}, with what came before it on the left and what came after it on the right` });
  const texts = boxTexts(graph, new Set(used.flatMap((column) => columns.get(column))));
  picture.append(...lines.map((line) => edgeLine(graph, line, spots)), ...used.flatMap((column) => columns.get(column).map((node) => nodeBox(graph, node, spots.get(`${column} ${node}`), { texts: texts.get(node), chosen: column === 0 }))));
  // A desk that is a little too narrow gets it smaller, a phone scrolls.
  picture.setAttribute("width", "100%");
  picture.removeAttribute("height");
  picture.style.maxWidth = `${width}px`;
  picture.style.minWidth = `${Math.round(0.8 * width)}px`;
  const frame = make("div", { class: "drawing", tabindex: "0", role: "region", "aria-label": "Drawing of the graph" }, picture);
  queueMicrotask(() => requestAnimationFrame(() => (frame.scrollLeft = ((spots.get(`0 ${place}`)[0] + NODE.width / 2) * picture.getBoundingClientRect().width) / width - frame.clientWidth / 2)));
  return frame;
}

function edgeLine(graph, { edge, left, right }, spots) {
  const [from, to] = [spots.get(`${left} ${graph.left[edge]}`), spots.get(`${right} ${graph.right[edge]}`)];
  const [x1, y1, x2, y2] = [from[0] + NODE.width, from[1] + NODE.height / 2, to[0], to[1] + NODE.height / 2];
  const share = graph.together[edge] / graph.sessions[graph.left[edge]];
  const bend = Math.max(24, (x2 - x1) / 2);
  const title = `${graph.label[graph.left[edge]]} ${EDGE_WORDS[graph.edge[edge]]} ${graph.label[graph.right[edge]]}: in ${ofItsSessions(graph, edge)}`;
  return draw("path", { class: `edge ${graph.edge[edge]}`, d: `M${x1} ${y1}C${x1 + bend} ${y1} ${x2 - bend} ${y2} ${x2} ${y2}`, "stroke-width": (1.2 + 7 * share).toFixed(1) }, draw("title", {}, visible(title)));
}

/** What a node is drawn as: a failure red, what is unknown grey. */
function nodeClass(type, label) {
  if (type === "error" || (type === "outcome" && label.startsWith("failure"))) return "failed";
  if (type === "outcome") return label.startsWith("success") ? "good" : "unknown";
  return type;
}

/** The end of a path whose name would not be read for its folders. */
function tail(path) {
  return path.length > NODE.letters - 4 ? `\u2026/${path.split("/").at(-1)}` : path;
}

/** The two lines of each node; of nodes that would read alike the second line is what tells them apart. */
function boxTexts(graph, nodes) {
  const full = new Map([...nodes].map((node) => [node, `${TYPE_SIGNS[graph.type[node]]} ${visible(graph.label[node]).replace(/\s+/g, " ").replace(/\S*\/\S+/g, tail)}`]));
  const texts = new Map([...full].map(([node, text]) => [node, twoLines(text)]));
  const alike = new Map();
  for (const node of nodes) alike.set(texts.get(node).join("\n"), [...(alike.get(texts.get(node).join("\n")) || []), node]);
  for (const same of alike.values()) {
    if (same.length < 2) continue;
    const shared = sharedBeginning(same.map((node) => full.get(node)));
    for (const node of same) texts.set(node, [texts.get(node)[0], fitted(`\u2026${full.get(node).slice(shared)}`)]);
  }
  return texts;
}

/** A longer beginning of a word that texts share is left out. */
const LONGEST_SHARED = 12;

/** How many letters some texts have in common at their beginning, up to the word in which they differ. */
function sharedBeginning([first, ...others]) {
  let length = 0;
  while (length < first.length && others.every((one) => one[length] === first[length])) length += 1;
  const word = first.lastIndexOf(" ", length - 1) + 1;
  return length - word > LONGEST_SHARED ? length - 4 : word;
}

/** A text in at most two lines that fit into a node. */
function twoLines(text) {
  const first = fitted(text);
  if (first === text) return [text];
  const kept = first.slice(0, -1);
  const blank = kept.lastIndexOf(" ");
  const cut = blank > kept.length / 2 ? blank : kept.length;
  return [text.slice(0, cut), fitted(text.slice(cut).trim())];
}

const pen = document.createElement("canvas").getContext("2d");

/** As much of a text as a node is wide; a text that is cut ends with an ellipsis. */
function fitted(text) {
  pen.font = NODE.font;
  const fits = (one) => pen.measureText(one).width <= NODE.width - 2 * NODE.margin;
  if (fits(text)) return text;
  const letters = Array.from(text);
  while (letters.length > 1 && !fits(`${letters.join("")}\u2026`)) letters.pop();
  return `${letters.join("")}\u2026`;
}

function nodeBox(graph, node, [x, y], { texts, chosen }) {
  const box = draw(
    "a",
    { href: `#graph/${graph.id[node]}`, class: `node ${nodeClass(graph.type[node], graph.label[node])}${chosen ? " chosen" : ""}`, "aria-label": `${visible(graph.label[node])}, ${count(graph.sessions[node], "session")}` },
    draw("title", {}, visible(graph.label[node])),
    draw("rect", { x, y, width: NODE.width, height: NODE.height, rx: 8 }),
    texts.map((text, row) => draw("text", { x: x + NODE.margin, y: y + 18 + 15 * row }, text)),
    draw("text", { x: x + NODE.margin, y: y + NODE.height - 7, class: "small" }, count(graph.sessions[node], "session")),
  );
  return box;
}

function pathPage(path, sessions) {
  if (!path) return [make("p", { class: "nothing" }, "No path was asked for. ", command("helix-graph view --from TEXT --to TEXT"))];
  const head = [make("h2", { class: "focus" }, "From ", quoted(path.source), " to ", quoted(path.target)), make("p", { class: "lead" }, quoted(path.sentence))];
  if (!path.nodes.length) return head;
  const items = path.nodes.flatMap(([type, label, id], at) => {
    const step = path.steps[at];
    const box = make("li", { class: `node ${nodeClass(type, label)}` }, `${TYPE_SIGNS[type]} `, id ? link(`graph/${id}`, {}, quoted(label)) : quoted(label));
    if (!step) return [box];
    const seen = step.witness && sessionLink(sessions, step.witness[0], step.witness[2]);
    return [box, make("li", { class: "between" }, make("b", {}, `\u2193 ${STEP_WORDS[step.type]}`), ` in ${step.k} of ${count(step.n, "session")} (${because(step.reasons)})`, seen && [", such as ", seen])];
  });
  return [...head, make("ol", { class: "path" }, items)];
}
