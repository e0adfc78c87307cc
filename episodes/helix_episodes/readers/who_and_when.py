"""Who&When: one JSON object per run of several agents that failed (``docs/reference/formats/who-and-when.md``).

A file holds the run and what judges said of it afterwards: the right answer, who made the mistake, at which step and
why. That is an answer key. It never becomes a step, so no episode can have learnt from it; only that the run failed is
taken, as its reward.

Two shapes occur. In one, agents have names and a terminal runs the code blocks of the message before it, answering with
``exitcode: N``. In the other an orchestrator thinks (``Orchestrator (thought)``) and gives orders
(``Orchestrator (-> WebSurfer)``); the next message of the one addressed is the answer.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

from helix_episodes.readers.base import DocumentReader
from helix_episodes.readers.common.fields import RecordPosition
from helix_episodes.readers.common.jsonl import SkippedRecord
from helix_episodes.readers.common.message_parts import parse_arguments
from helix_episodes.readers.common.tool_translation import Translation
from helix_episodes.session import Source

if TYPE_CHECKING:
    from pathlib import Path

    from helix_episodes.readers.base import LogHead
    from helix_episodes.readers.common.json_with_lines import JsonNode
    from helix_episodes.readers.common.session_builder import SessionBuilder
    from helix_episodes.session import Status, StepKind


_BLOCK = re.compile(r"^```([\w+-]*)[ \t]*\n(.*?)^```", re.MULTILINE | re.DOTALL)
_SHELLS = frozenset({"sh", "bash", "shell", "console", "zsh"})
#: How the terminals of the two frameworks begin their answers.
_RAN = re.compile(
    r"\Aexitcode: (-?\d+) \([^)\n]*\)\n?(?:Code output: ?)?|\AThe script ran[^\n]*?exit code(?: was)?: (\d+)"
)
_ARROW = "->"


class Code(NamedTuple):
    """Blocks of code that no one has run yet, and the step with the text around them."""

    actor: str
    place: RecordPosition
    blocks: tuple[tuple[str, str], ...]
    words: int


class _Chat:
    """The chat while it is read, one message after the other."""

    def __init__(self, builder: SessionBuilder) -> None:
        self._ledger = builder.ledger
        self._dialogue = builder.dialogue
        self._code: Code | None = None
        self._orders: dict[str, str] = {}
        self._begun = False

    def take(self, message: JsonNode) -> None:
        """Turns one message into steps."""
        text = message.get("content").text
        place = RecordPosition(Source(line=message.get("content").line))
        before = len(self._dialogue.steps)
        self._take_text(message, text, place)
        self._ledger.enter(None if len(self._dialogue.steps) > before else SkippedRecord("empty message"))

    def _take_text(self, message: JsonNode, text: str, place: RecordPosition) -> None:
        if not self._begun:
            # Whoever said it, the first message is the order that the agents received.
            self._begun = self._dialogue.add_text("prompt", place, text=text, actor="user")
            return
        role, _, mode = (message.get("name").text or message.get("role").text).partition("(")
        name, mode = role.strip(), mode.removesuffix(")").strip()
        ran = _RAN.match(text)
        if ran is not None and self._code is not None:
            self._ran(place, text[ran.end() :].strip() if ran[1] else text, code=int(ran[1] or ran[2]), terminal=name)
        elif mode.startswith(_ARROW):
            self._ordered(place, text, actor=f"agent:{name}", helper=mode.removeprefix(_ARROW).strip())
        else:
            self._add_message(place, text, name=name, mode=mode)

    def _add_message(self, place: RecordPosition, text: str, *, name: str, mode: str) -> None:
        actor = f"agent:{name}" if name else "agent"
        kind: StepKind = "thought" if mode == "thought" else "note" if mode else "message"
        if name in self._orders:
            self._dialogue.add_result(self._orders.pop(name), place, text=text, status="unknown", actor=actor)
        else:
            self._dialogue.add_text(kind, place, text=_reasons(text) or text, actor=actor)
        blocks = tuple((match[1].lower(), match[2]) for match in _BLOCK.finditer(text))
        if blocks:
            self._code = Code(actor, place, blocks, len(self._dialogue.steps) - 1)

    def _ordered(self, place: RecordPosition, text: str, *, actor: str, helper: str) -> None:
        """An order; one that was never answered gives way to the next."""
        self._orders[helper] = call_id = f"order-{len(self._dialogue.steps)}"
        order = Translation("delegate", {"agent": helper, "prompt": text, "description": ""})
        self._dialogue.add_call(place, tool=helper, call_id=call_id, translations=[order], actor=actor)

    def _ran(self, place: RecordPosition, text: str, *, code: int, terminal: str) -> None:
        """The code of an earlier message was run; its call is where the result is, under the line of the code."""
        written, self._code = self._code, None
        if written is None:
            return
        if terminal in self._orders:
            self._dialogue.add_result(self._orders.pop(terminal), place, text=text, status="unknown")
        # What ran is a call now, and no part of the words around it.
        around = _BLOCK.sub("", self._dialogue.steps[written.words].text).strip()
        self._dialogue.change(written.words, text=around)
        status: Status = "error" if code else "ok"
        call_id = f"code-{len(self._dialogue.steps)}"
        self._dialogue.add_call(
            written.place, tool=terminal, call_id=call_id, translations=[_as_call(written.blocks)], actor=written.actor
        )
        self._dialogue.add_result(call_id, place, text=text, status=status, exit_code=code)


def _reasons(text: str) -> str:
    r"""The reasons in an orchestrator's ledger, ``{question: {"reason": …, "answer": …}}``, but for yes and no.

    >>> _reasons('Ledger:\n{"done": {"reason": "not yet", "answer": false}, "next": {"reason": "due", "answer": "go"}}')
    'due'
    """
    _, begun, rest = text.partition("{")
    ledger = parse_arguments(begun + rest) if begun else {}
    entries = [entry for entry in ledger.values() if isinstance(entry, dict)]
    return "\n".join(str(one["reason"]) for one in entries if "reason" in one and isinstance(one.get("answer"), str))


def _as_call(blocks: tuple[tuple[str, str], ...]) -> Translation:
    """A shell's block is a command; code in any other language is something handed to the terminal."""
    text = "\n".join(code.strip("\n") for _, code in blocks)
    if all(language in _SHELLS for language, _ in blocks):
        return Translation("run", {"command": text})
    return Translation("use", {"language": blocks[0][0], "code": text})


#: One half of the collection calls it so, the other so.
_VERDICTS = ("is_correct", "is_corrected")


class WhoAndWhenReader(DocumentReader):
    """Reads the runs of the Who&When collection."""

    name = "who-and-when"
    empty = "no message in its history"
    unfamiliar = "no object with question, history and is_correct"

    def is_own(self, head: LogHead) -> bool:
        """Whether the file is a question with a chat of agents and a verdict."""
        run = head.document
        is_chat = isinstance(run, dict) and isinstance(run.get("history"), list) and "question" in run
        return is_chat and any(isinstance(run.get(name), bool) for name in _VERDICTS)

    def take(self, document: JsonNode, builder: SessionBuilder, path: Path) -> dict[str, Any]:  # noqa: ARG002  (nothing of it)
        """Adds the messages of the chat."""
        chat = _Chat(builder)
        for message in document.get("history").items:
            chat.take(message)
        verdict = next((value for name in _VERDICTS if isinstance(value := document.get(name).value, bool)), None)
        return {
            "task": document.get("question").text or None,
            "task_id": document.get("question_ID").text or None,
            "reward": None if verdict is None else float(verdict),
        }
