"""The light engine: all-MiniLM-L6-v2 on numpy and ``tokenizers``.

sentence-transformers takes six seconds to load, which no question from a cold process can wait for. This engine reads
the same weights and answers a single text in about a tenth of a second more than the interpreter and numpy take; a
parity test holds it to what sentence-transformers computes. Its figures stand in ``docs/embeddings.md``.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from helix_graph.embedding.model import MAX_TOKENS, MINILM, MINILM_DIMENSIONS, readable

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray
    from tokenizers import Tokenizer

    from helix_graph.embedding.bert import Bert


class LightEmbedder:
    """An `Embedder` of the weights in ``folder``, which must have been checked; they load with the first text."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @property
    def model(self) -> str:
        """The only one whose network is computed here."""
        return MINILM

    @property
    def dimensions(self) -> int:
        """Of each vector."""
        return MINILM_DIMENSIONS

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """One row a text, within 1e-5 of what sentence-transformers computes in each number."""
        # One by one: a text takes a hundredth of its time here, and no threads are left behind for a fork to trip over.
        return self._network.embed([self._tokenizer.encode(readable(text)).ids for text in texts])

    @cached_property
    def _tokenizer(self) -> Tokenizer:
        from tokenizers import Tokenizer  # noqa: PLC0415  (30 ms that only an embedding needs)

        tokenizer = Tokenizer.from_file(str(self.folder / "tokenizer.json"))
        tokenizer.no_padding()
        tokenizer.enable_truncation(MAX_TOKENS)
        return tokenizer

    @cached_property
    def _network(self) -> Bert:
        from helix_graph.embedding.bert import Bert, read_tensors  # noqa: PLC0415  (numpy takes 100 ms)

        return Bert(read_tensors(self.folder / "model.safetensors"))
