"""Which engine answers, and what is said where none does?"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING

import numpy as np
import pytest

from helix_cli.app import run
from helix_graph.embedding import choice
from helix_graph.embedding.bert import HEADS, TensorSpan, attention
from helix_graph.embedding.choice import (
    BULK_TEXTS,
    BySize,
    LightEmbedder,
    ReferenceEmbedder,
    demanded,
    embedder,
    status,
)
from helix_graph.embedding.model import NoEmbedder, readable
from helix_graph.embedding.weights_lookup import find
from helix_graph.errors import NotOneOf
from model_places import fill
from stub_embedder import StubEmbedder

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from model_places import Places

LIGHT = {"tokenizers", "threadpoolctl"}
REFERENCE = {"sentence_transformers"}


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> Callable[[set[str]], None]:
    """Lets just these modules seem to be installed."""

    def only(modules: set[str]) -> None:
        monkeypatch.setattr(choice, "find_spec", lambda name: name if name in modules else None)

    return only


def describe(folder: Path) -> None:
    """What sentence-transformers reads a folder by."""
    (folder / "config.json").write_text("{}")


@pytest.mark.parametrize(
    ("modules", "single", "bulk"),
    [
        (LIGHT, "light", "light"),
        (REFERENCE, "sentence-transformers", "sentence-transformers"),
        (LIGHT | REFERENCE, "light", "sentence-transformers"),
        ({"tokenizers"}, None, None),
        (set(), None, None),
    ],
)
def test_the_packages_decide_who_answers(
    modules: set[str], single: str | None, bulk: str | None, places: Places, installed: Callable[[set[str]], None]
) -> None:
    describe(fill(places.copy))
    installed(modules)
    found = status()
    assert (found.engine, found.bulk_engine) == (single, bulk)
    assert found.mode == ("semantic" if single else "lexical")
    assert (embedder() is None) == (single is None)
    assert (found.remedy == "helix-graph model install") == (single is None)


def test_a_folder_of_two_files_is_enough_for_the_light_engine_only(
    places: Places, installed: Callable[[set[str]], None]
) -> None:
    fill(places.copy)
    installed(LIGHT | REFERENCE)
    assert status().bulk_engine == "light"
    assert isinstance(embedder(), LightEmbedder)


def test_another_model_takes_sentence_transformers(
    places: Places, installed: Callable[[set[str]], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = fill(places.root / "e5", weights=b"other weights")
    describe(folder)
    monkeypatch.setenv("HELIX_MODEL_PATH", str(folder))
    monkeypatch.setenv("HELIX_MODEL_NAME", "e5-small")
    installed(LIGHT | REFERENCE)
    engine = embedder()
    assert isinstance(engine, ReferenceEmbedder)
    assert engine.model.startswith("e5-small@")
    installed(LIGHT)
    assert embedder() is None
    assert status().remedy == "pip install 'helix-graph[semantic]'"


def test_few_texts_go_to_the_light_engine_and_many_to_the_other() -> None:
    light, bulk = StubEmbedder(), StubEmbedder()
    both = BySize(light, bulk)
    texts = [f"text {number}" for number in range(BULK_TEXTS + 1)]
    assert both.embed(texts[:-1]).shape == (BULK_TEXTS, both.dimensions)
    assert (len(light.embedded), len(bulk.embedded)) == (BULK_TEXTS, 0)
    both.embed(texts)
    assert (len(light.embedded), len(bulk.embedded)) == (BULK_TEXTS, BULK_TEXTS + 1)
    assert both.model == light.model


def test_the_switch_rests_it(
    places: Places, installed: Callable[[set[str]], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(places.copy)
    installed(LIGHT)
    assert embedder()
    monkeypatch.setenv("HELIX_EMBEDDING", "lexical")
    assert embedder() is None
    assert status().reason == "HELIX_EMBEDDING is set to lexical"
    monkeypatch.setenv("HELIX_EMBEDDING", "lexcial")
    with pytest.raises(NotOneOf, match="HELIX_EMBEDDING is 'lexcial'; it must be one of auto, lexical"):
        embedder()


@pytest.mark.usefixtures("places")
def test_who_demands_vectors_is_told_what_to_type() -> None:
    with pytest.raises(NoEmbedder, match=r"no model is installed; helix-graph model install"):
        demanded()


def test_a_cache_is_put_before_the_engine(places: Places, installed: Callable[[set[str]], None]) -> None:
    fill(places.copy)
    installed(LIGHT)
    engine = demanded(cache=places.root / "vectors.db")
    assert type(engine).__name__ == "Cached"
    assert engine.dimensions == 384


def test_the_command_says_what_the_library_says(
    places: Places, installed: Callable[[set[str]], None], capsys: pytest.CaptureFixture[str]
) -> None:
    fill(places.copy)
    installed(LIGHT)
    assert run(["model", "status", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert (answer["mode"], answer["engine"], answer["dimensions"]) == ("semantic", "light", 384)
    assert answer["weights"]["state"] == "verified"
    assert answer["weights"]["folder"] == str(places.copy)
    assert run(["model", "status"]) == 0
    assert f"{places.copy} (installed copy; verified)" in capsys.readouterr().out


@pytest.mark.usefixtures("places")
def test_the_command_names_the_next_step_where_there_is_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["model", "status"]) == 0
    said = capsys.readouterr().out
    assert "lexical: no model is installed" in said
    assert "Next: helix-graph model install" in said


def test_halves_of_a_character_are_joined_or_replaced() -> None:
    assert readable("plain \U0001f600") == "plain \U0001f600"
    assert readable("\ud83d\ude00 and \ude00\ud83d") == "\U0001f600 and \ufffd\ufffd"


def test_no_texts_take_no_model(tmp_path: Path) -> None:
    assert ReferenceEmbedder(tmp_path).embed([]).shape == (0, 384)


PROBE = """
import json, sys
reached = []
sys.addaudithook(lambda event, _: reached.append(event) if event in {"socket.connect", "socket.getaddrinfo"} else None)
from helix_graph.embedding.choice import embedder
engine = embedder()
before = sorted({"numpy", "tokenizers", "sqlite3", "torch"} & set(sys.modules))
vectors = engine.embed(["mend the import"])
print(json.dumps({"before": before, "shape": vectors.shape, "reached": reached, "torch": "torch" in sys.modules}))
"""


@pytest.mark.slow
@pytest.mark.weights
def test_asking_loads_nothing_and_embedding_asks_no_network() -> None:
    if not (find().found and choice.has("light")):
        pytest.skip("no weights here; `helix-graph model install` brings them")
    environment = {name: value for name, value in os.environ.items() if name != "HELIX_EMBEDDING"}
    done = subprocess.run([sys.executable, "-c", PROBE], capture_output=True, check=True, env=environment)
    assert json.loads(done.stdout) == {"before": [], "shape": [1, 384], "reached": [], "torch": False}
    assert done.stderr == b""


@pytest.mark.weights
@pytest.mark.slow
def test_threads_may_share_an_engine() -> None:
    from concurrent.futures import ThreadPoolExecutor

    found = find().found
    if not (found and choice.has("light")):
        pytest.skip("no weights here; `helix-graph model install` brings them")
    engine = LightEmbedder(found.folder)
    texts = [f"text number {number}" for number in range(12)]
    expected = engine.embed(texts)
    with ThreadPoolExecutor(4) as pool:
        vectors = np.concatenate(list(pool.map(lambda text: engine.embed([text]), texts)))
    np.testing.assert_allclose(vectors, expected, rtol=0, atol=1e-6)


def test_tokens_that_ask_for_nothing_take_the_mean_of_their_own_text() -> None:
    """Two texts of two tokens in one batch; no weights are needed for that."""
    values = np.repeat(np.array([[1.0], [3.0], [10.0], [20.0]], dtype=np.float32), HEADS, axis=1)
    nothing = np.zeros_like(values)
    seen = attention(nothing, nothing, values, [TensorSpan(start=0, texts=2, length=2)])
    assert seen[:, 0].tolist() == [2.0, 2.0, 15.0, 15.0]
