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
  found.moments ||= found.time.map((text) => momentOf(text)?.getTime() ?? null);
  return found;
}

/** The first and the last moment of all sessions; what has no date is left out. */
function spanOf(sessions) {
  const known = sessions.moments.filter((one) => one !== null);
  return known.length ? [known.reduce((a, b) => Math.min(a, b)), known.reduce((a, b) => Math.max(a, b))] : [0, 0];
}

/** The command that opens a place in a log. */
function openingCommand(session, line) {
  return `helix-graph sessions show ${session}${line ? ` --line ${line}` : ""}`;
}

/** A place in a log as a button that copies the command that opens it. */
function logPlace(session, log, line) {
  const name = (log || "").split(/[\\/]/).pop();
  const file = name.length > 30 ? `${name.slice(0, 8)}\u2026${name.slice(-6)}` : name;
  const shown = [file, line && `line ${line}`].filter(Boolean).join(", ");
  return command(openingCommand(session, line), shown || "log");
}
