"""A memory that this user has accepted, wherever it is and whoever made it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from helix_graph import Memory
from helix_graph.trust import accept

if TYPE_CHECKING:
    from pathlib import Path


def own_memory(root: Path) -> Memory:
    """The memory in ``root``, which is made and accepted as `Memory.init` would."""
    root.mkdir(mode=0o700, parents=True, exist_ok=True)
    accept(root, how="init")
    return Memory(root)
