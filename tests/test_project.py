"""Which memory serves the place where I stand?"""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from helix_graph import Memory
from helix_graph.errors import NoMemory
from helix_graph.project import work_trees

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(autouse=True)
def no_override(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HELIX_DIR", raising=False)


def git(*arguments: str, at: Path) -> None:
    identity = ["-c", "user.name=t", "-c", "user.email=t@example.invalid", "-c", "init.defaultBranch=main"]
    subprocess.run(["git", *identity, *arguments], cwd=at, check=True, capture_output=True)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    root = tmp_path / "home" / "shop"
    root.mkdir(parents=True)
    git("init", at=root)
    git("commit", "--allow-empty", "-m", "begin", at=root)
    return root


def test_a_repository_has_its_memory_at_its_root(repository: Path) -> None:
    deep = repository / "src" / "cart"
    deep.mkdir(parents=True)
    assert Memory.init(deep).root == repository / ".helix"
    assert Memory.open(deep).root == repository / ".helix"


def test_work_trees_share_one_memory(repository: Path) -> None:
    tree = repository.parent / "shop-fix"
    git("worktree", "add", str(tree), "-b", "fix", at=repository)
    Memory.init(repository)
    assert Memory.open(tree).root == repository / ".helix"
    assert Memory.init(tree).root == repository / ".helix"


def test_work_trees_that_git_names_by_relative_paths_are_found(repository: Path) -> None:
    """As `worktree.useRelativePaths` of newer git has it."""
    tree = repository.parent / "shop-fix"
    git("worktree", "add", str(tree), "-b", "fix", at=repository)
    (repository / ".git" / "worktrees" / "shop-fix" / "gitdir").write_text("../../../../shop-fix/.git\n")
    (tree / ".git").write_text("gitdir: ../shop/.git/worktrees/shop-fix\n")
    Memory.init(repository)
    assert Memory.open(tree).root == repository / ".helix"
    assert work_trees(repository) == [tree]


@pytest.mark.parametrize("own", [True, False], ids=["its own git folder", "a real one"])
def test_a_git_file_that_the_repository_does_not_know_opens_no_other_projects_memory(
    repository: Path, tmp_path: Path, *, own: bool
) -> None:
    """Git does not check such a file out, but an archive may hold one."""
    Memory.init(repository)
    git("worktree", "add", str(repository.parent / "tree"), "-b", "fix", at=repository)
    unpacked = tmp_path / "unpacked"
    unpacked.mkdir()
    if own:
        (unpacked / "fake").mkdir()
        (unpacked / "fake" / "commondir").write_text(str(repository / ".git"))
        (unpacked / "fake" / "gitdir").write_text(str(unpacked / ".git"))
    target = unpacked / "fake" if own else repository / ".git" / "worktrees" / "tree"
    (unpacked / ".git").write_text(f"gitdir: {target}\n")
    with pytest.raises(NoMemory):
        Memory.open(unpacked)


@pytest.mark.parametrize(
    "pointer",
    [b"gitdir: a\0b", b"\0" * (1 << 20), b"gitdir: " + b"a/" * 5000, b"\xff\xfe", b"gitdir: circle", b""],
    ids=["zero", "many zeros", "long", "no UTF-8", "circle", "empty"],
)
def test_a_forged_git_file_names_no_project_but_its_own(tmp_path: Path, pointer: bytes) -> None:
    (tmp_path / "circle").symlink_to("circle")
    (tmp_path / ".git").write_bytes(pointer)
    assert Memory.init(tmp_path).root == tmp_path / ".helix"
    assert Memory.open(tmp_path).root == tmp_path / ".helix"


@pytest.mark.parametrize("name", ["commondir", "gitdir"])
def test_a_pipe_in_a_git_folder_is_not_waited_for(tmp_path: Path, name: str) -> None:
    """A hook looks for the memory outside of its time limit too."""
    (tmp_path / "x").mkdir()
    (tmp_path / "x" / "commondir").write_text("../.git\n")
    (tmp_path / "x" / name).unlink(missing_ok=True)
    os.mkfifo(tmp_path / "x" / name)
    (tmp_path / ".git").write_text("gitdir: x")
    command = [
        sys.executable,
        "-c",
        "from pathlib import Path; from helix_graph.project import *; print(project_folder(Path.cwd()))",
    ]
    found = subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, timeout=10)
    assert found.stdout.decode().strip() == str(tmp_path)


def test_a_memory_outside_the_repository_is_never_taken_for_it(repository: Path) -> None:
    Memory.init(repository.parent)
    assert (repository.parent / ".helix").is_dir()
    with pytest.raises(NoMemory, match="helix-graph sync"):
        Memory.open(repository)


def test_without_git_the_nearest_ancestor_counts(tmp_path: Path) -> None:
    Memory.init(tmp_path / "plain")
    (tmp_path / "plain" / "deep").mkdir()
    assert Memory.open(tmp_path / "plain" / "deep").root == tmp_path / "plain" / ".helix"
    with pytest.raises(NoMemory):
        Memory.open(tmp_path)


def test_the_environment_overrides_everything(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HELIX_DIR", str(tmp_path / "elsewhere"))
    assert Memory.init(repository).root == tmp_path / "elsewhere"
    assert Memory.open(repository).root == tmp_path / "elsewhere"


def test_git_sees_nothing_of_a_private_memory_and_only_the_truth_of_a_shared_one(repository: Path) -> None:
    memory = Memory.init(repository)
    for name in (
        "episodes/episode-a.json",
        "episodes/.episode-b.json.tmp",
        "causality/graph.db",
        "causality/assertions/x.json",
    ):
        (memory.root / name).parent.mkdir(parents=True, exist_ok=True)
        (memory.root / name).write_text("{}")
    assert untracked(repository) == []
    Memory.init(repository, share=True)
    assert untracked(repository) == [
        ".helix/.gitignore",
        ".helix/causality/assertions/x.json",
        ".helix/episodes/episode-a.json",
    ]


def untracked(repository: Path) -> list[str]:
    command = ["git", "status", "--porcelain", "--untracked-files=all"]
    listing = subprocess.run(command, cwd=repository, check=True, capture_output=True, text=True).stdout
    return sorted(line[3:] for line in listing.splitlines())
