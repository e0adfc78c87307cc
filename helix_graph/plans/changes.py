r"""What a task has changed in the working tree, as git sees it, and whether that lies within its delta.

When a workspace is made, the tree is looked at once (`snapshot`): the commit it stands on, and each file that differs
from it already, by a hash. Later only what differs from *that* counts, so that neither an earlier task's changes that
nobody has committed nor a commit made in between are taken for, or hidden from, the task's own.

A delta names files, folders, or shapes of names, from the tree's root on: ``src/auth.py``, ``tests``, ``src/**/*.py``.
A star stays within a folder; two of them reach into any depth. Brackets are letters, since file names have them.

>>> [within("src/**/*.py", path) for path in ("src/app.py", "src/a/b.py", "src/app.js", "lib/src/app.py")]
[True, True, False, False]
>>> [within("./src/", path) for path in ("src/app.py", "src2/app.py")]
[True, False]
"""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import msgspec

from helix_graph.plans.errors import NoWorkTree
from helix_graph.project import FOLDER

if TYPE_CHECKING:
    from collections.abc import Iterable

_SPECIAL = re.compile(r"\*\*/|\*\*|\*|\?")
_MEANING = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
#: What git compares with where there is no commit yet: the tree without files (git hash-object -t tree /dev/null).
_EMPTY_TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
_GONE = ""

ChangeVerb = Literal["create", "edit", "delete"]


class Baseline(msgspec.Struct, frozen=True, kw_only=True):
    """A working tree at one moment: where it is, its commit, and the hash of each file that differs from that."""

    tree: str
    head: str
    dirty: dict[str, str] = msgspec.field(default_factory=dict)


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """One file that differs from the baseline, from the tree's root on."""

    path: str
    verb: ChangeVerb


def snapshot(folder: Path) -> Baseline:
    """The working tree around ``folder`` as it is now.

    Raises:
        NoWorkTree: There is none, or git cannot be asked.
    """
    top = _git(folder, "rev-parse", "--show-toplevel").decode("utf-8", "surrogateescape").rstrip("\n")
    head = _head(Path(top))
    return Baseline(tree=top, head=head, dirty=_differing(Path(top), head))


def changes_since(baseline: Baseline, *, tree: Path | None = None) -> tuple[Change, ...]:
    """The files that differ from the baseline, by path; ``tree`` is another work tree of the same repository.

    Raises:
        NoWorkTree: The tree is gone, or git cannot be asked.
    """
    top = Path(baseline.tree) if tree is None else Path(snapshot(tree).tree)
    before, after = baseline.dirty, _differing(top, baseline.head)
    changed = sorted(path for path in before.keys() | after.keys() if before.get(path) != after.get(path))
    there = _committed(top, baseline.head, changed)
    return tuple(_change(path, before, after, known=there) for path in changed)


def outside(delta: Iterable[str], changes: Iterable[Change]) -> tuple[str, ...]:
    """The changed files that no part of the delta names."""
    allowed = tuple(delta)
    return tuple(one.path for one in changes if not any(within(part, one.path) for part in allowed))


def within(part: str, path: str) -> bool:
    """Whether a part of a delta names a file, or a folder that it lies in."""
    return _expression(part).fullmatch(path) is not None


@lru_cache(maxsize=256)
def _expression(part: str) -> re.Pattern[str]:
    plain = part.replace("\\", "/").removeprefix("./").rstrip("/")
    if plain in {"", "."}:
        return re.compile(".*", re.DOTALL)
    pieces, at = [], 0
    for special in _SPECIAL.finditer(plain):
        pieces += [re.escape(plain[at : special.start()]), _MEANING[special[0]]]
        at = special.end()
    return re.compile("".join([*pieces, re.escape(plain[at:]), "(?:/.*)?"]), re.DOTALL)


def _change(path: str, before: dict[str, str], after: dict[str, str], *, known: set[str]) -> Change:
    """A file that no longer differs is as it was committed; else its hash says whether it is there."""
    was_there = before[path] != _GONE if path in before else path in known
    is_there = after[path] != _GONE if path in after else path in known
    verb: ChangeVerb = "delete" if not is_there else "edit" if was_there else "create"
    return Change(path=path, verb=verb)


def _head(top: Path) -> str:
    try:
        return _git(top, "rev-parse", "--verify", "--quiet", "HEAD").decode().strip()
    except NoWorkTree:
        return _EMPTY_TREE


def _differing(top: Path, head: str) -> dict[str, str]:
    """Each file that differs from a commit, with its hash; the memory's own files are nobody's work."""
    tracked = _git(top, "diff", "--name-only", "--no-renames", "-z", head, "--")
    others = _git(top, "ls-files", "--others", "--exclude-standard", "-z")
    names = {os.fsdecode(name) for listed in (tracked, others) for name in listed.split(b"\0") if name}
    return {name: _hash(top / name) for name in sorted(names) if FOLDER not in Path(name).parts}


def _committed(top: Path, head: str, paths: list[str]) -> set[str]:
    if not paths:
        return set()
    listed = _git(top, "ls-tree", "-r", "-z", "--name-only", "--full-tree", head)
    return {os.fsdecode(name) for name in listed.split(b"\0") if name} & set(paths)


def _hash(path: Path) -> str:
    """What a file holds; a link by where it leads, anything else by being there."""
    try:
        if path.is_symlink():
            return f"link to {path.readlink()}"
        if not path.is_file():
            return "no file" if path.exists() else _GONE
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except FileNotFoundError:
        return _GONE
    except OSError as error:
        raise NoWorkTree(path, problem=error.strerror or str(error)) from error


def _git(folder: Path, *arguments: str) -> bytes:
    """What git prints. It takes no locks that the agents' own git would wait for, and starts no watcher."""
    command = ["git", "-c", "core.fsmonitor=false", "-C", str(folder), *arguments]
    environment = {**os.environ, "GIT_OPTIONAL_LOCKS": "0", "LC_ALL": "C"}
    try:
        done = subprocess.run(command, capture_output=True, check=False, env=environment)  # noqa: S603  (no shell)
    except OSError as error:
        raise NoWorkTree(folder, problem=f"git cannot be started: {error.strerror or error}") from error
    if done.returncode:
        said = done.stderr.decode("utf-8", "replace").strip()
        raise NoWorkTree(folder, problem=said.splitlines()[0] if said else f"git {arguments[0]} failed")
    return done.stdout
