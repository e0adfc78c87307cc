"""What happens when several processes work on one memory at the same time?"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from helix_graph import Memory
from processes import assert_as_fresh, finish, start, write_logs

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from session_script import Script


@pytest.mark.slow
def test_extracting_and_compiling_at_once_loses_nothing(tmp_path: Path, script: Callable[..., Script]) -> None:
    logs, memory = write_logs(tmp_path / "logs", script), tmp_path / "memory"
    Memory(memory).extract(logs[:1])
    processes = [
        *(start("episode", "extract", *logs[place:], memory=memory) for place in range(3)),
        *(start("compile", memory=memory) for _ in range(3)),
    ]
    for process in processes:
        code, _, err = finish(process)
        assert (code, err) == (0, "")
    Memory(memory).graph.compile()
    assert len(Memory(memory).episodes.files()) == len(logs)
    assert_as_fresh(memory, tmp_path / "fresh")


@pytest.mark.slow
def test_the_first_compiles_of_a_memory_may_come_together(tmp_path: Path, script: Callable[..., Script]) -> None:
    memory = tmp_path / "memory"
    Memory(memory).extract(write_logs(tmp_path / "logs", script))
    for process in [start("compile", memory=memory) for _ in range(5)]:
        assert finish(process)[0::2] == (0, "")
    assert_as_fresh(memory, tmp_path / "fresh")


@pytest.mark.slow
def test_a_damaged_graph_is_mended_once_whoever_finds_it(tmp_path: Path, script: Callable[..., Script]) -> None:
    memory = tmp_path / "memory"
    Memory(memory).extract(write_logs(tmp_path / "logs", script))
    Memory(memory).graph.compile()
    graph = memory / "causality" / "graph.db"
    whole = graph.read_bytes()
    graph.write_bytes(whole[:100] + b"\xff" * (len(whole) - 100))
    for process in [start("compile", memory=memory) for _ in range(5)]:
        assert finish(process)[0::2] == (0, "")
    assert_as_fresh(memory, tmp_path / "fresh")


@pytest.mark.slow
def test_questions_are_answered_while_others_compile(tmp_path: Path, script: Callable[..., Script]) -> None:
    logs, memory = write_logs(tmp_path / "logs", script), tmp_path / "memory"
    Memory(memory).extract(logs[:2])
    Memory(memory).graph.compile()
    Memory(memory).extract(logs)
    processes = [start("compile", memory=memory), *(start("seen", "KeyError: 'sku'", memory=memory) for _ in range(4))]
    for process in processes:
        code, out, err = finish(process)
        assert (code, err) == (0, "")
        assert out
    assert_as_fresh(memory, tmp_path / "fresh")


def test_the_files_of_a_memory_are_their_owners_only(tmp_path: Path, script: Callable[..., Script]) -> None:
    memory = tmp_path / "memory"
    before = os.umask(0)
    try:
        Memory(memory).extract(write_logs(tmp_path / "logs", script, 1))
        Memory(memory).graph.compile()
    finally:
        os.umask(before)
    modes = {path.name: path.stat().st_mode & 0o777 for path in memory.rglob("*") if path.is_file()}
    assert set(modes.values()) == {0o600}, modes
