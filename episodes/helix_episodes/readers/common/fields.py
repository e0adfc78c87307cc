"""Fields of a record and tagged parts of a text, read tolerantly: a missing or odd one is ``None`` or empty."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from helix_episodes.session import Source


Record = dict[str, Any]

# The year 5138 in seconds, and March 1973 in milliseconds: no agent has logged anything before or after.
_LAST_SECOND = 100_000_000_000


class RecordPosition(NamedTuple):
    """Where a record is in the log and in time."""

    source: Source
    at: datetime | None = None


def parse_time(value: object) -> datetime | None:
    """The moment in UTC, or ``None`` when there is none or its zone is not said.

    >>> parse_time("2026-01-05T09:00:00.000Z")
    datetime.datetime(2026, 1, 5, 9, 0, tzinfo=datetime.timezone.utc)
    >>> parse_time("2026-01-05T09:00:00") is None
    True
    """
    if not isinstance(value, str):
        return None
    try:
        moment = datetime.fromisoformat(value)
        return None if moment.tzinfo is None else moment.astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def parse_any_time(value: object) -> datetime | None:
    """As `parse_time`, also of a number: milliseconds since 1970, or seconds when it is too small for that.

    >>> parse_any_time(1767603600000) == parse_any_time(1767603600) == parse_any_time("2026-01-05T09:00:00Z")
    True
    """
    if not isinstance(value, int | float) or isinstance(value, bool):
        return parse_time(value)
    try:
        return datetime.fromtimestamp(value / 1000 if value > _LAST_SECOND else value, tz=UTC)
    except (ValueError, OverflowError, OSError):
        return None


def text_in(record: Mapping[str, Any], name: str) -> str | None:
    """The field when it is a text that is not empty."""
    value = record.get(name)
    return value if isinstance(value, str) and value else None


#: What is written in an id's place where logs were cleaned before they were shared.
_NO_ID = re.compile(
    r"\W*(?:redacted|removed|masked|anonymi[sz]ed|hidden|null|none|undefined|x{3,}|\*+|0+)\W*", re.IGNORECASE
)


def real_id(value: str | None) -> str | None:
    """The id, unless it is only a mark in an id's place: those of all records would be the same.

    >>> real_id("REDACTED"), real_id("[removed]"), real_id("msg_01")
    (None, None, 'msg_01')
    """
    return None if value is None or _is_mark(value) else value


def id_in(record: Mapping[str, Any], name: str) -> str | None:
    """The field when it is an id (`real_id`)."""
    value = record.get(name)
    # Written out: a record of a log is asked for four of them.
    return value if isinstance(value, str) and value and not _is_mark(value) else None


# A record has its session's id, that of the record before, and that of an answer of which there are several.
@lru_cache(maxsize=1024)
def _is_mark(value: str) -> bool:
    return _NO_ID.fullmatch(value) is not None


def text_at(value: object, keys: str) -> str | None:
    """The text that a path of keys leads to, when it is not empty.

    >>> text_at({"info": {"cwd": "/srv"}}, "info.cwd")
    '/srv'
    """
    for key in keys.split("."):
        value = value.get(key) if isinstance(value, dict) else None
    return value if isinstance(value, str) and value else None


def object_in(record: Mapping[str, Any], name: str) -> Record:
    """The field when it is an object, else an empty one."""
    value = record.get(name)
    return value if isinstance(value, dict) else {}


def objects_in(record: Mapping[str, Any], name: str) -> list[Record]:
    """The objects in the field when it is a list; whatever else is there is passed over."""
    value = record.get(name)
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


#: No field of a log counts more: the largest context of a model has some ten million tokens.
_MOST_COUNTED = 10**9


def count_in(record: Mapping[str, Any], *names: str) -> int:
    """The sum of those of the fields that are counts: whole numbers, none of them negative.

    >>> count_in({"read": 7, "written": -50, "cached": 10**30, "cost": 0.5}, "read", "written", "cached", "cost")
    7
    """
    found = (record.get(name) for name in names)
    return sum(value for value in found if isinstance(value, int) and 0 <= value <= _MOST_COUNTED)


def cut_tags(text: str, tags: Iterable[str]) -> str:
    """The text without these tags and what is in them, in one pass per tag.

    An opening that is never closed stays, for nothing says where it ends.

    >>> cut_tags("fix it <hint>be brief</hint>now", ["hint"])
    'fix it now'
    """
    wanted = tuple(tags)
    if not _opening(wanted).search(text):
        return text.strip()
    for tag in wanted:
        if f"<{tag}" in text:
            text = _cut(text, tag=tag)
    return text.strip()


def between(text: str, opening: str, closing: str) -> str:
    """What is between the first ``opening`` and the ``closing`` after it; empty when either is missing."""
    _, opened, rest = text.partition(opening)
    inside, closed, _ = rest.partition(closing)
    return inside if opened and closed else ""


@cache
def _opening(tags: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile(f"<(?:{'|'.join(map(re.escape, tags))})")


def _cut(text: str, *, tag: str) -> str:
    parts: list[str] = []
    position = 0
    while (start := text.find(f"<{tag}", position)) >= 0:
        end = text.find(f"</{tag}>", start)
        if end < 0:
            break
        parts.append(text[position:start])
        position = end + len(tag) + 3
    parts.append(text[position:])
    return "".join(parts)
