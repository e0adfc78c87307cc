"""Long answers in parts: an agent's context is small, and no part of an answer may be lost for it.

An answer is cut between lines where it grows too long, and says so; `AnswerCache` keeps the whole until others have
taken its place. The ``rest`` tool returns it in parts. A quotation that is cut ends with the part, and begins again
with the next.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from hashlib import sha256

from helix_graph.insights.safe_quoting import is_open_quotation

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


#: Claude Code warns of results from 10,000 tokens on, some 40,000 characters.
TEXT_LIMIT = 16_000


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


def part_of(text: str, number: int) -> tuple[str, int]:
    r"""The part of that number, from 1, as it is shown, and how many there are; "" for one that there is not.

    >>> part_of('say: "' + "word " * 4_000 + '"', 2)[0][:12]
    '"… word word'
    """
    parts = parts_of(text)
    if not 1 <= number <= len(parts):
        return "", len(parts)
    part, before = parts[number - 1], "".join(parts[: number - 1])
    begins_within = is_open_quotation(before.rpartition("\n")[2])
    ends_within = is_open_quotation(f"{before}{part}".rpartition("\n")[2])
    return ('"…' if begins_within else "") + part + ('…"' if ends_within else ""), len(parts)


def fitted_text(text: str, shelf: AnswerCache) -> str:
    """The first part of a text, with how to get the others."""
    first, number = part_of(text, 1)
    if number == 1:
        return text
    name = shelf.keep(text)
    return f'{first}\n[part 1 of {number}; `rest` with answer "{name}" and part 2 gives the next]'
