"""Spans of time as they are asked for: days, and so many hours or days until now. All in UTC.

>>> now = datetime(2026, 2, 21, 6, 11, tzinfo=UTC)
>>> period(now=now, after="yesterday", before="2026-02-20")
Period(start=1771545600, end=1771632000)
>>> period(now=now, hours=1).start == seconds_of(now) - 3600
True
"""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta

from helix_graph.given import whole
from helix_graph.topics.errors import InvalidDay
from helix_graph.topics.model import seconds_of
from helix_graph.topics.ranking import Period
from helix_graph.topics.texts import plain

#: A hundred years.
MOST_DAYS = 36_500
MOST_HOURS = 24 * MOST_DAYS
_DAY = timedelta(days=1)
_WORDS = {"today": timedelta(0), "yesterday": _DAY, "this-week": timedelta(days=7)}
_ISO_DAY = re.compile(r"\d{4}-\d{2}-\d{2}\Z", re.ASCII)


def period(
    *,
    now: datetime,
    after: str | date | None = None,
    before: str | date | None = None,
    days: int | None = None,
    hours: int | None = None,
) -> Period:
    """The span that all of these hold; ``after`` and ``before`` include their day, ``hours`` overrides ``days``.

    Raises:
        InvalidDay: One of the first two is no day.
        OutOfRange: One of the others lies outside 0 to a hundred years.
        WrongType: One is none of its kind.
    """
    starts = [since(now=now, days=days, hours=hours)]
    if after is not None:
        starts.append(_midnight(_day("after", after, today=now.date())))
    end = None if before is None else _midnight(_day("before", before, today=now.date())) + int(_DAY.total_seconds())
    return Period(max((start for start in starts if start is not None), default=None), end)


def since(*, now: datetime, days: int | None = None, hours: int | None = None) -> int | None:
    """When so many hours, or else days, before now was; None when neither is given.

    Raises:
        OutOfRange: They lie outside 0 to a hundred years.
        WrongType: They are no whole number.
    """
    if hours is not None:
        return seconds_of(now) - 3600 * whole("hours", hours, lowest=0, highest=MOST_HOURS)
    if days is not None:
        return seconds_of(now) - 86_400 * whole("days", days, lowest=0, highest=MOST_DAYS)
    return None


def _day(option: str, value: str | date, *, today: date) -> date:
    if isinstance(value, datetime):
        return (value if value.tzinfo else value.replace(tzinfo=UTC)).astimezone(UTC).date()
    if isinstance(value, date):
        return value
    word = plain(option, value).strip().lower()
    if word in _WORDS:
        return today - _WORDS[word]
    if not _ISO_DAY.match(word):
        raise InvalidDay(option, value=value)
    try:
        return date.fromisoformat(word)
    except ValueError:  # the 31st of February
        raise InvalidDay(option, value=value) from None


def _midnight(day: date) -> int:
    return seconds_of(datetime(day.year, day.month, day.day, tzinfo=UTC))
