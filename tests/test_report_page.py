"""Can everybody read the report: in both themes, by colour and without, by heading, on a telephone, on paper?"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import pytest

from access import CONTRASTS, DRAWN, TEXT, as_seen, colours, contrast, distance
from browser import open_tab
from thoroughness import few

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from playwright.sync_api import Browser

    from browser import Tab
    from helix_graph import Memory

DRAWN_COLOURS = ("succeeded", "partly", "failed", "unknown", "band", "control", "accent")


@pytest.fixture(scope="module")
def page(shop: Memory, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("report") / "report.html"
    shop.report(output=path)
    return path


@pytest.fixture(scope="module", params=few(["light", "dark"], 1))
def tab(browser: Browser, page: Path, request: pytest.FixtureRequest) -> Iterator[Tab]:
    with open_tab(browser, page, ready="footer", color_scheme=request.param) as opened:
        yield opened


def test_every_text_can_be_read(tab: Tab) -> None:
    tab.page.click("summary")
    found = [row for row in tab.page.evaluate(CONTRASTS) if row[0]]
    assert len(found) > 100
    assert [text for text, ink, ground in found if contrast(ink, ground) < TEXT] == []
    tab.page.click("summary")


def test_a_usual_week_is_no_longer_than_four_screens(tab: Tab) -> None:
    assert tab.page.evaluate("document.documentElement.scrollHeight") < 4000


def test_what_is_drawn_stands_out(tab: Tab) -> None:
    found = colours(tab, *DRAWN_COLOURS, "card")
    assert [name for name in DRAWN_COLOURS if contrast(found[name], found["card"]) < DRAWN] == []


@pytest.mark.parametrize("seen", ["protanopia", "deuteranopia", "tritanopia"])
def test_outcomes_are_told_apart_by_the_colour_blind(tab: Tab, seen: str) -> None:
    found = colours(tab, "succeeded", "partly", "failed", "unknown")
    for one, other in itertools.combinations(found.values(), 2):
        assert distance(as_seen(one, seen), as_seen(other, seen)) > 40


def test_failed_and_claimed_differ_by_pattern_as_well(tab: Tab) -> None:
    assert tab.page.locator(".fill-failed + rect[fill='url(#hatch)']").count() >= 2
    claimed = tab.page.locator(".fill-claimed").first
    assert claimed.evaluate("(one) => getComputedStyle(one).strokeDasharray") != "none"


def test_headings_go_down_step_by_step(tab: Tab) -> None:
    levels = tab.page.evaluate("[...document.querySelectorAll('h1,h2,h3,h4')].map((one) => Number(one.tagName[1]))")
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after - before <= 1 for before, after in itertools.pairwise(levels))
    assert tab.page.evaluate("document.documentElement.lang") == "en"
    assert "papershop" in tab.page.title()


def test_charts_have_a_sentence_and_a_table_with_the_numbers(tab: Tab) -> None:
    names = tab.page.evaluate("[...document.querySelectorAll('svg[role=img]')].map((one) => one.ariaLabel)")
    assert all(names)
    assert any("5 sessions in all, 4 succeeded" in name for name in names)
    others = tab.page.locator("svg:not([role=img]):not([aria-hidden=true])")
    assert others.count() == 0
    assert tab.page.locator("thead th[scope=col]").count() == 8
    assert tab.page.locator("tbody th[scope=row]").count() == tab.page.locator("tbody tr").count()


def test_every_link_has_a_name_and_leads_somewhere(tab: Tab) -> None:
    links = tab.page.evaluate("[...document.links].map((one) => [one.getAttribute('href'), one.ariaLabel || one.text])")
    assert len(links) > 20
    assert all(name for _, name in links)
    missing = [mark for mark, _ in links if not tab.page.evaluate("(mark) => !!document.querySelector(mark)", mark)]
    assert missing == []


def test_a_click_on_evidence_shows_the_words_of_the_log(tab: Tab) -> None:
    link = tab.page.locator("#fixes .evidence-links a").first
    assert link.inner_text().startswith("failed, line ")
    link.click()
    piece = tab.page.locator(":target")
    assert piece.locator("blockquote").inner_text()
    assert piece.locator(".log").inner_text().endswith(link.inner_text().removeprefix("failed, line "))
    assert tab.page.evaluate(
        "() => { const at = document.querySelector(':target').getBoundingClientRect(); return at.top < innerHeight; }"
    )


def test_the_keyboard_comes_by_everything_and_is_seen(tab: Tab) -> None:
    tab.page.evaluate("() => { location.hash = ''; scrollTo(0, 0); document.querySelector('.skip').focus(); }")
    visited = []
    for _ in range(24):
        tab.keys("Tab")
        outline = tab.page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
        assert outline != "none"
        visited.append(tab.page.evaluate("document.activeElement.tagName"))
    assert set(visited) >= {"SUMMARY", "A"}


@pytest.mark.parametrize("width", [320, 820, 1280])
def test_no_width_makes_it_scroll_sideways(browser: Browser, page: Path, width: int) -> None:
    with open_tab(browser, page, ready="footer", viewport={"width": width, "height": 800}) as tab:
        assert tab.page.evaluate("document.documentElement.scrollWidth") <= width
        smallest = tab.page.evaluate(
            "Math.min(...[...document.querySelectorAll('.chart text')].map((it) => it.getBoundingClientRect().height))"
        )
        assert smallest > 8, "the text of a chart stays readable"


def test_it_prints_on_white_without_what_nobody_can_click(browser: Browser, page: Path) -> None:
    with open_tab(browser, page, ready="footer", color_scheme="dark") as tab:
        tab.page.emulate_media(media="print")
        ground = tab.page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert ground == "rgb(255, 255, 255)"
        assert tab.page.locator("summary").first.is_hidden()
        assert [text for text, ink, _ in tab.page.evaluate(CONTRASTS) if contrast(ink, [255, 255, 255]) < TEXT] == []
        assert len(tab.page.pdf()) > 20_000
