"""BERT's forward pass in numpy: token ids in, one unit vector a text out.

Sentences go through the network (Devlin et al. 2018, https://arxiv.org/abs/1810.04805) in the shape that
all-MiniLM-L6-v2 gives it: six layers of attention and feed-forward, the mean over a text's tokens, length one.

The tokens of a batch are one below the other, texts of one length side by side, and nothing is padded: only
attention looks at a text's borders, so it alone works text by text (by all texts of a length at once), and no mask is
needed for what is not there.
"""

from __future__ import annotations

import contextlib
import mmap
import os
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import groupby
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import msgspec
import numpy as np
from threadpoolctl import ThreadpoolController  # type: ignore[import-untyped]  # it says nothing of its types

from helix_episodes.msgspec_types import ready

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

LAYERS = 6
HEADS = 12
_EPSILON = 1e-12
#: So many tokens go through the network at once, or one text: larger products gain nothing (256 to 2048 tokens take the
#: same time each), and smaller batches spread better over the processors.
_BATCH_TOKENS = 512
#: So many numbers fit into a core's second-level cache together with what is computed on the way.
_BLOCK = 1 << 14
#: erf(x) as x * P(x^2) / Q(x^2), for |x| <= 4 and within 5e-7 of it: the fit of Eigen and XLA for float32.
_P = (
    *(-2.72614225801306e-10, 2.77068142495902e-08, -2.10102402082508e-06, -5.69250639462346e-05),
    *(-7.34990630326855e-04, -2.95459980854025e-03, -1.60960333262415e-02),
)
_Q = (-1.45660718464996e-05, -2.13374055278905e-04, -1.68282697438203e-03, -7.37332916720468e-03, -1.42647390514189e-02)

#: Held while BLAS is kept to one thread.
_BLAS = threading.Lock()


class TensorSpan(NamedTuple):
    """Texts of one length in a batch: where the first one begins, how many there are, how many tokens each has."""

    start: int
    texts: int
    length: int

    @property
    def rows(self) -> slice:
        """Their tokens in the batch."""
        return slice(self.start, self.start + self.texts * self.length)


def read_tensors(path: Path) -> dict[str, Floats]:
    """The float32 tensors of a ``.safetensors`` file, as views of the file: what is not looked at is not read.

    The format is a length, a JSON table of names and places, and the numbers as they are
    (https://github.com/huggingface/safetensors#format). The file must have been checked: it is taken at its word.
    """
    with path.open("rb") as file:
        data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    begin = 8 + int.from_bytes(data[:8], "little")
    table = msgspec.json.decode(data[8:begin], type=ready(dict[str, _Tensor]))
    return {
        name: np.frombuffer(data, "<f4", prod(one.shape), begin + one.data_offsets[0]).reshape(one.shape)
        for name, one in table.items()
        if one.dtype == "F32"
    }


class _Tensor(msgspec.Struct):
    """A line of the table; the file's own ``__metadata__`` reads as one without a type."""

    dtype: str = ""
    shape: tuple[int, ...] = ()
    data_offsets: tuple[int, int] = (0, 0)


class Bert:
    """The network, with its weights."""

    def __init__(self, tensors: Mapping[str, Floats]) -> None:
        self._tensors = tensors

    def embed(self, texts: Sequence[Sequence[int]]) -> Floats:
        """One row a text, in the order of the texts, each as its token ids, of which there is at least one."""
        width = self._tensors["embeddings.LayerNorm.weight"].shape[0]
        vectors = np.empty((len(texts), width), np.float32)
        by_length = sorted(range(len(texts)), key=lambda text: len(texts[text]))
        batches = list(_batches(by_length, texts))
        with _one_thread_a_product():
            for batch, means in zip(batches, _side_by_side(self._means, batches, texts), strict=True):
                vectors[batch] = means
        vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), np.float32(_EPSILON))
        return vectors

    def _means(self, batch: Sequence[Sequence[int]]) -> Floats:
        spans = list(_spans(batch))
        ids = np.concatenate([np.asarray(text) for text in batch])
        places = np.concatenate([np.tile(np.arange(one.length), one.texts) for one in spans])
        of = self._tensors
        tokens = of["embeddings.word_embeddings.weight"][ids] + of["embeddings.position_embeddings.weight"][places]
        hidden = self._normed("embeddings.LayerNorm", tokens + of["embeddings.token_type_embeddings.weight"][0])
        for number in range(LAYERS):
            hidden = self._layer(f"encoder.layer.{number}", hidden, spans)
        return np.concatenate([hidden[one.rows].reshape(one.texts, one.length, -1).mean(axis=1) for one in spans])

    def _layer(self, name: str, hidden: Floats, spans: Iterable[TensorSpan]) -> Floats:
        query, key, value = (self._linear(f"{name}.attention.self.{one}", hidden) for one in ("query", "key", "value"))
        seen = self._linear(f"{name}.attention.output.dense", attention(query, key, value, spans))
        hidden = self._normed(f"{name}.attention.output.LayerNorm", seen + hidden)
        wide = self._linear(f"{name}.intermediate.dense", hidden)
        gelu(wide)
        return self._normed(f"{name}.output.LayerNorm", self._linear(f"{name}.output.dense", wide) + hidden)

    def _linear(self, name: str, rows: Floats) -> Floats:
        product = rows @ self._tensors[f"{name}.weight"].T
        product += self._tensors[f"{name}.bias"]
        return product

    def _normed(self, name: str, rows: Floats) -> Floats:
        rows -= rows.mean(axis=1, keepdims=True)
        variance = np.einsum("ij,ij->i", rows, rows)[:, None] / np.float32(rows.shape[1])
        rows *= self._tensors[f"{name}.weight"] / np.sqrt(variance + np.float32(_EPSILON))
        rows += self._tensors[f"{name}.bias"]
        return rows


def attention(query: Floats, key: Floats, value: Floats, spans: Iterable[TensorSpan]) -> Floats:
    """What each token takes from the tokens of its own text, head by head: softmax(QK' / sqrt(d)) V."""
    seen = np.empty_like(query)
    for span in spans:
        q, k, v = (
            one[span.rows].reshape(span.texts, span.length, HEADS, -1).swapaxes(1, 2) for one in (query, key, value)
        )
        scores = q @ k.swapaxes(2, 3)
        scores *= np.float32(q.shape[3] ** -0.5)
        scores -= scores.max(axis=3, keepdims=True)
        np.exp(scores, out=scores)
        scores /= scores.sum(axis=3, keepdims=True)
        seen[span.rows] = (scores @ v).swapaxes(1, 2).reshape(-1, seen.shape[1])
    return seen


def gelu(values: Floats) -> None:
    """``x * (1 + erf(x / sqrt(2))) / 2`` in the place of every x, which numpy has no function for."""
    flat = values.reshape(-1)
    for start in range(0, flat.size, _BLOCK):
        block = flat[start : start + _BLOCK]
        x = block.copy()
        x *= np.float32(0.5**0.5)
        np.clip(x, -4, 4, out=x)
        square = x * x
        x *= _polynomial(_P, square)
        x /= _polynomial(_Q, square)
        x += np.float32(1)
        x *= np.float32(0.5)
        block *= x


def _polynomial(coefficients: Sequence[float], at: Floats) -> Floats:
    """By Horner's rule, the highest power's coefficient first."""
    total = at * np.float32(coefficients[0])
    for coefficient in coefficients[1:-1]:
        total += np.float32(coefficient)
        total *= at
    total += np.float32(coefficients[-1])
    return total


@contextlib.contextmanager
def _one_thread_a_product() -> Iterator[None]:
    """Keeps BLAS from sharing each product among threads, which wait for each other by spinning.

    Where other programs use the processors too, as where agents work, that wait takes a hundred times as long as the
    product; and where none do, products as small as these gain nothing. The number is one of the whole process, so
    only one thread at a time may change it and put it back.
    """
    with _BLAS, _blas_libraries().limit(limits=1, user_api="blas"):
        yield


_blas_libraries = cache(ThreadpoolController)


def _side_by_side(
    work: Callable[[Sequence[Sequence[int]]], Floats], batches: Sequence[Sequence[int]], texts: Sequence[Sequence[int]]
) -> Iterator[Floats]:
    """What comes of each batch, in order; of several batches, one on each processor."""
    chosen = ([texts[text] for text in batch] for batch in batches)
    if len(batches) <= 1:
        yield from map(work, chosen)
        return
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
        yield from pool.map(work, chosen)


def _batches(order: Sequence[int], texts: Sequence[Sequence[int]]) -> Iterator[list[int]]:
    batch: list[int] = []
    tokens = 0
    for text in order:
        if batch and tokens + len(texts[text]) > _BATCH_TOKENS:
            yield batch
            batch, tokens = [], 0
        batch.append(text)
        tokens += len(texts[text])
    if batch:
        yield batch


def _spans(texts: Sequence[Sequence[int]]) -> Iterator[TensorSpan]:
    """The spans of texts that are in the order of their lengths."""
    start = 0
    for length, alike in groupby(map(len, texts)):
        span = TensorSpan(start, sum(1 for _ in alike), length)
        yield span
        start = span.rows.stop
