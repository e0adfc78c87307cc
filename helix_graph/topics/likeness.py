"""Many texts compared with each other, by their telling words.

Words are numbered and sets of them kept as whole numbers, bit for word: so two sets are compared in a fraction of a
microsecond, and five hundred texts (125,000 pairs) within a tenth of a second.

>>> list(alike_pairs(["red green blue", "red green blue pink", "yellow"], above=0.4))
[(0, 1, 0.75)]
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from helix_graph.topics.tokens import telling_words

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


def alike_pairs(texts: Iterable[str], *, above: float) -> Iterator[tuple[int, int, float]]:
    """Places of two texts with a larger share of their words in common than ``above``, and that share (Jaccard)."""
    sets = list(_bits(texts))
    for first, (bits, count) in enumerate(sets):
        for second in range(first + 1, len(sets)):
            other, size = sets[second]
            shared = (bits & other).bit_count()
            if shared and shared > above * (count + size - shared):
                yield first, second, shared / (count + size - shared)


def _bits(texts: Iterable[str]) -> Iterator[tuple[int, int]]:
    numbers: dict[str, int] = {}
    for text in texts:
        words = telling_words(text)
        yield sum(1 << numbers.setdefault(word, len(numbers)) for word in words), len(words)
