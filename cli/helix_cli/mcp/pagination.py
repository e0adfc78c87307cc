"""Long answers in parts: an agent's context is small, and no part of an answer may be lost for it.

An answer that is too long is cut between lines and ends with a cursor; `AnswerCache` keeps the whole until others have
taken its place, and a call with the cursor gets the next part. A quotation that is cut ends with the part, and begins
again with the next.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from hashlib import sha256

from helix_episodes.errors import InvalidArgument
from helix_graph.insights.safe_quoting import is_open_quotation

#: Number of answers that are kept: enough for what an agent does at once.
_KEPT = 32
#: Code, paths and log lines come to fewer bytes a token than prose (4), and other scripts to about 3.
_BYTES_PER_TOKEN = 3.5
#: What stands around a part: the sentence on quotations and the line with the cursor.
_AROUND = 240


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


def fitted_text(text: str, *, max_tokens: int, cache: AnswerCache = ANSWERS) -> str:
    """A text of at most so many tokens: the whole, or its first part with the cursor of the next."""
    return text if _size(text) <= max_tokens else _part(text, 0, max_tokens=max_tokens, cache=cache)


def next_part(cursor: str, *, max_tokens: int, cache: AnswerCache = ANSWERS) -> str:
    """The part of a long answer that a cursor stands for.

    Raises:
        InvalidArgument: It is no cursor, or the answer is not kept any more.
    """
    name, _, begin = cursor.partition("-")
    text = cache.get(name) if begin.isascii() and begin.isdigit() else None
    if text is None or int(begin) >= len(text):
        problem = f"cursor {cursor[:40]!r} is unknown or has expired; leave it out to ask the question again"
        raise InvalidArgument(None, problem)
    return _part(text, int(begin), max_tokens=max_tokens, cache=cache)


def _size(text: str) -> int:
    """About how many tokens a text has."""
    return round(len(text.encode(errors="replace")) / _BYTES_PER_TOKEN)


def _part(text: str, begin: int, *, max_tokens: int, cache: AnswerCache) -> str:
    """What is shown of a text from a character on.

    It ends with a paragraph or a line; within a line where it would be less than half full without.
    """
    limit = int(max_tokens * _BYTES_PER_TOKEN) - _AROUND
    end = begin + len(text[begin : begin + limit].encode(errors="replace")[:limit].decode(errors="ignore"))
    if end < len(text):
        half = begin + (end - begin) // 2
        end = text.rfind("\n\n", half, end) + 2 if "\n\n" in text[half:end] else text.rfind("\n", half, end) + 1 or end
    opening = '"…' if is_open_quotation(text[:begin].rpartition("\n")[2]) else ""
    closing = '…"' if is_open_quotation(text[:end].rpartition("\n")[2]) else ""
    shown = f"{opening}{text[begin:end]}{closing}"
    if end >= len(text):
        return shown
    left = f"{_size(text[end:]):,}"
    more = f'[about {left} tokens more: call again with cursor "{cache.keep(text)}-{end}"]'
    return f"{shown.rstrip()}\n{more}"
