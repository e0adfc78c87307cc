"""The parts of a Claude Code record that every kind shares, read tolerantly: a missing or odd field is ``None``."""

from __future__ import annotations

from helix_episodes.readers.fields import Place, Record, object_in, text_in, time_of
from helix_episodes.session import Source

# Known kinds that say nothing about what was done: the program's book-keeping.
SKIPPED_KINDS = frozenset(
    {
        "summary",
        "ai-title",
        "custom-title",
        "agent-name",
        "agent-color",
        "agent-setting",
        "last-prompt",
        "mode",
        "permission-mode",
        "file-history-snapshot",
        "worktree-state",
        "relocated",
        "frame-link",
        "atis-latch",
        "tag",
        "progress",
        "system/turn_duration",
        "system/local_command",
        "system/stop_hook_summary",
        "system/informational",
        "system/api_error",
        "system/microcompact_boundary",
        "system/session_start",
        "system/away_summary",
        "system/memory_saved",
        "system/agents_killed",
        "system/permission_retry",
        "system/scheduled_task_fire",
        "system/bridge_status",
        "system/task_started",
        "system/task_progress",
        "system/task_completed",
    }
)
SKIPPED_BLOCKS = frozenset({"redacted_thinking", "fallback", "web_search_tool_result", "code_execution_tool_result"})


def place_of(record: Record, *, line: int, file: str | None) -> Place:
    """The record's place; its time is in UTC, and unknown when the log gives no zone."""
    return Place(Source(line=line, id=text_in(record, "uuid"), file=file), time_of(record.get("timestamp")))


def message_of(record: Record) -> Record:
    """The record's message, empty when it has none."""
    return object_in(record, "message")


def blocks_of(message: Record) -> list[Record] | None:
    """The content as blocks, a bare text being one; ``None`` when there is no content at all."""
    content = message.get("content")
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    if isinstance(content, list):
        return [block for block in content if isinstance(block, dict)]
    return None
