"""In which tree does a builder work? Each work tree and each submodule is compared with what it was itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from git_world import commit, git, repository
from helix_episodes.store import EpisodeStore
from helix_graph.plans.model import NoWorkTree
from plan_world import plans_in

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from helix_graph.plans.api import Plans
    from session_script import Script


@pytest.fixture
def main(tmp_path: Path) -> Path:
    return repository(tmp_path / "main", shop__cart="x = 1", notes="x = 1")


def begun(tree: Path, *delta: str, at: Path | None = None) -> Plans:
    plans = plans_in(tree / ".helix")
    plans.workspaces.create({"seq": "1", "objective": "Build the cart", "delta": list(delta)}, tree=at)
    return plans


def worktree(main: Path, name: str = "builder") -> Path:
    other = main.parent / name
    git(main, "worktree", "add", "-q", "-b", name, str(other))
    return other


def acts(main: Path, episode: str) -> list[str]:
    found = EpisodeStore(main / ".helix" / "episodes").require(episode)
    return [f"{one.action.verb} {one.action.path}" for one in found.decisions if one.action]


def test_what_is_not_committed_in_one_tree_is_nothing_of_anothers(main: Path) -> None:
    (main / "notes.py").write_text("somebody writes here\n")
    (main / "new.py").write_text("and here\n")
    plans = begun(main, "shop")
    other = worktree(main)
    assert plans.workspaces.check(1, tree=other).ok
    (other / "shop" / "cart.py").write_text("x = 2\n")
    assert plans.workspaces.check(1, tree=other / "shop").changed == ("shop/cart.py",)
    assert plans.workspaces.check(1).changed == ()


def test_what_is_committed_or_not_in_the_builders_tree_is_seen_there_only(main: Path) -> None:
    plans = begun(main, "shop")
    other = worktree(main)
    (other / "shop" / "cart.py").unlink()
    commit(other)
    (other / "notes.py").write_text("changed\n")
    found = plans.workspaces.check(1, tree=other)
    assert (found.changed, found.outside) == (("notes.py", "shop/cart.py"), ("notes.py",))
    assert plans.workspaces.check(1).changed == ()


def test_what_is_committed_in_the_main_tree_meanwhile_is_not_the_builders(main: Path) -> None:
    plans = begun(main, "shop")
    other = worktree(main)
    (main / "notes.py").write_text("changed\n")
    commit(main)
    assert plans.workspaces.check(1, tree=other).changed == ()


def test_a_tree_that_was_named_at_the_beginning_is_compared_with_what_it_was_then(main: Path) -> None:
    other = worktree(main)
    (other / "notes.py").write_text("from before\n")
    plans = begun(main, "shop", at=other)
    (main / "notes.py").write_text("somebody writes here\n")
    assert plans.workspaces.check(1).changed == ()
    assert plans.workspaces.check(1, tree=other).changed == ()
    (other / "shop" / "till.py").write_text("x = 1\n")
    assert plans.workspaces.check(1).changed == ("shop/till.py",)


def test_a_tree_of_another_repository_is_refused(main: Path, tmp_path: Path) -> None:
    plans = begun(main, "shop")
    with pytest.raises(NoWorkTree, match=r"no commit in common with .*main"):
        plans.workspaces.check(1, tree=repository(tmp_path / "else", a="y = 1"))


def test_a_work_tree_within_the_tree_is_none_of_its_files(main: Path) -> None:
    plans = begun(main, "shop")
    git(main, "worktree", "add", "-q", "-b", "inside", str(main / "trees" / "inside"))
    (main / "trees" / "inside" / "notes.py").write_text("changed\n")
    assert plans.workspaces.check(1).changed == ()
    assert plans.workspaces.check(1, tree=main / "trees" / "inside").outside == ("notes.py",)


@pytest.fixture
def joined(main: Path, tmp_path: Path) -> Path:
    """The main repository with another as its submodule ``lib``."""
    library = repository(tmp_path / "library", src__auth="x = 1", src__till="x = 1")
    git(main, "submodule", "add", "-q", str(library), "lib")
    commit(main)
    return main


@pytest.mark.slow
def test_the_files_of_a_submodule_are_named_one_by_one(joined: Path) -> None:
    plans = begun(joined, "lib/src/auth.py")
    (joined / "lib" / "src" / "auth.py").write_text("x = 2\n")
    assert plans.workspaces.check(1).ok
    (joined / "lib" / "src" / "till.py").unlink()
    (joined / "lib" / "new.py").write_text("x = 1\n")
    assert plans.workspaces.check(1).outside == ("lib/new.py", "lib/src/till.py")


@pytest.mark.slow
def test_a_submodule_that_had_changes_before_hides_no_later_ones(joined: Path) -> None:
    (joined / "lib" / "src" / "till.py").write_text("from before\n")
    plans = begun(joined, "shop")
    assert plans.workspaces.check(1).changed == ()
    (joined / "lib" / "src" / "auth.py").write_text("x = 2\n")
    assert plans.workspaces.check(1).outside == ("lib/src/auth.py",)
    commit(joined / "lib")
    assert plans.workspaces.check(1).outside == ("lib/src/auth.py",)
    commit(joined)
    assert plans.workspaces.check(1).outside == ("lib/src/auth.py",)


@pytest.mark.slow
def test_a_submodule_is_watched_whatever_git_is_told_to_show_of_it(joined: Path) -> None:
    plans = begun(joined, "shop")
    git(joined, "config", "submodule.lib.ignore", "all")
    (joined / "lib" / "src" / "auth.py").write_text("x = 2\n")
    assert plans.workspaces.check(1).outside == ("lib/src/auth.py",)


@pytest.mark.slow
def test_a_submodule_that_is_not_fetched_is_no_change(joined: Path) -> None:
    plans = begun(joined, "shop")
    other = worktree(joined)
    assert list((other / "lib").iterdir()) == []
    assert plans.workspaces.check(1, tree=other).changed == ()


@pytest.mark.slow
def test_the_episode_tells_what_was_done_to_the_files_of_a_submodule(joined: Path) -> None:
    plans = begun(joined, "lib")
    (joined / "lib" / "src" / "auth.py").write_text("x = 2\n")
    (joined / "lib" / "src" / "till.py").unlink()
    (joined / "lib" / "new.py").write_text("x = 1\n")
    told = acts(joined, plans.workspaces.complete(1, "a till").episode)
    assert told == ["create lib/new.py", "edit lib/src/auth.py", "delete lib/src/till.py"]


@pytest.mark.slow
def test_a_repository_that_nobody_added_hides_nothing(main: Path) -> None:
    repository(main / "found", a="x = 1", b="x = 1")
    plans = begun(main, "found/a.py")
    assert plans.workspaces.check(1).changed == ()
    (main / "found" / "a.py").write_text("x = 2\n")
    (main / "found" / "b.py").write_text("x = 2\n")
    assert plans.workspaces.check(1).outside == ("found/b.py",)


def test_what_git_tells_its_hooks_of_another_repository_misleads_nobody(
    main: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = repository(tmp_path / "else", a="y = 1")
    monkeypatch.setenv("GIT_DIR", str(other / ".git"))
    monkeypatch.setenv("GIT_WORK_TREE", str(other))
    plans = begun(main, "shop")
    (main / "notes.py").write_text("changed\n")
    assert plans.workspaces.check(1).outside == ("notes.py",)


def test_the_episode_tells_what_was_done_in_the_tree_that_is_named(main: Path) -> None:
    plans = begun(main, "shop")
    other = worktree(main)
    (other / "shop" / "cart.py").write_text("x = 2\n")
    commit(other)
    (main / "shop" / "till.py").write_text("somebody writes here\n")
    with pytest.raises(NoWorkTree):
        plans.workspaces.complete(1, "a cart", tree=main.parent)
    assert plans.workspaces.get(1).status == "active"
    assert acts(main, plans.workspaces.complete(1, "a cart", tree=other).episode) == ["edit shop/cart.py"]


@pytest.mark.parametrize("place", ["builder", "nowhere"])
def test_a_builders_log_says_in_which_tree_it_worked(place: str, main: Path, script: Callable[..., Script]) -> None:
    plans = begun(main, "shop")
    other = worktree(main)
    (other / "shop" / "cart.py").write_text("x = 2\n")
    (main / "shop" / "till.py").write_text("x = 1\n")
    log = script("agent-b1", root=str(main.parent / place)).prompt(plans.workspaces.prompt(1)).run("ls", "cart.py")
    learnt = plans.learn(log.say("BLOCKED: no stock").save(main.parent / "logs"), pauses=())
    assert learnt.problems == ()
    (episode,) = (path.stem for path in (main / ".helix" / "episodes").iterdir())
    assert acts(main, episode) == [{"builder": "edit shop/cart.py", "nowhere": "create shop/till.py"}[place]]


def test_of_a_project_that_was_moved_the_tree_has_to_be_named(main: Path) -> None:
    begun(main, "shop")
    moved = main.rename(main.with_name("moved"))
    workspaces = plans_in(moved / ".helix").workspaces
    with pytest.raises(NoWorkTree, match=r"main: .* there no more; `--tree` says where"):
        workspaces.check(1)
    assert workspaces.check(1, tree=moved).outside == ()
