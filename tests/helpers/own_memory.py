"""A memory that this user has accepted, wherever it is and whoever made it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from helix_graph import Memory
from helix_graph.trust import accept, acceptance_of

if TYPE_CHECKING:
    from pathlib import Path


def accepted(root: Path) -> Path:
    """The folder ``root``, which is made where there is none, accepted as `Memory.init` would."""
    root.mkdir(mode=0o700, parents=True, exist_ok=True)
    if acceptance_of(root) is None:
        accept(root, how="init")
    return root


def own_memory(root: Path) -> Memory:
    """The memory in ``root``, accepted."""
    return Memory(accepted(root))
