"""What a task has changed in a git work tree, and whether its delta names that.

When a workspace is made, the tree is looked at once (`snapshot`): its commit, and each file that already differs from
it, by a hash. Later only differences from *that* count, so that neither an earlier task's uncommitted changes nor a
commit made in between are taken for, or hidden from, the task's own. Another work tree of the repository that is first
seen later, such as one made for the builder, is compared with the last commit that it has in common with the recorded
one.

A submodule is part of its tree: its files are named one by one, and compared with the commit that the tree's commit
asks for. So is a repository that nobody has added, with all its files. Files of another work tree of the same
repository that lies within this one are not listed.

A delta names files, folders, or patterns, relative to the tree's root: ``src/auth.py``, ``tests``, ``src/**/*.py``. A
star stays within a folder; two of them reach into any depth. Brackets are literal, since file names have them.

>>> [within("src/**/*.py", path) for path in ("src/app.py", "src/a/b.py", "src/app.js", "lib/src/app.py")]
[True, True, False, False]
>>> [within("./src//auth/", path) for path in ("src/auth/app.py", "src2/auth/app.py")]
[True, False]
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Collection, Iterable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import Literal

import msgspec

from helix_graph.git import GitFailed, foreign_git, run_git
from helix_graph.plans.model import NoWorkTree
from helix_graph.project import FOLDER

#: What git compares with where there is no commit yet: the tree without files (git hash-object -t tree /dev/null).
EMPTY_TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
#: The hash of a file that is not there.
GONE = ""
#: How git marks a submodule in a tree.
_LINK = "160000"
#: A large tree of which every file has to be compared takes git minutes.
_SECONDS = 120.0


class WorkTree:
    """The work tree at ``top``. Whatever is asked raises `NoWorkTree` where git cannot tell."""

    def __init__(self, top: Path) -> None:
        self.top = top

    @classmethod
    def around(cls, folder: Path) -> WorkTree:
        """The work tree that a folder lies in."""
        return cls(Path(_line(_git(folder, "rev-parse", "--show-toplevel"))))

    def head(self) -> str:
        """The commit it stands on; the empty tree before the first."""
        return self._found("rev-parse", "--verify", "--quiet", "HEAD") or EMPTY_TREE

    def common_with(self, commit: str) -> str | None:
        """The last commit that it has in common with one, or None."""
        return self._found("merge-base", commit, "HEAD")

    def differing(self, commit: str) -> dict[str, str]:
        """Each file that differs from a commit, with its hash; the memory's own files are nobody's work."""
        # Git would start another git in each submodule, which runs what the configuration there names.
        tracked = self._git("diff", "--name-only", "--no-renames", "--ignore-submodules=dirty", "-z", commit, "--")
        linked = (line.partition(b"\t") for line in self._git("ls-files", "--stage", "-z").split(b"\0"))
        inner = (os.fsdecode(name) for about, _, name in linked if about.startswith(_LINK.encode()))
        submodules = {name for name in inner if self._is_repository(name)}
        others = self._git("ls-files", "--others", "--exclude-standard", "-z")
        names = {os.fsdecode(name) for listed in (tracked, others) for name in listed.split(b"\0") if name}
        found: dict[str, str] = {}
        for name in sorted({name.rstrip("/") for name in names | submodules if FOLDER not in Path(name).parts}):
            found |= self._inner(commit, name) if self._is_repository(name) else {name: _hash(self.top / name)}
        return found

    def committed(self, commit: str, paths: Collection[str]) -> set[str]:
        """Those of the paths that a commit has, in its submodules as well."""
        wanted, found = set(paths), set[str]()
        for name, recorded in self._listing(commit, "-r") if wanted else ():
            if name in wanted:
                found.add(name)
            elif recorded and self._is_repository(name):
                inner = WorkTree(self.top / name)
                parts = [path.removeprefix(f"{name}/") for path in wanted if path.startswith(f"{name}/")]
                if parts and inner.has(recorded):
                    found |= {f"{name}/{path}" for path in inner.committed(recorded, parts)}
        return found

    def has(self, commit: str) -> bool:
        """Whether the repository has a commit: of a submodule it may not have been fetched."""
        return self._found("cat-file", "-e", f"{commit}^{{commit}}") is not None

    def _inner(self, commit: str, name: str) -> dict[str, str]:
        """The files of a submodule, or of a repository that nobody has added, that differ."""
        inner = WorkTree(self.top / name)
        if inner._repository() == self._repository():
            return {}
        asked = next((recorded for _, recorded in self._listing(commit, "--", f":(literal){name}")), None)
        start = asked if asked and inner.has(asked) else EMPTY_TREE
        return {f"{name}/{path}": seen for path, seen in inner.differing(start).items()}

    def _is_repository(self, name: str) -> bool:
        """Without that, git would take a submodule's empty folder for part of the tree around it."""
        return (self.top / name / ".git").exists() and foreign_git(self.top / name) is None

    def _repository(self) -> Path:
        return (self.top / _line(self._git("rev-parse", "--git-common-dir"))).resolve()

    def _listing(self, commit: str, *arguments: str) -> Iterator[tuple[str, str | None]]:
        """The names that a commit lists, each with the commit that it records of a repository within."""
        for line in self._git("ls-tree", "-z", "--full-tree", commit, *arguments).split(b"\0"):
            about, _, name = line.partition(b"\t")
            if name:
                mode, _, content = about.decode().split()
                yield os.fsdecode(name), content if mode == _LINK else None

    def _found(self, *arguments: str) -> str | None:
        """What git says, or None where it says that there is no such thing."""
        try:
            return _line(self._git(*arguments))
        except NoWorkTree:
            return None

    def _git(self, *arguments: str) -> bytes:
        return _git(self.top, *arguments)


def _line(said: bytes) -> str:
    return os.fsdecode(said.rstrip(b"\n"))


def _hash(path: Path) -> str:
    """What a file holds; a link by where it leads, anything else by being there."""
    try:
        if path.is_symlink():
            return f"link to {path.readlink()}"
        if not path.is_file():
            return "no file" if path.exists() else GONE
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except FileNotFoundError:
        return GONE
    except OSError as error:
        raise NoWorkTree(path, problem=error.strerror or str(error)) from error


def _git(folder: Path, *arguments: str) -> bytes:
    try:
        return run_git(folder, *arguments, seconds=_SECONDS)
    except GitFailed as error:
        raise NoWorkTree(folder, problem=error.problem) from error


ChangeVerb = Literal["create", "edit", "delete"]


class Baseline(msgspec.Struct, frozen=True, kw_only=True):
    """A working tree at one moment: where it is, its commit, and the hash of each file that differs from that."""

    tree: str
    head: str
    dirty: dict[str, str] = msgspec.field(default_factory=dict)


class TreeChange(msgspec.Struct, frozen=True, kw_only=True):
    """One file that differs from the baseline, from the tree's root on."""

    path: str
    verb: ChangeVerb


def snapshot(folder: Path) -> Baseline:
    """The working tree around ``folder`` as it is now."""
    tree = WorkTree.around(folder)
    head = tree.head()
    return Baseline(tree=str(tree.top), head=head, dirty=tree.differing(head))


def changes_since(baseline: Baseline, *, tree: Path | None = None) -> tuple[TreeChange, ...]:
    """The files that differ from the baseline, by path; ``tree`` is another work tree of the same repository.

    Raises:
        NoWorkTree: The tree is gone or of another repository, or git cannot be asked.
    """
    if tree is None and not Path(baseline.tree).is_dir():
        raise NoWorkTree(Path(baseline.tree), problem="it is there no more; `--tree` says where the work is now")
    here = WorkTree(Path(baseline.tree)) if tree is None else WorkTree.around(tree)
    start = baseline if str(here.top) == baseline.tree else _first_seen(here, baseline)
    before, after = start.dirty, here.differing(start.head)
    changed = sorted(path for path in before.keys() | after.keys() if before.get(path) != after.get(path))
    there = here.committed(start.head, changed)
    return tuple(_change(path, before, after, known=there) for path in changed)


def _first_seen(tree: WorkTree, baseline: Baseline) -> Baseline:
    """What another tree is compared with: the last commit in common, and nothing that is not committed.

    Raises:
        NoWorkTree: It is of another repository, whose commits have none in common with those.
    """
    if baseline.head == EMPTY_TREE:
        return Baseline(tree=str(tree.top), head=EMPTY_TREE)
    common = tree.common_with(baseline.head)
    if common is None:
        problem = f"it has no commit in common with {baseline.tree}, where the workspace was made"
        raise NoWorkTree(tree.top, problem=problem)
    return Baseline(tree=str(tree.top), head=common)


def _change(path: str, before: dict[str, str], after: dict[str, str], *, known: set[str]) -> TreeChange:
    """A file that no longer differs is as it was committed; else its hash says whether it is there."""
    was_there = before[path] != GONE if path in before else path in known
    is_there = after[path] != GONE if path in after else path in known
    verb: ChangeVerb = "delete" if not is_there else "edit" if was_there else "create"
    return TreeChange(path=path, verb=verb)


_SPECIAL = re.compile(r"\*\*/|\*\*|\*|\?")
_MEANING = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
_ABSOLUTE = re.compile(r"[/\\]|[A-Za-z]:[/\\]")
_SLASHES = re.compile(r"[/\\]")


def outside(delta: Iterable[str], changes: Iterable[TreeChange]) -> tuple[str, ...]:
    """The changed files that no part of the delta names."""
    allowed = tuple(delta)
    return tuple(one.path for one in changes if not any(within(part, one.path) for part in allowed))


def within(part: str, path: str) -> bool:
    """Whether a part of a delta names a file, or a folder that it lies in."""
    return _expression(part).fullmatch(path) is not None


def never_matches(part: str) -> str:
    r"""Why a part of a delta can name no file of any working tree; empty when it can.

    >>> never_matches("src/auth.py"), never_matches("src/..auth.py")
    ('', '')
    >>> never_matches("C:\\shop")
    'is absolute; name files from the root of the working tree on'
    """
    if _ABSOLUTE.match(part):
        return "is absolute; name files from the root of the working tree on"
    if ".." in _SLASHES.split(part):
        return "has '..' in it; name files from the root of the working tree on"
    return ""


@lru_cache(maxsize=256)
def _expression(part: str) -> re.Pattern[str]:
    plain = "/".join(name for name in _SLASHES.split(part) if name not in {"", "."})
    if not plain:
        return re.compile(".*", re.DOTALL)
    pieces, at = [], 0
    for special in _SPECIAL.finditer(plain):
        pieces += [re.escape(plain[at : special.start()]), _MEANING[special[0]]]
        at = special.end()
    return re.compile("".join([*pieces, re.escape(plain[at:]), "(?:/.*)?"]), re.DOTALL)
