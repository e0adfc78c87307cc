// Filters of a list. They are part of the address, so that what is shown can be passed on as a link.

/** A form of filters; `change` is called with what was chosen. An option that all have in common is left out. */
function filterForm(fields, chosen, change) {
  const form = make("form", { class: "filters", role: "search", onsubmit: (event) => event.preventDefault() });
  const apply = () => {
    const values = Object.fromEntries([...new FormData(form)].filter(([, value]) => value));
    change(values);
  };
  for (const field of fields) {
    const options = field.options;
    if (options && options.length < 2 && !chosen[field.name]) continue;
    const control = options
      ? make("select", { name: field.name }, make("option", { value: "" }, field.all), options.map(([value, text]) => make("option", { value, selected: chosen[field.name] === value }, short(text, 40))))
      : make("input", { name: field.name, type: "search", placeholder: field.all, autocomplete: "off", spellcheck: "false", value: chosen[field.name] });
    control.addEventListener(options ? "change" : "input", apply);
    form.append(make("label", { class: options ? "" : field.wide ? "wide" : "" }, make("span", {}, field.label), control));
  }
  return form;
}

/** The distinct values of a column, the commonest first, as options. */
function optionsOf(values, words = (one) => one) {
  const times = new Map();
  for (const value of values) if (value) times.set(value, (times.get(value) || 0) + 1);
  return [...times].sort((one, other) => other[1] - one[1] || (one[0] < other[0] ? -1 : 1)).map(([value]) => [value, words(value)]);
}

const PERIODS = [["7", "last 7 days"], ["30", "last 30 days"], ["90", "last 90 days"], ["365", "last year"]];

/** What a session is filtered by, in every list. */
function sessionFields(sessions) {
  const [first, last] = spanOf(sessions);
  const days = (last - first) / 86_400_000;
  return [
    { name: "agent", label: "Agent", all: "any", options: optionsOf(sessions.agent) },
    { name: "model", label: "Model", all: "any", options: optionsOf(sessions.model, modelName) },
    { name: "author", label: "Author", all: "anybody", options: sessions.author.some(Boolean) ? [["you", "you"], ...optionsOf(sessions.author)] : [] },
    { name: "project", label: "Project", all: "any", options: optionsOf(sessions.project) },
    { name: "days", label: "Time", all: "any time", options: PERIODS.filter(([length]) => Number(length) < days) },
  ];
}

/** Whether a session passes the filters, as a function of its place. */
function sessionFilter(sessions, chosen) {
  const [, last] = spanOf(sessions);
  const since = chosen.days ? last - Number(chosen.days) * 86_400_000 : null;
  const wanted = ["agent", "model", "project"].filter((name) => chosen[name]);
  return (place) =>
    wanted.every((name) => sessions[name][place] === chosen[name]) &&
    (!chosen.author || (sessions.author[place] || "you") === chosen.author) &&
    (since === null || (sessions.moments[place] ?? 0) >= since);
}

/** Puts what was chosen into the address without a new entry in the browser's history. */
function rewrite(address, chosen) {
  const query = new URLSearchParams(chosen).toString();
  window.history.replaceState(null, "", `#${address}${query ? `?${query}` : ""}`);
}
