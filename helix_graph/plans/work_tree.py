"""A work tree of git: which of its files differ from a commit, and by which hash.

A submodule is part of its tree: its files are named one by one, and compared with the commit of it that the tree's
commit asks for, whatever is committed in it meanwhile. So is a repository that nobody has added, with all its files. A
work tree of the same repository that lies within another is somebody else's place, and none of its files are listed.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from helix_graph.plans.errors import NoWorkTree
from helix_graph.project import FOLDER

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

#: What git compares with where there is no commit yet: the tree without files (git hash-object -t tree /dev/null).
EMPTY_TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
#: The hash of a file that is not there.
GONE = ""
#: How git marks a submodule in a tree.
_LINK = "160000"
#: What git tells its hooks of the one repository that they run in, which need not be the one that is asked of.
_OF_ANOTHER = frozenset({"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR", "GIT_OBJECT_DIRECTORY"})


class _Listed(NamedTuple):
    """One line of a commit's tree: a file's name, or that of a submodule with the commit that is asked for."""

    name: str
    commit: str | None


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
        tracked = self._git("diff", "--name-only", "--no-renames", "--ignore-submodules=none", "-z", commit, "--")
        others = self._git("ls-files", "--others", "--exclude-standard", "-z")
        names = {os.fsdecode(name) for listed in (tracked, others) for name in listed.split(b"\0") if name}
        found: dict[str, str] = {}
        for name in sorted(name.rstrip("/") for name in names if FOLDER not in Path(name).parts):
            found |= self._inner(commit, name) if self._is_repository(name) else {name: _hash(self.top / name)}
        return found

    def committed(self, commit: str, paths: Collection[str]) -> set[str]:
        """Those of the paths that a commit has, in its submodules as well."""
        wanted, found = set(paths), set[str]()
        for one in self._listing(commit, "-r") if wanted else ():
            if one.name in wanted:
                found.add(one.name)
            elif one.commit and self._is_repository(one.name):
                inner = WorkTree(self.top / one.name)
                parts = [path.removeprefix(f"{one.name}/") for path in wanted if path.startswith(f"{one.name}/")]
                if parts and inner.has(one.commit):
                    found |= {f"{one.name}/{path}" for path in inner.committed(one.commit, parts)}
        return found

    def has(self, commit: str) -> bool:
        """Whether the repository has a commit: of a submodule it may not have been fetched."""
        return self._found("cat-file", "-e", f"{commit}^{{commit}}") is not None

    def _inner(self, commit: str, name: str) -> dict[str, str]:
        """The files of a submodule, or of a repository that nobody has added, that differ."""
        inner = WorkTree(self.top / name)
        if inner._repository() == self._repository():
            return {}
        asked = next((one.commit for one in self._listing(commit, "--", f":(literal){name}")), None)
        start = asked if asked and inner.has(asked) else EMPTY_TREE
        return {f"{name}/{path}": seen for path, seen in inner.differing(start).items()}

    def _is_repository(self, name: str) -> bool:
        """Without that, git would take a submodule's empty folder for part of the tree around it."""
        return (self.top / name / ".git").exists()

    def _repository(self) -> Path:
        return (self.top / _line(self._git("rev-parse", "--git-common-dir"))).resolve()

    def _listing(self, commit: str, *arguments: str) -> Iterator[_Listed]:
        for line in self._git("ls-tree", "-z", "--full-tree", commit, *arguments).split(b"\0"):
            about, _, name = line.partition(b"\t")
            if name:
                mode, _, held = about.decode().split()
                yield _Listed(os.fsdecode(name), held if mode == _LINK else None)

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
    """What git prints. It takes no locks that the agents' own git would wait for, and starts no watcher.

    Raises:
        NoWorkTree: There is no git, or it says no.
    """
    command = ["git", "-c", "core.fsmonitor=false", "-C", str(folder), *arguments]
    kept = {name: value for name, value in os.environ.items() if name not in _OF_ANOTHER}
    environment = {**kept, "GIT_OPTIONAL_LOCKS": "0", "LC_ALL": "C"}
    try:
        done = subprocess.run(command, capture_output=True, check=False, env=environment)  # noqa: S603  (no shell)
    except OSError as error:
        raise NoWorkTree(folder, problem=f"git cannot be started: {error.strerror or error}") from error
    if done.returncode:
        said = done.stderr.decode("utf-8", "replace").strip()
        raise NoWorkTree(folder, problem=said.splitlines()[0] if said else f"git {arguments[0]} failed")
    return done.stdout
