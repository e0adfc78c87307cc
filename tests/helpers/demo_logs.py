"""The memory of the example logs that come with the package."""

from __future__ import annotations

from importlib.resources import as_file, files
from typing import TYPE_CHECKING

from copied_memory import copied
from helix_cli.commands.demo import write_rules
from helix_graph import Memory

if TYPE_CHECKING:
    from pathlib import Path


def demo_memory_in(folder: Path, *, generated: bool = False) -> Memory:
    """The memory of the logs written by hand, made in a folder; with ``generated`` of all that the demo reads."""
    if generated:
        write_rules(folder)
    return copied(_with_generated if generated else _by_hand, folder)


def _by_hand(folder: Path) -> Memory:
    return _of_logs(folder, "logs")


def _with_generated(folder: Path) -> Memory:
    write_rules(folder)
    return _of_logs(folder, "logs", "generated")


def _of_logs(folder: Path, *names: str) -> Memory:
    memory = Memory.init(folder)
    with as_file(files("helix_cli") / "demo") as demo:
        memory.extract([demo / name for name in names])
    memory.graph.compile()
    return memory
