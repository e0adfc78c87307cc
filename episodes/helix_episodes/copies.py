"""Copies: does one log begin with the lines of another session's, or do two sessions only number their messages alike?

A session that is resumed into a new log begins there with a copy of the old one, under the same ids. Where ids are made
to be unique in the world (a UUID, a long run of chance) the same id is the same message. Other agents count: ``m1``,
``m2``; there the agent, the beginning, the times and the words must agree as well. What cannot be held against each
other is no copy: told twice is better than lost.

>>> is_unique("7a3cf82d-9284-4b61-9e6b-d409226efa84"), is_unique("m1"), is_unique("message-000000000000000012")
(True, False, False)
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import msgspec

from helix_episodes.extraction.evidence import iso, timestamp_of
from helix_episodes.redaction import redact_text
from helix_episodes.redaction.chance import looks_random

if TYPE_CHECKING:
    from collections.abc import Iterator

    from helix_episodes.model import Decision, Episode, Event
    from helix_episodes.session import Session, Step

_UUID = re.compile(r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}", re.IGNORECASE)


def is_unique(name: str) -> bool:
    """Whether an id is made so that no other session can have it."""
    return _UUID.search(name) is not None or looks_random(name)


def shares_its_beginning(session: Session, other: Episode) -> bool:
    """Whether the steps that both have ids for are the same ones; asked of two that begin with the same id."""
    first = other.provenance.first if other.provenance else None
    if first and is_unique(first):
        return True
    if other.agent is None or other.agent.name != session.agent or session.started is None:
        return False
    return other.timestamp == iso(session.started) and _say_the_same(session, other)


def without_first(session: Session, count: int, *, copied_from: str) -> Session:
    """The session without its first steps; the lines on which only those stand are skipped ones, not used ones."""
    kept = {(step.source.file, step.source.line) for step in session.steps[count:]}
    gone = {(step.source.file, step.source.line) for step in session.steps[:count]} - kept
    accounting = session.accounting
    lines = min(len(gone), accounting.used)
    skipped = {**accounting.skipped, f"copy of {copied_from}": lines}
    return msgspec.structs.replace(
        session,
        steps=session.steps[count:],
        accounting=msgspec.structs.replace(accounting, used=accounting.used - lines, skipped=skipped),
    )


def _say_the_same(session: Session, other: Episode) -> bool:
    """Whether each quotation of the other's from a step that both have stands there, at the same time."""
    steps: dict[str, list[Step]] = {}
    for step in session.steps:
        steps.setdefault(step.source.id or "", []).append(step)
    shared = [(one, steps[name]) for one, name in _quoted(other) if name in steps]
    return bool(shared) and all(any(_is_of(one, step) for step in own) for one, own in shared)


def _quoted(episode: Episode) -> Iterator[tuple[Decision | Event, str]]:
    parts: tuple[Decision | Event, ...] = (*episode.decisions, *episode.events)
    for one in parts:
        if one.evidence and one.evidence.id:
            yield one, one.evidence.id


def _is_of(one: Decision | Event, step: Step) -> bool:
    quote = one.evidence.quote.removesuffix("\u2026") if one.evidence else ""
    return timestamp_of(step) == one.timestamp and all(part in _words(step) for part in quote.split("\n"))


def _words(step: Step) -> str:
    said = [step.text, *(value for value in step.arguments.values() if isinstance(value, str))]
    return redact_text("\n".join(said))
