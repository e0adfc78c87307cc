"""The entries that a briefing is about.

A pattern with ``*`` or ``?`` takes the topics of such names. Any other query takes the topic of that name and those
that have it as words of theirs (``engine-v2``), or without such a topic those whose names hold it; where none does, it
is a keyword, and the entries that `search` would find are taken. Links of all these are followed one step.
"""

from __future__ import annotations

import fnmatch
from typing import TYPE_CHECKING, Literal

import msgspec

from helix_graph.topics import ranking
from helix_graph.topics.entries import by_id, of_topic
from helix_graph.topics.log import Filed
from helix_graph.topics.ranking import Filters, Period
from helix_graph.topics.texts import hyphened
from helix_graph.topics.tokens import asked

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Collection, Sequence


FoundBy = Literal["topic", "glob", "words", "nothing"]
GLOB = frozenset("*?")
#: Of a keyword that stands everywhere the best are taken.
_MOST_BY_WORDS = 500


class Collected(msgspec.Struct, frozen=True, kw_only=True):
    """The entries by id, how they were found, the words of the query, and for linked ones which entry led to them."""

    entries: dict[int, Filed]
    found_by: FoundBy
    words: tuple[str, ...]
    via: dict[int, int]


def collect(connection: sqlite3.Connection, query: str, *, since: int | None) -> Collected:
    """Finds the entries, those written since then only."""
    words = asked(query)[: ranking.MOST_WORDS]
    topics = _topics(connection, query)
    found_by: FoundBy = "glob" if GLOB & set(query) else "topic"
    entries = {one.record.entry: one for topic in topics for one in of_topic(connection, topic)}
    if not topics and found_by == "topic":
        found_by, entries = "words", _by_words(connection, words)
    entries = {entry: one for entry, one in entries.items() if since is None or one.record.changed >= since}
    via = _linked(entries.values())
    linked = by_id(connection, via)
    linked = {entry: one for entry, one in linked.items() if since is None or one.record.changed >= since}
    everything = {**entries, **linked}
    return Collected(
        entries=everything,
        found_by=found_by if everything else "nothing",
        words=words,
        via={entry: via[entry] for entry in linked},
    )


def _topics(connection: sqlite3.Connection, query: str) -> list[str]:
    names = [name for (name,) in connection.execute("SELECT name FROM topic ORDER BY name")]
    if GLOB & set(query):
        pattern = hyphened(query, keep="*?")
        return [name for name in names if fnmatch.fnmatchcase(name, pattern)]
    wanted = hyphened(query)
    if wanted in names:
        return [name for name in names if f"-{wanted}-" in f"-{name}-"]
    return [name for name in names if wanted in name]


def _by_words(connection: sqlite3.Connection, words: Sequence[str]) -> dict[int, Filed]:
    known = ranking.known_words(connection, words)
    if not known:
        return {}
    mean, anything = ranking.mean_length(connection), Filters(period=Period())
    strict = ranking.having_all(known, mean=mean)
    found = len(known) == len(words) and ranking.best(connection, strict, anything, limit=_MOST_BY_WORDS).scored
    loose = ranking.having_any(known, mean=mean)
    scored = found or ranking.best(connection, loose, anything, limit=_MOST_BY_WORDS).scored
    return by_id(connection, [entry for entry, _ in scored])


def _linked(entries: Collection[Filed]) -> dict[int, int]:
    """Entries that links lead to and that are not collected yet, each with the first entry that links to it."""
    there = {one.record.entry for one in entries}
    led: dict[int, int] = {}
    for one in sorted(entries, key=lambda filed: filed.record.entry):
        for target in one.record.links:
            if target not in there:
                led.setdefault(target, one.record.entry)
    return led
