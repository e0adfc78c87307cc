// What happens when something is chosen, and how the page begins.

function choose(what, words) {
  chosen = what;
  highlight();
  const pathButton = document.getElementById("show-path");
  pathButton.setAttribute("aria-pressed", String(what !== null && what.kind === "path"));
  if (words) announce(words);
}

/** Chooses a node, and opens the group it stands in when it is closed. */
function chooseNode(place) {
  const node = data.nodes[place];
  if (standsFor(place)[0] === "g") {
    picture.open.add(node.group);
    redraw();
  }
  choose({ kind: "node", id: `n${place}`, place }, `${node.type}: ${node.label}, ${count(node.frequency, "time")}`);
  if (!nodePasses(node)) announce(`${node.label}; the filters hide it in the graph`);
  bring(`n${place}`);
  nodePanel(place);
}

function chooseEdge(place) {
  const edge = data.edges[place];
  const drawn = cy.edges().filter((one) => one.data("places").includes(place));
  choose({ kind: "edge", id: drawn.length ? drawn[0].id() : `e${place}`, place }, `${edge.type}, ${edge.status}, said in ${count(edge.evidence, "session")}`);
  edgePanel(place);
}

function chooseGroup(place) {
  const group = data.groups[place];
  choose({ kind: "group", id: `g${place}`, group: place }, `group ${group.label}, ${count(group.members.length, "label")}, Enter opens it`);
  bring(`g${place}`);
  groupPanel(place);
}

function chooseElement(element) {
  if (element.isEdge()) {
    const places = element.data("places");
    if (places.length === 1) chooseEdge(places[0]);
    else {
      choose({ kind: "bundle", id: element.id(), places }, count(places.length, "edge"));
      bundlePanel(places);
    }
  } else if (element.data("group") !== undefined) chooseGroup(element.data("group"));
  else chooseNode(element.data("place"));
}

function choosePath() {
  showTab("graph");
  for (const place of data.path.nodes) if (!picture.every) picture.open.add(data.nodes[place].group);
  redraw();
  choose({ kind: "path" }, data.path.sentence);
  fit(cy.$(".on-path"));
  pathPanel();
}

function chooseStep(id, move = false) {
  const step = data.timeline.steps.find((one) => one.id === id);
  if (!step) return;
  showTab("timeline");
  markStep(step);
  stepPanel(step);
  announce(`${step.kind} ${step.id}: ${step.text}`);
  if (move) currentStep().scrollIntoView({ block: "center" });
}

function unchoose() {
  choose(null);
  startPanel();
}

/** Opens a group, or closes it, and brings what is in it into view. */
function toggleGroup(place) {
  const opens = !picture.open.has(place);
  if (opens) picture.open.add(place);
  else picture.open.delete(place);
  choose(null);
  redraw();
  const shown = opens ? cy.nodes().filter((node) => node.data("place") !== undefined && data.nodes[node.data("place")].group === place) : cy.$id(`g${place}`);
  if (opens) showMembers(shown);
  else chooseGroup(place);
  if (opens) groupPanel(place);
  announce(`${data.groups[place].label} ${opens ? "opened" : "closed"}`);
}

function refilter() {
  renewSessions();
  redraw();
  const [nodes, edges] = [data.nodes.filter(nodePasses).length, cy.edges().length];
  document.getElementById("left").textContent = `${count(nodes, "label")} left. Figures beside them count all sessions.`;
  sayUndrawn();
  announce(`${count(nodes, "label")} and ${count(edges, "line")} shown`);
  if (!chosen) startPanel();
  else if (chosen.kind === "path") pathPanel(); // it says how much of it is drawn
}

function sayUndrawn() {
  const note = document.getElementById("undrawn");
  note.hidden = !picture.undrawn;
  note.textContent = `${count(picture.undrawn, "line")} with less evidence not drawn; filters, search and details have them.`;
}

function press(buttons, pressed) {
  for (const button of buttons) button.setAttribute("aria-pressed", String(button === pressed));
}

const levels = [document.getElementById("level-groups"), document.getElementById("level-all")];
const tabs = [document.getElementById("tab-timeline"), document.getElementById("tab-graph")];

function showLevel(every) {
  picture.every = every;
  if (!every) picture.open.clear();
  press(levels, levels[every ? 1 : 0]);
  choose(null);
  redraw();
  fit();
  startPanel();
  sayUndrawn();
}

function showTab(name) {
  if (!data.timeline) return;
  const isGraph = name === "graph";
  const changes = timeline.hidden !== isGraph;
  document.querySelector("main").dataset.shows = name;
  timeline.hidden = isGraph;
  graphBox.hidden = !isGraph;
  document.getElementById("keys").hidden = !isGraph;
  document.getElementById("fit").hidden = !isGraph;
  press(tabs, tabs[isGraph ? 1 : 0]);
  if (isGraph && changes) fit();
}

/** What another page links to: ``#step-d001`` chooses that step. */
function showStepOfAddress() {
  const step = data.timeline?.steps.find((one) => `#step-${encodeURIComponent(one.id)}` === location.hash);
  if (step) chooseStep(step.id, true);
}

const THEMES = ["system", "light", "dark"];

function nextTheme() {
  const root = document.documentElement;
  const next = THEMES[(THEMES.indexOf(root.dataset.theme || "system") + 1) % THEMES.length];
  if (next === "system") delete root.dataset.theme;
  else root.dataset.theme = next;
  document.getElementById("theme").textContent = `Theme: ${next}`;
  restyle();
}

cy.on("tap", "node, edge", (event) => {
  const element = event.target;
  if (element.isNode() && element.data("group") !== undefined) toggleGroup(element.data("group"));
  else chooseElement(element);
});
cy.on("tap", (event) => event.target === cy && unchoose());
cy.on("mouseover", "node, edge", (event) => {
  graphBox.style.cursor = "pointer";
  hint(event.target);
});
cy.on("mouseout", "node, edge", () => {
  graphBox.style.cursor = "";
  if (!chosen) highlight();
});
levels.forEach((button, at) => button.addEventListener("click", () => showLevel(at === 1)));
tabs.forEach((button, at) => button.addEventListener("click", () => showTab(at === 1 ? "graph" : "timeline")));
document.getElementById("fit").addEventListener("click", () => fit());
document.getElementById("theme").addEventListener("click", nextTheme);
document.getElementById("show-path").addEventListener("click", choosePath);
addEventListener("hashchange", showStepOfAddress);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", restyle);

function begin() {
  document.getElementById("title").textContent = visible(data.title);
  document.getElementById("part").textContent = data.timeline ? visible(data.timeline.episode) : capital(data.part);
  document.getElementById("levels").hidden = !data.overview;
  document.getElementById("show-path").hidden = !data.path;
  fillFilters();
  if (location.hash === "#all") picture.every = true;
  press(levels, levels[picture.every ? 1 : 0]);
  redraw();
  fit();
  startPanel();
  sayUndrawn();
  if (data.timeline) {
    document.getElementById("tabs").hidden = false;
    fillTimeline();
    showTab("timeline");
    showStepOfAddress();
  }
  if (data.path) choosePath();
  else if (data.focus.length === 1) chooseNode(data.focus[0]);
  document.body.dataset.ready = "true";
}

begin();
