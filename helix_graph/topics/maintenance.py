"""Maintenance: `prune` old entries, `compact` the log, `reindex`, and `stale`: entries whose source has changed.

A source is ``path:line`` or a path. A file that does not exist is no evidence for anything, so such sources are only
counted. With ``refresh`` the lines that the source names are shown as they are now, of files inside the project and
without the secrets in them: anybody may have named the source.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from helix_episodes.redaction import redact_text
from helix_episodes.safe_files import irregularity, read_regular
from helix_graph.database import erase_traces
from helix_graph.helix_db import HELIX_DB, HelixDatabase, datetime_of
from helix_graph.topics import index
from helix_graph.topics.catalogue import IndexSize, file_bytes, index_size
from helix_graph.topics.entry_log import (
    EntryTombstone,
    LogState,
    append_record,
    by_id,
    damage,
    live,
    log_state,
    next_number,
    shown,
)
from helix_graph.topics.model import Damaged, Entry
from helix_graph.topics.storing import bury_entry

if TYPE_CHECKING:
    import sqlite3


def remove_damaged(connection: sqlite3.Connection, found: LogState, *, now: int) -> None:
    """Takes the damaged records out of log and index; what one of them may have buried stays buried."""
    connection.executemany("DELETE FROM topic_log WHERE number = ?", [(one.record,) for one in found.damaged])
    for one in found.unsaid:
        append_record(connection, EntryTombstone(buries=one.number, at=now), number=next_number(connection))
    index.clear_index(connection)
    index.add_to_index(connection, found.entries)


#: ``src/cache.rs:42``, also with a column or a span of lines; what stands before the first number is the path.
_SOURCE = re.compile(r"(?P<path>.+?)(?::(?P<line>\d{1,9})(?:[:-]\d{1,9})?)?\Z")
#: This many lines on each side of the one that is named.
_AROUND = 3
_MOST_LINES = 12
_LARGEST_FILE = 5_000_000
#: The lines of the longest private key that anybody makes, RSA's of 16,384 bits, twice.
_LONGEST_KEY = 400


class StaleEntry(msgspec.Struct, frozen=True, kw_only=True):
    """An entry, its source file, when that was changed, and its lines as they are now where they were asked for."""

    entry: Entry
    file: str
    file_changed: datetime
    line: int | None
    current: str | None


class StaleAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """What `stale` answers: of ``checked`` sources some are stale, and of ``absent`` ones the file is not there."""

    entries: tuple[StaleEntry, ...]
    checked: int
    absent: int
    refreshed: bool


def stale(connection: sqlite3.Connection, folders: Sequence[Path], *, refresh: bool) -> StaleAnswer:
    """Entries whose source file is younger than they are; relative paths are looked up in each folder in turn."""
    filed = by_id(connection, [entry for (entry,) in connection.execute("SELECT entry FROM topic_entry")])
    sourced = [one for _, one in sorted(filed.items()) if one.record.source]
    files = {source: _file(source, folders) for source in {one.record.source or "" for one in sourced}}
    found = [(one, file) for one in sourced if (file := files[one.record.source or ""]) is not None]
    old = [(one, file) for one, file in found if file.stat().st_mtime >= one.record.changed + 1]
    entries = shown(connection, [one for one, _ in old])
    return StaleAnswer(
        entries=tuple(
            _stale(entry, file, folders, refresh=refresh) for entry, (_, file) in zip(entries, old, strict=True)
        ),
        checked=len(found),
        absent=len(sourced) - len(found),
        refreshed=refresh,
    )


def _parts(source: str) -> tuple[str, int | None]:
    found = _SOURCE.match(source)
    if found is None:
        return source, None
    return found["path"], int(found["line"]) if found["line"] else None


def _file(source: str, folders: Sequence[Path]) -> Path | None:
    path = _parts(source)[0]
    for folder in folders:
        try:
            file = folder / path
            if file.is_file():
                return file
        except (OSError, ValueError):  # a name too long, or with a character that no name has
            continue
    return None


def _stale(entry: Entry, file: Path, folders: Sequence[Path], *, refresh: bool) -> StaleEntry:
    line = _parts(entry.source or "")[1]
    return StaleEntry(
        entry=entry,
        file=str(file),
        file_changed=datetime_of(int(file.stat().st_mtime)),
        line=line,
        current=_current(file, line, folders) if refresh else None,
    )


def _current(file: Path, line: int | None, folders: Sequence[Path]) -> str | None:
    """The lines around the one that is named; None of what is no text file of the project."""
    real = file.resolve()
    inside = any(real.is_relative_to(folder.resolve()) for folder in folders)
    if not inside or irregularity(real) or real.stat().st_size > _LARGEST_FILE:
        return None
    try:
        lines = read_regular(real).decode("utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        return None
    start, end = (0, _MOST_LINES) if line is None else (max(line - 1 - _AROUND, 0), line + _AROUND)
    # A key has many lines, and none of them looks like one by itself.
    around = lines[max(start - _LONGEST_KEY, 0) : end + _LONGEST_KEY]
    free = set(redact_text("\n".join(around)).split("\n"))
    shown = (text if (text := redact_text(one)) in free else "[redacted]" for one in lines[start:end])
    return "\n".join(f"{number}: {text}" for number, text in enumerate(shown, start + 1))


#: What is told how much is done of how much.
Progress = Callable[[int, int], None]


class PrunedEntries(msgspec.Struct, frozen=True, kw_only=True):
    """Entries not written to since ``before``; ``applied`` says whether they have been removed."""

    before: datetime
    applied: bool
    entries: tuple[Entry, ...]


class CompactedLog(msgspec.Struct, frozen=True, kw_only=True):
    """How many entries there are, how many buried records were taken out, and the file's bytes before and after.

    ``damaged`` names records that are not what was written; they are kept as they are.
    """

    entries: int
    removed: int
    bytes_before: int
    bytes_after: int
    damaged: tuple[Damaged, ...] = ()


class ReindexedEntries(msgspec.Struct, frozen=True, kw_only=True):
    """How many entries the index was made of, and how large it is."""

    entries: int
    index: IndexSize


def prune(connection: sqlite3.Connection, before: int, *, apply: bool, now: int) -> PrunedEntries:
    """Entries last written before then; with ``apply`` they are removed."""
    rows = connection.execute("SELECT entry FROM topic_entry WHERE changed < ? ORDER BY topic, position", (before,))
    ids = [entry for (entry,) in rows]
    filed = by_id(connection, ids)
    entries = shown(connection, [filed[entry] for entry in ids])
    if apply:
        for entry in ids:
            bury_entry(connection, filed[entry], now=now)
    return PrunedEntries(before=datetime_of(before), applied=apply, entries=tuple(entries))


def compact(database: HelixDatabase, progress: Progress | None = None) -> CompactedLog:
    """Takes buried records out of the log, and writes the file again without what was deleted.

    Every record and every page is checked first. Damaged pages are refused; of a damaged record every byte is kept, and
    it is named. Other processes may go on reading and writing; what they store in the meantime is kept.

    Raises:
        MemoryDamaged: The file is not what was written; nothing was changed.
    """
    tell = progress or (lambda _done, _total: None)
    before = file_bytes(database.path)
    with database.writing() as connection:
        tell(0, 3)
        found = _whole(connection)
        kept = [*(one.number for one in (*found.entries, *found.unsaid)), *found.bodies]
        tell(1, 3)
        connection.execute("CREATE TEMP TABLE kept_record (number INTEGER PRIMARY KEY)")
        connection.executemany("INSERT INTO kept_record VALUES (?)", ((number,) for number in kept))
        gone = connection.execute("DELETE FROM topic_log WHERE number NOT IN (SELECT number FROM kept_record)").rowcount
        connection.execute("DROP TABLE kept_record")  # the connection may be used again
        connection.execute("INSERT INTO topic_text (topic_text) VALUES ('optimize')")  # lets go of words deleted
    tell(2, 3)
    erase_traces(database.path, HELIX_DB)
    tell(3, 3)
    return CompactedLog(
        entries=len(found.entries),
        removed=gone,
        bytes_before=before,
        bytes_after=file_bytes(database.path),
        damaged=found.damaged,
    )


def reindex(database: HelixDatabase, progress: Progress | None = None) -> ReindexedEntries:
    """Makes the index again from the log, which is checked record by record.

    Raises:
        HelixGraphError: A record of the log is not what was written; nothing was changed.
    """
    with database.writing() as connection:
        entries = live(connection)
        index.clear_index(connection)
        index.add_in_parts(connection, entries, progress)
        return ReindexedEntries(entries=len(entries), index=index_size(connection, database.path))


def check_pages(connection: sqlite3.Connection) -> None:
    """Has SQLite look at every page of the file.

    Raises:
        sqlite3.DatabaseError: One is not what it should be.
    """
    problem = connection.execute("PRAGMA integrity_check(1)").fetchone()[0]
    if problem != "ok":
        raise damage(problem)


def _whole(connection: sqlite3.Connection) -> LogState:
    """What the log holds, when file, log and index agree but for records that are damaged.

    Raises:
        sqlite3.DatabaseError: They do not.
    """
    check_pages(connection)
    found = log_state(connection)
    spoilt = {one.record for one in found.damaged}
    seen = {number for (number,) in connection.execute("SELECT number FROM topic_entry")}
    if {one.number for one in found.entries} != seen - spoilt:
        raise damage("the topics' log and index differ; `helix-graph topic topics reindex` rebuilds it")
    return found
