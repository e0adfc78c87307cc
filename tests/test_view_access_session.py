"""Can everybody use the page of a session, and any page on a phone?"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import pytest

from access import nameless, too_small, unreadable
from browser import open_tab
from thoroughness import few

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from playwright.sync_api import Browser, ViewportSize

    from browser import Tab
    from helix_graph import Memory

PHONE: ViewportSize = {"width": 390, "height": 844}


@pytest.fixture(scope="module")
def page_file(demo_memory: Memory, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("access") / "session.html"
    demo_memory.view(output=path, episode=demo_memory.episodes.list(outcome="failure")[0].session)
    return path


@pytest.fixture(scope="module", params=few(["light", "dark"], 1))
def tab(browser: Browser, page_file: Path, request: pytest.FixtureRequest) -> Iterator[Tab]:
    with open_tab(browser, page_file, color_scheme=request.param) as opened:
        yield opened


@pytest.fixture
def phone(browser: Browser, page_file: Path) -> Iterator[Tab]:
    with open_tab(browser, page_file, viewport=PHONE) as opened:
        yield opened


def test_every_text_can_be_read(tab: Tab) -> None:
    tab.page.click(".step >> nth=0")
    assert unreadable(tab, at_least=40) == []


def test_everything_that_can_be_used_has_a_name_and_is_large_enough(tab: Tab) -> None:
    assert nameless(tab) == []
    assert too_small(tab) == []


def test_the_focus_goes_from_the_head_over_the_steps_to_the_details(tab: Tab) -> None:
    tab.page.reload()
    tab.page.wait_for_selector("body[data-ready]")
    visited: list[str] = []
    while len(visited) < 60 and visited[-1:] != ["panel"]:
        tab.keys("Tab")
        visited.append(
            tab.page.evaluate(
                "() => document.activeElement.closest('#filters, #graph, #timeline, #panel')?.id"
                " || document.activeElement.closest('header, .skip')?.tagName || ''"
            )
        )
    assert list(dict.fromkeys(one for one in visited if one)) == ["A", "HEADER", "timeline", "panel"]


def test_headings_go_down_without_a_step_left_out(tab: Tab) -> None:
    levels = tab.page.evaluate(
        "() => [...document.querySelectorAll('h1, h2, h3, h4')].filter((one) => one.checkVisibility())"
        ".map((one) => Number(one.tagName[1]))"
    )
    assert levels[0] == 1
    assert all(after - before <= 1 for before, after in itertools.pairwise(levels))


def test_filters_stand_where_there_is_something_to_filter(tab: Tab) -> None:
    assert tab.page.locator("#filters").is_hidden()
    tab.page.click("#tab-graph")
    assert tab.page.locator("#filters").is_visible()
    tab.page.click("#tab-timeline")


def test_a_phone_shows_the_steps_in_the_page_and_not_in_a_window_of_it(phone: Tab) -> None:
    assert phone.page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    within = phone.page.evaluate(
        "() => document.querySelector('#timeline').scrollHeight > document.querySelector('#timeline').clientHeight + 1"
    )
    assert within is False
    assert too_small(phone) == []


def test_on_a_phone_what_is_chosen_is_read_without_leaving_the_step(phone: Tab) -> None:
    step = phone.page.locator(".step").nth(3)
    step.click()
    for part in (step, phone.page.locator("#panel h2")):
        box = part.bounding_box()
        assert box is not None
        assert 0 <= box["y"] < PHONE["height"]
