"""Shared files as git has them: what is accepted is what the default branch holds, whatever is checked out here.

So a proposal counts once its pull request is merged, and a branch that somebody looks at changes no memory.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from helix_graph.errors import ShareRefused
from helix_graph.git import git_output
from helix_graph.shared_authors import author_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

FOLDER = "shared"
#: What git may be asked to keep besides: truth that has files of its own already.
IN_PLACE = ("episodes", "causality/assertions")
#: The branch into which pull requests go, as far as git knows it here.
_BRANCHES = ("refs/remotes/origin/HEAD", "refs/heads/main", "refs/heads/master", "HEAD")
_AUTHOR = "\x01"
_UNKNOWN = "an unknown author"
#: The longest entry of a topic has 100,000 characters of at most four bytes; a larger file is no record.
LARGEST = 1 << 20
TOO_LARGE = f"it is not a file of at most {LARGEST:,} bytes, and was not read; remove it, or share its parts"


class AcceptedFile(msgspec.Struct, frozen=True):
    """A file on the default branch, and who committed it first; ``data`` is None of what was not read."""

    name: str
    data: bytes | None
    author: str


class AcceptedShare(NamedTuple):
    """The files on the default branch, and everybody who ever added one."""

    files: list[AcceptedFile]
    everybody: frozenset[str]


def accepted_files(root: Path) -> AcceptedShare:
    """The shared files on the default branch, by name (below the folder of shared things); none outside of git.

    Raises:
        ShareRefused: Git does not say who added them.
    """
    commit = _default_branch(root)
    if commit is None:
        return AcceptedShare([], frozenset())
    listed = (git_output(root, "ls-tree", "-r", "-l", "-z", commit, "--", f"{FOLDER}/") or b"").split(b"\0")
    hashes: dict[str, bytes | None] = {}
    for about, name in (one.split(b"\t", 1) for one in listed if one):
        _, kind, digest, size = about.split()
        is_read = kind == b"blob" and int(size) <= LARGEST
        hashes[name.decode("utf-8", "replace").removeprefix(f"{FOLDER}/")] = digest if is_read else None
    wanted = [one for one in hashes.values() if one is not None]
    batch = git_output(root, "cat-file", "--batch", asked=b"\n".join(wanted) + b"\n") if wanted else b""
    contents = dict(zip(wanted, _contents(batch or b""), strict=True))
    authors = _authors(root, commit)
    files = [
        AcceptedFile(name, None if digest is None else contents[digest], authors.get(name, _UNKNOWN))
        for name, digest in sorted(hashes.items())
    ]
    return AcceptedShare(files, frozenset({*authors.values(), _UNKNOWN}))


def first_authors(root: Path) -> dict[str, str]:
    """Who added each shared file first, by name; of files that the default branch does not have nobody is named."""
    commit = _default_branch(root)
    return {} if commit is None else _authors(root, commit)


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
    """Who added each file first, whatever was merged first; what somebody chose as a name is evidence, no proof."""
    asked = ("log", f"--format={_AUTHOR}%ct %an", "--full-history", "--name-only", "--relative", "--diff-filter=A")
    said = git_output(root, *asked, "--no-renames", commit, "--", FOLDER)
    if said is None:
        raise ShareRefused(f"git does not say who added the files in {root / FOLDER}; `git log` there says why")
    found: dict[str, tuple[int, str]] = {}
    name = cache(author_name)  # few people, many commits
    at, author = 0, ""
    for line in said.decode("utf-8", "replace").split("\n"):
        if line.startswith(_AUTHOR):
            when, _, author = line.removeprefix(_AUTHOR).partition(" ")
            at, author = int(when), name(author) or _UNKNOWN
        elif line.startswith(f"{FOLDER}/"):
            file = line.removeprefix(f"{FOLDER}/")
            found[file] = min(found.get(file, (at, author)), (at, author))
    return {file: author for file, (_, author) in found.items()}


def stage(root: Path, names: Iterable[str]) -> None:
    """Puts these files into git's index as they are, or takes those out that are gone, although the memory is ignored.

    `git add` would run filters and hooks that the repository's configuration names; this runs none.
    """
    prefix = git_output(root, "rev-parse", "--show-prefix")
    if prefix is None:
        raise ShareRefused(f"{root} is in no git repository, or git cannot read it; `git -C {root} status` says why")
    there = [name for name in sorted(names) if (root / name).is_file()]
    gone = sorted(set(names) - set(there))
    listed = "".join(f"{(root / name).absolute()}\n" for name in there).encode()
    hashes = (git_output(root, "hash-object", "-w", "--no-filters", "--stdin-paths", asked=listed) or b"").split()
    folder = prefix.removesuffix(b"\n")
    if len(hashes) != len(there):
        raise ShareRefused(f"git cannot read the files in {root / FOLDER}, or write to its folder; nothing is staged")
    named = zip(hashes, there, strict=True)
    entries = [b"100644 " + digest + b"\t" + folder + name.encode() for digest, name in named]
    entries += [b"0 " + b"0" * 40 + b"\t" + folder + name.encode() for name in gone]
    listed_for_git = b"".join(one + b"\0" for one in entries)
    taken = git_output(root, "update-index", "-z", "--index-info", asked=listed_for_git)
    if taken is None:
        raise ShareRefused(f"git does not stage the files in {root / FOLDER}; `git -C {root} status` says why")


def tracked(root: Path) -> list[str]:
    """The files of the memory that git tracks."""
    return [
        name.decode("utf-8", "replace") for name in (git_output(root, "ls-files", "-z") or b"").split(b"\0") if name
    ]
