"""A chat of several agents as steps: who said what, who was sent, and which code ran.

Two shapes occur. In one, agents have names and a terminal runs the code blocks of the message before it, answering with
``exitcode: N``. In the other an orchestrator thinks (``Orchestrator (thought)``) and gives orders
(``Orchestrator (-> WebSurfer)``); the next message of the one addressed is the answer.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from helix_episodes.readers.dialogue import Dialogue
from helix_episodes.readers.fields import Place
from helix_episodes.readers.ledger import Ledger
from helix_episodes.readers.messages.parts import arguments_of
from helix_episodes.readers.vocabulary import Translation
from helix_episodes.session import Source

if TYPE_CHECKING:
    from helix_episodes.readers.located import Node
    from helix_episodes.session import Status, Step, StepKind

_BLOCK = re.compile(r"^```([\w+-]*)[ \t]*\n(.*?)^```", re.MULTILINE | re.DOTALL)
_SHELLS = frozenset({"sh", "bash", "shell", "console", "zsh"})
#: How the terminals of the two frameworks begin their answers.
_RAN = re.compile(
    r"\Aexitcode: (-?\d+) \([^)\n]*\)\n?(?:Code output: ?)?|\AThe script ran[^\n]*?exit code(?: was)?: (\d+)"
)
_ARROW = "->"


class Code(NamedTuple):
    """Blocks of code that nobody has run yet, and the step with the words that they stand in."""

    actor: str
    place: Place
    blocks: tuple[tuple[str, str], ...]
    words: int


class Chat:
    """Takes one message after the other; `finish` gives the steps."""

    def __init__(self) -> None:
        self.ledger = Ledger()
        self._dialogue = Dialogue()
        self._code: Code | None = None
        self._orders: dict[str, str] = {}
        self._begun = False

    def take(self, message: Node) -> None:
        """Turns one message into steps."""
        text = message.get("content").text
        place = Place(Source(line=message.get("content").line))
        before = len(self._dialogue.steps)
        self._hear(message, text, place)
        if len(self._dialogue.steps) > before:
            self.ledger.use()
        else:
            self.ledger.skip("empty message")

    def finish(self) -> tuple[Step, ...]:
        """The steps of all messages."""
        return tuple(self._dialogue.steps)

    def _hear(self, message: Node, text: str, place: Place) -> None:
        if not self._begun:
            # Whoever stands above it, the first message is the order that the agents were given.
            self._begun = self._dialogue.say("prompt", place, text=text, actor="user")
            return
        role, _, mode = (message.get("name").text or message.get("role").text).partition("(")
        name, mode = role.strip(), mode.removesuffix(")").strip()
        ran = _RAN.match(text)
        if ran is not None and self._code is not None:
            self._ran(place, text[ran.end() :].strip() if ran[1] else text, code=int(ran[1] or ran[2]), terminal=name)
        elif mode.startswith(_ARROW):
            self._ordered(place, text, actor=f"agent:{name}", helper=mode.removeprefix(_ARROW).strip())
        else:
            self._said(place, text, name=name, mode=mode)

    def _said(self, place: Place, text: str, *, name: str, mode: str) -> None:
        actor = f"agent:{name}" if name else "agent"
        kind: StepKind = "thought" if mode == "thought" else "note" if mode else "message"
        if name in self._orders:
            self._dialogue.settle(self._orders.pop(name), place, text=text, status="unknown", actor=actor)
        else:
            self._dialogue.say(kind, place, text=_reasons(text) or text, actor=actor)
        blocks = tuple((match[1].lower(), match[2]) for match in _BLOCK.finditer(text))
        if blocks:
            self._code = Code(actor, place, blocks, len(self._dialogue.steps) - 1)

    def _ordered(self, place: Place, text: str, *, actor: str, helper: str) -> None:
        """An order; one that was never answered gives way to the next."""
        self._orders[helper] = call_id = f"order-{len(self._dialogue.steps)}"
        order = Translation("delegate", {"agent": helper, "prompt": text, "description": ""})
        self._dialogue.call(place, tool=helper, call_id=call_id, translations=[order], actor=actor)

    def _ran(self, place: Place, text: str, *, code: int, terminal: str) -> None:
        """The code of an earlier message was run; its call stands where the result is, under the line of the code."""
        written = self._code
        if written is None:
            return
        self._code = None
        if terminal in self._orders:
            self._dialogue.settle(self._orders.pop(terminal), place, text=text, status="unknown")
        # What ran is a call now, and no part of the words around it.
        around = _BLOCK.sub("", self._dialogue.steps[written.words].text).strip()
        self._dialogue.change(written.words, text=around)
        status: Status = "error" if code else "ok"
        call_id = f"code-{len(self._dialogue.steps)}"
        self._dialogue.call(
            written.place, tool=terminal, call_id=call_id, translations=[_as_call(written.blocks)], actor=written.actor
        )
        self._dialogue.settle(call_id, place, text=text, status=status, exit_code=code)


def _reasons(text: str) -> str:
    r"""The reasons in an orchestrator's ledger, ``{question: {"reason": …, "answer": …}}``, but for yes and no.

    >>> _reasons('Ledger:\n{"done": {"reason": "not yet", "answer": false}, "next": {"reason": "due", "answer": "go"}}')
    'due'
    """
    _, begun, rest = text.partition("{")
    ledger = arguments_of(begun + rest) if begun else {}
    entries = [entry for entry in ledger.values() if isinstance(entry, dict)]
    return "\n".join(str(one["reason"]) for one in entries if "reason" in one and isinstance(one.get("answer"), str))


def _as_call(blocks: tuple[tuple[str, str], ...]) -> Translation:
    """A shell's block is a command; code in any other language is something handed to the terminal."""
    text = "\n".join(code.strip("\n") for _, code in blocks)
    if all(language in _SHELLS for language, _ in blocks):
        return Translation("run", {"command": text})
    return Translation("use", {"language": blocks[0][0], "code": text})
