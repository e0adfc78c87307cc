"""What was cut from an episode, and where: kinds and places, never values.

A cut leaves its mark in the text, so an episode itself tells what was taken from it, however long ago it was written.
Of a home folder only ``~`` is left, which a log may as well have had itself: those are counted as ``home`` too.

>>> from helix_episodes.model import Episode
>>> one = Episode(id="episode-s", session="s", timestamp=None, outcome="unknown", task="use [redacted:npm-token]")
>>> cuts_in(one)
(CutIn(kind='npm-token', place='task', count=1),)
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Any

import msgspec

from helix_episodes.redaction.homes import KIND as HOME

if TYPE_CHECKING:
    from collections.abc import Iterator

_MARK = re.compile(r"\[redacted:([a-z][a-z-]{0,40})\]|(?<![\w.~-])(~)(?=[/\\])")

# The ids of decisions and events; a quotation's id is the log's own and says nothing to a reader.
_PART = re.compile(r"[de]\d{3,9}")


class CutIn(msgspec.Struct, frozen=True, kw_only=True):
    """How often something of a kind was cut in one place: ``task``, ``d003 rationale``, ``e012 evidence``."""

    kind: str
    place: str
    count: int


def cuts_in(value: msgspec.Struct) -> tuple[CutIn, ...]:
    """The cuts in an episode (or any other value), in the order of its fields."""
    counted = Counter((kind, place) for place, text in _texts(value, "") for kind in _kinds(text))
    return tuple(CutIn(kind=kind, place=place, count=count) for (kind, place), count in counted.items())


def _kinds(text: str) -> Iterator[str]:
    if "[redacted:" in text or "~" in text:
        yield from (found[1] or HOME for found in _MARK.finditer(text))


def _texts(value: Any, place: str) -> Iterator[tuple[str, str]]:  # noqa: ANN401  (whatever a field holds)
    """Every text with its place: the nearest part that has an id, and the field."""
    if isinstance(value, str):
        yield place, value
    elif isinstance(value, dict):
        for each in value.values():
            yield from _texts(each, place)
    elif isinstance(value, list | tuple):
        for each in value:
            yield from _texts(each, place)
    elif isinstance(value, msgspec.Struct):
        for name in value.__struct_fields__:
            yield from _texts(getattr(value, name), _below(value, place, name))


def _below(value: msgspec.Struct, place: str, field: str) -> str:
    """``d003 chosen`` for a field of a decision; deeper ones belong to the same field."""
    if not place:
        return field
    part = getattr(value, "id", None)
    return f"{part} {field}" if isinstance(part, str) and _PART.fullmatch(part) else place
