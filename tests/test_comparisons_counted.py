"""Is a comparison what a person would count: like with like, and nothing held constant that came afterwards?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from helix_episodes.model import Agent
from small_worlds import group, memory_of, session
from thoroughness import few_rows

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from helix_episodes.model import Episode
    from helix_graph.graph.patterns import Effect, EffectReport

ERROR = "pytest fails: KeyError"


def report(folder: Path, *groups: Iterator[Episode]) -> EffectReport:
    return memory_of(folder, [one for each in groups for one in each]).causality.comparisons()


def only(found: EffectReport, action: str, kind: str = "action") -> Effect:
    (one,) = [each for each in found.effects if each.action == action and each.kind == kind]
    return one


def test_a_difference_is_the_difference_of_the_rates(tmp_path: Path) -> None:
    found = report(
        tmp_path, group("with", "run skip", of=100, succeed=30), group("without", "run look", of=120, succeed=72)
    )
    one = only(found, "run skip")
    assert (one.uses, one.successes, one.others, one.successes_of_others) == (100, 30, 120, 72)
    assert one.difference == pytest.approx(0.30 - 0.60)
    assert one.interval.low < -0.30 < one.interval.high < 0
    assert one.verdict == "associated"
    assert one.q < 0.001
    assert one.family == found.tested == 2
    assert one.e_value == pytest.approx(2 + 2**0.5)


def test_hard_tasks_do_not_make_what_is_done_on_them_look_bad(tmp_path: Path) -> None:
    """Over everything 48 of 180 against 152 of 220; on hard tasks 20 % either way, on easy ones 80 %."""
    hard, easy = {"task_kind": "fix"}, {"task_kind": "docs"}
    found = report(
        tmp_path,
        group("hard-with", "run panic", of=160, succeed=32, **hard),
        group("hard-without", of=40, succeed=8, **hard),
        group("easy-with", "run panic", of=20, succeed=16, **easy),
        group("easy-without", of=180, succeed=144, **easy),
    )
    one = only(found, "run panic")
    assert (one.successes, one.uses, one.successes_of_others, one.others) == (48, 180, 152, 220)
    assert one.difference == pytest.approx(0)
    assert one.verdict == "could be chance"
    assert one.strata == 4  # two kinds of task on two days


def test_the_same_task_tried_again_is_compared_with_itself(tmp_path: Path) -> None:
    tries = [
        each
        for task in range(60)
        for each in (
            *group(f"{task:02}-with", "run panic", of=2, succeed=0 if task < 45 else 2, task_id=f"t{task}"),
            *group(f"{task:02}-without", of=2, succeed=0 if task < 45 else 2, task_id=f"t{task}"),
        )
    ]
    one = only(memory_of(tmp_path, tries).causality.comparisons(), "run panic")
    assert (one.difference, one.strata) == (0, 60)


def met_error(*, before: bool) -> list[Iterator[Episode]]:
    """The numbers of the hard and easy tasks, with an error in the place of hardness."""
    both = (ERROR, "run panic") if before else ("run panic", ERROR)
    return [
        group("error-with", *both, of=160, succeed=32),
        group("error-without", ERROR, of=40, succeed=8),
        group("plain-with", "run panic", of=20, succeed=16),
        group("plain-without", of=180, succeed=144),
    ]


def test_an_error_met_before_is_held_constant(tmp_path: Path) -> None:
    one = only(report(tmp_path, *met_error(before=True)), "run panic")
    assert one.held == (ERROR,)
    assert one.difference == pytest.approx(0)


def test_an_error_met_afterwards_is_not(tmp_path: Path) -> None:
    one = only(report(tmp_path, *met_error(before=False)), "run panic")
    assert one.held == ()
    assert one.difference == pytest.approx(48 / 180 - 152 / 220)


def test_an_answer_is_compared_with_the_other_answers_to_the_error(tmp_path: Path) -> None:
    links = ("1 answer 2",)
    found = report(
        tmp_path,
        group("a-pass", ERROR, "edit a.py", "pytest passes", of=60, succeed=0, links=links),
        group("a-fail", ERROR, "edit a.py", ERROR, of=40, succeed=40, links=links),
        group("b-pass", ERROR, "run pip", "pytest passes", of=10, succeed=0, links=links),
        group("b-fail", ERROR, "run pip", ERROR, of=90, succeed=90, links=links),
        (session(f"unseen-{n}", ERROR, "run pip", links=links) for n in range(7)),
    )
    one = next(
        each
        for each in found.effects
        if each.kind == "answer" and each.action == "run pip" and each.basis == "gone at the next run"
    )
    assert (one.successes, one.uses, one.successes_of_others, one.others) == (10, 100, 60, 100)
    assert one.difference == pytest.approx(-0.5)
    assert one.unmeasured == 7


def test_what_nobody_vouches_for_is_in_no_comparison(tmp_path: Path) -> None:
    declared = (session(f"d{n}", "run skip", success=True, outcome_basis="declared") for n in range(50))
    found = report(tmp_path, group("w", "run skip", of=100, succeed=30), group("n", of=120, succeed=72), declared)
    one = only(found, "run skip")
    assert (one.uses, one.successes, one.unmeasured, found.trials) == (100, 30, 50, 220)


@pytest.mark.parametrize(("last", "uses"), [("pytest passes", 0), (ERROR, 0), ("Read fails: not found", 100)])
def test_a_change_counts_as_unchecked_when_no_check_ran_after_it(tmp_path: Path, last: str, uses: int) -> None:
    """A tool that refuses is no check."""
    found = report(
        tmp_path,
        group("a", "edit a.py", last, of=100, succeed=30),
        group("b", "edit a.py", "pytest passes", of=100, succeed=60),
        group("c", "run look", "edit a.py", of=20, succeed=10),
    )
    one = only(found, "no check after the last change", kind="unchecked")
    assert one.uses == 20 + uses


def test_doing_it_three_times_is_compared_with_doing_it_less_often(tmp_path: Path) -> None:
    found = report(
        tmp_path,
        group("thrice", *["run probe"] * 3, of=80, succeed=20),
        group("twice", *["run probe"] * 2, of=80, succeed=60),
        group("never", "run look", of=80, succeed=40),
    )
    one = only(found, "run probe, 3 times or more", kind="repetition")
    assert (one.uses, one.others) == (80, 80)
    assert one.difference == pytest.approx(-0.5)


def test_one_thing_after_another_is_compared_with_the_first_alone(tmp_path: Path) -> None:
    found = report(
        tmp_path,
        group("next", "run a", "run b", of=50, succeed=10),
        group("soon", "run a", "run x", "run b", of=50, succeed=10),
        group("late", "run a", "run x", "run x", "run b", of=50, succeed=40),
        group("no", "run a", of=50, succeed=40),
        group("else", "run b", of=400, succeed=400),
        group("neither", "run y", of=200, succeed=60),
    )
    (one,) = [each for each in found.effects if (each.trigger, each.action) == ("run a", "then run b")]
    assert (one.uses, one.successes, one.others, one.successes_of_others) == (100, 20, 100, 80)


def test_a_sequence_repeats_the_row_of_an_action_that_stands_out_by_itself(tmp_path: Path) -> None:
    """Who fails rolls back, after whatever was done last: that is one finding, and none about what was done last."""
    found = report(
        tmp_path,
        group("edit", "run a", "run rollback", of=60, succeed=6),
        group("look", "run x", "run rollback", of=60, succeed=6),
        group("fine", "run a", of=60, succeed=54),
        group("fine-look", "run x", of=60, succeed=54),
    )
    assert only(found, "run rollback").verdict == "associated"
    assert {one.kind for one in found.effects} == {"action"}
    assert found.repeated == 2


@pytest.mark.parametrize(("place", "compared"), [(1, True), (5, False)])
def test_what_is_done_at_the_end_may_be_done_because_of_how_it_went(
    tmp_path: Path, place: int, *, compared: bool
) -> None:
    steps = ["run a", "run b", "run c", "run d"]
    without = group("without", *steps, of=80, succeed=64)
    steps.insert(place - 1, "run rollback")
    found = report(tmp_path, group("with", *steps, of=80, succeed=16), without)
    assert [one.action for one in found.associated() if one.kind == "action"] == ["run rollback"] * compared
    assert [(one.action, one.successes, one.uses) for one in found.last if one.kind == "action"] == [
        ("run rollback", 16, 80)
    ] * (not compared)


@pytest.mark.parametrize(("length", "late"), few_rows([(8, 6), (12, 10)], 1))
def test_the_last_fifth_of_a_session_is_rounded(tmp_path: Path, length: int, late: int) -> None:
    """Of eight steps the last two are late, of twelve too; so a rollback before a report does not escape."""
    steps = [f"run {letter}" for letter in "abcdefghijklmnopqrstuvwxyz"[: length - 1]]
    for place, compared in ((late, False), (late - 1, True)):
        did = [*steps[:place], "run rollback", *steps[place:]]
        without = group("without", *steps, of=80, succeed=64)
        found = report(tmp_path / str(place), group("with", *did, of=80, succeed=16), without)
        assert ("run rollback" in {one.action for one in found.effects}) is compared


def test_a_reaction_to_failing_makes_no_room_for_flukes(tmp_path: Path) -> None:
    """What only failing sessions have at their end does not change what is said of any other row."""
    steps = ["run a", "run b", "run c", "run d"]
    plain = [
        group("with", "run skip", *steps, of=60, succeed=40),
        group("without", *steps, of=60, succeed=52),
    ]
    before = report(tmp_path / "before", *plain)
    sessions = [
        one
        for each in (
            group("with", "run skip", *steps, of=40, succeed=40),
            group("with-failed", "run skip", *steps, "run rollback", of=20, succeed=0),
            group("without", *steps, of=52, succeed=52),
            group("without-failed", *steps, "run rollback", of=8, succeed=0),
        )
        for one in each
    ]
    after = memory_of(tmp_path / "after", sessions).causality.comparisons()
    assert only(after, "run skip").family == only(before, "run skip").family == 1


def over_time(*, of: int, on: str) -> list[Iterator[Episode]]:
    """As time passes, more succeed and fewer do it; on each day it makes no difference."""
    days = {"2026-01-01": (0.8, 0.2), "2026-02-01": (0.5, 0.5), "2026-03-01": (0.2, 0.8)}
    return [
        group(f"{day}{did}", *steps, of=round(of * share), succeed=round(of * share * success), **{on: value})
        for day, (doing, success) in days.items()
        for did, steps, share in (("with", ("run old",), doing), ("without", (), 1 - doing))
        for value in [f"{day}T10:00:00Z" if on == "timestamp" else Agent(name="agent", model=f"model {day}")]
    ]


@pytest.mark.parametrize("on", ["timestamp", "agent"])
def test_what_goes_out_of_use_while_more_succeeds_is_not_harmful_nor_what_a_weak_model_does(
    tmp_path: Path, on: str
) -> None:
    one = only(report(tmp_path, *over_time(of=100, on=on)), "run old")
    assert one.successes / one.uses < 0.4 < 0.6 < one.successes_of_others / one.others  # noqa: PLR0133  (a gap)
    assert one.difference == pytest.approx(0, abs=0.01)
    assert one.verdict == "could be chance"


def test_copies_of_a_session_count_once(tmp_path: Path) -> None:
    """Ten sessions stand ten times, under other ids; what two tries at one moment share is only the task."""
    once = [
        session(
            f"{name}{number}", *steps, success=number < succeed, timestamp=f"2026-03-01T10:00:{number:02}.{name_part}Z"
        )
        for name, name_part, steps, succeed in (("a", "1", ("run skip",), 2), ("b", "2", (), 13))
        for number in range(15)
    ]
    copies = [replace(one, id=f"{one.id}-{copy}", session=f"{one.session}-{copy}") for one in once for copy in range(9)]
    memory = memory_of(tmp_path, [*once, *copies])
    found = memory.causality.comparisons()
    assert (found.trials, found.copies) == (30, 270)
    one = only(found, "run skip")
    assert (one.uses, one.successes, one.others, one.successes_of_others) == (15, 2, 15, 13)
    assert memory.causality.survey().copies == 270


def test_tries_of_one_task_at_one_second_are_no_copies(tmp_path: Path) -> None:
    tries = [
        session(f"{number}", *steps, success=True, task="mend the cart")
        for number, steps in enumerate([("run a",), ("run b",), ("run a", "run b")])
    ]
    assert memory_of(tmp_path, tries).causality.survey().episodes == 3


@pytest.mark.parametrize(("newer", "verdict"), [(30, "associated"), (80, "provisional")])
def test_what_no_longer_holds_in_the_newer_half_is_provisional(tmp_path: Path, newer: int, verdict: str) -> None:
    early, late = {"timestamp": "2026-01-01T10:00:00Z"}, {"timestamp": "2026-03-01T10:00:00Z"}
    found = report(
        tmp_path,
        group("early-with", "run skip", of=100, succeed=10, **early),
        group("early-without", of=100, succeed=75, **early),
        group("late-with", "run skip", of=100, succeed=newer, **late),
        group("late-without", of=100, succeed=75, **late),
    )
    one = only(found, "run skip")
    assert one.q < 0.02
    assert one.newer == pytest.approx(newer / 100 - 0.75)
    assert one.verdict == verdict


def test_asking_a_check_is_compared_only_where_the_check_did_not_decide(tmp_path: Path) -> None:
    measured = {"outcome_basis": "measured"}
    found = report(
        tmp_path,
        group("asked", "run x", "run pytest", of=100, succeed=95, **measured),
        group("not", "run x", "run y", of=100, succeed=20, **measured),
        group("asked-too", "run x", "run pytest", of=40, succeed=20),
        group("not-too", "run x", of=40, succeed=20),
    )
    one = only(found, "run pytest")
    assert (one.uses, one.successes, one.others, one.successes_of_others) == (40, 20, 40, 20)


def test_a_perfect_split_is_not_taken_for_certain(tmp_path: Path) -> None:
    found = report(tmp_path, group("w", "run skip", of=20, succeed=0), group("n", "run ok", of=190, succeed=190))
    one = only(found, "run skip")
    assert one.difference == -1
    assert -1 <= one.interval.low < one.interval.high < 0
    assert one.interval.high > -1
    assert one.e_value is None


def test_measured_outcomes_say_nothing_about_unchecked_changes(tmp_path: Path) -> None:
    """A measured success is a check that passed after the last change: compared with itself it always stands out."""
    left = group("a", "pytest passes", "edit a.py", of=110, succeed=10, outcome_basis="measured")
    checked = group("b", "edit a.py", "pytest passes", of=110, succeed=100, outcome_basis="measured")
    report = memory_of(tmp_path, [*left, *checked]).causality.comparisons()
    assert "unchecked" not in {one.kind for one in report.effects}
