"""Is a log taken for what it is once: neither a memory's own episodes for logs, nor a copy for another session?"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from helix_graph import Memory

if TYPE_CHECKING:
    from collections.abc import Callable

    from session_script import Script

REPORT = Path(__file__).parent / "fixtures" / "ai_agents" / "2026-03-02-session-7-export-totals.json"


@pytest.fixture
def memory(tmp_path: Path, script: Callable[..., Script]) -> Memory:
    memory = Memory.init(tmp_path)
    log = script("s1").prompt("Mend the cart").run("pytest -q", "1 passed in 0.1s").save(tmp_path / "logs")
    memory.extract([log])
    return memory


def test_a_folder_is_not_searched_into_the_memory(memory: Memory, tmp_path: Path) -> None:
    report = memory.extract([tmp_path])
    assert [one.session for one in report.recorded] == ["s1"]
    assert report.failed == ()
    assert [path.name for path in memory.episodes.files()] == ["episode-s1.json"]


def test_an_episode_is_refused_even_when_it_is_named(memory: Memory, tmp_path: Path) -> None:
    outside = tmp_path / "copied" / "notes.json"
    outside.parent.mkdir()
    outside.write_bytes(memory.episodes.path_of("s1").read_bytes())
    report = memory.extract([memory.episodes.path_of("s1"), outside])
    assert report.recorded == ()
    assert ["an episode of a memory" in one.problem for one in report.failed] == [True, True]
    assert "no log in this folder" in memory.extract([outside.parent]).failed[0].problem


def test_copies_and_links_of_a_log_are_one_session(tmp_path: Path) -> None:
    memory, logs = Memory(tmp_path / "kept"), tmp_path / "logs"
    logs.mkdir()
    first = logs / REPORT.name
    first.write_bytes(REPORT.read_bytes())
    memory.extract([first])
    (session,) = [one.session for one in memory.episodes.list()]
    (logs / "copy.json").write_bytes(first.read_bytes())
    (logs / "link.json").symlink_to(first)
    report = memory.extract([logs], force=True)
    told = {Path(one.log).name: one for one in report.recorded}
    for name in ("copy.json", "link.json"):
        assert (told[name].change, told[name].session) == ("unchanged", session)
        assert f"a copy of what is recorded as {session}" in told[name].warnings
    assert memory.episodes.count() == 1


def test_a_copy_read_in_the_same_call_is_one_too(tmp_path: Path) -> None:
    memory, logs = Memory(tmp_path / "kept"), tmp_path / "logs"
    logs.mkdir()
    for name in (REPORT.name, "other.json"):
        (logs / name).write_bytes(REPORT.read_bytes())
    report = memory.extract([logs])
    assert [one.change for one in report.recorded] == ["written", "unchanged"]
    assert memory.episodes.count() == 1


def test_several_sessions_of_one_log_are_no_copies(tmp_path: Path) -> None:
    log = tmp_path / "runs.json"
    traj = [
        {"role": "system", "content": "Help."},
        {"role": "user", "content": "Cancel it"},
        {"role": "assistant", "content": "Done."},
    ]
    runs: list[dict[str, Any]] = [
        {"task_id": 1, "trial": trial, "reward": 1.0, "info": {}, "traj": traj} for trial in (0, 1)
    ]
    log.write_text(json.dumps(runs), encoding="utf-8")
    memory = Memory(tmp_path / "kept")
    assert [one.change for one in memory.extract([log]).recorded] == ["written", "written"]
