"""What an embedding engine is (texts in, unit vectors out), and what can go wrong with one.

Code that compares texts by meaning asks for an `Embedder` and never knows which engine answers.

"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from helix_episodes.errors import HelixGraphError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class NoEmbedder(HelixGraphError):
    """Nothing can compare texts by meaning: weights or an engine are missing, damaged, or could not be installed."""


def unusable_weights(path: Path, problem: str) -> NoEmbedder:
    """What to raise of a folder that was named as a model's and is none, or a damaged one."""
    return NoEmbedder(f"{path} is not used as a model: {problem}; name a folder that contains the model's files")


#: The default model, and how long its vectors are.
MINILM = "all-MiniLM-L6-v2"
MINILM_DIMENSIONS = 384
#: Maximum number of tokens of a text, the two around it included, as the model's own settings say
#: (``sentence_bert_config.json``): it was not trained on more.
MAX_TOKENS = 256


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


def readable(text: str) -> str:
    r"""A text that every tokenizer takes: halves of a character are joined where both are there, else replaced.

    Logs hold halves where a text was cut in the middle of an emoji; sentence-transformers ends in a TypeError on them.

    >>> print(ascii(readable("cut \ud83d, whole \ud83d\ude00")))
    'cut \ufffd, whole \U0001f600'
    """
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text
