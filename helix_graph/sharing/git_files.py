"""Shared files as git has them: what is accepted is what the default branch holds, whatever is checked out here.

So a proposal counts once its pull request is merged, and a branch that somebody looks at changes no memory.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from helix_graph.errors import ShareRefused
from helix_graph.git_history import git_output

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

FOLDER = "shared"
#: What git may be asked to keep besides: truth that has files of its own already.
IN_PLACE = ("episodes", "causality/assertions")
#: The branch into which pull requests go, as far as git knows it here.
_BRANCHES = ("refs/remotes/origin/HEAD", "refs/heads/main", "refs/heads/master", "HEAD")
_AUTHOR = "\x01"


class AcceptedFile(msgspec.Struct, frozen=True):
    """A file on the default branch, and who committed it first."""

    name: str
    data: bytes
    author: str


def accepted_files(root: Path) -> list[AcceptedFile]:
    """The shared files on the default branch, by name (below the folder of shared things); none outside of git."""
    commit = _default_branch(root)
    if commit is None:
        return []
    listed = (git_output(root, "ls-tree", "-r", "-z", commit, "--", f"{FOLDER}/") or b"").split(b"\0")
    objects = [one.split(b"\t", 1) for one in listed if one]
    hashes = [about.split(b" ")[2] for about, _ in objects]
    batch = git_output(root, "cat-file", "--batch", asked=b"\n".join(hashes) + b"\n") if hashes else b""
    authors = _authors(root, commit)
    names = [name.decode("utf-8", "replace").removeprefix(f"{FOLDER}/") for _, name in objects]
    found = zip(names, _contents(batch or b""), strict=True)
    return [AcceptedFile(name, data, authors.get(name, "an unknown author")) for name, data in sorted(found)]


def _default_branch(root: Path) -> str | None:
    for branch in _BRANCHES:
        commit = git_output(root, "rev-parse", "--verify", "--quiet", f"{branch}^{{commit}}")
        if commit:
            return commit.decode().strip()
    return None


def _contents(batch: bytes) -> Iterator[bytes]:
    at = 0
    while at < len(batch):
        end = batch.index(b"\n", at)
        size = int(batch[at:end].split(b" ")[2])
        yield batch[end + 1 : end + 1 + size]
        at = end + 1 + size + 1


def _authors(root: Path, commit: str) -> dict[str, str]:
    """Who added each file first; what somebody chose as a name is evidence, no proof."""
    asked = ("log", f"--format={_AUTHOR}%aN", "--name-only", "--relative", "--diff-filter=A", "--no-ext-diff", commit)
    found: dict[str, str] = {}
    author = ""
    for line in (git_output(root, *asked, "--", FOLDER) or b"").decode("utf-8", "replace").splitlines():
        if line.startswith(_AUTHOR):
            author = line.removeprefix(_AUTHOR).strip()
        elif line.startswith(f"{FOLDER}/"):
            found[line.removeprefix(f"{FOLDER}/")] = author  # the newest commit comes first, the last line counts
    return found


def stage(root: Path, names: Iterable[str]) -> None:
    """Adds these files to git's index, or takes those out that are gone, although the memory is ignored.

    Raises:
        ShareRefused: The memory is in no repository, or git refuses.
    """
    listed = b"\0".join(name.encode() for name in sorted(names))
    asked = ("add", "--force", "--all", "--pathspec-from-file=-", "--pathspec-file-nul")
    if listed and git_output(root, *asked, asked=listed) is None:
        raise ShareRefused(f"{root} is in no git repository, or git refuses; `git -C {root} status` says why")


def tracked(root: Path) -> list[str]:
    """The files of the memory that git tracks."""
    return [
        name.decode("utf-8", "replace") for name in (git_output(root, "ls-files", "-z") or b"").split(b"\0") if name
    ]
