"""A session as a trajectory in ATIF, the format for exchange between tools (``docs/reference/formats/atif.md``).

The steps of an agent are grouped as the format has them: what it thought, what it said, its calls, and what came of
these, as long as they have one time. A tool keeps its name where `COMMON_TOOLS` understands it with these arguments,
and gets a common name elsewhere. A helper's steps are a trajectory of their own, which the result of the call that sent
it refers to. How a result came out, and when, stands in its ``extra``, since the format has no field for it. Secrets
and home folders are cut.
"""

from __future__ import annotations

from collections import defaultdict, deque
from typing import TYPE_CHECKING, Any

import msgspec

from helix_episodes.readers.common.tool_translation import COMMON_TOOLS, translate
from helix_episodes.redaction import for_disk

if TYPE_CHECKING:
    from collections.abc import Sequence

    from helix_episodes.session import Operation, Session, Step

VERSION = "ATIF-v1.7"
#: In the ``extra`` of a result: its ``status`` in the words of `helix_episodes.session.Status`, and its time.
OURS = "helix_graph"
#: Names that readers understand, for tools whose own names they do not.
_COMMON_NAMES: dict[Operation, str] = {
    "run": "bash",
    "edit": "edit",
    "create": "create_file",
    "delete": "delete_file",
    "delegate": "task",
    "look": "read",
    "track": "todo_write",
    "plan": "exit_plan_mode",
    "ask": "ask_user_question",
}


def atif_bytes(session: Session) -> bytes:
    """A session as ``trajectory.json``, redacted."""
    document = for_disk(atif_document(session))
    return msgspec.json.format(msgspec.json.encode(document), indent=2) + b"\n"


def atif_document(session: Session) -> dict[str, Any]:
    """A session as a trajectory, with its texts as they were logged."""
    helpers: defaultdict[str, list[Step]] = defaultdict(list)
    own: list[Step] = []
    for step in session.steps:
        (helpers[step.actor] if step.actor.startswith("agent:") else own).append(step)
    trajectory = _Trajectory()
    waiting = deque(helpers)
    for step in own:
        ends_helper = step.kind == "result" and waiting and trajectory.operation_of(step) == "delegate"
        trajectory.take(step, helper=waiting.popleft() if ends_helper else None)
    agent = {"name": session.agent, "version": session.agent_version or "unknown"}
    agent |= {"model_name": session.model} if session.model else {}
    agent |= {"extra": {"cwd": session.root}} if session.root else {}  # type: ignore[dict-item]  # a nested object
    found = {
        "schema_version": VERSION,
        "session_id": session.id,
        "agent": agent,
        "steps": trajectory.steps,
        "final_metrics": {"total_steps": len(trajectory.steps)},
    }
    if helpers:
        found["subagent_trajectories"] = [_of_helper(name, steps, agent) for name, steps in helpers.items()]
    return found


def _of_helper(name: str, steps: Sequence[Step], agent: dict[str, Any]) -> dict[str, Any]:
    trajectory = _Trajectory()
    for step in steps:
        trajectory.take(step)
    return {
        "schema_version": VERSION,
        "trajectory_id": name.removeprefix("agent:"),
        "agent": agent,
        "steps": trajectory.steps,
    }


class _Trajectory:
    """The steps of one trajectory while they are put together."""

    def __init__(self) -> None:
        self.steps: list[dict[str, Any]] = []
        self._ids: set[str] = set()
        #: Calls without a result, by the id that the session gives them: the step, the id here, and what it does.
        self._open: defaultdict[str | None, deque[tuple[dict[str, Any], str, Operation | None]]] = defaultdict(deque)

    def operation_of(self, result: Step) -> Operation | None:
        """What the call does that a result ends."""
        calls = self._open.get(result.call_id)
        return calls[0][2] if calls else None

    def take(self, step: Step, *, helper: str | None = None) -> None:
        """Puts in one step of a session; ``helper`` is whose run a result refers to."""
        match step.kind:
            case "prompt":
                self._add(step, "user", message=step.text)
            case "thought":
                self._agent(step, ("reasoning_content", "message", "tool_calls"))["reasoning_content"] = step.text
            case "message":
                self._agent(step, ("message", "tool_calls"))["message"] = step.text
            case "call":
                self._call(step)
            case "result":
                self._result(step, helper)
            case "boundary":
                reason = step.arguments.get("reason", "compaction")
                self._add(step, "system", message="", extra={"context_management": {"type": reason}})
            case _:
                self._add(step, "system", message=step.text, extra={"kind": step.kind, **step.arguments})

    def _add(self, step: Step, source: str, **fields: Any) -> dict[str, Any]:  # noqa: ANN401  (fields of a step)
        made: dict[str, Any] = {"step_id": len(self.steps) + 1, "source": source, "message": "", **fields}
        if step.at is not None:
            made["timestamp"] = _time(step)
        self.steps.append(made)
        return made

    def _agent(self, step: Step, taken: tuple[str, ...]) -> dict[str, Any]:
        """The agent's step that this belongs to: the last one, unless it is over or has one of these already."""
        last = self.steps[-1] if self.steps else {}
        over = last.get("source") != "agent" or "observation" in last or last.get("timestamp") != _time(step)
        over = over or any(last.get(name) for name in taken)
        found = self._add(step, "agent") if over else last
        if step.tokens is not None:
            found["metrics"] = {"completion_tokens": step.tokens, "extra": {"counts": "written and newly read"}}
        return found

    def _call(self, step: Step) -> None:
        within = self._agent(step, ())
        name = step.call_id or f"call-{len(self._ids) + 1}"
        while name in self._ids:
            name += "+"
        self._ids.add(name)
        tool, arguments = _tool_of(step)
        within.setdefault("tool_calls", []).append(
            {"tool_call_id": name, "function_name": tool, "arguments": arguments}
        )
        self._open[step.call_id].append((within, name, step.operation))

    def _result(self, step: Step, helper: str | None) -> None:
        result: dict[str, Any] = {"content": step.text, "extra": {OURS: {"status": step.status, "at": _time(step)}}}
        if step.status in {"ok", "error"}:
            result["extra"]["is_error"] = step.status == "error"
        if step.exit_code is not None:
            result["extra"]["exit_code"] = step.exit_code
        if helper is not None:
            result["subagent_trajectory_ref"] = [{"trajectory_id": helper.removeprefix("agent:")}]
        calls = self._open.get(step.call_id)
        if calls:
            within, name, _ = calls.popleft()
            result["source_call_id"] = name
        else:  # a result without its call, which a log that was cut can have
            within = self._agent(step, ())
        within.setdefault("observation", {"results": []})["results"].append(result)


def _time(step: Step) -> str | None:
    return None if step.at is None else step.at.isoformat()


def _tool_of(step: Step) -> tuple[str, dict[str, Any]]:
    """A tool's name and arguments by which `translate` finds the same operation and arguments."""
    arguments = _arguments_of(step)
    wanted = ((step.operation, step.arguments),)
    own = step.tool or "unnamed"
    for name in (own, _COMMON_NAMES.get(step.operation or "use", own)):
        if translate(name, arguments, tools=COMMON_TOOLS) == wanted:
            return name, arguments
    return own, arguments


def _arguments_of(step: Step) -> dict[str, Any]:
    """The arguments of a call under names that common tools have."""
    logged = step.arguments
    if step.operation == "create":
        return {"path": logged.get("path", ""), "content": logged.get("new", "")}
    if step.operation == "track":
        done, current = logged.get("completed", ()), logged.get("current", ())
        states = {**dict.fromkeys(current, "in_progress"), **dict.fromkeys(done, "completed")}
        return {"todos": [{"content": one, "status": states.get(one, "pending")} for one in logged.get("items", ())]}
    return dict(logged)
