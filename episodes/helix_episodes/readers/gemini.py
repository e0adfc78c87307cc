"""Gemini CLI: one JSON document a session, since 0.39 a record a line (``docs/reference/formats/gemini.md``).

A call and its result are in one record. In the form with lines a message that has grown is written again under
the same id: the last copy counts, in the place of the first. ``$rewindTo`` takes back what came after a message.
"""

from __future__ import annotations

import re
from contextlib import suppress
from typing import TYPE_CHECKING

from helix_episodes.readers.base import SingleFileReader
from helix_episodes.readers.common.fields import (
    Record,
    RecordPosition,
    count_in,
    cut_tags,
    object_in,
    objects_in,
    parse_any_time,
    text_in,
)
from helix_episodes.readers.common.json_with_lines import read_json_with_lines, set_step_lines
from helix_episodes.readers.common.jsonl import SkippedRecord, read_records
from helix_episodes.readers.common.message_parts import content_text, read_ending, says_new_file
from helix_episodes.readers.common.session_builder import SessionBuilder
from helix_episodes.readers.common.tool_translation import COMMON_TOOLS, look, named
from helix_episodes.safe_files import read_regular
from helix_episodes.session import Source

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from helix_episodes.readers.base import LogHead
    from helix_episodes.session import Session, Status

_LONGEST_PATH = 4096
_TOOLS = {
    **COMMON_TOOLS,
    **named("readfile", "readmanyfiles", "listdirectory", "searchfilecontent", "grepsearch", by=look),
}
_ROLES = frozenset({"user", "gemini", "model", "assistant"})
_NOTES = frozenset({"info", "warning", "error"})
_STATUS: dict[str, Status] = {"success": "ok", "error": "error", "cancelled": "rejected", "canceled": "rejected"}
_OF_HOOKS = ("hook_context",)
_INJECTED = ("session_context", "system-reminder", "hook_context")
# What the program wraps a command's output in; the exit code is on a line of its own below.
_OUTPUT = re.compile(
    r"(?:\A|\n)Output: (?P<output>[\s\S]*?)"
    r"(?=\n(?:Error|Exit Code|Signal|Background PIDs|Process Group PGID): |\Z)"
)
_ERROR = re.compile(r"\nError: (?!\(none\))(?P<error>[^\n]+)")


class GeminiReader(SingleFileReader):
    """Reads ``~/.gemini/tmp/<project>/chats/session-*.json`` and ``.jsonl``."""

    name = "gemini"
    suffixes = (".json", ".jsonl")
    unfamiliar = "no sessionId with a projectHash at its head"

    def is_own(self, head: LogHead) -> bool:
        """Whether the log begins as Gemini's do."""
        first = head.document if isinstance(head.document, dict) else next(iter(head.records), {})
        return bool(text_in(first, "sessionId") and text_in(first, "projectHash"))

    def is_part(self, path: Path) -> bool:
        """Whether this is a sub-agent's chat, in a folder below the chats."""
        return path.parent.parent.name == "chats"

    def read(self, path: Path) -> Iterator[Session]:
        """The one session in the log."""
        builder = SessionBuilder()
        _take_all(builder, path)
        if not builder.root:  # the program notes it next to the chats since 0.29
            with suppress(OSError, UnicodeDecodeError):
                noted = read_regular(path.parent.parent / ".project_root", most=_LONGEST_PATH)
                builder.root = noted.decode().strip() or None
        yield builder.session(path, reader=self.name, rewritten=path.suffix == ".json")


def _take_all(builder: SessionBuilder, path: Path) -> None:
    """Takes in the header and the messages of either form."""
    if path.suffix == ".jsonl":
        for line, record in _latest(read_records(path, ledger=builder.ledger)):
            builder.ledger.enter(_take(builder, record, line=line))
        return
    document = read_json_with_lines(path)
    header = {name: node.plain for name, node in document.members.items() if name != "messages"}
    builder.ledger.enter(_take(builder, header, line=1))
    for node in document.get("messages").items:
        since = len(builder.dialogue.steps)
        builder.ledger.enter(_take(builder, node.record, line=node.line))
        set_step_lines(builder.dialogue, node, since=since)


def _latest(records: Iterator[tuple[int, Record]]) -> list[tuple[int, Record]]:
    """The records with earlier copies of a message marked as such, and what was taken back marked as well."""
    latest: list[tuple[int, Record]] = []
    place_of: dict[str, int] = {}
    for line, record in records:
        name = text_in(record, "id")
        target = text_in(record, "$rewindTo")
        if name in place_of:
            old = place_of[name]
            latest.append((latest[old][0], {"$copy": True}))
            latest[old] = (line, record)
            continue
        if name:
            place_of[name] = len(latest)
        latest.append((line, record))
        if target in place_of:
            latest[-1] = (line, record | {"$from": latest[place_of[target]][0]})
    return latest


def _take(builder: SessionBuilder, record: Record, *, line: int) -> SkippedRecord | None:
    kind = text_in(record, "type")
    place = RecordPosition(Source(line=line, id=text_in(record, "id")), parse_any_time(record.get("timestamp")))
    if kind in _ROLES:
        return _message(builder, record, place)
    if kind in _NOTES:
        text = content_text(record.get("content"))
        status: Status = "interrupted" if text.strip() == "Request cancelled." else "unknown"
        builder.dialogue.add("note", place, actor="system", text=text, status=status)
        return None
    if "$rewindTo" in record:
        arguments = {"reason": "rewind", "abandoned_from_line": record.get("$from")}
        builder.dialogue.add("boundary", place, actor="system", arguments=arguments)
        return None
    if "sessionId" in record:
        return _header(builder, record)
    if "$set" in record or "$patch" in record:
        return SkippedRecord("change of the header")
    passed = SkippedRecord(str(kind or "record without type"), known=False)
    return SkippedRecord("earlier copy") if "$copy" in record else passed


def _header(builder: SessionBuilder, record: Record) -> SkippedRecord:
    builder.note(id=text_in(record, "sessionId"))
    folders = record.get("directories")
    builder.note(root=folders[0] if isinstance(folders, list) and folders and isinstance(folders[0], str) else None)
    for name in ("startTime", "lastUpdated"):
        builder.note_time(parse_any_time(record.get(name)))
    return SkippedRecord("header")


def _message(builder: SessionBuilder, record: Record, place: RecordPosition) -> SkippedRecord | None:
    before = len(builder.dialogue.steps)
    text = content_text(record.get("content") or record.get("parts"))
    if record["type"] == "user":
        builder.dialogue.add_text("prompt", place, text=cut_tags(text, _INJECTED), actor="user")
    else:
        builder.count_model(text_in(record, "model"))
        tokens = object_in(record, "tokens")
        builder.add_tokens(count_in(tokens, "input", "output") - count_in(tokens, "cached"))
        for thought in objects_in(record, "thoughts"):
            parts = (text_in(thought, "subject"), text_in(thought, "description"))
            builder.dialogue.add_text("thought", place, text=": ".join(part for part in parts if part))
        builder.dialogue.add_text("message", place, text=text)
        for call in objects_in(record, "toolCalls"):
            _call(builder, call, place)
    return None if len(builder.dialogue.steps) > before else SkippedRecord("empty message")


def _call(builder: SessionBuilder, call: Record, place: RecordPosition) -> None:
    call_id = text_in(call, "id")
    operation = builder.dialogue.call(place, text_in(call, "name"), call.get("args"), tools=_TOOLS, call_id=call_id)
    status = _STATUS.get(text_in(call, "status") or "")
    if status is None:
        return
    text, code = _answer(call, ran=operation == "run")
    outcome = status if status == "rejected" else None
    at = parse_any_time(call.get("timestamp")) or place.at
    if says_new_file(text):
        builder.dialogue.mark_created(call_id)
    ended = RecordPosition(place.source, at)
    builder.dialogue.end_call(call_id, ended, text=text, failed=status == "error", exit_code=code, status=outcome)


def _answer(call: Record, *, ran: bool) -> tuple[str, int | None]:
    """What the model received, of a command its output alone, and the exit code below it."""
    responses = [object_in(object_in(part, "functionResponse"), "response") for part in objects_in(call, "result")]
    text_of_model = "\n".join(text for response in responses if (text := content_text(response)))
    # What hooks add below an output is neither it nor its ending.
    text_of_model = cut_tags(text_of_model, _OF_HOOKS) if "<hook_context" in text_of_model else text_of_model
    if not ran:
        return text_of_model or content_text(call.get("resultDisplay")), None
    output = _OUTPUT.search(text_of_model)
    error = _ERROR.search(text_of_model)
    text = "\n".join(part for part in (output and output["output"], error and error["error"]) if part)
    ending = read_ending(text_of_model, failed=None, ran=True)
    return (text if output else text_of_model), ending.exit_code
