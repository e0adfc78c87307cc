"""What ``codex exec --json`` prints: an event of a thread a line (``docs/reference/formats/codex.md``).

The items of a thread are those of a rollout under other names, each whole when it is completed. The prompt is not among
them, nor the folder: both were handed to the command.
"""

from __future__ import annotations

import posixpath
import re
import shlex
from functools import partial
from typing import TYPE_CHECKING, Any

from helix_episodes.readers.base import RecordLog, RecordReader
from helix_episodes.readers.codex.calls import TOOLS, RolloutCalls
from helix_episodes.readers.common.fields import (
    Record,
    RecordPosition,
    count_in,
    object_in,
    objects_in,
    parse_any_time,
    text_in,
)
from helix_episodes.readers.common.jsonl import SkippedRecord
from helix_episodes.readers.common.tool_translation import translate
from helix_episodes.session import Source

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from helix_episodes.readers.base import LogHead
    from helix_episodes.session import StepKind


_OWN = frozenset({"thread.started", "turn.started", "turn.completed", "turn.failed"})
_ITEM_EVENTS = frozenset({"item.started", "item.updated", "item.completed"})
_SHELL = re.compile(r"(?:/\S+/)?(?:ba|z|da)?sh -l?c ")
_CHANGES = {"add": "add", "delete": "delete", "update": "update"}


class _Stream(RecordLog):
    """One thread while its events go by."""

    def __init__(self) -> None:
        super().__init__()
        self._calls = RolloutCalls(self.dialogue)
        self._begun: dict[str, tuple[Record, RecordPosition]] = {}
        self._threads = 0
        self._items: dict[str, Callable[[Record, RecordPosition], SkippedRecord | None]] = {
            **dict.fromkeys(("agent_message", "assistant_message"), self._said),
            "reasoning": partial(self._said, kind="thought"),
            "command_execution": lambda item, at: self._calls.command_end({**item, "command": _command(item)}, at),
            "file_change": self._changed,
            "mcp_tool_call": self._asked_server,
            "web_search": lambda item, at: self._calls.web_search({**item, "type": "web_search_end"}, at),
            "todo_list": self._planned,
            "error": self._noted,
        }

    def take(self, record: Record, *, line: int) -> SkippedRecord | None:
        """Turns one event into steps, or says why there are none."""
        kind = text_in(record, "type") or "event without type"
        place = RecordPosition(Source(line=line), parse_any_time(record.get("timestamp")))
        if kind in _ITEM_EVENTS:
            return self._item(kind, object_in(record, "item"), place)
        if kind in {"error", "turn.failed"}:
            return self._noted(object_in(record, "error") or record, place)
        if kind in {"thread.started", "thread.resumed"}:
            self._threads += 1
            self.builder.note(id=text_in(record, "thread_id"))
        if kind == "turn.completed":
            usage = object_in(record, "usage")
            read = count_in(usage, "input_tokens") - count_in(usage, "cached_input_tokens")
            self.builder.add_tokens(max(read, 0) + count_in(usage, "output_tokens"))
        return SkippedRecord(kind, known=kind in {*_OWN, "thread.resumed", "token_count"})

    def end(self, path: Path) -> dict[str, Any]:  # noqa: ARG002  (its name says nothing)
        """Adds the commands that were still under way.

        The stream does not say in which folder it ran: it is the narrowest that holds every file it changed.
        """
        for item, place in self._begun.values():
            translations = translate("shell", {"command": _command(item)}, tools=TOOLS)
            self.dialogue.add_call(place, tool="shell", call_id=text_in(item, "id"), translations=translations)
        changed = [step.arguments.get("path") for step in self.dialogue.steps if step.kind == "call"]
        folders = {posixpath.dirname(one) for one in changed if isinstance(one, str) and posixpath.isabs(one)}
        return {"agent": "codex", "root": posixpath.commonpath(folders) if folders else None}

    def _item(self, event: str, item: Record, place: RecordPosition) -> SkippedRecord | None:
        kind = text_in(item, "type") or text_in(item, "item_type") or "item without type"
        # Every run numbers its items from 0.
        item = {**item, "id": f"{self._threads}-{item.get('id')}"}
        if event != "item.completed" and kind != "todo_list":
            if kind == "command_execution":
                self._begun[item["id"]] = (item, place)
            return SkippedRecord(f"{event} {kind}", known=kind in self._items)
        self._begun.pop(item["id"], None)
        handle = self._items.get(kind)
        return handle(item, place) if handle else SkippedRecord(f"item {kind}", known=False)

    def _said(self, item: Record, place: RecordPosition, *, kind: StepKind = "message") -> SkippedRecord | None:
        return self.dialogue.add_text_or_skip(kind, place, text=text_in(item, "text") or "", empty=f"empty {kind}")

    def _changed(self, item: Record, place: RecordPosition) -> SkippedRecord | None:
        listed = {text_in(one, "path") or "": text_in(one, "kind") for one in objects_in(item, "changes")}
        changes = {path: {"type": _CHANGES.get(kind or "", "update")} for path, kind in listed.items() if path}
        return self._calls.patch_end({**item, "changes": changes}, place)

    def _asked_server(self, item: Record, place: RecordPosition) -> SkippedRecord | None:
        message = text_in(object_in(item, "error"), "message")
        return self._calls.mcp_end({**item, "result": {"Err": message}} if message else item, place)

    def _planned(self, item: Record, place: RecordPosition) -> SkippedRecord | None:
        steps = [
            {"step": text_in(one, "text") or "", "status": "completed" if one.get("completed") is True else "pending"}
            for one in objects_in(item, "items")
        ]
        translations = translate("update_plan", {"plan": steps}, tools=TOOLS)
        self.dialogue.add_call(place, tool="update_plan", call_id=None, translations=translations)
        self.dialogue.add_result(None, place, text="", status="ok")
        return None

    def _noted(self, item: Record, place: RecordPosition) -> SkippedRecord | None:
        text = text_in(item, "message") or ""
        return self.dialogue.add_text_or_skip("note", place, text=text, actor="system", empty="error without words")


def _command(item: Record) -> object:
    """The words of a command that a shell was called with: the stream prints them as one line."""
    command = item.get("command")
    if not isinstance(command, str) or not _SHELL.match(command):
        return command
    try:
        return shlex.split(command)
    except ValueError:  # cut off in the middle of a quotation
        return command


class CodexExecReader(RecordReader):
    """Reads the output of ``codex exec --json`` that was kept in a file."""

    name = "codex-exec"
    unfamiliar = "no line is a thread.started or an event of a turn"
    log = _Stream

    def is_own(self, head: LogHead) -> bool:
        """Whether a line is an event of a thread."""
        return any(text_in(record, "type") in _OWN for record in head.records if "payload" not in record)
