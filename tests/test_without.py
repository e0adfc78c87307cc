"""Is what follows without a step counted in sessions on the same mix of tasks?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from helix_cli.app import run
from helix_episodes.errors import InvalidArgument
from helix_graph.errors import NodeNotFound
from small_worlds import group, memory_of, session

if TYPE_CHECKING:
    from pathlib import Path

ERROR = "pytest fails: KeyError"


def test_tasks_are_mixed_as_in_the_sessions_with_it(tmp_path: Path) -> None:
    """With it: 9 fixes and 3 docs. Without it fixes succeed in 1 of 2, docs in 3 of 4: 9/12 · 1/2 + 3/12 · 3/4."""
    memory = memory_of(
        tmp_path,
        [
            *group("a", "run skip", of=9, succeed=3, task_kind="fix"),
            *group("b", "run skip", of=3, succeed=3, task_kind="docs"),
            *group("c", of=2, succeed=1, task_kind="fix"),
            *group("d", of=4, succeed=3, task_kind="docs"),
            *group("e", of=50, succeed=50, task_kind="test"),
            session("unjudged", "run skip"),
        ],
    )
    found = memory.causality.without("run skip")
    assert (found.with_it.successes, found.with_it.sessions) == (6, 12)
    assert (found.without_it.successes, found.without_it.sessions) == (54, 56)
    assert found.comparable == pytest.approx(9 / 12 / 2 + 3 / 12 * 3 / 4)
    assert found.compared == 6
    assert found.effect is None


def test_no_kind_of_task_with_both_is_said(tmp_path: Path) -> None:
    memory = memory_of(
        tmp_path, [*group("a", "run skip", of=3, succeed=1), *group("b", of=3, succeed=1, task_kind="docs")]
    )
    assert memory.causality.without("run skip").comparable is None


def test_other_answers_to_the_same_error_are_named(tmp_path: Path) -> None:
    memory = memory_of(
        tmp_path,
        [
            session("a", ERROR, "run skip", ERROR, links=("1 answer 2",)),
            session("b", ERROR, "run pip", "pytest passes", links=("1 answer 2",)),
            session("c", ERROR, "run pip", ERROR, links=("1 answer 2",)),
            session("d", "ruff fails: E501", "run ruff", "ruff passes", links=("1 answer 2",)),
        ],
    )
    rows = memory.causality.without("run skip").alternatives
    assert {row.action for row in rows} == {"run pip"}
    (one,) = [row for row in rows if row.basis == "gone at the next run"]
    assert (one.trigger, one.rate.successes, one.rate.sessions) == (ERROR, 1, 2)


def test_case_makes_no_difference_and_an_unknown_step_names_those_alike(tmp_path: Path) -> None:
    memory = memory_of(tmp_path, [session("a", "run skip", success=True)])
    assert memory.causality.without(" RUN Skip ").label == "run skip"
    with pytest.raises(NodeNotFound, match="run skip"):
        memory.causality.without("skip")


@pytest.mark.parametrize("label", ["", "  "])
def test_an_empty_label_is_an_empty_question(tmp_path: Path, label: str) -> None:
    with pytest.raises(InvalidArgument, match="LABEL is empty"):
        memory_of(tmp_path, [session("a", "run skip", success=True)]).causality.without(label)


def test_the_adjusted_difference_stands_beside_the_counts(tmp_path: Path) -> None:
    memory = memory_of(tmp_path, [*group("a", "run skip", of=100, succeed=20), *group("b", of=100, succeed=80)])
    found = memory.causality.without("run skip")
    assert found.effect is not None
    assert found.effect.difference == pytest.approx(-0.6)
    assert found.comparable == pytest.approx(0.8)


def test_too_few_sessions_for_a_comparison_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """With it 3 of 4, without it 105 of 110: what that is worth is said, and by which count it is too early."""
    memory = memory_of(tmp_path, [*group("a", "run skip", of=4, succeed=3), *group("b", of=110, succeed=95)])
    answer = memory.causality.without("run skip")
    assert answer.effect is None
    why = "too early: done in 4 judged sessions and left undone in 110; 10 and 10 are needed"
    assert answer.not_compared == why
    monkeypatch.chdir(tmp_path)
    assert run(["without", "run skip"]) == 0
    assert f"No comparison: {why}. The rates above may differ by chance alone." in capsys.readouterr().out


def test_few_failures_are_too_early_as_well(tmp_path: Path) -> None:
    memory = memory_of(tmp_path, [*group("a", "run skip", of=40, succeed=36), *group("b", of=80, succeed=78)])
    found = memory.causality.without("run skip")
    assert found.not_compared == "too early: needs 10 failures and 10 successes; 6 and 114 so far"


def test_asking_a_check_is_not_held_against_outcomes_that_the_check_decided(tmp_path: Path) -> None:
    measured = {"outcome_basis": "measured"}
    memory = memory_of(
        tmp_path,
        [
            *group("a", "run pytest", of=41, succeed=37, **measured),
            *group("b", "run x", of=50, succeed=49, **measured),
            *group("c", "run pytest", of=5, succeed=4),
        ],
    )
    found = memory.causality.without("run pytest")
    assert (found.with_it.sessions, found.without_it.sessions) == (5, 0)
    assert "too early" in found.not_compared
