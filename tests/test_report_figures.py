"""Does the report say what the memory says: every figure as its own door answers it, every statement with evidence?"""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from helix_graph import Memory
from helix_graph.errors import OutOfRange
from learnt_world import remember, repaired
from session_script import BEGIN, Script
from small_worlds import memory_of, session

if TYPE_CHECKING:
    from pathlib import Path

    from helix_episodes.model import Decision, Event
    from helix_graph.web.report_model import PeriodReport


def told(memory: Memory, *, days: int = 7, until: date | None = None) -> PeriodReport:
    return memory.report(format="json", days=days, until=until).report


@pytest.fixture(scope="module")
def report(demo_memory: Memory) -> PeriodReport:
    return told(demo_memory)


def on(day: int, *, month: int = 3) -> str:
    return f"2026-{month:02}-{day:02}T10:00:00Z"


def test_each_day_has_its_sessions_by_how_they_came_out(tmp_path: Path) -> None:
    memory = memory_of(
        tmp_path,
        [
            session("a", "run lint", success=True, timestamp=on(4)),
            session("b", "run lint", success=False, timestamp=on(4)),
            session("c", "run lint", success=False, outcome="partial", timestamp=on(4)),
            session("d", "run lint", success=True, outcome_basis="declared", timestamp=on(9)),
            session("e", "run lint", timestamp="2026-03-10T23:30:00-02:00"),  # the eleventh, in UTC
            session("before", "run lint", success=True, timestamp=on(3)),
        ],
        compiled=True,
    )
    found = told(memory, until=date(2026, 3, 11))
    assert found.outcomes is not None
    bars = {one.start: one for one in found.outcomes.bars}
    fourth, ninth = bars["2026-03-04"], bars["2026-03-09"]
    assert (fourth.succeeded, fourth.partly, fourth.failed, fourth.claimed, fourth.unknown) == (1, 1, 1, 0, 0)
    assert (ninth.claimed, ninth.sessions, ninth.rate.n) == (1, 1, 0)
    assert [one.sessions for one in found.outcomes.bars] == [3, 0, 0, 0, 0, 1, 0]
    assert (found.since, found.last, found.sessions) == ("2026-03-04", "2026-03-10", 4)
    later = told(memory)
    assert (later.since, later.last, later.sessions) == ("2026-03-05", "2026-03-11", 2)
    assert any("1 session of this period has no known outcome" in note for note in later.notes)
    assert any("Of 1 session only the agent says" in note for note in later.notes)


def test_evidence_is_what_the_episode_quotes(demo_memory: Memory, report: PeriodReport) -> None:
    assert [one.number for one in report.evidence] == list(range(1, len(report.evidence) + 1))
    for one in report.evidence:
        episode = demo_memory.episodes.get(one.episode)
        assert episode is not None
        steps: tuple[Decision | Event, ...] = (*episode.decisions, *episode.events)
        (step,) = [each for each in steps if each.id == one.step]
        assert step.evidence
        assert (one.line, one.quote) == (step.evidence.line, step.evidence.quote)
        assert episode.provenance
        assert one.log == episode.provenance.log


def test_the_agents_own_tools_are_no_trouble_of_the_project(tmp_path: Path) -> None:
    sessions = [session(name, "Read fails: not read yet", success=True) for name in ("a", "b")]
    found = told(memory_of(tmp_path, sessions, compiled=True))
    assert (found.sessions, found.fixed.n) == (2, 0)


def test_the_newest_verified_fixes_come_first_with_what_failed_changed_and_passed(tmp_path: Path) -> None:
    sessions = (repaired("s0"), repaired("s1", day=5), repaired("s2", day=9, path="shop/till.py"))
    found = told(remember(tmp_path, *sessions))
    assert [(one.date, one.changes) for one in found.repairs] == [
        ("2026-11-09", ("Edit shop/till.py",)),
        ("2026-11-05", ("Edit shop/cart.py",)),
    ], "those of earlier weeks are left out"
    newest = found.repairs[0]
    evidence = {one.number: one for one in found.evidence}
    steps = [evidence[number or 0].step for number in (newest.failed, newest.changed, newest.passed)]
    assert steps == ["e1", "d1", "e2"]
    assert newest.label == "pytest fails: KeyError"


@pytest.mark.slow
def test_new_issues_and_those_that_came_back_are_those_of_the_days(shop: Memory) -> None:
    found = told(shop)
    listed = {one.id: one for one in shop.issues.list(by="issue", limit=200).issues}
    listed |= {one.id: one for one in shop.issues.list(by="group", limit=200).issues}
    assert found.new
    for one in (*found.new, *found.regressed):
        known = listed[one.id]
        assert (one.sessions, one.repaired, one.minutes) == (known.sessions, known.repaired, known.minutes)
        assert found.since <= str(known.last_seen)[:10] <= found.last
        assert 0 < one.here <= one.sessions
        assert one.evidence
    assert all(str(listed[one.id].first_seen)[:10] >= found.since for one in found.new)
    assert all(listed[one.id].state == "regressed" for one in found.regressed)
    whole = told(shop, days=366)
    assert whole.regressed == (), "what began in the days is new in them"
    assert whole.new_in_all > found.new_in_all


@pytest.mark.slow
def test_what_came_back_as_one_of_a_kind_is_not_new_as_well(tmp_path: Path) -> None:
    logs = []
    for day in range(31):
        log = Script(f"s{day}", begin=BEGIN + timedelta(days=day)).prompt("Add totals").edit("api/cart.go")
        if said := {0: "the total is wrong", 1: "no tax was added", 30: "an order is empty"}.get(day):
            failing = f"--- FAIL: TestOf{day} (0.01s)\n    cart_test.go:12: {said}\nFAIL\tshop/api\t0.1s"
            log = log.run("go test ./...", failing, code=1).edit("api/cart.go")
        logs.append(log.run("go test ./...", "ok  \tshop/api\t0.1s").save(tmp_path / "logs"))
    memory = Memory.init(tmp_path)
    memory.extract(logs)
    memory.graph.compile()
    found = told(memory)
    assert [(one.title, one.sessions, one.here) for one in found.regressed] == [("go test: test failed", 3, 1)]
    assert found.new == ()


def test_a_fix_that_nobody_verified_is_none(tmp_path: Path) -> None:
    episode = repaired("s1")
    guessed = replace(episode, fixes=tuple(replace(one, verified_by=None) for one in episode.fixes))
    found = told(remember(tmp_path, guessed))
    assert (found.repairs, found.fixed.successes, found.fixed.n) == ((), 0, 1)


def test_until_does_not_hold_the_moment_it_names(tmp_path: Path) -> None:
    memory = memory_of(tmp_path, [session("a", "run lint", timestamp="2026-03-08T00:00:00Z")], compiled=True)
    assert told(memory, until=datetime(2026, 3, 8, tzinfo=UTC)).sessions == 0
    assert told(memory, until=datetime(2026, 3, 8, 0, 0, 1, tzinfo=UTC)).sessions == 1


@pytest.mark.parametrize(("days", "bars"), [(1, 1), (31, 31), (32, 5), (366, 53)])
def test_a_long_period_has_a_bar_a_week(tmp_path: Path, days: int, bars: int) -> None:
    memory = memory_of(tmp_path, [session("a", "run lint", success=True)], compiled=True)
    found = told(memory, days=days).outcomes
    assert found is not None
    assert len(found.bars) == bars
    assert sum(one.sessions for one in found.bars) == 1
    assert found.bars[0].start == found.period.start


@pytest.mark.parametrize("until", [date.min, date.max])
def test_the_ends_of_the_calendar_are_days_too(tmp_path: Path, until: date) -> None:
    memory = memory_of(tmp_path, [session("a", "run lint", success=True)], compiled=True)
    assert told(memory, until=until, days=366).sessions == 0


@pytest.mark.parametrize("days", [0, 367])
def test_days_lie_within_a_year(demo_memory: Memory, days: int) -> None:
    with pytest.raises(OutOfRange, match="days"):
        demo_memory.report(format="json", days=days)
