"""Dialects: how the agents that log messages with roles differ from each other, as data.

Each writes records of its own kinds around the same messages. A dialect says which records hold a message and where,
which tell of the session, which mark a cut, and which say nothing of what happened.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping  # noqa: TC003  (a NamedTuple's fields)
from typing import NamedTuple, TypeAlias

from helix_episodes.readers.fields import Record, object_in, objects_in, text_in
from helix_episodes.readers.tags import between, cut_tags
from helix_episodes.readers.vocabulary import COMMON, Translator, look, named, run, write

#: Keys that lead to a value, one below the other.
Path: TypeAlias = tuple[str, ...]

_REMINDERS = ("system-reminder", "system-notification", "hook-context")


class Dialect(NamedTuple):
    """One agent's way of logging messages.

    ``is_own`` recognises a record that only this agent writes; ``messages`` maps a record's kind to the key below which
    its message stands (empty: the record is the message), ``roles`` to the role that a kind stands for. ``facts`` are
    the ways to the session's id, version, folder and model. ``parent`` names the fields with a record's id and that of
    the one before it. ``cuts`` maps kinds to the reason of a boundary, ``tells`` are those that are nobody's words but
    worth keeping. ``heard`` makes of a text on a user's line what was typed.
    ``document`` is the key of the messages where the log is one JSON document. ``beside`` names a file of facts.
    """

    name: str
    is_own: Callable[[Record], bool]
    unfamiliar: str
    messages: Mapping[str, str] = {}
    roles: Mapping[str, str] = {}
    facts: Mapping[str, tuple[Path, ...]] = {}
    times: tuple[str, ...] = ("timestamp",)
    parent: tuple[str, str] | None = None
    cuts: Mapping[str, str] = {}
    tells: frozenset[str] = frozenset()
    skipped: frozenset[str] = frozenset()
    heard: Callable[[str], str] = lambda text: cut_tags(text, _REMINDERS)
    tools: Mapping[str, Translator] = COMMON
    document: str | None = None
    beside: str | None = None
    parts_folder: str | None = None


def _content_of(record: Record) -> object:
    return object_in(record, "message").get("content")


def _is_cursor(record: Record) -> bool:
    return (
        text_in(record, "role") in {"user", "assistant"}
        and isinstance(_content_of(record), list)
        and "uuid" not in record
    )


def _heard_by_cursor(text: str) -> str:
    """The query itself, of a text that the editor has put its context around."""
    return between(text, "<user_query>", "</user_query>").strip() or cut_tags(text, _REMINDERS)


def _is_droid(record: Record) -> bool:
    if record.get("type") == "session_start":
        return text_in(record, "id") is not None and "title" in record
    stream = text_in(record, "type") in {"message", "tool_call", "tool_result", "completion", "system"}
    return stream and any(name in record for name in ("session_id", "sessionId")) and "uuid" not in record


def _is_pi(record: Record) -> bool:
    return record.get("type") == "session" and isinstance(record.get("version"), int) and "cwd" in record


def _is_qwen(record: Record) -> bool:
    own = isinstance(object_in(record, "message").get("parts"), list) or "systemPayload" in record
    return own and "uuid" in record and "sessionId" in record


def _heard_by_qwen(text: str) -> str:
    return cut_tags(text, (*_REMINDERS, "qwen:user-prompt-submit-context"))


def _is_grok(record: Record) -> bool:
    kind = record.get("type")
    if kind == "user":
        return "prompt_index" in record or "synthetic_reason" in record
    if kind == "reasoning":
        return isinstance(record.get("summary"), list) and "payload" not in record
    return kind == "backend_tool_call" or (kind == "assistant" and "model_id" in record)


def _is_hermes(record: Record) -> bool:
    return "session_id" in record and "platform" in record and bool(objects_in(record, "messages"))


def _is_chat(record: Record) -> bool:
    if record.get("type") == "tool_call":
        return "function" in record and "arguments" in record
    spoken = text_in(record, "role") in {"user", "assistant"} and isinstance(record.get("content"), str)
    return spoken and "timestamp" in record and "type" not in record


CURSOR = Dialect(
    name="cursor",
    is_own=_is_cursor,
    unfamiliar="no line has the role and message of its transcripts",
    messages={"": "message"},
    skipped=frozenset({"turn_ended"}),
    heard=_heard_by_cursor,
    tools={**COMMON, **named("readfile", "listdir", "codebasesearch", "grepsearch", "filesearch", by=look)},
    parts_folder="subagents",
)
DROID = Dialect(
    name="droid",
    is_own=_is_droid,
    unfamiliar="no session_start with a title, no line of its stream",
    messages={"message": "message", "tool_call": "", "tool_result": "", "completion": ""},
    roles={"tool_call": "call", "tool_result": "tool", "completion": "assistant"},
    facts={
        "id": (("session_id",), ("sessionId",)),
        "root": (("cwd",),),
        "model": (("model",),),
    },
    cuts={"compaction_state": "compaction"},
    tells=frozenset({"error"}),
    skipped=frozenset({"session_start", "system", "todo_state"}),
    tools={**COMMON, "create": write},
)
PI = Dialect(
    name="pi",
    is_own=_is_pi,
    unfamiliar="no session line with a version and a folder",
    messages={"message": "message"},
    facts={"root": (("cwd",),), "model": (("message", "model"), ("modelId",))},
    parent=("id", "parentId"),
    cuts={"compaction": "compaction"},
    skipped=frozenset(
        {"session", "model_change", "thinking_level_change", "custom", "custom_message", "label", "session_info"}
    ),
    tools={**COMMON, **named("find", by=look), **named("runterminal", "shellexec", by=run)},
)
QWEN = Dialect(
    name="qwen",
    is_own=_is_qwen,
    unfamiliar="no line has the uuid, session and parts of its records",
    messages={"user": "message", "assistant": "message", "tool_result": "message"},
    roles={"tool_result": "tool"},
    facts={"id": (("sessionId",),), "root": (("cwd",),), "version": (("version",),), "model": (("model",),)},
    parent=("uuid", "parentUuid"),
    cuts={"system/rewind": "rewind", "system/chat_compression": "compaction"},
    tells=frozenset({"user/notification"}),
    skipped=frozenset(
        {
            *("system/ui_telemetry", "system/custom_title", "system/slash_command", "system/at_command"),
            *("system/session_artifact_snapshot", "system/file_history_snapshot"),
        }
    ),
    heard=_heard_by_qwen,
    tools={**COMMON, **named("readfile", "readmanyfiles", "listdirectory", "searchfilecontent", by=look)},
)
GROK = Dialect(
    name="grok",
    is_own=_is_grok,
    unfamiliar="no line has its reasoning, model_id or prompt_index",
    messages={"user": "", "assistant": "", "tool_result": "", "reasoning": ""},
    roles={"user": "user", "assistant": "assistant", "tool_result": "tool", "reasoning": "thought"},
    facts={
        "id": (("info", "id"),),
        "root": (("info", "cwd"),),
        "model": (("model_id",),),
        "version": (("agent_version",),),
    },
    times=("timestamp", "created_at", "updated_at"),
    skipped=frozenset({"system", "backend_tool_call"}),
    tools={**COMMON, **named("readfile", "listdir", by=look)},
    beside="summary.json",
)
HERMES = Dialect(
    name="hermes",
    is_own=_is_hermes,
    unfamiliar="it is no document with a session_id, a platform and messages",
    messages={"": ""},
    facts={
        "id": (("session_id",),),
        "root": (("cwd",), ("model_config", "cwd")),
        "model": (("model",),),
    },
    times=("timestamp", "session_start", "last_updated"),
    document="messages",
)
CHAT = Dialect(
    name="chat",
    is_own=_is_chat,
    unfamiliar="no line has a timestamp with a role and a content, or with a called function",
    messages={"": "", "tool_call": "", "tool_result": ""},
    roles={"tool_call": "call", "tool_result": "tool"},
    facts={"model": (("model",),)},
    tells=frozenset({"error"}),
)

DIALECTS = (DROID, PI, QWEN, GROK, HERMES, CURSOR, CHAT)
