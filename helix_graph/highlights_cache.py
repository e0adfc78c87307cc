"""What stands out, in a small file: hooks read it without loading anything, and no question computes it twice.

It is written with the state of the graph that it came from, counts as empty when the graph has changed since, and may
be deleted at any time.
"""

from __future__ import annotations

import json

from helix_episodes.safe_files import read_regular
from helix_graph.causality.antipattern_cache import graph_state
from helix_graph.project import HIGHLIGHTS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path
    from typing import Any

#: Raised when the sentences of the same memory would be others.
_VERSION = 10


def read_highlights(root: Path) -> dict[str, Any] | None:
    """What was computed last, as `helix_graph.highlights.model.Highlights`; None when the graph has changed."""
    try:
        cached = json.loads(read_regular(root / HIGHLIGHTS))
        graph = graph_state(root)  # nothing was computed of a graph that is not there
        if graph is not None and (cached["version"], cached["graph"]) == (_VERSION, graph):
            return dict(cached["highlights"])
    except (OSError, ValueError, LookupError, TypeError, RecursionError):
        return None
    return None


def write_highlights(root: Path, highlights: dict[str, Any]) -> None:
    """Keeps what was computed, as long as the graph stays as it is; nothing in a memory that may only be read."""
    from contextlib import suppress

    from helix_episodes.errors import WriteFailed
    from helix_episodes.safe_files import write_atomically

    text = json.dumps({"version": _VERSION, "graph": graph_state(root), "highlights": highlights}, ensure_ascii=False)
    with suppress(WriteFailed):
        write_atomically(root / HIGHLIGHTS, text.encode())


def drop_highlights(root: Path) -> None:
    """Forgets what was computed: a person has said something that changes it, and the graph is as it was."""
    from helix_episodes.safe_files import remove_file

    remove_file(root / HIGHLIGHTS)


def sentences_for_agents(root: Path, *, most: int, longest: int) -> list[str]:
    """The first sentences, at most so many with at most so many characters together, if they are of the graph as it is.

    Costs and files are left out: they would push what to do out of a short text. What people did is for people. What
    only rests on sessions that came with the repository is left out: this user's own have yet to agree.
    """
    found = (read_highlights(root) or {}).get("found")
    chosen: list[str] = []
    for one in found if isinstance(found, list) else ():
        if not isinstance(one, dict) or one.get("kind") == "people" or one.get("shared"):
            continue
        text = one.get("brief") or one.get("text")
        if isinstance(text, str) and len(chosen) < most:
            if sum(map(len, chosen)) + len(text) > longest:
                continue
            chosen.append(text)
    return chosen
