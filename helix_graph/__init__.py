"""What caused what, and what was learnt: a causal memory for coding agents.

`Memory` opens a project's memory and hands out its parts. Importing this package loads nothing else: the graph, numbers
and models come when they are first asked for.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from helix_episodes.errors import HelixGraphError
    from helix_graph.memory import Memory

__all__ = ["HelixGraphError", "Memory", "__version__"]

__version__ = "0.1.0"

_HOMES = {"Memory": "helix_graph.memory", "HelixGraphError": "helix_episodes.errors"}


def __getattr__(name: str) -> Any:  # noqa: ANN401  (whatever the module holds)
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOMES[name]), name)
