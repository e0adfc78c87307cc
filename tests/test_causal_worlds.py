"""Is a world of which it is known what led to what answered as it is known?"""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING

import pytest

from causal_world import CATEGORIES, score, tell
from helix_graph import Memory
from helix_graph.errors import NodeNotFound

if TYPE_CHECKING:
    from pathlib import Path

    from causal_world import World

DONE = (
    "packed eggs under books",
    "the eggs broke",
    "breakfast was cancelled",
    "packed eggs on top",
    "the eggs arrived",
)
KITCHEN: World = {
    "graph": {
        "nodes": [
            *({"id": n, "action": text, "polarity": "neutral"} for n, text in enumerate(DONE[:2])),
            {"id": 2, "action": DONE[2], "polarity": "negative"},
            {"id": 3, "action": DONE[3], "polarity": "neutral"},
            {"id": 4, "action": DONE[4], "polarity": "positive"},
            {"id": 5, "action": "kept a tin of beans", "polarity": "positive"},
            {"id": 6, "action": "stacked glasses under pans", "polarity": "neutral"},
        ],
        "edges": [
            {"from": 0, "to": 1, "relation": "caused"},
            {"from": 1, "to": 2, "relation": "caused"},
            {"from": 3, "to": 4, "relation": "enabled"},
            {"from": 5, "to": 2, "relation": "prevented"},
            {"from": 0, "to": 6, "relation": "similar_to"},
            {"from": 5, "to": 3, "relation": "invalidates"},
        ],
    },
    "qa": [
        {"category": 11, "question": f'Then "{DONE[2]}". Why?', "answer": " → ".join(DONE[:3])},
        {"category": 12, "question": f'And if "{DONE[0]}" again?', "answer": DONE[2]},
        {"category": 13, "question": f'"{DONE[0]}" or "{DONE[3]}"?', "answer": f"{DONE[3]} ({DONE[4]})"},
        {"category": 14, "question": f'What kept "{DONE[2]}" away?', "answer": "kept a tin of beans"},
        {"category": 15, "question": f"Which came first: {DONE[1]} or {DONE[0]}?", "answer": DONE[0]},
        {"category": 16, "question": "And with glasses?", "answer": "on top"},
        {"category": 17, "question": "And now?", "answer": "kept a tin of beans"},
    ],
}


def told(folder: Path, world: World) -> Memory:
    memory = Memory(folder)
    tell(memory.graph, world)
    return memory


def test_a_world_told_by_hand_is_answered_from_its_edges(tmp_path: Path) -> None:
    memory = told(tmp_path, KITCHEN)
    right = {(category, "right"): 1 for category in range(11, 16)}
    assert score(memory.graph, KITCHEN) == {**right, (16, "cannot"): 1, (17, "cannot"): 1}


@pytest.mark.slow
def test_an_edge_less_is_an_answer_less(tmp_path: Path) -> None:
    edges = [edge for edge in KITCHEN["graph"]["edges"] if edge["from"] != 1]
    cut = {**KITCHEN, "graph": {**KITCHEN["graph"], "edges": edges}}
    found = score(told(tmp_path, cut).graph, cut)
    assert {category for category, verdict in found if verdict == "wrong"} == {11, 12}


@pytest.mark.slow
def test_what_is_alike_or_prevents_leads_nowhere_unless_asked_for(tmp_path: Path) -> None:
    graph = told(tmp_path, KITCHEN).graph
    assert not graph.path(source=DONE[0], target="glasses").found
    assert graph.path(source=DONE[0], target="glasses", follow=["correlates"]).found
    assert not graph.path(source="tin of beans", target="breakfast").found


@pytest.mark.slow
def test_what_follows_without_a_thing_needs_sessions_not_edges(tmp_path: Path) -> None:
    with pytest.raises(NodeNotFound):
        told(tmp_path, KITCHEN).causality.without(DONE[0])


@pytest.mark.slow
@pytest.mark.corpus
def test_the_worlds_of_the_corpus(corpora: Path, tmp_path: Path) -> None:
    """Prints how many questions of each category are answered right; ``pytest -rP`` shows it."""
    total: Counter[tuple[int, str]] = Counter()
    for file in sorted((corpora / "causal-eval").glob("graph_*.json")):
        world = json.loads(file.read_bytes())
        total += score(told(tmp_path / file.stem, world).graph, world)
    for category, name in CATEGORIES.items():
        counts = {verdict: total[category, verdict] for verdict in ("right", "wrong", "cannot")}
        print(f"{name}: {counts}")  # noqa: T201  (what this test is run for by hand)
    right = {category: total[category, "right"] for category in CATEGORIES}
    # One world tells two things in the same words: they are one node here, which then has two roots.
    assert right == {11: 9, 12: 10, 13: 10, 14: 10, 15: 10, 16: 0, 17: 0}
