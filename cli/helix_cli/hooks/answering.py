"""From an event to its answer: who answers it, in which form, and what becomes of failures."""

from __future__ import annotations

import os
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path

from helix_cli.hooks.forms import is_heard, shaped
from helix_cli.hooks.given import Given
from helix_cli.hooks.log import note
from helix_cli.hooks.place import memory_for
from helix_episodes.errors import HelixGraphError
from helix_graph.project import memory_folder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

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


def answer_call(call: Call, say: Callable[[bytes], bool]) -> Iterator[bytes]:
    """The memory's folder on a line, as soon as it is known; then the answer is said.

    ``say`` tells whether the agent has it. What was taken for an answer that it has not is free again.
    """
    place = memory_folder(Path(call.cwd)) if call.event in _ANSWERING and is_heard(call.agent, call.event) else None
    if place is None or not place.is_dir():
        return
    with noted(place, call.event):
        root = memory_for(call)
        if root is None:
            return
        yield os.fsencode(root) + b"\n"
        with Given(root, call.session) as given:
            if say(shaped(call.agent, call.event, _text(call, root, given))):
                given.keep()


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


def _text(call: Call, root: Path, given: Given) -> str:
    if call.event == "user-prompt" and call.prompt_id and not given.take([f"prompt {call.prompt_id} {call.prompt}"]):
        return ""  # the same prompt was told by another program, or by a second entry in the settings
    answering = import_module(f"helix_cli.hooks.{_ANSWERING[call.event]}")
    text: str = answering.answer(call, root, given)
    return text
