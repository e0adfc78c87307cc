"""Keeping house: `prune` old entries, `compact` the log, `reindex` the view."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import TYPE_CHECKING

import msgspec

from helix_graph.database import erase_traces
from helix_graph.helix_db import HELIX_DB
from helix_graph.topics import view
from helix_graph.topics.catalogue import IndexSize, file_bytes, index_size
from helix_graph.topics.damage import Standing, standing
from helix_graph.topics.entries import by_id, shown
from helix_graph.topics.log import damage, live
from helix_graph.topics.model import Damaged, Entry, moment
from helix_graph.topics.writing import bury

if TYPE_CHECKING:
    import sqlite3

    from helix_graph.helix_db import HelixDatabase

#: What is told how much is done of how much.
Progress = Callable[[int, int], None]


class Pruned(msgspec.Struct, frozen=True, kw_only=True):
    """Entries not written to since ``before``; ``applied`` says whether they have been removed."""

    before: datetime
    applied: bool
    entries: tuple[Entry, ...]


class Compacted(msgspec.Struct, frozen=True, kw_only=True):
    """How many entries there are, how many buried records were taken out, and the file's bytes before and after.

    ``damaged`` names records that are not what was written; they are kept as they are.
    """

    entries: int
    removed: int
    bytes_before: int
    bytes_after: int
    damaged: tuple[Damaged, ...] = ()


class Reindexed(msgspec.Struct, frozen=True, kw_only=True):
    """How many entries the view was made of, and how large it is."""

    entries: int
    index: IndexSize


def prune(connection: sqlite3.Connection, before: int, *, apply: bool, now: int) -> Pruned:
    """Entries last written before then; with ``apply`` they are removed."""
    rows = connection.execute("SELECT entry FROM topic_entry WHERE changed < ? ORDER BY topic, position", (before,))
    ids = [entry for (entry,) in rows]
    filed = by_id(connection, ids)
    entries = shown(connection, [filed[entry] for entry in ids])
    if apply:
        for entry in ids:
            bury(connection, filed[entry], now=now)
    return Pruned(before=moment(before), applied=apply, entries=tuple(entries))


def compact(database: HelixDatabase, progress: Progress | None = None) -> Compacted:
    """Takes buried records out of the log, and writes the file anew without what was deleted.

    Every record and every page is checked first. Damaged pages are refused; of a damaged record every byte is kept, and
    it is named. Other processes may go on reading and writing; what they store in the meantime is kept.

    Raises:
        MemoryDamaged: The file is not what was written; nothing was changed.
    """
    tell = progress or _silent
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
        connection.execute("DELETE FROM topic_word WHERE entries = 0")
    tell(2, 3)
    erase_traces(database.path, HELIX_DB)
    tell(3, 3)
    return Compacted(
        entries=len(found.entries),
        removed=gone,
        bytes_before=before,
        bytes_after=file_bytes(database.path),
        damaged=found.damaged,
    )


def reindex(database: HelixDatabase, progress: Progress | None = None) -> Reindexed:
    """Makes the view anew from the log, which is checked record by record.

    Raises:
        RecordDamaged: A record of the log is not what was written; nothing was changed.
    """
    with database.writing() as connection:
        entries = list(live(connection))
        view.empty(connection)
        for place in range(0, len(entries), view.AT_ONCE):
            view.add(connection, entries[place : place + view.AT_ONCE])
            (progress or _silent)(min(place + view.AT_ONCE, len(entries)), len(entries))
        return Reindexed(entries=len(entries), index=index_size(connection, database.path))


def check_pages(connection: sqlite3.Connection) -> None:
    """Has SQLite look at every page of the file.

    Raises:
        sqlite3.DatabaseError: One is not what it should be.
    """
    problem = connection.execute("PRAGMA integrity_check(1)").fetchone()[0]
    if problem != "ok":
        raise damage(problem)


def _whole(connection: sqlite3.Connection) -> Standing:
    """What the log holds, when file, log and view agree but for records that are damaged.

    Raises:
        sqlite3.DatabaseError: They do not.
    """
    check_pages(connection)
    found = standing(connection)
    spoilt = {one.record for one in found.damaged}
    seen = {number for (number,) in connection.execute("SELECT number FROM topic_entry")}
    if {one.number for one in found.entries} != seen - spoilt:
        raise damage("the topics' log and index differ; `topic topics reindex` makes the index anew")
    return found


def _silent(done: int, total: int) -> None:
    """Nobody watches."""
