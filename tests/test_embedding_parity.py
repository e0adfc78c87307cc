"""Does the light engine compute what sentence-transformers computes, on hard texts and in any company?

Run as a program where sentence-transformers is installed, this file writes what that computes into
fixtures/embedding/reference_vectors.json, which the light engine is held to everywhere else::

    PYTHONPATH=.:episodes:tests/helpers python tests/test_embedding_parity.py
"""

from __future__ import annotations

import base64
import json
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hard_texts import BROKEN_TEXTS, HARD_TEXTS
from helix_graph.embedding.choice import LightEmbedder, ReferenceEmbedder
from helix_graph.embedding.weights_lookup import find
from thoroughness import examples, few

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

STORED = Path(__file__).parent / "fixtures" / "embedding" / "reference_vectors.json"
COMMAND = "PYTHONPATH=.:episodes:tests/helpers python tests/test_embedding_parity.py"
#: Both compute in float32, in another order; a wrong weight, token or layer is off by a thousandth and more.
TOLERANCE = 1e-5

#: Short ones, since how many there are and of which lengths is the question; and one that is cut off.
MIXED = [*(text for text in HARD_TEXTS.values() if len(text) < 60), HARD_TEXTS["253 words"]]


@pytest.fixture(scope="module")
def light() -> LightEmbedder:
    found = find().found
    if found is None:
        pytest.skip("no weights here; `helix-graph model install` brings them")
    if not find_spec("tokenizers"):
        pytest.skip("tokenizers is not installed")
    return LightEmbedder(found.folder)


@pytest.fixture(scope="module")
def reference(light: LightEmbedder) -> ReferenceEmbedder:
    if not find_spec("sentence_transformers"):
        pytest.skip("sentence-transformers is not installed")
    return ReferenceEmbedder(light.folder)


@pytest.fixture(scope="module")
def alone(light: LightEmbedder) -> dict[str, NDArray[np.float32]]:
    """Each hard text's vector, embedded by itself."""
    return {text: light.embed([text])[0] for text in HARD_TEXTS.values()}


def stored_vectors() -> dict[str, NDArray[np.float32]]:
    stored = json.loads(STORED.read_text(encoding="utf-8"))["vectors"]
    return {name: np.frombuffer(base64.b64decode(numbers), "<f4") for name, numbers in stored.items()}


@pytest.mark.weights
@pytest.mark.parametrize("name", few([*HARD_TEXTS], 12))
def test_it_computes_what_the_reference_computed(name: str, alone: dict[str, NDArray[np.float32]]) -> None:
    np.testing.assert_allclose(alone[HARD_TEXTS[name]], stored_vectors()[name], rtol=0, atol=TOLERANCE)


@pytest.mark.weights
def test_it_computes_what_the_reference_computes_here(light: LightEmbedder, reference: ReferenceEmbedder) -> None:
    texts = [*HARD_TEXTS.values(), *BROKEN_TEXTS]
    np.testing.assert_allclose(light.embed(texts), reference.embed(texts), rtol=0, atol=TOLERANCE)


@pytest.mark.weights
def test_another_model_tells_its_dimensions(reference: ReferenceEmbedder) -> None:
    other = ReferenceEmbedder(reference.folder, model="another@0123")
    assert (other.model, other.dimensions, other.embed([]).shape) == ("another@0123", 384, (0, 384))


@pytest.mark.weights
def test_halves_of_characters_are_mended_or_replaced(light: LightEmbedder) -> None:
    assert np.array_equal(light.embed(list(BROKEN_TEXTS)), light.embed(list(BROKEN_TEXTS.values())))


@pytest.mark.weights
def test_every_vector_has_length_one(alone: dict[str, NDArray[np.float32]]) -> None:
    lengths = np.linalg.norm(np.array(list(alone.values())), axis=1)
    np.testing.assert_allclose(lengths, 1, atol=1e-6)


@pytest.mark.weights
def test_known_sentences_are_as_near_as_published(light: LightEmbedder) -> None:
    """The example of the model's own page, with the similarities that it prints."""
    asked, *others = light.embed(
        [
            "That is a happy person",
            "That is a happy dog",
            "That is a very happy person",
            "Today is a sunny day",
        ]
    )
    np.testing.assert_allclose([asked @ other for other in others], [0.695, 0.943, 0.257], atol=0.001)


@pytest.mark.weights
@settings(max_examples=examples(25), deadline=None)
@given(texts=st.lists(st.sampled_from(MIXED), max_size=8))
def test_what_stands_beside_a_text_does_not_matter(
    light: LightEmbedder, alone: dict[str, NDArray[np.float32]], texts: Sequence[str]
) -> None:
    expected = np.array([alone[text] for text in texts], np.float32).reshape(len(texts), light.dimensions)
    np.testing.assert_allclose(light.embed(texts), expected, rtol=0, atol=1e-6)


def write_stored() -> None:
    """Ask sentence-transformers, and keep what it says."""
    found = find().found
    assert found is not None, "no weights here"
    vectors = ReferenceEmbedder(found.folder).embed(list(HARD_TEXTS.values()))
    encoded = {name: base64.b64encode(row.tobytes()).decode() for name, row in zip(HARD_TEXTS, vectors, strict=True)}
    made_with = {name: version(name) for name in ("sentence-transformers", "transformers", "tokenizers", "torch")}
    header = {
        "what": "vectors of the texts in tests/helpers/hard_texts.py, float32 little-endian in base64",
        "made by": f"sentence-transformers from the weights of all-MiniLM-L6-v2, with: {COMMAND}",
        "versions": made_with,
    }
    STORED.parent.mkdir(parents=True, exist_ok=True)
    STORED.write_text(json.dumps({**header, "vectors": encoded}, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    write_stored()
