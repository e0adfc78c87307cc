"""Entries, the answers of storing them, and the errors of this package.

Times are UTC. An ``id`` belongs to one entry forever: it is never reused, and edits keep it. An ``index`` is the
position of the entry in its topic now, from 0 in the order of storing; edits keep it too, and only deletions and merges
shift the entries behind.

::

    HelixGraphError              (helix_episodes.errors)
    └── TopicError
        ├── InvalidTopicArgument a topic's name, a day, a character or a combination that cannot be used
        ├── TopicNotFound        the topic to change does not exist
        ├── EntryNotFound        an index, a text or a tag that no entry of the topic has
        ├── RecordDamaged        one record of the log is not what was written
        ├── InvalidLink          a link that names no entry
        ├── InvalidItem          one of several entries cannot be stored: none of them was
        ├── InvalidImport        a text that is no export
        └── TooMuch              a text or a list beyond the maximum
"""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Literal

import msgspec

from helix_episodes.errors import HelixGraphError, UsageError
from helix_graph.errors import InvalidArgument

if TYPE_CHECKING:
    from collections.abc import Sequence


Category = Literal[
    "architecture",
    "data-flow",
    "invariants",
    "gotchas",
    "decisions",
    "how-to",
    "performance",
    "gaps",
    "patterns",
    "other",
]


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


class TopicError(HelixGraphError):
    """Something is wrong with topics, or with what was asked of them."""


class InvalidTopicArgument(TopicError, InvalidArgument):
    """An argument that topics cannot use."""


class TopicNotFound(TopicError):
    """There is no topic of that name. ``alike`` names some that may have been meant."""

    def __init__(self, topic: str, *, alike: Sequence[str]) -> None:
        self.topic = topic
        self.alike = tuple(alike)
        meant = f"; did you mean {' or '.join(self.alike)}?" if self.alike else ""
        super().__init__(
            f"topic '{topic}' not found{meant}{' ' if meant else '; '}`topic topics` lists those there are"
        )


class EntryNotFound(TopicError):
    """No entry of the topic is the one that was meant; ``problem`` says by what it was looked for."""

    def __init__(self, topic: str, *, problem: str, entries: int) -> None:
        self.topic = topic
        self.problem = problem
        self.entries = entries
        held = f"indices go from 0 to {entries - 1}" if entries else "it has no entries"
        super().__init__(f"{problem} in {topic}: {held}")


class RecordDamaged(TopicError):
    """A record of the log is not what was written; the rest of the file is another question."""

    def __init__(self, number: int) -> None:
        self.number = number
        super().__init__(
            f"record {number} of the topics is not what was written; `helix-graph doctor` names its entry, "
            "with --fix it is set aside and the others are whole"
        )


class InvalidLink(TopicError, UsageError):
    """A link that leads nowhere."""

    def __init__(self, link: str, *, problem: str) -> None:
        self.link = link
        self.problem = problem
        super().__init__(f"links: {link!r} {problem}; give topic:index pairs, such as cache:3")


class InvalidItem(TopicError, UsageError):
    """An entry of a batch that cannot be stored. ``place`` counts from 0."""

    def __init__(self, place: int, *, problem: str) -> None:
        self.place = place
        self.problem = problem
        super().__init__(f"entries[{place}]: {problem}; nothing was stored")


class InvalidImport(TopicError):
    """A text that holds no entries in a form that we know."""

    def __init__(self, problem: str) -> None:
        self.problem = problem
        super().__init__(
            f"cannot import: {problem}; give a JSON array of {{topic, text}}, an export of ours, or one of helix"
        )


class TooMuch(TopicError, UsageError):
    """More than is kept in one piece."""

    def __init__(self, option: str, *, size: int, largest: int, unit: str) -> None:
        self.option = option
        self.size = size
        self.largest = largest
        self.unit = unit
        super().__init__(f"{option} has {size} {unit}; at most {largest} are taken: split it")
