"""Sameness: do two statements of a report speak of the same thing?

A report tells one defect several times, each time in other words: where it was found, what caused it, that it was
fixed. Two statements are compared by the words that carry meaning, each cut to where its forms agree ("validated",
"validation"). Only words in common count; nothing is known of synonyms.

>>> sorted(stems("The exporter's totals were wrong"))
['expor', 'total', 'wrong']
>>> round(share(stems("Fixed the exporter's wrong totals"), stems("Totals of the exporter differ")), 2)
0.67
"""

from __future__ import annotations

import re
from functools import lru_cache

from helix_episodes.regex import Regex

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


@lru_cache(maxsize=1024)
def stems(text: str) -> frozenset[str]:
    """The words of a text that carry meaning, each by its first letters."""
    words = (word.lower() for word in _WORD.findall(text))
    return frozenset(word[:_STEM] for word in words if word not in _EMPTY)


def share(one: frozenset[str], other: frozenset[str]) -> float:
    """How much of the shorter statement stands in the longer one, from 0 to 1."""
    shorter = min(len(one), len(other))
    return len(one & other) / shorter if shorter else 0.0
