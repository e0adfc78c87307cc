"""What an embedding engine is: texts in, unit vectors out.

Whoever compares texts by meaning asks for an `Embedder` and never knows which engine answers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray


class Embedder(Protocol):
    """Turns texts into vectors; ``model`` names the weights, and vectors of different models are never compared."""

    @property
    def model(self) -> str:
        """The name under which its vectors are stored, such as ``all-MiniLM-L6-v2``."""
        ...

    @property
    def dimensions(self) -> int:
        """Of each vector."""
        ...

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """One row a text, ``(len(texts), dimensions)``, each of length 1, so that a dot product is the cosine."""
        ...
