"""Where a statement comes from, taken from the step it was read from."""

from __future__ import annotations

from typing import TYPE_CHECKING

from helix_episodes.extraction.words import quote
from helix_episodes.model import Evidence
from helix_episodes.session import Piece

if TYPE_CHECKING:
    from datetime import datetime

    from helix_episodes.session import Step


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
