"""From turns to steps. A turn is a thought, an action and what was seen then.

The ``history`` has the same once more as messages, and before it the order that began the run; demonstrations in it are
another run's. A file without turns is read by its history.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from helix_episodes.readers.chat import words_of
from helix_episodes.readers.dialogue import Dialogue
from helix_episodes.readers.fields import Place, object_in, text_in
from helix_episodes.readers.ledger import Ledger, Passed
from helix_episodes.readers.messages.parts import arguments_of
from helix_episodes.readers.swe_agent.actions import translate_action, was_refused, was_stopped
from helix_episodes.session import Source

if TYPE_CHECKING:
    from collections.abc import Sequence

    from helix_episodes.readers.fields import Record
    from helix_episodes.readers.located import Node
    from helix_episodes.session import Status, Step

#: Where the program's templates put the task.
_ISSUE = re.compile(
    r"^ISSUE:\s*\n(.*?)(?:^[ \t]*INSTRUCTIONS:|\Z)|<pr_description>\s*(.*?)</pr_description>", re.MULTILINE | re.DOTALL
)
_NOTHING_OPEN = "n/a"


class Trajectory:
    """Takes a run; its steps are in ``dialogue``."""

    def __init__(self) -> None:
        self.ledger = Ledger()
        self.dialogue = Dialogue()
        self.root: str | None = None
        self._opened: str | None = None
        self._ordered = False

    def take(self, run: Node) -> None:
        """Turns the run into steps."""
        turns = run.get("trajectory").items
        for message in run.get("history").items:
            is_told_again = bool(turns) or not self._ordered
            self.ledger.enter(_no_object(message) or (self._order if is_told_again else self._message)(message))
        for turn in turns:
            self.ledger.enter(_no_object(turn) or self._turn(turn))
        status = run.get("info").get("exit_status")
        if status.text:
            self.dialogue.say("note", _place(status), text=f"exit status: {status.text}", actor="system")

    def _order(self, message: Node) -> Passed | None:
        """The first message under the user's role that is no demonstration; the rest stands in the turns again."""
        plain = message.record
        is_demonstration = plain.get("is_demo") is True or plain.get("message_type") == "demonstration"
        if is_demonstration or plain.get("role") == "system":
            return Passed("demonstration" if is_demonstration else "system prompt")
        if self._ordered or plain.get("role") != "user":
            return Passed("history, which the turns have")
        said = self.dialogue.say("prompt", _place(message.get("content")), text=words_of(plain), actor="user")
        self._ordered = said
        return None if said else Passed("empty message")

    def _message(self, message: Node) -> Passed | None:
        """A message of a file that has no turns."""
        plain = message.record
        if plain.get("role") == "assistant":
            return self._act(message, plain)
        return self._see(message.get("content"), words_of(plain))

    def _turn(self, turn: Node) -> Passed | None:
        plain = turn.record
        state = _state(plain)
        self.root = self.root or text_in(state, "working_dir")
        opened = text_in(state, "open_file")
        # The state is that after the turn: an edit closes no file, and opening one is no edit.
        self._opened = opened if opened and opened != _NOTHING_OPEN else self._opened
        passed = self._act(turn, plain)
        return passed or self._see(turn.get("observation"), text_in(plain, "observation") or "")

    def _act(self, node: Node, plain: Record) -> Passed | None:
        thought = node.get("thought")
        said = self.dialogue.say("thought", _place(thought), text=thought.text)
        action = text_in(plain, "action") or ""
        if not action.strip():
            return None if said else Passed("turn without action")
        tool, translation = translate_action(action, opened=self._opened)
        place = _place(node.get("action"))
        self.dialogue.call(place, tool=tool, call_id=None, translations=[translation])
        return None

    def _see(self, node: Node, text: str) -> Passed | None:
        call = self.dialogue.open_call(None)
        if call is None:
            said = self.dialogue.say("note", _place(node), text=text, actor="system")
            return None if said else Passed("empty message")
        self.dialogue.settle(None, _place(node), text=text, status=_came_out(call, text))
        return None


def issue_in(steps: Sequence[Step]) -> str | None:
    """The task's own words, where the order puts them into the program's template."""
    order = next((step.text for step in steps if step.kind == "prompt"), "")
    found = _ISSUE.search(order)
    return (found[1] or found[2] or "").strip() or None if found else None


def _came_out(call: Step, text: str) -> Status:
    """A shell command's end is not recorded; the interface's own commands say when they did nothing."""
    if call.operation == "run":
        return "error" if was_stopped(text) else "unknown"
    return "error" if was_refused(text) else "ok"


def _no_object(node: Node) -> Passed | None:
    return None if isinstance(node.value, dict) else Passed("no object", known=False)


def _state(turn: Record) -> Record:
    """The state after a turn: an object, or one written as JSON."""
    return object_in(turn, "state") or arguments_of(turn.get("state"))


def _place(node: Node) -> Place:
    return Place(Source(line=node.line))
