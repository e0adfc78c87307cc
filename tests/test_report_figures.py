"""Does the report say what the memory says: every figure as its own door answers it, every statement with evidence?"""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from helix_graph.errors import OutOfRange
from helix_graph.stats.intervals import newcombe_interval, wilson_interval
from learnt_world import remember, repaired
from showings import showings
from small_worlds import group, memory_of, session

if TYPE_CHECKING:
    from pathlib import Path

    from helix_episodes.model import Decision, Event
    from helix_graph import Memory
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


def test_the_success_rate_and_its_difference_to_the_time_before_have_intervals(tmp_path: Path) -> None:
    now = group("now", "run lint", of=20, succeed=18, timestamp=on(20))
    before = group("before", "run lint", of=30, succeed=12, timestamp=on(2))
    long_ago = group("long", "run lint", of=30, succeed=30, timestamp=on(2, month=1))
    memory = memory_of(tmp_path, [*now, *before, *long_ago], compiled=True)
    found = told(memory).outcomes
    assert found is not None
    assert found.period.rate.interval == wilson_interval(18, 20)
    assert (found.change.verdict, found.change.before.successes, found.change.before.n) == ("higher", 12, 30)
    assert found.change.difference == pytest.approx(0.5)
    assert found.change.interval == newcombe_interval((18, 12), (20, 30))
    assert [one.rate.n for one in found.trend] == [30, 0, 20], "from the first span with a session on"


def test_patterns_are_those_of_the_survey_with_evidence_in_the_log(demo_memory: Memory, report: PeriodReport) -> None:
    survey = demo_memory.causality.survey()
    rows = {one.id: one for one in survey.patterns}
    shown = [*report.works.shown, *report.failing.shown]
    assert shown
    assert all(rows[one.pattern.id] == one.pattern for one in shown)
    assert all(one.pattern.success_rate >= 0.7 for one in report.works.shown)
    assert all(one.pattern in survey.worst() for one in report.failing.shown)
    evidence = {one.number: one for one in report.evidence}
    for finding in shown:
        cited = {(evidence[number].episode, evidence[number].step) for number in finding.evidence}
        assert cited <= set(zip(finding.pattern.episodes, finding.pattern.decisions, strict=True))
        assert cited


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


def test_what_goes_with_failure_among_like_sessions_stands_first(tmp_path: Path) -> None:
    fiddling = ("pytest fails: KeyError", "run fiddle", "pytest fails: KeyError")
    sessions = [
        *group("skip", "run skip", of=120, succeed=48),
        *group("calm", "run calm", of=240, succeed=211),
        *group("bad", "run bad", of=12, succeed=1),
        *group("stuck", *fiddling, of=11, succeed=10, links=("1 answer 2",)),
        *group("rare", "run rare", of=3, succeed=0),
    ]
    found = told(memory_of(tmp_path, sessions, compiled=True))
    rows = [(one.pattern.action, one.pattern.standing) for one in found.failing.shown]
    assert rows == [("run bad", "associated"), ("run skip", "associated"), ("run fiddle", "not compared")]
    assert found.failing.of == 4, "the row of three uses is counted, and not shown once sessions can be compared"
    assert found.works.shown[0].pattern.action == "run calm"


def test_what_does_worse_than_what_else_was_done_does_not_work(tmp_path: Path) -> None:
    sessions = [*group("best", "run best", of=40, succeed=40), *group("good", "run good", of=40, succeed=32)]
    found = told(memory_of(tmp_path, sessions, compiled=True))
    assert [one.pattern.action for one in found.works.shown] == ["run best"]
    assert found.failing.shown == (), "nor does what mostly succeeds fail"


def test_rows_of_few_uses_are_only_counted_once_sessions_can_be_compared(tmp_path: Path) -> None:
    sessions = [*group("calm", "run calm", of=240, succeed=211), *group("rare", "run rare", of=3, succeed=0)]
    memory = memory_of(tmp_path, sessions, compiled=True)
    found = told(memory).failing
    assert (found.too_early, found.shown, found.of) == ("", (), 1)
    assert "No row rests on ten sessions or more. 0 of 1 row." in memory.report(format="markdown").data.decode()


def test_errors_that_come_again_are_counted_a_session_and_fixed_when_the_check_passed(tmp_path: Path) -> None:
    unfixed = session("never", "pytest fails: KeyError", "pytest fails: KeyError", success=False)
    once = session("once", "ruff fails: E501", timestamp="2026-11-07T10:00:00Z")
    memory = remember(
        tmp_path,
        repaired("s1", day=1),
        repaired("s2", day=9),
        repaired("s3", day=10),
        repaired("s4", day=10),
        replace(unfixed, timestamp="2026-11-10T12:00:00Z"),
        once,
    )
    found = told(memory)
    (trouble,) = found.troubles
    assert (trouble.label, trouble.sessions, trouble.earlier) == ("pytest fails: KeyError", 4, 1)
    assert (trouble.fixed.successes, trouble.fixed.n) == (3, 4)
    assert (found.fixed.successes, found.fixed.n) == (3, 5), "the error met once is an error all the same"


def test_the_agents_own_tools_are_no_trouble_of_the_project(tmp_path: Path) -> None:
    sessions = [session(name, "Read fails: not read yet", success=True) for name in ("a", "b")]
    found = told(memory_of(tmp_path, sessions, compiled=True))
    assert (found.troubles, found.fixed.n) == ((), 0)


def test_of_much_evidence_the_newest_three_are_cited(tmp_path: Path) -> None:
    days = {number: on(number) for number in range(1, 6)}
    sessions = [session(f"s{number}", "run lint", success=True, timestamp=at) for number, at in days.items()]
    found = told(memory_of(tmp_path, sessions, compiled=True))
    (finding,) = found.works.shown
    cited = {one.number: one.episode for one in found.evidence}
    assert [cited[number] for number in finding.evidence] == ["episode-s5", "episode-s4", "episode-s3"]


def test_the_newest_verified_fixes_come_first_with_what_failed_changed_and_passed(tmp_path: Path) -> None:
    found = told(
        remember(tmp_path, repaired("s0", day=1), repaired("s1", day=5), repaired("s2", day=9, path="shop/till.py"))
    )
    assert [(one.date, one.changes) for one in found.repairs] == [
        ("2026-11-09", ("Edit shop/till.py",)),
        ("2026-11-05", ("Edit shop/cart.py",)),
    ]
    newest = found.repairs[0]
    evidence = {one.number: one for one in found.evidence}
    steps = [evidence[number or 0].step for number in (newest.failed, newest.changed, newest.passed)]
    assert steps == ["e1", "d1", "e2"]
    assert newest.label == "pytest fails: KeyError"


def test_a_fix_that_nobody_verified_is_none(tmp_path: Path) -> None:
    episode = repaired("s1")
    guessed = replace(episode, fixes=tuple(replace(one, verified_by=None) for one in episode.fixes))
    found = told(remember(tmp_path, guessed))
    assert (found.repairs, found.fixed.successes, found.fixed.n) == ((), 0, 1)


def test_repeats_uplift_health_and_graph_are_the_memorys_own(demo_memory: Memory, report: PeriodReport) -> None:
    repeats = demo_memory.causality.repeats().total
    assert (report.met_again.successes, report.met_again.n) == (repeats.met_again, repeats.errors)
    assert (report.fixed_before.successes, report.fixed_before.n) == (repeats.fixed_before, repeats.met_again)
    status, survey = demo_memory.graph.status(), demo_memory.causality.survey()
    health = report.health
    assert (health.nodes, health.edges, health.pending) == (status.nodes, status.edges, status.pending)
    assert (health.sessions, health.outcomes, health.compared) == (12, survey.outcomes, survey.compared)
    assert health.too_early == survey.too_early
    insights = demo_memory.insights.health()
    assert health.insights == {name: value for name, value in insights.items() if name != "recent_feedback"}
    assert "recent_feedback" in insights, "which depends on the hour"


def test_insights_are_those_of_uplift_the_firmest_first(tmp_path: Path) -> None:
    memory = remember(tmp_path, repaired("s1"))
    insights = memory.insights
    good, early = (insights.store(f"When the cart hangs, {what} before all")["name"] for what in ("wait", "run"))
    insights.take_in(showings(early, given=150, given_well=10, held=20, held_well=2))
    insights.take_in(showings(good, given=100, given_well=80, held=100, held_well=50))
    uplift, learnt = insights.uplift(), told(memory).learnt
    assert (learnt.pooled, learnt.measured) == (uplift.pooled, uplift.measured)
    assert {one.uplift for one in learnt.shown} == set(uplift.insights)
    assert [one.uplift.insight for one in learnt.shown] == [good, early]
    assert learnt.shown[0].content == "When the cart hangs, wait before all"
    assert learnt.shown[1].uplift.verdict == "too early"


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
