"""What there is: topics, those with new entries, counts, a session's start, references, the briefing on everything.

An entry refers to a topic when it links to an entry of it, or when its text contains the words of the topic's name, one
after the other, in any form. Each entry counts once for each topic that it refers to, and never for its own.
"""

from __future__ import annotations

import fnmatch
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from helix_graph.database import ANY_OF, as_list
from helix_graph.helix_db import datetime_of
from helix_graph.topics.entry_log import by_id, indices, no_such_topic, size_of
from helix_graph.topics.fields import first_line
from helix_graph.topics.index import CATEGORIES
from helix_graph.topics.model import Category, TopicSize
from helix_graph.topics.ranking import stored_since
from helix_graph.word_search import match_all, query_words

if TYPE_CHECKING:
    import sqlite3


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
    """How large the index is: different words, places where they stand, and bytes of the whole database file."""

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


class TopicSession(msgspec.Struct, frozen=True, kw_only=True):
    """What a session is told at its beginning: how much there is, and the largest topics."""

    topics: int
    entries: int
    largest: tuple[TopicSize, ...]


#: This many topics are named to a session.
_LARGEST = 15


def listing(connection: sqlite3.Connection) -> Listing:
    """All topics, in the order of their names."""
    rows = connection.execute("SELECT name, entries FROM topic ORDER BY name").fetchall()
    return Listing(topics=_sizes(rows), entries=sum(n for _, n in rows))


def recent(connection: sqlite3.Connection, since: int) -> Recent:
    """Topics with entries stored since then."""
    return Recent(since=datetime_of(since), topics=_sizes(stored_since(connection, since)))


def stats(connection: sqlite3.Connection, path: Path, *, detail: str | None) -> Stats:
    """Counts, with those of each tag or of the index on demand."""
    topics = connection.execute("SELECT COUNT(*) FROM topic").fetchone()[0]
    entries, oldest, newest = connection.execute(
        "SELECT COUNT(*), MIN(stored), MAX(stored) FROM topic_entry"
    ).fetchone()
    tags = connection.execute("SELECT tag, COUNT(*) FROM topic_tag GROUP BY tag ORDER BY 2 DESC, 1")
    return Stats(
        topics=topics,
        entries=entries,
        oldest=None if oldest is None else datetime_of(oldest),
        newest=None if newest is None else datetime_of(newest),
        tags=tuple(TagCount(tag=tag, entries=n) for tag, n in tags) if detail == "tags" else None,
        index=index_size(connection, path) if detail == "index" else None,
    )


def index_size(connection: sqlite3.Connection, path: Path) -> IndexSize:
    """How large the index is."""
    terms, postings = connection.execute("SELECT COUNT(*), TOTAL(doc) FROM topic_term").fetchone()
    return IndexSize(terms=terms, postings=int(postings), bytes=file_bytes(path))


def session_summary(connection: sqlite3.Connection) -> TopicSession:
    """What a session is told at its beginning."""
    everything = listing(connection)
    largest = sorted(everything.topics, key=lambda one: (-one.entries, one.topic))[:_LARGEST]
    return TopicSession(topics=len(everything.topics), entries=everything.entries, largest=tuple(largest))


def file_bytes(path: Path) -> int:
    """What the database takes on the disk, with its log of writes; 0 where there is none."""
    files = (path, path.with_name(path.name + "-wal"))
    return sum(file.stat().st_size for file in files if file.exists())


def _sizes(rows: Iterable[tuple[str, int]]) -> tuple[TopicSize, ...]:
    return tuple(TopicSize(topic=topic, entries=n) for topic, n in rows)


class CrossReferences(msgspec.Struct, frozen=True, kw_only=True):
    """Topics whose entries refer to this one, and those that its entries refer to, the most entries first."""

    topic: str
    referenced_by: tuple[TopicSize, ...]
    references: tuple[TopicSize, ...]
    hint: str | None


class Edge(msgspec.Struct, frozen=True, kw_only=True):
    """This many entries of one topic refer to the other."""

    source: str
    target: str
    entries: int


class TopicGraph(msgspec.Struct, frozen=True, kw_only=True):
    """Every reference between topics; with ``focus`` those that a topic of that pattern takes part in."""

    focus: str | None
    edges: tuple[Edge, ...]


def xref(connection: sqlite3.Connection, topic: str) -> CrossReferences:
    """The references to and from a topic."""
    if not size_of(connection, topic):
        hint = no_such_topic(connection, topic)
        return CrossReferences(topic=topic, referenced_by=(), references=(), hint=hint)
    edges = _counted(_pairs(connection, about=topic))
    return CrossReferences(
        topic=topic,
        referenced_by=_sizes((edge.source, edge.entries) for edge in edges if edge.target == topic),
        references=_sizes((edge.target, edge.entries) for edge in edges if edge.source == topic),
        hint=None,
    )


def graph(connection: sqlite3.Connection, focus: str | None) -> TopicGraph:
    """The references between topics."""
    edges = _counted(_pairs(connection))
    if focus is not None:
        edges = [one for one in edges if any(fnmatch.fnmatchcase(end, focus) for end in (one.source, one.target))]
    return TopicGraph(focus=focus, edges=tuple(edges))


def _counted(pairs: Iterable[tuple[int, str, str]]) -> list[Edge]:
    counts = Counter((source, target) for _, source, target in set(pairs) if source != target)
    ranked = sorted(counts.items(), key=lambda one: (-one[1], one[0]))
    return [Edge(source=source, target=target, entries=n) for (source, target), n in ranked]


def _pairs(connection: sqlite3.Connection, *, about: str | None = None) -> Iterator[tuple[int, str, str]]:
    """Each entry with its topic and a topic that it refers to; ``about`` keeps those that one topic takes part in."""
    yield from connection.execute(
        "SELECT s.entry, s.topic, t.topic FROM topic_link l CROSS JOIN topic_entry s ON s.entry = l.source"
        " CROSS JOIN topic_entry t ON t.entry = l.target WHERE ?1 IS NULL OR s.topic = ?1 OR t.topic = ?1",
        (about,),
    )
    names = [name for (name,) in connection.execute("SELECT name FROM topic ORDER BY name")]
    for name in names:
        within = about if name != about else None
        yield from ((entry, topic, name) for entry, topic in _mentions(connection, name, within=within))


def _mentions(connection: sqlite3.Connection, name: str, *, within: str | None) -> Iterator[tuple[int, str]]:
    """Entries whose texts name the topic, of one topic or of all."""
    words = query_words(name)
    if not words:
        return
    rows = connection.execute(
        "SELECT e.entry, e.topic, t.text FROM topic_text t CROSS JOIN topic_entry e ON e.entry = t.rowid"
        " WHERE topic_text MATCH ?1 AND (?2 IS NULL OR e.topic = ?2) AND e.topic <> ?3",
        (match_all([" ".join(words)]), within, name),
    )
    exact = re.compile(r"(?<![^\W_])" + r"[\W_]+".join(words) + r"(?![^\W_])")  # the index compares stems
    yield from ((entry, topic) for entry, topic, text in rows if exact.search(text))


class CategorySize(msgspec.Struct, frozen=True, kw_only=True):
    """A category, how many entries are in it, and their share of all, 0 to 1."""

    category: Category
    entries: int
    share: float


class Gap(msgspec.Struct, frozen=True, kw_only=True):
    """Something that is said to be missing."""

    topic: str
    index: int
    line: str


class Overview(msgspec.Struct, frozen=True, kw_only=True):
    """A briefing on everything: ``more_topics`` are counted and not listed; ``compact`` lists five and no more."""

    compact: bool
    topics: tuple[TopicSize, ...]
    more_topics: int
    categories: tuple[CategorySize, ...]
    hot: tuple[TopicSize, ...]
    gaps: tuple[Gap, ...]
    entries: int
    topic_count: int
    newest: datetime | None
    age_days: int | None


def category_sizes(counts: Mapping[Category, int]) -> tuple[CategorySize, ...]:
    """Categories with their shares, the largest first."""
    total = sum(counts.values())
    ranked = sorted(counts.items(), key=lambda one: (-one[1], CATEGORIES.index(one[0])))
    return tuple(CategorySize(category=name, entries=n, share=n / total) for name, n in ranked)


HOT_SECONDS = 48 * 3_600
_TOPICS = 20
_TOPICS_COMPACT = 5
_HOT = 5
_GAPS = 5
_GAP_WIDTH = 100
_DAY = 86_400
_Values = tuple[str | int, ...]


def overview(
    connection: sqlite3.Connection, *, since: int | None, focus: Sequence[Category], compact: bool, now: int
) -> Overview:
    """What there is; with ``since`` stored since then, with ``focus`` of these categories."""
    chosen = _chosen(since, focus)
    condition, values = chosen
    counted = f"SELECT topic, COUNT(*) FROM topic_entry WHERE {condition} GROUP BY topic ORDER BY 2 DESC, 1"  # noqa: S608  (our own names and constants)
    by_category = f"SELECT category, COUNT(*) FROM topic_entry WHERE {condition} GROUP BY category"  # noqa: S608  (our own names and constants)
    everything = "SELECT name, entries FROM topic ORDER BY entries DESC, name"
    rows = connection.execute(counted if values else everything, values)
    topics = [TopicSize(topic=topic, entries=n) for topic, n in rows]
    listed = _TOPICS_COMPACT if compact else _TOPICS
    newest = connection.execute(f"SELECT MAX(stored) FROM topic_entry WHERE {condition}", values).fetchone()[0]  # noqa: S608  (our own names and constants)
    return Overview(
        compact=compact,
        topics=tuple(topics[:listed]),
        more_topics=max(len(topics) - listed, 0),
        categories=() if compact else category_sizes(dict(connection.execute(by_category, values))),
        hot=() if compact else _hot(connection, chosen, now=now),
        gaps=() if compact else _gaps(connection, chosen),
        entries=sum(one.entries for one in topics),
        topic_count=len(topics),
        newest=None if newest is None else datetime_of(newest),
        age_days=None if newest is None else max(now // _DAY - newest // _DAY, 0),
    )


def _chosen(since: int | None, focus: Sequence[Category]) -> tuple[str, _Values]:
    """The condition on entries that a briefing is about, with its values; none that always holds is asked."""
    conditions = ["TRUE"]
    values: list[str | int] = []
    if since is not None:
        conditions.append("stored >= ?")
        values.append(since)
    if focus:
        conditions.append(f"category {ANY_OF}")
        values.append(as_list(focus))
    return " AND ".join(conditions), tuple(values)


def _hot(connection: sqlite3.Connection, chosen: tuple[str, _Values], *, now: int) -> tuple[TopicSize, ...]:
    """The topics with the most entries of the last 48 hours."""
    condition, values = chosen
    rows = connection.execute(
        f"SELECT topic, COUNT(*) FROM topic_entry WHERE {condition} AND stored >= ?"  # noqa: S608  (our own names and constants)
        " GROUP BY topic ORDER BY 2 DESC, 1 LIMIT ?",
        (*values, now - HOT_SECONDS, _HOT),
    )
    return tuple(TopicSize(topic=topic, entries=n) for topic, n in rows)


def _gaps(connection: sqlite3.Connection, chosen: tuple[str, _Values]) -> tuple[Gap, ...]:
    """The newest entries that say that something is missing."""
    condition, values = chosen
    rows = connection.execute(
        f"SELECT entry FROM topic_entry WHERE {condition} AND category = 'gaps'"  # noqa: S608  (our own names and constants)
        " ORDER BY stored DESC, entry DESC LIMIT ?",
        (*values, _GAPS),
    )
    ids = [entry for (entry,) in rows]
    found, places = by_id(connection, ids), indices(connection, ids)
    return tuple(
        Gap(topic=places[entry][0], index=places[entry][1], line=first_line(found[entry].record.text, width=_GAP_WIDTH))
        for entry in ids
    )
