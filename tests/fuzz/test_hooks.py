"""Calls of hooks that are nearly right: they end with 0, in silence or with valid output."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import TYPE_CHECKING

import pytest

from demo_logs import demo_memory_in
from fuzzing import mutated, named, rounds
from helix_cli.hooks.events import EVENTS
from hook_calls import call

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.fuzz


def test_hook_calls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    memory = demo_memory_in(tmp_path)
    memory.insights.store("When the parcel service fails with a timeout, retry it twice with the same key.")
    monkeypatch.setenv("HELIX_DIR", str(memory.root))
    told = {
        "session_id": "s1",
        "cwd": str(tmp_path),
        "prompt": "the parcel service fails with a timeout",
        "tool_name": "Bash",
        "tool_input": {"command": "pytest -q"},
        "tool_response": {"stdout": "E   KeyError: 'sku'\n1 failed in 0.1s", "exit_code": 1, "is_error": True},
        "error": "KeyError: 'sku'",
        "transcript_path": str(next((files("helix_cli") / "demo" / "logs").iterdir())),
        "agent_type": "helix-graph:helix-builder",
        "source": "startup",
    }
    for chance in rounds():
        event, data = chance.choice(sorted(EVENTS)), mutated(json.dumps(told).encode(), chance)
        with named(chance, (event, data)):
            answer = call(event, data, seconds=20)
            assert (answer.code, answer.errors) == (0, b"")
    assert memory.doctor().healthy
    assert len(memory.episodes.list()) == 12
