"""From Claude Code records to steps: one conversation, line by line, in the order in which the program wrote it.

The file's own order is the base, because lines are appended as things happen. The ``parentUuid`` graph, which may
dangle or loop, is used for one thing only: two different prompts below the same parent mean that the person went back
and began again, and a boundary is put before the second (`Rewinds`). Everything else that one line says
about another (a result about its call, a notification about its delegation) goes by id.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
import orjson

from helix_episodes.readers.claude_code.records import (
    SKIPPED_BLOCKS,
    SKIPPED_KINDS,
    Delegates,
    answer_in,
    blocks_of,
    message_of,
    place_of,
    plan_in,
    read_result,
    result_text,
    translate_call,
    was_created,
)
from helix_episodes.readers.claude_code.text_authors import (
    PLAN_BEGINNING,
    ClassifiedText,
    PromptQueue,
    Rewinds,
    classify_text,
    read_notice,
    read_plan,
    teammate_messages,
    without_plan_tail,
)
from helix_episodes.readers.common.fields import Record, RecordPosition, id_in, text_in
from helix_episodes.readers.common.jsonl import SkippedRecord
from helix_episodes.session import Step

if TYPE_CHECKING:
    from collections.abc import Callable

    from helix_episodes.readers.claude_code.records import SessionFacts
    from helix_episodes.readers.common.jsonl import LineLedger
    from helix_episodes.session import StepKind


# The records by which a hook's words come before the agent.
_CARRIES_INJECTED = frozenset({"user", "attachment", "system"})
# What the program writes in an answer's place when there is none.
_NO_ANSWER = frozenset({"", "(no content)", "No response requested."})


class ClaudeTranscript:
    """One conversation: the main one, or with ``helper`` that of a sub-agent in a file of its own."""

    def __init__(
        self, *, ledger: LineLedger, statistics: SessionFacts, file: str | None = None, helper: str | None = None
    ) -> None:
        self.steps: list[Step] = []
        self.delegates = Delegates()
        #: What another agent told this one to do first.
        self.order: str | None = None
        self._ledger = ledger
        self._statistics = statistics
        self._file = file
        self._helper = helper
        self._seen: set[str] = set()
        self._calls: dict[str, int] = {}
        self._results: dict[str, int] = {}
        self._tasks: dict[str, str] = {}
        self._rewinds = Rewinds()
        self._queue = PromptQueue()
        self._session: str | None = None
        self._own_records: dict[str, Callable[[Record, RecordPosition], SkippedRecord | None]] = {
            "system/compact_boundary": self._compacted,
            "compact_boundary": self._compacted,
            "attachment": self._attachment,
            "queue-operation": self._queued,
            "pr-link": self._pull_request,
        }

    def take(self, record: Record, *, line: int) -> None:
        """Turns one record into steps, or enters in the ledger why there are none."""
        place = place_of(record, line=line, file=self._file)
        uuid = place.source.id
        if uuid is not None:
            if uuid in self._seen:
                self._ledger.skip("duplicate")
                return
            self._seen.add(uuid)
        if text_in(record, "type") in _CARRIES_INJECTED:
            self._statistics.note_injected(record)
        before = len(self.steps)
        passed = self._translate(record, place)
        self._ledger.enter(None if len(self.steps) > before else passed, line=line, file=self._file)

    def _translate(self, record: Record, place: RecordPosition) -> SkippedRecord | None:
        kind = record.get("type")
        if kind in ("user", "assistant"):
            return self._converse(record, place)
        self._rewinds.pass_through(record)
        if kind == "system":
            kind = f"system/{record.get('subtype')}"
        name = str(kind)
        handle = self._own_records.get(name)
        if handle is not None:
            return handle(record, place)
        return SkippedRecord(name, known=name in SKIPPED_KINDS)

    # What was said and done.

    def _converse(self, record: Record, place: RecordPosition) -> SkippedRecord | None:
        # A side conversation's lines bear their helper's id or lead to its root.
        actor = f"agent:{self._helper}" if self._helper is not None else self.delegates.actor_inline(record)
        message = message_of(record)
        blocks = blocks_of(message)
        if blocks is None:
            return SkippedRecord(f"{record['type']} without content", known=False)
        if actor == "agent":
            self._statistics.note(record)
            self._resume(record, place)
        if record["type"] == "assistant":
            self._statistics.note_usage(record, message, main=actor == "agent")
            return self._answer(record, place, blocks=blocks, actor=actor)
        return self._user_line(record, place, blocks=blocks, actor=actor)

    def _resume(self, record: Record, place: RecordPosition) -> None:
        """A history copied from another session ends where the id changes."""
        session = id_in(record, "sessionId")
        if session and self._session and session != self._session:
            arguments = {"reason": "resume", "from_session": self._session}
            self._add("boundary", place, actor="system", arguments=arguments)
        self._session = session or self._session

    def _answer(
        self, record: Record, place: RecordPosition, *, blocks: list[Record], actor: str
    ) -> SkippedRecord | None:
        if record.get("isApiErrorMessage"):
            self._add("note", place, actor="system", text=result_text(blocks))
            return None
        passed: SkippedRecord | None = SkippedRecord("empty answer")
        for block in blocks:
            passed = self._answer_block(block, place, actor=actor) or passed
        return passed

    def _answer_block(self, block: Record, place: RecordPosition, *, actor: str) -> SkippedRecord | None:
        kind = block.get("type")
        if kind in ("tool_use", "server_tool_use"):
            return self._call(block, place, actor=actor)
        if kind == "text":
            return self._add_words("message", text_in(block, "text") or "", place, actor=actor)
        if kind == "thinking":
            return self._add_words("thought", text_in(block, "thinking") or "", place, actor=actor)
        return SkippedRecord(f"assistant/{kind}", known=text_in(block, "type") in SKIPPED_BLOCKS)

    def _add_words(self, kind: StepKind, text: str, place: RecordPosition, *, actor: str) -> SkippedRecord | None:
        text = text.strip()
        if text in _NO_ANSWER:
            return SkippedRecord(f"empty {kind}")
        self._add(kind, place, actor=actor, text=text)
        return None

    def _call(self, block: Record, place: RecordPosition, *, actor: str) -> SkippedRecord | None:
        tool = text_in(block, "name") or "unnamed"
        call_id = id_in(block, "id") or f"line-{place.source.line}"
        if call_id in self._calls:
            return SkippedRecord("duplicate")
        logged = block.get("input")
        ((operation, arguments), *_) = translate_call(tool, logged if isinstance(logged, dict) else {})
        if operation == "track":
            self._name_task(arguments)
        self._calls[call_id] = len(self.steps)
        self._add("call", place, actor=actor, tool=tool, operation=operation, arguments=arguments, call_id=call_id)
        return None

    def _name_task(self, arguments: dict[str, Any]) -> None:
        """A task that is only named by its number gets the subject under which it was made."""
        task = arguments.get("task")
        if task in self._tasks and not arguments["items"]:
            arguments["items"] = [self._tasks[task]]
        if task is not None and arguments.get("state") == "completed":
            arguments["completed"] = list(arguments["items"])

    # What is on a user's line.

    def _user_line(
        self, record: Record, place: RecordPosition, *, blocks: list[Record], actor: str
    ) -> SkippedRecord | None:
        passed: SkippedRecord | None = SkippedRecord("empty prompt")
        for block in blocks:
            if block.get("type") == "tool_result":
                passed = self._result(record, place, block=block, actor=actor)
        spoken = result_text([block for block in blocks if block.get("type") != "tool_result"])
        if not spoken.strip():
            return passed
        if actor != "agent":
            self._add("note", place, actor=actor, text=spoken)
            return None
        if record.get("isCompactSummary"):
            return self._take_text(record, place, words=ClassifiedText("summary", spoken))
        origin = record.get("origin")
        human = not isinstance(origin, dict) or origin.get("kind") in (None, "human")
        words = classify_text(spoken, meta=bool(record.get("isMeta")), human=human)
        return self._take_text(record, place, words=words)

    def _take_text(self, record: Record, place: RecordPosition, *, words: ClassifiedText) -> SkippedRecord | None:
        if words.voice == "nobody":
            return SkippedRecord(words.name)
        if words.voice == "hook":
            self._stopped_by_hook()
        if words.voice == "summary":
            # No one said a summary, but it shows a cut that older versions mark in no other way.
            if self.steps and self.steps[-1].kind == "boundary":
                return SkippedRecord("summary of what went before")
            self._add("boundary", place, actor="system", arguments={"reason": "compaction"})
            return None
        if words.voice == "prompt" or (words.voice == "command" and words.text):
            # A command's arguments are the person's words.
            self._prompt(record, place, text=words.text)
        elif words.voice == "command":
            self._add("note", place, actor="user", text=f"/{words.name}")
        elif words.voice == "teammate":
            self._told_by_team(place, text=words.text)
        elif words.voice == "notification":
            self._notified(place, text=words.text)
        elif words.voice == "interrupted":
            self._interrupted(record, place, text=words.text)
        else:
            actor = "user" if words.voice == "shell" else "system"
            self._add("note", place, actor=actor, text=words.text)
        return None

    def _interrupted(self, record: Record, place: RecordPosition, *, text: str) -> None:
        """Somebody stopped the agent. Where nobody can be asked, the call before was stopped as well, not refused."""
        unattended = (text_in(record, "entrypoint") or "").startswith("sdk")
        if unattended and self.steps and self.steps[-1].status == "rejected":
            self._change(len(self.steps) - 1, status="interrupted")
        self._add("note", place, actor="user", text=text, status="interrupted")

    def _told_by_team(self, place: RecordPosition, *, text: str) -> None:
        """What other agents of a team wrote to this one; the first says what it is to do."""
        for name, said in teammate_messages(text):
            self.order = self.order or said
            self._add("note", place, actor=f"agent:{name}", text=said)

    def _prompt(self, record: Record, place: RecordPosition, *, text: str) -> None:
        if abandoned := self._rewinds.check(record, text=text, line=place.source.line):
            arguments = {"reason": "rewind", "abandoned_from_line": abandoned}
            self._add("boundary", place, actor="system", arguments=arguments)
        if text_in(record, "planContent") or text.startswith(PLAN_BEGINNING):
            self._approve_by_new_start(place, plan=text_in(record, "planContent") or text)
            text = without_plan_tail(text)
        self._add("prompt", place, actor="user", text=text)

    def _stopped_by_hook(self) -> None:
        """A prompt that a hook stopped never reached the agent; what was meant by it comes again as a new prompt."""
        for position in range(len(self.steps) - 1, -1, -1):
            if self.steps[position].kind not in ("prompt", "decision") or self.steps[position].actor != "user":
                return
            self._change(position, kind="note")

    def _notified(self, place: RecordPosition, *, text: str) -> None:
        """The answer of a call that went on in the background takes the place of its "launched" message."""
        notice = read_notice(text)
        call_id = notice.call_id if notice.call_id in self._calls else self.delegates.call_of(notice.task)
        if call_id not in self._calls:
            self._add("note", place, actor="system", text=notice.text)
            return
        if call_id in self._results:
            self._change(self._results[call_id], kind="note")
        self._end_call(call_id, place, text=notice.text, status=notice.status, exit_code=notice.exit_code)

    # Results.

    def _result(self, record: Record, place: RecordPosition, *, block: Record, actor: str) -> SkippedRecord | None:
        call_id = id_in(block, "tool_use_id") or id_in(record, "sourceToolUseID")
        if call_id is None:  # logs that leave the ids out give results in the order of their calls
            call_id = next((call for call in self._calls if call not in self._results), None)
        if call_id in self._results:
            return SkippedRecord("duplicate")
        call = self.steps[self._calls[call_id]] if call_id in self._calls else None
        extra = record.get("toolUseResult")
        ran = call is not None and call.operation == "run"
        result = read_result(block=block, extra=extra, denial=record.get("toolDenialKind"), ran=ran)
        text = result.text
        if call is not None and call.operation == "delegate":
            text = self.delegates.answer(text, extra=extra, call_id=call.call_id)
        self._end_call(call_id, place, text=text, status=result.status, exit_code=result.exit_code, actor=actor)
        if result.words and actor == "agent":
            self._add("prompt", place, actor="user", text=result.words)
        if call is not None:
            self.delegates.remember_background(extra, call_id=call.call_id)
            self._learn(call, place, extra=extra)
        return None

    def _end_call(self, call_id: str | None, place: RecordPosition, **how: Any) -> None:  # noqa: ANN401  (fields of Step)
        """Adds the result of a call under the call's own tool and operation."""
        call = self.steps[self._calls[call_id]] if call_id in self._calls else None
        if call_id is not None:
            self._results[call_id] = len(self.steps)
        tool, operation = (call.tool, call.operation) if call else (None, None)
        actor = how.pop("actor", call.actor if call else "agent")
        self._add("result", place, tool=tool, operation=operation, call_id=call_id, actor=actor, **how)

    def _learn(self, call: Step, place: RecordPosition, *, extra: object) -> None:
        """What a result says beyond itself: a file was new, a plan approved, a question answered, a task numbered."""
        result = self.steps[self._results[call.call_id or ""]]
        if call.tool == "AskUserQuestion" and result.status == "ok":
            self._answered(call, place, text=result.text, extra=extra)
        elif call.tool == "ExitPlanMode" and result.status == "ok":
            self._approved(place, plan=plan_in(call, extra))
        elif call.operation == "edit" and result.status == "ok" and was_created(result.text, extra):
            arguments = {"path": call.arguments["path"], "new": call.arguments["new"]}
            self._change(self._calls[call.call_id or ""], operation="create", arguments=arguments)
            self._change(self._results[call.call_id or ""], operation="create")
        elif call.tool == "TaskCreate" and isinstance(extra, dict) and isinstance(extra.get("task"), dict):
            self._tasks[str(extra["task"].get("id"))] = text_in(extra["task"], "subject") or ""

    def _answered(self, call: Step, place: RecordPosition, *, text: str, extra: object) -> None:
        answers = extra.get("answers") if isinstance(extra, dict) else None
        for asked in call.arguments["questions"]:
            answer = answers.get(asked["question"]) if isinstance(answers, dict) else None
            chosen = answer if isinstance(answer, str) else answer_in(text, question=asked["question"])
            if chosen:
                arguments = {"context": asked["question"], "options": asked["options"]}
                self._add("decision", place, actor="user", text=chosen, arguments=arguments)

    def _approved(self, place: RecordPosition, *, plan: str) -> None:
        read = read_plan(plan)
        if read.title:
            arguments = {"context": read.context, "plan": read.text}
            self._add("decision", place, actor="user", text=read.title, arguments=arguments)

    def _approve_by_new_start(self, place: RecordPosition, *, plan: str) -> None:
        """Approving a plan with a cleared context looks like a rejection and an interruption before: correct both."""
        position = len(self.steps) - 1
        while position >= 0 and self.steps[position].kind in ("note", "boundary"):
            position -= 1
        if position >= 0:
            last = self.steps[position]
            # In a continued log the call itself may be in the file before.
            if last.kind == "result" and last.status == "rejected" and last.tool in ("ExitPlanMode", None):
                self._change(position, status="ok")
                for after in range(position + 1, len(self.steps)):
                    self._change(after, status="unknown")
        self._approved(place, plan=plan)

    # The program's own records.

    def _compacted(self, record: Record, place: RecordPosition) -> None:
        details = record.get("compactMetadata")
        arguments = {"reason": "compaction"}
        if isinstance(details, dict) and (trigger := text_in(details, "trigger")):
            arguments["trigger"] = trigger
        self._add("boundary", place, actor="system", arguments=arguments)

    def _attachment(self, record: Record, place: RecordPosition) -> SkippedRecord | None:
        """Most are the program's reminders to the agent.

        One kind holds what a person typed while it worked, one what the editor complains of.
        """
        attachment = record.get("attachment")
        if isinstance(attachment, dict) and attachment.get("type") == "diagnostics":
            listed = orjson.dumps(attachment.get("files")).decode()
            self._add("note", place, actor="system", tool="diagnostics", text=listed)
            return None
        if not isinstance(attachment, dict) or attachment.get("type") != "queued_command":
            return SkippedRecord("attachment")
        text = result_text(attachment.get("prompt"))
        if self._queue.was_delivered(text):
            return SkippedRecord("duplicate")
        words = classify_text(text, human=attachment.get("commandMode") != "task-notification")
        return self._take_text(record, place, words=words)

    def _queued(self, record: Record, place: RecordPosition) -> SkippedRecord | None:
        """What was typed while the agent worked becomes a prompt at the moment the agent receives it."""
        logged = self._queue.operate(record, place)
        if logged is None:
            return SkippedRecord("queue-operation")
        return self._take_text({}, logged.place, words=classify_text(logged.text))

    def _pull_request(self, record: Record, place: RecordPosition) -> SkippedRecord | None:
        url = text_in(record, "prUrl")
        if url is None:
            return SkippedRecord("pr-link")
        self._add("note", place, actor="system", text=f"pull request {url}")
        return None

    # The list of steps.

    def _add(self, kind: StepKind, place: RecordPosition, **fields: Any) -> None:  # noqa: ANN401  (fields of Step)
        self.steps.append(Step(kind=kind, source=place.source, at=place.at, **fields))

    def _change(self, position: int, **fields: Any) -> None:  # noqa: ANN401  (fields of Step)
        self.steps[position] = msgspec.structs.replace(self.steps[position], **fields)
