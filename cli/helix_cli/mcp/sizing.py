"""Long answers in parts: an agent's context is small, and nothing of an answer may be lost for it.

An answer's text is cut between lines where it grows too long, its structured content by halving its longest lists and
texts; both say so, and `Shelf` keeps the whole until other answers have taken its place. The ``rest`` tool hands it out
in parts.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from hashlib import sha256
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

if TYPE_CHECKING:
    from collections.abc import Iterator

#: Claude Code warns of results from 10,000 tokens on, some 40,000 characters; text and structure share that.
TEXT_LIMIT = 16_000
STRUCTURE_LIMIT = 24_000
#: Answers that are kept, the newest: enough for what an agent does at once.
_KEPT = 32
#: Texts are not cut below this: names and lines are of that length.
_SHORT_TEXT = 200


class Shelf:
    """The newest long answers, by an id that follows from the text. Safe for threads."""

    def __init__(self) -> None:
        self._texts: OrderedDict[str, str] = OrderedDict()
        self._lock = threading.Lock()

    def keep(self, text: str) -> str:
        """Puts a text away and gives its id."""
        name = sha256(text.encode(errors="replace")).hexdigest()[:12]
        with self._lock:
            self._texts[name] = text
            self._texts.move_to_end(name)
            while len(self._texts) > _KEPT:
                self._texts.popitem(last=False)
        return name

    def get(self, name: str) -> str | None:
        """The text of that id, if it is still there."""
        with self._lock:
            return self._texts.get(name)


def parts_of(text: str, *, limit: int = TEXT_LIMIT) -> list[str]:
    r"""A text in parts of at most ``limit`` characters, cut between lines; a longer line is cut within.

    >>> parts_of("one\ntwo\nthree", limit=8)
    ['one\ntwo\n', 'three']
    """
    parts, begin = [], 0
    while begin < len(text):
        end = begin + limit
        if end < len(text):
            end = text.rfind("\n", begin, end) + 1 or end
        parts.append(text[begin:end])
        begin = end
    return parts or [""]


def fitted_text(text: str, shelf: Shelf) -> str:
    """The first part of a text, with how to get the others."""
    parts = parts_of(text)
    if len(parts) == 1:
        return text
    name = shelf.keep(text)
    return f'{parts[0]}\n[part 1 of {len(parts)}; `rest` with answer "{name}" and part 2 gives the next]'


def fitted_structure(value: object, shelf: Shelf) -> dict[str, Any]:
    """A value as JSON has it; when it is too long, with its longest lists and texts cut, and where the whole is."""
    whole = msgspec.json.encode(value)
    shown: dict[str, Any] = msgspec.json.decode(whole)
    if len(whole) <= STRUCTURE_LIMIT:
        return shown
    name = shelf.keep(msgspec.json.format(whole, indent=1).decode())
    while len(msgspec.json.encode(shown)) > STRUCTURE_LIMIT and _halve_the_longest(shown):
        pass
    return {**shown, "shortened": {"answer": name, "hint": "it is cut; the tool `rest` gives the whole as JSON"}}


def _halve_the_longest(value: dict[str, Any]) -> bool:
    """Halves the list or the text that takes the most room; False when none is left to halve.

    Of a list and what stands in it the list is halved: whole members tell more than many torn ones.
    """
    place = max(_places(value), key=lambda one: one.size, default=None)
    if place is None:
        return False
    held = place.within[place.key]
    place.within[place.key] = held[: len(held) // 2]
    return True


class _Place(NamedTuple):
    """Where a list or a text stands."""

    within: Any
    key: str | int
    size: int


def _places(within: Any) -> Iterator[_Place]:  # noqa: ANN401  (JSON)
    """Every list that has a member, and every text longer than a line, the outer before the inner."""
    for key, held in within.items() if isinstance(within, dict) else enumerate(within):
        if (isinstance(held, list) and held) or (isinstance(held, str) and len(held) > _SHORT_TEXT):
            yield _Place(within, key, len(msgspec.json.encode(held)))
        if isinstance(held, dict | list):
            yield from _places(held)
