"""Does a plain word bring back what holds it, whatever its rarity, and is the gate on the relevance that is shown?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from helix_graph.insights.api import Insights
from stub_embedder import Fixed

if TYPE_CHECKING:
    from pathlib import Path

DOCKER = [f"Docker advice {word}: prune the images of the {word} host" for word in ("one", "two", "three", "four")]


def test_a_word_that_all_insights_share_finds_them_all(tmp_path: Path) -> None:
    insights = Insights(tmp_path / "helix.db")
    for text in DOCKER:
        insights.store(text)
    assert [hit["_relevance"] for hit in insights.recall("docker")] == [1.0] * 4
    assert [hit["_relevance"] for hit in insights.recall("docker images")] == [1.0] * 4


def test_a_word_that_a_few_of_many_have_finds_them(tmp_path: Path) -> None:
    insights = Insights(tmp_path / "helix.db")
    for number in range(40):
        insights.store(f"In {'PowerShell' if number % 3 == 0 else 'bash'} quote the path of job {number}")
    assert len(insights.recall("PowerShell", 100)) == 14
    assert insights.recall("PowerShell quarterly accounting spreadsheet") == []


def test_a_plain_word_passes_the_gate_whatever_the_model_thinks(tmp_path: Path) -> None:
    insights = Insights(tmp_path / "helix.db", embedder=lambda: Fixed({"docker": 1.0, **dict.fromkeys(DOCKER, 0.1)}))
    Insights(tmp_path / "helix.db").store(DOCKER[0])
    insights.reindex()
    (hit,) = insights.recall("docker")
    assert (hit["_via"], hit["_relevance"] > 0.8) == ("words", True)


@pytest.mark.parametrize("cosine", [0.1, 0.2, 0.3, 0.34])
def test_the_gate_is_on_the_relevance_that_is_shown(tmp_path: Path, cosine: float) -> None:
    query = "docker quarterly accounting spreadsheet"
    insights = Insights(tmp_path / "helix.db", embedder=lambda: Fixed({query: 1.0, DOCKER[0]: cosine}))
    insights.store(DOCKER[0])
    (shown,) = insights.recall(query, min_relevance=0.0)
    assert shown["_relevance"] > cosine
    for least in (0.2, 0.35, 0.5):
        assert bool(insights.recall(query, min_relevance=least)) == (shown["_relevance"] >= least)


def test_the_note_says_why_there_are_no_vectors(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HELIX_EMBEDDING", raising=False)
    insights = Insights(tmp_path / "helix.db")
    assert insights.recall("docker").note == "no embedding model: only words were compared"
    assert insights.recall("docker", semantic=False).note == "only words were compared, as asked"
    monkeypatch.setenv("HELIX_EMBEDDING", "lexical")
    assert insights.recall("docker").note == "HELIX_EMBEDDING is set to lexical: only words were compared"
