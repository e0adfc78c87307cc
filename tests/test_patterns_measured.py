"""When does an action count as having worked?

Episodes are drawn as text, one step a line, in the order of the log::

    ruff fails F401                 an error event, e001
    edit src/shop.py for e001       a decision that answers it, d001 (also: run PROGRAM)
    ruff passes over d001           a passing check, the next one over that edit, e002

Decisions are d001, d002 … and events e001, e002 … in the order drawn.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from counted_patterns import mine_patterns
from helix_episodes.model import Action, Decision, Episode, Event, Evidence, Fix, Link, OutcomeEvidence
from helix_graph.graph.observations import Observation, observe

if TYPE_CHECKING:
    import random

    from helix_graph.graph.observations import Basis

PASSES_LATER: Basis = "check passes later"
NEXT_PASSES: Basis = "next check passes"
GONE_NEXT: Basis = "gone at the next run"


def draw(text: str, **fields: Any) -> Episode:  # noqa: ANN401  (fields of an episode)
    """The episode of a drawing."""
    decisions: list[Decision] = []
    events: list[Event] = []
    links: list[Link] = []
    for line, step in enumerate(text.strip().splitlines(), start=1):
        match step.split():
            case ["edit" | "run" as verb, target, *rest]:
                decisions.append(_decision(verb, target, number=len(decisions) + 1, line=line))
                links += [Link(source=error, target=decisions[-1].id, reason="answer") for error in rest[1:]]
            case [check, "fails", family, *rest]:
                events.append(_event(check, family, number=len(events) + 1, line=line))
                links += [Link(source=edit, target=events[-1].id, reason="edit-test") for edit in rest[1:]]
            case [check, "passes", *rest]:
                events.append(_event(check, None, number=len(events) + 1, line=line))
                links += [Link(source=edit, target=events[-1].id, reason="edit-test") for edit in rest[1:]]
            case other:
                pytest.fail(f"cannot draw {other}")
    drawn = {"decisions": tuple(decisions), "events": tuple(events), "links": tuple(links)}
    usual = {"id": "episode-one", "session": "one", "timestamp": None, "outcome": "unknown", "task_kind": "fix"}
    return Episode(**{"task": "Mend the cart", **usual, **drawn, **fields})


def _decision(verb: str, target: str, *, number: int, line: int) -> Decision:
    edit = Action(verb="edit", path=target, role="test" if "test" in target else "source")
    return Decision(
        id=f"d{number:03}",
        timestamp=None,
        type="implementation",
        chosen=f"{verb} {target}",
        action=edit if verb == "edit" else Action(verb="run", program=target, command=target),
        evidence=Evidence(line=line),
    )


def _event(check: str, family: str | None, *, number: int, line: int) -> Event:
    return Event(
        id=f"e{number:03}",
        timestamp=None,
        type="error" if family else "test",
        status="error" if family else "ok",
        content=f"{check}: {family or 'passed'}",
        check=check,
        family=family,
        evidence=Evidence(line=line),
    )


def rows(episode: Episode, trigger: str) -> list[tuple[str, str, bool | None]]:
    """What is observed of a trigger; of the two measures of an answered error, whether its check passes later."""
    kept = [row for row in observe(episode) if row.trigger == trigger]
    return [(row.action, row.basis, row.success) for row in kept if row.level == "task" or row.basis == PASSES_LATER]


def results(episode: Episode, basis: Basis = PASSES_LATER) -> list[bool | None]:
    """By one measure, how the answered errors came out, each at family and at check level."""
    return [row.success for row in observe(episode) if row.basis == basis and row.level != "task"]


# --- answers to errors


def test_an_answered_error_succeeds_when_its_check_passes_later() -> None:
    episode = draw(
        """
        ruff fails F401
        edit src/shop.py for e001
        ruff passes over d001
        """
    )
    expected = [("edit source (.py)", PASSES_LATER, True)]
    assert rows(episode, "ruff fails: F401") == expected
    assert rows(episode, "ruff fails") == expected
    assert rows(episode, "task: fix") == []


def test_a_check_that_runs_again_and_never_passes_is_a_failure() -> None:
    episode = draw(
        """
        ruff fails F401
        edit src/shop.py for e001
        ruff fails F401
        """
    )
    assert rows(episode, "ruff fails: F401") == [("edit source (.py)", PASSES_LATER, False)]


def test_a_pass_after_further_failures_still_counts() -> None:
    episode = draw(
        """
        ruff fails F401
        edit src/shop.py for e001
        ruff fails E501
        edit tests/test_shop.py for e002
        ruff passes over d002
        """
    )
    assert rows(episode, "ruff fails: F401") == [("edit source (.py)", PASSES_LATER, True)]
    assert rows(episode, "ruff fails") == [
        ("edit source (.py)", PASSES_LATER, True),
        ("edit test (.py)", PASSES_LATER, True),
    ]


def next_run(episode: Episode) -> list[bool | None]:
    """What the next run says of the check, and of the family."""
    return results(episode, NEXT_PASSES) + results(episode, GONE_NEXT)


def test_whether_the_very_next_run_passes_is_told_apart_from_a_later_pass() -> None:
    episode = draw(
        """
        ruff fails F401
        edit src/shop.py for e001
        ruff fails E501
        ruff passes
        """
    )
    assert results(episode, PASSES_LATER) == [True, True]
    assert (results(episode, NEXT_PASSES), results(episode, GONE_NEXT)) == ([False], [True])
    assert next_run(draw("ruff fails F401\nedit a.py for e001\nruff passes\nruff fails F401")) == [
        True,
        True,
    ]
    assert next_run(draw("ruff fails F401\nedit a.py for e001")) == [None, None]


def test_a_pass_of_another_check_proves_nothing() -> None:
    episode = draw(
        """
        ruff fails F401
        edit src/shop.py for e001
        pytest passes over d001
        """
    )
    assert rows(episode, "ruff fails: F401") == [("edit source (.py)", PASSES_LATER, None)]


def test_a_pass_before_the_answer_is_not_its_doing() -> None:
    episode = draw(
        """
        ruff fails F401
        ruff passes
        run pip for e001
        ruff fails F401
        """
    )
    assert rows(episode, "ruff fails: F401") == [("run pip", PASSES_LATER, False)]


def test_a_check_that_never_ran_again_is_unmeasured() -> None:
    episode = draw(
        """
        ruff passes
        ruff fails F401
        edit src/shop.py for e002
        """
    )
    assert rows(episode, "ruff fails: F401") == [("edit source (.py)", PASSES_LATER, None)]


def test_other_errors_of_the_same_run_are_no_second_run() -> None:
    episode = draw(
        """
        ruff fails F401
        ruff fails E501
        edit src/shop.py for e001 e002
        """
    )
    one_run = tuple(msgspec.structs.replace(event, evidence=Evidence(line=2)) for event in episode.events)
    episode = msgspec.structs.replace(episode, events=one_run)
    assert [(row.trigger, row.success) for row in observe(episode) if row.basis == PASSES_LATER] == [
        ("ruff fails: F401", None),
        ("ruff fails", None),
        ("ruff fails: E501", None),
    ]


@pytest.mark.parametrize(
    ("check", "outcome", "basis", "success"),
    [
        ("ruff", "failure", "measured", False),
        ("pytest", "failure", "measured", None),
        ("ruff", "failure", "judged", None),
        ("ruff", "partial", "measured", None),
    ],
)
def test_a_failed_outcome_counts_against_the_check_that_decided_it(
    check: str, outcome: str, basis: str, *, success: bool | None
) -> None:
    episode = draw(
        f"""
        ruff fails F401
        {check} fails F401
        edit src/shop.py for e001 e002
        """,
        outcome=outcome,
        outcome_basis=basis,
        outcome_evidence=OutcomeEvidence(rule="error left unrepaired", source="e002"),
    )
    one_run = tuple(msgspec.structs.replace(event, evidence=Evidence(line=2)) for event in episode.events)
    episode = msgspec.structs.replace(episode, events=one_run)
    assert rows(episode, "ruff fails: F401") == [("edit source (.py)", PASSES_LATER, success)]


def test_an_error_of_a_tool_is_mended_by_the_call_that_goes_well() -> None:
    """A tool leaves no event when it works, so the fix is the only thing to see."""
    text = "Edit fails not-unique\nedit src/shop.py for e001\n"
    at_once = draw(text, fixes=(Fix(error="e001", changes=("d001",), check="Edit", verified_by="d001"),))
    assert (results(at_once), next_run(at_once)) == ([True, True], [True, True])
    second = Fix(error="e001", changes=("d001", "d002"), check="Edit", verified_by="d002")
    in_the_end = draw(f"{text}Edit fails not-found\nedit src/shop.py\nEdit fails not-read", fixes=(second,))
    assert (results(in_the_end), next_run(in_the_end)) == ([True, True], [False, False])
    never = draw(f"{text}Edit fails not-unique")
    assert (results(never), next_run(never)) == ([False, False], [False, False])
    meanwhile = draw(
        f"{text}Edit fails not-read", fixes=(Fix(error="e001", changes=("d001",), check="Edit", verified_by="d001"),)
    )
    assert next_run(meanwhile) == [True, True]


def test_a_fix_that_nothing_verified_measures_nothing() -> None:
    hoped = Fix(error="e001", changes=("d001",), check="ruff")
    episode = draw("ruff fails F401\nedit src/shop.py for e001", fixes=(hoped,))
    assert results(episode) == [None, None]


def test_a_fix_of_another_error_is_not_this_ones() -> None:
    other = Fix(error="e009", changes=("d001",), check="ruff", verified_by="e010")
    episode = draw("ruff fails F401\nedit src/shop.py for e001", fixes=(other,))
    assert results(episode) == [None, None]


def test_only_links_of_the_right_reason_are_read() -> None:
    episode = draw("ruff fails F401\nedit src/shop.py\npytest fails KeyError")
    spawned = Link(source="e001", target="d001", reason="stated")
    called = Link(source="d001", target="e002", reason="call")
    episode = msgspec.structs.replace(episode, links=(spawned, called))
    assert [(row.trigger, row.success) for row in observe(episode)] == [("task: fix", None)]


def test_a_call_that_was_refused_is_no_run_of_the_check() -> None:
    episode = draw("ruff fails F401\nedit a.py for e001\nruff passes")
    error, passed = episode.events
    refused = msgspec.structs.replace(passed, type="tool_call", status="rejected")
    assert results(msgspec.structs.replace(episode, events=(error, refused))) == [None, None]


def test_what_was_no_error_cannot_be_answered() -> None:
    assert [row.trigger for row in observe(draw("ruff passes\nrun docker for e001"))] == ["task: fix"]


def test_which_rows_there_are_does_not_depend_on_how_it_came_out() -> None:
    """A fix names more changes than the answer, but only where the check passed: they must make no rows."""
    steps = "ruff fails F401\nedit src/shop.py for e001\nedit tests/test_shop.py\nrun pip\n"
    fix = Fix(error="e001", changes=("d001", "d002", "d003"), check="ruff", verified_by="e002")
    passed = draw(f"{steps}ruff passes over d001 d002 d003", fixes=(fix,), outcome="success", outcome_basis="measured")
    failed = draw(f"{steps}ruff fails F401", outcome="failure", outcome_basis="measured")
    assert without_results(passed) == without_results(failed)
    assert {row.success for row in observe(passed) if row.basis == PASSES_LATER} == {True}
    assert {row.success for row in observe(failed) if row.basis == PASSES_LATER} == {False}
    assert next_run(passed) == [True, True]
    assert next_run(failed) == [False, False]
    assert rows(passed, "task: fix")[0] == rows(failed, "task: fix")[0] == ("edit test (.py)", NEXT_PASSES, None)


def without_results(episode: Episode) -> list[Observation]:
    return [msgspec.structs.replace(row, success=None) for row in observe(episode)]


# --- edits with no error open, and everything else


def test_an_edit_is_measured_by_the_next_check_over_it() -> None:
    assert rows(draw("edit a.py\npytest passes over d001"), "task: fix") == [("edit source (.py)", NEXT_PASSES, True)]
    assert rows(draw("edit a.py\npytest fails KeyError over d001"), "task: fix") == [
        ("edit source (.py)", NEXT_PASSES, False)
    ]
    assert rows(draw("edit a.py\npytest passes"), "task: fix") == [("edit source (.py)", NEXT_PASSES, None)]


def test_only_the_first_check_over_an_edit_counts_for_it() -> None:
    episode = draw(
        """
        edit src/shop.py
        ruff passes over d001
        edit tests/test_shop.py
        pytest fails KeyError over d001 d002
        """
    )
    assert rows(episode, "task: fix") == [
        ("edit source (.py)", NEXT_PASSES, True),
        ("edit test (.py)", NEXT_PASSES, False),
    ]


def test_checks_that_ran_in_one_command_must_all_pass() -> None:
    episode = draw(
        """
        edit src/shop.py
        ruff passes over d001
        pytest fails KeyError over d001
        """
    )
    together = tuple(msgspec.structs.replace(event, evidence=Evidence(line=9)) for event in episode.events)
    episode = msgspec.structs.replace(episode, events=together)
    assert rows(episode, "task: fix") == [("edit source (.py)", NEXT_PASSES, False)]


def test_a_check_that_was_failing_before_the_edit_does_not_measure_it() -> None:
    episode = draw(
        """
        ruff fails F401
        edit src/shop.py
        ruff passes over d001
        """
    )
    assert rows(episode, "task: fix") == [("edit source (.py)", NEXT_PASSES, None)]


def test_a_check_that_had_been_mended_measures_again() -> None:
    episode = draw(
        """
        ruff fails F401
        edit tests/test_shop.py for e001
        ruff passes over d001
        edit src/shop.py
        ruff passes over d002
        """
    )
    assert rows(episode, "task: fix") == [("edit source (.py)", NEXT_PASSES, True)]


@pytest.mark.parametrize(
    ("outcome", "basis", "success"),
    [
        ("success", "measured", True),
        ("success", "judged", True),
        ("success", "rewarded", True),
        ("failure", "measured", False),
        ("partial", "judged", False),
        ("success", "declared", None),
        ("unknown", "none", None),
        ("unknown", "measured", None),
    ],
)
def test_other_actions_are_measured_by_outcomes_that_somebody_vouches_for(
    outcome: str, basis: str, *, success: bool | None
) -> None:
    episode = draw("run docker", outcome=outcome, outcome_basis=basis)
    assert rows(episode, "task: fix") == [("run docker", "outcome", success)]


# --- one episode, one observation


def test_the_first_occurrence_speaks_for_the_episode() -> None:
    episode = draw(
        """
        edit a.py
        pytest passes over d001
        edit b.py
        pytest fails KeyError over d002
        """
    )
    assert rows(episode, "task: fix") == [("edit source (.py)", NEXT_PASSES, True)]


def test_an_observation_says_where_it_comes_from() -> None:
    episode = draw("ruff fails F401\nedit a.py for e001\nruff passes", timestamp="2026-03-01T10:00:00Z")
    assert observe(episode)[0] == Observation(
        trigger="ruff fails: F401",
        level="family",
        action="edit source (.py)",
        basis=PASSES_LATER,
        success=True,
        episode="episode-one",
        decision="d001",
        timestamp="2026-03-01T10:00:00Z",
    )


def test_an_action_named_like_its_trigger_is_left_out() -> None:
    words = Decision(id="d001", timestamp=None, type="design", chosen="ruff fails")
    episode = draw("ruff fails F401\nrun pip for e001\nruff passes")
    found = observe(msgspec.structs.replace(episode, decisions=(words,)))
    assert {row.trigger for row in found} == {"ruff fails: F401"}


def test_without_lines_and_times_the_order_of_the_events_is_left() -> None:
    """As in files of the original schema."""
    episode = draw("ruff fails F401\nedit a.py for e001\nruff passes")
    bare = msgspec.structs.replace(
        episode,
        decisions=tuple(msgspec.structs.replace(decision, evidence=None) for decision in episode.decisions),
        events=tuple(msgspec.structs.replace(event, evidence=None) for event in episode.events),
    )
    assert results(bare) == [True, True]
    at_once = msgspec.structs.replace(
        bare, events=tuple(msgspec.structs.replace(event, timestamp="2026-03-01T10:00:00Z") for event in bare.events)
    )
    assert results(at_once) == [True, True]
    backwards = msgspec.structs.replace(bare, events=bare.events[::-1])
    assert results(backwards) == [None, None]


def test_a_helpers_log_is_ordered_by_time() -> None:
    """Its lines count from 1 again, so they say nothing about the main log."""
    episode = draw("ruff fails F401\nedit a.py for e001\nruff passes")
    error, passed = episode.events
    in_helper = msgspec.structs.replace(
        passed, evidence=Evidence(line=1, file="helper.jsonl"), timestamp="2026-03-01T11:00:00Z"
    )
    early = msgspec.structs.replace(error, timestamp="2026-03-01T10:00:00.5Z")
    late = msgspec.structs.replace(error, timestamp="2026-03-01T13:30:00+02:00")
    assert results(msgspec.structs.replace(episode, events=(early, in_helper))) == [True, True]
    assert results(msgspec.structs.replace(episode, events=(late, in_helper))) == [None, None]


# --- for every drawing

STEPS = ["ruff fails F401", "ruff fails E501", "ruff passes", "pytest fails KeyError", "pytest passes"]
STEPS += ["edit src/shop.py", "edit tests/test_shop.py for e001", "run pip for e002", "run docker", "run pip for e001"]
DRAWINGS = st.lists(st.lists(st.sampled_from(STEPS), min_size=1, max_size=9), min_size=1, max_size=6)


def episodes_of(drawings: list[list[str]]) -> list[Episode]:
    return [
        draw("\n".join(steps), id=f"episode-{n}", outcome=("success", "failure")[n % 2], outcome_basis="measured")
        for n, steps in enumerate(drawings)
    ]


@pytest.mark.hypothesis
def test_an_episode_has_one_observation_per_trigger_action_and_basis() -> None:
    most: list[int] = []

    @given(DRAWINGS)
    def every(drawings: list[list[str]]) -> None:
        for episode in episodes_of(drawings):
            keys = [(row.trigger, row.action, row.basis) for row in observe(episode)]
            assert len(keys) == len(set(keys))
            most.append(len(keys))

    every()
    assert max(most) > 1


@given(DRAWINGS, st.randoms(use_true_random=False))
def test_neither_the_order_nor_repeats_of_episodes_matter(drawings: list[list[str]], rng: random.Random) -> None:
    episodes = episodes_of(drawings)
    shuffled = episodes + rng.sample(episodes, k=len(episodes) // 2)
    rng.shuffle(shuffled)
    assert mine_patterns(shuffled) == mine_patterns(episodes)


@pytest.mark.hypothesis
def test_the_counts_of_every_row_add_up() -> None:
    met: list[str] = []

    @given(DRAWINGS)
    def every(drawings: list[list[str]]) -> None:
        episodes = episodes_of(drawings)
        for row in mine_patterns(episodes):
            assert row.successes is not None
            assert row.interval is not None
            assert 0 <= row.successes <= row.occurrences
            assert row.interval.low <= row.success_rate <= row.interval.high
            assert row.occurrences + row.unmeasured + row.base_n <= len(episodes)
            assert row.trigger != row.action
            assert len(set(row.episodes)) == row.occurrences
            met.append(row.id)

    every()
    assert met
