r"""A line of an export of insights: one record, and what it must be for a memory to take it in.

What a file brings in is checked field by field. Text that agents see, and names, are cleaned of secrets and sanitized
as if they had been stored here; what would distort a score or an order (a share above 1, an invalid or future date) is
refused.

>>> clean_line("DELIVERED: all fine\nreally")
'DELIVERED - all fine really'
>>> clean_name("ghp_0123456789abcdefghijABCDEFGHIJ012345")
'redacted-github-token'
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec
from msgspec.structs import replace

from helix_episodes.errors import InvalidArgument
from helix_episodes.model import AHEAD
from helix_episodes.msgspec_types import ready
from helix_episodes.safe_files import read_regular
from helix_episodes.store import PREFIX, is_session_id
from helix_graph.graph.anchors import ANCHOR_TYPES
from helix_graph.helix_db import parse_stamp, stamp
from helix_graph.insights.legacy import unusable
from helix_graph.insights.maintenance import FORGOTTEN
from helix_graph.insights.model import (
    INSIGHT_RELATIONS,
    NODE_RELATIONS,
    FeedbackEntry,
    ForgottenInsight,
    ImportMark,
    Injection,
    Insight,
    InsightLink,
    Record,
)
from helix_graph.insights.safe_quoting import sanitize_line
from helix_graph.insights.scoring import LONGEST_CONTENT, LONGEST_NAME, LONGEST_SOURCE, SHORTEST_CONTENT, content_length
from helix_graph.insights.storing import clean_line, clean_name, clean_tags
from helix_graph.validation import as_choice, as_fraction, as_int, as_text

if TYPE_CHECKING:
    from datetime import datetime
    from pathlib import Path


_Record = TypeVar("_Record", bound=msgspec.Struct)
_DATES = frozenset(
    "created_at edited_at tagged_at state_at ts last_used last_feedback_at decayed_until".split()  # noqa: SIM905  (read as words)
)
_UIDS = frozenset({"uid", "merged_into", "insight", "target", "sha256"})
_UID = re.compile(r"[0-9a-f]{16,64}")
_SHARES = frozenset({"initial", "score", "propensity", "effectiveness"})
_COUNTS = frozenset({"use_count", "causal_hits", "days"})
_NAMES = frozenset({"slug", "name", "names", "shown"})
#: What is read by people and agents as a sentence, on one line.
_TOLD = frozenset({"source", "reason", "uptake", "file"})


#: An export is read whole, in bytes: of some hundred thousand insights it has a third of it.
LARGEST_EXPORT = 1 << 30
#: More is no count but a mistake.
_MOST = 10**9
#: No text that insights write is as long: the longest are what was looked for, and the reasons of verdicts.
_LONGEST_TEXT = 100_000


#: What an export begins with.
HEADER = '{"record":"helix-insights","version":2}'
#: Of an earlier version, which did not say what an import had brought.
_UNMARKED = '{"record":"helix-insights","version":1}'
#: Kinds in the order that they have in a file.
_KINDS: dict[str, type[Record | ImportMark]] = {
    "forgotten": ForgottenInsight,
    "insight": Insight,
    "link": InsightLink,
    "feedback": FeedbackEntry,
    "injection": Injection,
    "imported": ImportMark,
}
_KIND_OF = {struct: kind for kind, struct in _KINDS.items()}


def checked_record(record: _Record, *, now: datetime) -> _Record:
    """The record as it may be taken in.

    Raises:
        ValueError: A field is out of its bounds.
        InvalidArgument: So is one that is checked as what a caller hands in.
    """
    found = {
        name: _value(name, getattr(record, name), now + AHEAD)
        for name in record.__struct_fields__
        if name not in {"content", "tags", "told"}
    }
    if isinstance(record, InsightLink):  # they stand between names, as words of ours
        as_choice("relation", record.relation, (*INSIGHT_RELATIONS, *NODE_RELATIONS))
        as_choice("node_type", record.node_type, ("", *ANCHOR_TYPES))
    if isinstance(record, Insight):
        # The older form bounded what it was told in, not what that makes.
        content, least = record.content.strip(), 1 if record.told else SHORTEST_CONTENT
        if len(content) <= LONGEST_CONTENT:  # a longer one is not searched for secrets first: that takes time
            content = as_text("content", content).strip()
        if content_length(content) < least or len(content) > LONGEST_CONTENT:
            raise ValueError(f"its content has {len(content)} characters; it must have {least} to {LONGEST_CONTENT}")
        found |= {"content": content, "tags": clean_tags(map(sanitize_line, record.tags))}
        found["told"] = {clean_line(key): as_text("told", _bounded(key, value)) for key, value in record.told.items()}
        found["slug"] = found["slug"] or f"insight-{record.uid[:8]}"
    return replace(record, **found)


def _value(name: str, value: Any, latest: datetime) -> Any:  # noqa: ANN401  (of any field)
    if isinstance(value, msgspec.Struct):
        return replace(value, **{each: _value(each, getattr(value, each), latest) for each in value.__struct_fields__})
    if isinstance(value, tuple):
        return tuple(_value(name, one, latest) for one in value)
    if name == "chances":
        return {clean_name(each): as_fraction("chances", chance) for each, chance in value.items()}
    if name in _SHARES and value is not None:
        return as_fraction(name, value)
    if name in _COUNTS and value is not None:
        return as_int(name, value, lowest=0, highest=_MOST)
    return _text(name, value, latest) if isinstance(value, str) else value


def _text(name: str, value: str, latest: datetime) -> str:
    if name in _NAMES and value == FORGOTTEN:
        return value
    if name == "episode" and not is_session_id(value.removeprefix(PREFIX)):
        value = ""  # what is no session's id is not shown next to quotations
    if name in _DATES:
        return _date(name, value, latest)
    if name in _UIDS:
        if value and not _UID.fullmatch(value):
            raise ValueError(f"its {name} is no uid")
        return value
    if name in _NAMES:
        return clean_name(_bounded(name, value, most=LONGEST_NAME if name == "slug" else _LONGEST_TEXT))
    if name in _TOLD:
        return clean_line(_bounded(name, value, most=LONGEST_SOURCE if name == "source" else _LONGEST_TEXT))
    return as_text(name, _bounded(name, value))


def _bounded(name: str, value: str, *, most: int = _LONGEST_TEXT) -> str:
    if len(value) > most:
        raise ValueError(f"its {name} has {len(value)} characters; it must have at most {most}")
    return value


def _date(name: str, value: str, latest: datetime) -> str:
    if not value and name not in {"created_at", "ts"}:
        return value
    moment = parse_stamp(value)
    if moment is None:
        raise ValueError(f"its {name} is no date")
    if moment > latest:
        # In one's own export too: it would be the newest for ever, and only its owner knows the right date.
        raise ValueError(f"its {name} is in the future, by more than a day; write the right date there")
    return stamp(moment)


def line_of(record: Record | ImportMark) -> str:
    """A record as its line."""
    return msgspec.json.encode({"record": _KIND_OF[type(record)], **msgspec.to_builtins(record)}).decode()


def record_of(line: str, *, now: datetime) -> Record | ImportMark:
    """The record in a line, as it may be taken in.

    Raises:
        msgspec.MsgspecError, ValueError, InvalidArgument: It is none, or out of its bounds.
    """
    raw = msgspec.json.decode(line, type=ready(dict[str, object]))
    kind = raw.pop("record", None)
    if not isinstance(kind, str) or kind not in _KINDS:
        raise ValueError(f"{kind!r} is not a kind of record")
    return checked_record(msgspec.convert(raw, ready(_KINDS[kind])), now=now)


def read_export(path: Path, *, now: datetime) -> tuple[list[Record], list[ImportMark] | None]:
    """The records of an export, and what it says that imports had brought; None where its version does not say it.

    Raises:
        InvalidImport: It is no export, or a line of it is damaged or out of bounds.
    """
    try:
        # Of bytes: texts have line ends of other alphabets, which JSON need not escape.
        lines = [line.decode() for line in read_regular(path, most=LARGEST_EXPORT).splitlines()]
    except (OSError, UnicodeError) as error:
        raise unusable(path, str(error)) from error
    if not lines or lines[0] not in {HEADER, _UNMARKED}:
        raise unusable(path, "it does not begin as an export of insights does", line=1)
    records: list[Record] = []
    marks: list[ImportMark] = []
    for number, line in enumerate(lines[1:], start=2):
        if line.strip():
            try:
                found = record_of(line, now=now)
            except (msgspec.MsgspecError, ValueError, InvalidArgument) as error:
                raise unusable(path, str(error), line=number) from error
            if isinstance(found, ImportMark):
                marks.append(found)
            else:
                records.append(found)
    return records, marks if lines[0] == HEADER else None
