"""The two engines, and which of them answers: by the weights and packages that are here, and the number of texts.

::

    from helix_graph.embedding.choice import embedder

    engine = embedder(cache=memory.root / CACHE_NAME)
    if engine is None:
        ...  # lexical mode: `status()` says why, and what to do
    vectors = engine.embed(["why does the import fail?"])

Asking costs a look at a few files; numpy and the weights load with the first text that is embedded.

sentence-transformers takes six seconds to load, which no question from a cold process can wait for. The light engine
reads the same weights and answers a single text in about a tenth of a second more than the interpreter and numpy
take; a parity test compares it with sentence-transformers. Figures are in ``docs/explanation/embeddings.md``.

Once loaded, sentence-transformers embeds three to four times as many texts a second, and it knows every model that
its folder describes. It is loaded by path and from local files only: asked for a model by its name it would ask the
network, and without one repeat that for more than a minute.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Sequence
from functools import cached_property
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from helix_graph.embedding.model import MAX_TOKENS, MINILM, MINILM_DIMENSIONS, NoEmbedder, readable, unusable_weights
from helix_graph.embedding.weights_lookup import NAME_VARIABLE, PATH_VARIABLE, Weights, WeightsSearch, find
from helix_graph.validation import as_choice

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from tokenizers import Tokenizer

    from helix_graph.embedding.bert import Bert
    from helix_graph.embedding.model import Embedder


class LightEmbedder:
    """An `Embedder` of the weights in ``folder``, which must have been checked; they load with the first text."""

    model = MINILM
    dimensions = MINILM_DIMENSIONS

    def __init__(self, folder: Path) -> None:
        self.folder = folder

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
        self.model = model

    @property
    def dimensions(self) -> int:
        """Of each vector; those of another model than ours are known when it is loaded."""
        return MINILM_DIMENSIONS if self.model == MINILM else self._measured

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
        """How long a vector is: the method for it has another name in each version."""
        return int(self.embed(["any text"]).shape[1])

    @cached_property
    def _loaded(self) -> Any:  # noqa: ANN401  (the package is not there where types are checked)
        with _silent():
            library = import_module("sentence_transformers")
            # The CPU, because that is where both engines are shown to agree.
            model = library.SentenceTransformer(str(self.folder), device="cpu", local_files_only=True)
        if self.model == MINILM:
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


#: What switches vectors off: ``HELIX_EMBEDDING=lexical``.
SWITCH = "HELIX_EMBEDDING"
_MODES = ("auto", "lexical")
#: With more texts at once than that, loading sentence-transformers (6.3 s) costs less than it then saves
#: (1/72 s - 1/265 s a text).
BULK_TEXTS = 620

Engine = Literal["light", "sentence-transformers"]
#: The modules that each engine needs, besides numpy.
MODULES: dict[Engine, tuple[str, ...]] = {
    "light": ("tokenizers", "threadpoolctl"),
    "sentence-transformers": ("sentence_transformers",),
}
INSTALL = "helix-graph model install"
_INSTALL_REFERENCE = "pip install 'helix-graph[semantic]'"


class ModelStatus(msgspec.Struct, frozen=True, kw_only=True):
    """Whether texts can be compared by meaning, with what, and if not, why not and what to do.

    ``engine`` answers single questions, ``bulk_engine`` embeds more than `BULK_TEXTS` texts at once. ``dimensions`` of
    another model than ours are known only once it is loaded. ``looked`` are the places where weights were looked for,
    in order, up to those in use.
    """

    mode: Literal["semantic", "lexical"]
    model: str | None = None
    dimensions: int | None = None
    engine: Engine | None = None
    bulk_engine: Engine | None = None
    weights: Weights | None = None
    reason: str | None = None
    remedy: str | None = None
    looked: tuple[Weights, ...] = ()


def embedder(*, path: Path | None = None, cache: Path | None = None) -> Embedder | None:
    """What turns texts into vectors here, or None in lexical mode; `status` says why.

    ``path`` is a folder with the model to use, instead of those that are looked for. ``cache`` is a file that
    remembers vectors, so that no text is embedded twice.

    Raises:
        NoEmbedder: ``path`` contains no such model.
        InvalidArgument: ``HELIX_EMBEDDING`` is set to a word that means nothing.
    """
    found = status(path=path)
    if path is not None and found.looked and not found.looked[0].usable:
        raise unusable_weights(path, found.looked[0].problem or found.looked[0].state)
    if found.weights is None or found.mode == "lexical":
        return None
    folder, model = found.weights.folder, found.weights.model or MINILM
    chosen: Embedder = LightEmbedder(folder)
    if found.engine == "sentence-transformers":
        chosen = ReferenceEmbedder(folder, model=model)
    elif found.bulk_engine != "light":
        chosen = BySize(chosen, ReferenceEmbedder(folder))
    if cache is None:
        return chosen
    from helix_graph.embedding.cache import Cached

    return Cached(chosen, cache)


def demanded(*, path: Path | None = None, cache: Path | None = None) -> Embedder:
    """What turns texts into vectors, where nothing else will do.

    Raises:
        NoEmbedder: There is none; the sentence says why, and what to type. As for `embedder`.
    """
    found = embedder(path=path, cache=cache)
    if found is None:
        raise unavailable(path=path)
    return found


def unavailable(*, path: Path | None = None) -> NoEmbedder:
    """What to raise where texts had to be compared by meaning, and were not: it says why, and what to type.

    Where there is an engine, the memory was opened without it.
    """
    missing = status(path=path)
    reason = missing.reason or "this memory was opened without an embedding engine"
    return NoEmbedder(f"texts cannot be compared by meaning: {reason}; {missing.remedy or 'open it as `Memory`'}")


def status(*, path: Path | None = None) -> ModelStatus:
    """Which weights and engines there are now; ``path`` is as for `embedder`.

    Raises:
        InvalidArgument: ``HELIX_EMBEDDING`` is set to a word that means nothing.
    """
    mode = os.environ.get(SWITCH) or "auto"
    as_choice(SWITCH, mode, _MODES)
    if mode == "lexical":
        return ModelStatus(mode="lexical", reason=f"{SWITCH} is set to lexical", remedy=f"unset {SWITCH}")
    search = find(path)
    found = search.found
    if found is None:
        reason, remedy = _nothing_usable(search)
        return ModelStatus(mode="lexical", reason=reason, remedy=remedy, looked=search.looked)
    ours, engines = found.model == MINILM, list(_engines(found))
    return ModelStatus(
        mode="semantic" if engines else "lexical",
        model=found.model,
        dimensions=MINILM_DIMENSIONS if ours else None,
        engine=engines[0] if engines else None,
        bulk_engine=engines[-1] if engines else None,
        weights=found,
        reason=None if engines else "the model is here, but nothing that can compute with it",
        remedy=None if engines else INSTALL if ours else _INSTALL_REFERENCE,
        looked=search.looked,
    )


def switched_off() -> bool:
    """Whether somebody has asked for words only, by ``HELIX_EMBEDDING=lexical``."""
    return os.environ.get(SWITCH) == "lexical"


def has(engine: Engine) -> bool:
    """Whether what an engine needs is installed; it is not imported."""
    return all(find_spec(module) for module in MODULES[engine])


def _engines(weights: Weights) -> Iterator[Engine]:
    """Those that can compute with these weights, the one for single questions first."""
    if weights.model == MINILM and has("light"):
        yield "light"
    # It reads how to compute from the folder, where the light engine knows the one model that it is for.
    if (weights.folder / "config.json").exists() and has("sentence-transformers"):
        yield "sentence-transformers"


def _nothing_usable(search: WeightsSearch) -> tuple[str, str]:
    if not search.looked:
        return "no model is installed", INSTALL
    last = search.looked[-1]
    problem = f"{last.folder} ({last.origin}): {last.problem}"
    if last.origin == "argument":
        return problem, "name a folder that contains the model"
    if last.origin == PATH_VARIABLE:
        remedy = f"let {PATH_VARIABLE} name a folder with {MINILM}, or unset it"
        return problem, f"{remedy}; another model takes {NAME_VARIABLE} besides" if last.state == "refused" else remedy
    return problem, INSTALL


class BySize:
    """An `Embedder` of two engines of one model: ``light`` for few texts, ``bulk`` for more than `BULK_TEXTS`.

    Only the number of texts handed over at once decides, so the same call takes the same way each time.
    """

    def __init__(self, light: Embedder, bulk: Embedder) -> None:
        self.light = light
        self.bulk = bulk
        self.model, self.dimensions = light.model, light.dimensions

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """One row a text."""
        return (self.bulk if len(texts) > BULK_TEXTS else self.light).embed(texts)
