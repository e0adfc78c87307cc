"""Which files of episodes and assertions have changed since graph.db was compiled, and how to read them.

A file whose size and time are as recorded is not opened. A run over chosen paths, or since a date, takes in nothing
else and removes nothing; a file counts as gone only when all files were looked for.

`find_digests` uses the same comparison for questions about all sessions: it returns what graph.db recorded of
unchanged episodes, and names the files that have to be read.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from helix_episodes.model import sortable_time
from helix_episodes.safe_files import read_own
from helix_episodes.store import PREFIX
from helix_episodes.workers import worker_count
from helix_graph.database import ANY_OF, as_list
from helix_graph.errors import GraphError, InvalidAssertion
from helix_graph.graph.asserted_facts import Named, unit_of
from helix_graph.graph.assertions import (
    ASSERTION_SUFFIX,
    WORD_OF_OTHERS,
    Assertion,
    decode_assertion,
    distinct,
    encode_assertion,
    episode_of,
    name_of,
    words_of_others,
)
from helix_graph.graph.assertions import FOLDER as ASSERTIONS
from helix_graph.graph.episode_rows import SUFFIX, FileStamp, ReadingTask
from helix_graph.graph.file_stamps import listed, settled_time, stamps
from helix_graph.graph.graph_db import TRIAL_VERSION
from helix_graph.graph.row_checksums import checksum, read_digests
from helix_graph.project import digest, forgotten_digests

if TYPE_CHECKING:
    import sqlite3

    from helix_graph.graph.new_graph import NewGraph  # noqa: TC004  (a job is never decoded: nothing asks for its types)


#: To start a process takes a hundredth of a second, in which one asks about two thousand files; it takes the share
#: that lets both be done at once, since this one reads what is recorded too.
_WORTH_A_PROCESS = 10_000
_SHARE_OF_ANOTHER = 0.6


class KnownFile(msgspec.Struct, frozen=True, gc=False):
    """What graph.db remembers of a file."""

    stamp: FileStamp
    sha256: bytes
    episode: int | None
    problem: str | None


def scan(folder: Path, *, only: Iterable[str] | None = None, prefix: str = PREFIX) -> dict[str, FileStamp]:
    """The files of a folder whose names begin with ``prefix``; with ``only`` those of these names, unless missing.

    An episode of a forgotten session that is here again, from an older copy or by git, counts as gone.
    """
    forgotten = forgotten_digests(folder.parent) if prefix == PREFIX else frozenset()
    if only is not None:
        found = _named_files(folder, only)
    elif folder.is_dir():
        found = listed(str(folder), prefix=prefix, suffix=SUFFIX)
    else:
        return {}
    return {
        name: FileStamp(size, changed)
        for name, size, changed in found
        if not (forgotten and _is_forgotten(name, forgotten))
    }


def _named_files(folder: Path, names: Iterable[str]) -> Iterator[tuple[str, int, int]]:
    """As `listed`, of these names only."""
    settled = settled_time()
    for name in names:
        with suppress(FileNotFoundError):
            stat = (folder / name).stat(follow_symlinks=False)
            yield name, stat.st_size, changed if (changed := stat.st_mtime_ns) < settled else 0


def _is_forgotten(name: str, forgotten: frozenset[str]) -> bool:
    return digest(name.removeprefix(PREFIX).removesuffix(SUFFIX)) in forgotten


def known_files(connection: sqlite3.Connection, *, only: Sequence[str] | None = None) -> dict[str, KnownFile]:
    """What graph.db remembers of the files it was made from, by name; with ``only`` of those of these names."""
    where, values = ("", ()) if only is None else (f" WHERE name {ANY_OF}", (as_list(only),))
    return {
        name: KnownFile(FileStamp(size, mtime), sha256, episode, problem)
        for name, size, mtime, sha256, episode, problem, _ in connection.execute(f"SELECT * FROM file{where}", values)  # noqa: S608  (a constant)
    }


def differs(stamp: FileStamp, known: FileStamp) -> bool:
    """Whether a file has to be looked into; ``known`` is its recorded stamp."""
    return not stamp.mtime_ns or stamp != known


def count_pending(connection: sqlite3.Connection, folder: Path) -> int:
    """How many files are new, changed or gone since the last compile."""
    present, known = scan(folder), known_files(connection)
    changed = [
        name
        for name, stamp in present.items()
        if name not in known or (differs(stamp, known[name].stamp) and digest_of(folder / name) != known[name].sha256)
    ]
    return len(changed) + len(known.keys() - present.keys())


def digest_of(path: Path) -> bytes:
    """The hash that graph.db remembers of a file: of its content; empty for one that cannot be read."""
    try:
        return hashlib.sha256(read_own(path)).digest()
    except OSError:
        return b""


class KnownAssertion(msgspec.Struct, frozen=True):
    """What graph.db remembers of an assertion's file."""

    stamp: FileStamp
    sha256: bytes
    unit: str
    body: bytes | None
    problem: str | None


class AssertionChange(msgspec.Struct, frozen=True):
    """A file that is new or changed: its assertion, or what is wrong with it."""

    stamp: FileStamp
    sha256: bytes
    assertion: Assertion | None = None
    problem: str | None = None


class AssertionPlan(msgspec.Struct, frozen=True, kw_only=True):
    """What there is to do. ``units`` are the episodes whose rows must be written again."""

    folder: Path
    changes: dict[str, AssertionChange] = {}
    gone: tuple[str, ...] = ()
    units: frozenset[str] = frozenset()

    def __bool__(self) -> bool:
        """Whether there is anything to do."""
        return bool(self.changes or self.gone)


def plan_assertions(connection: sqlite3.Connection, folder: Path) -> AssertionPlan:
    """Compares the files with what graph.db remembers of them; reads those that differ."""
    known = {
        name: KnownAssertion(FileStamp(size, mtime), *rest)
        for name, size, mtime, *rest in connection.execute(
            "SELECT name, size, mtime_ns, sha256, unit, body, problem FROM assertion"
        )
    }
    present = {name.removesuffix(SUFFIX): stamp for name, stamp in scan(folder, prefix="").items()}
    changes = {
        name: change
        for name, stamp in sorted(present.items())
        if (change := _change(folder / f"{name}{ASSERTION_SUFFIX}", stamp, known.get(name)))
    }
    # What was nobody else's word may have become one: its session was recorded since, or is in no commit any more.
    about = {name: old.unit for name, old in known.items() if name in present and old.unit.startswith(PREFIX)}
    about |= {name: episode_of(one.assertion) or "" for name, one in changes.items() if one.assertion}
    for name in words_of_others(folder, about):
        new, old = changes.get(name), known.get(name)
        digest = new.sha256 if new else old.sha256 if old else b""
        if old and old.problem == WORD_OF_OTHERS and old.sha256 == digest:
            del changes[name]
        else:
            changes[name] = AssertionChange(new.stamp if new else present[name], digest, problem=WORD_OF_OTHERS)
    gone = tuple(sorted(known.keys() - present.keys()))
    before = [known[name] for name in (*changes, *gone) if name in known]
    after = [change.assertion for change in changes.values() if change.assertion]
    return AssertionPlan(
        folder=folder,
        changes=changes,
        gone=gone,
        units=frozenset({unit_of(name_of(one), one) for one in after} | {old.unit for old in before}) - {""},
    )


def remember_assertions(connection: sqlite3.Connection, plan: AssertionPlan) -> None:
    """Brings graph.db's copies up to date with the files."""
    connection.executemany("DELETE FROM assertion WHERE name = ?", ((name,) for name in plan.gone))
    for name, change in plan.changes.items():
        one, stamp = change.assertion, change.stamp
        said = (
            (unit_of(name_of(one), one), sortable_time(one.asserted_at), encode_assertion(one))
            if one
            else ("", "", None)
        )
        row = (name, stamp.size, stamp.mtime_ns, change.sha256, *said, change.problem)
        connection.execute("INSERT OR REPLACE INTO assertion VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", (*row, checksum(row)))


def assertions_of(connection: sqlite3.Connection, unit: str, folder: Path) -> list[Named]:
    """The assertions that belong to a share, by identity."""
    return distinct((name, decode_assertion(body, path=folder)) for name, body in bodies_of(connection, unit))


def bodies_of(connection: sqlite3.Connection, unit: str) -> tuple[tuple[str, bytes], ...]:
    """The names of the assertions that belong to a share, with their texts."""
    rows = connection.execute("SELECT name, body FROM assertion WHERE unit = ? ORDER BY name", (unit,))
    return tuple(rows.fetchall())


def bad_assertions(connection: sqlite3.Connection, folder: Path) -> list[tuple[Path, str]]:
    """The files that contain no assertion, and why."""
    rows = connection.execute("SELECT name, problem FROM assertion WHERE problem IS NOT NULL ORDER BY name")
    return [(folder / f"{name}{ASSERTION_SUFFIX}", problem) for name, problem in rows]


def pending_assertions(connection: sqlite3.Connection, folder: Path) -> list[str]:
    """The names of the files that are new, changed or gone since the last compile."""
    plan = plan_assertions(connection, folder)
    return sorted(name + ASSERTION_SUFFIX for name in (*plan.changes, *plan.gone))


def _change(path: Path, stamp: FileStamp, known: KnownAssertion | None) -> AssertionChange | None:
    """What is new in a file; None when it holds what it held, or is gone, which the next compile sees."""
    may_be_ours = known and known.problem == WORD_OF_OTHERS  # git may not track it any more
    if known and not differs(stamp, known.stamp) and not may_be_ours:
        return None
    try:
        data = read_own(path)
    except OSError as error:
        if isinstance(error, FileNotFoundError) or (known and not known.sha256):  # gone, or as unreadable as before
            return None
        return AssertionChange(FileStamp(0, 0), b"", problem=f"cannot be read: {error.strerror or error}")
    digest = hashlib.sha256(data).digest()
    if known and digest == known.sha256 and not may_be_ours:
        return None
    try:
        return AssertionChange(stamp, digest, decode_assertion(data, path=path))
    except InvalidAssertion as error:
        return AssertionChange(stamp, digest, problem=error.problem)


Progress = Callable[[int, int, Path], None]


class CompileJob(msgspec.Struct, frozen=True):
    """The arguments of a compile.

    ``damage`` is what was wrong with the file that was there before. ``read_files`` is on several processes, which have
    been started for it. ``new_graph`` is one that nobody else can see yet.
    """

    episodes: Path
    causality: Path
    chosen: list[Path]
    since: str
    dry_run: bool
    progress: Progress | None
    assertions_only: bool = False
    workers: int | None = 1
    damage: str | None = None
    read_files: Callable[[Iterable[ReadingTask]], Iterator[bytes]] | None = None
    new_graph: NewGraph | None = None

    @property
    def whole(self) -> bool:
        """Whether everything is looked at, so that what is not there can be called gone."""
        return not (self.since or self.chosen or self.assertions_only)


class CompilePlan(msgspec.Struct, frozen=True):
    """Which files to look into, which are gone, and what is known of these; which assertions there are to take in.

    ``stamps`` are those of the files to look into.
    ``again`` are the episodes' files that are folded again though they have not changed: people have corrected them.
    """

    folder: Path
    stamps: dict[str, FileStamp]
    known: dict[str, KnownFile]
    suspects: list[str]
    gone: list[str]
    asserted: AssertionPlan
    again: frozenset[str]
    since: str = ""

    def __bool__(self) -> bool:
        """Whether there is anything to look into or to take out."""
        return bool(self.suspects or self.gone or self.asserted)


def chosen_paths(folder: Path, paths: Iterable[Path]) -> list[Path]:
    """The paths asked for, made absolute.

    Raises:
        GraphError: One of them is not in the folder.
    """
    root = folder.resolve()
    chosen = [path.resolve() for path in paths]
    for path in chosen:
        if root not in {path, path.parent}:
            raise GraphError(f"{path} lies outside {folder}, which the graph is built from; copy it there and compile")
    return chosen


def make_plan(connection: sqlite3.Connection, job: CompileJob) -> CompilePlan:
    """Compares the files with what graph.db remembers of them."""
    asserted = AssertionPlan(folder=job.causality / ASSERTIONS)
    if job.whole or job.assertions_only:
        asserted = plan_assertions(connection, asserted.folder)
    named = frozenset(unit + SUFFIX for unit in asserted.units)
    if job.assertions_only:
        found, gone = scan(job.episodes, only=sorted(named)), list[str]()
    else:
        found, gone = _compare(connection, job.episodes, named, workers=job.workers)
    if job.chosen and job.episodes.resolve() not in job.chosen:
        wanted = {path.name for path in job.chosen}
        found = {name: stamp for name, stamp in found.items() if name in wanted}
        gone = [name for name in gone if name in wanted]
    if job.since:
        gone = []
    suspects = sorted(found)
    known = known_files(connection, only=[*suspects, *gone])
    again = named.intersection(found)
    return CompilePlan(job.episodes, found, known, suspects, gone, asserted, again, job.since)


def _compare(
    connection: sqlite3.Connection, folder: Path, named: frozenset[str], *, workers: int | None
) -> tuple[dict[str, FileStamp], list[str]]:
    """The files that may have changed or are ``named``, and the names of those that are gone.

    Nearly all of a hundred thousand are as they were; of these nothing is looked up, and nothing stays in memory.
    """
    present = _present(connection, folder, workers) if folder.is_dir() else set()
    if forgotten := forgotten_digests(folder.parent):
        present = {stamp for stamp in present if not _is_forgotten(_name(stamp), forgotten)}
    recorded = {stamp for (stamp,) in connection.execute("SELECT name || '/' || size || '/' || mtime_ns FROM file")}
    again = {stamp for stamp in present & recorded if _name(stamp) in named} if named else set()
    changed: dict[str, FileStamp] = {}
    for stamp in (present - recorded) | again:
        name, size, time = stamp.split("/")
        changed[name] = FileStamp(int(size), 0 if time == "-" else int(time))
    return changed, sorted({_name(stamp) for stamp in recorded - present} - changed.keys())


def _present(connection: sqlite3.Connection, folder: Path, workers: int | None) -> set[str]:
    """The stamps of the files in a folder, asked for by two processes where many are recorded."""
    (files,) = connection.execute("SELECT count(*) FROM file").fetchone()
    between = None
    if worker_count(files, worth=_WORTH_A_PROCESS, asked=workers) > 1:
        offset = int(files * (1 - _SHARE_OF_ANOTHER))
        (between,) = connection.execute("SELECT name FROM file ORDER BY name LIMIT 1 OFFSET ?", (offset,)).fetchone()
    return stamps(str(folder), prefix=PREFIX, suffix=SUFFIX, between=between)


def _name(stamp: str) -> str:
    return stamp.partition("/")[0]


class Digests(msgspec.Struct, frozen=True, kw_only=True):
    """The digests that hold, and the files whose episodes have to be read."""

    packed: tuple[bytes, ...]
    to_read: tuple[Path, ...]


def find_digests(connection: sqlite3.Connection, *, episodes: Path, causality: Path) -> Digests:
    """The digests made by this version."""
    made_by = connection.execute("SELECT value FROM meta WHERE key = 'observations'").fetchone()
    if made_by != (TRIAL_VERSION,):
        return nothing_kept(episodes)
    plan = make_plan(connection, CompileJob(episodes, causality, [], "", dry_run=True, progress=None))
    without = connection.execute("SELECT name FROM file WHERE episode IS NULL")
    to_read = sorted({name for (name,) in without}.union(plan.suspects).difference(plan.gone))
    packed = _digests_but_of(connection, [*to_read, *plan.gone])
    return Digests(packed=tuple(packed), to_read=tuple(episodes / name for name in to_read))


def nothing_kept(episodes: Path) -> Digests:
    """Every file has to be read."""
    return Digests(packed=(), to_read=tuple(episodes / name for name in sorted(scan(episodes))))


def _digests_but_of(connection: sqlite3.Connection, names: Iterable[str]) -> list[bytes]:
    """The digests of all episodes that have a file, but for the files of these names."""
    left_out = set(names)
    file_of: dict[int, str] = dict(connection.execute("SELECT episode, name FROM file WHERE episode IS NOT NULL"))
    return [
        body for episode, body in read_digests(connection) if episode in file_of and file_of[episode] not in left_out
    ]
