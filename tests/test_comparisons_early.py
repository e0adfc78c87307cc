"""Is it said when nothing can be told, and why?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from helix_cli.app import run
from small_worlds import group, memory_of, session

if TYPE_CHECKING:
    from pathlib import Path

    from helix_graph import Memory


def small(folder: Path) -> Memory:
    return memory_of(folder, [*group("a", "run skip", of=100, succeed=10), *group("b", of=99, succeed=90)])


def of_one_outcome(folder: Path) -> Memory:
    return memory_of(folder, [*group("a", "run skip", of=150, succeed=141), *group("b", of=150, succeed=150)])


def unjudged(folder: Path) -> Memory:
    judged = group("a", "run skip", of=100, succeed=50)
    return memory_of(folder, [*judged, *(session(f"u{n}", "run skip") for n in range(300))])


def few_and_alike(folder: Path) -> Memory:
    return memory_of(folder, group("a", "run skip", of=50, succeed=48))


REASONS = {
    few_and_alike: (
        "50 of 50 sessions have a judged outcome; differences need 200; "
        "and only 2 failures among the judged; 10 of either outcome are needed"
    ),
    small: "199 of 199 sessions have a judged outcome; differences need 200",
    of_one_outcome: "only 9 failures among the judged; 10 of either outcome are needed",
    unjudged: "100 of 400 sessions have a judged outcome; differences need 200",
}


@pytest.mark.parametrize("world", REASONS, ids=lambda world: world.__name__)
def test_too_early_is_an_answer_with_a_reason(tmp_path: Path, world: object) -> None:
    memory = world(tmp_path)  # type: ignore[operator]  # one of the worlds above
    report, noise, survey = memory.causality.comparisons(), memory.causality.placebo(), memory.causality.survey()
    assert report.too_early == noise.too_early == survey.too_early == REASONS[world]  # type: ignore[index]  # as above
    assert report.effects == ()
    assert {row.standing for row in survey.patterns} == {"too early"}


@pytest.mark.parametrize("command", ["comparisons", "placebo", "patterns", "anti-patterns"])
def test_every_command_says_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], command: str
) -> None:
    of_one_outcome(tmp_path)
    monkeypatch.chdir(tmp_path)
    assert run([command]) == 0
    told = capsys.readouterr().out
    assert "oo early" in told
    assert REASONS[of_one_outcome] in told


def test_nothing_done_and_left_undone_often_enough_is_a_reason_too(tmp_path: Path) -> None:
    report = memory_of(tmp_path, group("a", "run skip", of=300, succeed=100)).causality.comparisons()
    assert (report.too_early, report.effects) == ("", ())


@pytest.mark.parametrize("command", ["comparisons", "placebo", "patterns"])
def test_that_nothing_was_left_undone_is_not_called_too_early(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], command: str
) -> None:
    memory_of(tmp_path, group("a", "run skip", of=300, succeed=100))
    monkeypatch.chdir(tmp_path)
    assert run([command]) == 0
    told = capsys.readouterr().out
    assert "othing to compare: nothing was both done and left undone" in told
    assert "too early" not in told.casefold()


def test_one_session_more_is_enough(tmp_path: Path) -> None:
    memory = small(tmp_path)
    assert memory.causality.comparisons().too_early
    memory_of(tmp_path, group("c", of=1, succeed=1))
    assert not memory.causality.comparisons().too_early
