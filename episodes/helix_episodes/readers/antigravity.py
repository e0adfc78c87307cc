"""Antigravity: one step of the agent a line (``docs/reference/formats/antigravity.md``).

A planner's step names the tools to be called; the steps that follow are their results in the same order, each of a type
that says what was done.
"""

from __future__ import annotations

import re
from collections import deque
from typing import TYPE_CHECKING, Any

from helix_episodes.readers.base import RecordLog, RecordReader
from helix_episodes.readers.common.fields import (
    Record,
    RecordPosition,
    between,
    object_in,
    objects_in,
    parse_time,
    text_in,
)
from helix_episodes.readers.common.jsonl import SkippedRecord
from helix_episodes.readers.common.message_parts import parse_arguments, says_new_file
from helix_episodes.readers.common.tool_translation import COMMON_TOOLS, edit, look, named, run, write
from helix_episodes.session import Source

if TYPE_CHECKING:
    from pathlib import Path

    from helix_episodes.readers.base import LogHead
    from helix_episodes.session import Status

_TOOLS = {
    **COMMON_TOOLS,
    **named("listdir", "viewfile", "grepsearch", "findbyname", "searchweb", "readurlcontent", "commandstatus", by=look),
    **named("runcommand", by=run),
    **named("writetofile", "writefile", by=write),
    **named("replacefilecontent", "multireplacefilecontent", by=edit),
}
_RESULTS = frozenset({
    "LIST_DIRECTORY", "VIEW_FILE", "RUN_COMMAND", "CODE_ACTION", "GREP_SEARCH", "FIND", "SEARCH_WEB", "GENERIC",
    "READ_URL_CONTENT", "COMMAND_STATUS", "MCP_TOOL", "ERROR_MESSAGE",
})  # fmt: skip
_SKIPPED = frozenset({"CONVERSATION_HISTORY", "SYSTEM_MESSAGE", "EPHEMERAL_MESSAGE", "KNOWLEDGE_ARTIFACTS"})
_STATUS: dict[str, Status] = {"DONE": "ok", "ERROR": "error", "CANCELED": "interrupted", "CANCELLED": "interrupted"}
_COMMAND_ENDED = re.compile(r"\A\s*The command (?:completed successfully|failed with exit code:? (?P<code>-?\d{1,6}))")
_OUTPUT = "Output:\n"
_STAMPS = re.compile(r"\A(?:(?:Created|Completed) At: [^\n]*\n)+")
#: The names that this agent has for arguments, in ours.
_ARGUMENTS = {
    "CommandLine": "command",
    **dict.fromkeys(("TargetFile", "AbsolutePath", "DirectoryPath", "SearchPath"), "path"),
    "CodeContent": "content",
    "TargetContent": "old",
    "ReplacementContent": "new",
    "ReplacementChunks": "replacements",
    "Query": "query",
    "Url": "url",
}


class _Steps(RecordLog):
    """One log while it is read."""

    def __init__(self) -> None:
        super().__init__()
        self._waiting: deque[str] = deque()

    def end(self, path: Path) -> dict[str, Any]:
        """In its own place the log's folder says which session it is of."""
        self.builder.note(id=path.parents[2].name if path.parent.name == "logs" else None)
        return {}

    def take(self, record: Record, *, line: int) -> SkippedRecord | None:
        """Turns one record into steps, or says why there are none."""
        place = RecordPosition(Source(line=line), parse_time(record.get("created_at")))
        kind = text_in(record, "type") or "step without type"
        text = text_in(record, "content") or ""
        if kind == "USER_INPUT":
            typed = between(text, "<USER_REQUEST>", "</USER_REQUEST>").strip() or text
            return self.dialogue.add_text_or_skip("prompt", place, text=typed, actor="user", empty="empty prompt")
        if kind == "PLANNER_RESPONSE":
            return self._planned(record, place, text=text)
        if kind == "CHECKPOINT":
            self.dialogue.add("boundary", place, actor="system", arguments={"reason": "compaction"})
            return None
        if kind in _SKIPPED:
            return SkippedRecord(kind)
        if self._waiting:
            self._end_call(record, place, text=text, kind=kind)
            return None
        return SkippedRecord(f"{kind} without its call" if kind in _RESULTS else kind, known=kind in _RESULTS)

    def _planned(self, record: Record, place: RecordPosition, *, text: str) -> SkippedRecord | None:
        before = len(self.dialogue.steps)
        self._waiting.clear()
        self.dialogue.add_text("thought", place, text=text_in(record, "thinking") or "")
        self.dialogue.add_text("message", place, text=text)
        for number, call in enumerate(objects_in(record, "tool_calls"), 1):
            call_id = f"line-{place.source.line}-{number}"
            arguments = _arguments(object_in(call, "args"))
            self.dialogue.call(place, text_in(call, "name"), arguments, tools=_TOOLS, call_id=call_id)
            self._waiting.append(call_id)
        return None if len(self.dialogue.steps) > before else SkippedRecord("empty response")

    def _end_call(self, record: Record, place: RecordPosition, *, text: str, kind: str) -> None:
        call_id = self._waiting.popleft()
        status = _STATUS.get(text_in(record, "status") or "", "unknown")
        if kind == "ERROR_MESSAGE":
            status = "error"
        code = None
        if ended := _COMMAND_ENDED.match(text):
            code = int(ended["code"]) if ended["code"] else 0
            status = "error" if code else "ok"
            text = text.partition(_OUTPUT)[2] or text
        text = _STAMPS.sub("", text)
        if says_new_file(text):
            self.dialogue.mark_created(call_id)
        self.dialogue.add_result(call_id, place, text=text, status=status, exit_code=code)


class AntigravityReader(RecordReader):
    """Reads ``~/.gemini/antigravity*/brain/<id>/.system_generated/logs/transcript.jsonl``."""

    name = "antigravity"
    unfamiliar = "no line is a step with an index, a source and a type"
    log = _Steps

    def is_own(self, head: LogHead) -> bool:
        """Whether a line is a step as only Antigravity writes them."""
        return any({"step_index", "source", "type"} <= record.keys() for record in head.records)


def _arguments(logged: Record) -> Record:
    """The arguments under common names; each is written as the JSON of its value."""
    arguments: Record = {}
    for name, value in logged.items():
        plain = parse_arguments('{"value": ' + value + "}").get("value", value) if isinstance(value, str) else value
        if isinstance(plain, list):  # several replacements in one file have such names as well
            plain = [_arguments(each) if isinstance(each, dict) else each for each in plain]
        arguments[_ARGUMENTS.get(name, name)] = plain
    return arguments
