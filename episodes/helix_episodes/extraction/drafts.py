"""Drafts of decisions and events, their texts and the evidence for them.

`line` and `quote` redact a text and shorten it; they redact first, since half a secret no longer looks like one. The
session's secrets are gone by then: what is cut here are home folders, and secrets of texts that come from elsewhere.
`evidence_of` names the place in the log that a statement rests on.

The stages that find decisions and events draft them independently, with the calls each comes from;
`helix_episodes.extraction.timeline.Timeline` numbers them.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

import msgspec

from helix_episodes.extraction.checks import CheckFinding, Verdict
from helix_episodes.extraction.fingerprints import diagnostics_of_finding
from helix_episodes.model import QUOTE_LIMIT, REPLACED_LIMIT, Decision, Event, Evidence, Place
from helix_episodes.normalization import shorten
from helix_episodes.redaction import redact_beginning, redact_text, remember_free
from helix_episodes.session import Piece

if TYPE_CHECKING:
    from datetime import datetime

    from helix_episodes.model import EventType
    from helix_episodes.session import Step


#: How far beyond the limit is redacted before shortening: longer than any secret whose end could be cut off
#: (a PEM key of 4096 bits is about 3,300 characters).
_MARGIN = 4000
#: A title, a context, a choice: what fits on two lines of a terminal.
LINE_LIMIT = 200


def quote(text: str, *, limit: int = QUOTE_LIMIT) -> str:
    """The beginning of ``text`` as in the log, secrets cut, at most ``limit`` characters.

    >>> quote("a" * 500)[-3:], len(quote("a" * 500))
    ('aa…', 240)
    """
    return _cut(_redacted(text, limit + _MARGIN), limit=limit)


#: What a long run is cut in the middle of: of so many letters and signs its beginning may look like a key.
_IN_A_RUN = re.compile(r"\S{20}…\Z")


def _cut(text: str, *, limit: int) -> str:
    """As `shorten`. The beginning of a run, such as the data of a picture, is no longer what was seen to be no secret.

    >>> _cut("data: " + "iVBORw0KGgoAAAANSUhEUgAA" * 400, limit=60)
    'data: [redacted:secret]…'
    """
    short = shorten(text, limit=limit)
    return redact_text(short) if len(text) > limit and _IN_A_RUN.search(short) else short


def line(text: str, *, limit: int = LINE_LIMIT) -> str:
    r"""The beginning of ``text`` on one line, secrets cut, at most ``limit`` characters.

    >>> line("first\n  second")
    'first second'
    """
    words = _redacted(text, limit + _MARGIN).split(maxsplit=limit)
    return _cut(" ".join(words[:limit]), limit=limit)  # so many words are longer than so many letters


#: A statement is quoted, shown on one line and summed up, one after the other.
_redacted = lru_cache(maxsize=64)(redact_beginning)


def first_sentence(text: str) -> str:
    r"""The first paragraph's first sentence, without Markdown headings and emphasis.

    >>> first_sentence("**Fix 1:** guard the prefix. Then more.\n\nNext")
    'Fix 1: guard the prefix.'
    """
    paragraph = next((part for part in text.strip().split("\n\n") if part.strip()), "")
    plain = re.sub(r"^\s*(?:\d+[.)]|[-+])\s+", "", re.sub(r"[*`#>]+", "", paragraph)).strip()
    match = re.match(r".+?[.!?](?=\s|$)", plain, re.DOTALL)
    return line(match.group() if match else plain)


def evidence_of(step: Step, text: str, *, replaced: str = "") -> Evidence:
    """The step's place in the log with ``text``, shortened and with secrets cut, as the quotation.

    Of a step put together from several places, it is the one that ``text`` was taken from. ``replaced`` is what an edit
    took away.
    """
    at = _piece(step, text)
    return Evidence(
        line=at.line,
        id=step.source.id,
        file=step.source.file,
        quote=_quote_of(step, at.text, limit=QUOTE_LIMIT),
        replaced=_quote_of(step, replaced, limit=REPLACED_LIMIT),
    )


def _quote_of(step: Step, text: str, *, limit: int) -> str:
    """As `quote`; what stands in the step as it is was looked at with the rest of it when the session was read."""
    said = (step.text, *step.arguments.values())
    if any(isinstance(one, str) and text in one for one in said):
        return remember_free(_cut(redact_beginning(text, limit + _MARGIN, is_part=True), limit=limit))
    return quote(text, limit=limit)


def _piece(step: Step, text: str) -> Piece:
    """``text`` where one piece holds it whole, else the first piece that it was made of.

    A command that printed bit by bit says last how it ended.
    """
    words = " ".join(text.split()) if step.pieces else ""
    whole = next((Piece(line=one.line, text=text) for one in step.pieces if words in " ".join(one.text.split())), None)
    if step.kind == "result" and step.pieces:
        return whole or step.pieces[-1]
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


def draft_error(step: Step, check: str, finding: CheckFinding, content: str, *, quoted: str, **fields: object) -> Event:
    """The event of a failure, without an id, which rests on the finding's message, else on ``quoted``."""
    found = {"family": line(finding.family), "message": line(finding.message) or None, "path": finding.path}
    fields = {"check": check, **found, "tests": finding.tests, "status": "error"} | fields
    fields |= _issue(check, finding, output=step.text, path=fields["path"], tool=fields.get("tool"))
    return draft_event(step, "error", line(content), quoted=finding.message or quoted, **fields)


#: An event stands for one failing run; keys of more issues than this would say no more than that much is broken.
_MOST_KEYS = 64


def _issue(check: str, finding: CheckFinding, *, output: str, path: object, tool: object) -> dict[str, object]:
    """The fingerprints of a finding and what its first diagnostic names."""
    named = path if isinstance(path, str) else None
    found = diagnostics_of_finding(check, finding, output=output, scope=(named or "") if tool else "")
    if not found:
        return {}
    first = found[0]
    own = not first.file or not finding.path or first.file == finding.path
    file = (named if own else None) or first.file
    place = Place(
        file=line(file) if file else None,
        test=line(first.test) if first.test else None,
        symbol=line(first.symbol) if first.symbol else None,
        rule=first.rule,
    )
    keys = dict.fromkeys(key for one in found for key in one.keys)
    return {
        "fingerprint": first.fingerprint,
        "place": place if place != Place() else None,
        "also": tuple(keys)[1 : _MOST_KEYS + 1],
    }


class DraftDecision(msgspec.Struct, frozen=True, kw_only=True):
    """A decision without an id: the calls it was carried out by (their numbers) and its place among the steps.

    ``mark`` is a name by which the stage that drafted it finds its id again (`Timeline.marked`).
    """

    position: int
    decision: Decision
    calls: tuple[int, ...] = ()
    mark: str = ""


class ReportedFailure(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of a failure that only words report, or a service far away.

    ``until`` is where the turn ends that answers it, ``later`` where those after it end that may answer it as well;
    ``verdict`` the check's that was shown or named, if any; ``command`` the check's command that the same words quote,
    if any; ``resolved`` the mark of the acceptance that resolves it and ``since`` the place of the last report before
    that.
    """

    until: int
    later: tuple[int, ...] = ()
    verdict: Verdict | None = None
    command: str = ""
    resolved: str | None = None
    since: int = 0


class DraftEvent(msgspec.Struct, frozen=True, kw_only=True):
    """An event without an id, the call whose result it is (if any) and its place among the steps.

    ``mark`` is a name by which the stage that drafted it finds its id again (`Timeline.marked`).
    """

    position: int
    event: Event
    call: int | None = None
    mark: str = ""
    reported: ReportedFailure | None = None
