"""Single records of a Claude Code log: their shared parts, tool calls, results, and facts about the whole session.

How a call came out is read from the flag, the exit code and Claude Code's own sentences, never from words in the
output. A result is marked ``is_error`` when a command failed, but also when a person said no, when a permission was
missing, when someone pressed escape, and when a parallel call failed first. Only the first is a failure of the
agent's; the others are recognised by sentences that the program writes in exactly one place each.

A session's helpers (`Delegates`): who was sent by which call, whose a line is, and what a helper answered.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

from msgspec.structs import replace

from helix_episodes.echo import OPENING, insights_in
from helix_episodes.light_imports import Regex
from helix_episodes.readers.claude_code.text_authors import cut_injected
from helix_episodes.readers.common.fields import (
    Record,
    RecordPosition,
    between,
    count_in,
    id_in,
    object_in,
    objects_in,
    parse_time,
    real_id,
    text_in,
)
from helix_episodes.readers.common.session_builder import path_parts
from helix_episodes.readers.common.tool_translation import COMMON_TOOLS, Translation, look, named, text_among, translate
from helix_episodes.session import Source

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    from helix_episodes.readers.common.tool_translation import Arguments, LoggedArguments, Translator
    from helix_episodes.session import Status, Step


# Known kinds that say nothing about what was done: the program's book-keeping.
SKIPPED_KINDS = frozenset({
    "summary", "ai-title", "custom-title", "agent-name", "agent-color", "agent-setting", "last-prompt", "mode",
    "permission-mode", "file-history-snapshot", "worktree-state", "relocated", "frame-link", "atis-latch", "tag",
    "progress", "system/turn_duration", "system/local_command", "system/stop_hook_summary", "system/informational",
    "system/api_error", "system/microcompact_boundary", "system/session_start", "system/away_summary",
    "system/memory_saved", "system/agents_killed", "system/permission_retry", "system/scheduled_task_fire",
    "api-request", "api-request-blob", "api-request-shape", "cost-state", "tools-used",
    "system/bridge_status", "system/task_started", "system/task_progress", "system/task_completed",
})  # fmt: skip
SKIPPED_BLOCKS = frozenset({"redacted_thinking", "fallback", "web_search_tool_result", "code_execution_tool_result"})


def place_of(record: Record, *, line: int, file: str | None) -> RecordPosition:
    """The record's place; its time is in UTC, and unknown when the log gives no zone."""
    return RecordPosition(Source(line=line, id=id_in(record, "uuid"), file=file), parse_time(record.get("timestamp")))


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


def translate_call(tool: str, arguments: LoggedArguments) -> tuple[Translation, ...]:
    """What a call represents, as :func:`helix_episodes.readers.common.tool_translation.translate` has it.

    >>> translate_call("Bash", {"command": "pytest", "run_in_background": True})
    (Translation(operation='run', arguments={'command': 'pytest', 'background': True}),)
    >>> translate_call("mcp__tracker__get_issue", {"id": "A-1"})
    (Translation(operation='look', arguments={'query': 'A-1'}),)
    """
    return translate(tool, arguments, tools=_TOOLS)


def _skill(arguments: LoggedArguments) -> tuple[Translation, ...]:
    """A skill, which the agent carries out itself."""
    name, _, rest = text_among(arguments, ("skill", "command")).strip().removeprefix("/").partition(" ")
    prompt = text_among(arguments, ("args",)) or rest
    return (Translation("delegate", {"agent": name, "prompt": prompt, "description": "", "inline": True}),)


def _task(arguments: LoggedArguments) -> tuple[Translation, ...]:
    """One entry of the list; which one a bare id means is filled in by the transcript that saw it made."""
    subject = text_among(arguments, ("subject",))
    entry: Arguments = {
        "items": [subject] if subject else [],
        "task": text_among(arguments, ("taskid",)),
        "state": text_among(arguments, ("status",)),
    }
    return (Translation("track", entry),)


_TOOLS: Mapping[str, Translator] = {
    **COMMON_TOOLS,
    **named("skill", "slashcommand", by=_skill),
    **named("taskcreate", "taskupdate", "tasklist", "taskget", by=_task),
    **named("lsp", "notebookread", "toolsearch", "listmcpresourcestool", "readmcpresourcetool", by=look),
    **named("killshell", "killbash", "bashoutput", "taskoutput", "agentoutputtool", "taskstop", by=look),
}


_REJECTED_BEGINNINGS = (
    "The user doesn't want to proceed with this tool use.",
    "The user doesn't want to take this action right now.",
    "User rejected tool use",
    "The agent proposed a plan that was rejected by the user.",
)
# What is between the program's sentence and the person's own words.
_WORDS_FOLLOW = ("the user said:\n", "The user provided the following reason for the rejection:")
# Not words of a person: the program reports that questions were declined.
_QUESTIONS_DECLINED = "The user wants to clarify these questions."

#: What kept a call from running, as newer versions name it; the other kinds are rules and modes of permission.
_DENIALS: dict[str, Status] = {"user-rejected": "rejected", "interrupted": "interrupted", "cancelled": "cancelled"}
_DENIED_BEGINNINGS = (
    "Claude requested permissions to", "This command requires approval", "Permission to use", "Permission for this",
    "Answer questions?", "This Bash command contains multiple operations.",
)  # fmt: skip
_DENIED_ANYWHERE = (
    "require approval:", "but you haven't granted it yet", "has been denied",
    "was blocked. For security, Claude Code", "denied this tool", "hook blocking error",
)  # fmt: skip
_INTERRUPTED = "[Request interrupted by user"
_ABORTED = "Command was aborted before completion"
_CANCELLED_BEGINNINGS = ("Sibling tool call errored", "Cancelled: parallel tool call")
_EXIT_CODE = re.compile(r"(?:Error: )?Exit code (-?\d{1,6})(?:\n|$)")
# Where the program's own sentence is, so that a file that merely quotes one is not taken for it.
_SENTENCE_SPAN = 600
# grep without a match, diff with a difference, test that is false: the program shows them as no error. All end with 1.
_HARMLESS_EXIT = 1


class CallResult(NamedTuple):
    """What the agent saw and how it came out; ``words`` are the person's who rejected the call."""

    text: str
    status: Status
    exit_code: int | None = None
    words: str = ""


def read_result(*, block: Mapping[str, Any], extra: object, denial: object, ran: bool) -> CallResult:
    """The result in a ``tool_result`` block.

    ``extra`` is the line's ``toolUseResult`` (an object, a text, a list or nothing), ``denial`` its ``toolDenialKind``;
    ``ran`` tells that the call was a shell command, whose success means exit code 0.
    """
    raw = result_text(block.get("content"))
    if denial:
        text = _unwrapped(raw)
        status = _DENIALS.get(str(denial), "denied")
        return CallResult(text, status, words=_words_of_rejection(text) if status == "rejected" else "")
    # The tool's own error object is a text, or has a flag.
    is_flagged = isinstance(extra, dict) and extra.get("is_error") is True
    own_error = extra.startswith("Error: ") if isinstance(extra, str) else is_flagged
    if block.get("is_error") is True or own_error:
        return _read_error(raw)
    text = cut_injected(raw)
    if isinstance(extra, dict) and extra.get("interrupted") is True:
        return CallResult(text, "interrupted")
    return CallResult(text, "ok", _success_code(extra) if ran else None)


def _read_error(raw: str) -> CallResult:
    text = _unwrapped(raw)
    span = text[:_SENTENCE_SPAN]
    if span.startswith(_REJECTED_BEGINNINGS):
        return CallResult(text, "rejected", words=_words_of_rejection(text))
    if span.startswith(_CANCELLED_BEGINNINGS):
        return CallResult(text, "cancelled")
    found = _EXIT_CODE.match(text)  # on the first line, with the output below it
    code, rest = (int(found[1]), text[found.end() :]) if found else (None, text)
    # The mark of an interruption comes first or last; a file's text between is not looked at.
    if text.startswith(_INTERRUPTED) or _INTERRUPTED in text[-100:] or _ABORTED in text[:200]:
        return CallResult(rest, "interrupted", code)
    if code is None and (span.startswith(_DENIED_BEGINNINGS) or any(mark in span for mark in _DENIED_ANYWHERE)):
        return CallResult(text, "denied")
    return CallResult(rest, "error", code)


def _unwrapped(raw: str) -> str:
    text = cut_injected(raw)
    if text.startswith("<tool_use_error>"):
        return between(text, "<tool_use_error>", "</tool_use_error>").strip() or text
    return text


def _words_of_rejection(text: str) -> str:
    for mark in _WORDS_FOLLOW:
        _, found, words = text.partition(mark)
        if found and not words.lstrip().startswith(_QUESTIONS_DECLINED):
            return words.strip()
    return ""


def _success_code(extra: object) -> int | None:
    """0, unless the command goes on in the background or ended with a harmless code."""
    if isinstance(extra, dict):
        if extra.get("backgroundTaskId"):
            return None
        if extra.get("returnCodeInterpretation"):
            return _HARMLESS_EXIT
    return 0


def plan_in(call: Step, extra: object) -> str:
    """The plan that was approved: as the result repeats it (a person may have changed it), else as it was handed in."""
    approved = extra.get("plan") if isinstance(extra, dict) else None
    return approved if isinstance(approved, str) and approved else str(call.arguments.get("plan", ""))


def was_created(text: str, extra: object) -> bool:
    """Whether a written file is new, by the result's type or, in old versions, by its sentence."""
    if isinstance(extra, dict):
        return extra.get("type") == "create"
    return text.startswith("File created successfully")


def answer_in(text: str, *, question: str) -> str:
    """The answer as the result words it: ``"question"="answer"``."""
    _, found, rest = text.partition(f'"{question}"="')
    return rest.partition('"')[0] if found else ""


def result_text(content: object) -> str:
    """The text of a message's or result's content, whichever of its shapes it has; pictures leave a mark."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    return "\n".join(part for block in content if (part := _block_text(block)))


def _block_text(block: object) -> str:
    if isinstance(block, str):
        return block
    if not isinstance(block, dict):
        return ""
    text = block.get("text")
    if isinstance(text, str):
        return text
    kind = block.get("type")
    return f"[{kind}]" if kind in ("image", "document") else ""


# A home folder, or anything above one, is no repository root: "/Users/x" has two parts.
_HOME_DEPTH = 2
_SYNTHETIC_MODEL = "<synthetic>"
#: The attachments that hooks make, and prompts that waited; the others show files, diagnostics, lists.
_FROM_HOOKS = ("hook_", "queued_command")
#: What a person's own commands printed is among the words of prompts.
_PRINTED = Regex(r"<((?:bash|local-command)-std(?:out|err))>[\s\S]*?</\1>")


class SessionFacts:
    """Gathers while the records go by."""

    def __init__(self) -> None:
        self.session_ids: Counter[str] = Counter()
        self.version: str | None = None
        self._folders: dict[str, None] = {}
        self._model_of: dict[str, str] = {}
        #: By answer what its last line says of its usage, and that line's id.
        self._usage_of: dict[str, tuple[Record, object]] = {}
        self._branches: Counter[str] = Counter()
        self._noted: tuple[object, ...] = ()
        self._session: str | None = None
        self._branch: str | None = None
        self._insights: dict[str, None] = {}

    def note(self, record: Record) -> None:
        """Takes in one record of the main conversation; nearly all say the same as the one before."""
        get = record.get
        noted = get("sessionId"), get("cwd"), get("gitBranch"), get("version")
        if noted != self._noted:
            self._noted = noted
            self._session, self._branch = id_in(record, "sessionId"), text_in(record, "gitBranch")
            if folder := text_in(record, "cwd"):
                self._folders[folder] = None
            self.version = text_in(record, "version") or self.version
        if self._session:
            self.session_ids[self._session] += 1
        if self._branch:
            self._branches[self._branch] += 1

    def note_usage(self, record: Record, message: Record, *, main: bool) -> None:
        """Takes in the model and tokens of one line of an answer.

        An answer is written as several lines with the same message id, each with the usage so far: the last counts.
        """
        key = text_in(message, "id") or text_in(record, "requestId") or text_in(record, "uuid")
        if key is None:
            return
        model = text_in(message, "model")
        if main and model and model != _SYNTHETIC_MODEL:
            self._model_of[key] = model
        if isinstance(usage := message.get("usage"), dict):
            self._usage_of[key] = usage, record.get("uuid")

    def with_tokens(self, steps: Iterable[Step]) -> Iterator[Step]:
        """The steps, of each answer the last with its tokens."""
        lines = ((line if isinstance(line, str) else "", usage) for usage, line in self._usage_of.values())
        left = {real_id(line) or "": _tokens_in(usage) for line, usage in lines}
        for step in steps:
            tokens = left.pop(step.source.id or "", None)
            yield step if tokens is None else replace(step, tokens=tokens)

    @property
    def branch(self) -> str | None:
        """The branch that most records name."""
        return self._branches.most_common(1)[0][0] if self._branches else None

    def note_injected(self, record: Record) -> None:
        """Takes in the insights that a memory's hook put before the agent with this record.

        Most of these records give no step (attachments, reminders), so that no one else would hear of them. What a
        tool printed and what a file holds is in such records too, and is nothing that a hook said.
        """
        self._insights.update(dict.fromkeys(insights_in(_texts_in(record))))

    @property
    def injected(self) -> tuple[str, ...]:
        """The names of the insights that were put in, in order."""
        return tuple(self._insights)

    @property
    def model(self) -> str | None:
        """The model that gave most answers of the main conversation; the first seen among equals."""
        counts = Counter(self._model_of.values())
        return counts.most_common(1)[0][0] if counts else None

    @property
    def tokens(self) -> int | None:
        """Tokens written and newly read: output, input and input put into the cache, helpers' included.

        Reads from the cache are left out: they repeat the same text with every call and would drown the rest.
        """
        return sum(_tokens_in(usage) for usage, _ in self._usage_of.values()) if self._usage_of else None

    @property
    def root(self) -> str | None:
        """The folder the session began in, or one above it that the agent later worked in."""
        folders = list(self._folders)
        if not folders:
            return None
        first = path_parts(folders[0])
        holds = ((folder, path_parts(folder)) for folder in folders)
        above = [folder for folder, parts in holds if parts == first[: len(parts)] and len(parts) > _HOME_DEPTH]
        return min(above, key=len, default=folders[0])

    def session_id(self, path: Path) -> str:
        """The file's name when its records bear it, else the id that most of them bear, else the file's name."""
        if path.stem in self.session_ids or not self.session_ids:
            return path.stem
        return self.session_ids.most_common(1)[0][0]


def _tokens_in(usage: Record) -> int:
    return count_in(usage, "output_tokens", "input_tokens", "cache_creation_input_tokens")


def _texts_in(record: Record) -> list[object]:
    """Where a person's prompt or a hook may name insights in a record; nothing that a tool or a shell printed."""
    if text_in(record, "type") == "attachment":
        attachment = object_in(record, "attachment")
        return [attachment] if (text_in(attachment, "type") or "").startswith(_FROM_HOOKS) else []
    blocks = blocks_of(message_of(record)) or blocks_of(record) or []
    texts = (text_in(block, "text") or "" for block in blocks if block.get("type") == "text")
    return [_PRINTED.sub("", text) for text in texts if OPENING in text]


# The note that the program puts below a helper's answer, for the agent to call it again.
_TAIL = re.compile(r"\n*agentId: (\w{1,64})\b[^\n]{0,200}(?:\n<usage>[\s\S]{0,400}</usage>)?\s*\Z")
# The note is short; only the end of the answer is searched, whatever its length.
_TAIL_SPAN = 800
# Enough of a record's id to distinguish a session's side conversations.
_ROOT_LETTERS = 8


class Delegates:
    """Who was sent by which call, learnt from results, and which inline lines are whose."""

    def __init__(self) -> None:
        self._call_of: dict[str, str] = {}
        self._root_of: dict[str, str] = {}

    @property
    def names(self) -> tuple[str, ...]:
        """The ids of the helpers and background tasks that results named."""
        return tuple(self._call_of)

    def call_of(self, helper: str) -> str | None:
        """The call that sent this helper, once its result (or launch message) was read."""
        return self._call_of.get(helper)

    def actor_inline(self, record: Record) -> str:
        """``agent``, or for a side conversation ``agent:`` and its helper's id, else the id of its first line."""
        if record.get("isSidechain") is not True:
            return "agent"
        uuid = id_in(record, "uuid") or "?"
        root = self._root_of.get(id_in(record, "parentUuid") or "", uuid)
        self._root_of[uuid] = root
        return f"agent:{id_in(record, 'agentId') or root[:_ROOT_LETTERS]}"

    def remember_background(self, extra: object, *, call_id: str | None) -> None:
        """A command that goes on in the background is named by its task's id when it ends."""
        task = text_in(extra, "backgroundTaskId") if isinstance(extra, dict) else None
        if task and call_id:
            self._call_of[task] = call_id

    def answer(self, text: str, *, extra: object, call_id: str | None) -> str:
        """A helper's answer without the program's note below it; remembers whose answer it is."""
        # The report by itself: newer versions put words for the agent around it in the result.
        blocks = objects_in(extra, "content") if isinstance(extra, dict) else []
        text = (text_in(blocks[-1], "text") if blocks else "") or text
        tail = _TAIL.search(text[-_TAIL_SPAN:])
        helper = id_in(extra, "agentId") if isinstance(extra, dict) else None
        if helper is None and tail is not None:
            helper = tail[1]
        if helper and call_id:
            self._call_of[helper] = call_id
        if tail is None:
            return text
        return text[: max(len(text) - _TAIL_SPAN, 0) + tail.start()]
