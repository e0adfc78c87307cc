"""Which entries of an import are there already, so that taking in one's own export twice changes nothing.

An entry is there when one of its topic has the same text, tags, source, confidence and times; an item that names no
time is compared without. Each entry of the memory answers for one item: of two equal ones in an export, where the
memory has one, the other still comes in.
"""

from __future__ import annotations

from collections import defaultdict, deque
from typing import TYPE_CHECKING

from helix_graph.topics.damage import standing

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Sequence

    from helix_graph.topics.drafts import Draft
    from helix_graph.topics.importing import Incoming
    from helix_graph.topics.log import Record

_Content = tuple[str, str, tuple[str, ...], str | None, float]


def already_there(connection: sqlite3.Connection, incoming: Sequence[Incoming]) -> dict[int, int]:
    """The ids of the entries that are those of the import, by place in it."""
    records = defaultdict[_Content, deque["Record"]](deque)
    for one in standing(connection).entries:
        records[_content(one.record)].append(one.record)
    found: dict[int, int] = {}
    for place, item in enumerate(incoming):
        there = records.get(_content(item.draft))
        same = next((record for record in there or () if _at_one_time(record, item)), None)
        if there is not None and same is not None:
            there.remove(same)
            found[place] = same.entry
    return found


def _content(of: Record | Draft) -> _Content:
    return (of.topic, of.text, of.tags, of.source, of.confidence)


def _at_one_time(record: Record, item: Incoming) -> bool:
    return item.stored is None or (record.stored, record.modified) == (item.stored, item.modified)
