"""Drafts of decisions and events: their texts, the evidence for them, and their numbering.

`line` and `quote` redact a text and shorten it; they redact first, since half a secret no longer looks like one. The
session's secrets are gone by then: what is cut here are home folders, and secrets of texts that come from elsewhere.
`evidence_of` names the place in the log that a statement rests on.

The stages that find decisions and events draft them independently; `number_drafts` sorts the drafts by time and numbers
them (``d001`` …, ``e001`` …), with the calls each comes from. Links, outcome and the rest are worked out on the result.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import defaultdict
from functools import lru_cache
from typing import TYPE_CHECKING

import msgspec

from helix_episodes.extraction.checks import CheckFinding, CheckVerdict
from helix_episodes.model import QUOTE_LIMIT, Decision, Event, Evidence
from helix_episodes.redaction import redact_text
from helix_episodes.session import Piece

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from helix_episodes.model import EventType
    from helix_episodes.session import Step


#: How far beyond the limit is redacted before shortening: longer than any secret whose end could be cut off
#: (a PEM key of 4096 bits is about 3,300 characters).
_MARGIN = 4000
#: A title, a context, a choice: what fits on two lines of a terminal.
LINE_LIMIT = 200


def quote(text: str, *, limit: int = QUOTE_LIMIT) -> str:
    """The beginning of ``text`` as it stands in the log, secrets cut, at most ``limit`` characters.

    >>> quote("a" * 500)[-3:], len(quote("a" * 500))
    ('aa…', 240)
    """
    return shorten(_redacted(text[: limit + _MARGIN].strip()), limit=limit)


def line(text: str, *, limit: int = LINE_LIMIT) -> str:
    r"""The beginning of ``text`` on one line, secrets cut, at most ``limit`` characters.

    >>> line("first\n  second")
    'first second'
    """
    words = _redacted(text[: limit + _MARGIN].strip()).split(maxsplit=limit)
    return shorten(" ".join(words[:limit]), limit=limit)  # so many words are longer than so many letters


#: A statement is quoted, shown on one line and summed up, one after the other.
_redacted = lru_cache(maxsize=64)(redact_text)


def shorten(text: str, *, limit: int) -> str:
    """``text``, cut to ``limit`` characters with an ellipsis as the last when it was longer."""
    return text if len(text) <= limit else text[: limit - 1] + "…"


def first_sentence(text: str) -> str:
    r"""The first paragraph's first sentence, without Markdown headings and emphasis.

    >>> first_sentence("**Fix 1:** guard the prefix. Then more.\n\nNext")
    'Fix 1: guard the prefix.'
    """
    paragraph = next((part for part in text.strip().split("\n\n") if part.strip()), "")
    plain = re.sub(r"^\s*(?:\d+[.)]|[-+])\s+", "", re.sub(r"[*`#>]+", "", paragraph)).strip()
    match = re.match(r".+?[.!?](?=\s|$)", plain, re.DOTALL)
    return line(match.group() if match else plain)


def evidence_of(step: Step, text: str) -> Evidence:
    """The step's place in the log with ``text``, shortened and with secrets cut, as the quotation.

    Of a step put together from several places, it is the one that ``text`` was taken from.
    """
    at = _piece(step, text)
    return Evidence(line=at.line, id=step.source.id, file=step.source.file, quote=quote(at.text))


def _piece(step: Step, text: str) -> Piece:
    """``text`` where one piece holds it whole, else the first piece that it was made of."""
    whole = next((Piece(line=one.line, text=text) for one in step.pieces if text in one.text), None)
    made_of = (one for one in (*step.pieces, *step.pieces[:1]) if one.text in text or one is step.pieces[0])
    return whole or next(made_of, Piece(line=step.source.line, text=text))


def timestamp_of(step: Step) -> str | None:
    """When the step happened, as `iso`."""
    return iso(step.at)


def iso(moment: datetime | None) -> str | None:
    """ISO 8601 with ``Z`` for UTC, or None when the log does not say.

    >>> from datetime import UTC, datetime
    >>> iso(datetime(2026, 1, 5, 13, 54, tzinfo=UTC))
    '2026-01-05T13:54:00Z'
    """
    return moment.isoformat().replace("+00:00", "Z") if moment else None


def draft_event(step: Step, kind: EventType, content: str, *, quoted: str, **fields: object) -> Event:
    """An event without an id, resting on the words ``quoted``; ``fields`` are further ones of `Event`."""
    given = {"actor": step.actor, "evidence": evidence_of(step, quoted)} | fields
    return Event(id="", timestamp=timestamp_of(step), type=kind, content=content, **given)  # type: ignore[arg-type]  # checked by msgspec


def reported_error(step: Step, check: str, finding: CheckFinding, content: str) -> Event:
    """The event of a failure that a step reports, without an id."""
    return draft_event(
        step,
        "error",
        line(content),
        quoted=finding.message or step.text,
        check=check,
        family=line(finding.family),
        message=line(finding.message) or None,
        path=finding.path,
        tests=finding.tests,
        status="error",
    )


class DraftDecision(msgspec.Struct, frozen=True, kw_only=True):
    """A decision without an id: the calls it was carried out by (their numbers) and its place among the steps.

    ``mark`` is a name by which whoever drafted it finds its id again (`NumberedEpisode.marked`).
    """

    position: int
    decision: Decision
    calls: tuple[int, ...] = ()
    mark: str = ""


class ReportedFailure(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of a failure that only words report.

    ``until`` is where the turn ends that answers it; ``verdict`` the check's that was shown or named, if any;
    ``command`` the check's command that the same words quote, if any; ``resolved`` the mark of the acceptance that
    resolves it and ``since`` the place of the last report before that; ``refutes`` where the work began that rests on
    what the words say is not so.
    """

    until: int
    verdict: CheckVerdict | None = None
    command: str = ""
    resolved: str | None = None
    since: int = 0
    refutes: int | None = None


class DraftEvent(msgspec.Struct, frozen=True, kw_only=True):
    """An event without an id, the call whose result it is (if any) and its place among the steps.

    ``mark`` is a name by which whoever drafted it finds its id again (`NumberedEpisode.marked`).
    """

    position: int
    event: Event
    call: int | None = None
    mark: str = ""
    reported: ReportedFailure | None = None


class NumberedEpisode(msgspec.Struct, frozen=True, kw_only=True):
    """The numbered whole. ``positions`` has the place among the steps of every id.

    ``marked`` has the id of every mark; a decision without one has ``d`` and its position as its mark. ``reported`` has
    what is known of the failures that only words report.
    """

    decisions: tuple[Decision, ...]
    events: tuple[Event, ...]
    positions: dict[str, int]
    calls_of: dict[str, tuple[int, ...]]
    decision_of: dict[int, str]
    events_of: dict[int, tuple[str, ...]]
    call_of: dict[str, int]
    marked: dict[str, str] = msgspec.field(default_factory=dict)
    reported: dict[str, ReportedFailure] = msgspec.field(default_factory=dict)

    def decision(self, identity: str) -> Decision:
        """The decision of an id."""
        return self.decisions[int(identity[1:]) - 1]

    def event(self, identity: str) -> Event:
        """The event of an id."""
        return self.events[int(identity[1:]) - 1]

    def decisions_between(self, start: int, end: int | None = None) -> list[Decision]:
        """The decisions taken after position ``start`` and before ``end``, in order."""
        first = bisect_right(self.decisions, start, key=self._position)
        last = len(self.decisions) if end is None else bisect_left(self.decisions, end, key=self._position)
        return list(self.decisions[first:last])

    def _position(self, decision: Decision) -> int:
        return self.positions[decision.id]


def number_drafts(decisions: Iterable[DraftDecision], events: Iterable[DraftEvent]) -> NumberedEpisode:
    """Puts drafts in order of time and numbers them from 1."""
    named_decisions = [
        (f"d{n:03}", draft) for n, draft in enumerate(sorted(decisions, key=lambda draft: draft.position), 1)
    ]
    named_events = [(f"e{n:03}", draft) for n, draft in enumerate(sorted(events, key=lambda draft: draft.position), 1)]
    positions = {name: draft.position for name, draft in named_decisions}
    events_of: dict[int, list[str]] = defaultdict(list)
    for name, draft in named_events:
        if draft.call is not None:
            events_of[draft.call].append(name)
    return NumberedEpisode(
        decisions=tuple(msgspec.structs.replace(draft.decision, id=name) for name, draft in named_decisions),
        events=tuple(msgspec.structs.replace(draft.event, id=name) for name, draft in named_events),
        positions=positions | {name: draft.position for name, draft in named_events},
        calls_of={name: draft.calls for name, draft in named_decisions},
        decision_of={call: name for name, draft in named_decisions for call in draft.calls},
        events_of={call: tuple(names) for call, names in events_of.items()},
        call_of={name: draft.call for name, draft in named_events if draft.call is not None},
        marked={draft.mark: name for name, draft in named_events if draft.mark}
        | {draft.mark or f"d{draft.position}": name for name, draft in named_decisions},
        reported={name: draft.reported for name, draft in named_events if draft.reported is not None},
    )
