"""Is a session laid beside the most alike one that succeeded, and are the places shown where the two part?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from small_worlds import memory_of, session

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from helix_episodes.model import Episode
    from session_script import Script

FAILED = ("run look", "edit a.py", "pytest fails: KeyError", "run hope")


def test_another_try_of_the_same_task_comes_before_what_is_more_alike(tmp_path: Path) -> None:
    memory = memory_of(
        tmp_path,
        [
            session("one", *FAILED, success=False, task_id="t1"),
            session("same-task", "run other", success=True, task_id="t1"),
            session("alike", *FAILED, success=True, task_id="t2"),
        ],
    )
    found = memory.causality.contrast("one")
    assert (found.other, found.why) == ("episode-same-task", "another try of the same task")


def test_else_the_most_alike_of_its_kind(tmp_path: Path) -> None:
    memory = memory_of(
        tmp_path,
        [
            session("one", *FAILED, success=False),
            session("alike", *FAILED[:3], "edit b.py", success=True),
            session("less-alike", "run look", success=True),
            session("other-kind", *FAILED, success=True, task_kind="docs"),
            session("failed-too", *FAILED, success=False),
        ],
    )
    found = memory.causality.contrast("one")
    assert (found.other, found.likeness) == ("episode-alike", 3 / 4)
    assert found.why == "the most similar of 2 on fix tasks"
    assert (found.only_here, found.only_there) == (("run hope",), ())


def test_the_first_parting_says_what_each_did(tmp_path: Path) -> None:
    memory = memory_of(
        tmp_path,
        [
            session("one", "run look", "run guess", "run push", success=False),
            session("two", "run look", "run read", "run try", "run push", success=True),
        ],
    )
    (parting,) = memory.causality.contrast("one").partings
    assert parting.after == "run look"
    assert (parting.here, parting.there) == (("run guess",), ("run read", "run try"))
    assert (parting.here_ids, parting.there_ids) == (("d002",), ("d002", "d003"))


def test_two_that_did_the_same_part_nowhere(tmp_path: Path) -> None:
    memory = memory_of(tmp_path, [session("one", *FAILED, success=False), session("two", *FAILED, success=True)])
    found = memory.causality.contrast("one")
    assert (found.partings, found.likeness) == ((), 1)


def test_without_a_success_there_is_nothing_to_lay_beside(tmp_path: Path) -> None:
    memory = memory_of(tmp_path, [session("one", *FAILED, success=False), session("two", *FAILED)])
    found = memory.causality.contrast("one")
    assert (found.other, found.why) == (None, "no session on fix tasks is known to have succeeded")


def test_what_each_did_names_the_files(
    tmp_path: Path, script: Callable[..., Script], episode_of: Callable[[Script], Episode]
) -> None:
    failed = script("one").prompt("Fix it").edit("shop/cart.py").run("pytest", "1 failed in 0.1s", code=1)
    other = (
        script("two").prompt("Fix it").edit("shop/till.py").edit("tests/test_tax.py").run("pytest", "1 passed in 0.1s")
    )
    memory = memory_of(tmp_path / "memory", [episode_of(failed), episode_of(other)])
    first, *_ = memory.causality.contrast("one").partings
    assert first.after == "edit shop/cart.py (the other: edit shop/till.py)"
    assert first.there == ("edit tests/test_tax.py",)
