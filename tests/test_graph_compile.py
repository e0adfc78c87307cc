"""Is the compiled graph always what a fold from scratch would give?"""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helix_episodes.store import encode_episode
from helix_graph import database
from helix_graph.errors import (
    DatabaseBusy,
    DatabaseRefused,
    DatabaseUnreadable,
    GraphError,
    GraphNotCompiled,
    NotOurDatabase,
)
from helix_graph.graph import compile as compiling
from helix_graph.graph.api import Graph
from helix_graph.graph.compile import compile_graph
from helix_graph.graph.episode_facts import facts_of
from helix_graph.graph.graph_db import LABEL_VERSION
from helix_graph.graph.networkx_graph import fold, read_facts
from thoroughness import examples

if TYPE_CHECKING:
    from episode_drawing import Draw, Remember
    from helix_episodes.model import Episode


def export_of(folder: Path) -> bytes:
    return Graph(folder.parent / "episodes", folder).export()


def write(folder: Path, episode: Episode) -> Path:
    path = folder / f"{episode.id}.json"
    path.write_bytes(encode_episode(episode))
    return path


@settings(max_examples=examples(15), deadline=None)
@given(data=st.data())
def test_any_history_of_changes_ends_as_a_fresh_compile(
    data: st.DataObject, any_episodes: st.SearchStrategy[tuple[Episode, ...]]
) -> None:
    with tempfile.TemporaryDirectory() as name:
        episodes, graph, fresh = (Path(name) / part for part in ("episodes", "graph", "fresh"))
        episodes.mkdir()
        for _ in range(data.draw(st.integers(1, 3))):
            for old in episodes.iterdir():
                if data.draw(st.booleans()):
                    old.unlink()
            for episode in data.draw(any_episodes):
                write(episodes, episode)
            if data.draw(st.booleans()):
                (episodes / "episode-bad.json").write_text(data.draw(st.sampled_from(["{", "[]", '{"id": 1}'])))
            compile_graph(episodes, graph)
        compile_graph(episodes, fresh)
        assert export_of(graph) == export_of(fresh)
        assert _sums(graph) == _sums(fresh)


def _sums(folder: Path) -> list[object]:
    connection = sqlite3.connect(folder / "graph.db")
    rows = connection.execute(
        "SELECT s.id, t.id, e.type, weight_sum, claims, e.episodes FROM edge e JOIN node s ON s.number = source"
        " JOIN node t ON t.number = target ORDER BY 1, 2, 3"
    ).fetchall()
    nodes = connection.execute("SELECT id, mentions, episodes, measured, successes FROM node ORDER BY 1").fetchall()
    connection.close()
    return [rows, nodes]


@settings(max_examples=examples(15), deadline=None)
@given(data=st.data())
def test_the_file_holds_the_facts_and_the_sums_of_the_fold(
    data: st.DataObject, any_episodes: st.SearchStrategy[tuple[Episode, ...]]
) -> None:
    drawn = data.draw(any_episodes)
    facts = [facts_of(episode) for episode in drawn]
    with tempfile.TemporaryDirectory() as name:
        for episode in drawn:
            write(Path(name), episode)
        compile_graph(Path(name), Path(name) / "graph")
        connection = sqlite3.connect(Path(name) / "graph" / "graph.db")
        assert list(read_facts(connection)) == facts
        connection.close()
        exported = json.loads(export_of(Path(name) / "graph"))
    graph = fold(data.draw(st.permutations(facts)))
    nodes = {node["id"]: node for node in exported["nodes"]}
    assert nodes.keys() == set(graph.nodes)
    for node, attributes in graph.nodes(data=True):
        assert tuple(nodes[node]["episodes"]) == attributes["episodes"]
        for field in ("type", "label", "frequency", "success_rate", "aliases"):
            assert nodes[node][field] == attributes[field]
    fields = ("type", "weight", "evidence_count", "status")
    assert {(edge["source"], edge["target"], edge["type"]) for edge in exported["edges"]} == set(graph.edges)
    for edge in exported["edges"]:
        attributes = graph.edges[edge["source"], edge["target"], edge["type"]]
        assert {field: edge[field] for field in fields} == {field: attributes[field] for field in fields}
        assert tuple(edge["reasons"]) == attributes["reasons"]


def test_file_order_does_not_matter(draw: Draw, tmp_path: Path) -> None:
    drawn = [draw(f"s{place}", "run ruff -> ruff fails: E501") for place in range(4)]
    for name, order in (("one", drawn), ("other", drawn[::-1])):
        (tmp_path / name).mkdir()
        for episode in order:
            write(tmp_path / name, episode)
            compile_graph(tmp_path / name, tmp_path / name / "graph")
    assert export_of(tmp_path / "one" / "graph") == export_of(tmp_path / "other" / "graph")


def test_a_second_run_touches_nothing(draw: Draw, remember: Remember, folder: Path) -> None:
    os.utime(write(folder, draw("s", "run ruff -> ruff passes")), ns=(0, 1))
    graph = remember()
    before = {path.name: path.stat().st_mtime_ns for path in graph.causality.iterdir()}
    report = graph.compile()
    assert (report.episodes_processed, report.unchanged, report.nodes_added) == (0, 1, 0)
    assert {path.name: path.stat().st_mtime_ns for path in graph.causality.iterdir()} == before


def test_a_deleted_episode_takes_its_share_with_it(draw: Draw, remember: Remember, folder: Path) -> None:
    graph = remember(draw("kept", "run ruff -> ruff passes"), draw("gone", "run pytest -> pytest fails: KeyError"))
    (folder / "episode-gone.json").unlink()
    report = graph.compile()
    assert report.retracted == 1
    assert [node["label"] for node in json.loads(export_of(graph.causality))["nodes"]] == ["run ruff", "ruff passes"]


def test_a_change_of_the_same_size_within_one_tick_is_seen(
    draw: Draw, remember: Remember, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(folder, draw("s", "run ruff -> ruff fails: E501"))
    changed = path.stat().st_mtime_ns
    monkeypatch.setattr("helix_graph.graph.file_stamps.time.time_ns", lambda: changed + 1_000_000)
    graph = remember()
    path.write_bytes(path.read_bytes().replace(b"E501", b"F401"))
    os.utime(path, ns=(changed, changed))
    monkeypatch.undo()
    assert graph.status().pending == 1
    assert graph.compile().episodes_processed == 1


def test_a_spoilt_file_is_named_and_hides_no_other(draw: Draw, remember: Remember, folder: Path) -> None:
    graph = remember(draw("a", "run ruff -> ruff passes"), draw("b", "run pytest -> pytest passes"))
    bad = folder / "episode-a.json"
    bad.write_text('{"id": "episode-a", "session": 7}')
    for _ in range(2):
        report = graph.compile()
        (skipped,) = report.skipped
        assert skipped.path == str(bad)
        assert "session" in skipped.problem
    assert graph.status().episodes == 1


def test_an_episode_under_another_name_is_not_counted_twice(draw: Draw, remember: Remember, folder: Path) -> None:
    graph = remember(draw("a", "run ruff -> ruff passes"))
    shutil.copy(folder / "episode-a.json", folder / "episode-copy.json")
    report = graph.compile()
    assert report.skipped[0].problem == "its id is not its file's name"
    assert graph.status().episodes == 1


def test_a_dry_run_says_what_would_be_and_leaves_all_as_it_is(draw: Draw, remember: Remember, folder: Path) -> None:
    write(folder, draw("a", "run ruff -> ruff passes"))
    graph = Graph(folder, folder.parent / "causality")
    assert graph.compile(dry_run=True).nodes_added == 2
    assert not graph.causality.exists()
    remember(draw("a", "run ruff -> ruff passes"))
    before = export_of(graph.causality)
    write(folder, draw("b", "run pytest -> pytest passes"))
    assert graph.compile(dry_run=True).episodes_processed == 1
    assert export_of(graph.causality) == before
    assert graph.status().episodes == 1


def test_named_files_alone_are_looked_at(draw: Draw, remember: Remember, folder: Path) -> None:
    graph = remember(draw("gone", "run ruff -> ruff passes"))
    (folder / "episode-gone.json").unlink()
    named, other = (write(folder, draw(name, "run pytest -> pytest passes")) for name in ("named", "other"))
    report = graph.compile([named])
    assert (report.episodes_processed, report.retracted) == (1, 0)
    assert graph.status().episodes == 2
    assert graph.compile().episodes_processed == 1
    assert other.exists()


def test_a_file_from_elsewhere_is_refused(draw: Draw, remember: Remember, tmp_path: Path) -> None:
    graph = remember(draw("a", "run ruff -> ruff passes"))
    stray = write(tmp_path, draw("stray", "run ruff -> ruff passes"))
    with pytest.raises(GraphError, match="lies outside"):
        graph.compile([stray])


def test_since_takes_in_only_what_began_later(draw: Draw, remember: Remember, folder: Path) -> None:
    graph = remember()
    write(folder, draw("old", "run ruff -> ruff passes", at="2026-01-01T00:00:00Z"))
    write(folder, draw("new", "run ruff -> ruff passes", at="2026-02-01T00:00:00+02:00"))
    report = graph.compile(since=datetime(2026, 1, 31, 22, tzinfo=UTC))
    assert report.episodes_processed == 1
    assert json.loads(export_of(graph.causality))["updated"] == "2026-01-31T22:00:00.000000+00:00"


def test_another_version_of_the_labels_means_a_new_fold(
    draw: Draw, remember: Remember, monkeypatch: pytest.MonkeyPatch
) -> None:
    graph = remember(draw("a", "run ruff -> ruff passes"))
    monkeypatch.setattr(compiling, "LABEL_VERSION", "0")
    report = graph.compile()
    assert report.episodes_processed == 1
    assert f"labels were of version {LABEL_VERSION} " in (report.rebuilt or "")
    with pytest.raises(GraphNotCompiled, match="another version"):
        graph.status()


def test_a_damaged_graph_is_built_again(draw: Draw, remember: Remember) -> None:
    graph = remember(draw("a", "run ruff -> ruff passes"))
    before = export_of(graph.causality)
    data = bytearray(graph.path_of_file.read_bytes())
    data[100:] = b"\xff" * (len(data) - 100)
    graph.path_of_file.write_bytes(data)
    report = graph.compile()
    assert report.rebuilt
    assert report.episodes_processed == 1
    assert export_of(graph.causality) == before


@pytest.mark.parametrize("content", [b"my notes", b"SQLite format 3\0" + bytes(84)])
def test_somebody_elses_file_is_left_alone(draw: Draw, remember: Remember, content: bytes) -> None:
    graph = remember(draw("a", "run ruff -> ruff passes"))
    graph.path_of_file.write_bytes(content)
    with pytest.raises(NotOurDatabase, match="not written by helix-graph"):
        graph.compile()
    with pytest.raises(NotOurDatabase):
        graph.seen("x")
    assert graph.path_of_file.read_bytes() == content


def test_an_export_that_was_edited_or_deleted_is_written_again(draw: Draw, remember: Remember) -> None:
    graph = remember(draw("a", "run ruff -> ruff passes"))
    file = graph.causality / "causal-graph.json"
    for spoil in (lambda: None, lambda: file.write_text("mine"), file.unlink):
        spoil()
        graph.compile(export=True)
        assert file.read_bytes() == export_of(graph.causality)


def test_an_export_is_gone_once_the_graph_differs_from_it(draw: Draw, remember: Remember, folder: Path) -> None:
    graph = remember(draw("a", "run ruff -> ruff passes"))
    graph.compile(export=True)
    graph.compile()
    assert (graph.causality / "causal-graph.json").read_bytes() == graph.export()
    write(folder, draw("b", "run pytest -> pytest passes"))
    graph.compile()
    assert not (graph.causality / "causal-graph.json").exists()


def test_a_locked_graph_says_so(draw: Draw, remember: Remember, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    graph = remember(draw("a", "run ruff -> ruff passes"))
    write(folder, draw("b", "run ruff -> ruff passes"))
    monkeypatch.setattr(database, "BUSY_SECONDS", 0.01)
    other = sqlite3.connect(graph.path_of_file, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(DatabaseBusy):
        graph.compile()
    assert graph.status().episodes == 1
    other.close()


def test_where_edges_cannot_be_added_up_beside_the_indexes_nothing_is_left_of_the_new_graph(
    draw: Draw, remember: Remember, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    graph = remember(draw("a", "run ruff -> ruff passes"), draw("b", "run ruff -> ruff passes"))
    edges = graph.status().edges
    graph.path_of_file.unlink()
    before = sorted(folder.parent.rglob("*"))
    with monkeypatch.context() as patched:
        patched.setattr(compiling, "SUMS_OF_EDGES", "SELECT nothing FROM claim")
        with pytest.raises(DatabaseUnreadable):
            graph.compile()
    assert sorted(folder.parent.rglob("*")) == before
    report = graph.compile()
    assert (report.edges_added, graph.status().edges) == (edges, edges)


def test_a_full_disk_is_no_reason_to_delete_the_graph(
    draw: Draw, remember: Remember, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    graph = remember(draw("a", "run ruff -> ruff passes"))
    write(folder, draw("b", "run pytest -> pytest passes"))

    def full(*_: object) -> None:
        error = sqlite3.OperationalError("database or disk is full")
        error.sqlite_errorcode = sqlite3.SQLITE_FULL
        raise error

    monkeypatch.setattr(compiling, "finish_changes", full)
    with pytest.raises(DatabaseRefused, match="disk is full"):
        graph.compile()
    assert graph.status().episodes == 1


def test_a_folder_that_cannot_be_made_is_said(draw: Draw, folder: Path) -> None:
    write(folder, draw("a", "run ruff -> ruff passes"))
    (folder.parent / "file").write_text("in the way")
    with pytest.raises(DatabaseRefused, match="permissions"):
        Graph(folder, folder.parent / "file" / "causality").compile()


def test_progress_is_told_only_when_something_changed(draw: Draw, folder: Path) -> None:
    os.utime(write(folder, draw("a", "run ruff -> ruff passes")), ns=(0, 1))
    calls: list[str] = []
    graph = Graph(folder, folder.parent / "causality")
    for _ in range(2):
        graph.compile(progress=lambda done, total, path: calls.append(f"{done}/{total} {path.name}"))
    assert calls == ["0/1 episode-a.json"]


def test_a_graph_that_was_never_compiled_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(GraphNotCompiled, match="helix-graph sync"):
        Graph(tmp_path / "episodes", tmp_path / "causality").status()


def test_an_empty_memory_compiles_to_an_empty_graph(remember: Remember) -> None:
    graph = remember()
    exported = json.loads(export_of(graph.causality))
    assert (exported["updated"], exported["nodes"], exported["edges"]) == (None, [], [])
    assert graph.status().mentions_per_node is None
