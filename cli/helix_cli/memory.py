"""The memory that a command works on."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from helix_graph import Memory


def open_memory() -> Memory:
    """The memory of the project that the current folder belongs to.

    Raises:
        NoMemory: There is none; the sentence says how to begin one.
    """
    from helix_graph import Memory  # noqa: PLC0415  (imported when a command runs)

    return Memory.open()


def memory_at(root: Path) -> Memory:
    """The memory in that very folder, whatever project one stands in; nothing is written yet."""
    from helix_graph import Memory  # noqa: PLC0415  (as above)

    return Memory(root)
