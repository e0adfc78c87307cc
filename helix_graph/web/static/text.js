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
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined));
  return element;
}

/** A text of a log within a sentence of ours: its direction of writing stays its own. */
function quoted(text) {
  return make("bdi", { dir: "auto" }, visible(text));
}

// Characters that a screen obeys instead of showing them: controls, and marks that turn the direction of writing.
const OBEYED = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/** A text with every character in it that cannot be seen shown as a box. */
function visible(text) {
  return text.replace(/\r\n?/g, "\n").replace(OBEYED, "\u25a1");
}

/** A text on one line, cut to a length; cut between characters, never within one. */
function short(text, length) {
  const characters = Array.from(visible(text.slice(0, 8 * length)).replace(/\s+/g, " "));
  return characters.length > length ? characters.slice(0, length - 1).join("") + "\u2026" : characters.join("");
}

function capital(text) {
  return visible(text.charAt(0).toUpperCase() + text.slice(1));
}

function count(number, noun) {
  return `${number.toLocaleString("en")} ${noun}${number === 1 ? "" : "s"}`;
}

function percent(share) {
  return `${Math.round(100 * share)} %`;
}

function points(difference) {
  return `${difference < 0 ? "\u2212" : "+"}${Math.abs(Math.round(100 * difference))}`;
}

const SVG = "http://www.w3.org/2000/svg";

/** An SVG element. */
function draw(tag, properties = {}, ...children) {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(properties)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

const GLYPHS = {
  decision: ["rect", { x: 3, y: 5, width: 14, height: 10, rx: 3 }],
  error: ["path", { d: "M10 2 L18 10 L10 18 L2 10 Z" }],
  event: ["circle", { cx: 10, cy: 10, r: 6.5 }],
  outcome: ["path", { d: "M6 3 H14 L18 10 L14 17 H6 L2 10 Z" }],
  pattern: ["path", { d: "M10 2.5 L18 17 H2 Z" }],
};

/** The sign of a type of node: the same shape and colour as in the graph. */
function glyph(type) {
  const [tag, properties] = GLYPHS[type] || GLYPHS.event;
  const shape = draw(tag, { ...properties, class: `fill-${type}` });
  return draw("svg", { class: "glyph", viewBox: "0 0 20 20", "aria-hidden": "true" }, shape);
}

function announce(text) {
  document.getElementById("announce").textContent = visible(text);
}
