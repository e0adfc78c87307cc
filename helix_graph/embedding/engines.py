"""The two engines: a light one on numpy and ``tokenizers``, and sentence-transformers for many texts.

sentence-transformers takes six seconds to load, which no question from a cold process can wait for. The light engine
reads the same weights and answers a single text in about a tenth of a second more than the interpreter and numpy
take; a parity test compares it with sentence-transformers. Figures are in ``docs/embeddings.md``.

Once loaded, sentence-transformers embeds three to four times as many texts a second, and it knows every model that
its folder describes. It is loaded by path and from local files only: asked for a model by its name it would ask the
network, and without one repeat that for more than a minute.
"""

from __future__ import annotations

import contextlib
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any

from helix_graph.embedding.model import MAX_TOKENS, MINILM, MINILM_DIMENSIONS, readable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
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
        from tokenizers import Tokenizer

        tokenizer = Tokenizer.from_file(str(self.folder / "tokenizer.json"))
        tokenizer.no_padding()
        tokenizer.enable_truncation(MAX_TOKENS)
        return tokenizer

    @cached_property
    def _network(self) -> Bert:
        from helix_graph.embedding.bert import Bert, read_tensors

        return Bert(read_tensors(self.folder / "model.safetensors"))


class ReferenceEmbedder:
    """An `Embedder` of whatever model is in ``folder``; ``model`` names it. It loads with the first text."""

    def __init__(self, folder: Path, *, model: str = MINILM) -> None:
        self.folder = folder
        self._model = model

    @property
    def model(self) -> str:
        """The name under which its vectors are stored."""
        return self._model

    @property
    def dimensions(self) -> int:
        """Of each vector; those of another model than ours are known when it is loaded."""
        return MINILM_DIMENSIONS if self._model == MINILM else self._measured

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """One row a text."""
        import numpy as np

        if not texts:
            return np.empty((0, self.dimensions), np.float32)
        vectors = self._loaded.encode(
            [readable(text) for text in texts],
            normalize_embeddings=True,
            show_progress_bar=False,
            convert_to_numpy=True,
        )
        return np.asarray(vectors, np.float32)

    @cached_property
    def _measured(self) -> int:
        """How long a vector is: the method that tells it has another name in each version."""
        return int(self.embed(["any text"]).shape[1])

    @cached_property
    def _loaded(self) -> Any:  # noqa: ANN401  (the package is not there where types are checked)
        with _silent():
            library = import_module("sentence_transformers")
            # The CPU, because that is where both engines are shown to agree.
            model = library.SentenceTransformer(str(self.folder), device="cpu", local_files_only=True)
        if self._model == MINILM:
            model.max_seq_length = MAX_TOKENS  # a folder without that setting would take twice as much
        return model


@contextlib.contextmanager
def _silent() -> Iterator[None]:
    """Without the bar that transformers draws on stderr while it loads."""
    logging = import_module("transformers.utils.logging")
    shown = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        if shown:
            logging.enable_progress_bar()
