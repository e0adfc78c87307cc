"""Does the doctor see what is no good in an episode's or an assertion's file, and mend it without losing anything?"""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from helix_episodes.episode_consistency import repair_parts
from helix_episodes.model import Decision, Episode, Event
from helix_graph import Memory
from processes import assert_as_fresh, write_logs
from thoroughness import examples

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from session_script import Script


@pytest.fixture
def memory(tmp_path: Path, script: Callable[..., Script]) -> Memory:
    memory = Memory(tmp_path / "memory")
    memory.extract(write_logs(tmp_path / "logs", script, 2))
    memory.graph.add_causal_node("event", "deploy")
    memory.graph.add_causal_node("event", "outage", "session-0")
    memory.graph.add_causal_edge("deploy", "outage", "causes", 0.9)
    memory.graph.add_pattern("n", "t", "a", success_rate=0.5)
    memory.graph.compile()
    return memory


def episode_file(memory: Memory) -> Path:
    return memory.episodes.path_of("session-1")


def edit(path: Path, **fields: Any) -> bytes:  # noqa: ANN401  (JSON)
    """Changes keys of a JSON file by hand, and gives the file as it then is."""
    path.write_text(json.dumps(json.loads(path.read_bytes()) | fields))
    return path.read_bytes()


def kinds(memory: Memory, kind: str) -> list[str]:
    return [one.file for one in memory.doctor().findings if one.kind == kind]


def assert_mended(memory: Memory, fresh: Path, *aside: bytes) -> None:
    """After the mend nothing is wrong, the graph is that of the files, and what was is kept aside, byte for byte."""
    assert memory.doctor(fix=True).healthy
    assert memory.doctor().findings == ()
    assert_as_fresh(memory.root, fresh)
    kept = [path.read_bytes() for path in sorted((memory.root / "set-aside").rglob("*.json"))]
    assert sorted(kept) == sorted(aside)
    assert all(path.stat().st_mode & 0o777 == 0o600 for path in (memory.root / "set-aside").rglob("*.json"))


def test_half_an_episode_is_set_aside_and_can_be_extracted_again(memory: Memory, tmp_path: Path) -> None:
    half = episode_file(memory).read_bytes()[:200]
    whole = memory.episodes.require("session-1")
    episode_file(memory).write_bytes(half)
    memory.graph.compile()
    assert kinds(memory, "unreadable episode") == ["episodes/episode-session-1.json"]
    assert_mended(memory, tmp_path / "fresh", half)
    memory.extract([tmp_path / "logs"])
    assert memory.episodes.require("session-1") == whole


def test_a_session_that_is_not_its_files_is_outvoted(memory: Memory, tmp_path: Path) -> None:
    whole = memory.episodes.require("session-1")
    for field, wrong in {"session": "session-7", "id": "episode-session-7"}.items():
        edited = edit(episode_file(memory), **{field: wrong})
        assert kinds(memory, "misnamed episode") == ["episodes/episode-session-1.json"]
        assert_mended(memory, tmp_path / field, edited)
        assert memory.episodes.require("session-1") == whole
        shutil.rmtree(memory.root / "set-aside")


def test_a_renamed_file_gets_its_name_back_and_is_looked_into(memory: Memory, tmp_path: Path) -> None:
    whole = memory.episodes.require("session-1")
    edited = edit(episode_file(memory), timestamp="yesterday")
    episode_file(memory).rename(episode_file(memory).with_name("episode-renamed.json"))
    assert kinds(memory, "misnamed episode") == ["episodes/episode-renamed.json"]
    assert_mended(memory, tmp_path / "fresh", edited)
    mended = memory.episodes.require("session-1")
    assert replace(mended, timestamp=whole.timestamp) == whole
    assert (mended.timestamp or "")[:4] == "2026"


def test_a_copy_of_an_episode_is_set_aside(memory: Memory, tmp_path: Path) -> None:
    data = episode_file(memory).read_bytes()
    copies = [memory.episodes.path_of(name) for name in ("a", "zzz")]
    for copy in copies:
        copy.write_bytes(data)
    assert_mended(memory, tmp_path / "fresh", data, data)
    assert episode_file(memory).read_bytes() == data


def test_times_that_are_none(memory: Memory, tmp_path: Path) -> None:
    whole = memory.episodes.require("session-1")
    events = json.loads(episode_file(memory).read_bytes())["events"]
    events[0]["timestamp"] = "noon"
    edited = edit(episode_file(memory), timestamp="2026-13-01", events=events)
    (finding,) = [one for one in memory.doctor().findings if one.kind == "spoilt part"]
    assert "'2026-13-01'" in finding.problem
    assert "'noon'" in finding.problem
    assert_mended(memory, tmp_path / "fresh", edited)
    mended = memory.episodes.require("session-1")
    assert mended.events[0].timestamp is None
    assert mended.timestamp == min(one.timestamp for one in whole.decisions if one.timestamp)


@pytest.mark.slow
def test_doubled_ids_are_numbered_anew(memory: Memory, tmp_path: Path) -> None:
    whole = memory.episodes.require("session-1")
    raw = json.loads(episode_file(memory).read_bytes())
    other = raw["decisions"][0] | {"chosen": "something else", "effects": []}
    edited = edit(episode_file(memory), decisions=[*raw["decisions"], other, raw["decisions"][0]])
    (finding,) = [one for one in memory.doctor().findings if one.kind == "spoilt part"]
    assert "3 things are called d001" in finding.problem
    assert_mended(memory, tmp_path / "fresh", edited)
    decisions = memory.episodes.require("session-1").decisions
    assert decisions[:-1] == whole.decisions
    assert (decisions[-1].id, decisions[-1].chosen) == (f"d{len(decisions):03}", "something else")


names = st.sampled_from(["d001", "d002", "e001", "e002", "outcome", "x"])
times = st.sampled_from([None, "", "soon", "2026-01-01T10:00:00Z"])
decision = st.builds(Decision, id=names, timestamp=times, type=st.just("test"), chosen=st.sampled_from("ab"))
event = st.builds(Event, id=names, timestamp=times, type=st.just("test"), content=st.sampled_from("ab"))


@settings(max_examples=examples(100), deadline=None)
@given(
    decisions=st.lists(decision, max_size=4).map(tuple), events=st.lists(event, max_size=4).map(tuple), timestamp=times
)
def test_mended_parts_are_sound_and_none_is_lost(decisions: Any, events: Any, timestamp: Any) -> None:  # noqa: ANN401  (drawn)
    drawn = Episode(
        id="episode-s",
        session="s",
        timestamp=timestamp,
        outcome="unknown",
        task="t",
        decisions=decisions,
        events=events,
    )
    mended, problems = repair_parts(drawn)
    assert repair_parts(mended) == (mended, ())
    assert bool(problems) == (mended != drawn)
    ids = [*(one.id for one in mended.decisions), *(one.id for one in mended.events)]
    assert len(set(ids)) == len(ids)
    assert {one.chosen for one in mended.decisions} == {one.chosen for one in decisions}
    assert {one.content for one in mended.events} == {one.content for one in events}


def assertions(memory: Memory) -> list[Path]:
    return sorted((memory.root / "causality" / "assertions").glob("*.json"))


@pytest.mark.slow
def test_a_copied_assertion_counts_once_and_is_set_aside(memory: Memory, tmp_path: Path) -> None:
    before = memory.graph.export()
    originals = {path: path.read_bytes() for path in assertions(memory)}
    for path in originals:
        shutil.copy(path, path.with_name(f"0 copy of {path.name}"))
    memory.graph.compile()
    assert memory.graph.export() == before
    assert [row["occurrences"] for row in memory.graph.get_patterns() if row["name"] == "n"] == [1]
    assert kinds(memory, "copied assertion") == [f"causality/assertions/0 copy of {path.name}" for path in originals]
    assert_mended(memory, tmp_path / "fresh", *originals.values())
    assert {path: path.read_bytes() for path in assertions(memory)} == originals
    assert memory.graph.export() == before


@pytest.mark.slow
def test_a_copy_takes_the_originals_place_when_that_is_gone(memory: Memory, tmp_path: Path) -> None:
    for path in assertions(memory):
        shutil.copy(path, path.with_name(f"copy of {path.name}"))
        memory.graph.compile()
        path.unlink()
    memory.graph.compile()
    assert_as_fresh(memory.root, tmp_path / "fresh")
    assert kinds(memory, "copied assertion") == []
    assert memory.graph.effects("deploy").groups[0].relations[0].weight == 0.9


@pytest.mark.slow
def test_a_file_that_is_no_assertion_is_set_aside(memory: Memory, tmp_path: Path) -> None:
    bad = memory.root / "causality" / "assertions" / "bad.json"
    bad.write_text('{"kind": "rumour"}')
    assert kinds(memory, "unreadable assertion") == ["causality/assertions/bad.json"]
    assert_mended(memory, tmp_path / "fresh", b'{"kind": "rumour"}')


def test_assertions_that_the_graph_has_not_taken_in(memory: Memory, tmp_path: Path) -> None:
    assertions(memory)[0].unlink()
    assert [file.rpartition("/")[0] for file in kinds(memory, "missing share")] == ["causality/assertions"]
    assert_mended(memory, tmp_path / "fresh")


def test_what_was_set_aside_is_forgotten_with_its_session(memory: Memory) -> None:
    bad = memory.root / "causality" / "assertions" / "bad.json"
    bad.write_text('{"kind": "rumour", "episode": "episode-session-1", "of": "the guillotine in hall seven"}')
    edit(episode_file(memory), timestamp="yesterday", task="Prepare the layoffs of the bindery")
    memory.doctor(fix=True)
    edited = replace(memory.episodes.require("session-0"), id="episode-session-12", session="session-12")
    memory.episodes.save(edited)
    (memory.root / "set-aside" / "episodes" / "episode-session-12.0123456789ab.json").write_bytes(b"{}")
    report = memory.forget(["session-1"])
    assert report.proof is not None
    assert report.proof.whole
    assert [path.name for path in (memory.root / "set-aside").rglob("*.json")] == [
        "episode-session-12.0123456789ab.json"
    ]


def test_a_session_that_is_not_its_files_is_forgotten_by_its_project(memory: Memory) -> None:
    edit(episode_file(memory), session="session-7")
    project = memory.episodes.require("session-1").project
    report = memory.forget(project=project)
    assert "session-1" in report.sessions
    assert not episode_file(memory).exists()


def test_a_fix_that_the_disk_refuses_says_why_in_words(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    """The system's number and path of the refusal say nothing more: the finding names the file."""
    edit(episode_file(memory), outcome="no outcome")

    def refuse(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device", "/somewhere")

    monkeypatch.setattr("helix_graph.doctor.files.move_aside", refuse)
    problems = [one.problem for one in memory.doctor(fix=True).findings if "not fixed" in one.problem]
    assert problems
    assert all(one.endswith("; not fixed: No space left on device") for one in problems)
