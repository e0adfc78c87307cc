"""The log: records that are appended and never changed, each with its checksum.

An entry is what its newest record says that no tombstone buries. A record holds the whole entry, so an edit writes the
new one and buries the old, and nothing that was written before is touched until `compact` takes the buried ones out.
"""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING

import msgspec

from helix_graph.topics.model import RecordDamaged
from helix_graph.topics.schema import checksum_of, is_sound

if TYPE_CHECKING:
    from collections.abc import Iterator


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
    row = connection.execute("UPDATE topic_totals SET numbers = numbers + 1 RETURNING numbers").fetchall()
    if not row:
        raise damage("the topics' totals are gone")
    return int(row[0][0])


def reserve(connection: sqlite3.Connection, number: int) -> None:
    """Makes sure that `next_number` lies beyond this one."""
    connection.execute("UPDATE topic_totals SET numbers = MAX(numbers, ?)", (number,))


def decoded(number: int, body: bytes, checksum: int) -> EntryRecord | EntryTombstone:
    """What a row of the log says.

    Raises:
        RecordDamaged: The row is not what was written.
    """
    if not is_sound(number, body, checksum):
        raise RecordDamaged(number)
    record: EntryRecord | EntryTombstone = _DECODER.decode(body)
    return record


def filed(number: int, body: bytes, checksum: int) -> NumberedRecord:
    """The entry that a row of the log holds.

    Raises:
        RecordDamaged: The row is not what was written.
        sqlite3.DatabaseError: It holds no entry.
    """
    record = decoded(number, body, checksum)
    if isinstance(record, EntryTombstone):
        raise damage(f"record {number} of the topics is a tombstone where an entry should be")
    return NumberedRecord(number=number, record=record)


def live(connection: sqlite3.Connection) -> Iterator[NumberedRecord]:
    """Every entry as it stands, read from the log alone and checked, in the order of numbers.

    Raises:
        RecordDamaged: A record is not what was written.
    """
    buried: set[int] = set()
    for number, body, checksum in connection.execute("SELECT * FROM topic_log ORDER BY number"):
        record = decoded(number, body, checksum)
        if isinstance(record, EntryTombstone):
            buried.add(record.buries)
    for number, body, checksum in connection.execute("SELECT * FROM topic_log ORDER BY number"):
        record = decoded(number, body, checksum)
        if isinstance(record, EntryRecord) and number not in buried:
            yield NumberedRecord(number=number, record=record)


def altered(number: int) -> str:
    """What is said of a record whose checksum is another's."""
    return f"record {number} of the topics is not what was written"


def damage(problem: str) -> sqlite3.DatabaseError:
    """An error that helix.db reports as its own: the file is not what it was when it was written."""
    return sqlite3.DatabaseError(problem)


_DECODER = msgspec.json.Decoder(EntryRecord | EntryTombstone)
