"""The memory of the example logs that come with the package, as `helix-graph demo --keep` leaves it."""

from __future__ import annotations

from importlib.resources import as_file, files
from typing import TYPE_CHECKING

from helix_graph import Memory

if TYPE_CHECKING:
    from pathlib import Path


def demo_memory_in(folder: Path) -> Memory:
    """That memory, made in a folder."""
    memory = Memory.init(folder)
    with as_file(files("helix_cli") / "demo" / "logs") as logs:
        memory.extract([logs])
    memory.graph.compile()
    return memory
