"""Decisions: what was chosen, stated in words or acted out.

*Acted*: a run of edits to one file that no command, no prompt and no new reason interrupted; a shell command that
changes or checks something (the same command again without a change between is the same decision, counted); a
delegation; a tool that changes something elsewhere. *Stated*: a plan handed in, a question asked or answered, a
decision in a message (`helix_episodes.extraction.prose.decisions`). An edit that failed was never made, and is no
decision. Nor is reading a file or a skill, or searching, except as the first reaction to an error: searching for the
file that was missing is how an agent recovers.

What a decision answers, and so its context and whether it is a recovery, is only known once errors and decisions are
linked: `helix_episodes.extraction.links.complete` adds that.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from helix_episodes.extraction.actions import (
    action_of,
    changed_part,
    describe,
    options_of,
    plan_title,
    replaced_part,
    type_of,
    values_of,
)
from helix_episodes.extraction.calls import CHANGES, UNDONE, ParsedCall, mentions_file, operands_of, shared_words
from helix_episodes.extraction.drafts import DraftDecision, evidence_of, line, timestamp_of
from helix_episodes.extraction.paths import file_name
from helix_episodes.extraction.prose.decisions import implied_decisions, is_restated, stated_decisions
from helix_episodes.extraction.prose.sentences import sentences_of
from helix_episodes.model import Decision

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from helix_episodes.model import Evidence
    from helix_episodes.session import Session, Step


#: How many calls after a tool's error a look still counts as answering it. In the 81 logs of the Claude Code corpus
#: the agent that goes on looking for a missing file does so within the next four.
_LOOKS_AFTER_ERROR = 4
#: A to-do list or a prompt is context for this long a text; the rest is in the log.
_CONTEXT_LIMIT = 160
#: "yes please", "do it", "2": nothing longer is only an answer.
_ASSENT_LIMIT = 20
#: A file as words name it.
_FILE = re.compile(r"(?<![\w./-])[\w./-]*\w\.[A-Za-z]\w*")
#: Words with which an agent gives a reason for what it does next, or changes its mind about what it has done. "Now
#: the tests:" announces more of the same and does neither.
_NEW_REASON = re.compile(
    r"\b(?:because|so that|otherwise|to avoid|which means|since (?:it|the|this|we|that)|"
    r"the (?:\w+ )?(?:issue|problem|reason|error|cause|bug) (?:is|was)|I (?:see|missed|forgot|realized|overlooked)|"
    r"actually|wait|oops|hm+|on second thought|my mistake|instead|not (?:right|needed|necessary)|wrong)\b",
    re.IGNORECASE,
)
#: Tools that type into a command that is running, or read what it printed since.
_TERMINAL = re.compile(r"^(?:write_stdin|(?:read|write|stop)_bash|wait)$")
#: A question that is meant to be answered is at the end of a message.
_CLOSING = 600


class _Open(msgspec.Struct, kw_only=True):
    """A decision that may still grow."""

    position: int
    decision: Decision
    calls: list[int]


def decisions_of(
    session: Session, calls: Sequence[ParsedCall], *, failed: Collection[int], reported: Collection[int] = ()
) -> list[DraftDecision]:
    """Every decision of the session, in order, without ids and without what only links can say.

    ``failed`` has the numbers of the calls that ended in an error, ``reported`` the positions where words report one.
    """
    return _DecisionCollector(session, calls, failed, reported).observe()


@dataclass
class _DecisionCollector:
    """Walks the steps once, with the runs of edits and the commands that may still be continued."""

    session: Session
    calls: Sequence[ParsedCall]
    failed: Collection[int]
    reported: Collection[int]
    unanswered: bool = False
    question: str = ""
    context: str = ""
    found: list[_Open] = field(default_factory=list)
    edits: dict[tuple[str, str], _Open] = field(default_factory=dict)
    commands: dict[tuple[str, str], _Open] = field(default_factory=dict)
    errors: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.numbers = {call.position: number for number, call in enumerate(self.calls)}

    def observe(self) -> list[DraftDecision]:
        for position, step in enumerate(self.session.steps):
            if position in self.reported:
                self.edits.clear()  # what is changed from here on answers the report
            if step.kind == "call":
                self._call(self.numbers[position])
            elif step.kind == "prompt":
                self.edits.clear()
                self.unanswered = position in self.reported
                # A prompt is context; a word of assent means only what it answers.
                words = line(step.text, limit=_CONTEXT_LIMIT)
                if len(words) <= _ASSENT_LIMIT and self.question:
                    words = line(f"{words} \u2013 {self.question}", limit=_CONTEXT_LIMIT)
                self.context = words
            elif step.kind in {"decision", "message", "thought"}:
                if step.kind == "message" and step.actor == "agent":
                    closing = sentences_of(step.text[-_CLOSING:]) if "?" in step.text else ()
                    asked = [one for one in closing if one.endswith("?")]
                    self.question = next(reversed(asked), "")
                    if self.edits and _NEW_REASON.search(step.text):
                        self.edits.clear()  # a reason belongs to the edits that follow it
                self._stated(position, step)
        return [
            DraftDecision(position=one.position, decision=one.decision, calls=tuple(one.calls)) for one in self.found
        ]

    def _call(self, number: int) -> None:
        call = self.calls[number]
        if call.operation == "track":
            # The to-do under way is closer to what follows than the prompt is.
            todo = call.step.arguments.get("current")
            words = next((str(one) for one in todo if one), "") if isinstance(todo, list) else str(todo or "")
            self.context = line(words, limit=_CONTEXT_LIMIT) or self.context
        if call.status == "cancelled":
            return
        if call.operation in {"edit", "create", "delete"}:
            self._edit(number, call)
        elif call.operation == "run":
            self._run(number, call)
        elif call.asks_editor:
            self.edits.clear()
            self._open(number, call)
        elif not _is_polling(call) and self._does_or_answers(call):
            self._open(number, call)
        elif call.operation == "ask" and call.status not in {"ok", "unknown"}:
            self._open(number, call)  # an answer would be the decision; the question alone is a proposal
        if number in self.failed:
            self.errors = [*(n for n in self.errors if number - n <= _LOOKS_AFTER_ERROR), number]
        elif call.path is not None and (call.operation == "look" or call.changes_files):
            # What was missing has been found or changed; later looks at it answer nothing any more.
            name = file_name(call.path)
            self.errors = [n for n in self.errors if file_name(self.calls[n].path or "") != name]

    def _does_or_answers(self, call: ParsedCall) -> bool:
        """Whether a call hands work over, uses a tool that changes something, or looks in answer to an error."""
        if call.operation == "look":
            return self._answers_error(call)
        return call.hands_over or call.operation in {"plan", "use"}

    def _edit(self, number: int, call: ParsedCall) -> None:
        key = (call.actor, call.path or "")
        if call.status == "error":
            self.edits.pop(key, None)  # what is written next answers the failure
            return  # the file is as it was: nothing was decided about it yet
        done = call.status not in UNDONE
        run = self.edits.get(key)
        if run is not None and done:
            self._continue(run, number, call)
        else:
            run = self._open(number, call)
        if done:
            self.edits[key] = run
            self.commands.clear()
        else:
            self.edits.pop(key, None)

    def _run(self, number: int, call: ParsedCall) -> None:
        segment = call.decisive
        if segment is None or segment.purpose == "look":
            if self._answers_error(call):
                self._open(number, call)
            return
        self.edits.clear()
        if segment.purpose in {"change", "format"}:
            self.commands.clear()
        key = (call.actor, str(call.step.arguments.get("command", "")).strip())
        run = self.commands.get(key)
        if run is None or call.status in UNDONE:
            self.commands[key] = self._open(number, call)
        else:
            self._continue(run, number, call)

    def _continue(self, run: _Open, number: int, call: ParsedCall) -> None:
        run.calls.append(number)
        action, evidence = run.decision.action, run.decision.evidence
        if action is None or evidence is None:
            return
        same = action_of(call)
        run.decision = replace(
            run.decision,
            action=replace(
                action,
                count=action.count + 1,
                suppresses=action.suppresses or same.suppresses,
                markers=action.markers + same.markers,
            ),
            evidence=replace(evidence, also=(*evidence.also, call.step.source.line)),
        )

    def _open(self, number: int, call: ParsedCall) -> _Open:
        decision = Decision(
            id="",
            timestamp=timestamp_of(call.step),
            type=type_of(call),
            context=self.context,
            chosen=describe(call),
            rationale=self._rationale(call),
            options=options_of(call),
            stated=call.operation in {"plan", "ask"},
            action=action_of(call),
            actor=call.actor,
            evidence=evidence_of_call(call),
        )
        return self._add(call.position, decision, calls=[number])

    def _add(self, position: int, decision: Decision, *, calls: list[int]) -> _Open:
        one = _Open(position=position, decision=decision, calls=calls)
        self.found.append(one)
        self.unanswered = False
        return one

    def _stated(self, position: int, step: Step) -> None:
        if step.kind == "decision":
            # The approval of a plan whose handing in is a decision already says nothing new.
            plans = (str(call.step.arguments.get("plan", "")) for call in self.calls if call.operation == "plan")
            if any(plan_title(plan) == plan_title(step.text) for plan in plans):
                return
        stated = [] if step.kind == "thought" else list(stated_decisions(step, context=self.context))
        for decision in stated or self._implied(position, step):
            self._add(position, decision, calls=[])

    def _implied(self, position: int, step: Step) -> Iterable[Decision]:
        """What the agent itself only talks about; a helper's advice is its answer, not a choice."""
        if step.actor != "agent":
            return ()
        found = implied_decisions(step, context=self.context)
        implied = [one for one in found if not self._is_carried_out(position, one)]
        repeated = implied and step.kind == "thought" and is_restated(self.session.steps, position)
        return () if repeated else implied

    def _is_carried_out(self, position: int, words: Decision) -> bool:
        """Whether the command right after the words is the deed that they announce: it names the same file.

        An edit of a file that was chosen as the place says less than the words that choose it.
        """
        number = self.numbers.get(position + 1)
        names = _FILE.findall(words.chosen) if words.rationale and not words.options else []
        call = self.calls[number] if number is not None else None
        return call is not None and call.operation == "run" and any(mentions_file(call, name) for name in names)

    def _answers_error(self, call: ParsedCall) -> bool:
        """Whether this look is the agent's answer to its latest error: about the same file, or the same command.

        What a person reported is answered by looking it up elsewhere than in the project.
        """
        arguments = call.step.arguments
        beyond_files = (arguments.get("url") or arguments.get("query")) and not (call.path or arguments.get("pattern"))
        if self.unanswered and beyond_files:
            return True
        number = self.numbers[call.position]
        recent = (self.calls[n] for n in reversed(self.errors) if number - n <= _LOOKS_AFTER_ERROR)
        # Calls side by side know nothing of each other's results.
        seen = (one for one in recent if one.result_position is not None and one.result_position < call.position)
        own = [one for one in seen if one.actor == call.actor]
        if not own or number in self.failed or own[0].operation in CHANGES:
            return False  # of an edit that was refused only the next one says what was decided
        error = own[0]
        # The same thing sought by other means, of several that failed side by side any; the same tool called rightly.
        beside = (one for one in own if (one.result_position or 0) > error.position)
        if any(shared_words(one, call) for one in beside):
            return True
        if error.step.tool == call.step.tool and call.path is None and _MISCALLED.search(error.output):
            return True
        if error.operation == "run" or call.operation == "run":
            return _program(error) == _program(call) is not None and not operands_of(error).isdisjoint(
                operands_of(call)
            )
        return error.path is not None and mentions_file(call, error.path)

    def _rationale(self, call: ParsedCall) -> str:
        """The words just before: the message or else the thought since the last result, else the last message.

        Words may announce two things that are then done one after the other; past that they are no longer about this.
        """
        words: Step | None = None
        passed = 0
        for position in range(call.position - 1, -1, -1):
            step = self.session.steps[position]
            if step.kind == "prompt" or passed > 1:
                break
            if step.actor != call.actor:
                continue
            if step.kind == "message" and step.text.strip():
                words = step
                break
            if step.kind == "thought" and words is None and step.text.strip():
                words = step
            if step.kind == "result" and words is not None:
                break
            passed += self._does_something(position)
        if words is None:
            return ""
        # What an agent says right before a call is about that call: the last paragraph.
        return line(next((part for part in reversed(words.text.strip().split("\n\n")) if part.strip()), ""))

    def _does_something(self, position: int) -> bool:
        """Whether the step is a call that changes or checks something."""
        if position not in self.numbers:
            return False
        call = self.calls[self.numbers[position]]
        return call.operation in CHANGES or call.purpose not in {None, "look"}


#: How a tool of the agent says that its arguments are wrong.
_MISCALLED = re.compile(r"\b-32602\b|[Ii]nvalid arguments|[Ii]nput validation error|InputValidationError")


def _is_polling(call: ParsedCall) -> bool:
    """Whether a call only waits for a command that is running, or stops it, and types nothing."""
    if call.operation not in {"look", "use"}:
        return False
    typed = str(call.step.arguments.get("chars") or call.step.arguments.get("input") or "")
    return bool(_TERMINAL.search(call.step.tool or "")) and not any(sign.isprintable() for sign in typed.strip())


def _program(call: ParsedCall) -> tuple[str, str | None] | None:
    """What a looking command was run for; None for any other call."""
    segment = call.decisive
    return (segment.program, segment.subcommand) if segment and segment.purpose == "look" else None


def evidence_of_call(call: ParsedCall) -> Evidence:
    """The call's place in the log, with what it did, and of an edit what was there before."""
    old, new = str(call.step.arguments.get("old") or ""), str(call.step.arguments.get("new") or "")
    return evidence_of(call.step, _words_of(call), replaced=replaced_part(old=old, new=new) if old else "")


def _words_of(call: ParsedCall) -> str:
    """What to quote of a call: of an edit what it changed, of anything else what it was asked."""
    arguments = call.step.arguments
    if arguments.get("new"):
        return changed_part(old=str(arguments.get("old") or ""), new=str(arguments["new"]))
    names = ("command", "prompt", "plan", "path", "pattern", "query")
    stated = next((str(arguments[name]) for name in names if arguments.get(name)), "")
    values = "\n".join(values_of(arguments)) if call.operation == "use" else ""
    return stated or values or (call.step.tool or "" if call.operation == "use" else "")
