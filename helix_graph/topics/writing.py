"""Storing entries: `store` one, with a look for near duplicates, or a `batch` in one transaction.

Log and view change in the same transaction, which is on the disk before anything is answered: what was stored is found
at once, by every process, and what was acknowledged survives a kill.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from helix_graph.topics import view
from helix_graph.topics.duplicates import THRESHOLD, duplicate_of, near
from helix_graph.topics.entries import at, shown, size_of
from helix_graph.topics.errors import EntryNotFound, InvalidItem, InvalidLink
from helix_graph.topics.likeness import alike_pairs
from helix_graph.topics.log import Filed, Record, Tombstone, append, next_number
from helix_graph.topics.model import Alike, BatchStored, Stored
from helix_graph.topics.texts import first_line
from helix_graph.topics.tokens import telling_words

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Sequence

    from helix_graph.topics.drafts import Draft

_LINE = 100


def store(connection: sqlite3.Connection, draft: Draft, *, now: int, force: bool) -> Stored:
    """Stores one entry; without ``force`` the near duplicate that it has in its topic is named.

    Raises:
        InvalidLink: A link leads to no entry; then nothing is stored.
    """
    duplicate = None if force else duplicate_of(connection, draft.topic, draft.text)
    written = file(connection, draft, now=now)
    view.add(connection, [written])
    return Stored(entry=shown(connection, [written])[0], duplicate=duplicate)


def batch(connection: sqlite3.Connection, drafts: Sequence[Draft], *, now: int) -> BatchStored:
    """Stores all of them or none; those alike among them are named, and stored all the same.

    A link may lead to an entry of the same batch that stands before it.

    Raises:
        InvalidItem: A link of one leads to no entry.
    """
    written = list(_filed(connection, drafts, now=now))
    return BatchStored(
        entries=tuple(shown(connection, written)),
        topics=len({draft.topic for draft in drafts}),
        alike=tuple(_alike(drafts)),
    )


def _filed(connection: sqlite3.Connection, drafts: Sequence[Draft], *, now: int) -> Iterable[Filed]:
    """Those without links go into the view together, which is faster; a link needs what stands before it there."""
    waiting: list[Filed] = []
    for place, draft in enumerate(drafts):
        if draft.links:
            view.add(connection, waiting)
            waiting = []
        try:
            one = file(connection, draft, now=now)
        except InvalidLink as error:
            raise InvalidItem(place, problem=str(error)) from error
        waiting.append(one)
        yield one
    view.add(connection, waiting)


def file(connection: sqlite3.Connection, draft: Draft, *, now: int) -> Filed:
    """Appends the record of a new entry to the log; its number is the entry's id and its place in the topic."""
    links = tuple(_target(connection, *link) for link in draft.links)
    number = next_number(connection)
    record = Record(
        entry=number,
        topic=draft.topic,
        position=number,
        stored=now,
        text=draft.text,
        tags=draft.tags,
        source=draft.source,
        confidence=draft.confidence,
        links=links,
    )
    append(connection, record, number=number)
    return Filed(number=number, record=record)


def rewrite(connection: sqlite3.Connection, old: Filed, record: Record, *, now: int) -> Filed:
    """Replaces an entry: the new record is appended, the old one buried."""
    bury(connection, old, now=now)
    number = next_number(connection)
    append(connection, record, number=number)
    new = Filed(number=number, record=record)
    view.add(connection, [new])
    return new


def move(connection: sqlite3.Connection, old: Filed, *, topic: str, keep_place: bool, now: int) -> Filed:
    """Puts an entry into another topic: at its own place in it, or behind everything there."""
    position = old.record.position if keep_place else next_number(connection)
    return rewrite(connection, old, replace(old.record, topic=topic, position=position), now=now)


def bury(connection: sqlite3.Connection, old: Filed, *, now: int) -> None:
    """Takes an entry out: a tombstone is appended, and the view forgets it."""
    append(connection, Tombstone(buries=old.number, at=now), number=next_number(connection))
    view.take_out(connection, old.record)


def _target(connection: sqlite3.Connection, topic: str, index: int) -> int:
    link = f"{topic}:{index}"
    try:
        return at(connection, topic, index).record.entry
    except EntryNotFound as error:
        there = size_of(connection, topic)
        problem = f"leads to no entry ({topic} has {there})" if there else f"leads to no topic ({topic} is not there)"
        raise InvalidLink(link, problem=problem) from error


def _alike(drafts: Sequence[Draft]) -> Iterable[Alike]:
    """Pairs of near duplicates; each entry is named once, with the first that it is like."""
    texts = [draft.text for draft in drafts]
    named: set[int] = set()
    for first, second, similarity in alike_pairs(texts, above=THRESHOLD):
        if second not in named and near(telling_words(texts[second]), telling_words(texts[first])):
            named.add(second)
            line = first_line(texts[first], width=_LINE)
            yield Alike(first=first, second=second, similarity=round(similarity, 3), line=line)
