"""A project as hooks meet it: a memory with the demo's sessions, prepared, and one piece of advice."""

from __future__ import annotations

from typing import TYPE_CHECKING

from copied_memory import copied
from demo_logs import demo_memory_in
from helix_graph.hook_caches import write_anti_patterns

if TYPE_CHECKING:
    from pathlib import Path

    from helix_graph import Memory

ADVICE = "When the courier API times out, ask it again with a smaller page"


def advised(folder: Path) -> Memory:
    """The memory of that project, made in a folder."""
    (folder / ".git").mkdir()
    return copied(_advised, folder)


def _advised(folder: Path) -> Memory:
    memory = demo_memory_in(folder)
    write_anti_patterns(memory.root, memory.causality)
    memory.highlights()
    memory.insights.store(ADVICE, ["user-provided"])
    return memory
