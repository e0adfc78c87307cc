"""Is a log taken for what it is once: neither a memory's own episodes for logs, nor a copy for another session?"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from helix_graph import Memory
from helix_graph.doctor.model import Finding  # noqa: F401

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from session_script import Script

_LOG = {
    "task": "Mend the cart",
    "decisions": [{"decision": "Use a lock", "rationale": "two writers"}],
}


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
