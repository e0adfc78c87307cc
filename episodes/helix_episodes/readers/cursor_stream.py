"""What Cursor's command line prints with ``--output-format stream-json`` (``docs/reference/formats/messages.md``).

One JSON object per line; some benchmarks keep the lines as the list ``steps`` of one document. A call is begun and
completed by two events, below a key with the tool's name (``shellToolCall``). Of a call that was only completed the
second has all that the first would have had.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import orjson

from helix_episodes.readers.base import RecordLog, RecordReader
from helix_episodes.readers.common.fields import (
    Record,
    RecordPosition,
    count_in,
    object_in,
    objects_in,
    parse_any_time,
    text_in,
)
from helix_episodes.readers.common.json_with_lines import read_json_with_lines, set_step_lines
from helix_episodes.readers.common.jsonl import SkippedRecord, read_records
from helix_episodes.readers.common.message_parts import content_text
from helix_episodes.readers.common.tool_translation import COMMON_TOOLS, Translation, look, named, read_diff, use
from helix_episodes.session import Source

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from helix_episodes.readers.base import LogHead
    from helix_episodes.readers.common.tool_translation import LoggedArguments, Translator
    from helix_episodes.session import Session, Status


_TOOL = "ToolCall"
_STATUS: dict[str, Status] = {
    "success": "ok",
    "rejected": "rejected",
    "permissionDenied": "denied",
    "aborted": "interrupted",
}
_TODO_STATE = "TODO_STATUS_"
#: A list of matches is shown as it is logged; more than this says nothing more.
_LONGEST_LISTING = 20_000


def _edit(arguments: LoggedArguments) -> tuple[Translation, ...]:
    """An edit by the diff that came of it, else by what was written."""
    path = str(arguments.get("path") or "")
    diff = arguments.get("diffString")
    if isinstance(diff, str) and diff:
        return (Translation("edit", read_diff(diff, path=path).arguments),)
    new = arguments.get("streamContent") or arguments.get("fileText") or ""
    return (Translation("edit", {"path": path, "old": "", "new": str(new)}),)


_TOOLS: Mapping[str, Translator] = {
    **COMMON_TOOLS,
    **named("edit", "write", by=_edit),
    **named("semsearch", "readlints", "webfetch", "websearch", "fetch", by=look),
    "function": use,
}


def _is_own(record: Record) -> bool:
    if record.get("type") == "tool_call":
        return any(name.endswith(_TOOL) for name in object_in(record, "tool_call"))
    init = record.get("type") == "system" and record.get("subtype") == "init"
    # Claude Code's stream has the same words, and a list of tools.
    return init and "apiKeySource" in record and "uuid" not in record and "tools" not in record


class _Stream(RecordLog):
    """One session while its events go by."""

    def __init__(self) -> None:
        super().__init__()
        self._thinking: list[str] = []
        self._handlers: dict[str, Callable[[Record, RecordPosition], SkippedRecord | None]] = {
            "system": self._begin,
            "user": lambda record, place: self.dialogue.add_text_or_skip(
                "prompt",
                place,
                text=content_text(object_in(record, "message").get("content")),
                actor="user",
                empty="empty prompt",
            ),
            "assistant": self._answer,
            "thinking": self._think,
            "tool_call": self._tool,
            "result": self._end,
        }

    def take(self, record: Record, *, line: int) -> SkippedRecord | None:
        """Turns one event into steps, or says why there are none."""
        place = RecordPosition(Source(line=line), parse_any_time(record.get("timestamp_ms")))
        kind = text_in(record, "type") or f"event of {record.get('source')}"
        handle = self._handlers.get(kind)
        return handle(record, place) if handle else SkippedRecord(kind, known=False)

    def _begin(self, record: Record, place: RecordPosition) -> SkippedRecord:
        self.builder.note(id=text_in(record, "session_id"), root=text_in(record, "cwd"))
        self.builder.count_model(text_in(record, "model"))
        self.builder.note_time(place.at)
        return SkippedRecord("system")

    def _answer(self, record: Record, place: RecordPosition) -> SkippedRecord | None:
        if "timestamp_ms" in record and "model_call_id" not in record:
            return SkippedRecord("part of an answer")
        text = content_text(object_in(record, "message").get("content"))
        return self.dialogue.add_text_or_skip("message", place, text=text, empty="empty answer")

    def _think(self, record: Record, place: RecordPosition) -> SkippedRecord | None:
        self._thinking.append(text_in(record, "text") or "")
        if record.get("subtype") != "completed":
            return SkippedRecord("part of a thought")
        text, self._thinking = "".join(self._thinking), []
        return self.dialogue.add_text_or_skip("thought", place, text=text, empty="empty thought")

    def _tool(self, record: Record, place: RecordPosition) -> SkippedRecord | None:
        named_call = next(
            ((name, one) for name, one in object_in(record, "tool_call").items() if name.endswith(_TOOL)), None
        )
        if named_call is None or not isinstance(named_call[1], dict):
            return SkippedRecord("tool_call without a tool", known=False)
        name, call = named_call
        call_id = text_in(record, "call_id")
        result = object_in(call, "result")
        how, outcome = next(((key, one) for key, one in result.items() if isinstance(one, dict)), ("", {}))
        if not self.dialogue.is_open(call_id):
            if self.dialogue.has_result(call_id):
                return SkippedRecord("second result")
            tool, arguments = _called(name, object_in(call, "args"), outcome)
            self.dialogue.call(place, tool, arguments, tools=_TOOLS, call_id=call_id)
        if record.get("subtype") == "completed":
            code = outcome.get("exitCode")
            status = None if isinstance(code, int) and how in {"success", "failure"} else _STATUS.get(how, "error")
            self.dialogue.end_call(
                call_id, place, text=_text_of(outcome), failed=how != "success", exit_code=code, status=status
            )
        return None

    def _end(self, record: Record, place: RecordPosition) -> SkippedRecord | None:
        self.builder.add_tokens(count_in(object_in(record, "usage"), "inputTokens", "outputTokens", "cacheWriteTokens"))
        self.builder.note_time(place.at)
        if record.get("is_error") is not True:
            return SkippedRecord("result")
        text = text_in(record, "result") or text_in(record, "error") or ""
        return self.dialogue.add_text_or_skip("note", place, text=text, actor="system", empty="result")


def _called(name: str, arguments: Record, outcome: Record) -> tuple[str, dict[str, Any]]:
    """The tool and its arguments: a server's tool by its own name, an edit with the diff that came of it."""
    tool = name.removesuffix(_TOOL)
    if tool == "mcp":
        own = arguments.get("toolName") or arguments.get("name") or "tool"
        return f"mcp__{arguments.get('providerIdentifier') or 'server'}__{own}", object_in(arguments, "args")
    if tool == "updateTodos":
        entries = objects_in(arguments, "todos")
        todos = [{**one, "status": str(one.get("status", "")).removeprefix(_TODO_STATE).lower()} for one in entries]
        return "updateTodoList", {"todos": todos}
    if isinstance(outcome.get("diffString"), str):
        return tool, {**arguments, "diffString": outcome["diffString"]}
    return tool, dict(arguments)


def _text_of(outcome: Record) -> str:
    """What a tool returned: the streams of a command, a file's content, an error's words, else the object itself."""
    streams = [text for name in ("stdout", "stderr") if (text := text_in(outcome, name))]
    if streams:
        return "\n".join(streams)
    if "exitCode" in outcome:
        return text_in(outcome, "interleavedOutput") or ""
    for name in ("content", "message", "error", "errorMessage", "reason"):
        if isinstance(outcome.get(name), str | list):
            return content_text(outcome[name])
    return orjson.dumps(outcome).decode()[:_LONGEST_LISTING] if outcome else ""


class CursorStreamReader(RecordReader):
    """Reads the output of ``cursor-agent --output-format stream-json`` that was kept in a file."""

    name = "cursor-stream"
    suffixes = (".jsonl", ".json")
    unfamiliar = "no line is a tool_call of Cursor's, nor its init"
    log = _Stream

    def is_own(self, head: LogHead) -> bool:
        """Whether a record is as only this stream has it."""
        listed = objects_in(head.document, "steps") if isinstance(head.document, dict) else head.records
        return any(map(_is_own, listed))

    def read(self, path: Path) -> Iterator[Session]:
        """The one session in the file."""
        stream = _Stream()
        document = path.suffix == ".json"
        if document:
            for node in read_json_with_lines(path).get("steps").items:
                since = len(stream.dialogue.steps)
                stream.enter(node.record, line=node.line)
                set_step_lines(stream.dialogue, node, since=since)
        else:
            for line, record in read_records(path, ledger=stream.builder.ledger):
                stream.enter(record, line=line)
        yield stream.builder.session(path, reader=self.name, agent="cursor", rewritten=document)
