"""Logs of messages with roles: seven agents, one reader (``docs/reference/formats/messages.md``).

Each agent writes records of its own kinds around the same messages. A `Dialect` says which records hold a message and
where, which describe the session, which mark a cut, and which say nothing of what happened.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from helix_episodes.readers.common.fields import (
    Record,
    RecordPosition,
    between,
    cut_tags,
    object_in,
    objects_in,
    parse_any_time,
    text_at,
    text_in,
)
from helix_episodes.readers.common.json_with_lines import read_json_with_lines, set_step_lines
from helix_episodes.readers.common.jsonl import SkippedRecord, read_object, read_records
from helix_episodes.readers.common.message_parts import (
    CallPart,
    MessagePart,
    OtherPart,
    ResultPart,
    TextPart,
    ThoughtPart,
    content_text,
    read_call,
    read_parts,
    read_result,
    says_new_file,
)
from helix_episodes.readers.common.session_builder import SessionBuilder
from helix_episodes.readers.common.tool_translation import COMMON_TOOLS, Translator, look, named, run, write
from helix_episodes.session import Source

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from helix_episodes.readers.base import LogHead
    from helix_episodes.readers.common.json_with_lines import JsonNode
    from helix_episodes.readers.common.session_builder import Dialogue
    from helix_episodes.session import Session, Status


_REMINDERS = ("system-reminder", "system-notification", "hook-context")


class Dialect(NamedTuple):
    """One agent's way of logging messages.

    ``is_own`` recognises a record that only this agent writes; ``messages`` maps a record's kind to the key below which
    its message is (empty: the record is the message), ``roles`` to the role that a kind represents. ``facts`` are
    the paths of keys to the session's id, version, folder and model. ``parent`` names the fields with a record's id and
    that of the one before it. ``cuts`` maps kinds to the reason of a boundary, ``notes`` are those that no one said
    but that are worth keeping. ``typed_in`` makes of a text on a user's line what was typed.
    ``document`` is the key of the messages where the log is one JSON document. ``facts_file`` names a file of facts.
    """

    name: str
    is_own: Callable[[Record], bool]
    unfamiliar: str
    messages: Mapping[str, str] = {}
    roles: Mapping[str, str] = {}
    facts: Mapping[str, tuple[str, ...]] = {}
    times: tuple[str, ...] = ("timestamp",)
    parent: tuple[str, str] | None = None
    cuts: Mapping[str, str] = {}
    notes: frozenset[str] = frozenset()
    skipped: frozenset[str] = frozenset()
    typed_in: Callable[[str], str] = lambda text: cut_tags(text, _REMINDERS)
    tools: Mapping[str, Translator] = COMMON_TOOLS
    document: str | None = None
    facts_file: str | None = None
    parts_folder: str | None = None


def _is_droid(record: Record) -> bool:
    if record.get("type") == "session_start":
        return text_in(record, "id") is not None and "title" in record
    stream = text_in(record, "type") in {"message", "tool_call", "tool_result", "completion", "system"}
    return stream and any(name in record for name in ("session_id", "sessionId")) and "uuid" not in record


def _is_qwen(record: Record) -> bool:
    own = isinstance(object_in(record, "message").get("parts"), list) or "systemPayload" in record
    return own and "uuid" in record and "sessionId" in record


def _is_grok(record: Record) -> bool:
    kind = record.get("type")
    if kind == "user":
        return "prompt_index" in record or "synthetic_reason" in record
    if kind == "reasoning":
        return isinstance(record.get("summary"), list) and "payload" not in record
    return kind == "backend_tool_call" or (kind == "assistant" and "model_id" in record)


def _is_chat(record: Record) -> bool:
    if record.get("type") == "tool_call":
        return "function" in record and "arguments" in record
    spoken = text_in(record, "role") in {"user", "assistant"} and isinstance(record.get("content"), str)
    return spoken and "timestamp" in record and "type" not in record


_QWEN_SKIPPED = frozenset({
    "system/ui_telemetry", "system/custom_title", "system/slash_command", "system/at_command",
    "system/session_artifact_snapshot", "system/file_history_snapshot",
})  # fmt: skip


CURSOR = Dialect(
    name="cursor",
    is_own=lambda record: (
        text_in(record, "role") in {"user", "assistant"}
        and isinstance(object_in(record, "message").get("content"), list)
        and "uuid" not in record
    ),
    unfamiliar="no line has the role and message of its transcripts",
    messages={"": "message"},
    skipped=frozenset({"turn_ended"}),
    # The query itself, without the context that the editor puts around it.
    typed_in=lambda text: between(text, "<user_query>", "</user_query>").strip() or cut_tags(text, _REMINDERS),
    tools={**COMMON_TOOLS, **named("readfile", "listdir", "codebasesearch", "grepsearch", "filesearch", by=look)},
    parts_folder="subagents",
)
DROID = Dialect(
    name="droid",
    is_own=_is_droid,
    unfamiliar="no session_start with a title, no line of its stream",
    messages={"message": "message", "tool_call": "", "tool_result": "", "completion": ""},
    roles={"tool_call": "call", "tool_result": "tool", "completion": "assistant"},
    facts={"id": ("session_id", "sessionId"), "root": ("cwd",), "model": ("model",)},
    cuts={"compaction_state": "compaction"},
    notes=frozenset({"error"}),
    skipped=frozenset({"session_start", "system", "todo_state"}),
    tools={**COMMON_TOOLS, "create": write},
)
PI = Dialect(
    name="pi",
    is_own=lambda record: (
        record.get("type") == "session" and isinstance(record.get("version"), int) and "cwd" in record
    ),
    unfamiliar="no session line with a version and a folder",
    messages={"message": "message"},
    facts={"root": ("cwd",), "model": ("message.model", "modelId")},
    parent=("id", "parentId"),
    cuts={"compaction": "compaction"},
    skipped=frozenset(
        {"session", "model_change", "thinking_level_change", "custom", "custom_message", "label", "session_info"}
    ),
    tools={**COMMON_TOOLS, **named("find", by=look), **named("runterminal", "shellexec", by=run)},
)
QWEN = Dialect(
    name="qwen",
    is_own=_is_qwen,
    unfamiliar="no line has the uuid, session and parts of its records",
    messages={"user": "message", "assistant": "message", "tool_result": "message"},
    roles={"tool_result": "tool"},
    facts={"id": ("sessionId",), "root": ("cwd",), "version": ("version",), "model": ("model",)},
    parent=("uuid", "parentUuid"),
    cuts={"system/rewind": "rewind", "system/chat_compression": "compaction"},
    notes=frozenset({"user/notification"}),
    skipped=_QWEN_SKIPPED,
    typed_in=lambda text: cut_tags(text, (*_REMINDERS, "qwen:user-prompt-submit-context")),
    tools={**COMMON_TOOLS, **named("readfile", "readmanyfiles", "listdirectory", "searchfilecontent", by=look)},
)
GROK = Dialect(
    name="grok",
    is_own=_is_grok,
    unfamiliar="no line has its reasoning, model_id or prompt_index",
    messages={"user": "", "assistant": "", "tool_result": "", "reasoning": ""},
    roles={"user": "user", "assistant": "assistant", "tool_result": "tool", "reasoning": "thought"},
    facts={"id": ("info.id",), "root": ("info.cwd",), "model": ("model_id",), "version": ("agent_version",)},
    times=("timestamp", "created_at", "updated_at"),
    skipped=frozenset({"system", "backend_tool_call"}),
    tools={**COMMON_TOOLS, **named("readfile", "listdir", by=look)},
    facts_file="summary.json",
)
HERMES = Dialect(
    name="hermes",
    is_own=lambda record: "session_id" in record and "platform" in record and bool(objects_in(record, "messages")),
    unfamiliar="it is no document with a session_id, a platform and messages",
    messages={"": ""},
    facts={"id": ("session_id",), "root": ("cwd", "model_config.cwd"), "model": ("model",)},
    times=("timestamp", "session_start", "last_updated"),
    document="messages",
)
CHAT = Dialect(
    name="chat",
    is_own=_is_chat,
    unfamiliar="no line has a timestamp with a role and a content, or with a called function",
    messages={"": "", "tool_call": "", "tool_result": ""},
    roles={"tool_call": "call", "tool_result": "tool"},
    facts={"model": ("model",)},
    notes=frozenset({"error"}),
)


_PEOPLE = frozenset({"user", "human"})
_AGENTS = frozenset({"assistant", "model", "gemini", "agent"})
_TOOLS = frozenset({"tool", "toolResult", "tool_result"})


class MessageConversation(NamedTuple):
    """Turns messages into steps. ``typed_in`` makes of a text on a user's line what the person typed."""

    dialogue: Dialogue
    tools: Mapping[str, Translator]
    typed_in: Callable[[str], str]
    actor: str = "agent"

    def take(
        self, message: Record, place: RecordPosition, *, role: str, status: str | None = None
    ) -> SkippedRecord | None:
        """Adds the steps of a message, or says why there are none. ``status`` is the log's word on a result."""
        if role in _TOOLS and not isinstance(message.get("parts"), list):
            self.answer(read_result(message), place, status=status)
            return None
        if role not in _PEOPLE | _AGENTS | _TOOLS:
            return SkippedRecord(f"message of {role}", known=role in {"system", "session_meta", "developer"})
        passed = SkippedRecord("empty message")
        before = len(self.dialogue.steps)
        for part in read_parts(message):
            passed = self._part(part, place, typed=role in _PEOPLE, status=status) or passed
        return None if len(self.dialogue.steps) > before else passed

    def call(self, call: CallPart, place: RecordPosition) -> None:
        """Adds a call."""
        self.dialogue.call(place, call.tool, call.arguments, tools=self.tools, call_id=call.id, actor=self.actor)

    def answer(self, answer: ResultPart, place: RecordPosition, *, status: str | None = None) -> None:
        """Adds a result. Where calls have no ids, it is the oldest open one's, whatever id the result has."""
        oldest = self.dialogue.open_call(None)
        nameless = oldest is not None and (oldest.call_id or "").startswith("line-")
        call_id = None if nameless and not self.dialogue.is_open(answer.id) else answer.id
        failed = {"success": False, "error": True}.get(status or "", answer.failed)
        outcome: Status | None = "cancelled" if status == "cancelled" else None
        if says_new_file(answer.text):
            self.dialogue.mark_created(call_id)
        self.dialogue.end_call(
            call_id, place, text=answer.text, failed=failed, exit_code=answer.exit_code, status=outcome
        )

    def prompt(self, text: str, place: RecordPosition) -> SkippedRecord | None:
        """Adds what a person typed; a helper's instruction is not a person's words."""
        if self.actor != "agent":
            self.dialogue.add_text("note", place, text=text, actor=self.actor)
            return None
        spoken = self.typed_in(text)
        return self.dialogue.add_text_or_skip("prompt", place, text=spoken, actor="user", empty="injected text")

    def _part(
        self, part: MessagePart, place: RecordPosition, *, typed: bool, status: str | None
    ) -> SkippedRecord | None:
        match part:
            case TextPart(text):
                if typed:
                    return self.prompt(text, place)
                self.dialogue.add_text("message", place, text=text, actor=self.actor)
            case ThoughtPart(text):
                self.dialogue.add_text("thought", place, text=text, actor=self.actor)
            case CallPart():
                self.call(part, place)
            case ResultPart():
                self.answer(part, place, status=status)
            case OtherPart(kind, known):
                return SkippedRecord(f"part {kind}", known)
        return None


class MessagesReader:
    """Reads the logs of one dialect."""

    def __init__(self, dialect: Dialect) -> None:
        self.name = dialect.name
        self.suffixes = (".json",) if dialect.document else (".jsonl",)
        self._dialect = dialect

    def sniff(self, head: LogHead) -> str | None:
        """``None`` when a record is as only this agent writes them, else why not."""
        if self._dialect.document:
            own = isinstance(head.document, dict) and self._dialect.is_own(head.document)
        else:
            own = any(self._dialect.is_own(record) for record in head.records)
        return None if own else self._dialect.unfamiliar

    def is_part(self, path: Path) -> bool:
        """Whether this is a helper's transcript, in the folder next to its session's log."""
        return self._dialect.parts_folder is not None and path.parent.name == self._dialect.parts_folder

    def read(self, path: Path) -> Iterator[Session]:
        """The one session in the log."""
        log = _Log(self._dialect, path)
        if self._dialect.document is None:
            for line, record in read_records(path, ledger=log.builder.ledger):
                log.take(record, line=line)
        else:
            log.take_document(read_json_with_lines(path), self._dialect.document)
        document = self._dialect.document is not None
        # OpenClaw runs pi and logs as pi does, in a folder of its own.
        agent = "openclaw" if self.name == "pi" and ".openclaw" in path.parts else self.name
        yield log.builder.session(path, reader=self.name, agent=agent, rewritten=document)


DroidReader = partial(MessagesReader, DROID)
PiReader = partial(MessagesReader, PI)
QwenReader = partial(MessagesReader, QWEN)
GrokReader = partial(MessagesReader, GROK)
HermesReader = partial(MessagesReader, HERMES)
CursorReader = partial(MessagesReader, CURSOR)
ChatReader = partial(MessagesReader, CHAT)


class _Log:
    """One log while it is read."""

    def __init__(self, dialect: Dialect, path: Path) -> None:
        self.builder = SessionBuilder()
        self._dialect = dialect
        self._conversation = MessageConversation(self.builder.dialogue, tools=dialect.tools, typed_in=dialect.typed_in)
        self._steps_at: dict[str, int] = {}
        if dialect.facts_file:
            self.learn(read_object(path.with_name(dialect.facts_file)) or {})

    def learn(self, record: Record) -> None:
        """Notes what a record says of the session as a whole."""
        found = {
            name: next((text for path in paths if (text := text_at(record, path))), None)
            for name, paths in self._dialect.facts.items()
        }
        self.builder.note(id=found.get("id"), version=found.get("version"), root=found.get("root"))
        self.builder.count_model(found.get("model"))
        for name in self._dialect.times:
            self.builder.note_time(parse_any_time(record.get(name)))

    def take_document(self, document: JsonNode, key: str) -> None:
        """Takes in the messages of a log that is one document."""
        self.learn(document.record)
        for node in document.get(key).items:
            since = len(self.builder.dialogue.steps)
            self.take(node.record, line=node.line)
            set_step_lines(self.builder.dialogue, node, since=since)

    def take(self, record: Record, *, line: int) -> None:
        """Turns one record into steps, or enters in the ledger why there are none."""
        self.learn(record)
        if text_in(record, "type") in {"session", "session_start"}:
            self.builder.note(id=text_in(record, "id"))
        own = text_in(record, self._dialect.parent[0] if self._dialect.parent else "id")
        at = next((at for name in self._dialect.times if (at := parse_any_time(record.get(name)))), None)
        place = RecordPosition(Source(line=line, id=own), at)
        self.builder.ledger.enter(self._translate(record, place))
        if own:  # how far the session had come, for a prompt that goes back to this record
            self._steps_at[own] = len(self.builder.dialogue.steps)

    def _translate(self, record: Record, place: RecordPosition) -> SkippedRecord | None:
        dialect = self._dialect
        for kind in _kinds(record):
            if kind in dialect.cuts:
                self._cut(dialect.cuts[kind], place)
                return None
            if kind in dialect.notes:
                text = content_text(object_in(record, "message") or record) or text_in(record, "message") or ""
                text = text or content_text(object_in(record, "message").get("parts"))
                return self.builder.dialogue.add_text_or_skip(
                    "note", place, text=text, actor="system", empty="empty note"
                )
            if kind in dialect.skipped:
                return SkippedRecord(kind)
            if kind in dialect.messages:
                return self._message(record, place, kind=kind)
        return SkippedRecord(_kinds(record)[0] or "record without type", known=False)

    def _message(self, record: Record, place: RecordPosition, *, kind: str) -> SkippedRecord | None:
        inner = object_in(record, self._dialect.messages[kind]) if self._dialect.messages[kind] else record
        message = inner or record
        role = self._dialect.roles.get(kind) or text_in(message, "role") or text_in(record, "role") or kind
        if role == "call":
            self._conversation.call(read_call(record | object_in(record, "function")), place)
            return None
        if role == "thought":
            self.builder.dialogue.add_text("thought", place, text=content_text(record.get("summary")))
            return None
        if "synthetic_reason" in record:
            return SkippedRecord("text of the program")
        if role == "user":
            self._mark_rewind(record, place)
            if text_in(record, "prior_turn_interrupt"):
                self.builder.dialogue.add(
                    "note", place, text="the turn before was stopped", actor="user", status="interrupted"
                )
        typed = object_in(record, "systemPayload").get("displayText")
        if role == "user" and isinstance(typed, str) and typed:
            return self._conversation.prompt(typed, place)
        text = text_in(message, "text") or text_in(message, "finalText")
        if text and "content" not in message and "parts" not in message:
            message = message | {"content": text}
        status = text_in(object_in(record, "toolCallResult"), "status")
        return self._conversation.take(message, place, role=role, status=status)

    def _cut(self, reason: str, place: RecordPosition) -> None:
        self.builder.dialogue.add("boundary", place, actor="system", arguments={"reason": reason})

    def _mark_rewind(self, record: Record, place: RecordPosition) -> None:
        """A prompt below an earlier record than the last one: the person went back and began again."""
        if self._dialect.parent is None:
            return
        steps = self.builder.dialogue.steps
        begun = self._steps_at.get(text_in(record, self._dialect.parent[1]) or "", len(steps))
        if begun < len(steps) and steps[-1].kind != "boundary":
            self._cut("rewind", place)


def _kinds(record: Record) -> tuple[str, ...]:
    """What a record may be listed as: by type and subtype, by type alone."""
    kind = str(record.get("type") or "")
    subtype = text_in(record, "subtype")
    return (f"{kind}/{subtype}", kind) if subtype else (kind,)
