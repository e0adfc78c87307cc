"""ATIF, the trajectory interchange format of Harbor (``docs/reference/formats/atif.md``), read and written.

One JSON document a run. A step of the agent holds its words, its calls and what came of them. Results bear no flag of
failure: how a call came out is known only where its text, or the tool's own ``extra``, says so.

`atif_document` writes any session so. The steps of an agent are grouped as the format has them: what it thought, what
it said, its calls, and what came of these, as long as they have one time. A tool keeps its name where `COMMON_TOOLS`
understands it with these arguments, and gets a common name elsewhere. A helper's steps are a trajectory of their own,
which the result of the call that sent it refers to.
"""

from __future__ import annotations

import re
from collections import defaultdict, deque
from typing import TYPE_CHECKING, Any, get_args

import msgspec

from helix_episodes.readers.base import SingleFileReader
from helix_episodes.readers.common.fields import (
    Record,
    RecordPosition,
    count_in,
    object_in,
    objects_in,
    parse_any_time,
    text_in,
)
from helix_episodes.readers.common.json_with_lines import read_json_with_lines, set_step_lines
from helix_episodes.readers.common.jsonl import SkippedRecord
from helix_episodes.readers.common.message_parts import content_text
from helix_episodes.readers.common.session_builder import SessionBuilder
from helix_episodes.readers.common.tool_translation import COMMON_TOOLS, translate
from helix_episodes.redaction import for_disk
from helix_episodes.session import Source, Status

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from helix_episodes.readers.base import LogHead
    from helix_episodes.readers.common.json_with_lines import JsonNode
    from helix_episodes.session import Operation, Session, Step, StepKind

_VERSION = "ATIF-"
_CUT = "context_management"
#: What is put below a result that the agent's own log flagged, where it is made from a log that has flags.
_FLAGGED = "[error] tool reported failure"
#: In the ``extra`` of a result that was written here: its `helix_episodes.session.Status`, and its time.
OURS = "helix_graph"
_STATUSES: tuple[Status, ...] = get_args(Status)
_MARKING = frozenset({"claude-code"})
#: Results of calls that never ran, or that a person did not let through, in the words of the agents themselves.
_NEVER_RAN: dict[str, Status] = {
    "<tool_use_error>Sibling tool call errored": "cancelled",
    "The user doesn't want to proceed with this tool use.": "rejected",
}
#: What converters, and OpenHands itself, write in a message's place.
_PROGRAM_SENTENCE = re.compile(
    r"Executed \S+ toolu_\w+$|Running command: |Reading file: |I edited the file |Managing \d+ task items"
    r"|I am interacting with the MCP server "
)
#: A message of so few characters around the call's own arguments only says that the call was made.
_REPEATED = 60


class AtifReader(SingleFileReader):
    """Reads ``trajectory.json`` as Harbor writes it."""

    name = "atif"
    suffixes = (".json",)
    unfamiliar = "no schema_version of ATIF"

    def is_own(self, head: LogHead) -> bool:
        """Whether the document says that it is a trajectory in this format."""
        version = head.document.get("schema_version") if isinstance(head.document, dict) else None
        return isinstance(version, str) and version.startswith(_VERSION)

    def read(self, path: Path) -> Iterator[Session]:
        """The one run in the document."""
        document = read_json_with_lines(path)
        about = document.record
        agent = object_in(about, "agent")
        run = _Run(_helpers(document), marks_failures=text_in(agent, "name") in _MARKING)
        extra = object_in(agent, "extra")
        folders = extra.get("cwds")
        first = next((one for one in folders if isinstance(one, str)), None) if isinstance(folders, list) else None
        run.builder.note(
            id=text_in(about, "session_id") or text_in(about, "trajectory_id"),
            version=text_in(agent, "version"),
            root=text_in(extra, "cwd") or first,
        )
        run.take_all(document, actor="agent")
        run.builder.count_model(text_in(agent, "model_name"))
        yield run.builder.session(path, reader=self.name, agent=text_in(agent, "name") or self.name, rewritten=True)


def _helpers(document: JsonNode) -> dict[str, JsonNode]:
    """The runs of helpers that the document holds, by their ids."""
    named = ((_id_of(node.record), node) for node in document.get("subagent_trajectories").items)
    return {name: node for name, node in named if name}


def _id_of(record: Record) -> str | None:
    return text_in(record, "trajectory_id") or text_in(record, "session_id")


def _is_programs(message: str, calls: list[Record]) -> bool:
    """Whether a message only says that a call was made, as those who convert a log write it.

    >>> _is_programs("Called: ls -la /srv", [{"function_name": "bash", "arguments": {"command": "ls -la /srv"}}])
    True
    """
    if _PROGRAM_SENTENCE.match(message):
        return True
    left = message
    for call in calls:
        said = (call.get("function_name"), call.get("tool_call_id"), *object_in(call, "arguments").values())
        for value in sorted((one for one in said if isinstance(one, str) and one.strip()), key=len, reverse=True):
            left = left.replace(value, "")
    return bool(calls) and len(left) < len(message) and len(left.strip()) <= _REPEATED


class _Run:
    """One document while it is read. A helper's steps follow the call that sent it."""

    def __init__(self, helpers: dict[str, JsonNode], *, marks_failures: bool) -> None:
        self._marks_failures = marks_failures
        self.builder = SessionBuilder()
        self._dialogue = self.builder.dialogue
        self._helpers = helpers

    def take_all(self, document: JsonNode, *, actor: str) -> None:
        """Takes in the steps of one trajectory."""
        for node in document.get("steps").items:
            since = len(self._dialogue.steps)
            self.builder.ledger.enter(self._take(node.record, line=node.line, actor=actor))
            set_step_lines(self._dialogue, node, since=since)

    def _take(self, step: Record, *, line: int, actor: str) -> SkippedRecord | None:
        place = RecordPosition(Source(line=line), parse_any_time(step.get("timestamp")))
        if step.get("is_copied_context") is True:
            return SkippedRecord("copied context")
        text = content_text(step.get("message"))
        match step.get("source"):
            case "user":
                kind: StepKind = "prompt" if actor == "agent" else "note"
                speaker = "user" if actor == "agent" else actor
                return self._dialogue.add_text_or_skip(kind, place, text=text, actor=speaker, empty="empty prompt")
            case "agent":
                return self._act(step, place, text=text, actor=actor)
            case "system":
                return self._system(step, place)
        return SkippedRecord(f"step of {step.get('source')}", known=False)

    def _system(self, step: Record, place: RecordPosition) -> SkippedRecord | None:
        """A system's step is instructions, unless it tells that the context was cut."""
        extra = object_in(step, "extra")
        if _CUT not in extra and _CUT not in extra.values():
            return SkippedRecord("system")
        self._dialogue.add("boundary", place, actor="system", arguments={"reason": "compaction"})
        return None

    def _act(self, step: Record, place: RecordPosition, *, text: str, actor: str) -> SkippedRecord | None:
        before = len(self._dialogue.steps)
        self.builder.count_model(text_in(step, "model_name"))
        metrics = object_in(step, "metrics")  # tokens from the cache repeat the same text with every call
        fresh = count_in(metrics, "prompt_tokens") - count_in(metrics, "cached_tokens")
        self.builder.add_tokens(max(fresh, 0) + count_in(metrics, "completion_tokens"))
        thought = text_in(step, "reasoning_content") or ""
        self._dialogue.add_text("thought", place, text=thought if thought != "null" else "", actor=actor)
        calls = objects_in(step, "tool_calls")
        self._dialogue.add_text("message", place, text="" if _is_programs(text, calls) else text, actor=actor)
        for call in calls:
            tool, call_id = text_in(call, "function_name"), text_in(call, "tool_call_id")
            self._dialogue.call(place, tool, call.get("arguments"), tools=COMMON_TOOLS, call_id=call_id, actor=actor)
        for result in objects_in(object_in(step, "observation"), "results"):
            self._end_call(result, place, flag=object_in(step, "extra").get("tool_result_is_error"))
        return None if len(self._dialogue.steps) > before else SkippedRecord("empty step")

    def _end_call(self, result: Record, place: RecordPosition, *, flag: object) -> None:
        call_id = text_in(result, "source_call_id")
        self._follow(result.get("subagent_trajectory_ref"))
        extra, text = object_in(result, "extra"), content_text(result.get("content"))
        marked = text.rstrip().endswith(_FLAGGED)
        if marked:
            text = text.rstrip().removesuffix(_FLAGGED).rstrip()
        stated = next((one for one in (extra.get("is_error"), flag) if isinstance(one, bool)), None)
        failed = True if marked else stated if stated is not None else False if self._marks_failures else None
        ours = object_in(extra, OURS)
        place = RecordPosition(place.source, parse_any_time(ours.get("at")) or place.at)
        begun = next((words for words in _NEVER_RAN if text.startswith(words)), "") if failed else ""
        self._dialogue.end_call(
            call_id,
            place,
            text=text,
            failed=failed,
            exit_code=extra.get("exit_code"),
            status=ours["status"] if ours.get("status") in _STATUSES else _NEVER_RAN.get(begun),
        )

    def _follow(self, references: object) -> None:
        """Puts in what the helper did whose run a result refers to."""
        for reference in references if isinstance(references, list) else [references]:
            name = _id_of(reference) if isinstance(reference, dict) else None
            helper = self._helpers.pop(name, None) if name else None
            if helper is not None:
                self.take_all(helper, actor=f"agent:{name}")


#: What is written; any version is read.
VERSION = "ATIF-v1.7"
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
