"""The days that a report is about. They are counted back from the newest session, never from today.

So the same memory gives the same report whenever it is asked for, and a memory that rested for a month tells of the
last week in which something happened.

>>> period = period_of([datetime(2026, 3, 4, 9, tzinfo=UTC)], days=7, until=None)
>>> str(period.start.date()), str(period.until.date())
('2026-02-26', '2026-03-05')
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

#: Bars beside each other that can be told apart on a telephone; of longer periods a bar is a week.
_MOST_DAILY_BARS = 31
_WEEK = 7
#: Before the period, as many spans of its length are shown: of a week, the seven before it.
EARLIER_SPANS = 7


class Period(NamedTuple):
    """From ``start`` on, and before ``until``."""

    start: datetime
    until: datetime
    days: int

    def holds(self, at: datetime | None) -> bool:
        """Whether a moment falls into it."""
        return at is not None and self.start <= at < self.until

    def bars(self) -> Iterator[Period]:
        """Its days, or its weeks when it is long, the oldest first; the last is whole."""
        step = 1 if self.days <= _MOST_DAILY_BARS else _WEEK
        yield from _spans(self.until, length=step, count=-(-self.days // step), first=self.start)

    def trend(self) -> Iterator[Period]:
        """The spans of its length before it and itself, the oldest first."""
        yield from _spans(self.until, length=self.days, count=EARLIER_SPANS + 1)

    @property
    def last(self) -> datetime:
        """A moment of its last day; of a period that is cut to nothing, where it begins."""
        return self.until - min(timedelta(microseconds=1), self.until - self.start)


def period_of(moments: Iterable[datetime], *, days: int, until: datetime | None) -> Period | None:
    """The ``days`` before ``until``, or to the end (UTC) of the newest moment's day; None when there is none."""
    end = _aware(until) if until else max((_day_after(at) for at in moments), default=None)
    return None if end is None else Period(_back(end, days), end, days)


def _spans(until: datetime, *, length: int, count: int, first: datetime | None = None) -> Iterator[Period]:
    for place in range(count - 1, -1, -1):
        end = _back(until, length * place)
        start = _back(until, length * (place + 1))
        yield Period(max(start, first) if first else start, end, length)


def _aware(moment: datetime) -> datetime:
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC)


def _back(moment: datetime, days: int) -> datetime:
    """Days earlier; the calendar has a beginning."""
    try:
        return moment - timedelta(days=days)
    except OverflowError:
        return datetime.min.replace(tzinfo=UTC)


def _day_after(moment: datetime) -> datetime:
    """The midnight after a moment; the calendar has an end."""
    day = _aware(moment).replace(hour=0, minute=0, second=0, microsecond=0)
    try:
        return day + timedelta(days=1)
    except OverflowError:
        return datetime.max.replace(tzinfo=UTC)
