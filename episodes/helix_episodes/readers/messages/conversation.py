"""One conversation of messages with roles: each message becomes the steps that its parts stand for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from helix_episodes.readers.exits import ending_of, tells_of_new_file
from helix_episodes.readers.ledger import Passed
from helix_episodes.readers.messages.parts import Answer, Call, Other, Part, Thought, Words, parts_of, read_answer
from helix_episodes.readers.vocabulary import translate

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from helix_episodes.readers.dialogue import Dialogue
    from helix_episodes.readers.fields import Place, Record
    from helix_episodes.readers.vocabulary import Translator

_PEOPLE = frozenset({"user", "human"})
_AGENTS = frozenset({"assistant", "model", "gemini", "agent"})
_TOOLS = frozenset({"tool", "toolResult", "tool_result"})


class Conversation:
    """Turns messages into steps. ``heard`` makes of a text on a user's line what the person typed."""

    def __init__(
        self, dialogue: Dialogue, *, tools: Mapping[str, Translator], heard: Callable[[str], str], actor: str = "agent"
    ) -> None:
        self.dialogue = dialogue
        self._tools = tools
        self._heard = heard
        self._actor = actor

    def take(self, message: Record, place: Place, *, role: str, status: str | None = None) -> Passed | None:
        """Adds the steps of a message, or says why there are none. ``status`` is the log's word on a result."""
        if role in _TOOLS and not isinstance(message.get("parts"), list):
            self.answer(read_answer(message), place, status=status)
            return None
        if role not in _PEOPLE | _AGENTS | _TOOLS:
            return Passed(f"message of {role}", known=role in {"system", "session_meta", "developer"})
        passed = Passed("empty message")
        before = len(self.dialogue.steps)
        for part in parts_of(message):
            passed = self._part(part, place, typed=role in _PEOPLE, status=status) or passed
        return None if len(self.dialogue.steps) > before else passed

    def call(self, call: Call, place: Place) -> None:
        """Adds a call."""
        translations = translate(call.tool, call.arguments, tools=self._tools)
        self.dialogue.call(place, tool=call.tool, call_id=call.id, translations=translations, actor=self._actor)

    def answer(self, answer: Answer, place: Place, *, status: str | None = None) -> None:
        """Adds a result. Where calls have no ids, it is the oldest open one's, whatever id the result has."""
        oldest = self.dialogue.open_call(None)
        nameless = oldest is not None and (oldest.call_id or "").startswith("line-")
        call_id = None if nameless and not self.dialogue.is_open(answer.id) else answer.id
        call = self.dialogue.open_call(call_id)
        failed = {"success": False, "error": True}.get(status or "", answer.failed)
        ran = call is not None and call.operation == "run"
        ending = ending_of(answer.text, failed=failed, ran=ran, exit_code=answer.exit_code)
        told = "cancelled" if status == "cancelled" else ending.status
        if tells_of_new_file(answer.text):
            self.dialogue.mark_created(call_id)
        self.dialogue.settle(call_id, place, text=ending.text, status=told, exit_code=ending.exit_code)

    def prompt(self, text: str, place: Place) -> Passed | None:
        """Adds what a person typed; what was told a helper is nobody's words."""
        if self._actor != "agent":
            self.dialogue.say("note", place, text=text, actor=self._actor)
            return None
        spoken = self._heard(text)
        return None if self.dialogue.say("prompt", place, text=spoken, actor="user") else Passed("injected text")

    def _part(self, part: Part, place: Place, *, typed: bool, status: str | None) -> Passed | None:
        match part:
            case Words(text):
                if typed:
                    return self.prompt(text, place)
                self.dialogue.say("message", place, text=text, actor=self._actor)
            case Thought(text):
                self.dialogue.say("thought", place, text=text, actor=self._actor)
            case Call():
                self.call(part, place)
            case Answer():
                self.answer(part, place, status=status)
            case Other(kind, known):
                return Passed(f"part {kind}", known)
        return None
