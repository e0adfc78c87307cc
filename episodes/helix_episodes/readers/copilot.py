"""GitHub Copilot CLI: one event a line (``docs/reference/formats/copilot.md``).

A call is announced in the agent's message and again when it starts; whichever comes first counts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from helix_episodes.readers.base import RecordLog, RecordReader
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
from helix_episodes.readers.common.jsonl import SkippedRecord
from helix_episodes.readers.common.message_parts import content_text
from helix_episodes.readers.common.tool_translation import COMMON_TOOLS, look, named
from helix_episodes.session import Source

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from helix_episodes.readers.base import LogHead
    from helix_episodes.session import Status

_TOOLS = {
    **COMMON_TOOLS,
    **named("view", "reportintent", "readbash", "readpowershell", "stopbash", "fetchcopilotclidocumentation", by=look),
}
_SKIPPED = frozenset({
    "session.info", "session.model_change", "session.usage_checkpoint", "session.auto_mode_resolved",
    "session.mode_changed",
    "session.title_changed", "session.context_changed", "session.task_complete", "assistant.turn_start",
    "assistant.turn_end", "assistant.intent", "assistant.usage", "hook.start", "hook.end", "system.message",
    "subagent.started", "subagent.completed", "subagent.selected", "pending_messages.modified", "tool.user_requested",
    "tool.execution_partial_result", "tool.execution_progress", "session.idle", "session.usage_record",
})  # fmt: skip
_INJECTED = ("current_datetime", "reminder", "system_reminder", "system-reminder", "agent_instructions")
_CUTS = {"session.compaction_complete": "compaction", "session.truncation": "compaction", "session.resume": "resume"}
#: The codes of an error with which a person or a rule did not let a call through.
_REFUSALS: dict[str, Status] = {"rejected": "rejected", "denied": "denied"}
_NOTES = frozenset({"session.error", "session.warning", "system.notification"})


class _Events(RecordLog):
    """One log while it is read."""

    def __init__(self) -> None:
        super().__init__()
        self._called: set[str] = set()
        self._handlers: dict[str, Callable[[Record, RecordPosition], SkippedRecord | None]] = {
            "session.start": self._started,
            "session.shutdown": self._ended,
            "user.message": lambda data, place: self.dialogue.add_text_or_skip(
                "prompt",
                place,
                text=cut_tags(text_in(data, "content") or "", _INJECTED),
                actor="user",
                empty="empty prompt",
            ),
            "assistant.message": self._answered,
            "assistant.reasoning": lambda data, place: self.dialogue.add_text_or_skip(
                "thought", place, text=text_in(data, "content") or "", actor=_actor(data), empty="empty thought"
            ),
            "tool.execution_start": self._called_tool,
            "tool.execution_complete": self._completed,
        }

    def end(self, path: Path) -> dict[str, Any]:
        """A log without an id of its own lies in a folder that is called after the session."""
        self.builder.note(id=path.parent.name if path.stem == "events" else None)
        return {}

    def take(self, record: Record, *, line: int) -> SkippedRecord | None:
        """Turns one event into steps, or says why there are none."""
        kind = text_in(record, "type") or "event without type"
        data = object_in(record, "data")
        place = RecordPosition(Source(line=line, id=text_in(record, "id")), parse_any_time(record.get("timestamp")))
        if kind in self._handlers:
            return self._handlers[kind](data, place)
        if kind == "abort":
            reason = text_in(data, "reason") or "stopped"
            self.dialogue.add("note", place, actor="user", text=f"aborted: {reason}", status="interrupted")
            return None
        if kind in _CUTS:
            self.dialogue.add("boundary", place, actor="system", arguments={"reason": _CUTS[kind]})
            return None
        if kind in _NOTES:
            text = text_in(data, "message") or text_in(data, "content") or ""
            return self.dialogue.add_text_or_skip("note", place, text=text, actor="system", empty=kind)
        self.builder.count_model(text_in(data, "newModel") if kind == "session.model_change" else None)
        return SkippedRecord(kind, known=kind in _SKIPPED)

    def _started(self, data: Record, place: RecordPosition) -> SkippedRecord:
        context = object_in(data, "context")
        self.builder.note(
            id=text_in(data, "sessionId"), version=text_in(data, "copilotVersion"), root=text_in(context, "cwd")
        )
        self.builder.count_model(text_in(data, "selectedModel"))
        self.builder.note_time(place.at)
        return SkippedRecord("session.start")

    def _ended(self, data: Record, place: RecordPosition) -> SkippedRecord:
        for model, metrics in sorted(object_in(data, "modelMetrics").items()):
            usage = object_in(metrics, "usage") if isinstance(metrics, dict) else {}
            fresh = count_in(usage, "inputTokens", "outputTokens", "cacheWriteTokens")
            self.builder.add_tokens(max(fresh - count_in(usage, "cacheReadTokens"), 0))
            self.builder.count_model(model)
        self.builder.note_time(place.at)
        return SkippedRecord("session.shutdown")

    def _answered(self, data: Record, place: RecordPosition) -> SkippedRecord | None:
        before = len(self.dialogue.steps)
        self.builder.count_model(text_in(data, "model"))
        actor = _actor(data)
        self.dialogue.add_text("thought", place, text=text_in(data, "reasoningText") or "", actor=actor)
        self.dialogue.add_text("message", place, text=text_in(data, "content") or "", actor=actor)
        for request in objects_in(data, "toolRequests"):
            self._call(request, place, tool=text_in(request, "name"), actor=actor)
        return None if len(self.dialogue.steps) > before else SkippedRecord("empty message")

    def _called_tool(self, data: Record, place: RecordPosition) -> SkippedRecord | None:
        if text_in(data, "toolCallId") in self._called:
            return SkippedRecord("start of an announced call")
        self._call(data, place, tool=text_in(data, "toolName"), actor=_actor(data))
        return None

    def _call(self, data: Record, place: RecordPosition, *, tool: str | None, actor: str) -> None:
        call_id = text_in(data, "toolCallId")
        if call_id in self._called:
            return
        if call_id:
            self._called.add(call_id)
        self.dialogue.call(place, tool, data.get("arguments"), tools=_TOOLS, call_id=call_id, actor=actor)

    def _completed(self, data: Record, place: RecordPosition) -> SkippedRecord | None:
        call_id = text_in(data, "toolCallId") or "call without id"
        if self.dialogue.has_result(call_id):
            return SkippedRecord("second result")
        call = self.dialogue.open_call(call_id)
        flag = data.get("success")
        failed = not flag if isinstance(flag, bool) else None
        error = object_in(data, "error")
        text = content_text(data.get("result")) or content_text(data.get("error")) or text_in(error, "message") or ""
        refusal, actor = _REFUSALS.get(text_in(error, "code") or ""), None if call else _actor(data)
        self.dialogue.end_call(call_id, place, text=text, failed=failed, status=refusal, actor=actor)
        return None


def _actor(data: Record) -> str:
    """A helper's events name the call that sent it."""
    parent = text_in(data, "parentToolCallId")
    return f"agent:{parent}" if parent else "agent"


class CopilotReader(RecordReader):
    """Reads ``~/.copilot/session-state/<id>/events.jsonl``."""

    name = "copilot"
    unfamiliar = "no line is an event with data and a parentId"
    log = _Events

    def is_own(self, head: LogHead) -> bool:
        """Whether a line is an event as only Copilot writes them."""
        return any(
            "." in (text_in(record, "type") or "") and isinstance(record.get("data"), dict) and "parentId" in record
            for record in head.records
        )
