"""Do assertions survive everything, leave no trace when they are deleted, and hide nothing when they are spoilt?"""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helix_episodes.errors import WriteFailed
from helix_episodes.store import encode_episode
from helix_graph import Memory
from thoroughness import examples

if TYPE_CHECKING:
    from pathlib import Path

    from episode_drawing import Draw
    from helix_graph.graph.api import Graph


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    return Memory(tmp_path / ".helix")


def files(memory: Memory) -> list[Path]:
    return sorted((memory.root / "causality" / "assertions").glob("*.json"))


def export(graph: Graph) -> bytes:
    graph.compile()
    return graph.export()


def rebuilt(graph: Graph) -> bytes:
    for path in graph.causality.glob("graph.db*"):
        path.unlink()
    return export(graph)


def test_an_assertion_names_type_and_label_and_no_ids(memory: Memory) -> None:
    source = memory.graph.add_causal_node("event", "deploy")["id"]
    memory.graph.add_causal_node("error", "outage")
    memory.graph.add_causal_edge(source, "outage", "causes", 0.25)
    edge = next(one for one in map(json.loads, (path.read_text() for path in files(memory))) if one["kind"] == "edge")
    assert edge["source"] == {"type": "event", "label": "deploy"}
    assert source not in "".join(path.read_text() for path in files(memory))
    assert files(memory)[0].stat().st_mode & 0o777 == 0o600


def test_assertions_survive_a_rebuild(memory: Memory) -> None:
    memory.graph.add_causal_node("event", "deploy", "episode-1")
    memory.graph.add_causal_node("error", "outage")
    memory.graph.add_causal_edge("deploy", "outage", "causes")
    memory.graph.add_pattern("n", "outage", "roll back")
    before = export(memory.graph)
    assert rebuilt(memory.graph) == before
    assert json.loads(before)["edges"][0]["reasons"] == ["asserted"]


def test_deleting_the_file_takes_the_share_out(memory: Memory, draw: Draw) -> None:
    memory.episodes.save(draw("s", "run ruff -> ruff fails: E501"))
    before = export(memory.graph)
    memory.graph.add_causal_node("error", "ruff fails: E501", "s")
    memory.graph.add_causal_node("event", "deploy")
    memory.graph.add_causal_edge("run ruff", "ruff fails: E501", "correlates", 1.0)
    memory.episodes.outcome("s", "failure", because="CI was red")
    memory.graph.add_pattern("n", "t", "a")
    assert export(memory.graph) != before
    for path in files(memory):
        path.unlink()
    report = memory.graph.compile()
    assert (report.assertions_retracted, export(memory.graph)) == (5, before)


def test_a_node_of_an_episode_is_one_more_thing_it_says(memory: Memory, draw: Draw) -> None:
    memory.episodes.save(draw("s", "ruff passes -> success"))
    node = memory.graph.add_causal_node("decision", "Choose routing", "episode-s")
    assert (node["success_rate"], node["episodes"]) == (1.0, ["episode-s"])
    (memory.root / "episodes" / "episode-s.json").unlink()
    memory.graph.compile()
    node = memory.graph.add_causal_node("decision", "Choose routing", "episode-s")
    assert (node["frequency"], node["success_rate"], node["episodes"]) == (1, None, ["episode-s"])


def test_an_asserted_node_meets_an_extracted_one(memory: Memory, draw: Draw) -> None:
    memory.episodes.save(draw("s", "run ruff -> ruff fails: E501"))
    memory.graph.compile()
    node = memory.graph.add_causal_node("error", "RUFF fails: e501")
    assert (node["label"], node["frequency"], node["episodes"]) == ("ruff fails: E501", 2, ["episode-s"])


def test_an_edge_keeps_its_ends_when_their_nodes_are_gone(memory: Memory, draw: Draw) -> None:
    memory.episodes.save(draw("s", "run ruff -> ruff fails: E501"))
    memory.graph.compile()
    memory.graph.add_causal_edge("run ruff", "ruff fails: E501", "prevents")
    (memory.root / "episodes" / "episode-s.json").unlink()
    memory.graph.compile()
    answer = memory.graph.effects("run ruff")
    (relation,) = answer.groups[0].relations
    assert (answer.groups[0].node.frequency, relation.type, relation.evidence_count) == (0, "prevents", 1)


def test_status_and_seen_count_sessions_not_assertions(memory: Memory, draw: Draw) -> None:
    memory.episodes.save(draw("s", "run ruff -> ruff fails: E501"))
    memory.graph.add_causal_node("error", "ruff fails: E501")
    memory.graph.compile()
    status = memory.graph.status()
    assert (status.episodes, status.assertions, status.pending) == (1, 1, 0)
    assert [one.session for one in memory.graph.seen("ruff fails: E501").precedents] == ["s"]


def test_an_assertion_is_evidence_but_no_episode(memory: Memory) -> None:
    memory.graph.add_causal_node("event", "deploy")
    memory.graph.add_causal_node("event", "outage")
    memory.graph.add_causal_edge("deploy", "outage", "causes")
    (group,) = memory.graph.effects("deploy").groups
    assert (group.node.episodes, group.node.frequency, group.relations[0].evidence_count) == (0, 1, 1)
    whole = memory.graph.networkx(details=True)
    assert whole.nodes[group.node.id]["frequency"] == group.node.frequency
    assert whole.nodes[group.node.id]["episodes"] == ()
    assert sorted(fields["label"] for _, fields in whole.nodes(data=True)) == ["deploy", "outage"]
    assert {tuple(fields["aliases"].values()) for _, fields in whole.nodes(data=True)} == {(1,)}


def test_patterns_follow_a_correction_at_the_next_compile(memory: Memory) -> None:
    decision = {"id": "d001", "timestamp": None, "type": "design", "chosen": "Cache the rates"}
    memory.episodes.new("s", "t", "unknown", decisions=[decision])
    assert json.loads(export(memory.graph))["patterns"] == []
    memory.episodes.outcome("s", "failure", because="CI was red")
    (pattern,) = json.loads(export(memory.graph))["patterns"]
    assert (pattern["success_rate"], pattern["occurrences"]) == (0.0, 1)
    assert rebuilt(memory.graph) == export(memory.graph)


def test_invalid_files_are_named_and_hide_no_other(memory: Memory) -> None:
    memory.graph.add_causal_node("event", "deploy")
    folder = files(memory)[0].parent
    at = '"asserted_at": "2026-01-01T00:00:00Z"'
    bad = {
        "half.json": '{"kind": "node", "ty',
        "kind.json": '{"kind": "rumour", ' + at + "}",
        "weight.json": '{"kind": "edge", "source": {"type": "event", "label": "a"}, "target": {"type": "event",'
        ' "label": "b"}, "type": "causes", "weight": 7, ' + at + "}",
        "time.json": '{"kind": "node", "type": "event", "label": "x", "asserted_at": "soon"}',
        "deep.json": "[" * 100_000,
        "bytes.json": "\x00\udcff",
    }
    for name, text in bad.items():
        (folder / name).write_bytes(text.encode("utf-8", "surrogateescape"))
    report = memory.graph.compile()
    assert {one.path.rpartition("/")[2] for one in report.skipped} == set(bad)
    assert memory.graph.status().skipped == len(bad)
    assert memory.graph.add_causal_node("event", "deploy")["frequency"] == 2
    assert len(memory.causality.survey().skipped) == len(bad)
    (folder / "half.json").unlink()
    assert len(memory.graph.compile().skipped) == len(bad) - 1


def test_a_mended_file_counts_again(memory: Memory) -> None:
    memory.graph.add_causal_node("event", "deploy")
    (path,) = files(memory)
    good = path.read_text()
    path.write_text("{")
    memory.graph.compile()
    assert memory.graph.status().nodes == 0
    path.write_text(good)
    memory.graph.compile()
    assert memory.graph.status().nodes == 1


def test_secrets_are_cut_before_anything_is_kept(memory: Memory) -> None:
    token = "ghp_0123456789abcdefghijABCDEFGHIJ012345"  # noqa: S105  (invented)
    memory.graph.add_causal_node("event", f"deployed with {token}")
    memory.graph.add_pattern("n", f"when {token}", "revoke it", f"see {token}")
    assert token not in "".join(path.read_text() for path in files(memory))


def test_what_cannot_be_written_changes_nothing(memory: Memory) -> None:
    memory.graph.compile()
    (memory.root / "causality" / "assertions").write_text("a file in the folder's place")
    with pytest.raises(WriteFailed):
        memory.graph.add_causal_node("event", "deploy")
    assert memory.graph.status().nodes == 0


@pytest.mark.slow
def test_assertions_of_several_processes_all_count(memory: Memory) -> None:
    code = (
        "import sys; from pathlib import Path; from helix_graph import Memory\n"
        "graph = Memory(Path(sys.argv[1])).graph\n"
        "for _ in range(5): graph.add_causal_node('event', 'deploy'); graph.add_pattern('n', 't', 'a')\n"
    )
    running = [subprocess.Popen([sys.executable, "-c", code, str(memory.root)]) for _ in range(4)]
    assert [process.wait(timeout=60) for process in running] == [0] * 4
    assert memory.graph.add_causal_node("event", "deploy")["frequency"] == 21
    assert memory.graph.add_pattern("n", "t", "a")["occurrences"] == 21
    assert rebuilt(memory.graph) == export(memory.graph)


STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("node"), st.sampled_from(["run ruff", "deploy"]), st.sampled_from([None, "s0", "gone"])),
        st.tuples(st.just("edge"), st.sampled_from(["run ruff", "deploy"]), st.sampled_from([0.0, 0.3, 1.0])),
        st.tuples(st.just("outcome"), st.sampled_from(["success", "failure"]), st.none()),
        st.tuples(
            st.just("episode"), st.sampled_from(["run ruff -> ruff passes", "ruff passes -> success"]), st.none()
        ),
        st.tuples(st.just("delete"), st.integers(0, 5), st.none()),
        st.tuples(st.just("copy"), st.integers(0, 5), st.sampled_from(["a copy", "z copy"])),
        st.tuples(st.just("compile"), st.just(0), st.none()),
    ),
    max_size=8,
)


@settings(max_examples=examples(40), deadline=None)
@given(steps=STEPS)
@pytest.mark.slow
def test_any_history_ends_as_a_fresh_compile(
    steps: list[tuple[str, object, object]], tmp_path_factory: pytest.TempPathFactory, draw: Draw
) -> None:
    memory = Memory(tmp_path_factory.mktemp("memory") / ".helix")
    memory.graph.add_causal_node("decision", "run ruff")
    memory.graph.add_causal_node("decision", "deploy")
    for kind, what, how in steps:
        take(memory, kind, what, how, draw)
    assert export(memory.graph) == rebuilt(memory.graph)


def take(memory: Memory, kind: str, what: object, how: object, draw: Draw) -> None:
    if kind == "node":
        memory.graph.add_causal_node("decision", str(what), how if how is None else str(how))
    elif kind == "edge" and has_nodes(memory):
        source, target = ("run ruff", "deploy") if what == "deploy" else ("deploy", "run ruff")
        memory.graph.add_causal_edge(source, target, "enables", float(str(how)))
    elif kind == "copy" and files(memory):
        path = files(memory)[int(str(what)) % len(files(memory))]
        path.with_name(f"{how} of {path.name}").write_bytes(path.read_bytes())
    elif kind == "outcome" and memory.episodes.files():
        memory.episodes.outcome("s0", str(what), because="told")
    elif kind == "episode":
        path = memory.episodes.path_of("s0")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(encode_episode(draw("s0", str(what))))
    elif kind == "delete":
        for path in (*files(memory), *memory.episodes.files())[int(str(what)) :][:1]:
            path.unlink()
    elif kind == "compile":
        memory.graph.compile()


def has_nodes(memory: Memory) -> bool:
    memory.graph.compile()
    labels = {node["label"] for node in json.loads(memory.graph.export())["nodes"]}
    return {"run ruff", "deploy"} <= labels


def test_the_doctor_has_nothing_to_say_of_asserted_edges(tmp_path: Path) -> None:
    memory = Memory(tmp_path / ".helix")
    memory.graph.add_causal_node("event", "a")
    memory.graph.add_causal_node("event", "b")
    memory.graph.add_causal_edge("a", "b", "causes")
    memory.graph.compile()
    assert [found.kind for found in memory.doctor().findings if found.kind == "wrong sum"] == []
