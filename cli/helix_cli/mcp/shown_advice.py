"""Which advice the session has seen that this server serves: an agent's feedback counts for that alone.

Insights are shown by this server's tools, which is noted here, and by hooks, which is in the memory's log. A server
serves one session. That it was started says nothing of a session: anybody may start one, as often as they like. So the
session has to be known from elsewhere: Claude Code names it in the environment, and its log is there; other agents'
hooks name it in the memory's log, where they have shown something since just before the server was started.
"""

from __future__ import annotations

import os
import threading
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from helix_cli import STARTED
from helix_episodes.discovery import folder_of_log, logs_named
from helix_graph.agent_logs import Project
from helix_graph.helix_db import stamp

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from helix_graph import Memory

_SESSION = "CLAUDE_CODE_SESSION_ID"
#: Agents start their servers and fire the hooks of a session's start in no order, within seconds.
_BEFORE = timedelta(seconds=60)
_BEGUN = stamp(datetime.fromtimestamp(STARTED, tz=UTC) - _BEFORE)
_SHOWN: set[tuple[Path, str]] = set()
#: Set where one server serves several sessions, as over HTTP: then none of them is known.
SEVERAL_SESSIONS = threading.Event()


def known_session(memory: Memory) -> str:
    """The session that this server serves, as its log or a hook names it; "" where neither does.

    A log counts when its session ran in this memory's project. Of several that hooks named meanwhile it is the first,
    for all servers alike.
    """
    named = os.environ.get(_SESSION)
    if SEVERAL_SESSIONS.is_set():
        return ""
    if named:
        project = Project(None, memory=memory.root)
        folders = (folder_of_log(home, log) for home, log in logs_named({f"{named}.jsonl"}))
        return named if any(folder is not None and project.holds(folder) for folder in folders) else ""
    return memory.insights.first_session_shown(since=_BEGUN)


def note_shown(memory: Memory, insights: Iterable[Mapping[str, Any]]) -> None:
    """Notes that the session sees these insights now."""
    _SHOWN.update((memory.root, str(one["name"])) for one in insights)


def was_shown(memory: Memory, names: Iterable[str], *, session: str) -> dict[str, bool]:
    """Of each of the names, whether the session has seen that insight."""
    by_hooks = memory.insights.shown_in(session) if session else frozenset()
    return {name: (memory.root, name) in _SHOWN or name in by_hooks for name in names}
