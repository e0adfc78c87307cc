"""`read`: the entries of a topic, or one of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from helix_graph.topics.entries import at, of_topic, shown, shown_topic, size_of
from helix_graph.topics.model import Entry
from helix_graph.topics.search import no_topic

if TYPE_CHECKING:
    import sqlite3

    from helix_graph.topics.log import Filed


class ReadAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """What `read` answers: ``entries`` are those asked for, ``total`` is how many the topic has.

    ``matching`` is the text that they were asked to hold, ``hint`` says that there is no such topic.
    """

    topic: str
    entries: tuple[Entry, ...]
    total: int
    matching: str | None
    hint: str | None


def read(
    connection: sqlite3.Connection, topic: str, *, index: int | None = None, matching: str | None = None
) -> ReadAnswer:
    """The entries of a topic: all, the one at ``index``, or those that hold a text in any case.

    Raises:
        EntryNotFound: The topic has no such index.
    """
    total = size_of(connection, topic)
    if not total:
        return ReadAnswer(topic=topic, entries=(), total=0, matching=matching, hint=no_topic(connection, topic))
    entries = _all(connection, topic) if index is None else shown(connection, [at(connection, topic, index)])
    kept = entries if matching is None else [one for one in entries if matching.casefold() in one.text.casefold()]
    return ReadAnswer(topic=topic, entries=tuple(kept), total=total, matching=matching, hint=None)


def _all(connection: sqlite3.Connection, topic: str) -> list[Entry]:
    filed: list[Filed] = of_topic(connection, topic)
    return shown_topic(connection, filed)
