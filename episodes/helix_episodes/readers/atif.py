"""ATIF, the trajectory interchange format of Harbor (``docs/reference/formats/atif.md``).

One JSON document a run. A step of the agent holds its words, its calls and what came of them. Results bear no flag of
failure: how a call came out is known only where its text, or the tool's own ``extra``, says so.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, get_args

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
from helix_episodes.readers.common.tool_translation import COMMON_TOOLS
from helix_episodes.session import Source, Status

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from helix_episodes.readers.base import LogHead
    from helix_episodes.readers.common.json_with_lines import JsonNode
    from helix_episodes.session import Session, StepKind

_VERSION = "ATIF-"
_CUT = "context_management"
#: What is put below a result that the agent's own log flagged, where it is made from a log that has flags.
_FLAGGED = "[error] tool reported failure"
#: Under this name our own export says how a result came out, and when (`helix_episodes.atif_export`).
_OURS = "helix_graph"
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
        ours = object_in(extra, _OURS)
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
