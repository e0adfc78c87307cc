"""What a finished agent leaves behind: its report, its lessons, and a message to those who wait for it.

Everything is read from the agent's own messages. Which insights it had been given is read from the hand-off file of its
task; only where there is none from the marks in its prompt. The insights hear of the ending once: through the task's
workspace, where there is one, whatever the agent's report; else under the agent's and the task's name, judged by the
report's words.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

import msgspec

from helix_episodes.errors import HelixGraphError
from helix_graph.insights.storing import is_persons_tag
from helix_graph.plans.handoff_files import HandoffFiles, InjectionState
from helix_graph.plans.model import NoWorkTree, WorkspaceClosed
from helix_graph.plans.store import flat
from helix_graph.plans.task_workspaces import Workspaces
from helix_graph.plans.transcripts import (
    FEWEST_CHARACTERS,
    AgentReport,
    AgentTranscript,
    ReportedInsight,
    derived_insight,
    field_in,
    fields_in,
    injected_in,
    insight_in,
    outcome_of,
    read_patiently,
    report_in,
    result_in,
    utilized_in,
)
from helix_graph.timestamps import stamp, utc_now
from helix_graph.validation import as_choice, as_path

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from helix_graph.insights.storing import StoreAnswer
    from helix_graph.plans.model import AgentOutcome, EndedWorkspace
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


class _Finished(msgspec.Struct, frozen=True, kw_only=True):
    """What the transcript and the hand-off file say, before anything is done about it."""

    agent_type: AgentType
    agent_id: str
    transcript: AgentTranscript
    task_id: str | None
    state: InjectionState | None
    asked: tuple[str, ...]
    report: AgentReport | None
    insight: ReportedInsight | None
    injected: tuple[str, ...]
    utilized: tuple[str, ...] | None

    @property
    def outcome(self) -> str:
        if self.report:
            return self.report.outcome
        return "crashed" if self.transcript.crashed and self.agent_type in _REPORTING else "unknown"

    @property
    def told(self) -> str:
        return self.report.told if self.report else ""


class Learning:
    """Learns from the finished agents of the memory in ``root``."""

    def __init__(self, context: PlanContext) -> None:
        self._files = HandoffFiles(context.root)
        self._insights = context.insights
        self._workspaces = Workspaces(context)

    def learn(
        self,
        transcript: Path,
        *,
        agent_type: str,
        agent_id: str | None,
        pauses: Sequence[float],
    ) -> LearnAnswer:
        """Learns from one agent; see `helix_graph.plans.api.Plans.learn`."""
        path = as_path("transcript", transcript)
        kind: AgentType = as_choice("agent_type", _short(agent_type), AGENT_TYPES)
        finished = self._read(path, kind, agent_id, pauses)
        done: dict[str, Any] = {}
        problems: list[str] = []
        for step in (self._feed_back, self._keep_insight, self._keep_result):
            try:
                done |= step(finished)
            except HelixGraphError as error:
                problems.append(str(error))
        learnt = LearnAnswer(
            agent_type=kind,
            agent_id=finished.agent_id,
            task_id=finished.task_id,
            outcome=finished.outcome,
            summary=finished.told[:_SUMMARY],
            insight=finished.insight.content if finished.insight else None,
            injected=finished.injected,
            problems=tuple(problems),
            **done,
        )
        self._tell(learnt)
        return learnt

    def _read(self, path: Path, kind: AgentType, agent_id: str | None, pauses: Sequence[float]) -> _Finished:
        def is_done(found: AgentTranscript) -> bool:
            if kind == "explorer":
                return result_in(*found.own) is not None
            return kind not in _REPORTING or report_in(*found.own) is not None

        found = read_patiently(path, done=is_done, pauses=pauses)
        first = found.prompts[0] if found.prompts else ""
        field = field_in(first, "TASK_ID")
        task_id = field.split()[0] if field else None
        state = self._files.read_state(task_id) if task_id else None
        report, insight = report_in(*found.own), insight_in(*found.own)
        asked = [one for prompt in found.prompts for one in fields_in(prompt, "TASK", "OBJECTIVE")]
        if not insight and report and report.outcome == "blocked" and report.told:
            insight = derived_insight(asked[-1] if asked else "", report.told)
        return _Finished(
            agent_type=kind,
            agent_id=agent_id or path.stem.removeprefix("agent-"),
            transcript=found,
            task_id=task_id,
            state=state,
            report=report,
            insight=insight,
            asked=tuple(asked[-2:]),
            injected=state.names if state else found.injected or injected_in(first),
            utilized=utilized_in(*found.own),
        )

    def _feed_back(self, finished: _Finished) -> dict[str, Any]:
        """The ending goes to the task's workspace, which feeds back; without one, to the insights themselves."""
        if finished.report is None or finished.agent_type not in _REPORTING:
            return {}
        number = finished.state.workspace if finished.state else None
        if number is not None:
            try:
                ended = self._ended(number, finished)
            except WorkspaceClosed:  # somebody who looked at the work decided otherwise, and that stands
                return {"workspace": number}
            return {"workspace": number, "feedback": ended.feedback}
        injection = self._insights.showing_of(finished.task_id or "", finished.injected)
        if not (finished.injected or injection):
            return {}
        name = f"agent-{finished.agent_id}-{finished.task_id or finished.transcript.session}"
        return {"feedback": dict(self._judged(finished, finished.report.outcome, id=name, injection=injection))}

    def _judged(self, finished: _Finished, outcome: AgentOutcome, *, id: str, injection: str) -> Mapping[str, Any]:  # noqa: A002  (as in feedback)
        """By the agent's word of what helped, else by what was asked and reported."""
        if finished.utilized is None:
            # What was asked and reported, as in the seeds; without either, how it ended.
            account = "\n".join(part for part in (*finished.asked, finished.told) if part) or finished.outcome
            return self._insights.feedback_from_text(account, finished.injected, outcome, id=id, injection=injection)[
                "feedback"
            ][0]
        utilized = [one for one in finished.injected if one in finished.utilized]
        return self._insights.feedback(finished.injected, outcome, utilized, id=id, injection=injection)

    def _ended(self, number: int, finished: _Finished) -> EndedWorkspace:
        """Ends it by what changed where the agent worked, if that is a work tree of the repository and still there."""
        end = self._workspaces.block if finished.outcome == "blocked" else self._workspaces.complete
        verified = outcome_of(finished.transcript.steps, self._workspaces.get(number).verify)
        text, utilized, root = flat(finished.told), finished.utilized, finished.transcript.root
        try:
            return end(number, text, utilized, verified=verified, tree=Path(root) if root else None)
        except NoWorkTree:
            return end(number, text, utilized, verified=verified)

    def _keep_insight(self, finished: _Finished) -> dict[str, Any]:
        insight = finished.insight
        if insight is None or len(insight.content) < FEWEST_CHARACTERS:
            return {}
        return {"stored": dict(self._stored(insight, session=finished.transcript.session))}

    def _stored(self, insight: ReportedInsight, *, session: str) -> StoreAnswer:
        """The insight as an agent's, with the session by which it can be forgotten."""
        tags = [tag for tag in insight.tags if not is_persons_tag(tag)]
        return self._insights.store(insight.content, tags, origin="agent", episode=session)

    def _keep_result(self, finished: _Finished) -> dict[str, Any]:
        if finished.agent_type != "explorer":
            return {}
        found = result_in(*finished.transcript.own)
        return {} if found is None else {"result": self._files.write_result(finished.agent_id, found)}

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
            self._files.add_status(entry | ({"insight": learnt.insight} if learnt.insight else {}))
        self._files.add_log(_log_line(learnt))


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
