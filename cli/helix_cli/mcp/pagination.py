"""Long answers in parts: an agent's context is small, and no part of an answer may be lost for it.

The text of an answer is cut between lines where it grows too long; in its structured content long texts are
shortened, then the longest lists halved, down to one member. Both say so, and `AnswerCache` keeps the whole answer
until others have taken its place. The ``rest`` tool returns it in parts.
"""

from __future__ import annotations

import re
import threading
from collections import OrderedDict
from functools import partial
from hashlib import sha256
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


#: Number of answers that are kept: enough for what an agent does at once.
_KEPT = 32


class AnswerCache:
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


#: The long answers of this process.
ANSWERS = AnswerCache()


#: Claude Code warns of results from 10,000 tokens on, some 40,000 characters; text and structure share that.
TEXT_LIMIT = 16_000
STRUCTURE_LIMIT = 24_000


#: Texts are cut to these lengths in turn until the structure fits, and no shorter: names and lines are of the last.
_TEXT_STEPS = (6_400, 1_600, 400, 200)
#: What a cut text ends with.
CUT = "…"
_NO_WORD = re.compile(r'[\x00-\x1f\x7f-\x9f"\\]+')
#: A text of the structure that the answer's text has as well keeps this much of itself: enough to recognise it.
_TELLING = 120
#: Longer ones count as said twice; shorter ones are names, places and lines by which one finds one's way.
REPEATED = 200


def parts_of(text: str, *, limit: int = TEXT_LIMIT) -> list[str]:
    r"""A text in parts of at most ``limit`` characters, cut between lines.

    A line is cut within where the part would be less than half full without it.

    >>> parts_of("one\ntwo\nthree", limit=8)
    ['one\ntwo\n', 'three']
    """
    parts, begin = [], 0
    while begin < len(text):
        end = begin + limit
        if end < len(text):
            end = text.rfind("\n", begin + limit // 2, end) + 1 or end
        parts.append(text[begin:end])
        begin = end
    return parts or [""]


def fitted_text(text: str, shelf: AnswerCache) -> str:
    """The first part of a text, with how to get the others."""
    parts = parts_of(text)
    if len(parts) == 1:
        return text
    name = shelf.keep(text)
    return f'{parts[0]}\n[part 1 of {len(parts)}; `rest` with answer "{name}" and part 2 gives the next]'


def once(value: Any, text: str) -> Any:  # noqa: ANN401  (JSON)
    r"""The structure without what the text says in full: an agent pays for both.

    >>> once({"id": 7, "text": "said " * 60}, "[7]\n  " + "said " * 60)["text"] == "said " * 24 + "…"
    True
    """
    flat = _flat(text)
    return _each_text(value, lambda one: one[:_TELLING] + CUT if len(one) > REPEATED and _flat(one) in flat else one)


def _each_text(value: Any, change: Callable[[str], str]) -> Any:  # noqa: ANN401  (JSON)
    """The value with every text in it changed, but for the names of members."""
    if isinstance(value, dict):
        return {key: _each_text(one, change) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_each_text(one, change) for one in value]
    return change(value) if isinstance(value, str) else value


def _flat(text: str) -> str:
    """However it was indented, wrapped and quoted; control characters are shown as blanks."""
    return " ".join(_NO_WORD.sub(" ", text).split())


def fitted_structure(value: object, shelf: AnswerCache) -> dict[str, Any]:
    """A value as JSON has it; when it is too long, with its longest lists and texts cut, and where the whole is."""
    whole = msgspec.json.encode(value)
    shown: dict[str, Any] = msgspec.json.decode(whole)
    if len(whole) <= STRUCTURE_LIMIT:
        return shown
    name = shelf.keep(msgspec.json.format(whole, indent=1).decode())
    return {**_cut(shown), "shortened": {"answer": name, "hint": "it is cut; the tool `rest` gives the whole as JSON"}}


def _cut(value: dict[str, Any]) -> dict[str, Any]:
    """Short enough where that can be: what there is, and how much, says more than one whole text."""
    for longest in _TEXT_STEPS:
        if len(msgspec.json.encode(value)) <= STRUCTURE_LIMIT:
            return value
        value = _each_text(value, partial(_shortened, longest=longest))
    while len(msgspec.json.encode(value)) > STRUCTURE_LIMIT and _halve_the_longest(value):
        pass
    return value


def _shortened(text: str, *, longest: int) -> str:
    """The text, cut to a number of characters; its end says that it is."""
    return text[: longest - 1] + CUT if len(text) > longest else text


def _halve_the_longest(value: dict[str, Any]) -> bool:
    """Halves the list that takes the most space, the outer before the inner; False when each has one member at most."""
    place = max(_places(value), key=lambda one: one.size, default=None)
    if place is None:
        return False
    members = place.within[place.key]
    place.within[place.key] = members[: len(members) // 2]
    return True


class _Place(NamedTuple):
    """The place of a list."""

    within: Any
    key: str | int
    size: int


def _places(within: Any) -> Iterator[_Place]:  # noqa: ANN401  (JSON)
    """Every list of several members, the outer before the inner."""
    for key, value in within.items() if isinstance(within, dict) else enumerate(within):
        if isinstance(value, list) and len(value) > 1:
            yield _Place(within, key, len(msgspec.json.encode(value)))
        if isinstance(value, dict | list):
            yield from _places(value)
