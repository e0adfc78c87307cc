"""Many texts compared with each other, by their telling words.

Not every pair is looked at. Of n words a text shares more than a share t with another only if one of its n - ⌈t n⌉ + 1
rarest words is among the other's rarest as well (prefix filtering; Chaudhuri, Ganti, Kaushik, *A Primitive Operator for
Similarity Joins in Data Cleaning*, 2006): so words that stand everywhere bring nothing together.

>>> list(alike_pairs(["red green blue", "red green blue pink", "yellow"], above=0.4))
[(0, 1, 0.75)]
"""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING

from helix_graph.topics.tokens import overlap, telling_words

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

#: 0.7 x 30 may come out as a little more than 21, and must not be rounded up to 22.
_ROUNDING = 1e-9


def alike_pairs(texts: Iterable[str], *, above: float) -> Iterator[tuple[int, int, float]]:
    """Places of two texts with a larger share of their words in common than ``above``, and that share (Jaccard)."""
    sets = [telling_words(text) for text in texts]
    frequency = Counter(word for words in sets for word in words)
    having: dict[str, list[int]] = {}
    for second, words in enumerate(sets):
        rarest = sorted(words, key=lambda word: (frequency[word], word))[: prefix_length(words, above=above)]
        for first in sorted({place for word in rarest for place in having.get(word, ())}):
            share = overlap(sets[first], words)
            if share > above:
                yield first, second, share
        for word in rarest:
            having.setdefault(word, []).append(second)


def prefix_length(words: Collection[str], *, above: float) -> int:
    """So many of these words it takes to meet every set that shares more than ``above`` with them.

    >>> prefix_length(list("abcdefghij"), above=0.7)
    4
    """
    return len(words) - math.ceil(above * len(words) - _ROUNDING) + 1
