"""Whether a page can be seen and read: contrast of what stands on it, and colours as colour-blind people see them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from browser import Tab

#: WCAG 2.2, 1.4.3 and 1.4.11: of text and of what is drawn.
TEXT, DRAWN = 4.5, 3.0
#: For each text of the page: its colour, and the nearest background that is not see-through.
CONTRASTS = """() => {
  const numbers = (colour) => colour.match(/[\\d.]+/g).map(Number);
  const solid = (colour) => numbers(colour).length < 4 || numbers(colour)[3] === 1;
  const ground = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const colour = getComputedStyle(at).backgroundColor;
      if (solid(colour)) return colour;
    }
    return "rgb(255, 255, 255)";
  };
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const found = [];
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    if (!walker.currentNode.data.trim() || !element.checkVisibility() || element.closest("script, noscript")) continue;
    found.push([walker.currentNode.data.trim().slice(0, 40), numbers(getComputedStyle(element).color),
    numbers(ground(element))]);
  }
  return found;
}"""


def luminance(colour: list[float]) -> float:
    """Relative luminance as WCAG defines it."""
    linear = [
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4
        for part in (one / 255 for one in colour[:3])
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: list[float], other: list[float]) -> float:
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def colours(tab: Tab, *names: str) -> dict[str, list[float]]:
    """Colours of the style sheet as they are now."""
    return {
        name: tab.page.evaluate(
            """(name) => {
              const probe = document.createElement("i");
              probe.style.color = `var(--${name})`;
              document.body.append(probe);
              const found = getComputedStyle(probe).color.match(/[\\d.]+/g).map(Number);
              probe.remove();
              return found;
            }""",
            name,
        )
        for name in names
    }


#: Machado, Oliveira and Fernandes (2009), severity 1.0.
_SEEN = {
    "protanopia": ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998)),
    "deuteranopia": ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.011820, 0.042940, 0.968881)),
    "tritanopia": ((1.255528, -0.076749, -0.178779), (-0.078411, 0.930809, 0.147602), (0.004733, 0.691367, 0.303900)),
}


def as_seen(colour: list[float], seen: str) -> list[float]:
    return [sum(weight * part for weight, part in zip(row, colour, strict=False)) for row in _SEEN[seen]]


def distance(one: list[float], other: list[float]) -> float:
    return math.dist(one, other)
