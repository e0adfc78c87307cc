"""Shared files as a memory reads them: which are records that it may take in, and what is wrong with the others.

A file is taken in if its name is that of its content, if it holds no secret, and if a memory could have written it.

What git has of them (`accepted_files`): the default branch holds what is accepted, whatever is checked out here. So a
proposal counts once its pull request is merged, and a branch that somebody looks at changes no memory.
"""

from __future__ import annotations

import time
from contextlib import suppress
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import msgspec
from msgspec.structs import replace

from helix_episodes.errors import InvalidArgument
from helix_episodes.model import AHEAD
from helix_episodes.safe_files import irregularity, read_regular
from helix_graph.errors import ShareRefused
from helix_graph.git import git_output
from helix_graph.insights.exported_lines import checked_record
from helix_graph.insights.model import FeedbackEntry, Insight, InsightVerdict
from helix_graph.insights.storing import is_persons_tag
from helix_graph.shared_authors import LONGEST_AUTHOR, author_name
from helix_graph.sharing.records import (
    SharedEntry,
    SharedFeedback,
    SharedInsight,
    SharedRecord,
    ShareProblem,
    decode,
    find_secrets,
    insight_fields,
    name_of,
)
from helix_graph.topics.transfer import as_exported, parse_import

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from helix_graph.topics.transfer import ExportedEntry


#: For how long files that come to nothing, or that take longer than any that a memory wrote, are searched for secrets,
#: in seconds of a processor: the worst megabyte takes a minute, an entry of 100,000 characters a tenth of a second.
_LONGEST_SEARCH, _SLOW = 10.0, 0.5
#: A line holds a text: the longest entry of a topic has 100,000 characters, and some are escaped.
_LONGEST_LINE = 1 << 17
#: The ways by which things come; the second is longer.
GIT = "git"
TEAM_SERVER = _LONGEST_WAY = "team server"


class SharedHere(msgspec.Struct, frozen=True, kw_only=True):
    """Hashes of the records that came in or went out, and the entries of topics behind them; ``theirs`` came in.

    ``mine`` are the uids of insights that went out.
    """

    insights: frozenset[str] = frozenset()
    entries: dict[str, int] = {}
    theirs: frozenset[str] = frozenset()
    mine: frozenset[str] = frozenset()


def check_shared(root: Path) -> tuple[ShareProblem, ...]:
    """What is wrong with the files of a memory that git tracks, or will: secrets, and files that are no records.

    It reads these files alone, so that it may run on anybody's branch, in CI or before a commit.
    """
    search = _BoundedSearch()
    problems = list(shared_problems(root, search))
    for name in sorted(name for name in tracked(root) if not name.startswith(f"{FOLDER}/")):
        if irregularity(root / name) is None and (root / name).exists():
            problems += search.secrets_in(name, read_regular(root / name))
    return tuple(sorted(problems, key=lambda one: (one.file, one.line)))


def shared_problems(root: Path, search: _BoundedSearch | None = None) -> tuple[ShareProblem, ...]:
    """Shared files of the work tree that hold a secret, or that no memory takes in; links are no files."""
    files = []
    for path in sorted((root / FOLDER).rglob("*.json")):
        if not (path.is_dir() or irregularity(path)):
            data = None if path.stat().st_size > LARGEST else read_regular(path)
            files.append(AcceptedFile(path.relative_to(root / FOLDER).as_posix(), data, ""))
    return read_accepted(files, now=datetime.now(UTC), search=search)[1]


class _BoundedSearch:
    """Looks for secrets in files that others wrote, as long as those made to take time have taken little of it."""

    def __init__(self) -> None:
        self._wasted = 0.0

    @property
    def is_over(self) -> bool:
        """Whether nothing more is searched."""
        return self._wasted >= _LONGEST_SEARCH

    def secrets_in(self, name: str, data: bytes) -> list[ShareProblem]:
        """The secrets in a file, and that it was not searched to its end."""
        if self.is_over:
            problem = (
                f"it was not read: files before it took more than {_LONGEST_SEARCH:g} seconds to search for secrets"
            )
            return [ShareProblem(file=name, line=1, problem=problem, kind="invalid")]
        began = time.process_time()
        found = list(find_secrets(name, data, seconds=_LONGEST_SEARCH, longest=_LONGEST_LINE))
        took = time.process_time() - began
        self._wasted += took if found or took > _SLOW else 0.0
        return found


def _checked(name: str, data: bytes, *, now: datetime) -> SharedRecord:
    """The record in a file of this name.

    Raises:
        ValueError: It is none, or was changed after it got its name; or no memory takes it in, as a part is out of
            bounds.
        InvalidArgument: So is a text, which holds what cannot be stored.
    """
    record = checked_shared(data, now=now)
    if name_of(record) != name:
        raise ValueError("it was edited by hand: its name is of other content; edit the insight and share it again")
    return record


def checked_shared(data: bytes, *, now: datetime) -> SharedRecord:
    """The record in these bytes, if a memory may take it in.

    Raises:
        ValueError: It is none, or a part is out of bounds.
        InvalidArgument: So is a text, which holds what cannot be stored.
    """
    record = decode(data)
    if isinstance(record, SharedInsight):
        checked_record(imported_insight(record), now=now)
    elif isinstance(record, SharedFeedback):
        uids = [*record.helped, *record.present]
        checked_record(feedback_entry(record, uids, dict.fromkeys(uids, "x")), now=now)
    elif isinstance(record, SharedEntry):
        longest = attributed(record, "x" * LONGEST_AUTHOR, through=_LONGEST_WAY)
        taken, left = parse_import(import_of([longest]))
        if left:
            raise ValueError(left[0].problem)
        if as_exported(taken[0]) != place_of(longest):  # it could not be told from an own one afterwards
            raise ValueError("its topic, text, time or source is not written as a memory writes it")
        latest = now + AHEAD
        if any((moment or 0) > latest.timestamp() for moment in (taken[0].stored, taken[0].modified)):
            raise ValueError("its time is in the future")  # it would be the newest for ever
    return record


def read_accepted(
    files: Sequence[AcceptedFile], *, now: datetime, search: _BoundedSearch | None = None
) -> tuple[list[tuple[SharedRecord, str]], tuple[ShareProblem, ...]]:
    """The records in shared files with their authors, and what is wrong with those that are not taken in.

    Small files come first, so that none is kept out by what takes long to search.
    """
    found: dict[str, tuple[SharedRecord, str]] = {}
    problems: list[ShareProblem] = []
    search = search or _BoundedSearch()
    for one in sorted(files, key=lambda one: len(one.data or b"")):
        name = f"{FOLDER}/{one.name}"
        if one.data is None:
            problems.append(ShareProblem(file=name, line=1, problem=TOO_LARGE, kind="invalid"))
            continue
        was_over, secrets = search.is_over, search.secrets_in(name, one.data)
        problems += secrets
        if was_over:  # what it holds would be searched as well
            continue
        try:
            record = _checked(one.name, one.data, now=now)
        except (ValueError, RecursionError, InvalidArgument) as error:
            problems.append(ShareProblem(file=name, line=1, problem=str(error), kind="invalid"))
        else:
            found |= {} if secrets else {one.name: (record, one.author)}
    in_order = [found[one.name] for one in files if one.name in found]
    return in_order, tuple(sorted(problems, key=lambda one: (one.file, one.line)))


def shared_files(root: Path) -> Iterator[tuple[str, SharedRecord]]:
    """The shared files in the work tree, by name; those that are no records are left to `check_shared`."""
    for path in sorted((root / FOLDER).rglob("*.json")):
        try:
            yield path.relative_to(root / FOLDER).as_posix(), decode(read_regular(path, most=LARGEST))
        except (OSError, ValueError, RecursionError):
            continue


def imported_insight(one: SharedInsight) -> Insight:
    """The insight as it is stored here, without the tags by which it would be this user's own."""
    fields = insight_fields(one)
    fields["tags"] = tuple(tag for tag in one.tags if not is_persons_tag(tag))
    return Insight(**fields, origin="imported", source="")


def import_of(entries: Iterable[SharedEntry]) -> str:
    """Entries as an import of topics takes them: without what says of a file what is in it."""
    return msgspec.json.encode(
        [{name: getattr(one, name) for name in one.__struct_fields__ if name != "own"} for one in entries]
    ).decode()


def attributed(one: SharedEntry, author: str, *, through: str) -> SharedEntry:
    """An entry that says who wrote it, and which way it came."""
    return replace(one, source=f"{one.source or 'shared'} ({through}, by {author})")


def is_from_team(file: str) -> bool:
    """Whether what was noted as an import's file says that git or the team's server brought it."""
    return file.startswith((f"{GIT}, by ", f"{TEAM_SERVER}, by "))


def place_of(one: SharedEntry | ExportedEntry) -> tuple[str, str, str, str | None]:
    """What tells an entry from every other one."""
    return one.topic, one.text, one.stored, one.source


def feedback_entry(one: SharedFeedback, uids: list[str], slugs: dict[str, str]) -> FeedbackEntry:
    """A shared outcome as an entry of this memory's log."""
    verdicts = tuple(InsightVerdict(uid=uid, name=slugs[uid], causal=uid in one.helped) for uid in uids)
    names = tuple(slugs[uid] for uid in uids)
    return FeedbackEntry(id=one.id, ts=one.ts, outcome=one.outcome, names=names, verdicts=verdicts, episode=one.session)


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


def insights_ever_shared(root: Path) -> frozenset[str]:
    """The uids of the insights in shared files: of the work tree, and of every commit that git has here.

    A proposal may be on a branch that is not checked out, and be accepted later.
    """
    asked = ("rev-list", "--objects", "--all", f"--filter=blob:limit={LARGEST + 1}", "--", f"{FOLDER}/insights/")
    listed = (one.partition(b" ") for one in (git_output(root, *asked) or b"").splitlines())
    wanted = sorted({digest for digest, _, name in listed if name.endswith(b".json")})
    batch = git_output(root, "cat-file", "--batch", asked=b"\n".join(wanted) + b"\n") if wanted else b""
    found = [one for _, one in shared_files(root)]
    for data in _contents(batch or b""):
        with suppress(ValueError, RecursionError):  # no record: no merge takes it in
            found.append(decode(data))
    return frozenset(one.uid for one in found if isinstance(one, SharedInsight))


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


def folder_in_git(root: Path) -> bytes:
    """What git puts before the names of the memory's files.

    Raises:
        ShareRefused: The memory is in no repository, or git cannot read it.
    """
    prefix = git_output(root, "rev-parse", "--show-prefix")
    if prefix is None:
        raise ShareRefused(f"{root} is in no git repository, or git cannot read it; `git -C {root} status` says why")
    return prefix.removesuffix(b"\n")


def stage(root: Path, names: Iterable[str]) -> None:
    """Puts these files into git's index as they are, or takes those out that are gone, although the memory is ignored.

    `git add` would run filters and hooks that the repository's configuration names; this runs none.
    """
    folder = folder_in_git(root)
    there = [name for name in sorted(names) if (root / name).is_file()]
    gone = sorted(set(names) - set(there))
    listed = "".join(f"{(root / name).absolute()}\n" for name in there).encode()
    hashes = (git_output(root, "hash-object", "-w", "--no-filters", "--stdin-paths", asked=listed) or b"").split()
    if len(hashes) != len(there):
        raise ShareRefused(f"git cannot read the files in {root / FOLDER}, or write to its folder; nothing is staged")
    named = zip(hashes, there, strict=True)
    entries = [b"100644 " + digest + b"\t" + folder + name.encode() for digest, name in named]
    entries += [b"0 " + b"0" * 40 + b"\t" + folder + name.encode() for name in gone]
    listed_for_git = b"".join(one + b"\0" for one in entries)
    taken = git_output(root, "update-index", "-z", "--index-info", asked=listed_for_git)
    if taken is None:
        raise ShareRefused(f"git does not stage the files in {root / FOLDER}; `git -C {root} status` says why")


def changed_in_index(root: Path) -> set[str]:
    """The files of the memory whose next commit will differ from the last."""
    names = (
        git_output(root, "diff", "--cached", "--name-only", "--relative", "--no-ext-diff", "--no-renames", "-z") or b""
    )
    return {name.decode("utf-8", "replace") for name in names.split(b"\0") if name}


def tracked(root: Path) -> list[str]:
    """The files of the memory that git tracks."""
    return [
        name.decode("utf-8", "replace") for name in (git_output(root, "ls-files", "-z") or b"").split(b"\0") if name
    ]
