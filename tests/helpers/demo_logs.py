"""The memory of the example logs that come with the package."""

from __future__ import annotations

from importlib.resources import as_file, files
from typing import TYPE_CHECKING

from helix_cli.commands.demo import write_rules
from helix_graph import Memory

if TYPE_CHECKING:
    from pathlib import Path


def demo_memory_in(folder: Path, *, generated: bool = False) -> Memory:
    """The memory of the logs written by hand, made in a folder; with ``generated`` of all that the demo reads."""
    memory = Memory.init(folder)
    if generated:
        write_rules(folder)
    with as_file(files("helix_cli") / "demo") as demo:
        memory.extract([demo / "logs", *([demo / "generated"] if generated else [])])
    memory.graph.compile()
    return memory
