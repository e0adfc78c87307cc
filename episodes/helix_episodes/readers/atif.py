"""ATIF, the trajectory interchange format of Harbor (``docs/formats/atif.md`` describes it).

One JSON document a run. A step of the agent holds its words, its calls and what came of them. Results bear no flag of
failure: how a call came out is known only where its text, or the tool's own ``extra``, says so.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from helix_episodes.readers.documents import place_steps, read_located
from helix_episodes.readers.exits import ending_of
from helix_episodes.readers.fields import Place, Record, moment_of, object_in, objects_in, text_in
from helix_episodes.readers.journal import Journal
from helix_episodes.readers.ledger import Passed
from helix_episodes.readers.messages.parts import arguments_of, text_of
from helix_episodes.readers.vocabulary import COMMON, translate
from helix_episodes.session import Source

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from helix_episodes.readers.located import Node
    from helix_episodes.readers.registry import LogHead
    from helix_episodes.session import Session

_VERSION = "ATIF-"
_CUT = "context_management"


class AtifReader:
    """Reads ``trajectory.json`` as Harbor writes it."""

    name = "atif"
    suffixes = (".json",)

    def sniff(self, head: LogHead) -> str | None:
        """``None`` when the document says that it is a trajectory in this format, else why not."""
        version = head.document.get("schema_version") if isinstance(head.document, dict) else None
        if isinstance(version, str) and version.startswith(_VERSION):
            return None
        return "no schema_version of ATIF"

    def is_part(self, path: Path) -> bool:  # noqa: ARG002  (helpers' runs stand within the document)
        """Never: one file is one run."""
        return False

    def read(self, path: Path) -> Iterator[Session]:
        """The one run in the document.

        Raises:
            LogNotReadable: the file cannot be read, or holds no step at all.
        """
        document = read_located(path)
        run = _Run(_helpers(document))
        about = document.record
        agent = object_in(about, "agent")
        run.journal.tell(
            id=text_in(about, "session_id") or text_in(about, "trajectory_id"),
            version=text_in(agent, "version"),
            root=text_in(object_in(agent, "extra"), "cwd"),
        )
        run.take_all(document, actor="agent")
        run.journal.answered_by(text_in(agent, "model_name"))
        session = run.journal.session(path, reader=self.name, agent=text_in(agent, "name"), rewritten=True)
        yield session


def _helpers(document: Node) -> dict[str, Node]:
    """The runs of helpers that the document holds, by their ids."""
    named = ((_id_of(node.record), node) for node in document.get("subagent_trajectories").items)
    return {name: node for name, node in named if name}


def _id_of(record: Record) -> str | None:
    return text_in(record, "trajectory_id") or text_in(record, "session_id")


class _Run:
    """One document while it is read. A helper's steps stand behind the call that sent it."""

    def __init__(self, helpers: dict[str, Node]) -> None:
        self.journal = Journal()
        self._dialogue = self.journal.dialogue
        self._helpers = helpers

    def take_all(self, document: Node, *, actor: str) -> None:
        """Takes in the steps of one trajectory."""
        for node in document.get("steps").items:
            since = len(self._dialogue.steps)
            self.journal.ledger.enter(self._take(node.record, line=node.line, actor=actor))
            place_steps(self._dialogue, node, since=since)

    def _take(self, step: Record, *, line: int, actor: str) -> Passed | None:
        place = Place(Source(line=line), moment_of(step.get("timestamp")))
        if step.get("is_copied_context") is True:
            return Passed("copied context")
        text = text_of(step.get("message"))
        match step.get("source"):
            case "user":
                kind, speaker = ("prompt", "user") if actor == "agent" else ("note", actor)
                said = self._dialogue.say("prompt" if kind == "prompt" else "note", place, text=text, actor=speaker)
                return None if said else Passed("empty prompt")
            case "agent":
                return self._act(step, place, text=text, actor=actor)
            case "system":
                return self._system(step, place)
        return Passed(f"step of {step.get('source')}", known=False)

    def _system(self, step: Record, place: Place) -> Passed | None:
        """A system's step is instructions, unless it tells that the context was cut."""
        extra = object_in(step, "extra")
        if _CUT not in extra and _CUT not in extra.values():
            return Passed("system")
        self._dialogue.add("boundary", place, actor="system", arguments={"reason": "compaction"})
        return None

    def _act(self, step: Record, place: Place, *, text: str, actor: str) -> Passed | None:
        before = len(self._dialogue.steps)
        self.journal.answered_by(text_in(step, "model_name"))
        self._spend(object_in(step, "metrics"))
        self._dialogue.say("thought", place, text=text_in(step, "reasoning_content") or "", actor=actor)
        self._dialogue.say("message", place, text=text, actor=actor)
        results = objects_in(object_in(step, "observation"), "results")
        for call in objects_in(step, "tool_calls"):
            tool = text_in(call, "function_name") or "unnamed"
            translations = translate(tool, arguments_of(call.get("arguments")), tools=COMMON)
            call_id = text_in(call, "tool_call_id")
            self._dialogue.call(place, tool=tool, call_id=call_id, translations=translations, actor=actor)
        for result in results:
            self._settle(result, place)
        return None if len(self._dialogue.steps) > before else Passed("empty step")

    def _settle(self, result: Record, place: Place) -> None:
        call_id = text_in(result, "source_call_id")
        self._follow(result.get("subagent_trajectory_ref"))
        call = self._dialogue.open_call(call_id)
        extra = object_in(result, "extra")
        flag, code = extra.get("is_error"), extra.get("exit_code")
        ending = ending_of(
            text_of(result.get("content")),
            failed=flag if isinstance(flag, bool) else None,
            ran=call is not None and call.operation == "run",
            exit_code=code if isinstance(code, int) else None,
        )
        self._dialogue.settle(call_id, place, text=ending.text, status=ending.status, exit_code=ending.exit_code)

    def _follow(self, references: object) -> None:
        """Puts in what the helper did whose run a result refers to."""
        for reference in references if isinstance(references, list) else [references]:
            name = _id_of(reference) if isinstance(reference, dict) else None
            helper = self._helpers.pop(name, None) if name else None
            if helper is not None:
                self.take_all(helper, actor=f"agent:{name}")

    def _spend(self, metrics: Record) -> None:
        """Tokens written and newly read; those from the cache repeat the same text with every call."""
        read, cached, written = (metrics.get(f"{name}_tokens") for name in ("prompt", "cached", "completion"))
        fresh = (read if isinstance(read, int) else 0) - (cached if isinstance(cached, int) else 0)
        self.journal.spent(max(fresh, 0) + (written if isinstance(written, int) else 0))
