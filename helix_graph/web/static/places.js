// The tab of places: after a change of which folder or file a check fails more often than it usually does.

async function placesTab(_, chosen) {
  const [found, sessions, { issues }] = await Promise.all([pack("places"), allSessions(), pack("issues")]);
  const titles = new Map(issues.map((one) => [one.id, one.title]));
  const head = [make("h1", {}, "Places"), make("p", { class: "lead" }, "How often each check failed when it first ran after a change, by the folder and file that was changed. A linter's failure counts for the changed files that it names, where it names any. These are counts of what followed, not causes.")];
  if (!found.checks.length) return make("section", {}, ...head, make("p", { class: "nothing" }, "No check has run five times after a change of one folder yet."));
  const asked = found.checks.find((one) => one.check === chosen.check);
  const checks = asked ? [asked] : found.checks;
  const worst = worstOf(checks);
  const check = asked || worst[0]?.check || found.checks[0];
  const picker = make("div", { class: "picker", role: "group", "aria-label": "Check" }, found.checks.length > 1 && link("places", { class: "button", "aria-current": asked ? null : "true" }, "All checks"), found.checks.map((one) => link(`places?check=${encodeURIComponent(one.check)}`, { class: "button", "aria-current": one === asked ? "true" : null }, quoted(one.check), make("small", {}, shareOf(one.failed, one.runs)))));
  return make("section", {}, ...head, picker, ...riskiest(worst, checks, found, sessions, titles), placeTree(check, found, !asked && found.checks.length > 1), ...together(found));
}

/** The places of a check that fail more often, the worst first. */
function risky(check) {
  const share = (one) => one.failed / one.runs;
  const worse = (one) => one.standing === "worse" || (one.standing === "counts only" && one.failed > 1 && share(one) > (1.5 * one.failed_elsewhere) / Math.max(1, one.runs_elsewhere));
  const found = check.places.filter(worse);
  // Of folders within each other that hold the same runs only the innermost is named.
  const inner = (one) => found.some((other) => other.path.startsWith(`${one.path}/`) && other.runs === one.runs && other.failed === one.failed);
  return found.filter((one) => !inner(one)).sort((one, other) => (other.rate ?? share(other)) - (one.rate ?? share(one)) || other.runs - one.runs);
}

/** What to read of so many places that fail more often. */
const MOST_RISKY = 6;

/** The places of some checks that fail more often, the worst of each first. */
function worstOf(checks) {
  const each = checks.map((check) => risky(check).map((one) => ({ ...one, check })));
  return [0, 1, 2, 3].flatMap((rank) => each.map((rows) => rows[rank]).filter(Boolean)).slice(0, MOST_RISKY);
}

function riskiest(worst, checks, found, sessions, titles) {
  const [check] = checks;
  if (!worst.length) return [make("p", { class: "nothing" }, checks.length > 1 ? "No check fails clearly more often after a change of one place than of others." : [quoted(check.check), check.failed ? ` fails clearly more often after a change of no one place; ${check.failed} of ${check.runs} runs after a change failed.` : ` failed in none of ${check.runs} runs after a change.`])];
  return [
    make("h2", {}, checks.length > 1 ? "Where checks fail more often" : ["Where ", quoted(check.check), " fails more often"]),
    make(
      "ol",
      { class: "cards" },
      worst.map((one) =>
        make(
          "li",
          {},
          make("p", { class: "title" }, quoted(one.path), one.folder && "/", make("span", { class: "soft" }, ", ", quoted(one.check.check))),
          make("p", {}, make("b", {}, shareOf(one.failed, one.runs)), " runs of ", quoted(one.check.check), ` failed after a change of this ${one.folder ? "folder" : "file"} (${count(one.sessions, "session")}), ${shareOf(one.failed_elsewhere, one.runs_elsewhere)} after changes elsewhere only.`, one.low !== null && ` Expected of the next ten: ${rangeOf(one.low, one.high)} (a 90\u00a0% range).`),
          one.after && make("p", { class: "soft" }, quoted(one.check.check), " passed again after ", quoted(one.after), "."),
          make("p", { class: "soft" }, one.met.length > 3 ? "The last three failures:" : "The failures:"),
          make("ul", { class: "plain" }, one.met.slice(0, 3).map(([place, line, issues]) => make("li", { class: "where" }, sessionLink(sessions, place, line && `line-${line}`), issueLink(issues, titles), logPlace(sessions.session[place], "", line)))),
          make("p", { class: "where" }, command(`helix-graph fragile ${quotedForShell(one.path)}`)),
        ),
      ),
    ),
    !found.enough && make("p", { class: "soft" }, "Fewer than 30 sessions ran a check: only counts are shown."),
  ];
}

/** The first issue of a failing run that is on the page, as a link. */
function issueLink(issues, titles) {
  const known = issues.find((one) => titles.has(one));
  return known && make("span", {}, "issue ", link(`issues/${known}`, {}, quoted(titles.get(known), 60)));
}

/** The folders and files as a tree of bars. */
function placeTree(check, found, several) {
  const usual = check.failed / Math.max(1, check.runs);
  const rows = check.places.map((one) => {
    const share = one.failed / one.runs;
    const [low, high] = one.low === null ? [null, null] : [one.low / 10, one.high / 10];
    const name = `${one.failed} of ${one.runs} runs failed; usually ${percent(usual)}.${low === null ? "" : ` Of the next ten ${rangeOf(one.low, one.high)} will fail.`}`;
    const parents = one.path.split("/").length - 1;
    const cell = make("th", { scope: "row", class: `depth-${Math.min(5, parents)}` }, quoted(one.path.split("/").at(-1)), one.folder && "/");
    cell.title = visible(one.path);
    return make("tr", { class: one.standing === "worse" ? "worse" : "" }, cell, make("td", {}, rateBar({ share, low, high, usual, worse: one.standing === "worse", name })), make("td", { class: "number" }, shareOf(one.failed, one.runs)), found.enough && make("td", { class: "number standing" }, one.standing === "worse" ? "\u25b2 worse" : one.standing === "better" ? "\u25bc better" : "as usual"));
  });
  return make(
    "div",
    {},
    make("h2", {}, "Every folder and file, ", quoted(check.check), several && " alone"),
    several && make("p", { class: "soft" }, "A place may fail one check and pass the others: choose another check above to see it for that one."),
    make("p", { class: "soft" }, `The bar is the share of runs that failed${found.enough ? "; the thin line below it is where the share of the next ten will lie (90 %), from all that is known of the check" : ""}. The upright line is the check's usual share, ${percent(usual)}.`),
    make("table", { class: "tree" }, make("thead", {}, make("tr", {}, ["Place", "Failing", "Failed of runs", ...(found.enough ? ["Against usual"] : [])].map((text) => make("th", { scope: "col" }, text)))), make("tbody", {}, rows)),
  );
}

function together(found) {
  if (!found.together.length) return [];
  const row = (one) =>
    make(
      "tr",
      {},
      make("th", { scope: "row" }, quoted(one.file), make("span", { class: "soft" }, " with "), quoted(one.other)),
      make("td", { class: "number" }, shareOf(one.together, one.sessions)),
      make("td", { class: "number" }, one.runs_alone ? shareOf(one.failed_alone, one.runs_alone) : "no run"),
      make("td", { class: "number" }, one.runs_both ? shareOf(one.failed_both, one.runs_both) : "no run"),
    );
  return [
    make("h2", {}, "Changed together"),
    make("p", { class: "soft" }, "In how many of the sessions that changed the first file the second was changed too, and how often a check failed after a change of the first: without the second, and with it."),
    make("div", { class: "wide-table", tabindex: "0", role: "region", "aria-label": "Files changed together" }, make("table", { class: "pairs" }, make("thead", {}, make("tr", {}, ["Files", "Sessions that change both", "Failed of all checks' runs without the second", "With it"].map((text) => make("th", { scope: "col" }, text)))), make("tbody", {}, found.together.slice(0, 20).map(row)))),
  ];
}

function quotedForShell(text) {
  return /^[\w./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
