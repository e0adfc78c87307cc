"""Codex: one JSON object per line, one rollout file per session (``docs/reference/formats/codex.md``).

Records become steps line by line, in the order in which the program wrote them. The same message may be in a rollout as
the model's item, as the program's event and as a completed item of a newer kind. And what is under the user's role is
often the program's: the project's rules, the environment, a reminder.
"""

from __future__ import annotations

import re
from collections import Counter
from itertools import chain
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from helix_episodes.readers.base import RecordLog, RecordReader
from helix_episodes.readers.codex.calls import RolloutCalls
from helix_episodes.readers.codex.outputs import output_text
from helix_episodes.readers.common.fields import (
    Record,
    RecordPosition,
    count_in,
    id_in,
    object_in,
    objects_in,
    parse_time,
    text_in,
)
from helix_episodes.readers.common.jsonl import LineLedger, SkippedRecord
from helix_episodes.readers.common.session_builder import fit_id
from helix_episodes.readers.common.tool_translation import Translation
from helix_episodes.session import Source

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from helix_episodes.readers.base import LogHead
    from helix_episodes.readers.common.session_builder import Dialogue
    from helix_episodes.session import Step, StepKind

    Handler = Callable[[Record, RecordPosition], SkippedRecord | None]


# Texts that the program puts under the user's role: an element, or the project's rules under their heading.
_INJECTED = re.compile(r"\s*(<[a-zA-Z][\w-]*(?: [^<>\n]{0,200})?>|# AGENTS\.md instructions\b)")
_INJECTED_KINDS = frozenset({"user_instructions", "environment_context"})
# What an editor puts before the words themselves.
_REQUEST = re.compile(r"^## My request for Codex:[ \t]*\n", re.MULTILINE)


class Twins:
    """Tells a text's first copy from those that other kinds of record hold."""

    def __init__(self) -> None:
        self._seen: Counter[tuple[str, str, str]] = Counter()
        self._taken: Counter[tuple[str, str]] = Counter()

    def is_new(self, kind: str, text: str, *, by: str) -> bool:
        """Whether this is more than what the records of another kind already said.

        >>> twins = Twins()
        >>> [twins.is_new("message", "Done.", by=by) for by in ("item", "event", "event")]
        [True, False, True]
        """
        self._seen[kind, text, by] += 1
        if self._seen[kind, text, by] <= self._taken[kind, text]:
            return False
        self._taken[kind, text] += 1
        return True


def is_injected(text: str, *, kind: object = None) -> bool:
    """Whether the program wrote this under the user's role.

    >>> is_injected("<environment_context><cwd>/srv</cwd>"), is_injected("why is x < y here?")
    (True, False)
    """
    return kind in _INJECTED_KINDS or _INJECTED.match(text) is not None


def typed(text: str) -> str:
    r"""What the person typed, without what an editor says of its open files.

    >>> typed("# Context from my IDE setup:\n\n## My request for Codex:\nfix it")
    'fix it'
    """
    return _REQUEST.split(text)[-1].strip()


MESSAGE_MIRROR = SkippedRecord("mirror")
INJECTED = SkippedRecord("injected")
#: Represents a record of which only the end of the log will tell what it is.
PENDING = SkippedRecord("pending")


class RolloutConversation:
    """Adds words to the dialogue."""

    def __init__(self, dialogue: Dialogue) -> None:
        self.of_helper = False
        self._dialogue = dialogue
        self._twins = Twins()
        self._unsure: list[int] = []
        self._has_prompts = False

    def prompt(self, payload: Record, place: RecordPosition) -> SkippedRecord | None:
        """What a person typed, as an event tells it; in a helper's session no one typed it."""
        text = typed(text_in(payload, "message") or _content(payload))
        if is_injected(text, kind=payload.get("kind")):
            return INJECTED
        if not self._twins.is_new("prompt", text, by=str(payload.get("type"))):
            return MESSAGE_MIRROR
        self._has_prompts = True
        return self._say("note" if self.of_helper else "prompt", text, place, actor="user")

    def message(self, payload: Record, place: RecordPosition) -> SkippedRecord | None:
        """An item of the model's: of the assistant, of the user or the program under the user's role."""
        role = payload.get("role")
        if role == "assistant":
            return self.answer(payload, place)
        if role != "user":
            return SkippedRecord(f"message of {role}", known=role in ("developer", "system"))
        text = typed(text_in(payload, "message") or _content(payload))
        if is_injected(text):
            return INJECTED
        if not text:
            return SkippedRecord("empty message")
        self._unsure.append(len(self._dialogue.steps))
        self._dialogue.add("note", place, text=text, actor="user")
        return PENDING

    def answer(self, payload: Record, place: RecordPosition) -> SkippedRecord | None:
        """What the agent said."""
        return self._once("message", text_in(payload, "message") or _content(payload), payload, place)

    def thoughts(self, payload: Record, place: RecordPosition) -> SkippedRecord | None:
        """What the agent thought: each paragraph of the summary is an event of its own elsewhere."""
        parts = [text_in(payload, "text") or ""]
        for name in ("summary", "summary_text"):
            listed = payload.get(name)
            parts += [output_text(part) for part in listed] if isinstance(listed, list) else []
        added = [self._once("thought", part, payload, place) for part in parts if part.strip()]
        return None if None in added else (added[0] if added else SkippedRecord("empty thought"))

    def between_agents(self, payload: Record, place: RecordPosition) -> SkippedRecord | None:
        """What one agent wrote to another."""
        return self._say("note", _content(payload), place, actor=f"agent:{payload.get('author') or 'helper'}")

    def finish(self, ledger: LineLedger) -> tuple[Step, ...]:
        """The steps, now that it is known whether events tell of the prompts.

        Where they do, an item under the user's role is the same prompt again or something that the program put there.
        """
        steps = self._dialogue.steps
        repeated = {n for n in self._unsure if not self._twins.is_new("prompt", steps[n].text, by="item")}
        if repeated:
            ledger.skip("mirror", len(repeated))
        ledger.use(len(self._unsure) - len(repeated))
        for position in self._unsure:
            if self._has_prompts:
                self._dialogue.change(position, actor="system")
            elif not self.of_helper:
                self._dialogue.change(position, kind="prompt")
        return tuple(step for position, step in enumerate(self._dialogue.steps) if position not in repeated)

    def _once(self, kind: StepKind, text: str, payload: Record, place: RecordPosition) -> SkippedRecord | None:
        text = text.strip()
        if not text:
            return SkippedRecord(f"empty {kind}")
        by = "item" if "role" in payload or "summary" in payload else str(payload.get("type"))
        return self._say(kind, text, place) if self._twins.is_new(kind, text, by=by) else MESSAGE_MIRROR

    def _say(self, kind: StepKind, text: str, place: RecordPosition, *, actor: str = "agent") -> SkippedRecord | None:
        return self._dialogue.add_text_or_skip(kind, place, text=text, actor=actor, empty=f"empty {kind}")


def _content(payload: Record) -> str:
    content = payload.get("content")
    if isinstance(content, str):
        return content
    return "\n".join(part for part in map(output_text, content) if part) if isinstance(content, list) else ""


# Records that say nothing of what was done, or what another record says better.
_SKIPPED_RECORDS = frozenset({
    "world_state", "session_state", "inter_agent_communication_metadata", "token_usage_record",
})  # fmt: skip
_SKIPPED_ITEMS = frozenset({"ghost_snapshot", "additional_tools", "other"})
_SKIPPED_EVENTS = frozenset({
    "task_started", "turn_started", "turn.started", "turn.completed", "token_count", "turn_diff", "plan_update",
    "session_configured", "thread_settings_applied", "thread_name_updated", "thread_goal_updated",
    "account/rateLimits/updated", "codex/event/raw_item", "item_started", "background_event", "exec_command_begin",
    "exec_command_output_delta", "terminal_interaction", "patch_apply_begin", "mcp_tool_call_begin",
    "web_search_begin", "image_generation_begin", "view_image_tool_call", "exec_approval_request",
    "apply_patch_approval_request", "guardian_assessment", "request_user_input", "agent_message_delta",
    "agent_reasoning_delta", "agent_reasoning_section_break", "agent_reasoning_raw_content", "raw_response_item",
    "stream_error", "warning", "deprecation_notice", "entered_review_mode", "sub_agent_activity",
    "collab_agent_spawn_begin", "collab_waiting_begin", "collab_agent_interaction_begin",
    "collab_agent_interaction_end", "collab_close_begin", "collab_close_end", "undo_started", "shutdown_complete",
    "mcp_startup_update", "mcp_startup_complete",
})  # fmt: skip


def _followed(step: Step, unfinished: dict[int, Step]) -> Iterator[Step]:
    """A step, and behind the last look at a command what it had printed by then."""
    yield step
    if step.kind == "result" and step.source.line in unfinished:
        yield replace(unfinished.pop(step.source.line), at=step.at)


class Rollout(RecordLog):
    """Takes one record after the other; `end` settles which steps remain."""

    def __init__(self) -> None:
        super().__init__()
        self._words = RolloutConversation(self.dialogue)
        self._work = RolloutCalls(self.dialogue)
        self._cuts = Twins()
        self._has_begun = False
        self._total_tokens = 0
        self._items = self._item_handlers()
        self._events = self._event_handlers()
        self._completed = self._completed_handlers()

    def enter(self, record: Record, *, line: int) -> None:
        """Takes in a record; of one that is pending only the end tells what became of it."""
        if (passed := self.take(record, line=line)) is not PENDING:
            self.builder.ledger.enter(passed)

    def end(self, path: Path) -> dict[str, Any]:
        """Drops the steps that turned out to be repeated, and adds what was left running.

        A helper's instruction states its task.
        """
        unfinished = {one.source.line: one for one in self._work.unfinished()}
        steps = self._words.finish(self.builder.ledger)
        self.dialogue.steps = list(chain.from_iterable(_followed(step, unfinished) for step in steps))
        orders = (step.text for step in self.dialogue.steps if step.kind == "note" and step.actor == "user")
        return {
            "empty": f"{self.builder.ledger.accounting().lines} lines, no step",
            "id": fit_id(self.builder.id or path.stem),
            "task": next(orders, None) if self._words.of_helper else None,
        }

    def take(self, record: Record, *, line: int) -> SkippedRecord | None:
        """Turns one record into steps, or says why there are none."""
        kind, payload = str(record.get("type")), record.get("payload")
        if not isinstance(payload, dict):
            return self._bare(record, _place(record, record, line=line))
        place = _place(record, payload, line=line)
        if kind == "session_meta":
            self._begin(payload)
        if kind == "turn_context":
            self.builder.count_model(text_in(payload, "model"))
            self.builder.note(root=text_in(payload, "cwd"))
        if kind in {"session_meta", "turn_context"} or kind in _SKIPPED_RECORDS:
            return SkippedRecord(kind)
        if kind == "compacted":
            return self._compacted({"type": kind}, place)
        if kind == "response_item":
            return _dispatch(payload, place, handlers=self._items, skipped=_SKIPPED_ITEMS, envelope=kind)
        if kind == "event_msg":
            self._count_tokens(object_in(object_in(payload, "info"), "total_token_usage"))
            return _dispatch(payload, place, handlers=self._events, skipped=_SKIPPED_EVENTS, envelope=kind)
        return SkippedRecord(kind, known=False)

    def _bare(self, record: Record, place: RecordPosition) -> SkippedRecord | None:
        """A record of the first versions, which is the item itself; their first line names the session."""
        if "type" in record:
            return _dispatch(record, place, handlers=self._items, skipped=_SKIPPED_ITEMS, envelope="item")
        if "role" in record:
            return self._words.message(record, place)
        if "record_type" in record:
            return SkippedRecord("state")
        if "id" in record and "timestamp" in record:
            self._begin(record)
            return SkippedRecord("session_meta")
        return SkippedRecord("no type", known=False)

    def _begin(self, meta: Record) -> None:
        """Takes in a ``session_meta``; those after the first came with a history copied from another session."""
        if self._has_begun:
            return
        session_id = id_in(meta, "id") or id_in(meta, "session_id")
        self._has_begun = session_id is not None
        self.builder.id = session_id
        self.builder.version = text_in(meta, "cli_version")
        self.builder.note(root=text_in(meta, "cwd"))
        self.builder.branch = text_in(object_in(meta, "git"), "branch")
        self._words.of_helper = "subagent" in object_in(meta, "source")

    def _count_tokens(self, total: Record) -> None:
        """Adds by how much the running total grew, for the log repeats it; reads from the cache are left out."""
        if not total:
            return
        now = count_in(total, "input_tokens", "output_tokens") - count_in(total, "cached_input_tokens")
        # A total that fell began again.
        grown = now - self._total_tokens if now >= self._total_tokens else now
        self.builder.add_tokens(grown)
        self._total_tokens = now

    def _item_handlers(self) -> dict[str, Handler]:
        words, work = self._words, self._work
        return {
            "message": words.message,
            "reasoning": words.thoughts,
            "agent_message": words.between_agents,
            **dict.fromkeys(("compaction", "context_compaction"), self._compacted),
            **dict.fromkeys(("function_call", "tool_call", "custom_tool_call"), work.call),
            **dict.fromkeys(("function_call_output", "custom_tool_call_output"), work.output),
            **dict.fromkeys(("tool_result", "function_result"), work.output),
            "local_shell_call": work.shell_call,
            "tool_search_call": work.tool_search,
            "tool_search_output": work.tools_found,
            "web_search_call": work.web_search,
            "image_generation_call": work.image,
        }

    def _event_handlers(self) -> dict[str, Handler]:
        words, work = self._words, self._work
        return {
            "user_message": words.prompt,
            "agent_message": words.answer,
            "agent_reasoning": words.thoughts,
            "exec_command_end": work.command_end,
            "patch_apply_end": work.patch_end,
            "mcp_tool_call_end": work.mcp_end,
            "dynamic_tool_call_request": work.dynamic_call,
            "dynamic_tool_call_response": work.dynamic_end,
            "web_search_end": work.web_search,
            "image_generation_end": work.image,
            "collab_agent_spawn_end": work.helper_sent,
            "collab_waiting_end": work.helpers_back,
            "turn_aborted": self._aborted,
            "context_compacted": self._compacted,
            "thread_rolled_back": self._rolled_back,
            "undo_completed": self._noted,
            "exited_review_mode": lambda payload, place: self.dialogue.add_text_or_skip(
                "message",
                place,
                text=text_in(object_in(payload, "review_output"), "overall_explanation") or "",
                empty="event_msg/exited_review_mode",
            ),
            # The same things once more, in the words of a newer version.
            "item_completed": lambda payload, place: _dispatch(
                object_in(payload, "item"),
                place,
                handlers=self._completed,
                skipped=frozenset(),
                envelope="item_completed",
            ),
            **dict.fromkeys(("error", "task_complete", "turn_complete"), self._noted),
        }

    def _completed_handlers(self) -> dict[str, Handler]:
        words, work = self._words, self._work
        return {
            "UserMessage": words.prompt,
            "AgentMessage": words.answer,
            "Reasoning": words.thoughts,
            "Plan": self._plan,
            "CommandExecution": work.command_end,
            "FileChange": work.patch_end,
            "McpToolCall": work.mcp_end,
            **dict.fromkeys(("Extension", "WebSearch"), work.web_search),
            "ImageGeneration": work.image,
            "ContextCompaction": self._compacted,
        }

    # What is neither said nor done by the agent.

    def _compacted(self, payload: Record, place: RecordPosition) -> SkippedRecord | None:
        if not self._cuts.is_new("boundary", "compaction", by=str(payload.get("type"))):
            return SkippedRecord("mirror")
        self.dialogue.add("boundary", place, actor="system", arguments={"reason": "compaction"})
        return None

    def _rolled_back(self, payload: Record, place: RecordPosition) -> SkippedRecord | None:
        arguments = {"reason": "rewind", "turns": payload.get("num_turns")}
        self.dialogue.add("boundary", place, actor="system", arguments=arguments)
        return None

    def _aborted(self, payload: Record, place: RecordPosition) -> SkippedRecord | None:
        """A person stopped the agent; any other reason is the program's own."""
        reason = text_in(payload, "reason") or "interrupted"
        stopped = reason == "interrupted"
        status = "interrupted" if stopped else "unknown"
        actor = "user" if stopped else "system"
        self.dialogue.add("note", place, text=f"turn aborted: {reason}", actor=actor, status=status)
        return None

    def _noted(self, payload: Record, place: RecordPosition) -> SkippedRecord | None:
        """Trouble of the program's own, which is no failure of the agent's."""
        text = text_in(payload, "message") or text_in(object_in(payload, "error"), "message") or ""
        return self.dialogue.add_text_or_skip(
            "note", place, text=text, actor="system", empty=f"event_msg/{payload.get('type')}"
        )

    def _plan(self, payload: Record, place: RecordPosition) -> SkippedRecord | None:
        translation = Translation("plan", {"plan": text_in(payload, "text") or ""})
        self.dialogue.add_call(place, tool="plan", call_id=text_in(payload, "id"), translations=[translation])
        return None


def _dispatch(
    payload: Record, place: RecordPosition, *, handlers: dict[str, Handler], skipped: frozenset[str], envelope: str
) -> SkippedRecord | None:
    kind = str(payload.get("type"))
    handle = handlers.get(kind)
    if handle is not None:
        return handle(payload, place)
    return SkippedRecord(f"{envelope}/{kind}", known=kind in skipped)


def _place(record: Record, payload: Record, *, line: int) -> RecordPosition:
    source = Source(line=line, id=text_in(payload, "call_id") or text_in(payload, "id"))
    return RecordPosition(source, parse_time(record.get("timestamp", record.get("created_at"))))


_ENVELOPES = frozenset({"session_meta", "response_item", "event_msg", "turn_context", "compacted", "world_state"})
_BARE = frozenset({"function_call", "function_call_output", "local_shell_call"})
_BLOCKS = frozenset({"input_text", "output_text"})


class CodexReader(RecordReader):
    """Reads the rollouts of Codex, ``~/.codex/sessions/YYYY/MM/DD/rollout-<time>-<id>.jsonl``."""

    name = "codex"
    unfamiliar = "no line is a session_meta, response_item or event_msg with its payload"
    log = Rollout

    def is_own(self, head: LogHead) -> bool:
        """Whether a line is a record as only Codex writes them."""
        return any(map(_is_own, head.records))


def _is_own(record: Record) -> bool:
    kind = text_in(record, "type")
    if kind in _ENVELOPES:
        return isinstance(record.get("payload"), dict)
    if kind in _BARE:
        return text_in(record, "call_id") is not None
    # Rollouts of 2025's first versions have no envelope.
    return kind == "message" and any(text_in(block, "type") in _BLOCKS for block in objects_in(record, "content"))
