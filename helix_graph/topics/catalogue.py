"""What there is: all topics, those with new entries, counts, and what a session is told at its beginning."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

import msgspec

from helix_graph.topics.model import TopicSize, moment
from helix_graph.topics.quick import stored_since

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable
    from pathlib import Path


class Listing(msgspec.Struct, frozen=True, kw_only=True):
    """All topics by name, and how many entries there are."""

    topics: tuple[TopicSize, ...]
    entries: int


class Recent(msgspec.Struct, frozen=True, kw_only=True):
    """Topics with entries stored ``since``, those with the most first."""

    since: datetime
    topics: tuple[TopicSize, ...]


class TagCount(msgspec.Struct, frozen=True, kw_only=True):
    """A tag and how many entries have it."""

    tag: str
    entries: int


class IndexSize(msgspec.Struct, frozen=True, kw_only=True):
    """How large the view is: different words, places where they stand, and bytes of the whole database file."""

    terms: int
    postings: int
    bytes: int


class Stats(msgspec.Struct, frozen=True, kw_only=True):
    """Counts. ``tags`` and ``index`` are filled when they are asked for."""

    topics: int
    entries: int
    oldest: datetime | None
    newest: datetime | None
    tags: tuple[TagCount, ...] | None = None
    index: IndexSize | None = None


class Session(msgspec.Struct, frozen=True, kw_only=True):
    """What a session is told at its beginning: how much there is, and the largest topics."""

    topics: int
    entries: int
    largest: tuple[TopicSize, ...]


#: So many topics are named to a session.
_LARGEST = 15


def listing(connection: sqlite3.Connection) -> Listing:
    """All topics, in the order of their names."""
    rows = connection.execute("SELECT name, entries FROM topic ORDER BY name").fetchall()
    return Listing(topics=_sizes(rows), entries=sum(n for _, n in rows))


def largest(connection: sqlite3.Connection, limit: int) -> tuple[TopicSize, ...]:
    """The topics with the most entries."""
    return _sizes(connection.execute("SELECT name, entries FROM topic ORDER BY entries DESC, name LIMIT ?", (limit,)))


def recent(connection: sqlite3.Connection, since: int) -> Recent:
    """Topics with entries stored since then."""
    return Recent(since=moment(since), topics=_sizes(stored_since(connection, since)))


def stats(connection: sqlite3.Connection, path: Path, *, detail: str | None) -> Stats:
    """Counts, with those of each tag or of the index on demand."""
    topics = connection.execute("SELECT COUNT(*) FROM topic").fetchone()[0]
    entries, oldest, newest = connection.execute(
        "SELECT COUNT(*), MIN(stored), MAX(stored) FROM topic_entry"
    ).fetchone()
    return Stats(
        topics=topics,
        entries=entries,
        oldest=None if oldest is None else moment(oldest),
        newest=None if newest is None else moment(newest),
        tags=tag_counts(connection) if detail == "tags" else None,
        index=index_size(connection, path) if detail == "index" else None,
    )


def tag_counts(connection: sqlite3.Connection) -> tuple[TagCount, ...]:
    """All tags, those of the most entries first."""
    rows = connection.execute("SELECT tag, COUNT(*) FROM topic_tag GROUP BY tag ORDER BY 2 DESC, 1")
    return tuple(TagCount(tag=tag, entries=n) for tag, n in rows)


def index_size(connection: sqlite3.Connection, path: Path) -> IndexSize:
    """How large the view is."""
    terms = connection.execute("SELECT COUNT(*) FROM topic_word WHERE entries > 0").fetchone()[0]
    postings = connection.execute("SELECT COUNT(*) FROM topic_posting").fetchone()[0]
    return IndexSize(terms=terms, postings=postings, bytes=file_bytes(path))


def session(connection: sqlite3.Connection) -> Session:
    """What a session is told at its beginning."""
    all_of_them = listing(connection)
    return Session(topics=len(all_of_them.topics), entries=all_of_them.entries, largest=largest(connection, _LARGEST))


def file_bytes(path: Path) -> int:
    """What the database takes on the disk, with its log of writes; 0 where there is none."""
    files = (path, path.with_name(path.name + "-wal"))
    return sum(file.stat().st_size for file in files if file.exists())


def _sizes(rows: Iterable[tuple[str, int]]) -> tuple[TopicSize, ...]:
    return tuple(TopicSize(topic=topic, entries=n) for topic, n in rows)
