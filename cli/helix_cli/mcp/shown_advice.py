"""Which advice the session has seen that this server serves: an agent's feedback counts for that alone.

Insights are shown by this server's tools, which is noted here, and by hooks, which is in the memory's log. A server
serves one session. Claude Code names it in the environment; elsewhere what hooks have shown since just before the
server was started counts, which may include another session of the project at the same time.
"""

from __future__ import annotations

import os
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import TYPE_CHECKING, Any

from helix_graph.timestamps import stamp

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from helix_graph import Memory

_SESSION = "CLAUDE_CODE_SESSION_ID"
#: Agents start their servers and fire the hooks of a session's start in no order, within seconds.
_BEFORE = timedelta(seconds=60)
#: Clients ask for the tools as soon as they are connected, and with them this module is loaded.
_BEGUN = stamp(datetime.now(UTC) - _BEFORE)
_SHOWN: set[tuple[Path, str]] = set()


@cache
def session() -> str:
    """A name of this server's session."""
    return os.environ.get(_SESSION) or f"mcp {os.urandom(8).hex()}"


def note_shown(memory: Memory, insights: Iterable[Mapping[str, Any]]) -> None:
    """Notes that the session sees these insights now."""
    _SHOWN.update((memory.root, str(one["name"])) for one in insights)


def was_shown(memory: Memory, names: Iterable[str]) -> dict[str, bool]:
    """Of each of the names, whether the session has seen that insight."""
    since = None if os.environ.get(_SESSION) else _BEGUN
    by_hooks = memory.insights.shown_in(session(), since=since)
    return {name: (memory.root, name) in _SHOWN or name in by_hooks for name in names}
