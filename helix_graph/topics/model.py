"""Entries, the answers of storing them, and the errors of this package.

Times are UTC. An ``id`` belongs to one entry forever: it is never reused, and edits keep it. An ``index`` is the
position of the entry in its topic now, from 0 in the order of storing; edits keep it too, and only deletions and merges
shift the entries behind.

"""

from __future__ import annotations

from datetime import datetime
from typing import Literal

import msgspec

Category = Literal[
    "architecture", "data-flow", "invariants", "gotchas", "decisions", "how-to", "performance", "gaps", "patterns",
    "other",
]  # fmt: skip


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    """An entry as it stands now. ``links`` are written ``topic:index``, or ``#id`` where the entry has been deleted."""

    id: int
    topic: str
    index: int
    text: str
    tags: tuple[str, ...]
    source: str | None
    confidence: float
    links: tuple[str, ...]
    stored: datetime
    modified: datetime | None


class Damaged(msgspec.Struct, frozen=True, kw_only=True):
    """A record of the log that is not what was written, left out of the answer that names it.

    ``topic``, ``index`` and ``entry`` are those that the index has for it; None of a record that it does not know.
    """

    record: int
    topic: str | None
    index: int | None
    entry: int | None
    problem: str


class TopicSize(msgspec.Struct, frozen=True, kw_only=True):
    """A topic and how many entries of it are meant."""

    topic: str
    entries: int


class Duplicate(msgspec.Struct, frozen=True, kw_only=True):
    """An older entry that says much the same. ``similarity`` is the share of words in common, 0 to 1."""

    id: int
    index: int
    similarity: float
    line: str


class StoredEntry(msgspec.Struct, frozen=True, kw_only=True):
    """What `store` answers."""

    entry: Entry
    duplicate: Duplicate | None


class SimilarEntries(msgspec.Struct, frozen=True, kw_only=True):
    """Two entries of one batch that say much the same; places count from 0."""

    first: int
    second: int
    similarity: float
    line: str


class BatchStored(msgspec.Struct, frozen=True, kw_only=True):
    """What `batch` answers."""

    entries: tuple[Entry, ...]
    topics: int
    alike: tuple[SimilarEntries, ...]
