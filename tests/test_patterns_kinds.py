"""Does a row carry the comparison of its own situation, and is a check's own run no pattern of what works?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from small_worlds import group, memory_of, session

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from helix_episodes.model import Episode
    from session_script import Script

ERROR = "pytest fails: KeyError"


def test_a_row_of_a_kind_of_task_carries_the_estimate_of_that_kind(tmp_path: Path) -> None:
    """On features it hurts by 60 points, on fixes it helps by 40; over both it would be something between."""
    memory = memory_of(
        tmp_path,
        [
            *group("fw", "run skip", of=60, succeed=12, task_kind="feature"),
            *group("fn", of=60, succeed=48, task_kind="feature"),
            *group("xw", "run skip", of=60, succeed=48, task_kind="fix"),
            *group("xn", of=60, succeed=24, task_kind="fix"),
            *group("dw", "run skip", of=4, succeed=0, task_kind="docs"),
        ],
    )
    rows = {row.trigger: row for row in memory.causality.survey().patterns if row.action == "run skip"}
    feature, fix, docs = rows["task: feature"], rows["task: fix"], rows["task: docs"]
    assert feature.effect is not None
    assert fix.effect is not None
    assert feature.effect.difference == pytest.approx(-0.6)
    assert fix.effect.difference == pytest.approx(0.4)
    assert (feature.standing, feature.effect.hurts, fix.standing, fix.effect.hurts) == (
        "associated",
        True,
        "associated",
        False,
    )
    assert (docs.effect, docs.standing) == (None, "too early")
    assert {row.trigger for row in memory.causality.anti_patterns(max_success_rate=1, evidence="associated")} == {
        "task: feature"
    }


@pytest.mark.parametrize(("basis", "rows"), [("measured", set()), ("rewarded", {"task: fix"})])
def test_running_the_check_that_decides_the_outcome_is_no_pattern(tmp_path: Path, basis: str, rows: set[str]) -> None:
    memory = memory_of(tmp_path, group("a", "run x", "run pytest", of=28, succeed=28, outcome_basis=basis))
    found = memory.causality.survey().patterns
    assert {row.trigger for row in found if row.action == "run pytest"} == rows
    assert "run x" in {row.action for row in found}


def test_running_the_check_again_is_no_answer_to_its_error(tmp_path: Path) -> None:
    links = ("1 answer 2",)
    memory = memory_of(
        tmp_path,
        [
            session("again", ERROR, "run pytest", "pytest passes", links=links),
            session("mended", ERROR, "edit a.py", "pytest passes", links=links),
        ],
    )
    assert {row.action for row in memory.causality.survey().patterns if row.trigger == ERROR} == {"edit source (.py)"}


def test_who_asks_for_the_causes_of_an_error_is_not_told_that_the_check_was_run(tmp_path: Path) -> None:
    """What only ran into it is left out; what the log gives another reason for stays."""
    asked = group("a", "edit a.py", "run pytest", ERROR, of=3, succeed=0, links=("1 edit-test 3", "2 call 3"))
    (found,) = memory_of(tmp_path, asked, compiled=True).graph.causes(ERROR).groups
    assert [one.node.label for one in found.relations] == ["edit a.py"]


def test_a_row_names_the_few_files_that_it_counts(
    script: Callable[[str], Script], episode_of: Callable[[Script], Episode], tmp_path: Path
) -> None:
    unchecked = "store/sum.go:3:1: Error return value of `os.Remove` is not checked (errcheck)\n1 issues:"

    def repaired(name: str, *files: str) -> Episode:
        log = script(name).prompt("Do").run("golangci-lint run", unchecked, code=1)
        for file in files:
            log = log.edit(file)
        return episode_of(log.run("golangci-lint run", "0 issues."))

    few, many = ("store/a.go", "api/b.go"), ("api/a.go", "api/b.go", "api/c.go", "api/d.go")
    for folder, files in (("few", few), ("many", many)):
        memory = memory_of(tmp_path / folder, [repaired("s1", *files), repaired("s2", "store/sum.go")])
        rows = {row.action: row.where for row in memory.causality.survey().patterns}
        assert rows["edit other files only"] == (("api/b.go", "store/a.go") if folder == "few" else ("api/",))
