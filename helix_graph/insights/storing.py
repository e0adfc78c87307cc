"""Storing: a text becomes an insight with a name and a uid, or is merged into the insight that says the same.

Two texts say the same when they differ in case and blanks only or, where there are vectors, when their cosine is at
least 0.85 and nothing that a vector does not see separates them (`helix_graph.insights.dedup`); of several such
insights the most similar one takes it in. Storing the same text again does not count as use; feedback does. A text
that a person provided (tag ``user-provided``) is never merged into another one, and keeps its own words when one is
merged into it.

A name is the beginning of the text as a slug. If it is taken, the first digits of the uid follow. The uid is the digest
of the text as it was first stored; the uid of a forgotten insight is never used again, and the same text, stored later,
is another insight.

>>> slug_of("When pytest fails: run it with -x first, then read the log")
'when-pytest-fails-run-it-with-x-first-then-read'
>>> slug_of("日本語") == ""
True
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Container, Iterable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, NotRequired, TypedDict

import msgspec
from msgspec.structs import asdict

from helix_episodes.errors import InvalidArgument
from helix_episodes.redaction import for_disk
from helix_episodes.store import PREFIX, is_session_id
from helix_graph.helix_db import stamp
from helix_graph.insights import rows, scoring
from helix_graph.insights.dedup import absorb, same_advice
from helix_graph.insights.feedback import FeedbackReport, give_feedback, seed_attribution
from helix_graph.insights.model import Insight, Origin, StoredInsight, TextVector
from helix_graph.insights.safe_quoting import sanitize_line
from helix_graph.insights.schema import damaged_among, text_digest
from helix_graph.validation import as_int, as_line, as_text, as_tuple

if TYPE_CHECKING:
    import sqlite3

    from helix_graph.insights.context import InsightContext


def clean_name(name: str) -> str:
    """A name as it may be in a memory: without secrets, and a slug where it was more than a word."""
    plain = as_text("name", name)
    return name if plain == name and _PLAIN_NAME.fullmatch(name) else slug_of(plain)


def as_session(parameter: str, given: str) -> str:
    """The id of a session, which is shown next to what was learnt there; "" for none."""
    session: str = for_disk(given)
    if session and not is_session_id(session.removeprefix(PREFIX)):
        raise InvalidArgument(parameter, "is no session's id: letters, digits, '.', '_' and '-', at most 128 of them")
    return session


def clean_line(text: str) -> str:
    """A text without secrets, on one line, with nothing in it that is obeyed."""
    return sanitize_line(as_text("text", text))


_PLAIN_NAME = re.compile(r"[\w.-]*")


_NO_SLUG = re.compile("[^a-z0-9]+")
#: Digits of the uid behind a name: 32 bits first, then twice that, then all of it.
_DIGITS = (8, 16, 32)
#: What a text without a Latin letter or digit is called, before its digits.
_NAMELESS = "insight"


def slug_of(content: str) -> str:
    """The name that a text asks for; empty when there is no letter in it that a name can have."""
    return _NO_SLUG.sub("-", content[: scoring.LONGEST_NAME].lower()).strip("-")


def free_name(content_slug: str, uid: str, *, taken: Callable[[str], bool]) -> str:
    """The slug, or the first name made of it and the uid that is not taken."""
    return next(name for name in _names(content_slug, uid) if not taken(name))


def free_uid(connection: sqlite3.Connection, content: str) -> str:
    """The digest of a text, or of the text and a count, when it was forgotten that often."""
    uid, again = text_digest(content), 0
    while connection.execute("SELECT 1 FROM insight_forgotten WHERE uid = ?", (uid,)).fetchone():
        again += 1
        uid = text_digest(f"{text_digest(content)} {again}")
    return uid


def is_name(connection: sqlite3.Connection, name: str) -> bool:
    """Whether an insight is called so."""
    return connection.execute("SELECT 1 FROM insight WHERE name = ?", (name,)).fetchone() is not None


def _names(slug: str, uid: str) -> Iterator[str]:
    if slug:
        yield slug
    for digits in _DIGITS:
        yield f"{(slug or _NAMELESS)[: scoring.LONGEST_NAME - digits - 1].rstrip('-')}-{uid[:digits]}"
    count = 2
    while True:
        yield f"{_NAMELESS}-{uid[:32]}-{count}"
        count += 1


#: The rows alike a text, and how similar: the most similar first.
SimilarRows = list[tuple[int, float]]


class StoreAnswer(TypedDict):
    """What became of a text; ``reason`` says why it was not added, and is empty when it was.

    Only `chunk` strengthens or skips. ``kept`` says of a text that was merged whose words are there now: those of the
    ``existing`` insight or the ``new`` ones.
    """

    status: Literal["added", "merged", "rejected", "strengthened", "skipped"]
    name: str
    reason: str
    kept: NotRequired[Literal["existing", "new"]]


class InsightDraft(msgspec.Struct, frozen=True, kw_only=True):
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
        """Why it cannot be stored; empty when it can."""
        if scoring.content_length(self.content) < scoring.SHORTEST_CONTENT:
            return f"content too short (min {scoring.SHORTEST_CONTENT} chars)"
        if len(self.content) > scoring.LONGEST_CONTENT:
            return f"content too long (max {scoring.LONGEST_CONTENT} chars)"
        return ""


def clean_content(content: str) -> str:
    """The text as it is stored.

    Raises:
        InvalidArgument: It contains a control character.
    """
    return as_text("content", content).strip()


def clean_tags(tags: Iterable[str]) -> tuple[str, ...]:
    """Tags as they are stored: each once, in order.

    Raises:
        InvalidArgument: One of them is empty. There are more than 20, or one is longer than 80 characters.
    """
    clean = sorted({as_line("tags", tag) for tag in as_tuple("tags", tags)})
    as_int("number of tags", len(clean), lowest=0, highest=scoring.MOST_TAGS)
    as_int("length of a tag", max(map(len, clean), default=1), lowest=1, highest=scoring.LONGEST_TAG)
    return tuple(clean)


#: Tags by which an insight is a person's, is exempt from being measured, or has what only its outcomes give: with them
#: an agent could raise its own.
_PERSONS_TAGS = frozenset(
    {
        scoring.USER_PROVIDED, scoring.SAFETY_TAG, scoring.CORRECTION, "corrections", "corrected", "human-provided",
        "provided-by-user", "from-user", "by-user", "user-said", "user", "human", "person", "proven", "verified",
    }
)  # fmt: skip
#: Letters of other scripts, digits and signs that are read as the Latin letter in front of them; accents, full width
#: and letters in a circle are taken off by Unicode's own rules. Only letters that a person's tag has.
_LOOKALIKES = str.maketrans(
    {
        other: latin
        for latin, others in {
            "a": "\u0430\u03b1\u0251@4", "b": "\u044c", "d": "\u0501\u0257", "e": "\u0435\u0454\u03b53", "f": "\u0192",
            "h": "\u04bb\u043d", "i": "\u0456\u03b9\u0131!1l", "m": "\u043c", "n": "\u043f\u03b7\u0578",
            "o": "\u043e\u03bf\u05850",
            "p": "\u0440\u03c1", "r": "\u0433\u0280", "s": "\u0455$5", "t": "\u0442\u03c47", "u": "\u03c5\u057d\u1d1c",
            "v": "\u03bd\u0475\u1d20", "y": "\u0443\u03b3\u04af",
        }.items()
        for other in others
    }
)  # fmt: skip
_NO_LETTER = re.compile(r"[\W_]+")


def agents_tags(tags: Iterable[str]) -> tuple[str, ...]:
    """As `clean_tags`, of an insight that an agent stores.

    Raises:
        InvalidArgument: One of them says that a person gave it.
    """
    clean = clean_tags(tags)
    for tag in filter(is_persons_tag, clean):
        raise InvalidArgument("tags", f"has {tag!r}, which only a person can give: leave it out")
    return clean


def is_persons_tag(tag: str) -> bool:
    """Whether a tag, or one of several with a comma between them, says that a person gave the insight.

    However it is spelt: full width, look-alikes of other scripts, accents, invisible or no separators.
    """
    return any(_letters(part) in _PERSONS_LETTERS for part in re.split("[,;|/]", tag))


def _letters(text: str) -> str:
    """The letters as a reader takes them, all else left out."""
    plain = unicodedata.normalize("NFKD", text).casefold().translate(_LOOKALIKES)
    return _NO_LETTER.sub("", "".join(one for one in plain if not unicodedata.combining(one)))


_PERSONS_LETTERS = frozenset(map(_letters, _PERSONS_TAGS))


def clean_source(source: str) -> str:
    """Where a text comes from, as it is stored.

    Raises:
        InvalidArgument: It contains a control character. It is longer than 1,000 characters.
    """
    clean = sanitize_line(as_text("source", source))
    as_int("length of the source", len(clean), lowest=0, highest=scoring.LONGEST_SOURCE)
    return clean


def rejected(reason: str, *, name: str = "") -> StoreAnswer:
    """The answer to a text that is not stored."""
    return StoreAnswer(status="rejected", name=name, reason=reason)


def put(context: InsightContext, draft: InsightDraft) -> StoreAnswer:
    """Stores a draft in a transaction of its own, or says why not."""
    if draft.refusal:
        return rejected(draft.refusal)
    vector, numbers = context.embed_one(draft.content)
    with context.database.writing() as connection:

        def alike() -> SimilarRows:
            return [*context.by_meaning(connection, numbers, least=context.settings.same).items()]

        hidden = context.database.hidden(connection)
        return store_draft(connection, draft, at=stamp(context.now()), vector=vector, alike=alike, hidden=hidden)


def chunk(
    context: InsightContext, task_objective: str, outcome: str, approach: str, source: str = "chunked"
) -> StoreAnswer:
    """Remembers the approach by which a task succeeded; ``outcome`` must begin with success, or it is skipped.

    An approach that is known already (relevance above 0.85) is ``strengthened``: it is given feedback, since it has
    worked once more.
    """
    if not as_line("outcome", outcome).lower().startswith("success"):
        return StoreAnswer(status="skipped", name="", reason="only what succeeded is chunked")
    objective, worked = as_line("task_objective", task_objective), as_line("approach", approach)
    content = f"Task: {objective}. Approach that worked: {worked}"
    known = _closest(context, content)
    if known is None:
        draft = InsightDraft(content=content, tags=("pattern",), origin="chunked", source=clean_source(source))
        return put(context, draft)
    attribution = seed_attribution([known.name], None)
    give_feedback(
        context, FeedbackReport(names=(known.name,), outcome="delivered", attribution=attribution, policy="chunk")
    )
    return StoreAnswer(status="strengthened", name=known.name, reason="the approach is known and worked again")


def _closest(context: InsightContext, content: str) -> StoredInsight | None:
    """The insight that says the same as an approach, by meaning or by words alone: both together prove nothing."""
    least = context.settings.same_when_chunking
    _, numbers = context.embed_one(content)
    with context.database.reading() as connection:
        by_words = context.by_words(connection, content)
        meaning = context.by_meaning(connection, numbers, least=least)
        closest = {one: max(meaning.get(one, 0.0), by_words.get(one, 0.0)) for one in {*meaning, *by_words}}
        same = [
            stored
            for stored in rows.by_numbers(connection, [one for one, found in closest.items() if found > least])
            if stored.insight.state == "active" and same_advice(stored.insight.content, content)
        ]
    return max(same, key=lambda stored: (closest[stored.number], -stored.number), default=None)


def store_draft(
    connection: sqlite3.Connection,
    draft: InsightDraft,
    *,
    at: str,
    vector: TextVector | None,
    alike: Callable[[], SimilarRows],
    hidden: Container[int] = (),
) -> StoreAnswer:
    """Stores a draft within the transaction under way; ``alike`` is asked when no insight has the very text.

    What is stored anew of ``hidden`` rows, which an older copy of the file brought back of forgotten sessions, is of
    whoever stores it: it goes with none of these sessions.
    """
    uid = free_uid(connection, draft.content)
    if draft.origin != "agent":
        about = {"origin": draft.origin, "source": draft.source, "episode": draft.episode}
        adopt(connection, uid, draft.content, slug=slug_of(draft.content), at=at, **about)
    found = rows.by_text(connection, draft.content) or rows.by_uid(connection, uid)
    twin = None if found is None else rows.standing_for(connection, found)
    # What a file says in other words neither takes in nor keeps out what is stored here.
    brought = rows.brought(connection) if draft.origin != "agent" else frozenset()
    known = twin or _nearest(connection, [pair for pair in alike() if pair[0] not in brought], draft.content)
    if known and known.insight.state == "rejected":
        return rejected("a person rejected this insight", name=known.name)
    if known and known.number in hidden:
        return _begin_anew(connection, known, draft, at=at, vector=vector)
    if known and (twin or scoring.USER_PROVIDED not in draft.tags):
        return _merge(connection, known, draft, vector)
    return _add(connection, draft, at=at, vector=vector)


def adopt(connection: sqlite3.Connection, uid: str, content: str, *, slug: str, at: str, **about: Any) -> None:  # noqa: ANN401  (fields of an insight)
    """As `rows.adopt`, with names of their own."""
    for number in list(rows.adopt(connection, uid, content, slug=slug, at=at, **about)):
        (stored,) = rows.by_numbers(connection, [number])
        rows.rename(connection, number, free_name(slug, stored.insight.uid, taken=partial(is_name, connection)))


def _nearest(connection: sqlite3.Connection, alike: SimilarRows, content: str) -> StoredInsight | None:
    """The most alike of those that say the same."""
    for number, _ in alike:
        for stored in rows.by_numbers(connection, [number]):
            is_candidate = stored.insight.state != "merged" and same_advice(stored.insight.content, content)
            if is_candidate and not damaged_among(connection, [number]):
                return stored
    return None


def _merge(
    connection: sqlite3.Connection, known: StoredInsight, draft: InsightDraft, vector: TextVector | None
) -> StoreAnswer:
    other = Insight(uid="", slug="", created_at="", **asdict(draft))
    merged = absorb(known.insight, other)
    rows.update(connection, known, merged)
    is_new = merged.content != known.insight.content
    if is_new:
        rows.set_vector(connection, known.number, vector)
    return StoreAnswer(status="merged", name=known.name, reason="similar exists", kept="new" if is_new else "existing")


def _begin_anew(
    connection: sqlite3.Connection, known: StoredInsight, draft: InsightDraft, *, at: str, vector: TextVector | None
) -> StoreAnswer:
    """Makes a row that was forgotten the draft's, under its name; nothing of what it was stays."""
    connection.execute("DELETE FROM insight_link WHERE insight = ?", (known.insight.uid,))
    edited_at = at if scoring.USER_PROVIDED in draft.tags else ""
    insight = Insight(
        uid=known.insight.uid, slug=known.insight.slug, created_at=at, edited_at=edited_at, **asdict(draft)
    )
    rows.update(connection, known, insight)
    rows.set_vector(connection, known.number, vector)
    return StoreAnswer(status="added", name=known.name, reason="")


def _add(connection: sqlite3.Connection, draft: InsightDraft, *, at: str, vector: TextVector | None) -> StoreAnswer:
    uid = free_uid(connection, draft.content)
    name = free_name(slug_of(draft.content), uid, taken=lambda one: is_name(connection, one))
    edited_at = at if scoring.USER_PROVIDED in draft.tags else ""
    insight = Insight(uid=uid, slug=name, created_at=at, edited_at=edited_at, **asdict(draft))
    rows.set_vector(connection, rows.insert(connection, insight, name=name), vector)
    return StoreAnswer(status="added", name=name, reason="")
