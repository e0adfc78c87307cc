"""Kimi Code: the wire between the program and its agent, one record a line (``docs/reference/formats/kimi.md``).

What was typed occurs twice, as the turn's input and as the message that the model got; the message counts, because
only its origin tells a person's words from the program's.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from helix_episodes.errors import LogNotReadable
from helix_episodes.readers.base import SingleFileReader
from helix_episodes.readers.common.fields import (
    Record,
    RecordPosition,
    count_in,
    cut_tags,
    object_in,
    parse_any_time,
    text_in,
)
from helix_episodes.readers.common.jsonl import SkippedRecord, read_object, read_records
from helix_episodes.readers.common.message_parts import content_text, parse_arguments
from helix_episodes.readers.common.session_builder import SessionBuilder
from helix_episodes.readers.common.tool_translation import COMMON_TOOLS, look, named, track
from helix_episodes.session import Source

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from helix_episodes.readers.base import LogHead
    from helix_episodes.session import Session, Status, StepKind

_TOOLS = {
    **COMMON_TOOLS,
    **named("readmediafile", "tasklist", "taskoutput", "taskstop", "cronlist", "getgoal", "fetchurl", by=look),
    "todolist": track,
}
_SKIPPED = frozenset({
    "metadata", "tools.set_active_tools", "turn.prompt", "turn.steer", "turn.ended", "llm.request",
    "llm.tools_snapshot", "usage.record", "permission.set_mode", "plan_mode.enter", "plan_mode.exit",
    "full_compaction.begin", "full_compaction.complete", "plugin.session_start", "runtime.set_binding",
    "token_counting.measured", "token_counting.turn_recorded", "step.begin", "config.update", "profile.bind",
})  # fmt: skip
_WIRE = "wire.jsonl"
# What is above a helper's answer.
_HELPER = re.compile(r"agent_id: ([\w.-]{1,64})\n")
_SUMMARY = "\n[summary]\n"
_COUNTED = ("inputOther", "inputCacheCreation", "output")


class KimiReader(SingleFileReader):
    """Reads ``~/.kimi-code/sessions/<project>/<session>/agents/main/wire.jsonl``."""

    name = "kimi"
    suffixes = (".jsonl",)
    unfamiliar = "no line is a turn's prompt or a message appended to the context"

    def is_own(self, head: LogHead) -> bool:
        """Whether the log begins as a wire does."""
        return any(text_in(record, "type") in {"context.append_message", "turn.prompt"} for record in head.records)

    def is_part(self, path: Path) -> bool:
        """Whether this is a helper's wire, next to the main agent's."""
        return path.name == "wire.jsonl" and path.parent.parent.name == "agents" and path.parent.name != "main"

    def read(self, path: Path) -> Iterator[Session]:
        """The one session in the log."""
        in_place = path.name == "wire.jsonl" and path.parent.parent.name == "agents"
        wire = _Wire(SessionBuilder(), agents=path.parent.parent if in_place else None)
        wire.take_all(path)
        if in_place:
            folder = path.parents[2]
            state = read_object(folder / "state.json") or {}
            wire.builder.id, wire.builder.root = folder.name, text_in(state, "workDir") or wire.builder.root
        yield wire.builder.session(path, reader=self.name)


class _Wire:
    """One log while it is read. ``agents`` is the folder of the session's wires; ``name`` is a helper's."""

    def __init__(self, builder: SessionBuilder, *, agents: Path | None, name: str | None = None) -> None:
        self.builder = builder
        self._dialogue = builder.dialogue
        self._agents = agents
        self._actor = f"agent:{name}" if name else "agent"
        self._file = f"../{name}/{_WIRE}" if name else None
        self._refused: dict[str, Status] = {}
        self._handlers: dict[str, Callable[[Record, RecordPosition], SkippedRecord | None]] = {
            "context.append_message": self._message,
            "permission.record_approval_result": self._asked,
            "content.part": self._part,
            "tool.call": self._call,
            "tool.result": self._result,
            "step.end": self._spent,
        }

    def take_all(self, path: Path) -> None:
        """Takes in a whole log; a helper's that cannot be read costs the session nothing else.

        Raises:
            LogNotReadable: The session's own log cannot be read.
        """
        ledger = self.builder.ledger
        try:
            for line, record in read_records(path, ledger=ledger, file=self._file):
                self.take(record, line=line)
        except LogNotReadable as error:
            if self._file is None:
                raise
            ledger.report_bad(line=1, problem=error.problem, file=self._file)

    def take(self, record: Record, *, line: int) -> None:
        """Turns one record into steps, or enters in the ledger why there are none."""
        event = object_in(record, "event")
        kind = text_in(event or record, "type") or "record without type"
        # A call's id (``Bash_0``) is used again in every session, so its step's is used instead.
        unique_id = text_in(event, "stepUuid" if text_in(event, "type") == "tool.call" else "uuid")
        source = Source(line=line, id=unique_id, file=self._file)
        place = RecordPosition(source, parse_any_time(record.get("time")))
        self.builder.note(root=text_in(object_in(record, "environmentDisclosure"), "cwd"))
        self.builder.note(root=text_in(object_in(event, "display"), "cwd"))
        self.builder.count_model(text_in(record, "model") if kind == "llm.request" else None)
        passed = None
        if kind == "turn.cancel":
            self._dialogue.add("note", place, actor="user", text=kind, status="interrupted")
        elif kind == "context.apply_compaction":  # its summary is no evidence
            self._dialogue.add("boundary", place, actor="system", arguments={"reason": "compaction"})
        elif handle := self._handlers.get(kind):
            passed = handle(event or record, place)
        else:
            passed = SkippedRecord(kind, known=kind in _SKIPPED)
        self.builder.ledger.enter(passed)

    def _message(self, record: Record, place: RecordPosition) -> SkippedRecord | None:
        message = object_in(record, "message")
        origin = text_in(object_in(message, "origin"), "kind")
        text = cut_tags(content_text(message.get("content")), ("system-reminder",))
        if self._file and origin == "system_trigger":
            return self._dialogue.add_text_or_skip("note", place, text=text, actor=self._actor, empty="empty prompt")
        if origin not in {"user", None} or message.get("role") != "user":
            return SkippedRecord(f"message of the program ({origin})")
        return self._dialogue.add_text_or_skip("prompt", place, text=text, actor="user", empty="empty prompt")

    def _asked(self, record: Record, place: RecordPosition) -> SkippedRecord | None:
        """What a person said to a call that needed permission; a refusal may have words."""
        result = object_in(record, "result")
        if result.get("decision") == "approved":
            return SkippedRecord("approval")
        self._refused[text_in(record, "toolCallId") or ""] = "rejected"
        return self._dialogue.add_text_or_skip(
            "prompt", place, text=text_in(result, "feedback") or "", actor="user", empty="refusal"
        )

    def _part(self, event: Record, place: RecordPosition) -> SkippedRecord | None:
        part = object_in(event, "part")
        text = text_in(part, "think") or text_in(part, "text") or ""
        kind: StepKind = "thought" if part.get("type") == "think" else "message"
        return self._dialogue.add_text_or_skip(kind, place, text=text, actor=self._actor, empty="empty part")

    def _call(self, event: Record, place: RecordPosition) -> None:
        arguments = parse_arguments(event.get("args"))
        shown = object_in(event, "display")
        if shown.get("kind") == "plan_review":
            arguments = {**arguments, "plan": shown.get("plan")}
        call_id, tool = text_in(event, "toolCallId"), text_in(event, "name")
        self._dialogue.call(place, tool, arguments, tools=_TOOLS, call_id=call_id, actor=self._actor)

    def _result(self, event: Record, place: RecordPosition) -> None:
        call_id = text_in(event, "toolCallId") or "call without id"
        call = self._dialogue.open_call(call_id)
        result = object_in(event, "result")
        text = content_text(result.get("output"))
        if call is not None and call.operation == "delegate":
            text = self._helped(text)
        failed = result.get("isError") is True
        self._dialogue.end_call(call_id, place, text=text, failed=failed, status=self._refused.get(call_id))

    def _helped(self, answer: str) -> str:
        """A helper's answer without its head, behind what the helper did by its own wire."""
        named = _HELPER.match(answer)
        if named is None:
            return answer
        wire = self._agents / named[1] / _WIRE if self._agents else None
        if wire is not None and wire.is_file():
            _Wire(self.builder, agents=None, name=named[1]).take_all(wire)
        return answer.partition(_SUMMARY)[2] or answer

    def _spent(self, event: Record, place: RecordPosition) -> SkippedRecord:
        self.builder.add_tokens(count_in(object_in(event, "usage"), *_COUNTED))
        self.builder.note_time(place.at)
        return SkippedRecord("step.end")
