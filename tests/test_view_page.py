"""Does the page do what one sees on it: search, filters, evidence, paths, keys, themes, in a real browser?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import pytest

from browser import open_tab

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from playwright.sync_api import Browser

    from browser import Tab
    from helix_graph import Memory

ERROR = "ruff fails: E501"


@pytest.fixture(scope="module")
def page_file(demo_memory: Memory, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("pages") / "graph.html"
    demo_memory.view(output=path)
    return path


@pytest.fixture
def tab(browser: Browser, page_file: Path) -> Iterator[Tab]:
    with open_tab(browser, page_file) as opened:
        yield opened


@pytest.mark.everyday
def test_every_label_and_edge_of_a_small_memory_is_drawn(tab: Tab, demo_memory: Memory) -> None:
    status = demo_memory.graph.status()
    assert len(tab.shown("nodes")) == status.nodes
    assert len(tab.shown("edges")) == status.edges
    assert f"{status.nodes} labels and {status.edges} edges from {status.episodes} sessions" in tab.text("#panel")


@pytest.mark.everyday
def test_searching_finds_a_label_and_opens_it(tab: Tab) -> None:
    tab.keys("/")
    tab.page.keyboard.type("assertionerror")
    assert tab.text("#results li >> nth=0").startswith("pytest fails: AssertionError")
    tab.keys("Enter")
    assert tab.text("#panel h2") == "pytest fails: AssertionError"
    assert tab.marked("chosen") == {"pytest fails: AssertionError"}


def test_searching_finds_what_stands_in_the_logs(tab: Tab) -> None:
    tab.page.fill("#search", "respx")
    found = tab.page.locator("#results li").all_inner_texts()
    assert any("pytest fails: ModuleNotFoundError" in line and "in the log text" in line for line in found)


def test_what_is_nowhere_is_said_to_be_nowhere(tab: Tab) -> None:
    tab.page.fill("#search", "zebra crossing")
    assert tab.text("#results") == "Nothing on this page has it."
    tab.keys("Enter")
    assert tab.text("#panel h2") == "What led to what"


@pytest.mark.everyday
def test_clicking_a_label_leads_to_the_line_of_the_log(tab: Tab) -> None:
    tab.click("pytest fails: ModuleNotFoundError")
    assert tab.text("#panel h2") == "pytest fails: ModuleNotFoundError"
    assert tab.page.locator("#panel .place").first.inner_text().split(":")[1].isdigit()
    assert "No module named 'respx'" in tab.text("#panel .evidence")


def test_of_fewer_than_ten_the_counts_and_the_range_are_shown_and_no_rate(tab: Tab) -> None:
    tab.click("pytest fails: AssertionError")
    assert "4 of 6 judged sessions succeeded (too early for a rate; at 95 % between 30 % and 90 %)" in tab.text(
        "#panel"
    )


def test_an_edge_shows_both_ends_in_the_log(tab: Tab) -> None:
    tab.click("run pytest")
    tab.page.locator("#panel .links button", has_text="pytest passes").first.click()
    assert tab.text("#panel h2") == "run pytest → pytest passes"
    assert "Asserted: logs or people say so" in tab.text("#panel")
    assert tab.page.locator("#panel .evidence > li").first.locator(".place").count() == 2
    assert len(tab.marked("chosen", "edges")) == 1


def test_types_can_be_switched_off(tab: Tab) -> None:
    tab.page.uncheck("[data-filter=error]")
    assert {node["type"] for node in tab.shown()} == {"decision", "event", "outcome"}
    tab.page.check("[data-filter=error]")
    tab.page.uncheck("[data-filter=causes]")
    assert {edge["type"] for edge in tab.shown("edges")} == {"enables", "prevents"}


def test_statuses_can_be_switched_off(tab: Tab) -> None:
    tab.page.uncheck("[data-filter=asserted]")
    assert tab.shown("edges") == []
    assert tab.shown("nodes") != []


def test_little_evidence_can_be_left_out(tab: Tab, demo_memory: Memory) -> None:
    tab.page.fill("#least", "10")
    tab.keys("Tab")
    frequent = [node for node in demo_memory.graph.excerpt().nodes if node.frequency >= 10]
    assert {node["label"] for node in tab.shown()} == {node.label for node in frequent}
    assert tab.text("#left").startswith(f"{len(frequent)} labels left")
    tab.page.fill("#least", "-3")
    tab.page.press("#least", "Tab")
    assert tab.page.input_value("#least") == "1"


def test_a_span_of_days_leaves_out_what_was_not_met_in_it(tab: Tab, demo_memory: Memory) -> None:
    excerpt = demo_memory.graph.excerpt()
    day = max((one.timestamp or "")[:10] for one in excerpt.sessions)
    tab.page.fill("#from", day)
    inside = {place for place, one in enumerate(excerpt.sessions) if (one.timestamp or "")[:10] >= day}
    met = {node.label for node in excerpt.nodes if inside & set(node.sessions)}
    assert 0 < len(met) < len(excerpt.nodes)
    assert {node["label"] for node in tab.shown()} == met


def test_filters_that_leave_nothing_say_so(tab: Tab) -> None:
    tab.page.fill("#from", "2031-01-01")
    assert tab.text("#nothing") == "Nothing passes the filters."


def test_arrows_follow_edges_and_enter_opens(tab: Tab) -> None:
    tab.click("pytest fails: AssertionError")
    tab.page.focus("#graph")
    tab.keys("ArrowRight")
    ahead = tab.text("#panel h2")
    tab.page.keyboard.press("Enter")
    assert ahead == "edit source (.py)"
    assert tab.page.evaluate("document.activeElement.id") == "panel"
    tab.keys("Escape")
    assert tab.page.evaluate("document.activeElement.id") == "graph"
    tab.keys("Escape")
    assert tab.text("#panel h2") == "What led to what"


def test_arrows_begin_somewhere_and_say_where(tab: Tab) -> None:
    tab.page.focus("#graph")
    tab.keys("ArrowDown", "ArrowDown")
    label = tab.text("#panel h2")
    assert label in str(tab.page.locator("#announce").text_content())


def test_escape_empties_the_search(tab: Tab) -> None:
    tab.page.fill("#search", "pytest")
    tab.keys("Escape")
    assert tab.page.input_value("#search") == ""
    assert tab.page.locator("#results").is_hidden()


@pytest.mark.parametrize(("scheme", "dark"), [("light", False), ("dark", True)])
def test_the_page_follows_the_system_and_can_be_told_otherwise(
    browser: Browser, page_file: Path, scheme: Literal["light", "dark"], *, dark: bool
) -> None:
    with open_tab(browser, page_file, color_scheme=scheme) as tab:
        assert (brightness(tab) < 0.5) is dark
        tab.page.click("#theme")
        assert brightness(tab) > 0.5, "first light"
        tab.page.click("#theme")
        assert brightness(tab) < 0.5, "then dark"


def brightness(tab: Tab) -> float:
    """Of the drawing's text, turned round: the canvas must follow the page."""
    red, green, blue = tab.page.evaluate(
        "() => document.getElementById('graph')._cyreg.cy.nodes()[0].style('color').match(/[\\d.]+/g).map(Number)"
    )
    return float(1 - (red + green + blue) / (3 * 255))


def test_a_path_is_marked_from_end_to_end(browser: Browser, demo_memory: Memory, tmp_path: Path) -> None:
    answer = demo_memory.graph.path(source=ERROR, target="success")
    demo_memory.view(output=tmp_path / "path.html", source=ERROR, target="success")
    with open_tab(browser, tmp_path / "path.html") as tab:
        assert tab.marked("on-path") == {node.label for node in answer.path}
        assert len(tab.marked("on-path", "edges")) == answer.depth
        assert "Held whole by" in tab.text("#panel")
        tab.keys("Escape")
        assert tab.marked("on-path") == set()
        tab.page.click("#show-path")
        assert len(tab.marked("on-path")) == len(answer.path)


def test_a_path_that_there_is_not_says_why(browser: Browser, demo_memory: Memory, tmp_path: Path) -> None:
    demo_memory.view(output=tmp_path / "none.html", source="success", target=ERROR)
    with open_tab(browser, tmp_path / "none.html") as tab:
        assert "No path found within depth 5: no path of up to 10 edges connects them" in tab.text("#panel")


def test_a_path_shows_its_direction_and_says_when_filters_hide_a_part(
    browser: Browser, demo_memory: Memory, tmp_path: Path
) -> None:
    demo_memory.view(output=tmp_path / "path.html", source=ERROR, target="success")
    with open_tab(browser, tmp_path / "path.html") as tab:
        head, line = tab.page.evaluate(
            """() => {
              const edge = document.getElementById("graph")._cyreg.cy.edges(".on-path")[0];
              return [edge.style("target-arrow-color"), edge.style("underlay-color")];
            }"""
        )
        assert head == line
        assert "not drawn now" not in tab.text("#panel")
        tab.page.locator("#filters label", has_text="causes").locator("input").uncheck()
        assert "are not drawn now: filters hide them." in tab.text("#panel")


def test_a_ring_of_few_sessions_is_thinner(browser: Browser, page_file: Path) -> None:
    with open_tab(browser, page_file) as tab:
        holes = tab.page.evaluate(
            """() => document.getElementById("graph")._cyreg.cy.nodes()
              .filter((one) => one.data("won") + one.data("lost") > 0)
              .map((one) => [one.data("early"), one.style("pie-hole")])"""
        )
    assert {(True, "84%"), (False, "62%")} >= set(map(tuple, holes)) > set()
    assert (True, "84%") in map(tuple, holes)


def test_a_focus_shows_what_is_around_it(browser: Browser, demo_memory: Memory, tmp_path: Path) -> None:
    report = demo_memory.view(output=tmp_path / "focus.html", focus="ruff fails: F401")
    assert report.nodes < report.nodes_in_all
    with open_tab(browser, tmp_path / "focus.html") as tab:
        assert tab.text("#panel h2") == "ruff fails: F401"
        tab.keys("Escape")
        assert "MET MOST OFTEN, IN THE WHOLE MEMORY" in tab.text("#panel").upper()


def test_a_narrow_window_hides_nothing(browser: Browser, page_file: Path) -> None:
    with open_tab(browser, page_file, viewport={"width": 400, "height": 800}) as tab:
        assert tab.page.evaluate("document.documentElement.scrollWidth") <= 400
        for part in ("#graph", "#panel", "#filters", "#search"):
            assert tab.page.locator(part).is_visible()
