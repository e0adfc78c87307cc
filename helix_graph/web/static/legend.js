// Legend and filters are one: what is explained can be switched off beside its sign.

function checkbox(sign, text, number, set, word) {
  const box = make("input", { type: "checkbox", "data-filter": word });
  box.checked = true;
  box.addEventListener("change", () => {
    if (box.checked) set.add(word);
    else set.delete(word);
    refilter();
  });
  return make("label", {}, box, sign, make("span", {}, text), make("small", {}, number.toLocaleString("en")));
}

/** A line as it is drawn for a type of edge or a status. */
function stroke(kind, status) {
  const dash = { enables: "6 4", correlates: "1.5 4" }[kind] || "none";
  const parts = [draw("line", { x1: 1, y1: 7, x2: kind === "correlates" ? 33 : 27, y2: 7, "stroke-width": 2, "stroke-dasharray": dash, class: `line-${status}` })];
  if (kind === "prevents") parts.push(draw("line", { x1: 28, y1: 2, x2: 28, y2: 12, "stroke-width": 2.5, class: `line-${status}` }));
  else if (kind !== "correlates") parts.push(draw("path", { d: "M26 3 L33 7 L26 11 Z", class: `line-${status}` }));
  if (status === "supported") parts.push(draw("circle", { cx: 13, cy: 7, r: 3.4, class: "line-supported" }));
  if (status === "contradicted") parts.push(draw("line", { x1: 13, y1: 1, x2: 13, y2: 13, "stroke-width": 2.5, class: "line-contradicted" }));
  return draw("svg", { class: "stroke", viewBox: "0 0 34 14", "aria-hidden": "true" }, ...parts);
}

function ringSign() {
  const round = 2 * Math.PI * 6;
  return draw(
    "svg",
    { class: "glyph", viewBox: "0 0 20 20", "aria-hidden": "true" },
    draw("circle", { cx: 10, cy: 10, r: 6, fill: "none", "stroke-width": 3.4, "stroke-opacity": 0.35, class: "ring-rest" }),
    draw("circle", { cx: 10, cy: 10, r: 6, fill: "none", "stroke-width": 3.4, "stroke-dasharray": `${0.7 * round} ${round}`, transform: "rotate(-90 10 10)", class: "ring-share" }),
  );
}

function field(text, control) {
  return make("label", { class: "field" }, make("span", {}, text), control);
}

function listen(control, name, parse) {
  control.addEventListener("change", () => {
    filters[name] = parse(control.value);
    if (control.type === "number") control.value = filters[name]; // what counts is what stands there
    refilter();
  });
  return control;
}

function fillFilters() {
  const nodes = (type) => data.nodes.filter((node) => node.type === type).length;
  const edges = (name, word) => data.edges.filter((edge) => edge[name] === word).length;
  const least = make("input", { type: "number", min: 1, step: 1, value: 1, id: "least" });
  const from = make("input", { type: "date", id: "from", min: DAYS[0], max: DAYS.at(-1) });
  const to = make("input", { type: "date", id: "to", min: DAYS[0], max: DAYS.at(-1) });
  const project = make("select", { id: "project" }, make("option", { value: "" }, "all"), PROJECTS.map((name) => make("option", { value: name }, short(name, 60))));
  document.getElementById("filters").append(
    make("h2", {}, "Labels"),
    ...TYPES.map((type) => checkbox(glyph(type), type, nodes(type), filters.types, type)),
    make("p", { class: "sign" }, ringSign(), "Ring: success rate. Thin ring: fewer than 10 sessions. No ring: outcome unknown."),
    make("p", { class: "sign" }, "Larger: met more often"),
    make("h2", {}, "Edges"),
    ...KINDS.map((kind) => checkbox(stroke(kind, "asserted"), kind, edges("type", kind), filters.kinds, kind)),
    make("h2", {}, "Checked against outcomes"),
    ...STATUSES.map((status) => checkbox(stroke("causes", status), status, edges("status", status), filters.statuses, status)),
    make("p", { class: "sign" }, "Thicker: the logs are surer of the link"),
    make("h2", {}, "Only"),
    field("minimum occurrences", listen(least, "evidence", (value) => Math.max(1, Number(value) || 1))),
    ...(PROJECTS.length > 1 ? [field("in the project", listen(project, "project", String))] : []),
    ...(DAYS.length ? [field("in sessions from", listen(from, "from", String)), field("to", listen(to, "to", String))] : []),
    make("p", { id: "left" }, ""),
  );
}
