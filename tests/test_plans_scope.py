"""Has a task changed more than it may? By what git sees since its workspace was made."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from git_world import git
from helix_graph.plans.git_tree import within
from helix_graph.plans.model import NoWorkTree
from plan_world import plans_in
from whole_tables import each_row

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from helix_graph.plans.api import Plans
    from session_script import Script


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A repository with two files in one commit."""
    folder = tmp_path / "project"
    (folder / "shop").mkdir(parents=True)
    (folder / "shop" / "cart.py").write_text("x = 1\n")
    (folder / "notes.md").write_text("notes\n")
    git(folder, "init", "-q")
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "first")
    return folder


def begun(tree: Path, *delta: str) -> Plans:
    plans = plans_in(tree / ".helix")
    plans.workspaces.create({"seq": "1", "objective": "Build the cart", "delta": list(delta), "budget": 3})
    return plans


def test_what_lies_within_the_delta_is_fine(tree: Path) -> None:
    plans = begun(tree, "shop/cart.py", "tests/")
    (tree / "shop" / "cart.py").write_text("x = 2\n")
    (tree / "tests").mkdir()
    (tree / "tests" / "test_cart.py").write_text("def test(): ...\n")
    found = plans.workspaces.check(1)
    assert found.changed == ("shop/cart.py", "tests/test_cart.py")
    assert (found.outside, found.within_delta, found.ok) == ((), True, True)


def test_what_lies_outside_is_named(tree: Path) -> None:
    plans = begun(tree, "shop/cart.py")
    (tree / "notes.md").unlink()
    (tree / "shop" / "till.py").write_text("x = 1\n")
    found = plans.workspaces.check(1)
    assert found.outside == ("notes.md", "shop/till.py")
    assert not found.ok


def test_an_empty_delta_allows_nothing(tree: Path) -> None:
    plans = begun(tree)
    assert plans.workspaces.check(1).ok
    (tree / "shop" / "cart.py").write_text("x = 2\n")
    assert plans.workspaces.check(1).outside == ("shop/cart.py",)


def test_changes_from_before_are_not_the_tasks(tree: Path) -> None:
    (tree / "notes.md").write_text("more notes\n")
    (tree / "new.txt").write_text("new\n")
    plans = begun(tree, "shop")
    assert plans.workspaces.check(1).changed == ()
    (tree / "new.txt").write_text("newer\n")
    git(tree, "checkout", "-q", "notes.md")
    assert plans.workspaces.check(1).outside == ("new.txt", "notes.md")


def test_a_commit_hides_nothing(tree: Path) -> None:
    plans = begun(tree, "shop")
    (tree / "notes.md").write_text("changed\n")
    git(tree, "commit", "-q", "-a", "-m", "hide it")
    assert plans.workspaces.check(1).outside == ("notes.md",)


def test_a_renamed_file_counts_at_both_places(tree: Path) -> None:
    plans = begun(tree, "shop")
    git(tree, "mv", "notes.md", "shop/notes.md")
    assert plans.workspaces.check(1).outside == ("notes.md",)


def test_ignored_files_and_the_memory_itself_do_not_count(tree: Path) -> None:
    (tree / ".gitignore").write_text("*.log\n")
    plans = begun(tree, "shop")
    (tree / "build.log").write_text("x")
    assert (tree / ".helix" / "helix.db").exists()
    assert plans.workspaces.check(1).changed == ()


def test_odd_names_are_taken_as_they_are(tree: Path) -> None:
    plans = begun(tree, "shop/a b\nc.py", "shop/[id].ts")
    for name in ("a b\nc.py", "[id].ts", "i.ts"):
        (tree / "shop" / name).write_text("x")
    assert plans.workspaces.check(1).outside == ("shop/i.ts",)


def test_a_repository_without_a_commit_can_be_compared(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    plans = begun(tmp_path, "a.py")
    (tmp_path / "a.py").write_text("x")
    (tmp_path / "b.py").write_text("x")
    assert plans.workspaces.check(1).outside == ("b.py",)


def test_without_git_it_says_so(tmp_path: Path) -> None:
    plans = begun(tmp_path, "shop")
    with pytest.raises(NoWorkTree, match="no git repository when the workspace was made"):
        plans.workspaces.check(1)


@pytest.mark.parametrize(("calls", "within_budget"), [(None, None), (3, True), (4, False)])
def test_the_budget_is_compared_with_the_calls_that_are_told(
    calls: int | None,
    within_budget: bool | None,  # noqa: FBT001  (an expected value)
    tree: Path,
) -> None:
    found = begun(tree, "shop").workspaces.check(1, tool_calls=calls)
    assert (found.budget, found.used, found.within_budget) == (3, calls, within_budget)
    assert found.ok == (within_budget is not False)


def test_calls_are_counted_in_the_transcript(tree: Path, tmp_path: Path, script: Callable[..., Script]) -> None:
    log = (
        script("b1")
        .prompt("go")
        .run("pytest", "1 passed")
        .edit("shop/cart.py")
        .say("DELIVERED: x")
        .save(tmp_path / "logs")
    )
    assert begun(tree, "shop").workspaces.check(1, transcript=log).used == 2


def test_the_episode_tells_what_changed_within_the_delta(tree: Path) -> None:
    plans = begun(tree, "shop")
    (tree / "shop" / "cart.py").unlink()
    (tree / "shop" / "till.py").write_text("x")
    (tree / "notes.md").write_text("somebody else's")
    ended = plans.workspaces.complete(1, "a till")
    from helix_episodes.store import EpisodeStore

    episode = EpisodeStore(tree / ".helix" / "episodes").require(ended.episode)
    acts = [(one.action.verb, one.action.path) for one in episode.decisions if one.action]
    assert acts == [("delete", "shop/cart.py"), ("create", "shop/till.py")]
    assert episode.metrics.files_changed == 2


@each_row(
    ("part", "path", "inside"),
    [
        ("src/auth.py", "src/auth.py", True),
        ("src/auth.py", "src/auth.pyc", False),
        ("auth.py", "src/auth.py", False),
        ("src", "src/deep/auth.py", True),
        ("src", "src2/auth.py", False),
        ("src/*.py", "src/auth.py", True),
        ("src/*.py", "src/deep/auth.py", False),
        ("**/test_*.py", "a/b/test_x.py", True),
        ("**/test_*.py", "test_x.py", True),
        (".", "anything", True),
        ("../other", "other", False),
    ],
)
def test_a_delta_names_files_folders_and_shapes(part: str, path: str, inside: bool) -> None:  # noqa: FBT001  (an expected value)
    assert within(part, path) is inside
