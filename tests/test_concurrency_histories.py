"""Does any history of recording, asserting, deleting, forgetting, mending and compiling end as a fresh compile?"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helix_episodes.model import Episode
from helix_graph import Memory
from processes import assert_as_fresh, finish, start, write_logs
from thoroughness import examples

if TYPE_CHECKING:
    from session_script import Script

Drawn = Callable[[Memory, st.DataObject, st.SearchStrategy[tuple[Episode, ...]]], object]


def record(memory: Memory, data: st.DataObject, episodes: st.SearchStrategy[tuple[Episode, ...]]) -> None:
    for one in data.draw(episodes):
        memory.episodes.save(one)


def assert_node(memory: Memory, data: st.DataObject, _: object) -> None:
    about = data.draw(st.none() | st.sampled_from(["episode-s0", "episode-s1", "episode-elsewhere"]))
    memory.graph.add_causal_node("error", data.draw(st.sampled_from(["alpha", "ruff fails: E501"])), about)


def assert_edge(memory: Memory, data: st.DataObject, _: object) -> None:
    for label in ("alpha", "beta"):
        memory.graph.add_causal_node("error", label)
    memory.graph.add_causal_edge("alpha", "beta", "causes", data.draw(st.sampled_from([0.2, 1.0])))


def assert_pattern(memory: Memory, *_: object) -> None:
    memory.graph.add_pattern("lint first", "before a commit", "run ruff")


def delete(memory: Memory, data: st.DataObject, _: object) -> None:
    """Deletes any file of truth, as a person would."""
    files = [*memory.episodes.files(), *sorted((memory.root / "causality" / "assertions").glob("*.json"))]
    if files:
        data.draw(st.sampled_from(files)).unlink()


def forget(memory: Memory, data: st.DataObject, _: object) -> None:
    files = memory.episodes.files()
    if files:
        proof = memory.forget([data.draw(st.sampled_from(files)).stem]).proof
        assert proof is not None
        said_by_hand = any((memory.root / "causality" / "assertions").glob("*.json"))
        assert proof.left == () or said_by_hand


#: What only a person can settle: a forgotten session that somebody saved again, and words of it that somebody asserted.
FOR_A_PERSON = {"forgotten", "not proved forgotten"}


def mend(memory: Memory, *_: object) -> None:
    found = memory.doctor(fix=True).findings
    assert all(one.mended or one.severity == "note" or one.kind in FOR_A_PERSON for one in found)


def compile_it(memory: Memory, *_: object) -> None:
    memory.graph.compile()


STEPS: list[Drawn] = [record, record, assert_node, assert_edge, assert_pattern, delete, compile_it, forget, mend]


@settings(max_examples=examples(20), deadline=None)
@given(data=st.data())
@pytest.mark.slow
def test_any_history_ends_as_a_fresh_compile(
    data: st.DataObject, any_episodes: st.SearchStrategy[tuple[Episode, ...]]
) -> None:
    with tempfile.TemporaryDirectory() as name:
        memory = Memory(Path(name) / "memory")
        for step in data.draw(st.lists(st.sampled_from(STEPS), min_size=3, max_size=12)):
            step(memory, data, any_episodes)
        memory.graph.compile()
        assert_as_fresh(memory.root, Path(name) / "fresh")


@pytest.mark.slow
def test_extracting_asserting_forgetting_and_compiling_at_once(tmp_path: Path, script: Callable[..., Script]) -> None:
    """Real processes; what they were asked to forget is gone, the rest is all there."""
    logs, root = write_logs(tmp_path / "logs", script, 8), tmp_path / "memory"
    memory = Memory(root)
    memory.extract(logs[:4])
    memory.graph.compile()
    processes = [
        start("episode", "extract", *logs[4:], memory=root),
        start("node", "add", "--type", "error", "--label", "the cart is empty", memory=root),
        start("node", "add", "--type", "error", "--label", "the till is open", memory=root),
        start("forget", "--session", "session-1", memory=root),
        start("compile", memory=root),
        start("doctor", "--fix", memory=root),
    ]
    *others, doctor = processes
    for process in others:
        assert finish(process)[0::2] == (0, "")
    code, said, _ = finish(doctor)
    assert code == 0 or "not proved forgotten" in said  # it looked while the forgetting was under way
    memory.graph.compile()
    assert {path.stem for path in memory.episodes.files()} == {f"episode-session-{n}" for n in range(8) if n != 1}
    assert len(list((root / "causality" / "assertions").iterdir())) == 2
    assert memory.doctor().healthy
    assert_as_fresh(root, tmp_path / "fresh")
