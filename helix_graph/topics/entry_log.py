"""The log of entries, looking entries up by topic, index and id, and what of the log is damaged.

Records are appended and never changed, each with its checksum. An entry is what its newest record says that no
tombstone buries. A record holds the whole entry, so an edit writes the new one and buries the old, and nothing that was
written before changes until `compact` removes the buried ones.

Every record that is shown has been checked against its checksum. One flipped byte spoils one record: answers leave it
out by name, `compact` keeps its bytes, and the doctor quarantines it. Which topic and entry it was follows from the
index, since the record itself can no longer be believed. A damaged record that the index does not have may be a
tombstone; then what the index does not have counts as deleted.
"""

from __future__ import annotations

import difflib
import sqlite3
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

import msgspec

from helix_episodes.errors import HelixGraphError, NotFound
from helix_episodes.msgspec_types import ready
from helix_graph.database import ANY_OF, as_list
from helix_graph.helix_db import datetime_of
from helix_graph.topics.model import Category, Damaged, Entry
from helix_graph.topics.schema import checksum_of, is_sound


class EntryRecord(msgspec.Struct, frozen=True, kw_only=True, tag="entry", omit_defaults=True):
    """An entry from one write on. ``position`` orders the entries of a topic; times are seconds since 1970."""

    entry: int
    topic: str
    position: int
    stored: int
    text: str
    modified: int | None = None
    tags: tuple[str, ...] = ()
    source: str | None = None
    confidence: float = 1.0
    links: tuple[int, ...] = ()

    @property
    def changed(self) -> int:
        """When its text was last written."""
        return self.stored if self.modified is None else self.modified


class EntryTombstone(msgspec.Struct, frozen=True, kw_only=True, tag="tombstone"):
    """That the record of that number is no more, from ``at`` on."""

    buries: int
    at: int


class NumberedRecord(msgspec.Struct, frozen=True, kw_only=True):
    """A record and its number in the log."""

    number: int
    record: EntryRecord


def append_record(connection: sqlite3.Connection, body: EntryRecord | EntryTombstone, *, number: int) -> None:
    """Writes one record at the end of the log."""
    encoded = msgspec.json.encode(body)
    connection.execute("INSERT INTO topic_log VALUES (?, ?, ?)", (number, encoded, checksum_of(number, encoded)))


def next_number(connection: sqlite3.Connection) -> int:
    """A number that no record has had before, also none that was compacted away."""
    log = "(SELECT coalesce(max(number), 0) FROM topic_log)"  # totals that are damaged must not give one out twice
    row = connection.execute(f"UPDATE topic_totals SET numbers = max(numbers, {log}) + 1 RETURNING numbers").fetchall()  # noqa: S608  (a constant)
    if not row:
        raise damage("the topics' totals are gone")
    return int(row[0][0])


def reserve(connection: sqlite3.Connection, number: int) -> None:
    """Makes sure that `next_number` lies beyond this one."""
    connection.execute("UPDATE topic_totals SET numbers = MAX(numbers, ?)", (number,))


def decoded(number: int, body: bytes, checksum: int) -> EntryRecord | EntryTombstone:
    """What a row of the log says.

    Raises:
        HelixGraphError: The row is not what was written.
    """
    if not is_sound(number, body, checksum):
        raise _damaged(number)
    record: EntryRecord | EntryTombstone = _DECODER.decode(body)
    return record


def live(connection: sqlite3.Connection) -> list[NumberedRecord]:
    """Every entry as it stands, read from the log alone and checked, in the order of numbers.

    Raises:
        HelixGraphError: A record is not what was written.
    """
    buried, entries, damaged = _read(connection)
    if damaged:
        raise _damaged(min(damaged))
    return [one for one in entries if one.number not in buried]


def altered(number: int) -> str:
    """What is said of a record whose checksum is another's."""
    return f"record {number} of the topics is not what was written"


def _damaged(number: int) -> HelixGraphError:
    remedy = "`helix-graph doctor` names its entry, with --fix it is set aside and the others are whole"
    return HelixGraphError(f"{altered(number)}; {remedy}")


def damage(problem: str) -> sqlite3.DatabaseError:
    """An error that helix.db reports as its own: the file is not what it was when it was written."""
    return sqlite3.DatabaseError(problem)


_DECODER = msgspec.json.Decoder(ready(EntryRecord | EntryTombstone))


_ROWS = (
    "SELECT e.entry, e.topic, e.position, l.number, l.body, l.checksum"
    " FROM topic_entry e LEFT JOIN topic_log l ON l.number = e.number"
)
#: Where an entry stands in its topic: how many stand before it.
INDEX = "(SELECT COUNT(*) FROM topic_entry b WHERE b.topic = {0}.topic AND b.position < {0}.position)"
#: This many names are offered for one that is not there.
_ALIKE = 3
#: A shorter name within another tells nothing.
_TELLING = 3


def size_of(connection: sqlite3.Connection, topic: str) -> int:
    """How many entries the topic has; 0 when there is none of that name."""
    row = connection.execute("SELECT entries FROM topic WHERE name = ?", (topic,)).fetchone()
    return int(row[0]) if row else 0


def alike(connection: sqlite3.Connection, topic: str) -> list[str]:
    """Names of topics that may have been meant, each as a quotation."""
    names = [name for (name,) in connection.execute("SELECT name FROM topic ORDER BY name")]
    holding = [name for name in names if topic in name or (name in topic and len(name) >= _TELLING)]
    # Others may have chosen a name; a slug has no quotation mark that would end the quotation.
    found = dict.fromkeys([*difflib.get_close_matches(topic, names, n=_ALIKE), *holding])
    return [f'"{name}"' for name in found][:_ALIKE]


def known_topic(connection: sqlite3.Connection, topic: str) -> int:
    """How many entries the topic has."""
    size = size_of(connection, topic)
    if not size:
        raise NotFound(no_such_topic(connection, topic))
    return size


def no_such_topic(connection: sqlite3.Connection, topic: str) -> str:
    """That there is no such topic, and which may have been meant."""
    meant = " or ".join(alike(connection, topic))
    hint = f"did you mean {meant}? " if meant else ""
    return f"no topic '{topic}'; {hint}`helix-graph topic topics` lists all topics"


def of_topic(connection: sqlite3.Connection, topic: str) -> list[NumberedRecord]:
    """The entries of a topic in the order of their indices.

    Raises:
        sqlite3.DatabaseError: One of them is missing, or not what was written.
    """
    rows = connection.execute(f"{_ROWS} WHERE e.topic = ? ORDER BY e.position", (topic,))
    found = [_checked(*row) for row in rows]
    if len(found) != size_of(connection, topic):
        raise damage(f"entries of the topic {topic} are missing; `helix-graph topic topics reindex` rebuilds it")
    return found


def no_entry(problem: str, topic: str, *, entries: int) -> NotFound:
    """No entry of the topic is the one that was meant; ``problem`` says by what it was looked for."""
    there = f"indices go from 0 to {entries - 1}" if entries else "it has no entries"
    return NotFound(f"{problem} in {topic}: {there}")


def at(connection: sqlite3.Connection, topic: str, index: int) -> NumberedRecord:
    """The entry at an index of a topic.

    Raises:
        NotFound: The topic has no such index.
        sqlite3.DatabaseError: It is not what was written.
    """
    size = size_of(connection, topic)
    if not 0 <= index < size:
        raise no_entry(f"index {index} out of range", topic, entries=size)
    ascending = index <= size // 2  # the nearer end is found sooner
    order, skipped = ("", index) if ascending else (" DESC", size - 1 - index)
    rows = connection.execute(
        f"{_ROWS} WHERE e.topic = ? ORDER BY e.position{order} LIMIT 1 OFFSET ?", (topic, skipped)
    )
    row = rows.fetchone()
    if row is None:
        raise damage(f"entry {index} of the topic {topic} is missing; `helix-graph topic topics reindex` rebuilds it")
    return _checked(*row)


def by_id(connection: sqlite3.Connection, ids: Collection[int]) -> dict[int, NumberedRecord]:
    """The entries of those ids, as far as they are there."""
    rows = connection.execute(f"{_ROWS} WHERE e.entry {ANY_OF}", (as_list(ids),)).fetchall()
    return {row[0]: _checked(*row) for row in rows}


def sound_by_id(connection: sqlite3.Connection, ids: Collection[int]) -> tuple[dict[int, NumberedRecord], list[int]]:
    """As `by_id`, without what is damaged; the numbers of those records stand beside."""
    rows = connection.execute(f"{_ROWS} WHERE e.entry {ANY_OF}", (as_list(ids),)).fetchall()
    sound = [row for row in rows if row[3] is not None and is_sound(*row[3:])]
    found = {row[0]: _checked(*row) for row in sound}
    damaged = as_list(row[0] for row in rows if row[0] not in found)
    numbers = connection.execute(f"SELECT number FROM topic_entry WHERE entry {ANY_OF}", (damaged,))  # noqa: S608  (a constant)
    return found, [number for (number,) in numbers]


def shown(connection: sqlite3.Connection, entries: Iterable[NumberedRecord]) -> list[Entry]:
    """Entries as they are handed out, with their indices and links as they are now."""
    records = [one.record for one in entries]
    places = indices(connection, {one.entry for one in records} | _targets(records))
    return [_entry(record, places) for record in records]


def shown_topic(connection: sqlite3.Connection, entries: Sequence[NumberedRecord]) -> list[Entry]:
    """As `shown`, of all entries of one topic in their order: nothing has to be looked up but links elsewhere."""
    records = [one.record for one in entries]
    places = {record.entry: (record.topic, index) for index, record in enumerate(records)}
    places |= indices(connection, _targets(records) - places.keys())
    return [_entry(record, places) for record in records]


def indices(connection: sqlite3.Connection, ids: Collection[int]) -> dict[int, tuple[str, int]]:
    """Topic and index of each of the entries that are there."""
    if not ids:
        return {}
    place = INDEX.format("e")
    rows = connection.execute(f"SELECT entry, topic, {place} FROM topic_entry e WHERE entry {ANY_OF}", (as_list(ids),))  # noqa: S608  (our own names and constants)
    return {entry: (topic, index) for entry, topic, index in rows}


def indices_in(connection: sqlite3.Connection, topics: Collection[str]) -> dict[int, tuple[str, int]]:
    """Topic and index of every entry of these topics: of many entries, in one walk."""
    rows = connection.execute(
        "SELECT entry, topic, ROW_NUMBER() OVER (PARTITION BY topic ORDER BY position) - 1"  # noqa: S608  (our own names and constants)
        f" FROM topic_entry WHERE topic {ANY_OF}",
        (as_list(topics),),
    )
    return {entry: (topic, index) for entry, topic, index in rows}


def categories_of(connection: sqlite3.Connection, ids: Collection[int]) -> dict[int, Category]:
    """The category of each of these entries, as it was found when they were stored."""
    rows = connection.execute(f"SELECT entry, category FROM topic_entry WHERE entry {ANY_OF}", (as_list(ids),))  # noqa: S608  (our own names and constants)
    return dict(rows.fetchall())


def _targets(records: Iterable[EntryRecord]) -> set[int]:
    return {target for record in records for target in record.links}


def _entry(record: EntryRecord, places: Mapping[int, tuple[str, int]]) -> Entry:
    return Entry(
        id=record.entry,
        topic=record.topic,
        index=places[record.entry][1],
        text=record.text,
        tags=record.tags,
        source=record.source,
        confidence=record.confidence,
        links=tuple("{}:{}".format(*places[one]) if one in places else f"#{one}" for one in record.links),
        stored=datetime_of(record.stored),
        modified=None if record.modified is None else datetime_of(record.modified),
    )


def _checked(entry: int, topic: str, position: int, *row: Any) -> NumberedRecord:  # noqa: ANN401  (what SQLite gives)
    """The record behind a row of the index, when both say the same.

    Raises:
        sqlite3.DatabaseError: They do not, or the record is not what was written.
    """
    if row[0] is None:
        raise damage(f"the record of entry {entry} of the topics is missing")
    record, number = decoded(*row), row[0]
    if isinstance(record, EntryTombstone):
        raise damage(f"record {number} of the topics is a tombstone where an entry should be")
    if (record.entry, record.topic, record.position) != (entry, topic, position):
        raise damage(f"record {number} is not in the index; `helix-graph topic topics reindex` rebuilds it")
    return NumberedRecord(number=number, record=record)


class LogState(msgspec.Struct, frozen=True, kw_only=True):
    """What the log holds: entries that stand, records that are damaged, and entries that only the index calls buried.

    ``bodies`` are the bytes of the damaged records that are there, by number.
    """

    entries: tuple[NumberedRecord, ...]
    damaged: tuple[Damaged, ...]
    unsaid: tuple[NumberedRecord, ...]
    bodies: dict[int, bytes]


def log_state(connection: sqlite3.Connection) -> LogState:
    """Reads the whole log, checked record by record."""
    buried, entries, bodies = _read(connection)
    spoilt = sorted(bodies.keys() - buried)
    seen = {number for (number,) in connection.execute("SELECT number FROM topic_entry")}
    missing = sorted(seen - bodies.keys() - {one.number for one in entries}) if spoilt else []
    live = [one for one in entries if one.number not in buried]
    hidden = [one for one in live if one.number not in seen] if set(spoilt) - seen else []
    return LogState(
        entries=tuple(one for one in live if one.number in seen) if hidden else tuple(live),
        damaged=tuple(damaged_of(connection, [*spoilt, *missing])),
        unsaid=tuple(hidden),
        bodies={number: bodies[number] for number in spoilt},
    )


def buried_entries(connection: sqlite3.Connection) -> tuple[NumberedRecord, ...]:
    """Entries as they were before somebody changed or deleted them, as far as `compact` has left them."""
    buried, entries, _ = _read(connection)
    return tuple(one for one in entries if one.number in buried)


def damaged_of(connection: sqlite3.Connection, numbers: Iterable[int]) -> list[Damaged]:
    """Names of damaged records, with what the index has for them."""
    place = INDEX.format("e")
    query = f"SELECT topic, {place}, entry FROM topic_entry e WHERE number = ?"  # noqa: S608  (our own names)
    known = {number: connection.execute(query, (number,)).fetchone() for number in numbers}
    return [
        Damaged(record=number, topic=row[0], index=row[1], entry=row[2], problem=altered(number))
        for number, row in ((number, row or (None, None, None)) for number, row in known.items())
    ]


def _read(connection: sqlite3.Connection) -> tuple[set[int], list[NumberedRecord], dict[int, bytes]]:
    """What tombstones bury, entries buried or not, and the bytes of damaged records."""
    buried: set[int] = set()
    entries: list[NumberedRecord] = []
    bodies: dict[int, bytes] = {}
    for number, body, checksum in connection.execute("SELECT * FROM topic_log ORDER BY number"):
        if not is_sound(number, body, checksum):
            bodies[number] = body if isinstance(body, bytes) else str(body).encode()
            continue
        record: EntryRecord | EntryTombstone = _DECODER.decode(body)
        if isinstance(record, EntryRecord):
            entries.append(NumberedRecord(number=number, record=record))
        else:
            buried.add(record.buries)
    return buried, entries, bodies
