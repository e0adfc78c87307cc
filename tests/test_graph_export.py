"""Do other programs read what is exported, whatever the labels are?"""

from __future__ import annotations

import re
import shutil
import subprocess
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

import msgspec
import networkx as nx
import pytest

from helix_episodes.errors import InvalidArgument
from helix_episodes.model import Event
from helix_graph.errors import NotOneOf
from small_worlds import memory_of, session

if TYPE_CHECKING:
    from pathlib import Path

    from helix_graph import Memory

FAMILIES = (
    'say "no" \\',
    "]]> & </label>",
    "a --> b; end\nsubgraph",
    "\ud83e\udde8".encode("utf-16", "surrogatepass").decode("utf-16"),
)


@pytest.fixture
def hostile(tmp_path: Path) -> Memory:
    events = tuple(
        Event(id=f"e{place:03}", timestamp=None, type="error", content=text, check="lint", family=text, status="error")
        for place, text in enumerate((*FAMILIES, "bell \x07 and \x00"), 1)
    )
    one = msgspec.structs.replace(session("one", "run lint", success=True), events=events)
    memory = memory_of(tmp_path, [one], compiled=True)
    for family in FAMILIES:  # what people add is kept as they said it, quotation marks and all
        memory.graph.add_causal_node("error", family)
    return memory


def test_networkx_reads_the_graph_back(demo_memory: Memory, tmp_path: Path) -> None:
    path = tmp_path / "graph.graphml"
    written = demo_memory.graph.export(format="graphml", output=path)
    assert path.read_bytes() == written
    read, known = nx.read_graphml(path, force_multigraph=True), demo_memory.graph.networkx()
    assert sorted((told["type"], told["label"], told["frequency"]) for _, told in read.nodes(data=True)) == sorted(
        (told["type"], told["label"], told["frequency"]) for _, told in known.nodes(data=True)
    )
    assert sorted(
        (read.nodes[a]["label"], read.nodes[b]["label"], told["type"], told["weight"])
        for a, b, told in read.edges(data=True)
    ) == sorted(
        (known.nodes[a]["label"], known.nodes[b]["label"], told["type"], told["weight"])
        for a, b, told in known.edges(data=True)
    )


def test_json_is_the_canonical_export(demo_memory: Memory) -> None:
    demo_memory.graph.compile(export=True)
    assert demo_memory.graph.export() == (demo_memory.graph.causality / "causal-graph.json").read_bytes()


def test_a_part_can_be_exported_but_not_as_json(demo_memory: Memory) -> None:
    part = demo_memory.graph.export(format="dot", focus="ruff fails: F401")
    assert 0 < len(part) < len(demo_memory.graph.export(format="dot"))
    with pytest.raises(InvalidArgument):
        demo_memory.graph.export(format="json", focus="ruff")
    with pytest.raises(NotOneOf):
        demo_memory.graph.export(format="pdf")


def test_hostile_labels_are_text_in_xml(hostile: Memory) -> None:
    labels = [
        element.text or ""
        for element in ET.fromstring(hostile.graph.export(format="graphml")).iter()  # noqa: S314  (our own)
        if element.get("key") == "node-label"
    ]
    assert "lint fails: ]]> & </label>" in labels
    assert any("bell" in label for label in labels)


def test_hostile_labels_stay_within_their_quotes_in_dot(hostile: Memory) -> None:
    text = hostile.graph.export(format="dot").decode()
    statement = re.compile(
        r'(?:digraph "helix-graph" \{|  rankdir=LR;|\}|  n\d+(?: -> n\d+)? \[label="(?:[^"\\]|\\["\\])*",[^"]*\];)'
    )
    assert [line for line in text.splitlines() if not statement.fullmatch(line)] == []
    assert r'[label="say \"no\" \\", shape' in text


@pytest.mark.skipif(shutil.which("dot") is None, reason="Graphviz is not installed")
def test_graphviz_reads_it(hostile: Memory) -> None:
    subprocess.run(["dot", "-Tsvg"], input=hostile.graph.export(format="dot"), check=True, capture_output=True)


def test_hostile_labels_are_entities_in_mermaid(hostile: Memory) -> None:
    text = hostile.graph.export(format="mermaid").decode()
    label = r'"(?:[^\W_]|[ #;])*"'
    node = rf"  n\d+(?:\[{label}\]|\{{{label}\}}|\({label}\)|\(\[{label}\]\)|\[/{label}/\])"
    edge = r"  n\d+ (?:-->|-\.->|--x|-\.-)\|\w+\| n\d+"
    assert [line for line in text.splitlines()[1:] if not re.fullmatch(f"{node}|{edge}", line)] == []
    assert text.splitlines()[0] == "flowchart LR"
