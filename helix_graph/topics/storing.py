"""Storing entries: `store` one, with a search for near duplicates, or a `batch` in one transaction.

What was passed in is checked before any file is opened. Log and index change in the same transaction, which is on the
disk before anything is answered: what was stored is found at once, by every process, and survives a kill.

>>> checked_draft(topic="Engine", text="Gotcha: the cache is never emptied").tags
('gotcha',)

Texts are compared by their significant words (`helix_graph.word_search`), never by tags or sources. Two are near
duplicates when more than 70 % of their words are shared (Jaccard), or when the new one has no significant word that the
old one lacks. Below six words chance alone shares that many, so there only the same words count. Not every pair is
compared. Of n words a text shares more than a share t with another only if one of its n - ⌈t n⌉ + 1 rarest words is
among the other's rarest as well (prefix filtering; Chaudhuri, Ganti, Kaushik, *A Primitive Operator for Similarity
Joins in Data Cleaning*, 2006).

>>> list(similar_pairs(["red green blue", "red green blue pink", "yellow"], above=0.4))
[(0, 1, 0.75)]
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec.structs import asdict, replace

from helix_episodes.errors import HelixGraphError, InvalidArgument, NotFound
from helix_episodes.msgspec_types import ready
from helix_graph.database import ANY_OF, as_list
from helix_graph.topics import index
from helix_graph.topics.entry_log import (
    EntryRecord,
    EntryTombstone,
    NumberedRecord,
    append_record,
    at,
    indices,
    next_number,
    shown,
    size_of,
    sound_by_id,
)
from helix_graph.topics.fields import check_size, entry_text, first_line, plain, source_name, tag_names, topic_name
from helix_graph.topics.index import auto_tags
from helix_graph.topics.model import BatchStored, Duplicate, SimilarEntries, StoredEntry
from helix_graph.validation import as_fraction, as_tuple, wrong_type
from helix_graph.word_search import match_any, query_words, telling

if TYPE_CHECKING:
    import sqlite3


def significant_words(text: str) -> frozenset[str]:
    """The distinct words by which texts are compared: parts of identifiers, without those of every text."""
    return frozenset(telling(query_words(text)))


def overlap(one: frozenset[str], other: frozenset[str]) -> float:
    """The Jaccard index of two sets of words: shared ones among all, 0 to 1.

    >>> overlap(frozenset("abc"), frozenset("bcd"))
    0.5
    """
    shared = len(one & other)
    return shared / (len(one) + len(other) - shared) if shared else 0.0


#: 0.7 x 30 may come out as a little more than 21, and must not be rounded up to 22.
_ROUNDING = 1e-9


def similar_pairs(texts: Iterable[str], *, above: float) -> Iterator[tuple[int, int, float]]:
    """Places of two texts with a larger share of their words in common than ``above``, and that share (Jaccard)."""
    sets = [significant_words(text) for text in texts]
    frequency = Counter(word for words in sets for word in words)
    having: dict[str, list[int]] = {}
    for second, words in enumerate(sets):
        rarest = sorted(words, key=lambda word: (frequency[word], word))[: prefix_length(words, above=above)]
        for first in sorted({place for word in rarest for place in having.get(word, ())}):
            share = overlap(sets[first], words)
            if share > above:
                yield first, second, share
        for word in rarest:
            having.setdefault(word, []).append(second)


def prefix_length(words: Collection[str], *, above: float) -> int:
    """This many of these words it takes to meet every set that shares more than ``above`` with them.

    >>> prefix_length(list("abcdefghij"), above=0.7)
    4
    """
    return len(words) - math.ceil(above * len(words) - _ROUNDING) + 1


THRESHOLD = 0.70
#: Below this many words the seed's program compares nothing; here such texts are compared for being the same.
FEWEST = 6
#: Of entries that share rare words the ones with the most are compared: an exact copy shares all of them.
_COMPARED = 200
#: This many rare words must be shared (of as many more that are looked at): most entries are out before their topic is
#: looked up, which costs more than the counting.
_SHARED = 4
#: Counting goes no further: which of the frequent words is looked up makes no difference to what is found.
_MANY = 1_000
_DUPLICATE_WIDTH = 100
_NUMBERS = msgspec.json.Decoder(ready(list[int]))


def near(one: frozenset[str], other: frozenset[str]) -> float:
    """How alike two texts' words are, 0 to 1; 0 where they are no near duplicates. ``one`` is the newer text."""
    if not one or (len(one) < FEWEST and one != other):
        return 0.0
    share = overlap(one, other)
    return share if share > THRESHOLD or one <= other else 0.0


def duplicate_of(connection: sqlite3.Connection, topic: str, text: str) -> Duplicate | None:
    """The entry of the topic that is the most similar, when one is a near duplicate; of equals the older one."""
    words = significant_words(text)
    found, _ = sound_by_id(
        connection, _candidates(connection, topic, words)
    )  # a damaged one must not keep out new ones
    alike = ((near(words, significant_words(one.record.text)), -entry) for entry, one in found.items())
    similarity, negative = max(alike, default=(0.0, 0))
    if not similarity:
        return None
    record = found[-negative].record
    index = indices(connection, (record.entry,))[record.entry][1]
    return Duplicate(
        id=record.entry,
        index=index,
        similarity=round(similarity, 3),
        line=first_line(record.text, width=_DUPLICATE_WIDTH),
    )


def _candidates(connection: sqlite3.Connection, topic: str, words: frozenset[str]) -> list[int]:
    """Entries of the topic that share a rare word, those with the most first."""
    shared = min(_SHARED, math.ceil(THRESHOLD * len(words)))
    few = "SELECT COUNT(*) FROM (SELECT 1 FROM topic_text WHERE topic_text MATCH ? LIMIT ?)"
    having = {word: connection.execute(few, (match_any([word]), _MANY)).fetchone()[0] for word in words}
    rarest = sorted(words, key=lambda word: (having[word], word))
    chosen = [word for word in rarest[: prefix_length(words, above=THRESHOLD) + shared - 1] if having[word]]
    # All in one row, and counted here: of ten thousand, SQLite's own counting would take three times as long.
    query = "SELECT json_group_array(rowid) FROM topic_text WHERE topic_text MATCH ?"
    entries = (_NUMBERS.decode(connection.execute(query, (match_any([word]),)).fetchone()[0]) for word in chosen)
    sharing = Counter(entry for some in entries for entry in some)
    rows = connection.execute(
        f"SELECT entry FROM topic_entry WHERE topic = ? AND entry {ANY_OF}",  # noqa: S608  (our own names and constants)
        (topic, as_list(entry for entry, n in sharing.items() if n >= shared)),
    )
    return sorted((entry for (entry,) in rows), key=lambda entry: (-sharing[entry], entry))[:_COMPARED]


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
        InvalidArgument: The name has no letter or digit, or is too long; one of the texts holds half a surrogate pair.
            There is nothing in the text. The confidence lies outside 0 to 1. A link is not of the form ``topic:index``.
            One of them is too long.
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
        InvalidArgument: There are more than `LARGEST_BATCH`. One of them cannot be stored; its place and the reason are
            named.
    """
    if isinstance(entries, dict):
        raise wrong_type("entries", entries, "a list of objects")
    item = as_tuple("entries", entries)
    check_size("entries", len(item), largest=LARGEST_BATCH, unit="entries")
    return [_item(place, one) for place, one in enumerate(item)]


def link_places(links: str | Iterable[str]) -> tuple[tuple[str, int], ...]:
    """The topics and indices that links name, each once.

    Raises:
        InvalidArgument: One is not of the form ``topic:index``. There are more than `MOST_LINKS`.
    """
    item = links.replace(",", " ").split() if isinstance(links, str) else as_tuple("links", links)
    places = tuple(dict.fromkeys(_place(link) for link in item))
    check_size("links", len(places), largest=MOST_LINKS, unit="links")
    return places


def _no_link(link: str, problem: str) -> InvalidArgument:
    """What to raise of a link that is of another form, or leads nowhere."""
    return InvalidArgument(None, f"links: {link!r} {problem}; give topic:index pairs, such as cache:3")


def _refused(place: int, error: HelixGraphError) -> InvalidArgument:
    """What to raise of an entry of a batch that cannot be stored; ``place`` counts from 0."""
    return InvalidArgument(None, f"entries[{place}]: {error}; nothing was stored")


def _place(link: str) -> tuple[str, int]:
    found = _LINK.match(plain("links", link))
    if found is None:
        raise _no_link(link, "is no link")
    return topic_name("links", found["topic"]), int(found["index"])


def _item(place: int, item: Mapping[str, Any]) -> EntryDraft:
    try:
        if not isinstance(item, dict):
            raise wrong_type("an entry", item, "an object with topic and text")
        missing = [name for name in ("topic", "text") if item.get(name) is None]
        if missing:
            raise InvalidArgument(None, f"{' and '.join(missing)} missing")
        unknown = sorted(map(str, item.keys() - set(_PARAMETERS)))
        if unknown:
            raise InvalidArgument(None, f"there is no {', '.join(unknown)}; an entry has {', '.join(_PARAMETERS)}")
        return checked_draft(**{name: value for name, value in item.items() if value is not None})
    except HelixGraphError as error:
        raise _refused(place, error) from error


_LINE = 100


def store(connection: sqlite3.Connection, draft: EntryDraft, *, now: int, force: bool) -> StoredEntry:
    """Stores one entry; without ``force`` the near duplicate that it has in its topic is named.

    Raises:
        InvalidArgument: A link leads to no entry; then nothing is stored.
    """
    duplicate = None if force else duplicate_of(connection, draft.topic, draft.text)
    written = write_record(connection, draft, now=now)
    index.add_to_index(connection, [written])
    return StoredEntry(entry=shown(connection, [written])[0], duplicate=duplicate)


def batch(connection: sqlite3.Connection, drafts: Sequence[EntryDraft], *, now: int) -> BatchStored:
    """Stores all of them or none; those alike among them are named, and stored all the same.

    A link may lead to an entry of the same batch that stands before it.

    Raises:
        InvalidArgument: A link of one leads to no entry.
    """
    written = list(_filed(connection, drafts, now=now))
    return BatchStored(
        entries=tuple(shown(connection, written)),
        topics=len({draft.topic for draft in drafts}),
        alike=tuple(_alike(drafts)),
    )


def _filed(connection: sqlite3.Connection, drafts: Sequence[EntryDraft], *, now: int) -> Iterable[NumberedRecord]:
    """Those without links go into the index together, which is faster; a link needs what stands before it there."""
    waiting: list[NumberedRecord] = []
    for place, draft in enumerate(drafts):
        if draft.links:
            index.add_to_index(connection, waiting)
            waiting = []
        try:
            one = write_record(connection, draft, now=now)
        except InvalidArgument as error:
            raise _refused(place, error) from error
        waiting.append(one)
        yield one
    index.add_to_index(connection, waiting)


def write_record(connection: sqlite3.Connection, draft: EntryDraft, *, now: int) -> NumberedRecord:
    """Appends the record of a new entry to the log; its number is the entry's id and its place in the topic."""
    links = tuple(_target(connection, *link) for link in draft.links)
    number = next_number(connection)
    return append_entry(connection, entry_record(draft, links, entry=number, position=number, stored=now))


def entry_record(draft: EntryDraft, links: tuple[int, ...], **placed: int | None) -> EntryRecord:
    """A draft as a record, with the entries that its links lead to; ``placed`` are the fields a draft lacks."""
    fields: dict[str, Any] = {**asdict(draft), "links": links, **placed}
    return EntryRecord(**fields)


def append_entry(connection: sqlite3.Connection, record: EntryRecord) -> NumberedRecord:
    """Appends the first record of an entry: its number is the id of the entry."""
    append_record(connection, record, number=record.entry)
    return NumberedRecord(number=record.entry, record=record)


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
    """Takes an entry out: a tombstone is appended, and the index forgets it."""
    append_record(connection, EntryTombstone(buries=old.number, at=now), number=next_number(connection))
    index.remove_from_index(connection, old.record)


def _target(connection: sqlite3.Connection, topic: str, index: int) -> int:
    link = f"{topic}:{index}"
    try:
        return at(connection, topic, index).record.entry
    except NotFound as error:
        there = size_of(connection, topic)
        problem = f"leads to no entry ({topic} has {there})" if there else f"leads to no topic ({topic} is not there)"
        raise _no_link(link, problem) from error


def _alike(drafts: Sequence[EntryDraft]) -> Iterable[SimilarEntries]:
    """Pairs of near duplicates; each entry is named once, with the first that it is like."""
    texts = [draft.text for draft in drafts]
    named: set[int] = set()
    for first, second, similarity in similar_pairs(texts, above=THRESHOLD):
        if second not in named and near(significant_words(texts[second]), significant_words(texts[first])):
            named.add(second)
            line = first_line(texts[first], width=_LINE)
            yield SimilarEntries(first=first, second=second, similarity=round(similarity, 3), line=line)
