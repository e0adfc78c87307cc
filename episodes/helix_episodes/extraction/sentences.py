r"""Sentences: what people and agents say in prose, without the code, output and lists that they show beside it.

Whoever judges words judges sentences: a word means something else under a condition ("if it fails"), in a question
("does it fail?") and in a quotation. All rules that read prose start here, so that they agree on what prose is.

>>> sentences_of("It fails.\n```\nerror: x\n```\nI'll keep `a.b()` instead of v2.0. Ready?")
['It fails.', "I'll keep `a.b()` instead of v2.0.", 'Ready?']
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

#: Nobody states more than this much prose in one message; what is longer is a document that was pasted.
PROSE_LIMIT = 20_000
_FENCED = re.compile(r"^[ \t]*(```|~~~).*?(?:^[ \t]*\1[^\n]*$|\Z)", re.MULTILINE | re.DOTALL)
_FENCES = ("```", "~~~")
_SHOWN = re.compile(r"^(?:[ \t]*[>|]| {4,}\S|\t).*$", re.MULTILINE)
_END = re.compile(r"(?<=[.!?])(?<!^\d\.)(?<!\n\d\.)[\"')*\u201d]*\s+(?=[\"'(*\u201c`]*[A-Z0-9`])|\n+")
_MARKS = re.compile(r"\*\*|__|^\s*(?:#{1,6}|[-*+]|\d+[.)])\s+")
_SUPPOSED = re.compile(
    r"\b(?:if|unless|whether|when(?:ever)?(?! \w+ing\b)|in case|would|could|might|should|makes? sure|so that|ensure|"
    r"to (?:check|see|verify))\b",
    re.IGNORECASE,
)
_CLAUSE_END = re.compile(r"[,;]\s| [-\u2013\u2014] ")
#: Who asks why, says that.
_WHY = re.compile(r"\bwhy\b", re.IGNORECASE)


def has_any(text: str, signs: Iterable[str]) -> bool:
    """Whether one of the signs occurs; asked before a pattern is tried on a long text, because it is far faster."""
    # A plain loop: any() with a generator costs several times as much.
    for sign in signs:  # noqa: SIM110  (see above)
        if sign in text:
            return True
    return False


def prose(text: str) -> str:
    """The text without code blocks, quotations and tables, cut to `PROSE_LIMIT` characters."""
    unfenced = _FENCED.sub("", text[:PROSE_LIMIT]) if has_any(text, _FENCES) else text[:PROSE_LIMIT]
    return _SHOWN.sub("", unfenced)


def sentences_of(text: str) -> list[str]:
    """The sentences of a text's prose, without Markdown's marks; a line's end is a sentence's end."""
    return list(_sentences(text[:PROSE_LIMIT]))


# Half a dozen rules read the same message, some of them only after the whole session was gone through once.
@lru_cache(maxsize=256)
def _sentences(text: str) -> tuple[str, ...]:
    parts = (_MARKS.sub("", part).strip() for part in _END.split(prose(text)))
    return tuple(part for part in parts if part)


def is_supposed(sentence: str, *, upto: int | None = None) -> bool:
    """Whether a sentence asks or supposes instead of stating; with ``upto``, whether it does so of what stands there.

    >>> is_supposed("If it fails, tell me"), is_supposed("It fails?"), is_supposed("It fails")
    (True, True, False)
    """
    clause = _CLAUSE_END.split(sentence[upto or 0 :], maxsplit=1)[0]  # "it fails, can you look?" asks only the second
    asks = clause.rstrip("\"')* ").endswith("?") and not _WHY.search(sentence)
    return asks or bool(_SUPPOSED.search(sentence[:upto]))
