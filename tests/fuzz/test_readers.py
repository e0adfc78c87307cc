"""Logs that are nearly right: each is read or named, none takes another with it, and none yields a faulty episode."""

from __future__ import annotations

from importlib.resources import files
from typing import TYPE_CHECKING

import pytest

from fuzzing import mutated, named, rounds
from helix_graph import Memory

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.fuzz
SEEDS = sorted(log.read_bytes() for log in (files("helix_cli") / "demo" / "logs").iterdir() if log.name.endswith("l"))


def test_logs(tmp_path: Path) -> None:
    memory = Memory(tmp_path / ".helix")
    good, odd_log = tmp_path / "good.jsonl", tmp_path / "odd.jsonl"
    good.write_bytes(SEEDS[0])
    (kept,) = [one.session for one in memory.extract([good]).recorded]
    for number, chance in enumerate(rounds()):
        data = mutated(chance.choice(SEEDS[1:]), chance)
        odd_log.write_bytes(data)
        with named(chance, data):
            report = memory.extract([odd_log, good], force=True)
            assert kept in {one.session for one in report.recorded}
            assert all(one.problem for one in report.failed)
            if number % 20 == 0:
                memory.graph.compile()
                faults = [one for one in memory.doctor().findings if one.severity == "fault"]
                assert faults == []
