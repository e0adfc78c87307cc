"""Storing: a text becomes an insight, or goes into the one that says the same.

Two texts say the same when they differ in case and blanks only or, where there are vectors, when their cosine is at
least 0.85 and nothing that a vector does not see keeps them apart (`helix_graph.insights.sameness`); of several such
insights the most alike takes it in. Being told the same again is no use of an insight: what
counts as use is feedback. What a person gave (tag ``user-provided``) is never taken in by another text, and keeps its
own words when it takes one in.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple, NotRequired, TypedDict

import msgspec

from helix_graph.errors import OutOfRange
from helix_graph.given import prose, several, text
from helix_graph.insights import rows
from helix_graph.insights.joining import absorb
from helix_graph.insights.model import Insight, Origin
from helix_graph.insights.naming import free_name, free_uid, is_name, slug_of
from helix_graph.insights.settings import LONGEST, LONGEST_SOURCE, LONGEST_TAG, MOST_TAGS, SHORTEST, USER_PROVIDED

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Iterable

    from helix_graph.insights.model import Kept

#: The rows alike a text, and how alike: the most alike first.
Alike = list[tuple[int, float]]


class Stored(TypedDict):
    """What became of a text; ``reason`` says why it was not added, and is empty when it was.

    Only `chunk` strengthens or skips. ``kept`` says of a text that was merged whose words stand there now: those of the
    ``existing`` insight or the ``new`` ones.
    """

    status: Literal["added", "merged", "rejected", "strengthened", "skipped"]
    name: str
    reason: str
    kept: NotRequired[Literal["existing", "new"]]


class Draft(msgspec.Struct, frozen=True, kw_only=True):
    """A text to store, checked: stripped, without secrets, of a length that is allowed or not (`refusal`)."""

    content: str
    tags: tuple[str, ...] = ()
    origin: Origin = "told"
    initial: float = 0.5
    episode: str = ""
    source: str = ""
    told: dict[str, str] = {}

    @property
    def refusal(self) -> str:
        """Why it can't be stored; empty when it can."""
        if len(self.content) < SHORTEST:
            return f"content too short (min {SHORTEST} chars)"
        if len(self.content) > LONGEST:
            return f"content too long (max {LONGEST} chars)"
        return ""


class Vector(NamedTuple):
    """A text's vector as the table has it, and the model that made it."""

    model: str
    blob: bytes


def clean_content(content: str) -> str:
    """The text as it is stored.

    Raises:
        WrongType: It is no text.
        ControlCharacter: It holds a character that is none to read.
    """
    return prose("content", content).strip()


def clean_tags(tags: Iterable[str]) -> tuple[str, ...]:
    """Tags as they are stored: each once, in order.

    Raises:
        WrongType: They are no list of texts.
        EmptyText: One of them is empty.
        OutOfRange: There are more than 20, or one is longer than 80 characters.
    """
    clean = sorted({text("tags", tag) for tag in several("tags", tags)})
    if len(clean) > MOST_TAGS:
        option = "number of tags"
        raise OutOfRange(option, value=len(clean), lowest=0, highest=MOST_TAGS)
    longest = max(map(len, clean), default=0)
    if longest > LONGEST_TAG:
        option = "length of a tag"
        raise OutOfRange(option, value=longest, lowest=1, highest=LONGEST_TAG)
    return tuple(clean)


def clean_source(source: str) -> str:
    """Where a text comes from, as it is stored.

    Raises:
        WrongType: It is no text.
        ControlCharacter: It holds a character that is none to read.
        OutOfRange: It is longer than 1,000 characters.
    """
    from helix_graph.insights.safety import harmless  # noqa: PLC0415  (3 ms that a question does without)

    clean = harmless(prose("source", source))
    if len(clean) > LONGEST_SOURCE:
        option = "length of the source"
        raise OutOfRange(option, value=len(clean), lowest=0, highest=LONGEST_SOURCE)
    return clean


def rejected(reason: str, *, name: str = "") -> Stored:
    """The answer to a text that is not stored."""
    return Stored(status="rejected", name=name, reason=reason)


def put(
    connection: sqlite3.Connection,
    draft: Draft,
    *,
    at: str,
    vector: Vector | None,
    alike: Callable[[], Alike],
) -> Stored:
    """Stores a draft within the transaction under way; ``alike`` is asked when no insight has the very text."""
    twin = _twin(connection, draft.content)
    known = twin or _nearest(connection, alike(), draft.content)
    if known and known.insight.state == "rejected":
        return rejected("a person rejected this insight", name=known.name)
    if known and (twin or USER_PROVIDED not in draft.tags):
        return _merge(connection, known, draft, vector)
    return _add(connection, draft, at=at, vector=vector)


def _twin(connection: sqlite3.Connection, content: str) -> Kept | None:
    """The insight with that very text, now or when it was first stored."""
    found = rows.by_digest(connection, rows.digest(content)) or rows.by_uid(connection, free_uid(connection, content))
    return None if found is None else rows.standing_for(connection, found)


def _nearest(connection: sqlite3.Connection, alike: Alike, content: str) -> Kept | None:
    """The most alike of those that say the same."""
    from helix_graph.insights.sameness import same_advice  # noqa: PLC0415  (2 ms that a question does without)

    for number, _ in alike:
        for kept in rows.by_numbers(connection, [number]):
            if kept.insight.state != "merged" and same_advice(kept.insight.content, content):
                return kept
    return None


def _merge(connection: sqlite3.Connection, known: Kept, draft: Draft, vector: Vector | None) -> Stored:
    other = Insight(
        uid="", slug="", created_at="", content=draft.content, tags=draft.tags, origin=draft.origin, told=draft.told
    )
    merged = absorb(known.insight, other)
    rows.update(connection, known, merged)
    is_new = merged.content != known.insight.content
    if vector and is_new:
        rows.set_vector(connection, known.number, model=vector.model, vector=vector.blob)
    return Stored(status="merged", name=known.name, reason="similar exists", kept="new" if is_new else "existing")


def _add(connection: sqlite3.Connection, draft: Draft, *, at: str, vector: Vector | None) -> Stored:
    uid = free_uid(connection, draft.content)
    name = free_name(slug_of(draft.content), uid, taken=lambda one: is_name(connection, one))
    insight = Insight(
        uid=uid,
        slug=name,
        content=draft.content,
        created_at=at,
        tags=draft.tags,
        origin=draft.origin,
        initial=draft.initial,
        edited_at=at if USER_PROVIDED in draft.tags else "",
        episode=draft.episode,
        source=draft.source,
        told=draft.told,
    )
    number = rows.insert(connection, insight, name=name)
    if vector:
        rows.set_vector(connection, number, model=vector.model, vector=vector.blob)
    return Stored(status="added", name=name, reason="")
