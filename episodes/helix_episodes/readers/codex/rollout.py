"""From records to steps, line by line, in the order in which the program wrote them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from helix_episodes.readers.codex.conversation import PENDING, Conversation
from helix_episodes.readers.codex.totals import Totals
from helix_episodes.readers.codex.words import Twins
from helix_episodes.readers.codex.work import Work
from helix_episodes.readers.dialogue import Dialogue
from helix_episodes.readers.fields import Place, Record, object_in, text_in, time_of
from helix_episodes.readers.ledger import Passed
from helix_episodes.readers.vocabulary import Translation
from helix_episodes.session import Source

if TYPE_CHECKING:
    from collections.abc import Callable

    from helix_episodes.readers.ledger import Ledger
    from helix_episodes.session import Step

    Handler = Callable[[Record, Place], Passed | None]

# Records that say nothing of what was done, or what another record says better.
_SKIPPED_RECORDS = frozenset({"world_state", "session_state", "inter_agent_communication_metadata"})
_SKIPPED_ITEMS = frozenset({"ghost_snapshot", "other"})
_SKIPPED_EVENTS = frozenset(
    {
        *("task_started", "turn_started", "turn.started", "turn.completed", "token_count", "turn_diff", "plan_update"),
        *("session_configured", "thread_settings_applied", "thread_name_updated", "thread_goal_updated"),
        *("account/rateLimits/updated", "codex/event/raw_item", "item_started", "background_event"),
        *("exec_command_begin", "exec_command_output_delta", "terminal_interaction", "patch_apply_begin"),
        *("mcp_tool_call_begin", "web_search_begin", "image_generation_begin", "view_image_tool_call"),
        *("exec_approval_request", "apply_patch_approval_request", "guardian_assessment", "request_user_input"),
        *("agent_message_delta", "agent_reasoning_delta", "agent_reasoning_section_break"),
        *("agent_reasoning_raw_content", "raw_response_item", "stream_error", "warning", "deprecation_notice"),
        *("entered_review_mode", "sub_agent_activity", "collab_agent_spawn_begin", "collab_waiting_begin"),
        *("collab_agent_interaction_begin", "collab_agent_interaction_end", "collab_close_begin", "collab_close_end"),
        *("undo_started", "shutdown_complete", "mcp_startup_update", "mcp_startup_complete"),
    }
)


class Rollout:
    """Takes one record after the other; `finish` gives the steps."""

    def __init__(self, ledger: Ledger) -> None:
        self.totals = Totals()
        self._ledger = ledger
        self._dialogue = Dialogue()
        self._words = Conversation(self._dialogue)
        self._work = Work(self._dialogue)
        self._cuts = Twins()
        self._items = self._item_handlers()
        self._events = self._event_handlers()
        self._completed = self._completed_handlers()

    def take(self, record: Record, *, line: int) -> None:
        """Turns one record into steps, or enters in the ledger why there are none."""
        passed = self._translate(record, line=line)
        if passed is not PENDING:
            self._ledger.enter(passed)

    def finish(self) -> tuple[Step, ...]:
        """The steps of all records."""
        return self._words.finish(self._ledger)

    @property
    def order(self) -> str | None:
        """What a helper was told to do; of any other session the prompts tell the task."""
        told = (step.text for step in self._dialogue.steps if step.kind == "note" and step.actor == "user")
        return next(told, None) if self.totals.is_helper else None

    def _translate(self, record: Record, *, line: int) -> Passed | None:
        kind, payload = str(record.get("type")), record.get("payload")
        if not isinstance(payload, dict):
            return self._bare(record, _place(record, record, line=line))
        place = _place(record, payload, line=line)
        if kind == "session_meta":
            self._begin(payload)
        if kind == "turn_context":
            self.totals.note_turn(payload)
        if kind in {"session_meta", "turn_context"} or kind in _SKIPPED_RECORDS:
            return Passed(kind)
        if kind == "compacted":
            return self._compacted({"type": kind}, place)
        if kind == "response_item":
            return _dispatch(payload, place, handlers=self._items, skipped=_SKIPPED_ITEMS, envelope=kind)
        if kind == "event_msg":
            self.totals.note_tokens(object_in(payload, "info"))
            return _dispatch(payload, place, handlers=self._events, skipped=_SKIPPED_EVENTS, envelope=kind)
        return Passed(kind, known=False)

    def _bare(self, record: Record, place: Place) -> Passed | None:
        """A record of the first versions, which is the item itself; their first line names the session."""
        if "type" in record:
            return _dispatch(record, place, handlers=self._items, skipped=_SKIPPED_ITEMS, envelope="item")
        if "role" in record:
            return self._words.message(record, place)
        if "record_type" in record:
            return Passed("state")
        if "id" in record and "timestamp" in record:
            self._begin(record)
            return Passed("session_meta")
        return Passed("no type", known=False)

    def _begin(self, meta: Record) -> None:
        self.totals.note_session(meta)
        self._words.of_helper = self.totals.is_helper

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
            "exited_review_mode": self._reviewed,
            "item_completed": self._item,
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

    def _item(self, payload: Record, place: Place) -> Passed | None:
        """The same things once more, in the words of a newer version."""
        return _dispatch(
            object_in(payload, "item"), place, handlers=self._completed, skipped=frozenset(), envelope="item_completed"
        )

    def _compacted(self, payload: Record, place: Place) -> Passed | None:
        if not self._cuts.is_new("boundary", "compaction", by=str(payload.get("type"))):
            return Passed("mirror")
        self._dialogue.add("boundary", place, actor="system", arguments={"reason": "compaction"})
        return None

    def _rolled_back(self, payload: Record, place: Place) -> Passed | None:
        arguments = {"reason": "rewind", "turns": payload.get("num_turns")}
        self._dialogue.add("boundary", place, actor="system", arguments=arguments)
        return None

    def _aborted(self, payload: Record, place: Place) -> Passed | None:
        """A person stopped the agent; any other reason is the program's own."""
        reason = text_in(payload, "reason") or "interrupted"
        stopped = reason == "interrupted"
        status = "interrupted" if stopped else "unknown"
        actor = "user" if stopped else "system"
        self._dialogue.add("note", place, text=f"turn aborted: {reason}", actor=actor, status=status)
        return None

    def _noted(self, payload: Record, place: Place) -> Passed | None:
        """Trouble of the program's own, which is no failure of the agent's."""
        text = text_in(payload, "message") or text_in(object_in(payload, "error"), "message") or ""
        said = self._dialogue.say("note", place, text=text, actor="system")
        return None if said else Passed(f"event_msg/{payload.get('type')}")

    def _reviewed(self, payload: Record, place: Place) -> Passed | None:
        text = text_in(object_in(payload, "review_output"), "overall_explanation") or ""
        said = self._dialogue.say("message", place, text=text)
        return None if said else Passed("event_msg/exited_review_mode")

    def _plan(self, payload: Record, place: Place) -> Passed | None:
        translation = Translation("plan", {"plan": text_in(payload, "text") or ""})
        self._dialogue.call(place, tool="plan", call_id=text_in(payload, "id"), translations=[translation])
        return None


def _dispatch(
    payload: Record, place: Place, *, handlers: dict[str, Handler], skipped: frozenset[str], envelope: str
) -> Passed | None:
    kind = str(payload.get("type"))
    handle = handlers.get(kind)
    if handle is not None:
        return handle(payload, place)
    return Passed(f"{envelope}/{kind}", known=kind in skipped)


def _place(record: Record, payload: Record, *, line: int) -> Place:
    source = Source(line=line, id=text_in(payload, "call_id") or text_in(payload, "id"))
    return Place(source, time_of(record.get("timestamp", record.get("created_at"))))
