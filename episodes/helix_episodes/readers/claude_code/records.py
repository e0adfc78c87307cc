"""The parts of a Claude Code record that every kind shares, read tolerantly: a missing or odd field is ``None``."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, NamedTuple

from helix_episodes.session import Source

Record = dict[str, Any]

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


class Place(NamedTuple):
    """Where a record stands in the log and in time."""

    source: Source
    at: datetime | None


def place_of(record: Record, *, line: int, file: str | None) -> Place:
    """The record's place; its time is in UTC, and unknown when the log gives no zone."""
    return Place(Source(line=line, id=text_in(record, "uuid"), file=file), time_of(record.get("timestamp")))


def time_of(value: object) -> datetime | None:
    """The moment in UTC, or ``None`` when there is none or its zone is not said.

    >>> time_of("2026-01-05T09:00:00.000Z")
    datetime.datetime(2026, 1, 5, 9, 0, tzinfo=datetime.timezone.utc)
    >>> time_of("2026-01-05T09:00:00") is None
    True
    """
    if not isinstance(value, str):
        return None
    try:
        moment = datetime.fromisoformat(value)
        return None if moment.tzinfo is None else moment.astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def text_in(record: Record, name: str) -> str | None:
    """The field when it is a text that is not empty."""
    value = record.get(name)
    return value if isinstance(value, str) and value else None


def message_of(record: Record) -> Record:
    """The record's message, empty when it has none."""
    message = record.get("message")
    return message if isinstance(message, dict) else {}


def blocks_of(message: Record) -> list[Record] | None:
    """The content as blocks, a bare text being one; ``None`` when there is no content at all."""
    content = message.get("content")
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    if isinstance(content, list):
        return [block for block in content if isinstance(block, dict)]
    return None
