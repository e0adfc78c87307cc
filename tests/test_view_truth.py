"""Do the figures and words of a page agree with each other: list and issue, group and member, picture and list?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from browser import open_tab
from helix_graph import Memory
from helix_graph.issues.model import remedy_words
from session_script import Script

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from playwright.sync_api import Browser

    from browser import Tab


@pytest.fixture
def tab(browser: Browser, page_file: Path) -> Iterator[Tab]:
    with open_tab(browser, page_file) as opened:
        yield opened


def written(log: Script, folder: Path) -> Path:
    """The page of a memory of one session."""
    memory = Memory.init(folder)
    memory.extract([log.save(folder / "logs")])
    memory.graph.compile()
    memory.view(output=folder / "view.html")
    return folder / "view.html"


def row(tab: Tab, title: str) -> str:
    return tab.page.locator("a.issue", has_text=title).first.inner_text()


@pytest.mark.everyday
def test_what_worked_instead_is_said_in_the_list_and_on_the_issues_page(tab: Tab) -> None:
    listed = row(tab, "make test: unknown task")
    assert "What worked instead: pytest -q (6 of 6 sessions)." in listed
    assert "0 of 6; another command worked in 6 of 6 sessions" in listed
    tab.follow("a.issue:has-text('make test: unknown task')")
    assert "run pytest -q instead (6 of 6)" in tab.text("h2:text('What worked instead') ~ ol >> nth=0")
    assert "another command worked in 6 of 6 sessions" in tab.text("dl.facts")
    assert "in its last occurrence another command worked instead" in tab.text("article")
    assert "worked instead pytest -q" in tab.text("ol.cards >> nth=1")
    assert "not repaired" not in tab.text("ol.cards >> nth=1")
    assert "another command worked" in tab.text("figcaption")


def test_an_issue_says_what_repaired_it_and_what_silenced_it(tab: Tab, shop: Memory) -> None:
    assert "Repaired by an edit of the file that it names (15 of 25; silenced 10 times)." in row(tab, "ruff: E501")
    once = next(one for one in shop.issues.list(by="issue", limit=200).issues if one.repaired == one.occurrences == 1)
    (remedy,) = shop.issues.show(once.id).remedies
    tab.page.fill("input[name=q]", once.title)
    shown = tab.page.locator(f"a.issue[href='#issues/{once.id}'] .fix").inner_text()
    assert shown == f"Repaired by: {remedy_words(remedy)}."
    assert "differently each time" not in tab.text(".results")


def test_a_group_says_that_it_is_one_and_its_members_name_it(tab: Tab, shop: Memory) -> None:
    group = next(one for one in shop.issues.list().issues if one.kind == "group" and "AssertionError" in one.title)
    first = tab.page.locator(f"a.issue[href='#issues/{group.id}']")
    assert f"group of {group.kinds} issues" in first.inner_text()
    assert f"one of {group.kinds}: {group.message[:20]}" in first.inner_text()
    member = next(one for one in shop.issues.list(by="issue").issues if "AssertionError" in one.title)
    own = f"li:has(> a[href='#issues/{group.id}']) > .members"
    assert f"Its {group.kinds} issues, counted in it" in tab.text(f"{own} > summary")
    tab.page.locator(f"{own} > summary").click()
    tab.page.locator(f"{own} a.issue[href='#issues/{member.id}']").wait_for()  # a pack is unpacked before it is drawn
    assert tab.page.locator(f"{own} a.issue[href='#issues/{member.id}']").count() == 1
    assert tab.page.locator(f"a.issue[href='#issues/{member.id}']").count() == 1
    tab.go(f"issues/{member.id}")
    assert f"In the group {group.title} ({group.kinds} issues, {group.sessions} sessions)." in tab.text("article")
    tab.follow("article p a[href^='#issues/']")
    assert f"group of {group.kinds} issues" in tab.text("h1")
    assert f"One of its {group.kinds} issues says:" in tab.text("article")


def test_figures_follow_a_filter_or_say_that_they_do_not(tab: Tab, shop: Memory) -> None:
    assert "all time" not in tab.text(".results")
    tab.page.select_option("select[name=days]", "30")
    shown = tab.text(".results")
    assert "States, costs and remedies are those of all time" in shown
    assert "Cost, all time" in shown
    issue = next(one for one in shop.issues.list(limit=200).issues if "E501" in one.title)
    newest = max(str(one.timestamp) for one in shop.episodes.list(max_results=None))
    since = f"{newest[:5]}{int(newest[5:7]) - 1:02}{newest[7:]}"
    met = [one for one in shop.issues.show(issue.id).occurrences if str(one.date) > since]
    number = f"{sum(one.repaired for one in met)} of {len(met)}"
    assert 0 < len(met) < issue.occurrences
    assert number in row(tab, "ruff: E501")


def test_the_order_that_was_chosen_is_said(tab: Tab) -> None:
    assert "Ranked by sessions" not in tab.text("main")
    assert "most sessions first." in tab.text("main [role=status]")
    tab.page.select_option("select[name=by]", "minutes")
    assert "most minutes first." in tab.text("main [role=status]")


def test_every_edge_of_the_lists_is_drawn_on_its_side(tab: Tab) -> None:
    tab.go("graph")
    tab.page.fill("input[name=node]", "edit shop/api.py")
    tab.follow(".found a")
    lines = tab.page.locator("path.edge title").all_text_contents()
    for side, title in enumerate(("What came before it", "What came after it")):
        items = tab.page.locator(f"h2:text('{title}') ~ ul > li").all()
        names = [str(item.locator("a").inner_text()).partition(" ")[2] for item in items][:10]
        ends = [(one, "edit shop/api.py") if side == 0 else ("edit shop/api.py", one) for one in names]
        missing = [end for end in ends if not any(one.startswith(end[0]) and end[1] in one for one in lines)]
        assert names
        assert missing == []


def test_the_graph_opens_at_the_failure_of_most_sessions(browser: Browser, tmp_path: Path) -> None:
    """Each test fails in one session only, and the linter's line in two; the tests fail in four."""
    logs = []
    for n in range(4):
        log = Script(f"t{n}").prompt("Add").run("pytest", f"FAILED tests/test_a.py::test_{n} - assert 1 == 2", code=1)
        logs.append(log.edit("shop/a.py").run("pytest", "1 passed in 0.1s"))
    for n in range(2):
        log = Script(f"l{n}").prompt("Lint").run("ruff check .", "shop/b.py:1:1: F401 `os` imported but unused", code=1)
        logs.append(log.edit("shop/b.py").run("ruff check .", "All checks passed!"))
    memory = Memory.init(tmp_path)
    memory.extract([log.save(tmp_path / "logs") for log in logs])
    memory.graph.compile()
    memory.view(output=tmp_path / "view.html")
    with open_tab(browser, tmp_path / "view.html") as tab:
        tab.go("graph")
        assert tab.text("h2.focus").startswith("\u2717 pytest fails")


def test_the_graph_does_not_open_at_what_people_report(browser: Browser, tmp_path: Path) -> None:
    """Each report is of another failure, so many of them are not one that is met often."""
    logs = []
    for n in range(3):
        log = Script(f"r{n}").prompt("Add").edit("shop/a.py").run("pytest", "1 passed in 0.1s")
        logs.append(log.prompt(f"It still does not work, the total of order {n} is wrong").edit("shop/a.py"))
    log = Script("l").prompt("Lint").run("ruff check .", "shop/b.py:1:1: F401 `os` imported but unused", code=1)
    logs.append(log.edit("shop/b.py").run("ruff check .", "All checks passed!"))
    memory = Memory.init(tmp_path)
    memory.extract([log.save(tmp_path / "logs") for log in logs])
    memory.graph.compile()
    assert memory.graph.labels("reported by the user", limit=1).labels[0].sessions == 3
    memory.view(output=tmp_path / "view.html")
    with open_tab(browser, tmp_path / "view.html") as tab:
        tab.go("graph")
        assert tab.text("h2.focus").startswith("\u2717 ruff fails")


def test_a_refusal_shows_the_persons_own_words(browser: Browser, tmp_path: Path) -> None:
    words = "branch first, please: nothing is committed to main here, since what is on it goes live at once. " * 2
    log = Script("s").prompt("Ship").rejected("Bash", {"command": "git commit -am totals"}, words.strip())
    memory = Memory.init(tmp_path)
    memory.extract([log.save(tmp_path / "logs")])
    memory.graph.compile()
    memory.view(output=tmp_path / "view.html")
    with open_tab(browser, tmp_path / "view.html") as tab:
        tab.go("sessions/s")
        assert tab.text("h2:text('What was refused') ~ ul >> nth=0") == f"Bash rejected: {words.strip()}"


def test_a_session_without_a_known_outcome_says_why(browser: Browser, tmp_path: Path) -> None:
    memory = Memory.init(tmp_path)
    memory.extract(
        [
            Script("unchecked").prompt("Add totals").edit("shop/a.py").save(tmp_path / "logs"),
            Script("changed-after")
            .prompt("Add totals")
            .edit("shop/a.py")
            .run("pytest", "1 passed in 0.1s")
            .edit("shop/a.py")
            .save(tmp_path / "logs"),
            Script("refused")
            .prompt("Why does it fail?")
            .run("pytest", "1 passed in 0.1s")
            .rejected("Edit", {"file_path": "/work/papershop/shop/a.py", "old_string": "a", "new_string": "b"}, "Wait.")
            .save(tmp_path / "logs"),
            Script("idle").prompt("How many shops are there?").say("Two.").save(tmp_path / "logs"),
        ]
    )
    memory.graph.compile()
    memory.view(output=tmp_path / "view.html")
    reasons = {
        "unchecked": "files were changed, but no check ran, and nobody said how it ended",
        "changed-after": "files were changed after the last check passed, and no check ran after that",
        "refused": (
            "the last check passed, but the user refused the change of /work/papershop/shop/a.py, "
            "and nobody said how it ended"
        ),
        "idle": "no file was changed and no check ran, and nobody said how it ended",
    }
    assert {name: memory.causality.explain(name).why_unknown for name in reasons} == reasons
    with open_tab(browser, tmp_path / "view.html") as tab:
        for name, reason in reasons.items():
            tab.go(f"sessions/{name}")
            assert f"unknown {reason}" in tab.text("article")


def test_a_look_that_failed_and_was_got_past_leaves_no_red_strip(browser: Browser, tmp_path: Path) -> None:
    log = Script("s").prompt("Add").run("cat -A a.py", "cat: illegal option -- A\nusage: cat", code=1)
    log = log.run("cat a.py", "x = 1").edit("a.py").edit("b.py").run("pytest", "1 passed in 0.1s")
    memory = Memory.init(tmp_path)
    memory.extract([log.save(tmp_path / "logs")])
    memory.graph.compile()
    memory.view(output=tmp_path / "view.html")
    with open_tab(browser, tmp_path / "view.html") as tab:
        tab.go("sessions")
        name = str(tab.page.locator("svg.strip").get_attribute("aria-label"))
        assert "the last was over at" in name


def test_places_are_readable_on_a_telephone(browser: Browser, page_file: Path) -> None:
    with open_tab(browser, page_file, viewport={"width": 390, "height": 844}) as tab:
        tab.go("places")
        rows = tab.page.locator("table.tree tbody tr")
        assert rows.count() > 3
        judged = [one for one in rows.all() if one.locator("td.standing").inner_text()]
        assert judged
        for one in judged:
            assert one.locator("td.standing").is_visible()
            assert one.locator("th").evaluate("(it) => it.getBoundingClientRect().width") > 200
        assert tab.page.evaluate("() => document.documentElement.scrollWidth") <= 390
    with open_tab(browser, page_file) as tab:
        tab.go("places")
        assert tab.page.locator("table.tree thead th").all_inner_texts()[2] == "Failed of runs"


def test_a_look_up_that_found_nothing_is_no_trouble(browser: Browser, tmp_path: Path) -> None:
    log = Script("s").prompt("Look").edit("shop/a.py")
    log = log.call(
        "Read", {"file_path": "/work/shop/b.py"}, error="<tool_use_error>File does not exist.</tool_use_error>"
    )
    memory = Memory.init(tmp_path)
    memory.extract([log.save(tmp_path / "logs")])
    memory.graph.compile()
    memory.view(output=tmp_path / "view.html")
    with open_tab(browser, tmp_path / "view.html") as tab:
        tab.go("sessions/s")
        assert "found nothing" in tab.text("ol.steps")
        assert "not repaired" not in tab.text("article")
        assert tab.page.locator("article > svg.strip title").text_content() == "No failure."
        tab.go("issues")
        assert tab.text(".results") == "Nothing has failed in these sessions."


def test_places_show_the_check_that_is_chosen_and_bars_of_what_was_counted(tab: Tab) -> None:
    tab.go("places")
    assert tab.text(".picker [aria-current]") == "All checks"
    tab.follow(".picker a:has-text('pytest')")
    assert {"pytest"} == {
        one.partition(" runs of ")[2].split()[0] for one in tab.page.locator(".cards p:has(b)").all_inner_texts()
    }
    for row in tab.page.locator("table.tree tbody tr").all():
        failed, of = (int(one) for one in row.locator("td.number").first.inner_text().split(" of "))
        assert float(row.locator("rect.share").get_attribute("width") or 0) == pytest.approx(100 * failed / of)


def test_a_rule_leads_to_where_it_was_not_followed(tab: Tab) -> None:
    tab.go("rules")
    card = tab.page.locator("li[data-rule]", has_text="ruff check .")
    assert "Not taken in:" in card.inner_text()
    assert "line 14" in card.inner_text()
    tab.follow("li[data-rule] ul a[href^='#sessions/']")
    assert tab.page.locator("details[open]").count() > 0


def test_a_line_of_the_log_opens_the_step_that_it_is_of(browser: Browser, tmp_path: Path) -> None:
    log = Script("s").prompt("Round").edit("shop/a.py", old="a = 1", new="a = 2").edit("shop/a.py", old="b", new="c")
    log = log.run("pytest", "===== 1 passed in 0.1s =====")
    with open_tab(browser, written(log, tmp_path)) as tab:
        again = Memory(tmp_path / ".helix").episodes.list()[0].decisions[0].evidence
        assert again is not None
        assert again.also
        tab.go(f"sessions/s/line-{again.also[0]}")
        tab.page.wait_for_selector(".step details[open]")
        assert tab.text(".step details[open] .text").startswith("edit shop/a.py")
        assert f"line {again.also[0]}" in tab.text(".step details[open]")


def test_the_graphs_legend_has_the_signs_that_are_drawn_and_its_boxes_differ(tab: Tab) -> None:
    tab.go("graph")
    keys = tab.page.locator(".legend-line .key").all_inner_texts()
    texts = tab.page.locator(".drawing text:not(.small)").all_text_contents()
    drawn = {one[0] for one in texts if one[0] in "◆✗○⚑"}
    assert {one[0] for one in keys} == drawn
    boxes = tab.page.locator(".drawing a.node")
    read = {one.get_attribute("href"): one.locator("text:not(.small)").all_text_contents() for one in boxes.all()}
    names = {one.get_attribute("href"): one.get_attribute("aria-label") for one in boxes.all()}
    assert len({*map(tuple, read.values())}) == len({*names.values()}) > 10


def test_a_strip_goes_by_what_the_session_did_and_not_by_lines_of_its_log(browser: Browser, tmp_path: Path) -> None:
    long = "\n".join(f"line {n}" for n in range(400))
    log = Script("s").prompt("Look").call("Read", {"file_path": "/work/shop/b.py"}, output=long)
    log = log.run("pytest", "FAILED tests/test_a.py::test_a - assert 1\n===== 1 failed in 0.1s =====", code=1)
    log = log.edit("shop/a.py").run("pytest", "===== 1 passed in 0.1s =====")
    with open_tab(browser, written(log, tmp_path)) as tab:
        tab.go("sessions/s")
        assert (
            tab.page.locator("article > svg.strip title").text_content()
            == "First failed at 20 % of it; the last was over at 100 %."
        )
