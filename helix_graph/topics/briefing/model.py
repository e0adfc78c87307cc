"""What `brief` answers."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

import msgspec

from helix_graph.topics.model import Category, TopicSize

Detail = Literal["summary", "scan", "full"]


class Point(msgspec.Struct, frozen=True, kw_only=True):
    """One entry of a briefing.

    ``superseded_by`` names a younger entry of its topic that says much of it anew, ``also_in`` entries of other topics
    that say the same, ``via`` the entry whose link led to it. ``text`` is filled with detail full.
    """

    id: int
    topic: str
    index: int
    category: Category
    score: float
    stored: datetime
    tags: tuple[str, ...]
    line: str
    text: str | None
    superseded_by: str | None
    also_in: tuple[str, ...]
    via: str | None


class Chain(msgspec.Struct, frozen=True, kw_only=True):
    """Entries of one topic that were stored within the same 48 hours, in order: a piece of work."""

    topic: str
    start: datetime
    end: datetime
    indices: tuple[int, ...]
    first: str
    last: str


class CategorySize(msgspec.Struct, frozen=True, kw_only=True):
    """A category, how many entries are in it, and their share of all, 0 to 1."""

    category: Category
    entries: int
    share: float


class Briefing(msgspec.Struct, frozen=True, kw_only=True):
    """A briefing on a query.

    ``collected`` entries were found, ``current`` of them neither superseded nor said elsewhere. ``points`` are those
    shown, the highest score first; ``chains`` the newest first.
    """

    query: str
    detail: Detail
    found_by: Literal["topic", "glob", "words", "nothing"]
    collected: int
    current: int
    topics: tuple[TopicSize, ...]
    categories: tuple[CategorySize, ...]
    points: tuple[Point, ...]
    chains: tuple[Chain, ...]
    newest: datetime | None
    hint: str | None


class Gap(msgspec.Struct, frozen=True, kw_only=True):
    """Something that is said to be missing."""

    topic: str
    index: int
    line: str


class Overview(msgspec.Struct, frozen=True, kw_only=True):
    """A briefing on everything: ``more_topics`` are counted and not listed; ``compact`` lists five and no more."""

    compact: bool
    topics: tuple[TopicSize, ...]
    more_topics: int
    categories: tuple[CategorySize, ...]
    hot: tuple[TopicSize, ...]
    gaps: tuple[Gap, ...]
    entries: int
    topic_count: int
    newest: datetime | None
    age_days: int | None
