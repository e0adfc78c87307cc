"""What keeps somebody from using a page: texts that cannot be read, controls without a name or too small to be hit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from contrast import contrast

if TYPE_CHECKING:
    from playwright.sync_api import Page

#: WCAG 2.2, 1.4.3: the contrast of text.
TEXT = 4.5
#: For each text of the page: its colour, and the nearest background that is not see-through.
_TEXTS = """() => {
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
_NAMELESS = """() => [...document.querySelectorAll("button, input, select, [role], [tabindex]")]
          .filter((one) => one.checkVisibility() && !one.closest("[aria-hidden=true]"))
          .filter((one) => !(one.getAttribute("aria-label") || one.innerText?.trim() ||
          one.labels?.[0]?.innerText.trim())) .filter((one) => !one.matches("blockquote, [role=status]"))
          .map((one) => one.outerHTML.slice(0, 80))"""
#: WCAG 2.2, 2.5.8: what is pressed is 24 pixels high and wide, or as far from the next; text in a line is left out.
_SMALL = """() => [...document.querySelectorAll("button, select, input, label:has(input[type=checkbox])")]
  .filter((one) => one.checkVisibility() && one.type !== "checkbox")
  .filter((one) => { const { width, height } = one.getBoundingClientRect(); return width < 24 || height < 24; })
  .map((one) => one.outerHTML.slice(0, 80))"""


def unreadable(page: Page, *, at_least: int) -> list[str]:
    """The texts whose contrast is too low; there have to be so many texts at all."""
    found = page.evaluate(_TEXTS)
    assert len(found) >= at_least
    return [text for text, ink, ground in found if contrast(ink, ground) < TEXT]


def nameless(page: Page) -> list[str]:
    """What can be used and has no name for those who do not see it."""
    return list(page.evaluate(_NAMELESS))


def too_small(page: Page) -> list[str]:
    """What is hard to hit."""
    return list(page.evaluate(_SMALL))
