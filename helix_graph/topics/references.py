"""Which topics speak of which: `xref` of one topic, `graph` of all.

An entry refers to a topic when it links to an entry of it, or when its text names it: the words of the topic's name,
one after the other. Each entry counts once for each topic that it refers to, and none for its own.
"""

from __future__ import annotations

import fnmatch
from collections import Counter
from typing import TYPE_CHECKING

import msgspec

from helix_graph.database import ANY_OF, as_list
from helix_graph.topics.entries import by_id, size_of
from helix_graph.topics.model import TopicSize
from helix_graph.topics.search import no_topic
from helix_graph.topics.tokens import words

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Iterator


class CrossReferences(msgspec.Struct, frozen=True, kw_only=True):
    """Topics whose entries refer to this one, and those that its entries refer to, the most entries first."""

    topic: str
    referenced_by: tuple[TopicSize, ...]
    references: tuple[TopicSize, ...]
    hint: str | None


class Edge(msgspec.Struct, frozen=True, kw_only=True):
    """So many entries of one topic refer to the other."""

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
        hint = no_topic(connection, topic)
        return CrossReferences(topic=topic, referenced_by=(), references=(), hint=hint)
    edges = _counted(_pairs(connection, about=topic))
    return CrossReferences(
        topic=topic,
        referenced_by=_ranked({edge.source: edge.entries for edge in edges if edge.target == topic}),
        references=_ranked({edge.target: edge.entries for edge in edges if edge.source == topic}),
        hint=None,
    )


def graph(connection: sqlite3.Connection, focus: str | None) -> TopicGraph:
    """The references between topics."""
    edges = _counted(_pairs(connection))
    return TopicGraph(focus=focus, edges=tuple(edge for edge in edges if focus is None or _in_focus(edge, focus)))


def _in_focus(edge: Edge, focus: str) -> bool:
    return fnmatch.fnmatchcase(edge.source, focus) or fnmatch.fnmatchcase(edge.target, focus)


def _counted(pairs: Iterable[tuple[int, str, str]]) -> list[Edge]:
    counts = Counter((source, target) for _, source, target in set(pairs) if source != target)
    ranked = sorted(counts.items(), key=lambda one: (-one[1], one[0]))
    return [Edge(source=source, target=target, entries=n) for (source, target), n in ranked]


def _ranked(counts: dict[str, int]) -> tuple[TopicSize, ...]:
    return tuple(TopicSize(topic=topic, entries=n) for topic, n in counts.items())


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
    spelled = words(name)
    if not spelled:
        return
    rows = connection.execute(
        "SELECT p.entry, e.topic FROM topic_posting p CROSS JOIN topic_entry e ON e.entry = p.entry WHERE p.word IN"  # noqa: S608  (our own names and constants)
        f" (SELECT word FROM topic_word WHERE spelling {ANY_OF}) AND (?2 IS NULL OR e.topic = ?2) AND e.topic <> ?3"
        " GROUP BY p.entry HAVING COUNT(*) = ?4",
        (as_list(set(spelled)), within, name, len(set(spelled))),
    ).fetchall()
    if len(spelled) == 1:
        yield from rows
        return
    texts = by_id(connection, [entry for entry, _ in rows])
    yield from ((entry, topic) for entry, topic in rows if _stands_in(spelled, words(texts[entry].record.text)))


def _stands_in(sequence: list[str], text: list[str]) -> bool:
    first = sequence[0]
    return any(word == first and text[at : at + len(sequence)] == sequence for at, word in enumerate(text))
