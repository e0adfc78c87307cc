"""Can everybody use the page: enough contrast, a name for everything, an order of the focus, colours told apart?"""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING

import pytest

from browser import open_tab

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser

    from browser import Tab
    from helix_graph import Memory

#: WCAG 2.2, 1.4.3 and 1.4.11: of text and of what is drawn.
TEXT, DRAWN = 4.5, 3.0
TYPES = ("decision", "error", "event", "outcome", "pattern")
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


@pytest.fixture(scope="module", params=["light", "dark"])
def tab(
    browser: Browser, demo_memory: Memory, tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> Iterator[Tab]:
    path = tmp_path_factory.mktemp("access") / "graph.html"
    demo_memory.view(output=path)
    with open_tab(browser, path, color_scheme=request.param) as opened:
        yield opened


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


def test_every_text_can_be_read(tab: Tab) -> None:
    tab.click("pytest fails: AssertionError")
    tab.page.fill("#search", "pytest")
    found = tab.page.evaluate(CONTRASTS)
    assert len(found) > 50
    assert [text for text, ink, ground in found if contrast(ink, ground) < TEXT] == []


def test_what_is_drawn_stands_out(tab: Tab) -> None:
    found = colours(tab, *TYPES, "asserted", "supported", "contradicted", "path", "control", "page", "card")
    for name in set(found) - {"page", "card"}:
        ground = found["card" if name == "control" else "page"]
        assert contrast(found[name], ground) >= DRAWN, name


def test_types_and_statuses_differ_by_shape_as_well(tab: Tab) -> None:
    shapes = tab.page.evaluate(
        "() => document.getElementById('graph')._cyreg.cy.nodes().map((n) => [n.data('type'), n.style('shape')])"
    )
    assert len({shape for _, shape in shapes}) == len({type_ for type_, _ in shapes})


@pytest.mark.parametrize("seen", ["protanopia", "deuteranopia", "tritanopia"])
def test_supported_and_contradicted_are_told_apart_by_the_colour_blind(tab: Tab, seen: str) -> None:
    found = colours(tab, "supported", "contradicted", "asserted")
    for one, other in itertools.combinations(found.values(), 2):
        assert distance(as_seen(one, seen), as_seen(other, seen)) > 40


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


def test_everything_that_can_be_used_has_a_name(tab: Tab) -> None:
    nameless = tab.page.evaluate(
        """() => [...document.querySelectorAll("button, input, select, [role], [tabindex]")]
          .filter((one) => one.checkVisibility() && !one.closest("[aria-hidden=true]"))
          .filter((one) => !(one.getAttribute("aria-label") || one.innerText?.trim() ||
          one.labels?.[0]?.innerText.trim())) .filter((one) => !one.matches("blockquote, [role=status]"))
          .map((one) => one.outerHTML.slice(0, 80))"""
    )
    assert nameless == []


def test_the_focus_goes_from_the_head_over_filters_and_graph_to_the_details(tab: Tab) -> None:
    tab.page.reload()
    tab.page.wait_for_selector("body[data-ready]")
    visited = []
    for _ in range(60):
        tab.keys("Tab")
        visited.append(
            tab.page.evaluate(
                "() => (document.activeElement.closest('header, #filters, #graph, #panel, .skip') || document.body).id"
                " || document.activeElement.closest('header, .skip')?.tagName || ''"
            )
        )
        if visited[-1] == "panel":
            break
    assert list(dict.fromkeys(one for one in visited if one)) == ["A", "HEADER", "filters", "graph", "panel"]


def test_where_the_focus_is_can_be_seen(tab: Tab) -> None:
    for selector in ("#search", "#fit", "#graph", "#least"):
        tab.page.focus(selector)
        outline = tab.page.evaluate("() => getComputedStyle(document.activeElement, null).outlineStyle")
        assert outline != "none", selector


def test_the_page_has_a_language_a_title_and_one_first_heading(tab: Tab) -> None:
    assert tab.page.evaluate("document.documentElement.lang") == "en"
    assert tab.page.title()
    assert tab.page.locator("h1").count() == 1
