// Making elements. Whatever comes from a log is set as text, never as markup, so it can do nothing but be read.

/** An element with properties and children; children are elements or texts. */
function make(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined || value === null || value === false) continue;
    if (name === "class") element.className = value;
    else if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

// Characters that a screen obeys instead of showing them: controls, and marks that turn the direction of writing.
const OBEYED = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\u{e0000}-\u{e007f}]/gu;

/** A text with every character in it that cannot be seen shown as a box. */
function visible(text) {
  return String(text).replace(/\r\n?/g, "\n").replace(OBEYED, "\u25a1");
}

/** A text on one line, cut to a length: behind a word where there is one near the end, and never within a character. */
function short(text, length) {
  const characters = Array.from(visible(text.slice(0, 8 * length)).replace(/\s+/g, " "));
  if (characters.length <= length) return characters.join("");
  const kept = characters.slice(0, length - 1);
  const blank = kept.lastIndexOf(" ");
  return kept.slice(0, blank > length / 2 ? blank : length).join("") + "\u2026";
}

/** A text of a log within a sentence of ours: its direction of writing stays its own. */
function quoted(text, length) {
  return make("bdi", { dir: "auto" }, length ? short(text, length) : visible(text));
}

/** A text of a log of which what is between backticks is code. */
function coded(text) {
  const parts = visible(text).split(/`([^`]+)`/);
  return make("bdi", { dir: "auto" }, parts.map((part, place) => (place % 2 ? make("code", {}, part) : part)));
}

/** A link within the page. */
function link(address, properties, ...children) {
  return make("a", { href: `#${address}`, ...properties }, ...children);
}

function chip(kind, text) {
  return make("span", { class: `chip ${kind.replace(/\s/g, "-")}` }, text);
}

const SVG = "http://www.w3.org/2000/svg";

/** An SVG element. */
function draw(tag, properties = {}, ...children) {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value !== undefined && value !== null) element.setAttribute(name, value);
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

/** The lines that an edit changed. */
function diffOf(lines) {
  const kinds = { "-": "removed", "+": "added" };
  return make("pre", { class: "diff" }, lines.map((text) => make("span", { class: kinds[text[0]] }, `${text[0]} ${visible(text.slice(1))}\n`)));
}

function announce(text) {
  document.getElementById("announce").textContent = visible(text);
}

/** A button that copies a command; `shown` is what it says. */
function command(text, shown = text) {
  const button = make("button", { type: "button", class: "command", title: `Copy: ${visible(text)}` });
  button.append(make("code", {}, visible(shown)), make("span", { class: "copy", "aria-hidden": "true" }, "copy"));
  button.setAttribute("aria-label", `Copy the command ${visible(text)}`);
  button.addEventListener("click", async () => {
    await copied(text);
    button.lastChild.textContent = "copied";
    announce(`Copied: ${text}`);
    setTimeout(() => (button.lastChild.textContent = "copy"), 1500);
  });
  return button;
}

/** Copies a text; browsers that keep their clipboard from files still obey an old command. */
async function copied(text) {
  if (navigator.clipboard && window.isSecureContext) {
    try {
      await navigator.clipboard.writeText(text);
      return;
    } catch (error) {
      if (error.name !== "NotAllowedError") throw error;
    }
  }
  const field = make("textarea", { class: "unseen", "aria-hidden": "true" });
  field.value = text;
  document.body.append(field);
  field.select();
  document.execCommand("copy");
  field.remove();
}

/** What a list shows first, with a button for more of it; `row` makes an entry. */
function listed(rows, row, { first = 60, ...properties } = {}) {
  const list = make("ol", properties);
  const more = make("button", { type: "button", class: "more" });
  let shown = 0;
  const show = () => {
    list.append(...rows.slice(shown, shown + first).map(row));
    shown = Math.min(rows.length, shown + first);
    more.textContent = `Show more (${(rows.length - shown).toLocaleString("en")} left)`;
    more.hidden = shown >= rows.length;
  };
  more.addEventListener("click", show);
  show();
  return [list, more];
}
