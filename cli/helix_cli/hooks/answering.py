"""From an event to its answer: who answers it, in which form, and what becomes of failures."""

from __future__ import annotations

import json
import os
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path

from helix_cli.hooks.events import EVENTS
from helix_cli.hooks.log import note
from helix_cli.hooks.place import memory_for
from helix_episodes.errors import HelixGraphError
from helix_graph.project import memory_folder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from helix_cli.hooks.call import Call

#: Which module answers each event: its ``answer(call, root, given)`` gives the text to inject, or none. There is no
#: answer to a stop: whatever is said there makes the agent go on.
_ANSWERING = {
    "session-start": "session_start",
    "user-prompt": "user_prompt",
    "pre-tool": "pre_tool",
    "post-tool": "tool_failure",
    "tool-failure": "tool_failure",
    "subagent-stop": "subagent_stop",
    "pre-compact": "pre_compact",
    "session-end": "session_end",
}
#: Where each agent that is not Claude Code takes a context, and under which key; elsewhere nothing is said.
_OTHER_KEYS = {
    "cursor": ({"session-start", "post-tool"}, "additional_context"),
    "copilot": ({"session-start", "post-tool"}, "additionalContext"),
}


def answer_call(call: Call) -> Iterator[bytes]:
    """The memory's folder on a line, as soon as it is known, then the answer if there is one."""
    place = memory_folder(Path(call.cwd)) if call.event in _ANSWERING else None
    if place is None or not place.is_dir():
        return
    with noted(place, call.event):
        root = memory_for(call)
        if root is None:
            return
        yield os.fsencode(root) + b"\n"
        yield _shaped(call, _text(call, root))


@contextmanager
def noted(root: Path, event: str) -> Iterator[None]:
    """Writes what goes wrong within to the log. A fault of this program is no reason to disturb an agent."""
    try:
        yield
    except HelixGraphError as error:
        note(root, event, f"{type(error).__name__}: {error}")
    except _faults():
        import traceback  # noqa: PLC0415  (loaded when something went wrong)

        note(root, event, " / ".join(traceback.format_exc(limit=-2).splitlines()[1:]))


def _faults() -> tuple[type[Exception], ...]:
    """What may go wrong beyond our own errors; asked only then, for SQLite takes long to load."""
    import sqlite3  # noqa: PLC0415  (as it says)

    return OSError, sqlite3.Error, MemoryError, RecursionError, ValueError, LookupError, TypeError, AttributeError


def _text(call: Call, root: Path) -> str:
    from helix_cli.hooks.given import Given  # noqa: PLC0415  (most calls of tools end before)

    given = Given(root, call.session)
    if call.identity and not given.take([f"call {call.event} {call.identity}"]):
        return ""  # another agent's program has run the same hook for the same event
    answering = import_module(f"helix_cli.hooks.{_ANSWERING[call.event]}")
    text: str = answering.answer(call, root, given)
    return text


def _shaped(call: Call, text: str) -> bytes:
    """The answer as the agent's program takes it: one JSON object or nothing."""
    if not text:
        return b""
    said: dict[str, Any] = {"hookSpecificOutput": {"hookEventName": EVENTS[call.event], "additionalContext": text}}
    if call.agent in _OTHER_KEYS:
        events, key = _OTHER_KEYS[call.agent]
        said = {key: text} if call.event in events else {}
    return json.dumps(said).encode() + b"\n" if said else b""
