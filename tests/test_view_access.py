"""Can everybody use the page: enough contrast, a name for everything, an order of the focus, colours told apart?"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import pytest

from access import DRAWN, KINDS_OF_SIGHT, as_seen, colours, contrast, distance, nameless, unreadable
from browser import open_tab
from thoroughness import few

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser

    from browser import Tab
    from helix_graph import Memory

TYPES = ("decision", "error", "event", "outcome", "pattern")


@pytest.fixture(scope="module", params=few(["light", "dark"], 1))
def tab(
    browser: Browser, demo_memory: Memory, tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> Iterator[Tab]:
    path = tmp_path_factory.mktemp("access") / "graph.html"
    demo_memory.view(output=path)
    with open_tab(browser, path, color_scheme=request.param) as opened:
        yield opened


def test_every_text_can_be_read(tab: Tab) -> None:
    tab.click("pytest fails: AssertionError")
    tab.page.fill("#search", "pytest")
    assert unreadable(tab, at_least=50) == []


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


@pytest.mark.parametrize("seen", KINDS_OF_SIGHT)
def test_supported_and_contradicted_are_told_apart_by_the_colour_blind(tab: Tab, seen: str) -> None:
    found = colours(tab, "supported", "contradicted", "asserted")
    for one, other in itertools.combinations(found.values(), 2):
        assert distance(as_seen(one, seen), as_seen(other, seen)) > 40


def test_everything_that_can_be_used_has_a_name(tab: Tab) -> None:
    assert nameless(tab) == []


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
