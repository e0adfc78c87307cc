"""`export`: every entry as JSON, in the form of which `import` takes back all of it.

An array of entries, each with what it has: id, topic, text, tags, source, confidence, links (ids), stored, modified.
Entries of a topic stand in the order of their indices. A link to an entry that was deleted is kept as the id it had, so
that the memory reads the same after a round trip.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from helix_graph.topics.damage import standing
from helix_graph.topics.model import Damaged, moment

if TYPE_CHECKING:
    import sqlite3

    from helix_graph.topics.log import Record


class Exported(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One entry of an export; ``links`` are ids of other entries of it, or of deleted ones."""

    id: int
    topic: str
    text: str
    stored: str
    tags: tuple[str, ...] = ()
    source: str | None = None
    confidence: float = 1.0
    links: tuple[int, ...] = ()
    modified: str | None = None


class Export(msgspec.Struct, frozen=True, kw_only=True):
    """Every entry; the array that ``json`` writes is what `import` takes.

    ``damaged`` names records that are not what was written, and are not among the entries.
    """

    entries: tuple[Exported, ...]
    damaged: tuple[Damaged, ...] = ()

    def json(self) -> str:
        """As JSON, one entry a line."""
        lines = ",\n".join(msgspec.json.encode(one).decode() for one in self.entries)
        return f"[\n{lines}\n]" if lines else "[]"


def export(connection: sqlite3.Connection) -> Export:
    """Every entry, from the log itself and checked; the order is that of their places."""
    found = standing(connection)
    records = [one.record for one in found.entries]
    ordered = sorted(records, key=lambda record: (record.position, record.entry))
    return Export(entries=tuple(_exported(record) for record in ordered), damaged=found.damaged)


def _exported(record: Record) -> Exported:
    return Exported(
        id=record.entry,
        topic=record.topic,
        text=record.text,
        stored=_iso(record.stored),
        tags=record.tags,
        source=record.source,
        confidence=record.confidence,
        links=record.links,
        modified=None if record.modified is None else _iso(record.modified),
    )


def _iso(seconds: int) -> str:
    return moment(seconds).isoformat().replace("+00:00", "Z")
