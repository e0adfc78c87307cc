"""Is it said when nothing can be told, and why?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from helix_cli.app import run
from small_worlds import group, memory_of, session

if TYPE_CHECKING:
    from pathlib import Path

    from helix_graph import Memory


def of_one_outcome(folder: Path) -> Memory:
    return memory_of(folder, [*group("a", "run skip", of=150, succeed=141), *group("b", of=150, succeed=150)])


def unjudged(folder: Path) -> Memory:
    judged = group("a", "run skip", of=12, succeed=6)
    return memory_of(folder, [*judged, *(session(f"u{n}", "run skip") for n in range(300))])


def few_and_alike(folder: Path) -> Memory:
    return memory_of(folder, group("a", "run skip", of=50, succeed=48))


REASONS = {
    few_and_alike: "needs 10 failures and 10 successes; 2 and 48 so far",
    of_one_outcome: "needs 10 failures and 10 successes; 9 and 291 so far",
    unjudged: "needs 10 failures and 10 successes; 6 and 6 so far (300 of 312 compared sessions have no known outcome)",
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


def test_few_sessions_are_compared_and_how_much_they_could_show_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    memory = memory_of(tmp_path, [*group("a", "run skip", of=30, succeed=12), *group("b", of=30, succeed=15)])
    report = memory.causality.comparisons()
    assert [(one.action, one.verdict) for one in report.effects] == [("run skip", "could be chance")]
    assert report.power is not None
    assert 0.2 < report.power < 0.5
    monkeypatch.chdir(tmp_path)
    assert run(["comparisons"]) == 0
    told = capsys.readouterr().out
    assert f"With these sessions about {100 * report.power:.0f} of 100 true differences of 20 points would be" in told
    assert "needs" not in told


@pytest.mark.parametrize(("times", "verdict"), [(1, "provisional"), (4, "associated")])
def test_what_few_sessions_show_is_called_associated_only_if_it_is_hardly_a_fluke(
    tmp_path: Path, times: int, verdict: str
) -> None:
    """Of 60 sessions q is 0.003 for 11 of 30 against 22 of 30, and they would show one true difference in four."""
    each = [
        *group("a", "run skip", of=30 * times, succeed=11 * times),
        *group("b", of=30 * times, succeed=22 * times),
    ]
    (row,) = memory_of(tmp_path, each).causality.comparisons().effects
    assert row.q < 0.015
    assert row.verdict == verdict


def test_what_comes_last_is_counted_and_why_it_is_not_compared_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    steps = ["run a", "run b", "run c", "run d"]
    memory_of(tmp_path, [*group("a", *steps, "run rollback", of=30, succeed=3), *group("b", *steps, of=30, succeed=27)])
    monkeypatch.chdir(tmp_path)
    assert run(["comparisons"]) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert "Not compared, since mostly done at the end, perhaps because of how it went: run rollback (3 of 30" in told
    assert run(["without", "run rollback"]) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert "No comparison: it is mostly done in the last fifth of its sessions" in told
    assert run(["anti-patterns", "--max-success-rate", "1", "--all"]) == 0
    row = next(line for line in capsys.readouterr().out.splitlines() if "run rollback" in line)
    assert "comes last" in row


def test_what_these_sessions_could_show_grows_with_them(tmp_path: Path) -> None:
    shares = []
    for times in (1, 3, 9):
        each = [
            *group("a", "run skip", of=30 * times, succeed=15 * times),
            *group("b", of=30 * times, succeed=15 * times),
        ]
        shares.append(memory_of(tmp_path / str(times), each).causality.comparisons().power)
    few, more, many = shares
    assert few is not None
    assert few < 0.4
    assert more is not None
    assert 0.5 < more < 0.95
    assert many is not None
    assert many > 0.95
