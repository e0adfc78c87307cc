// The search box: labels first, then what stands in the logs.

const searchBox = document.getElementById("search");
const results = document.getElementById("results");
const FOUND_SHOWN = 12;
let found = [];
let active = -1;
let searchable = null;

/** What is looked through: labels first, then wordings and quotations, in one case; made when somebody searches. */
function lookedThrough() {
  searchable ||= data.nodes.map((node) => ({
    label: node.label.toLowerCase(),
    texts: [...node.wordings.map(([text]) => text), ...node.sightings.map((place) => data.sightings[place].quote)]
      .join("\n")
      .toLowerCase(),
  }));
  return searchable;
}

function find(text) {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  if (!words.length) return [];
  const ranked = [];
  lookedThrough().forEach(({ label, texts }, place) => {
    const inLabel = words.every((word) => label.includes(word));
    if (!inLabel && !words.every((word) => label.includes(word) || texts.includes(word))) return;
    ranked.push({ place, rank: inLabel ? (label.startsWith(words[0]) ? 0 : 1) : 2 });
  });
  ranked.sort((one, other) => one.rank - other.rank || one.place - other.place);
  return ranked.map(({ place, rank }) => ({ place, rank }));
}

function showResults() {
  const all = find(searchBox.value);
  found = all.slice(0, FOUND_SHOWN);
  active = found.length ? 0 : -1;
  results.replaceChildren(...found.map(resultLine));
  if (searchBox.value.trim() && !found.length) results.append(make("li", { class: "quiet" }, "Nothing on this page has it."));
  const open = Boolean(searchBox.value.trim());
  results.hidden = !open;
  searchBox.setAttribute("aria-expanded", String(open));
  markActive();
  if (open) announce(`${count(all.length, "label")} found`);
}

function resultLine({ place, rank }, at) {
  const node = data.nodes[place];
  return make(
    "li",
    { id: `result-${at}`, role: "option", onmousedown: (event) => (event.preventDefault(), takeResult(at)) },
    glyph(node.type),
    quoted(short(node.label, 60)),
    make("small", {}, rank === 2 ? "in the log text" : `${node.frequency}\u00d7`),
  );
}

function markActive() {
  [...results.children].forEach((line, at) => line.setAttribute("aria-selected", String(at === active)));
  if (active < 0) searchBox.removeAttribute("aria-activedescendant");
  else {
    searchBox.setAttribute("aria-activedescendant", `result-${active}`);
    results.children[active].scrollIntoView({ block: "nearest" });
  }
}

function closeResults() {
  results.hidden = true;
  searchBox.setAttribute("aria-expanded", "false");
  searchBox.removeAttribute("aria-activedescendant");
}

function takeResult(at) {
  if (!found[at]) return;
  closeResults();
  showTab("graph");
  chooseNode(found[at].place);
  document.getElementById("graph").focus();
}

searchBox.addEventListener("input", showResults);
searchBox.addEventListener("focus", () => searchBox.value.trim() && showResults());
searchBox.addEventListener("blur", closeResults);
searchBox.addEventListener("keydown", (event) => {
  if (event.key === "ArrowDown" || event.key === "ArrowUp") {
    event.preventDefault();
    if (results.hidden) showResults();
    if (found.length) active = (active + (event.key === "ArrowDown" ? 1 : -1) + found.length) % found.length;
    markActive();
  } else if (event.key === "Enter") {
    takeResult(active);
  } else if (event.key === "Escape") {
    event.stopPropagation();
    searchBox.value = "";
    closeResults();
    document.getElementById("graph").focus();
  }
});
