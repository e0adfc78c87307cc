"""The one place where git is started: in repositories that strangers write to, and nothing they configure is run.

What a repository's configuration, attributes and hooks name as programs (hooks, filters, diff drivers, a file monitor,
a pager, signature checkers, transports, helpers for credentials) is turned off for each call. Nothing is fetched, no
lock is taken that an agent's own git would wait for, and a repository that another user owns is refused by git itself.
Git is asked of the tree around a folder alone: not of one above where the nearest ``.git`` is empty, not of another
repository that a ``.git`` leads to, and not of a folder that looks like a bare repository.
"""

from __future__ import annotations

import os
import re
import time

from helix_graph.git_folders import foreign_git, has_links, tree_around

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

#: The history of a large repository takes git seconds; nobody waits longer for it.
_SECONDS = 10.0
#: A tree in which git took longer (its ``.gitignore`` may be a named pipe) is not asked again for so long: a page asks
#: several questions, and a server answers for days.
_LEFT_ALONE = 300.0
#: Until when which trees are left alone.
_slow_trees: dict[Path, float] = {}
_SETTINGS = {
    "core.fsmonitor": "false", "core.hooksPath": os.devnull, "core.pager": "cat", "core.sshCommand": "false",
    "core.askPass": "false", "credential.helper": "", "gpg.program": "false", "log.showSignature": "false",
    "protocol.allow": "never", "safe.bareRepository": "explicit", "submodule.recurse": "false",
    "diff.submodule": "short", "core.quotePath": "false", "core.attributesFile": os.devnull, "mailmap.file": os.devnull,
}  # fmt: skip
#: Of the user's environment, what says whose repositories are trusted and where git's own settings are. The rest is of
#: the one repository in which a hook of git's may have started us, or changes what is printed.
_KEPT = frozenset({"GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM", "GIT_EXEC_PATH"})
_ENVIRONMENT = {
    "GIT_OPTIONAL_LOCKS": "0", "GIT_NO_LAZY_FETCH": "1", "GIT_TERMINAL_PROMPT": "0", "GIT_ALLOW_PROTOCOL": "",
    "GIT_NO_REPLACE_OBJECTS": "1", "GIT_PAGER": "cat", "GIT_ASKPASS": "false", "SSH_ASKPASS": "false", "LC_ALL": "C",
}  # fmt: skip
#: Commands that read files of the work tree, for which git runs filters, and those that print differences.
_READING_FILES = frozenset({"add", "commit", "diff", "update-index"})
_SHOWING = frozenset({"diff", "log"})
#: Programs that the configuration names under a name of its own, and what turns each off.
_NAMED_PROGRAMS = re.compile(r"filter\..*\.(?:clean|smudge|process|required)|hook\..*\.(?:command|enabled)", re.DOTALL)
_OFF = {"required": "false", "enabled": "false"}
_SEVERAL = 2000


class GitFailed(Exception):
    """Git cannot be asked, or says no; ``problem`` is its first sentence."""

    def __init__(self, problem: str) -> None:
        self.problem = problem
        super().__init__(problem)


class GitTooSlow(GitFailed):
    """It did not answer in time."""


def git_output(folder: Path, *arguments: str, asked: bytes = b"") -> bytes | None:
    """What git prints in this folder, with ``asked`` as its input; None where it fails, is missing or is too slow."""
    try:
        return run_git(folder, *arguments, asked=asked)
    except GitFailed:
        return None


def begin_repository(folder: Path) -> None:
    """Makes a repository of a folder that is in none yet."""
    _run(["init", "--quiet"], folder, environment=_environment(_SETTINGS))


def run_git(
    folder: Path,
    *arguments: str,
    asked: bytes = b"",
    seconds: float = _SECONDS,
    more: Mapping[str, str] | None = None,
) -> bytes:
    """What git prints in this folder, with ``asked`` as its input and ``more`` variables, such as an author's name.

    Raises:
        GitFailed: It fails, is missing, takes longer than ``seconds``, or the folder is in no repository of its own.
    """
    tree = tree_around(folder)
    if tree is None:
        raise GitFailed(f"{folder} is in no git repository")
    other = foreign_git(tree)
    if other is not None or has_links(tree):
        where = f"leads to {other}, which has no record of this folder" if other else "has links in place of its files"
        raise GitFailed(f"{tree / '.git'} {where}, so git is not asked")
    if time.monotonic() < _slow_trees.get(tree, 0):
        raise GitFailed(f"git took too long in {tree} before")
    command, *rest = arguments
    settings = dict(_SETTINGS)
    if command in _READING_FILES:
        settings |= _named_programs(folder, tree)
    plain = ("--no-ext-diff", "--no-textconv") if command in _SHOWING else ()
    environment = {**_environment(settings, tree), **(more or {})}
    try:
        return _run([command, *plain, *rest], folder, environment=environment, asked=asked, seconds=seconds)
    except GitTooSlow:
        _slow_trees[tree] = time.monotonic() + _LEFT_ALONE
        raise


def _named_programs(folder: Path, tree: Path) -> dict[str, str]:
    """What turns off the filters and hooks that are configured by name."""
    listed = _run(["config", "--null", "--name-only", "--list"], folder, environment=_environment(_SETTINGS, tree))
    names = {name for name in os.fsdecode(listed).split("\0") if _NAMED_PROGRAMS.fullmatch(name)}
    if len(names) > _SEVERAL:
        raise GitFailed(
            f"the configuration in {tree / '.git'} names {len(names)} filters and hooks, so git is not asked"
        )
    hooks = {f"{name.removesuffix('.command')}.enabled" for name in names if name.endswith(".command")}
    return {name: _OFF.get(name.rpartition(".")[2], "") for name in names | hooks}


def _environment(settings: Mapping[str, str], tree: Path | None = None) -> dict[str, str]:
    """The variables of a git that is to look at this tree alone, with these settings."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_") or name in _KEPT}
    place = {"GIT_WORK_TREE": str(tree), "GIT_CEILING_DIRECTORIES": str(tree.parent)} if tree else {}
    return {
        **kept, **_ENVIRONMENT, **place, "GIT_CONFIG_COUNT": str(len(settings)),
        **{f"GIT_CONFIG_KEY_{at}": name for at, name in enumerate(settings)},
        **{f"GIT_CONFIG_VALUE_{at}": value for at, value in enumerate(settings.values())},
    }  # fmt: skip


def _run(
    command: list[str], folder: Path, *, environment: Mapping[str, str], asked: bytes = b"", seconds: float = _SECONDS
) -> bytes:
    import subprocess

    try:
        done = subprocess.run(  # noqa: S603  (no shell)
            ["git", "--no-pager", "-C", str(folder), *command],  # noqa: S607  (the user's own git)
            capture_output=True, check=False, timeout=seconds, env=environment, input=asked,
        )  # fmt: skip
    except subprocess.TimeoutExpired as error:
        raise GitTooSlow(f"git took longer than {seconds:g} seconds") from error
    except (OSError, ValueError) as error:  # a ValueError of a null character in a name
        raise GitFailed(f"git cannot be started: {error}") from error
    if done.returncode:
        said = done.stderr.decode("utf-8", "replace").strip()
        raise GitFailed(said.splitlines()[0] if said else f"git {command[0]} failed")
    return done.stdout
