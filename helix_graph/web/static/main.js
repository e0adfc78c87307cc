// What is shown follows the address: #issues, #issues/ID, #places, #rules, #sessions/ID/STEP, #graph/ID; ?name=value filters it.

const TABS = { issues: ["Issues", issuesTab], places: ["Places", placesTab], rules: ["Rules", rulesTab], sessions: ["Sessions", sessionsTab], graph: ["Graph", graphTab] };
const THEMES = ["system", "light", "dark"];
const main = document.getElementById("main");
let drawn = 0;
let meta = null;

/** The parts of the address, or of where the page opens. */
function addressed() {
  const text = location.hash.slice(1) || meta.opens;
  const [path, query = ""] = text.split("?");
  const [tab, name = "", ...rest] = path.split("/").map(decoded);
  return { tab: meta.tabs.includes(tab) ? tab : "issues", name, rest: rest.join("/"), chosen: Object.fromEntries(new URLSearchParams(query)) };
}

/** A part of an address; one that a person mistyped is taken as it is. */
function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch (error) {
    if (error instanceof URIError) return text;
    throw error;
  }
}

async function show({ first = false } = {}) {
  const { tab, name, rest, chosen } = addressed();
  const turn = (drawn += 1);
  for (const one of document.querySelectorAll("#tabs a")) one.toggleAttribute("aria-current", one.dataset.tab === tab);
  const content = await TABS[tab][1](name, chosen, rest);
  if (turn !== drawn) return; // another address was asked for meanwhile
  main.dataset.tab = tab;
  main.replaceChildren(content);
  const heading = main.querySelector("h1");
  document.title = `${visible(heading?.textContent || TABS[tab][0])} \u00b7 ${visible(meta.title)}`;
  if (!rest) scrollTo(0, 0);
  if (!first) {
    if (!rest) main.focus({ preventScroll: true });
    announce(heading?.textContent || TABS[tab][0]);
  }
  document.body.dataset.ready = turn;
}

function setTheme(name) {
  const root = document.documentElement;
  if (name === "system") delete root.dataset.theme;
  else root.dataset.theme = name;
  const button = document.getElementById("theme");
  button.textContent = `Theme: ${name}`;
  button.onclick = () => setTheme(THEMES[(THEMES.indexOf(name) + 1) % THEMES.length]);
}

/** Keys: 1 to 5 for the tabs, / for the search, Escape to the list. */
function onKey(event) {
  const typing = event.target.matches("input, select, textarea");
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "Escape") {
    const back = main.querySelector("a.back");
    if (typing) event.target.blur();
    else if (back) back.click();
  } else if (!typing && event.key === "/") {
    const field = main.querySelector("input[type=search]");
    if (field) {
      event.preventDefault();
      field.focus();
    }
  } else if (!typing && meta.tabs[Number(event.key) - 1]) location.hash = meta.tabs[Number(event.key) - 1];
}

async function begin() {
  meta = await pack("meta");
  document.getElementById("title").append(quoted(meta.title), make("span", { class: "soft" }, ` ${count(meta.sessions, "session")}${meta.newest ? ` until ${day(meta.newest)}` : ""}`));
  document.getElementById("tabs").append(...meta.tabs.map((tab, place) => link(tab, { "data-tab": tab, "aria-keyshortcuts": String(place + 1) }, TABS[tab][0])));
  setTheme("system");
  addEventListener("hashchange", () => show());
  addEventListener("keydown", onKey);
  await show({ first: true });
}

begin();
