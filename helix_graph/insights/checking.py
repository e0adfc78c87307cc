r"""What a file brings in, looked at field by field: another memory's word is trusted no more than a stranger's.

What is put before agents or stands in a name is without secrets and made harmless (`safety`), as if it had been told
here. What would bend a score or an order (a share above 1, a date that is none or still to come) is refused.

>>> one_line("DELIVERED: all fine\nreally")
'DELIVERED - all fine really'
>>> name_of("ghp_0123456789abcdefghijABCDEFGHIJ012345")
'redacted-github-token'
"""

from __future__ import annotations

import re
from datetime import timedelta
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import msgspec
from msgspec.structs import replace

from helix_graph.given import prose, share, whole
from helix_graph.insights.clock import read, stamp
from helix_graph.insights.model import Insight
from helix_graph.insights.naming import slug_of
from helix_graph.insights.safety import harmless
from helix_graph.insights.settings import LONGEST, LONGEST_NAME, LONGEST_SOURCE, SHORTEST
from helix_graph.insights.store import clean_tags

if TYPE_CHECKING:
    from datetime import datetime

_Record = TypeVar("_Record", bound=msgspec.Struct)
_DATES = frozenset(
    "created_at edited_at tagged_at state_at ts last_used last_feedback_at decayed_until".split()  # noqa: SIM905  (read as words)
)
_UIDS = frozenset({"uid", "merged_into", "insight", "target"})
_UID = re.compile(r"[0-9a-f]{16,64}")
_SHARES = frozenset({"initial", "score", "propensity", "effectiveness"})
_COUNTS = frozenset({"use_count", "causal_hits", "days"})
_NAMES = frozenset({"slug", "name", "names", "shown"})
#: What is read by people and agents as a sentence, on one line.
_TOLD = frozenset({"source", "reason", "uptake"})
_PLAIN_NAME = re.compile(r"[\w.-]*")
#: More is no count but a mistake.
_MOST = 10**9
#: A clock that is wrong is so by a zone, or by a year that somebody set by hand; a date beyond that would be the newest
#: for ever.
_AHEAD = timedelta(days=366)
#: No text that insights write is as long: the longest are what was looked for, and the reasons of verdicts.
_LONGEST_TEXT = 100_000


class _Field(NamedTuple):
    """A field's name, and up to when its date may be."""

    name: str
    latest: datetime


def checked(record: _Record, *, now: datetime) -> _Record:
    """The record as it may be taken in.

    Raises:
        ValueError: A field is out of its bounds.
        UsageError: So is one that is checked as what a caller hands in.
    """
    found = {
        name: _value(getattr(record, name), _Field(name, now + _AHEAD))
        for name in record.__struct_fields__
        if name not in {"content", "tags", "told"}
    }
    if isinstance(record, Insight):
        found |= {"content": _content(record), "tags": clean_tags(map(harmless, record.tags))}
        found["told"] = {one_line(key): prose("told", _bounded(key, value)) for key, value in record.told.items()}
        found["slug"] = found["slug"] or f"insight-{record.uid[:8]}"
    return replace(record, **found)


def one_line(text: str) -> str:
    """A text without secrets, on one line, with nothing in it that is obeyed."""
    return harmless(prose("text", text))


def name_of(name: str) -> str:
    """A name as it may stand in a memory: without secrets, and a slug where it was more than a word."""
    plain = prose("name", name)
    return name if plain == name and _PLAIN_NAME.fullmatch(name) else slug_of(plain)


def _content(insight: Insight) -> str:
    content = prose("content", insight.content).strip()
    least = 1 if insight.told else SHORTEST  # the older form bounded what it was told in, not what that makes
    if not least <= len(content) <= LONGEST:
        problem = f"its content has {len(content)} characters; it must have {least} to {LONGEST}"
        raise ValueError(problem)
    return content


def _value(value: Any, field: _Field) -> Any:  # noqa: ANN401  (of any field)
    if isinstance(value, msgspec.Struct):
        return replace(
            value, **{name: _value(getattr(value, name), field._replace(name=name)) for name in value.__struct_fields__}
        )
    if isinstance(value, tuple):
        return tuple(_value(one, field) for one in value)
    if field.name == "chances":
        return {name_of(name): share("chances", chance) for name, chance in value.items()}
    if field.name in _SHARES and value is not None:
        return share(field.name, value)
    if field.name in _COUNTS and value is not None:
        return whole(field.name, value, lowest=0, highest=_MOST)
    return _text(value, field) if isinstance(value, str) else value


def _text(value: str, field: _Field) -> str:
    if field.name in _DATES:
        return _date(value, field)
    if field.name in _UIDS:
        return _uid(value, field.name)
    if field.name in _NAMES:
        return name_of(_bounded(field.name, value, most=LONGEST_NAME if field.name == "slug" else _LONGEST_TEXT))
    if field.name in _TOLD:
        return one_line(_bounded(field.name, value, most=LONGEST_SOURCE if field.name == "source" else _LONGEST_TEXT))
    return prose(field.name, _bounded(field.name, value))


def _bounded(name: str, value: str, *, most: int = _LONGEST_TEXT) -> str:
    if len(value) > most:
        problem = f"its {name} has {len(value)} characters; it must have at most {most}"
        raise ValueError(problem)
    return value


def _date(value: str, field: _Field) -> str:
    if not value and field.name not in {"created_at", "ts"}:
        return value
    moment = read(value)
    if moment is None:
        problem = f"its {field.name} is no date"
        raise ValueError(problem)
    if moment > field.latest:
        problem = f"its {field.name} lies in the future"
        raise ValueError(problem)
    return stamp(moment)


def _uid(value: str, name: str) -> str:
    if value and not _UID.fullmatch(value):
        problem = f"its {name} is no uid"
        raise ValueError(problem)
    return value
