"""OpenHands: a list of actions and the observations they caused (``docs/reference/formats/openhands.md``).

An action of the agent is a call; the observation that names it as its cause is the result.
"""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING, Any

from helix_episodes.readers.base import DocumentReader
from helix_episodes.readers.common.fields import Record, RecordPosition, object_in, parse_time, text_in
from helix_episodes.readers.common.jsonl import SkippedRecord
from helix_episodes.readers.common.session_builder import project_of
from helix_episodes.readers.common.tool_translation import (
    COMMON_TOOLS,
    Translation,
    delegate,
    editor,
    look,
    named,
    run,
    translate,
    write,
)
from helix_episodes.session import Source

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from helix_episodes.readers.base import LogHead
    from helix_episodes.readers.common.json_with_lines import JsonNode
    from helix_episodes.readers.common.session_builder import SessionBuilder
    from helix_episodes.readers.common.tool_translation import LoggedArguments, Translator
    from helix_episodes.session import Status


_SKIPPED_ACTIONS = frozenset(
    {"change_agent_state", "system", "recall", "condensation", "condensation_request", "null", "pause", "resume"}
)
_SKIPPED_OBSERVATIONS = frozenset({"agent_state_changed", "null", "recall", "agent_condensation"})
#: Where the program mounts the project, unless it is configured otherwise.
_WORKSPACE = "/workspace"
#: A command that is still running when the agent hears of it.
_NOT_ENDED = -1
#: What an edit was made of, in versions that hand the editor a call written in Python.
_PYTHON_CALL = re.compile(r"\w+\(\w+\(\*\*(\{.*\})\)\)", re.DOTALL)


def _edit(arguments: LoggedArguments) -> tuple[Translation, ...]:
    """An edit in the words of the editor, or the new content of a range of lines."""
    written = _editor_call(arguments)
    if written or arguments.get("command"):
        return editor(written or arguments)
    return COMMON_TOOLS["edit"](arguments)


def _editor_call(arguments: LoggedArguments) -> Record:
    """The editor's arguments out of the Python call that the program made of them."""
    found = _PYTHON_CALL.fullmatch(str(arguments.get("translated_ipython_code", "")))
    if found is None:
        return {}
    try:
        value = ast.literal_eval(found[1])
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


_TOOLS: Mapping[str, Translator] = {
    **COMMON_TOOLS,
    "run": run,
    "edit": _edit,
    "write": write,
    "delegate": delegate,
    **named("runipython", "browseinteractive", "calltoolmcp", by=lambda logged: (Translation("use", dict(logged)),)),
    **named("browse", "think", by=look),
}


class _Events:
    """The session while it is read, one event after the other."""

    def __init__(self, builder: SessionBuilder) -> None:
        self.ledger = builder.ledger
        self.dialogue = builder.dialogue
        self.model: str | None = None
        self._folder: str | None = None

    @property
    def root(self) -> str | None:
        """The folder of the first command; before any, the program's own workspace when files in it are named."""
        if self._folder:
            return self._folder
        paths = (str(step.arguments.get("path", "")) for step in self.dialogue.steps)
        return _WORKSPACE if any(path.startswith(f"{_WORKSPACE}/") for path in paths) else None

    def take(self, node: JsonNode) -> None:
        """Turns one event into steps, or enters in the ledger why there are none."""
        event = node.record
        model = text_in(object_in(object_in(event, "tool_call_metadata"), "model_response"), "model")
        self.model = self.model or model
        if "action" in event:
            passed = self._action(node, event)
        elif "observation" in event:
            passed = self._observation(node, event)
        else:
            passed = SkippedRecord("no event", known=False)
        self.ledger.enter(passed)

    def _action(self, node: JsonNode, event: Record) -> SkippedRecord | None:
        kind, arguments = str(event["action"]), object_in(event, "args")
        if kind in _SKIPPED_ACTIONS:
            return SkippedRecord(f"action {kind}")
        if kind == "message":
            user = event.get("source") == "user"
            return self.dialogue.add_text_or_skip(
                "prompt" if user else "message",
                _place(event, node.get("args").get("content")),
                text=text_in(arguments, "content") or "",
                actor="user" if user else "agent",
                empty="empty message",
            )
        thought = node.get("args").get("thought")
        self.dialogue.add_text("message", _place(event, thought), text=text_in(arguments, "thought") or "")
        if kind in {"finish", "reject"}:
            return self._ended(node, event, arguments)
        main = next((each for each in map(node.get("args").get, _MAIN_ARGUMENTS) if each.text), node)
        logged = {name: value for name, value in arguments.items() if name not in _PROGRAM_ARGUMENTS}
        self.dialogue.add_call(
            _place(event, main),
            tool=text_in(object_in(event, "tool_call_metadata"), "function_name") or kind,
            call_id=f"event-{event.get('id')}",
            translations=translate(kind, logged, tools=_TOOLS),
        )
        return None

    def _ended(self, node: JsonNode, event: Record, arguments: Record) -> SkippedRecord | None:
        """The agent's last words are in one place or another, or are its thought."""
        for name in ("final_thought", "message"):
            if text := text_in(arguments, name):
                self.dialogue.add_text("message", _place(event, node.get("args").get(name)), text=text)
                return None
        text = text_in(event, "message") or ""
        if text and text != text_in(arguments, "thought"):
            self.dialogue.add_text("message", _place(event, node.get("message")), text=text)
        return None if text or text_in(arguments, "thought") else SkippedRecord(f"action {event['action']}")

    def _observation(self, node: JsonNode, event: Record) -> SkippedRecord | None:
        kind, extras = str(event["observation"]), object_in(event, "extras")
        if kind in _SKIPPED_OBSERVATIONS:
            return SkippedRecord(f"observation {kind}")
        metadata = object_in(extras, "metadata")
        folder = text_in(metadata, "working_dir")
        self._folder = self._folder or folder
        code = metadata.get("exit_code", extras.get("exit_code"))
        ended = isinstance(code, int) and code != _NOT_ENDED
        text = text_in(event, "content") or ""
        call_id = f"event-{event.get('cause')}"
        self._learn(call_id, extras)
        self.dialogue.add_result(
            call_id if self.dialogue.is_open(call_id) else None,
            _place(event, node.get("content")),
            text=text,
            status=_status(kind, text, code=code if ended else None, is_run="exit_code" in {*metadata, *extras}),
            exit_code=code if ended else None,
        )
        return None

    def _learn(self, call_id: str, extras: Record) -> None:
        """What an observation says of the edit besides its text: whether the file was new, what was in it."""
        position = self.dialogue.open_position(call_id)
        call = None if position is None else self.dialogue.steps[position]
        if position is None or call is None or call.operation not in {"edit", "create"}:
            return
        if extras.get("prev_exist") is False:
            new = call.arguments.get("new") or text_in(extras, "new_content") or ""
            arguments = {"path": call.arguments["path"], "new": new}
            self.dialogue.change(position, operation="create", arguments=arguments)
        elif call.operation == "create" and extras.get("prev_exist") is True:
            arguments = {"path": call.arguments["path"], "old": "", "new": call.arguments["new"]}
            self.dialogue.change(position, operation="edit", arguments=arguments)


#: The argument that says most about an action, and so where it is; the program's own switches say nothing.
_MAIN_ARGUMENTS = ("command", "translated_ipython_code", "code", "file_text", "new_str", "path", "url", "content")
_PROGRAM_ARGUMENTS = frozenset(
    {"thought", "confirmation_state", "security_risk", "hidden", "impl_source", "is_input", "is_static", "blocking"}
)


def _status(kind: str, text: str, *, code: int | None, is_run: bool) -> Status:
    if kind == "error":
        return "error"
    if kind == "user_rejected":
        return "rejected"
    if code is not None:
        return "error" if code else "ok"
    if is_run:
        return "unknown"
    # The editor's own error object.
    return "error" if text.startswith("ERROR:") else "ok"


def _place(event: Record, node: JsonNode) -> RecordPosition:
    """The event's own number is no id: every session counts from 0."""
    return RecordPosition(Source(line=node.line), parse_time(event.get("timestamp")))


class OpenHandsReader(DocumentReader):
    """Reads the trajectories that OpenHands exports."""

    name = "openhands"
    empty = "no event of it is a step"
    unfamiliar = "no list of actions and observations"

    def is_own(self, head: LogHead) -> bool:
        """Whether the file is a list of such events."""
        return isinstance(head.document, list) and bool(head.document) and all(map(_is_event, head.document))

    def take(self, document: JsonNode, builder: SessionBuilder, path: Path) -> dict[str, Any]:  # noqa: ARG002  (nothing of it)
        """Adds the events."""
        events = _Events(builder)
        for node in document.items:
            events.take(node)
        return {"root": events.root, "project": project_of(events.root), "model": events.model}


def _is_event(event: Any) -> bool:  # noqa: ANN401  (JSON can be anything)
    if not isinstance(event, dict) or text_in(event, "source") is None:
        return False
    if "action" in event:
        return isinstance(event["action"], str) and isinstance(event.get("args"), dict)
    return isinstance(event.get("observation"), str)
