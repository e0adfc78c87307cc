r"""Sentences, marked items, and how much two statements have in common.

Rules that read prose judge sentences: a word means something else under a condition ("if it fails"), in a question
("does it fail?") and in a quotation. All of them start here, so that they agree on what prose is: the text without the
code, output and lists shown beside it. Items that a text puts behind a label ("Decision: …") or under a heading ("##
Lessons learned") are found by `marked_items`. Two statements are compared by the words that carry meaning, each cut to
where its forms agree ("validated", "validation"); synonyms are not known.

>>> sentences_of("It fails.\n```\nerror: x\n```\nI'll keep `a.b()` instead of v2.0. Ready?")
['It fails.', "I'll keep `a.b()` instead of v2.0.", 'Ready?']
>>> sorted(stems("The exporter's totals were wrong"))
['expor', 'total', 'wrong']
>>> round(word_overlap(stems("Fixed the exporter's wrong totals"), stems("Totals of the exporter differ")), 2)
0.67
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from helix_episodes.lightweight import Regex

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


#: Where a sentence of a report's statement ends; a semicolon ends one too.
STATEMENT_END = Regex(r"(?<=[.!?])\s+(?=[A-Z(`'\"_])|;\s+|\n+")
#: What is longer is no sentence but a dump; the expressions take time with the square of its length.
LONGEST_SENTENCE = 1000
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
_ANY_HEADING = re.compile(r"^\s*(?:#{1,6}\s+\S|\*\*[^*]+\*\*\s*:?\s*$)")
_ITEM = re.compile(r"^\s*(?:[-*+]|\d+[.)])\s+(.+)$")
#: Words, those that a name is joined of apart ("parseError"), and numbers.
_WORD = Regex(r"[A-Z][a-z]{2,}|[a-z]{3,}|[A-Z]{3,}|\d{2,}")
#: Long enough to keep "exporter" from "expected", short enough to join "configured" and "configuration".
_STEM = 5
_EMPTY = frozenset(
    re.findall(
        r"\w+",
        "the and for not was were are has had have with from that this than then its into only per over when all but "
        "also did does been being nor via must should would could which who what where why how now still after before "
        "because since fixed fixes resolved corrected repaired addressed closed removed added updated changed issue",
    )
)


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


@lru_cache(maxsize=512)
def statement_sentences(text: str) -> tuple[str, ...]:
    """The sentences of a statement, each cut to `LONGEST_SENTENCE`; choices and lessons share them."""
    return tuple(part.strip()[:LONGEST_SENTENCE] for part in STATEMENT_END.split(text) if part and part.strip())


def is_supposed(sentence: str, *, upto: int | None = None) -> bool:
    """Whether a sentence asks or supposes instead of stating; with ``upto``, whether it does so of what is there.

    >>> is_supposed("If it fails, tell me"), is_supposed("It fails?"), is_supposed("It fails")
    (True, True, False)
    """
    clause = _CLAUSE_END.split(sentence[upto or 0 :], maxsplit=1)[0]  # "it fails, can you look?" asks only the second
    asks = clause.rstrip("\"')* ").endswith("?") and not _WHY.search(sentence)
    return asks or bool(_SUPPOSED.search(sentence[:upto]))


def marked_items(text: str, *, label: re.Pattern[str], heading: re.Pattern[str]) -> Iterator[str]:
    """What follows a ``label`` (its first group), and the items listed under a ``heading`` until the next one."""
    listed = False
    for part in text.splitlines():
        labelled, item = label.match(part), _ITEM.match(part)
        if labelled:
            yield labelled[1]
        elif heading.match(part):
            listed = True
        elif _ANY_HEADING.match(part):
            listed = False
        elif listed and item:
            yield item[1]


@lru_cache(maxsize=1024)
def stems(text: str) -> frozenset[str]:
    """The words of a text that carry meaning, each by its first letters."""
    words = (word.lower() for word in _WORD.findall(text))
    return frozenset(word[:_STEM] for word in words if word not in _EMPTY)


def word_overlap(one: frozenset[str], other: frozenset[str]) -> float:
    """How much of the shorter statement is in the longer one, from 0 to 1."""
    shorter = min(len(one), len(other))
    return len(one & other) / shorter if shorter else 0.0
