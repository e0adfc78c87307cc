"""Shared things as files: one each, named by its content, never changed.

An edit is another file of the same insight, forgetting is a file that says so. So two branches never change one file
differently, git merges them without a conflict, and what the files say together (`join`) depends on no order: joining
is associative, commutative and idempotent.

::

    insights/<slug>-<hash>.json     what somebody remembers; newer edits count
    feedback/<hash>.json            how a session with such insights came out; the session is a hash
    topics/<topic>-<hash>.json      an entry of a topic
    forgotten/<hash>.json           that an insight or entry was forgotten: it wins over everything

An insight that two people share has one version by each (`version_uid`): edits count for their author's version alone,
and forgetting one version leaves the others.

A team's server also has ``own`` parts, which nobody but their author takes back (`helix_graph.sharing.own_records`).
They are no part of a record's name, and git has none (`core`).
"""

from __future__ import annotations

import json
import math
import re
import time
from collections.abc import Iterable, Iterator
from functools import lru_cache
from hashlib import sha256
from typing import Any, Literal

import msgspec
from msgspec.structs import replace

from helix_episodes.redaction import redact
from helix_episodes.store import without_value
from helix_graph.insights.dedup import join_insights
from helix_graph.insights.model import Insight, InsightLink, Origin, Outcome, State
from helix_graph.insights.safe_quoting import logged_name_or_quoted

_DIGITS = 24


class OwnInsight(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What of an insight is its author's alone; ``session`` is the hash of the one that it was learnt in.

    Where the ``origin`` is not said, no person is known to have written it. Sessions of ``links`` are such hashes too.
    """

    origin: Origin = "agent"
    initial: float = 0.5
    source: str = ""
    session: str = ""
    told: dict[str, str] = {}
    links: tuple[InsightLink, ...] = ()


class OwnEntry(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What of an entry is its author's alone: its number there, and those of the entries that it is linked to.

    ``place`` counts the entries of its topic from 1 on, where their order is not that of their numbers.
    """

    id: int
    links: tuple[int, ...] = ()
    place: int = 0


class SharedInsight(msgspec.Struct, frozen=True, kw_only=True, tag_field="kind", tag="insight", omit_defaults=True):
    """An insight as far as others need it; the fields are those of `helix_graph.insights.model.Insight`."""

    uid: str
    slug: str
    content: str
    created_at: str
    tags: tuple[str, ...] = ()
    edited_at: str = ""
    tagged_at: str = ""
    state: State = "active"
    state_at: str = ""
    reason: str = ""
    own: OwnInsight | None = None


class SharedFeedback(msgspec.Struct, frozen=True, kw_only=True, tag_field="kind", tag="feedback"):
    """How a session came out: ``helped`` and ``present`` are insights (uids) that did, or that were only there."""

    id: str
    ts: str
    outcome: Outcome
    session: str
    helped: tuple[str, ...] = ()
    present: tuple[str, ...] = ()


class SharedEntry(msgspec.Struct, frozen=True, kw_only=True, tag_field="kind", tag="topic", omit_defaults=True):
    """An entry of a topic."""

    topic: str
    text: str
    stored: str
    modified: str | None = None
    tags: tuple[str, ...] = ()
    source: str | None = None
    confidence: float = 1.0
    own: OwnEntry | None = None


class Forgotten(msgspec.Struct, frozen=True, kw_only=True, tag_field="kind", tag="forgotten"):
    """That an insight (its uid), an author's version of it, or an entry (the hash in its name) was forgotten."""

    of: str


SharedRecord = SharedInsight | SharedFeedback | SharedEntry | Forgotten
_FOLDERS: dict[type, str] = {
    SharedInsight: "insights",
    SharedFeedback: "feedback",
    SharedEntry: "topics",
    Forgotten: "forgotten",
}
_NO_NAME = re.compile(r"[^a-z0-9]+")
_LONGEST_NAME = 60


def encode(record: SharedRecord) -> bytes:
    """The bytes of a record's file: one field a line, so that a reviewer reads it and a finding has a line."""
    fields = msgspec.to_builtins(record)
    if isinstance(record, SharedEntry):  # it is left out where it is the default's own object, whatever equals it
        fields["confidence"] = record.confidence
    return json.dumps(fields, indent=2, sort_keys=True, ensure_ascii=False).encode() + b"\n"


def decode(data: bytes) -> SharedRecord:
    """The record in a file.

    Raises:
        ValueError: It is none; the sentence has nothing of what stands there.
    """
    try:
        record: SharedRecord = msgspec.json.decode(data, type=SharedRecord)
    except msgspec.DecodeError as error:
        raise ValueError(without_value(str(error))) from error
    return record


def core(record: SharedRecord) -> SharedRecord:
    """The record as others have it: without what is its author's alone."""
    return replace(record, own=None) if isinstance(record, SharedInsight | SharedEntry) else record


def digest(record: SharedRecord) -> str:
    """The hash in a record's name."""
    return sha256(encode(core(record))).hexdigest()[:_DIGITS]


def name_of(record: SharedRecord) -> str:
    """A record's file below the folder of shared things."""
    title = {SharedInsight: "slug", SharedEntry: "topic"}.get(type(record))
    words = _NO_NAME.sub("-", str(getattr(record, title)).lower()).strip("-")[:_LONGEST_NAME] if title else ""
    return f"{_FOLDERS[type(record)]}/{words}{'-' if words else ''}{digest(record)}.json"


def subject_name(record: SharedRecord) -> str:
    """What a record is about: an insight or outcome, whatever is said of it, or an entry as it is written."""
    if isinstance(record, SharedInsight):
        return f"insight {record.uid}"
    return f"topic {digest(record)}" if isinstance(record, SharedEntry | Forgotten) else f"feedback {record.id}"


def join(records: Iterable[SharedRecord]) -> tuple[SharedRecord, ...]:
    """What the records say together, in one order; joining it with itself or parts of it changes nothing."""
    insights: dict[str, Insight] = {}
    feedback: dict[str, SharedFeedback] = {}
    entries: dict[str, SharedEntry] = {}
    forgotten: set[str] = set()
    for one in map(core, records):
        if isinstance(one, SharedInsight):
            insight = Insight(**insight_fields(one))
            insights[one.uid] = join_insights(insights[one.uid], insight) if one.uid in insights else insight
        elif isinstance(one, SharedFeedback):
            feedback[one.id] = _both(feedback.get(one.id, one), one)
        elif isinstance(one, SharedEntry):
            entries[digest(one)] = one
        else:
            forgotten.add(one.of)
    found: list[SharedRecord] = [Forgotten(of=name) for name in forgotten]
    found += [shared_insight(insights[uid]) for uid in insights.keys() - forgotten]
    found += [entries[name] for name in entries.keys() - forgotten]
    found += [left for one in feedback.values() if (left := _without(one, forgotten))]
    return tuple(sorted(found, key=encode))


def version_uid(uid: str, author: str) -> str:
    """The uid that an insight has elsewhere, by its author: nobody's file can change what somebody else wrote."""
    return sha256(f"{uid}\0{author}".encode()).hexdigest()[:32]


def author_of(through: str, author: str) -> str:
    """By whom a version is that came in some way: nobody can take a name in one way to change what came in another.

    >>> author_of("git", "Ann") == author_of("team server", "Ann")
    False
    """
    return author if through == "git" else f"{through}\0{author}"


def as_versions(
    record: SharedRecord, author: str, *, everybody: Iterable[str], own: frozenset[str]
) -> Iterator[SharedRecord]:
    """The record as memories that did not write it have it; insights that are a memory's ``own`` keep their uid.

    What forgets an insight by its first uid forgets everybody's version of it.
    """
    if isinstance(record, SharedInsight):
        yield replace(record, uid=version_uid(record.uid, author))
    elif isinstance(record, SharedFeedback):
        helped, present = (
            tuple(uid if uid in own else version_uid(uid, author) for uid in uids)
            for uids in (record.helped, record.present)
        )
        yield replace(record, helped=helped, present=present)
    else:
        yield record
        if isinstance(record, Forgotten):
            yield from (Forgotten(of=version_uid(record.of, one)) for one in everybody)


def shared_insight(insight: Insight) -> SharedInsight:
    """An insight as others need it."""
    return SharedInsight(**{name: getattr(insight, name) for name in SharedInsight.__struct_fields__ if name != "own"})


def insight_fields(one: SharedInsight) -> dict[str, Any]:
    """What a shared insight says of those fields that an insight has here."""
    return {name: getattr(one, name) for name in one.__struct_fields__ if name != "own"}


def session_hash(session: str | None) -> str:
    """What others know of a session that an outcome or an insight is about."""
    return sha256((session or "").encode()).hexdigest()[:16]


def _both(one: SharedFeedback, other: SharedFeedback) -> SharedFeedback:
    """Two records of one feedback: each names the insights that were shared when it was written."""
    first = min(one, other, key=lambda record: (record.ts, record.outcome, record.session))
    helped = {*one.helped, *other.helped}
    present = {*one.present, *other.present} - helped
    return replace(first, helped=tuple(sorted(helped)), present=tuple(sorted(present)))


def _without(one: SharedFeedback, forgotten: set[str]) -> SharedFeedback | None:
    helped, present = (tuple(uid for uid in sorted(uids) if uid not in forgotten) for uids in (one.helped, one.present))
    return replace(one, helped=helped, present=present) if helped or present else None


class ShareProblem(msgspec.Struct, frozen=True, kw_only=True):
    """Why a file may not be shared: where, and what is wrong."""

    file: str
    line: int
    problem: str
    kind: Literal["secret", "invalid"] = "secret"

    def __str__(self) -> str:
        """The place in the form that editors and CI understand; a name that may be a sentence is quoted."""
        return f"{logged_name_or_quoted(self.file)}:{self.line}: {self.problem}"


#: Lines up to this length are remembered: most of an episode's stand in many.
_SHORT = 200
_JSON_TEXT = re.compile(r'"(?:[^"\\]|\\.)*"')


def find_secrets(
    file: str, data: bytes, *, seconds: float = math.inf, longest: float = math.inf
) -> Iterator[ShareProblem]:
    """What redaction would cut from a file, by line; each string of JSON is also looked at without its escapes.

    After so many ``seconds`` the rest is not looked at, nor is a line of more than ``longest`` characters, which is a
    problem too.
    """
    until = time.monotonic() + seconds
    lines = (line.decode("utf-8", "replace") for line in data.splitlines())  # of bytes: U+2028 ends no line of JSON
    for number, line in enumerate(lines, start=1):
        if time.monotonic() > until:
            problem = f"it takes more than {seconds:g} seconds to search for secrets"
            yield ShareProblem(file=file, line=number, problem=problem, kind="invalid")
            return
        if len(line) > longest:
            problem = f"the line has more than {longest:,} characters, and was not searched for secrets"
            yield ShareProblem(file=file, line=number, problem=problem, kind="invalid")
            continue
        kinds = _kinds_in_short(line) if len(line) <= _SHORT else _kinds_in(line)
        if kinds:
            said = ", ".join(kind.replace("-", " ") for kind in kinds)
            yield ShareProblem(file=file, line=number, problem=f"looks like a secret or private path ({said})")


def _kinds_in(line: str) -> tuple[str, ...]:
    """The kinds of what redaction would cut from a line, or from a string of JSON in it."""
    texts = [line]
    for found in _JSON_TEXT.findall(line):
        try:
            texts.append(str(json.loads(found)) if "\\" in found else found[1:-1])
        except ValueError:  # no JSON after all: the line itself was looked at
            continue
    return tuple(sorted({cut.kind for text in texts for cut in redact(text).cuts}))


_kinds_in_short = lru_cache(maxsize=1 << 15)(_kinds_in)
