"""Times as helix.db stores them: texts of one length, or whole seconds since 1970. All are UTC.

A stamp has microseconds and always the same length, so that text order is time order. The seeds wrote naive local or
UTC dates; a date without a zone is read as UTC.

>>> stamp(parse_stamp("2026-11-22T07:30:00"))
'2026-11-22T07:30:00.000000Z'
>>> parse_stamp("yesterday"), parse_stamp("9999-12-31T23:59:59-14:00")
(None, None)
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

#: A clock that is wrong is so by a zone, or by a year that somebody set by hand; what another memory dates beyond that
#: would be the newest forever.
AHEAD = timedelta(days=366)


def datetime_of(seconds: int) -> datetime:
    """The time of a number of seconds since 1970, in UTC."""
    return datetime.fromtimestamp(seconds, tz=UTC)


def seconds_of(at: datetime) -> int:
    """Whole seconds since 1970; a time that names no zone is UTC."""
    return int(aware(at).timestamp() // 1)


def utc_now() -> datetime:
    """The moment, in UTC."""
    return datetime.now(UTC)


def aware(moment: datetime) -> datetime:
    """A moment with a zone: UTC where it names none."""
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def stamp(moment: datetime) -> str:
    """A moment as text; one without a zone is taken for UTC."""
    return aware(moment).astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ").rjust(27, "0")


def parse_stamp(text: str | None) -> datetime | None:
    """A text as a moment in UTC; None when it is none."""
    try:
        return aware(datetime.fromisoformat(text or "")).astimezone(UTC)
    except (ValueError, OverflowError):  # the last hours of the year 9999 are no time in UTC
        return None


def days_between(earlier: datetime, later: datetime) -> int:
    """Whole days; none when the clock was set back in between."""
    return max(0, (later - earlier).days)
