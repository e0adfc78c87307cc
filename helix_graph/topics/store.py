"""Storing entries: `store` one, with a search for near duplicates, or a `batch` in one transaction.

What was passed in is checked before any file is opened. Log and index change in the same transaction, which is on the
disk before anything is answered: what was stored is found at once, by every process, and survives a kill.

>>> checked_draft(topic="Engine", text="Gotcha: the cache is never emptied").tags
('gotcha',)
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec.structs import replace

from helix_episodes.errors import HelixGraphError
from helix_graph.errors import WrongType
from helix_graph.topics import index
from helix_graph.topics.duplicates import THRESHOLD, duplicate_of, near, similar_pairs
from helix_graph.topics.entries import at, shown, size_of
from helix_graph.topics.fields import entry_text, first_line, plain, source_name, tag_names, topic_name
from helix_graph.topics.index import auto_tags
from helix_graph.topics.log import EntryRecord, EntryTombstone, NumberedRecord, append_record, next_number
from helix_graph.topics.model import (
    BatchStored,
    EntryNotFound,
    InvalidItem,
    InvalidLink,
    SimilarEntries,
    StoredEntry,
    TooMuch,
)
from helix_graph.topics.tokens import significant_words
from helix_graph.validation import as_fraction, as_tuple

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Mapping, Sequence


#: One transaction holds the write lock throughout; the original's limit was 30.
LARGEST_BATCH = 1_000
MOST_LINKS = 64
#: `topic:index`, as the seed writes it; a topic's name may hold anything but blanks.
_LINK = re.compile(r"(?P<topic>[^\s:]+):(?P<index>[0-9]{1,9})\Z")
_PARAMETERS = ("topic", "text", "tags", "source", "confidence", "links")


class EntryDraft(msgspec.Struct, frozen=True, kw_only=True):
    """An entry in the form in which it is kept; ``links`` are topics with indices, looked up when it is stored."""

    topic: str
    text: str
    tags: tuple[str, ...] = ()
    source: str | None = None
    confidence: float = 1.0
    links: tuple[tuple[str, int], ...] = ()


def checked_draft(  # noqa: PLR0913  (what an entry has)
    *,
    topic: str,
    text: str,
    tags: str | Iterable[str] = (),
    source: str | None = None,
    confidence: float | None = None,
    links: str | Iterable[str] = (),
    auto: bool = True,
) -> EntryDraft:
    """Checks what an entry has; without tags the beginning of its text may give it one, if ``auto``.

    Raises:
        InvalidTopic: The name has no letter or digit, or is too long.
        EmptyText: There is nothing in the text.
        OutOfRange: The confidence lies outside 0 to 1.
        InvalidLink: A link is not of the form ``topic:index``.
        HalfCharacter: One of the texts holds half a surrogate pair.
        TooMuch: One of them is too long.
        WrongType: One of them is none of its kind.
    """
    kept = entry_text("text", text)
    return EntryDraft(
        topic=topic_name("topic", topic),
        text=kept,
        tags=tag_names("tags", tags) or (auto_tags(kept) if auto else ()),
        source=source_name("source", source),
        confidence=1.0 if confidence is None else as_fraction("confidence", confidence),
        links=link_places(links),
    )


def checked_drafts(entries: Iterable[Mapping[str, Any]]) -> list[EntryDraft]:
    """Checks the entries of a batch.

    Raises:
        WrongType: It is no list.
        TooMuch: There are more than `LARGEST_BATCH`.
        InvalidItem: One of them cannot be stored; its place and the reason are named.
    """
    if isinstance(entries, dict):
        raise WrongType("entries", value=entries, wanted="a list of objects")
    given = as_tuple("entries", entries)
    if len(given) > LARGEST_BATCH:
        raise TooMuch("entries", size=len(given), largest=LARGEST_BATCH, unit="entries")
    return [_item(place, one) for place, one in enumerate(given)]


def link_places(links: str | Iterable[str]) -> tuple[tuple[str, int], ...]:
    """The topics and indices that links name, each once.

    Raises:
        InvalidLink: One is not of the form ``topic:index``.
        TooMuch: There are more than `MOST_LINKS`.
    """
    given = links.replace(",", " ").split() if isinstance(links, str) else as_tuple("links", links)
    places = tuple(dict.fromkeys(_place(link) for link in given))
    if len(places) > MOST_LINKS:
        raise TooMuch("links", size=len(places), largest=MOST_LINKS, unit="links")
    return places


def _place(link: str) -> tuple[str, int]:
    found = _LINK.match(plain("links", link))
    if found is None:
        raise InvalidLink(link, problem="is no link")
    return topic_name("links", found["topic"]), int(found["index"])


def _item(place: int, given: Mapping[str, Any]) -> EntryDraft:
    try:
        if not isinstance(given, dict):
            raise WrongType("an entry", value=given, wanted="an object with topic and text")
        _check_keys(place, given)
        return checked_draft(**{name: value for name, value in given.items() if value is not None})
    except InvalidItem:
        raise
    except HelixGraphError as error:
        raise InvalidItem(place, problem=str(error)) from error


def _check_keys(place: int, given: Mapping[str, Any]) -> None:
    missing = [name for name in ("topic", "text") if given.get(name) is None]
    if missing:
        raise InvalidItem(place, problem=f"{' and '.join(missing)} missing")
    unknown = sorted(map(str, given.keys() - set(_PARAMETERS)))
    if unknown:
        raise InvalidItem(place, problem=f"there is no {', '.join(unknown)}; an entry has {', '.join(_PARAMETERS)}")


_LINE = 100


def store(connection: sqlite3.Connection, draft: EntryDraft, *, now: int, force: bool) -> StoredEntry:
    """Stores one entry; without ``force`` the near duplicate that it has in its topic is named.

    Raises:
        InvalidLink: A link leads to no entry; then nothing is stored.
    """
    duplicate = None if force else duplicate_of(connection, draft.topic, draft.text)
    written = write_record(connection, draft, now=now)
    index.add_to_index(connection, [written])
    return StoredEntry(entry=shown(connection, [written])[0], duplicate=duplicate)


def batch(connection: sqlite3.Connection, drafts: Sequence[EntryDraft], *, now: int) -> BatchStored:
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


def _filed(connection: sqlite3.Connection, drafts: Sequence[EntryDraft], *, now: int) -> Iterable[NumberedRecord]:
    """Those without links go into the view together, which is faster; a link needs what stands before it there."""
    waiting: list[NumberedRecord] = []
    for place, draft in enumerate(drafts):
        if draft.links:
            index.add_to_index(connection, waiting)
            waiting = []
        try:
            one = write_record(connection, draft, now=now)
        except InvalidLink as error:
            raise InvalidItem(place, problem=str(error)) from error
        waiting.append(one)
        yield one
    index.add_to_index(connection, waiting)


def write_record(connection: sqlite3.Connection, draft: EntryDraft, *, now: int) -> NumberedRecord:
    """Appends the record of a new entry to the log; its number is the entry's id and its place in the topic."""
    links = tuple(_target(connection, *link) for link in draft.links)
    number = next_number(connection)
    return append_entry(connection, draft, number=number, position=number, links=links, stored=now)


def append_entry(  # noqa: PLR0913  (what a record holds)
    connection: sqlite3.Connection,
    draft: EntryDraft,
    *,
    number: int,
    position: int,
    links: tuple[int, ...],
    stored: int,
    modified: int | None = None,
) -> NumberedRecord:
    """Appends a draft as the record of that number, which is the id of the entry."""
    record = EntryRecord(
        entry=number,
        topic=draft.topic,
        position=position,
        stored=stored,
        modified=modified,
        text=draft.text,
        tags=draft.tags,
        source=draft.source,
        confidence=draft.confidence,
        links=links,
    )
    append_record(connection, record, number=number)
    return NumberedRecord(number=number, record=record)


def rewrite_entry(
    connection: sqlite3.Connection, old: NumberedRecord, record: EntryRecord, *, now: int
) -> NumberedRecord:
    """Replaces an entry: the new record is appended, the old one buried."""
    bury_entry(connection, old, now=now)
    number = next_number(connection)
    append_record(connection, record, number=number)
    new = NumberedRecord(number=number, record=record)
    index.add_to_index(connection, [new])
    return new


def move_entry(
    connection: sqlite3.Connection, old: NumberedRecord, *, topic: str, keep_place: bool, now: int
) -> NumberedRecord:
    """Puts an entry into another topic: at its own place in it, or behind everything there."""
    position = old.record.position if keep_place else next_number(connection)
    return rewrite_entry(connection, old, replace(old.record, topic=topic, position=position), now=now)


def bury_entry(connection: sqlite3.Connection, old: NumberedRecord, *, now: int) -> None:
    """Takes an entry out: a tombstone is appended, and the view forgets it."""
    append_record(connection, EntryTombstone(buries=old.number, at=now), number=next_number(connection))
    index.remove_from_index(connection, old.record)


def _target(connection: sqlite3.Connection, topic: str, index: int) -> int:
    link = f"{topic}:{index}"
    try:
        return at(connection, topic, index).record.entry
    except EntryNotFound as error:
        there = size_of(connection, topic)
        problem = f"leads to no entry ({topic} has {there})" if there else f"leads to no topic ({topic} is not there)"
        raise InvalidLink(link, problem=problem) from error


def _alike(drafts: Sequence[EntryDraft]) -> Iterable[SimilarEntries]:
    """Pairs of near duplicates; each entry is named once, with the first that it is like."""
    texts = [draft.text for draft in drafts]
    named: set[int] = set()
    for first, second, similarity in similar_pairs(texts, above=THRESHOLD):
        if second not in named and near(significant_words(texts[second]), significant_words(texts[first])):
            named.add(second)
            line = first_line(texts[first], width=_LINE)
            yield SimilarEntries(first=first, second=second, similarity=round(similarity, 3), line=line)
