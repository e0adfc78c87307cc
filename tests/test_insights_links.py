"""Are insights tied to nodes: by hand, by label, by vector; do links outlive labels; where do they lead?"""

from __future__ import annotations

import sqlite3
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from helix_episodes.errors import InvalidArgument, NotFound
from helix_graph.errors import NotOneOf
from helix_graph.helix_db import HelixDatabase
from helix_graph.insights.api import Insights
from learnt_world import remember, repaired
from stub_embedder import StubEmbedder

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from helix_graph import Memory

ADVICE = "Look at the discount before the tax"


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    return remember(tmp_path, repaired("one"), repaired("two", day=2, path="shop/till.py"))


def semantic(memory: Memory) -> Insights:
    engine = StubEmbedder()
    return Insights(memory.root / "helix.db", embedder=lambda: engine, history=memory.insights.history)


def test_a_link_by_hand_leads_to_the_node_of_the_step(memory: Memory) -> None:
    name = memory.insights.store(ADVICE)["name"]
    linked = memory.insights.link(name, "decision", "Edit shop/cart.py", episode="one", relation="derived_from")
    assert (linked["status"], linked["origin"], linked["score"], linked["label"]) == (
        "added",
        "hand",
        1.0,
        "edit source (.py)",
    )
    again = memory.insights.link(name, "decision", "Edit shop/cart.py", episode="one", relation="derived_from")
    assert again["status"] == "exists"


@pytest.mark.parametrize("text", ["edit source (.py)", "Edit shop/till.py"])
def test_without_an_episode_a_label_or_a_raw_text_will_do(memory: Memory, text: str) -> None:
    name = memory.insights.store(ADVICE)["name"]
    assert memory.insights.link(name, "decision", text)["label"] == "edit source (.py)"


def test_an_outcome_has_no_text_but_its_label(memory: Memory) -> None:
    name = memory.insights.store(ADVICE)["name"]
    assert memory.insights.link(name, "outcome", "success", episode="one")["label"] == "success"


def test_what_cannot_be_linked_is_refused(memory: Memory) -> None:
    name = memory.insights.store(ADVICE)["name"]
    with pytest.raises(NotOneOf):
        memory.insights.link(name, "thing", "x")
    with pytest.raises(NotOneOf):
        memory.insights.link(name, "error", "x", relation="similar")
    with pytest.raises(InvalidArgument):
        memory.insights.link(name, "error", " ")
    with pytest.raises(NotFound):
        memory.insights.link(name, "error", "x", episode="nobody")
    with pytest.raises(NotFound):
        memory.insights.link("nobody", "error", "x")


def test_a_link_outlives_the_graph_and_its_labels(memory: Memory) -> None:
    name = memory.insights.store(ADVICE)["name"]
    memory.insights.link(name, "decision", "Edit shop/cart.py", episode="one")
    with sqlite3.connect(memory.graph.path_of_file) as connection:
        connection.execute(
            "UPDATE node SET id = 'n-of-another-version', label = 'change code' WHERE label LIKE 'edit%'"
        )
    (node,) = memory.insights.connected(name)[:1]
    assert (node["node"], node["name"]) == ("n-of-another-version", "change code")
    memory.graph.path_of_file.unlink()
    assert memory.insights.connected(name) == []
    memory.graph.compile()
    assert memory.insights.connected(name)[0]["name"] == "edit source (.py)"


def test_a_link_that_leads_nowhere_is_kept_and_counted_by_the_doctor(memory: Memory) -> None:
    name = memory.insights.store(ADVICE)["name"]
    lost = memory.insights.link(name, "error", "an error that nobody met")
    assert (lost["node"], lost["label"]) == (None, None)
    assert len(memory.insights.unresolved()) == 1
    (finding,) = [one for one in memory.doctor().findings if one.kind == "unresolved link"]
    assert (finding.severity, finding.problem) == ("note", "1 link of an insight leads to no node of the graph")


def test_insights_meet_in_a_node_though_their_anchors_differ(memory: Memory) -> None:
    one = memory.insights.store(ADVICE)["name"]
    other = memory.insights.store("Tills round before they sum, carts do not")["name"]
    memory.insights.link(one, "decision", "Edit shop/cart.py", episode="one")
    memory.insights.link(other, "decision", "Edit shop/till.py", episode="two")
    found = memory.insights.connected(one)
    assert [(hit["_kind"], hit["name"], hit["_hop"], hit["_via"]) for hit in found] == [
        ("node", "edit source (.py)", 1, one),
        ("insight", other, 2, "edit source (.py)"),
    ]


def test_links_are_read_once_however_many_anchors_a_node_has(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    one = memory.insights.store(ADVICE)["name"]
    other = memory.insights.store("Tills round before they sum, carts do not")["name"]
    for name, text, episode in ((one, "Edit shop/cart.py", "one"), (other, "Edit shop/till.py", "two")):
        memory.insights.link(name, "decision", text, episode=episode)
        memory.insights.link(name, "decision", "edit source (.py)")
    statements: list[str] = []
    reading = HelixDatabase.reading

    @contextmanager
    def watched(self: HelixDatabase) -> Iterator[sqlite3.Connection]:
        with reading(self) as connection:
            connection.set_trace_callback(statements.append)
            yield connection

    monkeypatch.setattr(HelixDatabase, "reading", watched)
    assert [hit["name"] for hit in memory.insights.connected(one)] == ["edit source (.py)", other]
    assert sum("FROM insight_link" in one for one in statements) == 2  # those of the insight, and those of all nodes


def test_walking_in_a_circle_ends(memory: Memory) -> None:
    one = memory.insights.store(ADVICE)["name"]
    other = memory.insights.store("Tills round before they sum, carts do not")["name"]
    memory.insights.relate(one, other, "led_to")
    memory.insights.relate(other, one, "causes")
    for name in (one, other):
        memory.insights.link(name, "outcome", "success")
    found = memory.insights.connected(one, max_hops=10)
    assert sorted((hit["name"], hit["_hop"]) for hit in found) == sorted([(other, 1), ("success", 1)])


def test_a_text_that_names_the_kind_of_error_is_tied_to_it_by_label(memory: Memory) -> None:
    named = memory.insights.store("When pytest fails with KeyError: 'discount' in cart.py:40, ask for the default")
    unchecked = memory.insights.store("A KeyError means that nobody asked for the default")
    memory.insights.store("Prefer small commits over large ones")
    found = [
        (one["name"], one["origin"], one["relation"], one["label"], one["score"]) for one in memory.insights.match()
    ]
    assert found == [
        (named["name"], "label", "addresses", "pytest fails: KeyError", 1.0),
        (unchecked["name"], "label", "addresses", "pytest fails: KeyError", 0.7),
    ]


def test_a_text_in_the_words_of_an_error_is_tied_to_it_by_vector(memory: Memory) -> None:
    insights = semantic(memory)
    name = insights.store("pytest fails: bewilderingly")["name"]
    far = insights.store("Prefer small commits over large ones")["name"]
    (matched,) = insights.match(name)
    assert (matched["origin"], matched["label"]) == ("embedding", "pytest fails: KeyError")
    assert 0.6 <= matched["score"] < 1
    assert insights.match(far) == []
    by_hand = insights.link(name, "error", matched["text"], episode=matched["episode"])
    assert (by_hand["status"], by_hand["origin"]) == ("exists", "hand")
    assert [one["origin"] for one in insights.why(name)["links"]] == ["hand"], "a hand is trusted before a vector"
