"""Can everybody use the page: WCAG AA by axe on every tab, by day and night, on a desk and on a phone?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import pytest

from access import KINDS_OF_SIGHT, as_seen, colours, distance, too_small
from browser import open_tab

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Browser, ViewportSize

    from browser import Tab
    from helix_graph import Memory

PHONE: ViewportSize = {"width": 390, "height": 844}
DESK: ViewportSize = {"width": 1440, "height": 900}
RULES = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]}


def addresses(memory: Memory) -> list[str]:
    """Every kind of page there is."""
    session = memory.episodes.list(outcome="failure")[0].session
    issue = memory.issues.list(limit=1).issues[0].id
    pages = (
        "issues",
        f"issues/{issue}",
        "places",
        "rules",
        "sessions",
        f"sessions/{session}",
        f"sessions/{session}?with=",
        "graph",
    )
    return list(pages)


@pytest.mark.parametrize(("scheme", "size"), [("light", DESK), ("dark", PHONE)], ids=["light-desk", "dark-phone"])
def test_axe_finds_nothing(
    browser: Browser, page_file: Path, shop: Memory, scheme: Literal["light", "dark"], size: ViewportSize
) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe-playwright-python is not installed")
    with open_tab(browser, page_file, color_scheme=scheme, viewport=size) as tab:
        for address in addresses(shop):
            tab.go(f"{address}" if "?" in address else f"{address}?")
            for summary in tab.page.locator(".step summary").all()[:4]:
                summary.click()
            # What the header at the top of the window happens to cover is no smaller for it.
            tab.page.evaluate("() => scrollTo(0, 0)")
            found = axe.Axe().run(tab.page, options=RULES).response
            assert len(found["passes"]) > 5, address
            broken = {one["id"]: [node["html"][:120] for node in one["nodes"]] for one in found["violations"]}
            assert broken == {}, address


def test_a_phone_shows_everything_without_scrolling_sideways(browser: Browser, page_file: Path, shop: Memory) -> None:
    with open_tab(browser, page_file, viewport=PHONE) as tab:
        for address in addresses(shop):
            tab.go(f"{address}" if "?" in address else f"{address}?")
            assert tab.page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"], address
            assert too_small(tab) == [], address


def test_fine_and_failed_are_told_apart_by_the_colour_blind(browser: Browser, page_file: Path) -> None:
    with open_tab(browser, page_file) as tab:
        found = colours(tab, "outcome", "bad")
    for seen in KINDS_OF_SIGHT:
        assert distance(as_seen(found["outcome"], seen), as_seen(found["bad"], seen)) > 60, seen


def test_the_theme_can_be_chosen(browser: Browser, page_file: Path) -> None:
    with open_tab(browser, page_file, color_scheme="dark") as tab:
        assert brightness(tab) < 0.3
        tab.page.click("#theme")
        assert brightness(tab) > 0.7


def brightness(tab: Tab) -> float:
    """Of the page's ground."""
    red, green, blue = colours(tab, "page")["page"]
    return (red + green + blue) / (3 * 255)
