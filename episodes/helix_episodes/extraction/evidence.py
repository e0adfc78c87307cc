"""Where a statement comes from, taken from the step it was read from."""

from __future__ import annotations

from typing import TYPE_CHECKING

from helix_episodes.extraction.words import quote
from helix_episodes.model import Evidence

if TYPE_CHECKING:
    from datetime import datetime

    from helix_episodes.session import Step


def evidence_of(step: Step, text: str) -> Evidence:
    """The step's place in the log with ``text``, shortened and with secrets cut, as the quotation."""
    return Evidence(line=step.source.line, id=step.source.id, file=step.source.file, quote=quote(text))


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
