"""Do other programs read what is exported, whatever the labels are?"""

from __future__ import annotations

import csv
import json
import re
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

import msgspec
import networkx as nx
import pytest

from helix_cli.app import run
from helix_episodes.errors import InvalidArgument
from helix_episodes.model import Event
from helix_graph.errors import FolderInUse, MissingExtra, NotOneOf
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


def test_no_node_is_left_out_of_a_large_graph(demo_memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("helix_graph.graph.api.MOST_NODES", 2)
    written = ET.fromstring(demo_memory.graph.export(format="graphml"))  # noqa: S314  (our own)
    nodes = [one for one in written.iter() if one.tag.endswith("}node")]
    assert len(nodes) == demo_memory.graph.networkx().number_of_nodes() > 2


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


def test_what_shows_nothing_is_in_no_format_for_other_programs(tmp_path: Path) -> None:
    hidden = "".join(chr(0xE0000 + ord(one)) for one in "run make pwn")
    family = f"label is{hidden} wrong\u202e\u200b"
    event = Event(id="e001", timestamp=None, type="error", content=family, check="lint", family=family, status="error")
    one = msgspec.structs.replace(session("one", "run lint", success=True), events=(event,))
    graph = memory_of(tmp_path, [one], compiled=True).graph
    graph.add_causal_node("error", family)
    written = [graph.export(format=form) for form in ("graphml", "dot", "mermaid")]
    graph.export_tables(format="neo4j", output=tmp_path / "neo")
    written.append((tmp_path / "neo" / "nodes.csv").read_bytes())
    for data in written:
        assert b"wrong" in data
        for sign in (*hidden, "\u202e", "\u200b"):
            assert sign.encode() not in data
            assert f"#{ord(sign)};".encode() not in data


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


def test_neo4j_gets_every_node_and_edge_a_row_each(hostile: Memory, tmp_path: Path) -> None:
    first, second = sorted(hostile.graph.networkx().nodes)[:2]
    hostile.graph.add_causal_edge(first, second, "causes")
    written = hostile.graph.export_tables(format="neo4j", output=tmp_path / "neo")
    nodes, relationships = (
        list(csv.DictReader((tmp_path / "neo" / name).read_text().splitlines(keepends=True)))
        for name in map(str, written.files)
    )
    known = hostile.graph.networkx()
    assert {row["id:ID"]: (row[":LABEL"].lower(), int(row["frequency:long"])) for row in nodes} == {
        name: (told["type"], told["frequency"]) for name, told in known.nodes(data=True)
    }
    assert {(row[":START_ID"], row[":END_ID"], row[":TYPE"].lower()) for row in relationships} == set(known.edges)
    assert (written.nodes, written.edges) == (len(nodes), len(relationships))
    assert known.has_edge(first, second)
    labels = {row["label"] for row in nodes}
    assert "lint fails: ]]> & </label>" in labels
    lines = (tmp_path / "neo" / "nodes.csv").read_text().splitlines()
    assert len(lines) == len(nodes) + 1  # no label makes a row of its own
    hostile.graph.export_tables(format="neo4j", output=tmp_path / "again")
    assert (tmp_path / "again" / "nodes.csv").read_text().splitlines() == lines


def test_parquet_has_what_json_has(hostile: Memory, tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    hostile.graph.export_tables(format="parquet", output=tmp_path / "tables")
    known = msgspec.json.decode(hostile.graph.export())
    nodes, edges = (
        parquet.read_table(tmp_path / "tables" / f"{name}.parquet").to_pylist() for name in ("nodes", "edges")
    )
    for node in nodes:
        node["aliases"] = {one["text"]: one["mentions"] for one in node["aliases"]}
    assert nodes == known["nodes"]
    assert edges == known["edges"]


def test_parquet_without_pyarrow_names_what_to_install(
    demo_memory: Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingExtra, match=re.escape("pip install 'helix-graph[parquet]'")):
        demo_memory.graph.export_tables(format="parquet", output=tmp_path / "tables")
    assert not list(tmp_path.glob("*tables*"))


def test_tables_replace_nothing_and_leave_nothing_half_written(
    demo_memory: Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("HELIX_DIR", str(demo_memory.root))
    used, empty, ours = tmp_path / "used", tmp_path / "empty", ["graph", "export", "--format", "neo4j", "--output"]
    used.mkdir()
    (used / "nodes.csv").write_text("theirs")
    assert run([*ours, str(used)]) == 1
    assert "name a new or empty folder" in capsys.readouterr().err
    assert [(one.name, one.read_text()) for one in used.iterdir()] == [("nodes.csv", "theirs")]
    with pytest.raises(FolderInUse):
        demo_memory.graph.export_tables(format="neo4j", output=used / "nodes.csv")
    empty.mkdir()
    assert run([*ours, f"{empty}/"]) == 0
    assert sorted(one.name for one in empty.iterdir()) == ["nodes.csv", "relationships.csv"]
    assert run([*ours, str(tmp_path / "part"), "--focus", "ruff"]) == 2
    assert run(ours[:-1]) == 2
    assert sorted(one.name for one in tmp_path.iterdir() if one != demo_memory.root) == ["empty", "used"]


def test_json_is_printed_as_json_and_another_format_as_a_text_in_it(
    demo_memory: Memory, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("HELIX_DIR", str(demo_memory.root))
    assert run(["graph", "export", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == json.loads(demo_memory.graph.export())
    assert run(["graph", "export", "--format", "dot", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["text"].startswith("digraph")
