"""An engine for tests: a text becomes the direction of its words, each word hashed to a direction of its own.

Texts that share words are alike, others are not, and the same text has the same vector on every machine. `Fixed` gives
chosen texts chosen cosines with a text, for tests of thresholds.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

DIMENSIONS = 384


def direction(word: str, dimensions: int = DIMENSIONS) -> NDArray[np.float64]:
    """A unit vector that depends on the word alone."""
    seed = int.from_bytes(hashlib.sha256(word.encode(errors="surrogatepass")).digest()[:8], "big")
    vector = np.random.default_rng(seed).standard_normal(dimensions)
    return np.asarray(vector / np.linalg.norm(vector))


class StubEmbedder:
    """The sum of the directions of a text's words; ``embedded`` are the texts asked for, ``calls`` counts them."""

    def __init__(self, model: str = "stub", dimensions: int = DIMENSIONS) -> None:
        self.model = model
        self.dimensions = dimensions
        self.embedded: list[str] = []

    @property
    def calls(self) -> int:
        return len(self.embedded)

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.embedded += texts
        found = np.array([self.vector(text) for text in texts], dtype=np.float64).reshape(len(texts), self.dimensions)
        unit: NDArray[np.float32] = (found / np.linalg.norm(found, axis=1, keepdims=True)).astype(np.float32)
        return unit

    def vector(self, text: str) -> NDArray[np.float64]:
        words = text.casefold().split() or ["(nothing)"]
        return np.asarray(np.sum([direction(word, self.dimensions) for word in words], axis=0))


class Fixed(StubEmbedder):
    """Texts whose cosine with the first axis is given: ``Fixed({"a text": 0.85, "the query": 1.0})``.

    Every text has an axis of its own beside, so that two of them are as alike as the product of their cosines.
    """

    def __init__(self, cosines: Mapping[str, float], *, model: str = "fixed") -> None:
        super().__init__(model=model, dimensions=len(cosines) + 1)
        self.cosines = dict(cosines)

    def vector(self, text: str) -> NDArray[np.float64]:
        cosine, place = self.cosines[text], [*self.cosines].index(text)
        found = np.zeros(self.dimensions)
        found[0] = cosine
        found[place + 1] = np.sqrt(max(0.0, 1 - cosine**2))
        return found
