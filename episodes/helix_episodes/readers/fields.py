"""Fields of a record, read tolerantly: a missing or odd one is ``None`` or empty, never an error."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

    from helix_episodes.session import Source

Record = dict[str, Any]

# The year 5138 in seconds, and March 1973 in milliseconds: no agent has logged anything before or after.
_LAST_SECOND = 100_000_000_000


class Place(NamedTuple):
    """Where a record stands in the log and in time."""

    source: Source
    at: datetime | None = None


def time_of(value: object) -> datetime | None:
    """The moment in UTC, or ``None`` when there is none or its zone is not said.

    >>> time_of("2026-01-05T09:00:00.000Z")
    datetime.datetime(2026, 1, 5, 9, 0, tzinfo=datetime.timezone.utc)
    >>> time_of("2026-01-05T09:00:00") is None
    True
    """
    if not isinstance(value, str):
        return None
    try:
        moment = datetime.fromisoformat(value)
        return None if moment.tzinfo is None else moment.astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def moment_of(value: object) -> datetime | None:
    """As `time_of`, also of a number: milliseconds since 1970, or seconds when it is too small for that.

    >>> moment_of(1767603600000) == moment_of(1767603600) == moment_of("2026-01-05T09:00:00Z")
    True
    """
    if not isinstance(value, int | float) or isinstance(value, bool):
        return time_of(value)
    try:
        return datetime.fromtimestamp(value / 1000 if value > _LAST_SECOND else value, tz=UTC)
    except (ValueError, OverflowError, OSError):
        return None


def text_in(record: Mapping[str, Any], name: str) -> str | None:
    """The field when it is a text that is not empty."""
    value = record.get(name)
    return value if isinstance(value, str) and value else None


def object_in(record: Mapping[str, Any], name: str) -> Record:
    """The field when it is an object, else an empty one."""
    value = record.get(name)
    return value if isinstance(value, dict) else {}


def objects_in(record: Mapping[str, Any], name: str) -> list[Record]:
    """The objects in the field when it is a list; whatever else stands there is passed over."""
    value = record.get(name)
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []
