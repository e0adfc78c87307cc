"""Does a large memory open as an overview that opens up, and do thousands of labels still draw?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from generated import write_episodes

from browser import open_tab
from helix_graph import Memory
from helix_graph.web.graph_content import OVERVIEW_FROM

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Browser


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Memory:
    """A memory of more than 2,000 labels."""
    return _memory(tmp_path_factory.mktemp("large"), episodes=560)


@pytest.fixture(scope="module")
def medium(tmp_path_factory: pytest.TempPathFactory) -> Memory:
    """A memory of more than 300 labels."""
    return _memory(tmp_path_factory.mktemp("medium"), episodes=100)


def _memory(folder: Path, *, episodes: int) -> Memory:
    memory = Memory.init(folder)
    write_episodes(memory.graph.episodes, count=episodes)
    memory.graph.compile()
    return memory


@pytest.fixture(scope="module")
def grouped(medium: Memory, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page of 300 labels, which opens as groups."""
    path = tmp_path_factory.mktemp("grouped") / "many.html"
    assert medium.view(output=path, max_nodes=300).nodes == 300
    return path


def test_fifty_labels_are_drawn_at_once(browser: Browser, medium: Memory, tmp_path: Path) -> None:
    medium.view(output=tmp_path / "fifty.html", max_nodes=50)
    with open_tab(browser, tmp_path / "fifty.html") as tab:
        assert len(tab.shown()) == 50
        assert tab.page.locator("#levels").is_hidden()
        assert "labels are not on this page" in tab.text("#panel")


@pytest.mark.slow
def test_two_thousand_labels_open_as_groups_and_all_can_be_drawn(
    browser: Browser, large: Memory, tmp_path: Path
) -> None:
    report = large.view(output=tmp_path / "many.html")
    assert report.nodes == 2000 < report.nodes_in_all
    with open_tab(browser, tmp_path / "many.html") as tab:
        groups = tab.shown()
        assert 1 < len(groups) < OVERVIEW_FROM
        tab.page.click("#level-all")
        assert len(tab.shown()) == 2000
        drawn = len(tab.shown("edges"))
        assert drawn == report.edges or f"{report.edges - drawn:,} lines" in tab.text("#undrawn")
        tab.page.click("#level-groups")
        assert len(tab.shown()) == len(groups)


def test_a_group_opens_and_closes(browser: Browser, grouped: Path) -> None:
    with open_tab(browser, grouped) as tab:
        before = tab.shown()
        smallest = min(before, key=lambda one: int(one["label"].rsplit("\n", 1)[1].split()[0]))
        members = int(smallest["label"].rsplit("\n", 1)[1].split()[0])
        tab.click(smallest["label"])
        assert len(tab.shown()) == len(before) - 1 + members
        tab.page.get_by_role("button", name="Close the group").click()
        assert tab.shown() == before


def test_a_group_opens_by_keyboard(browser: Browser, grouped: Path) -> None:
    with open_tab(browser, grouped) as tab:
        before = len(tab.shown())
        tab.page.focus("#graph")
        tab.keys("ArrowDown", "Enter")
        assert len(tab.shown()) > before


def test_searching_opens_the_group_of_what_is_found(browser: Browser, medium: Memory, grouped: Path) -> None:
    label = medium.graph.excerpt(max_nodes=300).nodes[-1].label
    with open_tab(browser, grouped) as tab:
        assert label not in {node["label"] for node in tab.shown()}
        tab.page.fill("#search", label)
        tab.keys("Enter")
        assert tab.marked("chosen") == {label}


@pytest.mark.slow
def test_nothing_lies_over_anything_else(browser: Browser, grouped: Path) -> None:
    with open_tab(browser, grouped) as tab:
        for button in ("#level-groups", "#level-all"):
            tab.page.click(button)
            places = tab.page.evaluate(
                "() => document.getElementById('graph')._cyreg.cy.nodes()"
                ".map((one) => [one.position('x'), one.position('y'), one.width(), one.height()])"
            )
            assert overlaps(places) == []


def overlaps(places: list[list[float]]) -> list[tuple[list[float], list[float]]]:
    return [
        (one, other)
        for at, one in enumerate(places)
        for other in places[:at]
        if abs(one[0] - other[0]) < (one[2] + other[2]) / 2 and abs(one[1] - other[1]) < (one[3] + other[3]) / 2
    ]


@pytest.mark.slow
@pytest.mark.corpus
@pytest.mark.parametrize("corpus", ["claude-code", "ai-agents", "trajectories", "who-and-when"])
def test_pages_of_real_sessions_open_and_answer(browser: Browser, corpora: Path, tmp_path: Path, corpus: str) -> None:
    memory = Memory.init(tmp_path)
    memory.extract(sorted((corpora / corpus).rglob("*"))[:80])
    memory.graph.compile()
    memory.view(output=tmp_path / "real.html")
    with open_tab(browser, tmp_path / "real.html") as tab:
        assert tab.shown()
        tab.page.fill("#search", "fail")
        tab.keys("Enter")
        assert tab.page.locator("#panel .evidence > li").count() > 0
    session = max(memory.episodes.list(max_results=100), key=lambda one: len(one.decisions) + len(one.events)).id
    memory.view(output=tmp_path / "session.html", episode=session)
    with open_tab(browser, tmp_path / "session.html") as tab:
        assert tab.page.locator(".step").count() > 0
