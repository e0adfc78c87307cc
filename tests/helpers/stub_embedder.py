"""An embedder for tests, which need no weights: texts are near to each other as far as they share words.

Every word has a direction of its own, drawn from its SHA-256, and a text is the sum of its words, of length 1. So equal
words in any order have a cosine of 1, half of the words in common about 0.5, none about 0 (128 dimensions: within 0.3
of it). ``embedded`` lists every text that was asked for, so that a test can see what was not asked for twice.

>>> vectors = StubEmbedder().embed(["mend the import", "the import, mend!", "a red fox"])
>>> [round(float(cosine), 1) for cosine in vectors @ vectors[0]]
[1.0, 1.0, 0.0]
"""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

DIMENSIONS = 128


class StubEmbedder:
    """An `Embedder` that needs nothing but the texts."""

    def __init__(self, model: str = "stub-words") -> None:
        self.model = model
        self.dimensions = DIMENSIONS
        self.embedded: list[str] = []

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.embedded += texts
        rows = [sum(map(_direction, _words(text)), np.zeros(DIMENSIONS, np.float32)) for text in texts]
        vectors = np.array(rows, np.float32).reshape(len(texts), DIMENSIONS)
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        return vectors


def _words(text: str) -> list[str]:
    """A text without a word has one all the same: its vector must have a length."""
    return re.findall(r"\w+", text.casefold()) or [""]


def _direction(word: str) -> NDArray[np.float32]:
    digest = hashlib.sha256(word.encode("utf-8", "surrogatepass")).digest()[: DIMENSIONS // 8]
    return np.unpackbits(np.frombuffer(digest, np.uint8)).astype(np.float32) * 2 - 1
