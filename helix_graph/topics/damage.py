"""Records that are not what was written: which they are, what stands without them, and how they are set aside.

One flipped byte spoils one record. Answers leave it out by name, `compact` keeps its bytes, and the doctor sets it
aside. Which topic and entry it was, the view tells, since the record itself can no longer be believed. A spoilt record
that the view does not have may be a tombstone; then what the view does not have counts as buried.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from helix_graph.topics import view
from helix_graph.topics.entries import INDEX
from helix_graph.topics.errors import RecordDamaged
from helix_graph.topics.log import Filed, Record, Tombstone, altered, append, decoded, next_number
from helix_graph.topics.model import Damaged

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable


class Standing(msgspec.Struct, frozen=True, kw_only=True):
    """What the log holds: entries that stand, records that are damaged, and entries that only the view calls buried.

    ``bodies`` are the bytes of the damaged records that are there, by number.
    """

    entries: tuple[Filed, ...]
    damaged: tuple[Damaged, ...]
    unsaid: tuple[Filed, ...]
    bodies: dict[int, bytes]


def standing(connection: sqlite3.Connection) -> Standing:
    """Reads the whole log, checked record by record."""
    buried, entries, bodies = _read(connection)
    spoilt = sorted(bodies.keys() - buried)
    seen = {number for (number,) in connection.execute("SELECT number FROM topic_entry")}
    missing = sorted(seen - bodies.keys() - {one.number for one in entries}) if spoilt else []
    live = [one for one in entries if one.number not in buried]
    hidden = [one for one in live if one.number not in seen] if set(spoilt) - seen else []
    return Standing(
        entries=tuple(one for one in live if one.number in seen) if hidden else tuple(live),
        damaged=tuple(damaged_of(connection, [*spoilt, *missing])),
        unsaid=tuple(hidden),
        bodies={number: bodies[number] for number in spoilt},
    )


def damaged_of(connection: sqlite3.Connection, numbers: Iterable[int]) -> list[Damaged]:
    """Names of damaged records, with what the view has for them."""
    place = INDEX.format("e")
    query = f"SELECT topic, {place}, entry FROM topic_entry e WHERE number = ?"  # noqa: S608  (our own names)
    known = {number: connection.execute(query, (number,)).fetchone() for number in numbers}
    return [
        Damaged(record=number, topic=row[0], index=row[1], entry=row[2], problem=altered(number))
        for number, row in ((number, row or (None, None, None)) for number, row in known.items())
    ]


def take_away(connection: sqlite3.Connection, found: Standing, *, now: int) -> None:
    """Takes the damaged records out of log and view; what one of them may have buried stays buried."""
    connection.executemany("DELETE FROM topic_log WHERE number = ?", [(one.record,) for one in found.damaged])
    for one in found.unsaid:
        append(connection, Tombstone(buries=one.number, at=now), number=next_number(connection))
    view.empty(connection)
    view.add(connection, found.entries)


def _read(connection: sqlite3.Connection) -> tuple[set[int], list[Filed], dict[int, bytes]]:
    """What tombstones bury, entries buried or not, and the bytes of damaged records."""
    buried: set[int] = set()
    entries: list[Filed] = []
    bodies: dict[int, bytes] = {}
    for number, body, checksum in connection.execute("SELECT * FROM topic_log ORDER BY number"):
        try:
            record = decoded(number, body, checksum)
        except RecordDamaged:
            bodies[number] = body if isinstance(body, bytes) else str(body).encode()
            continue
        if isinstance(record, Record):
            entries.append(Filed(number=number, record=record))
        else:
            buried.add(record.buries)
    return buried, entries, bodies
