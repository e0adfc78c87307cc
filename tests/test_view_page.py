"""Does the page answer what people look for: what fails and what helps, why a session failed, which place is risky?"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from browser import open_tab
from helix_cli.app import run
from helix_graph.issues.model import remedy_words

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from playwright.sync_api import Browser

    from browser import Tab
    from helix_episodes.model import Episode
    from helix_graph import Memory


@pytest.fixture
def tab(browser: Browser, page_file: Path) -> Iterator[Tab]:
    with open_tab(browser, page_file) as opened:
        yield opened


@pytest.fixture(scope="module")
def failed(shop: Memory) -> Episode:
    return shop.episodes.list(outcome="failure")[0]


@pytest.mark.everyday
def test_it_opens_with_the_issues_in_the_order_of_the_command(tab: Tab, shop: Memory) -> None:
    every = shop.issues.list(limit=200).issues
    assert len(every) > 4
    for members in tab.page.locator("details.members summary").all():
        members.click()
    # Each once: what is in a group is within its row, and in the order of the command there, too.
    within = {row.get_attribute("href") for row in tab.page.locator(".members a.issue").all()}
    rows = tab.page.locator("ol.issues[class] > li > a.issue:not(.members a)")
    listed = [one for one in every if f"#issues/{one.id}" not in within]
    top = [f"#issues/{one.id}" for one in listed]
    assert [row.get_attribute("href") for row in rows.all()][: len(top)] == top
    assert {f"#issues/{one.id}" for one in every} <= {*top, *within}
    first = rows.first.inner_text()
    assert listed[0].title in first
    assert re.search(rf"{listed[0].sessions}\s+of {shop.graph.status().episodes}", first)
    # Halves are rounded as the commands round them: 50.5 and 46.5 to the even number.
    for row, one in zip(rows.all(), listed, strict=False):
        assert f"{round(one.steps or 0)} step" in row.inner_text()
    most = max(round(one.steps or 0) for one in listed)
    costliest = [one for one in listed if round(one.steps or 0) == most]
    assert len(costliest) == 1
    assert tab.text(".costliest").startswith(f"Most steps went to {costliest[0].title} ({most} steps")


@pytest.mark.everyday
def test_four_questions_are_answered_in_few_actions(tab: Tab, shop: Memory, failed: Episode) -> None:
    """The costliest issue and its remedy; why a session failed; which place is risky; whether a rule works."""
    tab.page.select_option("select[name=by]", "minutes")
    tab.follow("a.issue")
    costliest = max(shop.issues.list(limit=200).issues, key=lambda one: one.minutes or 0)
    assert costliest.remedy is not None
    assert costliest.title in tab.text("h1")
    assert remedy_words(costliest.remedy) in tab.text("ol.cards >> nth=0")

    tab.follow("#tabs a[data-tab=sessions]")
    tab.page.fill("input[name=q]", failed.session)
    tab.follow("a.session")
    explained = shop.causality.explain(failed.id)
    lead = next(one for one in failed.decisions if one.id == explained.suspects[0].decision)
    assert tab.text("h2:text('Suspects') ~ ul > li >> nth=0").startswith(f"suspect 1 {lead.chosen}")
    assert tab.text("h2:text('Read first') ~ ol > li >> nth=0").startswith(explained.reading[0].quote)
    assert explained.suspects[0].reasons[0] in tab.text("h2:text('Suspects') ~ ul > li >> nth=0")

    tab.follow("#tabs a[data-tab=places]")
    worst = next(one for one in shop.causality.fragile().places if one.rate.check == "pytest")
    tab.follow(".picker a:has-text('pytest')")
    card = tab.text("ol.cards > li >> nth=0")
    assert card.startswith(worst.path)
    assert f"{worst.rate.failed} of {worst.rate.runs} runs of pytest failed" in card

    tab.follow("#tabs a[data-tab=rules]")
    rule = next(one for one in shop.rules.list().rules if "make test" in one.rule.text)
    assert rule.change is not None
    before, after = rule.change.before, rule.change.after
    card = tab.text(f"[data-rule='{rule.rule.id}']")
    assert f"{rule.state}: {rule.followed} of {rule.opportunities} opportunities taken, in " in card
    assert f"{rule.change.verdict}: " in card
    assert [f"{one.events} of {one.opportunities}" in card for one in (before, after)] == [True, True]
    assert before.events > 0 == after.events
    # It had stopped a fortnight before the rule: no praise, no ratio of nothing, and what the comparison is with.
    assert "What the rule is against had stopped before the rule came, so its end is no effect of the rule." in card
    assert re.search(r"last seen .*, before the rule came; the 7 sessions between had none of it", card)
    assert "checks that the rule does not name failed 0.95 times as often" in card
    assert "times as often (" not in card
    # Two actions, three, two and one: fifteen for each question were allowed.


def test_issues_are_found_by_words_and_filters_that_the_address_keeps(tab: Tab) -> None:
    tab.page.fill("input[name=q]", "too long")
    found = tab.page.locator("a.issue b").all_inner_texts()
    assert found
    assert all("E501" in title for title in found if not title.isdigit())
    tab.page.select_option("select[name=check]", "mypy")
    assert tab.text(".results") == "No issue passes the filters."
    assert tab.page.url.endswith("#issues?q=too+long&check=mypy")
    tab.page.fill("input[name=q]", "")
    tab.page.reload()
    tab.page.wait_for_selector("a.issue")
    titles = [one for one in tab.page.locator("a.issue b").all_inner_texts() if ":" in one]
    assert titles
    assert all(one.startswith("mypy: arg-type: ") for one in titles)
    tab.requests.clear()
    tab.requests.append(tab.page.url.partition("#")[0])


def test_an_issue_leads_to_the_step_and_the_line_of_its_log(
    tab: Tab, shop: Memory, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    issue = next(one for one in shop.issues.list(limit=200).issues if one.kind == "issue")
    details = shop.issues.show(issue.id)
    newest = details.occurrences[-1]
    tab.go(f"issues/{issue.id[:8]}")
    assert f"{issue.sessions} of" in tab.text("dl.facts")
    assert remedy_words(details.remedies[0]) in tab.text("article")
    card = tab.page.locator("ol.cards").nth(1).locator("li").first
    command = str(card.locator("button.command").get_attribute("title")).removeprefix("Copy: ")
    assert command == f"helix-graph sessions show {newest.session[:8]} --line {newest.line}"
    monkeypatch.setenv("HELIX_DIR", str(shop.root))
    assert run(command.split()[1:]) == 0
    assert " ".join(newest.message.split())[:30] in " ".join(capsys.readouterr().out.split())
    card.locator(".title a").click()
    tab.page.wait_for_selector(".step details[open]")
    assert newest.message[:40] in tab.text(".step details[open]")


def test_a_remedy_shows_the_lines_that_went_and_came(tab: Tab, shop: Memory) -> None:
    details = (shop.issues.show(one.id) for one in shop.issues.list(limit=200).issues)
    remedies = ((one.issue.id, each) for one in details for each in one.remedies)
    issue, remedy = next(one for one in remedies if {"-", "+"} == {line[0] for line in one[1].diff})
    tab.go(f"issues/{issue}")
    card = tab.page.locator("ol.cards").first.locator("li", has_text=remedy_words(remedy)).first
    shown = [line.strip() for line in card.locator(".diff span").all_inner_texts()]
    assert shown == [f"{line[0]} {line[1:]}".strip() for line in remedy.diff]
    assert card.locator(".removed").count() == sum(line.startswith("-") for line in remedy.diff)


def test_the_graph_has_a_repair_behind_what_it_repaired(tab: Tab) -> None:
    tab.go("graph")
    repairs = "ul > li:has(.mended)"
    assert tab.page.locator(f"h2:text('What came after it') ~ {repairs}").count() > 0
    assert tab.page.locator(f"h2:text('What came before it') ~ {repairs}").count() == 0


def test_a_session_shows_every_step_with_what_came_of_it(tab: Tab, failed: Episode) -> None:
    tab.go(f"sessions/{failed.session}")
    assert tab.page.locator(".step").count() == len(failed.decisions) + len(failed.events)
    error = next(one for one in failed.events if one.type == "error")
    step = tab.page.locator(f"[data-step={error.id}]")
    assert "not repaired" in step.inner_text()
    step.locator("summary").click()
    assert error.evidence is not None
    step.get_by_text(f"line {error.evidence.line}").first.wait_for()  # what opens takes a moment where much runs
    assert error.evidence.quote.split("\n")[0] in step.inner_text()
    assert f"line {error.evidence.line}" in step.inner_text()
    assert str(tab.page.locator("article > svg.strip").get_attribute("aria-label")).endswith("a failure was left.")


def test_two_sessions_are_compared_the_largest_difference_first(tab: Tab, shop: Memory, failed: Episode) -> None:
    other = next(one for one in shop.episodes.list(outcome="success") if one.task_kind == failed.task_kind)
    tab.go(f"sessions/{failed.session}?with={other.session}")
    rows = tab.page.locator(".compare tbody").last.locator("tr")
    counts = [
        [int(cell.split()[0].replace("never", "0")) for cell in row.locator("td").all_inner_texts()]
        for row in rows.all()
    ]
    differences = [abs(here - there) for here, there in counts]
    assert len(differences) > 3
    assert differences == sorted(differences, reverse=True)
    assert min(differences) > 0


def test_a_session_is_compared_with_the_most_alike_one_that_came_out_otherwise(
    tab: Tab, shop: Memory, failed: Episode
) -> None:
    def chosen(session: str) -> str:
        tab.go(f"sessions/{session}?with=")
        others = shop.episodes.count() - shop.episodes.count(outcome=shop.episodes.require(session).outcome)
        assert f"Of the {others} sessions on this page that came out otherwise it has most in common" in tab.text(
            ".compare"
        )
        return str(tab.page.locator(".compare select").input_value())

    other = chosen(failed.session)
    assert shop.episodes.require(other).outcome == "success"
    assert shop.episodes.require(chosen(other)).outcome == "failure"


def test_a_failed_session_says_first_what_failed_and_leads_to_that_step(
    tab: Tab, shop: Memory, failed: Episode
) -> None:
    tab.go(f"sessions/{failed.session}")
    errors = [one for one in failed.events if one.type == "error"]
    assert not failed.fixes
    assert tab.text("h2 >> nth=0") == f"{len(errors)} failures, none repaired"
    issue = next(one for one in shop.issues.list(by="issue", limit=200).issues if one.id == errors[0].fingerprint)
    assert f"issue {issue.title}, {issue.sessions} session" in tab.text("ul.failures >> li >> nth=0")
    tab.follow("ul.failures a")
    tab.page.wait_for_selector(".step details[open]")
    assert str(errors[0].message)[:30] in tab.text(".step details[open]")


def test_a_place_leads_to_its_issues_and_to_the_failing_steps(tab: Tab) -> None:
    tab.go("places?check=pytest")
    first = "ol.cards > li >> nth=0"
    titles = tab.page.locator(f"{first} >> a[href^='#issues/']").all_inner_texts()
    assert titles
    assert all(one.startswith("pytest: ") for one in titles)
    tab.follow(f"{first} >> a[href^='#sessions/']")
    tab.page.wait_for_selector(".step details[open]")
    assert "pytest fails" in tab.text(".step:has(details[open])")


def test_sessions_are_filtered_by_outcome(tab: Tab, shop: Memory) -> None:
    tab.go("sessions")
    tab.page.select_option("select[name=outcome]", "failure")
    assert tab.page.locator("a.session").count() == shop.episodes.count(outcome="failure") > 0


def test_the_tree_of_places_has_the_rates_of_the_command(tab: Tab, shop: Memory) -> None:
    tab.go("places?check=pytest")
    check = next(one for one in shop.causality.checks(everything=True).checks if one.check == "pytest")
    rates = {
        one.value.rpartition("/")[2]: f"{one.failed} of {one.runs}"
        for one in check.situations
        if one.dimension == "file"
    }
    shown = {
        row.locator("th").inner_text(): row.locator("td").nth(1).inner_text()
        for row in tab.page.locator("table.tree tbody tr").all()
    }
    assert rates.items() <= shown.items()
    assert rates


def test_the_graph_shows_one_thing_and_nothing_unconnected(tab: Tab) -> None:
    tab.go("graph")
    tab.page.fill("input[name=node]", "edit shop/api.py")
    tab.follow(".found a")
    assert tab.text("h2.focus").endswith("edit shop/api.py")
    boxes = {one.get_attribute("aria-label"): one.get_attribute("class") for one in tab.page.locator("a.node").all()}
    lines = " ".join(tab.page.locator("path.edge title").all_text_contents())
    assert len(boxes) > 3
    assert [label for label in boxes if str(label).rpartition(", ")[0] not in lines] == []
    assert all("failed" in str(kind) for label, kind in boxes.items() if " fails: " in str(label))
    columns = {round(float(str(one.get_attribute("x")))) for one in tab.page.locator("a.node rect").all()}
    assert 2 < len(columns) <= 5
    tab.follow(".picker a:has-text('1 step')")
    assert len({str(one.get_attribute("x")) for one in tab.page.locator("a.node rect").all()}) <= 3


def test_a_path_is_laid_out_from_end_to_end(browser: Browser, shop: Memory, tmp_path: Path) -> None:
    answer = shop.graph.path(source="ruff fails: E501", target="success")
    shop.view(output=tmp_path / "path.html", source="ruff fails: E501", target="success")
    with open_tab(browser, tmp_path / "path.html") as tab:
        shown = [one.inner_text().partition(" ")[2] for one in tab.page.locator("ol.path .node").all()]
        assert shown == [node.label for node in answer.path]
        links = tab.page.locator("ol.path .between").all_inner_texts()
        assert len(links) == answer.depth
        assert all(re.match(r"\u2193 (came before|repaired|goes with) in \d+ of \d+ sessions?", one) for one in links)


def test_keys_lead_through_the_page(tab: Tab) -> None:
    tab.keys("4")
    tab.page.wait_for_selector("a.session")
    tab.keys("/")
    tab.page.keyboard.type("gift")
    assert 0 < tab.page.locator("a.session").count() < 10
    tab.keys("Escape")
    tab.page.locator("a.session").first.focus()
    tab.keys("Enter")
    tab.page.wait_for_selector(".step")
    tab.keys("Escape")
    tab.page.wait_for_selector("a.session")


def test_a_page_opens_where_it_was_asked_to(browser: Browser, shop: Memory, failed: Episode, tmp_path: Path) -> None:
    shop.view(output=tmp_path / "session.html", episode=failed.session)
    with open_tab(browser, tmp_path / "session.html") as tab:
        assert failed.task[:40] in tab.text("h1")
    shop.view(output=tmp_path / "focus.html", focus="ruff fails: F401")
    with open_tab(browser, tmp_path / "focus.html") as tab:
        assert "ruff fails: F401" in tab.text("h2.focus")
