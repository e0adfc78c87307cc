"""Does a recall give what a look at every single insight would give, however it is sped up?"""

from __future__ import annotations

import random
import sqlite3
from contextlib import closing
from math import log
from typing import TYPE_CHECKING

import numpy as np
import pytest

from helix_graph.insights.api import Insights
from many_insights import lay_in
from stub_embedder import StubEmbedder
from thoroughness import few

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

DIMENSIONS = 16
VOCABULARY = [f"{first}{second}" for first in "bdfgklmnprtv" for second in ("ab", "ov", "um")]
#: Three blocks of the file of vectors, the last one in part.
MANY = 2300
#: The file was made with the first of them, and then takes in so many more.
LATER = 400
#: So many rows that how often a word is there is remembered.
FREQUENT = 3100


def text(chance: random.Random, number: int) -> str:
    words = [VOCABULARY[int(len(VOCABULARY) * chance.random() ** 2)] for _ in range(4)]
    return f"advice{number:05} {' '.join(words)}"


def relevance_by_words(contents: dict[int, str], query: str) -> dict[int, float]:
    """As the module says it, from the texts: identifiers count three times, and the newest 3,000 rows are looked at."""
    having = {word: [number for number, one in contents.items() if word in one.split()] for word in query.split()}
    weights = {
        word: log(1 + (len(contents) + 50) / (len(rows) + 1)) * (1 if word.isalpha() else 3)
        for word, rows in having.items()
    }
    whole, left = sum(sorted(weights.values())[-6:]), 3000
    found: dict[int, float] = {}
    for word in sorted(having, key=lambda one: (len(having[one]), one)):
        newest = sorted(having[word], reverse=True)[: max(left, 0)]
        left -= len(newest)
        for number in newest:
            found[number] = found.get(number, 0.0) + weights[word]
    return {number: min(1.0, weight / whole) for number, weight in found.items()}


def every_score(path: Path, query: str, vector: NDArray[np.float32], *, least: float) -> dict[str, float]:
    """The score of every insight that passes, each looked at by itself; all are new and of middling effectiveness."""
    with closing(sqlite3.connect(path)) as connection:
        rows = connection.execute("SELECT number, name, content, embedding FROM insight").fetchall()
    by_words = relevance_by_words({number: content for number, _, content, _ in rows}, query)
    scores = {}
    for number, name, _, embedding in rows:
        meaning = 0.0 if embedding is None else max(0.0, float(np.frombuffer(embedding, "<f4") @ vector))
        shared = min(0.8, by_words.get(number, 0.0))
        relevance = meaning + shared - meaning * shared
        if relevance >= least:
            scores[name] = 0.7 * relevance + 0.2 * 0.5 + 0.1
    return scores


def agree(insights: Insights, engine: StubEmbedder, query: str, *, least: float) -> None:
    expected = every_score(insights.path, query, engine.embed([query])[0], least=least)
    found = {hit["name"]: hit["_score"] for hit in insights.recall(query, 100, min_relevance=least)}
    best = sorted(expected.values(), reverse=True)[:100]
    assert [*found.values()] == pytest.approx(best, abs=0.0006), query
    assert found == pytest.approx({name: expected[name] for name in found}, abs=0.0006), query


@pytest.mark.parametrize("seed", few([1, 2, 3], 1))
@pytest.mark.slow
def test_all_that_pass_are_found_with_their_scores(tmp_path: Path, seed: int) -> None:
    chance, engine = random.Random(seed), StubEmbedder(dimensions=DIMENSIONS)  # noqa: S311  (drawing texts)
    texts = [text(chance, number) for number in range(MANY)]
    insights = Insights(tmp_path / "helix.db", embedder=lambda: engine)
    lay_in(insights.path, texts[:LATER], engine, at=insights.now())
    insights.forget([hit["name"] for hit in insights.recall(texts[9], 1)])
    insights.recall(texts[0])  # makes the file, which the others are then laid behind
    lay_in(insights.path, texts[LATER:], engine, at=insights.now())
    edited = text(chance, MANY)
    insights.edit(insights.recall(texts[7], 1)[0]["name"], edited)
    for number in range(3):
        insights.store(text(chance, MANY + 1 + number))
    Insights(insights.path).store(text(chance, MANY + 10))  # which has no vector
    for query in (edited, texts[5]):
        agree(insights, engine, query, least=0.1)
    for _ in range(12):
        query = " ".join(chance.sample([*VOCABULARY, f"advice{chance.randrange(MANY):05}"], chance.randint(1, 8)))
        agree(insights, engine, query, least=chance.choice([0.1, 0.35, 0.5, 0.9]))


@pytest.mark.parametrize(
    "change",
    few(
        [
            "UPDATE insight SET content = 'nothing of that sort, said in ' || number WHERE number > 20",
            """UPDATE insight SET tags = '["umbrella"]' WHERE number > 20""",
            "DELETE FROM insight WHERE number > 20",
            "INSERT INTO insight (name, content, created_at) SELECT 'n' || number, 'umbrella', created_at FROM insight",
        ],
        1,
    ),
)
@pytest.mark.slow
def test_how_frequent_a_word_is_is_never_told_from_memory_after_a_change(tmp_path: Path, change: str) -> None:
    words = ["umbrella", "garden"]
    engine = StubEmbedder(dimensions=DIMENSIONS)
    insights = Insights(tmp_path / "helix.db")
    lay_in(insights.path, [f"advice{n} {words[n % 10 == 3]}" for n in range(FREQUENT + 500)], engine)
    before = list(insights.recall("umbrella garden advice3"))
    with closing(sqlite3.connect(insights.path)) as connection, connection:
        connection.execute(change)
    after = list(insights.recall("umbrella garden advice3"))
    assert after == list(Insights(insights.path).recall("umbrella garden advice3"))
    assert after != before
