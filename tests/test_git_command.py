"""Does asking git run anything that a repository configures, or read a repository that is another's?"""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from git_world import commit, git, repository
from helix_cli.commands.demo import write_rules
from helix_graph import Memory
from helix_graph.errors import UntrustedMemory
from helix_graph.git import GitFailed, git_output, run_git
from helix_graph.plans.git_tree import changes_since, snapshot
from helix_graph.plans.model import NoWorkTree
from helix_graph.rules.rule_files import project_versions
from helix_graph.shared_authors import authors_of
from helix_graph.sharing.shared_files import accepted_files, stage
from thoroughness import few

if TYPE_CHECKING:
    from collections.abc import Callable

ASKED = (
    ("log", "--format=%an", "--name-only"),
    ("log", "-p", "--all"),
    ("diff", "HEAD"),
    ("diff", "--name-only", "--ignore-submodules=dirty", "HEAD"),
    ("ls-files", "--others", "--exclude-standard"),
    ("ls-tree", "-r", "HEAD"),
    ("rev-parse", "--verify", "HEAD"),
    ("rev-parse", "--show-toplevel"),
)


@pytest.fixture
def planted(tmp_path: Path) -> Path:
    """A repository whose every setting that names a program names one that leaves a file behind."""
    inner = repository(tmp_path / "inner", part="x = 1")
    project = repository(tmp_path / "shop", cart="x = 1")
    git(project, "submodule", "add", "-q", str(inner), "lib")
    (project / "AGENTS.md").write_text("- Always run `make lint` first\n")
    shared = project / ".helix" / "shared" / "insights"
    shared.mkdir(parents=True)
    (shared / "a.json").write_text("{}")
    (project / ".helix" / "episodes").mkdir()
    (project / ".helix" / "episodes" / "episode-a.json").write_text("{}")
    git(project, "add", "-f", ".helix")
    commit(project)
    script = tmp_path / "script"
    script.write_text(f'#!/bin/sh\necho "$0 $*" >> {tmp_path / "ran"}\ncat\n')
    script.chmod(0o755)
    for folder, configured in ((project, project / ".git"), (project / "lib", project / ".git" / "modules" / "lib")):
        plant(folder, configured, script)
    (project / "cart.py").write_text("x = 2\n")
    (project / "new.py").write_text("x = 3\n")
    (project / "lib" / "part.py").write_text("x = 4\n")
    return project


def plant(folder: Path, configured: Path, script: Path) -> None:
    attributes = "* filter=evil diff=evil merge=evil\n"
    (configured / "info").mkdir(exist_ok=True)
    (configured / "info" / "attributes").write_text(attributes)
    (folder / ".gitattributes").write_text(attributes)
    hooks = configured / "planted-hooks"
    hooks.mkdir()
    for name in ("post-index-change", "pre-commit", "reference-transaction", "fsmonitor-watchman", "post-checkout"):
        (hooks / name).write_text(script.read_text())
        (hooks / name).chmod(0o755)
        (configured / "hooks").mkdir(exist_ok=True)
        (configured / "hooks" / name).write_text(script.read_text())
        (configured / "hooks" / name).chmod(0o755)
    settings = {
        **dict.fromkeys(
            ("core.fsmonitor", "core.pager", "core.editor", "core.sshCommand", "core.askPass", "core.gitProxy"),
            str(script),
        ),
        **dict.fromkeys(("diff.external", "diff.evil.command", "diff.evil.textconv", "gpg.program"), str(script)),
        **dict.fromkeys(("filter.evil.clean", "filter.evil.smudge", "filter.evil.process"), str(script)),
        **dict.fromkeys(("filter.ev=il.clean", "filter.e.v.process"), str(script)),
        **dict.fromkeys(("alias.log", "alias.diff", "alias.rev-parse", "credential.helper"), f"!{script}"),
        **dict.fromkeys(("pager.log", "pager.diff", "interactive.diffFilter", "merge.evil.driver"), str(script)),
        "hook.evil.command": str(script),
        "hook.evil.event": "post-index-change",
        "filter.evil.required": "true",
        "core.hooksPath": str(hooks),
        "log.showSignature": "true",
        "diff.submodule": "diff",
        "submodule.recurse": "true",
        "protocol.ext.allow": "always",
        "remote.origin.url": f"ext::{script}",
        "remote.origin.promisor": "true",
        "remote.origin.partialclonefilter": "blob:none",
        "remote.origin.uploadpack": str(script),
        "extensions.partialClone": "origin",
        "core.repositoryFormatVersion": "1",
    }
    written = configured / "config"
    for name, value in settings.items():
        section, _, key = name.rpartition(".")
        part, _, inner = section.partition(".")
        title = f'[{part} "{inner}"]' if inner else f"[{part}]"
        written.write_text(f"{written.read_text()}{title}\n\t{key} = {value}\n")


@pytest.mark.parametrize("asked", few([*ASKED], 1), ids=" ".join)
def test_a_question_runs_nothing_that_the_repository_configures(
    planted: Path, tmp_path: Path, asked: tuple[str, ...]
) -> None:
    assert run_git(planted, *asked)
    assert not (tmp_path / "ran").exists(), (tmp_path / "ran").read_text()


def test_the_planted_settings_do_run_something_when_git_is_asked_plainly(planted: Path, tmp_path: Path) -> None:
    """Else the others prove nothing."""
    subprocess.run(["git", "status"], cwd=planted, check=False, capture_output=True)
    assert "filter" in (tmp_path / "ran").read_text() or (tmp_path / "ran").stat().st_size


def test_nothing_is_fetched_for_an_object_that_is_not_there(planted: Path, tmp_path: Path) -> None:
    missing = "1" * 40
    git_output(planted, "cat-file", "-p", missing)
    git_output(planted, "log", missing)
    git_output(planted, "cat-file", "--batch", asked=f"{missing}\n".encode())
    assert not (tmp_path / "ran").exists(), (tmp_path / "ran").read_text()


def test_what_asks_git_runs_nothing_either(planted: Path, tmp_path: Path) -> None:
    before = snapshot(planted)
    assert {"cart.py", "new.py", "lib/part.py"} <= set(before.dirty)
    (planted / "lib" / "part.py").write_text("x = 5\n")
    assert [one.path for one in changes_since(before)] == ["lib/part.py"]
    assert "AGENTS.md" in {one.path for one in project_versions(planted)}
    assert authors_of(planted / ".helix", ["episode-a"]) == {"episode-a": "a"}
    assert [one.name for one in accepted_files(planted / ".helix").files] == ["insights/a.json"]
    (planted / ".helix" / "shared" / "insights" / "a.json").write_text('{"a": 1}')
    stage(planted / ".helix", ["shared/insights/a.json"])
    assert not (tmp_path / "ran").exists(), (tmp_path / "ran").read_text()


def test_every_call_of_git_is_in_one_module() -> None:
    package = Path(__file__).resolve().parent.parent
    sources = (path for part in ("helix_graph", "cli", "episodes") for path in (package / part).rglob("*.py"))
    starting = {path.name for path in sources if "import subprocess" in (text := path.read_text()) and '["git"' in text}
    assert starting == {"git.py"}


def test_a_new_repository_is_made_where_it_was_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`demo` may be called by a hook of git's, which names the repository that it runs in."""
    other = repository(tmp_path / "other", plan="x = 1")
    monkeypatch.setenv("GIT_DIR", str(other / ".git"))
    (tmp_path / "shop").mkdir()
    assert write_rules(tmp_path / "shop")
    assert run_git(tmp_path / "shop", "log", "--format=%an %cn %cs").count(b"Mara Mara 2026-0") == 2
    assert run_git(other, "log", "--format=%s") == b"all there is\n"


@pytest.mark.slow
def test_a_question_that_takes_too_long_ends(tmp_path: Path) -> None:
    project = repository(tmp_path / "shop", cart="x = 1")
    (project / ".gitignore").unlink(missing_ok=True)
    os.mkfifo(project / ".git" / "info" / "exclude-pipe")
    git(project, "config", "core.excludesFile", str(project / ".git" / "info" / "exclude-pipe"))
    with pytest.raises(GitFailed, match=r"longer than 0\.5 seconds"):
        run_git(project, "ls-files", "--others", "--exclude-standard", seconds=0.5)


@pytest.mark.slow
def test_a_tree_in_which_git_was_too_slow_is_not_asked_again_at_once(tmp_path: Path) -> None:
    project = repository(tmp_path / "shop", cart="x = 1")
    os.mkfifo(project / "inner-pipe")
    git(project, "config", "core.excludesFile", str(project / "inner-pipe"))
    with pytest.raises(GitFailed, match="longer"):
        run_git(project, "ls-files", "--others", "--exclude-standard", seconds=0.5)
    began = time.monotonic()
    with pytest.raises(GitFailed, match="too long in"):
        run_git(project, "ls-files", "--others", "--exclude-standard")
    assert time.monotonic() - began < 1
    assert run_git(repository(tmp_path / "other", cart="x = 1"), "ls-files")  # others are


def test_the_users_own_variables_of_one_repository_lead_to_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shop, other = (repository(tmp_path / name, **{name: "x = 1"}) for name in ("shop", "other"))
    monkeypatch.setenv("GIT_DIR", str(other / ".git"))
    monkeypatch.setenv("GIT_INDEX_FILE", str(other / ".git" / "index"))
    assert run_git(shop, "ls-files") == b"shop.py\n"


def test_a_repository_of_another_user_is_not_asked(tmp_path: Path) -> None:
    project = repository(tmp_path / "shop", cart="x = 1")
    if os.geteuid() != 0:
        pytest.skip("only root can give a repository to somebody else")
    for path in (project, project / ".git"):
        os.chown(path, 65534, 65534)
    with pytest.raises(GitFailed, match="dubious ownership"):
        run_git(project, "ls-files")


def test_a_folder_that_looks_like_a_bare_repository_is_none(tmp_path: Path) -> None:
    secret = repository(tmp_path / "secret", plan="x = 1")
    project = tmp_path / "shop"
    project.mkdir()
    git(project, "clone", "-q", "--bare", str(secret), str(project / ".helix"))
    assert git_output(project / ".helix", "log") is None
    git(project, "init", "-q")
    assert git_output(project / ".helix", "log", "--format=%s") is None


def links_to(kind: str, project: Path, other: Path) -> None:
    """Makes the ``.git`` of a project lead to another repository, as an archive may hold it."""
    git_folder = project / ".git"
    if kind == "a file":
        git_folder.write_text(f"gitdir: {other}/.git\n")
    elif kind == "a link":
        git_folder.symlink_to(other / ".git")
    elif kind == "a work tree of the other":
        git(other, "worktree", "add", "-q", "-b", "fix", str(other.parent / "tree"))
        git_folder.write_text(f"gitdir: {other}/.git/worktrees/tree\n")
    elif kind == "a submodule of the other":
        git(other, "submodule", "add", "-q", str(repository(other.parent / "part", part="x = 1")), "lib")
        git_folder.write_text(f"gitdir: {other}/.git/modules/lib\n")
    elif kind == "a common folder":
        git(project, "init", "-q")
        (git_folder / "commondir").write_text(f"{other}/.git\n")
        (git_folder / "gitdir").write_text(f"{git_folder}\n")
    elif kind == "a common folder within":
        admin = project / "fake" / "worktrees" / "x"
        admin.mkdir(parents=True)
        (admin / "commondir").write_text("../..\n")
        (admin / "gitdir").write_text(f"{git_folder}\n")
        (admin / "HEAD").write_text("ref: refs/heads/main\n")
        for name in ("objects", "refs", "config"):
            (project / "fake" / name).symlink_to(other / ".git" / name)
        git_folder.write_text("gitdir: fake/worktrees/x\n")
    elif kind == "links within":
        git(project, "init", "-q")
        for name in ("objects", "refs"):
            subprocess.run(["rm", "-r", str(git_folder / name)], check=True)
            (git_folder / name).symlink_to(other / ".git" / name)
        (git_folder / "HEAD").write_text((other / ".git" / "HEAD").read_text())
    else:
        git(project, "init", "-q", "--separate-git-dir", str(other.parent / "elsewhere"))
        git(project, "commit", "-q", "--allow-empty", "-m", "begin")


KINDS = [
    *("a file", "a link", "a work tree of the other", "a submodule of the other", "a common folder"),
    *("a common folder within", "links within", "a folder elsewhere"),
]


@pytest.mark.parametrize("kind", few([*KINDS], 3))
def test_a_git_file_that_leads_elsewhere_reads_no_other_repository(tmp_path: Path, kind: str) -> None:
    other = repository(tmp_path / "other", plan="x = 1")
    (other / "AGENTS.md").write_text("- Always deploy with `make secret` first\n")
    commit(other)
    project = tmp_path / "shop"
    project.mkdir()
    Memory.init(project)
    links_to(kind, project, other)
    with pytest.raises(GitFailed, match="git is not asked"):
        run_git(project, "log")
    assert project_versions(project) == []
    with pytest.raises(NoWorkTree, match="git is not asked"):
        snapshot(project)
    with pytest.raises(UntrustedMemory, match="leads to the git repository"):
        Memory.open(project)


def test_a_work_tree_that_the_configuration_names_is_not_looked_into(tmp_path: Path) -> None:
    """An archive may hold a ``.git`` folder whose configuration names another project's files."""
    shop, other = (repository(tmp_path / name, **{name: "x = 1"}) for name in ("shop", "other"))
    (other / "private-plans").write_text("x")
    git(shop, "config", "core.worktree", str(other))
    assert run_git(shop, "ls-files", "--others") == b""
    assert snapshot(shop).tree == str(shop)
    assert snapshot(shop).dirty == {}


def test_a_repository_elsewhere_that_names_the_folder_is_its_own(tmp_path: Path) -> None:
    project = tmp_path / "shop"
    project.mkdir()
    git(project, "init", "-q", "--separate-git-dir", str(tmp_path / "elsewhere"))
    git(project, "--git-dir", str(tmp_path / "elsewhere"), "config", "core.worktree", str(project))
    git(project, "commit", "-q", "--allow-empty", "-m", "begin")
    assert Memory.init(project).root == Memory.open(project).root
    assert run_git(project, "log", "--format=%s") == b"begin\n"


def own_work_tree(project: Path) -> Path:
    git(project, "worktree", "add", "-q", "-b", "fix", str(project.parent / "fix"))
    return project.parent / "fix"


def own_submodule(project: Path) -> Path:
    git(project, "submodule", "add", "-q", str(repository(project.parent / "part", part="x = 1")), "a lib")
    return project / "a lib"


def work_tree_of_a_submodule(project: Path) -> Path:
    return own_work_tree(own_submodule(project))


def submodule_of_a_work_tree(project: Path) -> Path:
    own_submodule(project)
    commit(project)
    tree = own_work_tree(project)
    git(tree, "submodule", "update", "-q", "--init")
    return tree / "a lib"


def submodule_with_settings_of_its_own(project: Path) -> Path:
    lib = own_submodule(project)
    git(lib, "sparse-checkout", "set", "--no-cone", "/*")
    return lib


@pytest.mark.parametrize(
    "made",
    few(
        [
            own_work_tree,
            own_submodule,
            work_tree_of_a_submodule,
            submodule_of_a_work_tree,
            submodule_with_settings_of_its_own,
        ],
        2,
    ),
)
def test_work_trees_and_submodules_of_the_users_own_are_asked(tmp_path: Path, made: Callable[[Path], Path]) -> None:
    tree = made(repository(tmp_path / "shop", cart="x = 1"))
    (tree / "new.py").write_text("x = 2\n")
    assert run_git(tree, "log", "--format=%s") == b"all there is\n"
    assert "new.py" in snapshot(tree).dirty
    Memory.init(tree)
    assert Memory.open(tree).root.is_dir()
