"""τ-bench: one JSON list of runs, each a chat with tool calls and a reward (``docs/reference/formats/tau-bench.md``).

A run holds the answer as well: the simulated user's instructions and what the right calls would have been. None of that
was said or done in the run, so none of it becomes a step.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from helix_episodes.errors import LogNotReadable
from helix_episodes.readers.base import SingleFileReader
from helix_episodes.readers.common.fields import RecordPosition
from helix_episodes.readers.common.json_with_lines import read_json_with_lines
from helix_episodes.readers.common.jsonl import LineLedger, SkippedRecord
from helix_episodes.readers.common.message_parts import is_error, message_text, tool_calls
from helix_episodes.readers.common.session_builder import Dialogue, id_from_path, session_of
from helix_episodes.session import Session, Source

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from helix_episodes.readers.base import LogHead
    from helix_episodes.readers.common.json_with_lines import JsonNode

#: With which the simulated user ends the chat.
_END_MARK = "###STOP###"


class TauBenchReader(SingleFileReader):
    """Reads the results of τ-bench: each run of the list is a session."""

    name = "tau-bench"
    suffixes = (".json",)
    unfamiliar = "no list of runs with task_id, reward and traj"

    def is_own(self, head: LogHead) -> bool:
        """Whether the file is a list of runs with a chat and a reward."""
        return isinstance(head.document, list) and bool(head.document) and all(map(_is_run, head.document))

    def read(self, path: Path) -> Iterator[Session]:
        """Every run of the list that is one."""
        runs = [run for run in read_json_with_lines(path).items if _is_run(run.plain)]
        if not runs:
            raise LogNotReadable(path=path, problem="it contains no run with task_id, reward and traj")
        for run in runs:
            yield _session(path, run)


def _is_run(run: Any) -> bool:  # noqa: ANN401  (JSON can be anything)
    if not isinstance(run, dict) or "task_id" not in run or not isinstance(run.get("traj"), list):
        return False
    return isinstance(run.get("reward"), (int, float)) and all(isinstance(one, dict) for one in run["traj"])


def _session(path: Path, run: JsonNode) -> Session:
    ledger, dialogue = LineLedger(), Dialogue()
    for message in run.get("traj").items:
        ledger.enter(_take(message, dialogue))
    task, trial = run.get("task_id").text, run.get("trial").text
    return session_of(
        dialogue.steps,
        reader=TauBenchReader.name,
        id=id_from_path(path, "task", task, *(("trial", trial) if trial else ())),
        task_id=task,
        reward=min(max(float(run.get("reward").value), 0.0), 1.0),
        accounting=ledger.accounting(),
    )


def _take(message: JsonNode, dialogue: Dialogue) -> SkippedRecord | None:
    role, content = message.get("role").text, message.get("content")
    place = RecordPosition(Source(line=content.line))
    text = message_text(message.record)
    if role == "user":
        return dialogue.add_text_or_skip(
            "prompt", place, text=text.replace(_END_MARK, ""), actor="user", empty="end of the chat"
        )
    if role == "assistant":
        return _answer(message, text, dialogue)
    if role == "tool":
        call_id = message.get("tool_call_id").text or None
        dialogue.add_result(call_id, place, text=text, status="error" if is_error(text) else "ok")
        return None
    return SkippedRecord(f"message of {role}", known=role in {"system", "developer"})


def _answer(message: JsonNode, text: str, dialogue: Dialogue) -> SkippedRecord | None:
    added = dialogue.add_text("message", RecordPosition(Source(line=message.get("content").line)), text=text)
    calls = tool_calls(message.record)
    for call, node in zip(calls, message.get("tool_calls").items, strict=False):
        # Tools of a trade are distinguished by their verbs: no table could have them all.
        place = RecordPosition(Source(line=node.get("function").get("arguments").line))
        dialogue.call(place, call.tool, call.arguments, tools={}, call_id=call.id)
    return None if added or calls else SkippedRecord("empty answer")
