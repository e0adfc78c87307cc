// The page's data: packs of deflated JSON, each unpacked when it is first looked at.

const packs = new Map();

/** The content of a pack; null where the page has none of that name. */
function pack(name) {
  if (!packs.has(name)) packs.set(name, unpacked(name));
  return packs.get(name);
}

async function unpacked(name) {
  const element = document.getElementById(`pack-${name}`);
  if (!element) return null;
  const text = atob(element.textContent);
  element.remove();
  const bytes = Uint8Array.from(text, (character) => character.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  return JSON.parse(await new Response(stream).text());
}

/** The sessions, with the place of each by its name, and when each began in milliseconds. */
async function allSessions() {
  const found = await pack("sessions");
  found.places ||= new Map(found.session.map((name, place) => [name, place]));
  found.named ||= beginningsOf(found.session);
  found.moments ||= found.time.map((text) => momentOf(text)?.getTime() ?? null);
  return found;
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const briefNames = new Map();

/** Of the sessions that go by a UUID the beginning that names one alone; commands take it as well. */
function beginningsOf(names) {
  const times = new Map();
  for (const name of names) times.set(name.slice(0, 8), (times.get(name.slice(0, 8)) || 0) + 1);
  for (const name of names) if (UUID.test(name) && times.get(name.slice(0, 8)) === 1) briefNames.set(name, name.slice(0, 8));
  return true;
}

function briefName(session) {
  return briefNames.get(session) || session;
}

/** The first and the last moment of all sessions; what has no date is left out. */
function spanOf(sessions) {
  const known = sessions.moments.filter((one) => one !== null);
  return known.length ? [known.reduce((a, b) => Math.min(a, b)), known.reduce((a, b) => Math.max(a, b))] : [0, 0];
}

/** The command that opens a place in a log. */
function openingCommand(session, line) {
  return `helix-graph sessions show ${briefName(session)}${line ? ` --line ${line}` : ""}`;
}

/** A place in a log as a button that copies the command that opens it; of its session's own page only the line. */
function logPlace(session, log, line, brief) {
  if (brief) return command(openingCommand(session, line), `line ${line}`);
  const name = (log || "").split(/[\\/]/).pop();
  const file = name.length > 30 ? `${name.slice(0, 8)}\u2026${name.slice(-6)}` : name;
  const shown = [file, line && `line ${line}`].filter(Boolean).join(", ");
  return command(openingCommand(session, line), shown || "log");
}
