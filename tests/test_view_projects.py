"""Can a page of several projects be narrowed down to one, and does a page of one not ask?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from browser import open_tab
from small_worlds import memory_of, session

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from playwright.sync_api import Browser

    from browser import Tab

BOTH = "pytest fails: KeyError"
SHOP = session("a", "run lint", BOTH, success=False, project="shop", links=("1 call 2",))
LATER = session("b", "run lint", BOTH, success=True, project="shop", timestamp="2026-04-01T10:00:00Z")
BANK = session("c", "run audit", BOTH, success=True, project="bank", links=("1 call 2",))
NOBODYS = session("d", "run nothing", success=True)


@pytest.fixture(scope="module")
def page_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("projects")
    memory_of(folder, [SHOP, LATER, BANK, NOBODYS], compiled=True).view(output=folder / "page.html")
    return folder / "page.html"


@pytest.fixture
def tab(browser: Browser, page_file: Path) -> Iterator[Tab]:
    with open_tab(browser, page_file) as opened:
        yield opened


def labels(tab: Tab) -> set[str]:
    return {node["label"] for node in tab.shown()}


def test_every_project_can_be_chosen_and_none_has_all(tab: Tab) -> None:
    assert tab.page.locator("#project option").all_inner_texts() == ["all", "bank", "shop"]
    assert {"run lint", "run audit", "run nothing", BOTH} <= labels(tab)


def test_a_project_leaves_what_its_sessions_met(tab: Tab) -> None:
    tab.page.select_option("#project", "bank")
    assert labels(tab) & {"run lint", "run audit", "run nothing", BOTH} == {"run audit", BOTH}
    assert len(tab.shown("edges")) == 1
    assert "labels left" in tab.text("#left")


def test_a_project_is_chosen_by_keyboard_and_taken_back(tab: Tab) -> None:
    before = labels(tab)
    tab.page.focus("#project")
    tab.keys("s")
    assert "run audit" not in labels(tab)
    tab.keys("Home")
    assert labels(tab) == before


def test_project_and_time_hold_together(tab: Tab) -> None:
    tab.page.select_option("#project", "bank")
    tab.page.fill("#from", "2026-03-15")
    assert labels(tab) == set()
    tab.page.select_option("#project", "shop")
    assert {"run lint", BOTH} <= labels(tab)


def test_the_evidence_names_its_project(tab: Tab) -> None:
    tab.click("run audit")
    assert "bank" in tab.text("#panel")


def test_where_there_is_one_project_nothing_is_asked(browser: Browser, tmp_path: Path) -> None:
    memory = memory_of(tmp_path, [SHOP, LATER], compiled=True)
    memory.view(output=tmp_path / "page.html")
    with open_tab(browser, tmp_path / "page.html") as tab:
        assert tab.page.locator("#project").count() == 0
