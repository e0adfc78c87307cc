"""Does the page of one session show its steps, what to look at first, and the session beside it?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from browser import open_tab

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from playwright.sync_api import Browser

    from browser import Tab
    from helix_episodes.model import Episode
    from helix_graph import Memory


@pytest.fixture(scope="module")
def failed(demo_memory: Memory) -> Episode:
    return demo_memory.episodes.list(outcome="failure")[0]


@pytest.fixture(scope="module")
def page_file(demo_memory: Memory, failed: Episode, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("session") / "session.html"
    demo_memory.view(output=path, episode=failed.session)
    return path


@pytest.fixture
def tab(browser: Browser, page_file: Path) -> Iterator[Tab]:
    with open_tab(browser, page_file) as opened:
        yield opened


def test_every_step_stands_in_the_order_of_the_log(tab: Tab, failed: Episode) -> None:
    lines = [int(text) for text in tab.page.locator(".step .line").all_inner_texts()]
    assert len(lines) == len(failed.decisions) + len(failed.events)
    assert lines == sorted(lines)
    assert failed.task[:60] in tab.text("#timeline h2")


def test_suspects_are_marked_in_their_order(tab: Tab, demo_memory: Memory, failed: Episode) -> None:
    suspects = demo_memory.causality.explain(failed.id).suspects
    assert suspects
    marked = {
        step.get_attribute("data-step"): step.locator(".chip.suspect").inner_text()
        for step in tab.page.locator(".step:has(.chip.suspect)").all()
    }
    assert marked == {one.decision: f"suspect {rank}" for rank, one in enumerate(suspects, 1)}
    tab.page.locator("#timeline .links button").first.click()
    assert suspects[0].reasons[0] in tab.text("#panel")
    assert "leads, not conclusions" in tab.text("#panel")
    assert suspects[0].contrary[0] in tab.text("#panel")


def test_a_step_shows_its_words_and_what_it_is_linked_to(tab: Tab, failed: Episode) -> None:
    error = next(event for event in failed.events if event.type == "error")
    tab.page.click(f"[data-step={error.id}]")
    assert error.evidence is not None
    assert error.evidence.quote.split("\n")[0] in tab.text("#panel blockquote")
    assert f":{error.evidence.line}" in tab.text("#panel")
    before = tab.text("#panel h2")
    tab.page.locator("#panel .links button").first.click()
    assert tab.text("#panel h2") != before


def test_a_step_leads_to_its_label_in_the_graph(tab: Tab, failed: Episode) -> None:
    tab.page.click(f"[data-step={failed.events[0].id}]")
    tab.page.locator("#panel .links button").last.click()
    tab.page.click("#tab-graph")
    assert tab.page.locator("#timeline").is_hidden()
    assert len(tab.marked("chosen")) == 1


def test_the_session_beside_it_is_shown_where_they_part(tab: Tab, demo_memory: Memory, failed: Episode) -> None:
    contrast = demo_memory.causality.contrast(failed.id)
    assert contrast.other is not None
    assert contrast.other in tab.text("#timeline")
    assert tab.page.locator("table.partings tbody tr").count() == len(contrast.partings)


def test_steps_go_up_and_down_by_keyboard(tab: Tab) -> None:
    tab.page.locator(".step").first.focus()
    tab.keys("ArrowDown", "Enter")
    second = tab.page.locator(".step").nth(1)
    assert second.get_attribute("aria-current") == "true"
    assert second.locator(".text bdi").inner_text() == tab.text("#panel h2")


def test_its_graph_is_that_session_alone(tab: Tab, demo_memory: Memory, failed: Episode) -> None:
    tab.page.click("#tab-graph")
    excerpt = demo_memory.graph.excerpt(episode=failed.id)
    assert {node["label"] for node in tab.shown()} == {node.label for node in excerpt.nodes}
    assert len(tab.shown("edges")) == len(excerpt.edges)
