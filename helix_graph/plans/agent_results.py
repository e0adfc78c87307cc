"""What a finished agent leaves behind: its report, its lessons, and a message to those who wait for it.

Everything is read from the agent's own messages. Which insights it had been given is read from the hand-off file of its
task; only where there is none from the marks in its prompt. The insights hear of the ending once: through the task's
workspace, where there is one, whatever the agent's report; else under the agent's and the task's name, judged by the
report's words.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

import msgspec
import orjson

from helix_episodes.errors import HelixGraphError, InvalidArgument
from helix_episodes.redaction import for_disk
from helix_graph.helix_db import stamp, utc_now
from helix_graph.insights.safe_quoting import flat
from helix_graph.insights.storing import is_persons_tag
from helix_graph.plans import transcripts
from helix_graph.plans.handoff_files import HandoffFiles, append_line
from helix_graph.plans.model import AgentOutcome, EndedWorkspace, NoWorkTree, PlanError
from helix_graph.plans.workspace_endings import require_injected
from helix_graph.plans.workspaces import Workspaces
from helix_graph.validation import as_choice, as_path

if TYPE_CHECKING:
    from helix_graph.plans.schema import PlanContext

AgentType = Literal["builder", "planner", "explorer", "observer"]
AGENT_TYPES: tuple[AgentType, ...] = get_args(AgentType)
#: Whose end somebody waits for by a line in ``task-status.jsonl``.
_REPORTING = frozenset({"builder", "planner"})
_SUMMARY = 200


class LearnAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """What was taken from a finished agent. ``problems`` are what could not be done; the rest was."""

    agent_type: AgentType
    agent_id: str
    task_id: str | None = None
    outcome: str = "unknown"
    summary: str = ""
    insight: str | None = None
    stored: dict[str, Any] | None = None
    injected: tuple[str, ...] = ()
    feedback: dict[str, Any] | None = None
    workspace: int | None = None
    result: Path | None = None
    problems: tuple[str, ...] = ()


class Learning:
    """One finished agent: what its transcript and hand-off file say, and what is done about it."""

    def __init__(
        self, context: PlanContext, transcript: Path, *, agent_type: str, agent_id: str | None, pauses: Sequence[float]
    ) -> None:
        self._context = context
        self._files = HandoffFiles(context.root)
        self._insights = context.insights
        self._workspaces = Workspaces(context)
        path = as_path("transcript", transcript)
        self._type: AgentType = as_choice("agent_type", _short(agent_type), AGENT_TYPES)
        self._id = for_disk(agent_id or path.stem.removeprefix("agent-"))
        self._transcript = found = transcripts.read_patiently(path, done=self._is_done, pauses=pauses)
        first = found.prompts[0] if found.prompts else ""
        field = transcripts.field_in(first, "TASK_ID")
        self._task_id = field.split()[0] if field else None
        self._state = self._files.read_state(self._task_id) if self._task_id else None
        self._report, self._insight = transcripts.report_in(*found.own), transcripts.insight_in(*found.own)
        self._said = self._report.told if self._report else ""
        self._asked = [one for prompt in found.prompts for one in transcripts.fields_in(prompt, "TASK", "OBJECTIVE")][
            -2:
        ]
        if not self._insight and self._report and self._report.outcome == "blocked" and self._said:
            self._insight = transcripts.derived_insight(self._asked[-1] if self._asked else "", self._said)
        self._injected = self._state.names if self._state else found.injected or transcripts.injected_in(first)
        self._utilized = transcripts.utilized_in(*found.own)
        self._outcome: str = self._report.outcome if self._report else "unknown"
        if not self._report and found.crashed and self._type in _REPORTING:
            self._outcome = "crashed"

    def _is_done(self, found: transcripts.AgentTranscript) -> bool:
        if self._type == "explorer":
            return transcripts.result_in(*found.own) is not None
        return self._type not in _REPORTING or transcripts.report_in(*found.own) is not None

    def learn(self) -> LearnAnswer:
        """Learns from the agent; see `helix_graph.plans.api.Plans.learn`."""
        done: dict[str, Any] = {}
        problems: list[str] = []
        try:
            require_injected(self._context, self._injected, self._utilized or ())
        except InvalidArgument as error:  # without one name that was shown its word counts for nothing, not against all
            problems.append(str(error))
            self._utilized = tuple(one for one in self._utilized or () if one in self._injected) or None
        for step in (self._feed_back, self._keep_insight, self._keep_result):
            try:
                done |= step()
            except HelixGraphError as error:
                problems.append(str(error))
        learnt = LearnAnswer(
            agent_type=self._type,
            agent_id=self._id,
            task_id=self._task_id,
            outcome=self._outcome,
            summary=self._said[:_SUMMARY],
            insight=self._insight.content if self._insight else None,
            injected=self._injected,
            problems=tuple(problems),
            **done,
        )
        self._tell(learnt)
        return learnt

    def _feed_back(self) -> dict[str, Any]:
        """The ending goes to the task's workspace, which feeds back; without one, to the insights themselves."""
        if self._report is None or self._type not in _REPORTING:
            return {}
        number = self._state.workspace if self._state else None
        if number is not None:
            try:
                ended = self._ended(number)
            except PlanError:  # somebody who looked at the work decided otherwise, and that is not changed
                return {"workspace": number}
            return {"workspace": number, "feedback": ended.feedback}
        injection = self._insights.showing_of(self._task_id or "", self._injected)
        if not (self._injected or injection):
            return {}
        name = f"agent-{self._id}-{self._task_id or self._transcript.session}"
        return {"feedback": dict(self._judged(self._report.outcome, id=name, injection=injection))}

    def _judged(self, outcome: AgentOutcome, *, id: str, injection: str) -> Mapping[str, Any]:  # noqa: A002  (as in feedback)
        """By the agent's word of what helped, else by what was asked and reported."""
        if self._utilized is None:
            # What was asked and reported, as in the seeds; without either, how it ended.
            account = "\n".join(part for part in (*self._asked, self._said) if part) or self._outcome
            return self._insights.feedback_from_text(account, self._injected, outcome, id=id, injection=injection)[
                "feedback"
            ][0]
        utilized = [one for one in self._injected if one in self._utilized]
        return self._insights.feedback(self._injected, outcome, utilized, id=id, injection=injection)

    def _ended(self, number: int) -> EndedWorkspace:
        """Ends it by what changed where the agent worked, if that is a work tree of the repository and still there."""
        end = self._workspaces.block if self._outcome == "blocked" else self._workspaces.complete
        verified = transcripts.outcome_of(self._transcript.steps, self._workspaces.get(number).verify)
        text, utilized, root = flat(self._said), self._utilized, self._transcript.root
        try:
            return end(number, text, utilized, verified=verified, tree=Path(root) if root else None)
        except NoWorkTree:
            return end(number, text, utilized, verified=verified)

    def _keep_insight(self) -> dict[str, Any]:
        insight = self._insight
        if insight is None or len(insight.content) < transcripts.FEWEST_CHARACTERS:
            return {}
        tags = [tag for tag in insight.tags if not is_persons_tag(tag)]
        stored = self._insights.store(insight.content, tags, origin="agent", episode=self._transcript.session)
        return {"stored": dict(stored)}

    def _keep_result(self) -> dict[str, Any]:
        if self._type != "explorer":
            return {}
        found = transcripts.result_in(*self._transcript.own)
        return {} if found is None else {"result": self._files.write_result(self._id, found)}

    def _tell(self, learnt: LearnAnswer) -> None:
        """Tells whoever waits, at last: by then the loop is closed."""
        if learnt.task_id is not None and learnt.agent_type in _REPORTING:
            entry = {
                "task_id": learnt.task_id,
                "agent_id": learnt.agent_id,
                "outcome": learnt.outcome,
                "summary": learnt.summary,
                "ts": stamp(utc_now()),
            }
            entry |= {"insight": learnt.insight} if learnt.insight else {}
            append_line(self._files.task_status, orjson.dumps(entry))
        append_line(self._files.log, _log_line(learnt).encode())


def _short(agent_type: str) -> str:
    """The kind of agent, also from the plugin's name for it.

    >>> _short("helix:helix-builder")
    'builder'
    """
    return agent_type.rpartition(":")[2].removeprefix("helix-") if isinstance(agent_type, str) else agent_type


def _log_line(learnt: LearnAnswer) -> str:
    known = "OK" if learnt.stored and learnt.stored.get("status") != "rejected" else "NO_INSIGHT"
    done = "applied" if learnt.feedback else "skipped"
    causal = learnt.feedback.get("causal", 0) if learnt.feedback else 0
    parts = [
        stamp(utc_now()),
        known,
        learnt.agent_type,
        learnt.agent_id,
        f"outcome={learnt.outcome}",
        f"feedback={done}({len(learnt.injected)})",
        f"causal={causal}/{len(learnt.injected)}",
        *(f"problem={problem}" for problem in learnt.problems),
    ]
    return " | ".join(flat(part).replace("|", "/") for part in parts)
