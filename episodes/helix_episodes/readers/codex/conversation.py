"""What was said in a rollout: prompts, messages and thoughts, each once, and what stands for a prompt but is none."""

from __future__ import annotations

from typing import TYPE_CHECKING

from helix_episodes.readers.codex.outputs import text_of
from helix_episodes.readers.codex.words import Twins, is_injected, typed
from helix_episodes.readers.fields import text_in
from helix_episodes.readers.ledger import Passed

if TYPE_CHECKING:
    from helix_episodes.readers.dialogue import Dialogue
    from helix_episodes.readers.fields import Place, Record
    from helix_episodes.readers.ledger import Ledger
    from helix_episodes.session import Step, StepKind

MIRROR = Passed("mirror")
INJECTED = Passed("injected")
#: Stands for a record of which only the end of the log will tell what it is.
PENDING = Passed("pending")


class Conversation:
    """Adds words to the dialogue."""

    def __init__(self, dialogue: Dialogue) -> None:
        self.of_helper = False
        self._dialogue = dialogue
        self._twins = Twins()
        self._unsure: list[int] = []
        self._has_prompts = False

    def prompt(self, payload: Record, place: Place) -> Passed | None:
        """What a person typed, as an event tells it; in a helper's session nobody typed it."""
        text = typed(text_in(payload, "message") or _content(payload))
        if is_injected(text, kind=payload.get("kind")):
            return INJECTED
        if not self._twins.is_new("prompt", text, by=str(payload.get("type"))):
            return MIRROR
        self._has_prompts = True
        return self._say("note" if self.of_helper else "prompt", text, place, actor="user")

    def message(self, payload: Record, place: Place) -> Passed | None:
        """An item of the model's: of the assistant, of the user or the program under the user's role."""
        role = payload.get("role")
        if role == "assistant":
            return self.answer(payload, place)
        if role != "user":
            return Passed(f"message of {role}", known=role in ("developer", "system"))
        text = typed(text_in(payload, "message") or _content(payload))
        if is_injected(text):
            return INJECTED
        if not text:
            return Passed("empty message")
        self._unsure.append(len(self._dialogue.steps))
        self._dialogue.add("note", place, text=text, actor="user")
        return PENDING

    def answer(self, payload: Record, place: Place) -> Passed | None:
        """What the agent said."""
        return self._once("message", text_in(payload, "message") or _content(payload), payload, place)

    def thoughts(self, payload: Record, place: Place) -> Passed | None:
        """What the agent thought: each paragraph of the summary is an event of its own elsewhere."""
        parts = [text_in(payload, "text") or ""]
        for name in ("summary", "summary_text"):
            listed = payload.get(name)
            parts += [text_of(part) for part in listed] if isinstance(listed, list) else []
        said = [self._once("thought", part, payload, place) for part in parts if part.strip()]
        return None if None in said else (said[0] if said else Passed("empty thought"))

    def between_agents(self, payload: Record, place: Place) -> Passed | None:
        """What one agent wrote to another."""
        return self._say("note", _content(payload), place, actor=f"agent:{payload.get('author') or 'helper'}")

    def finish(self, ledger: Ledger) -> tuple[Step, ...]:
        """The steps, now that it is known whether events tell of the prompts.

        Where they do, an item under the user's role is the same prompt again or something that the program put there.
        """
        repeated = {position for position in self._unsure if self._is_repeated(position)}
        if repeated:
            ledger.skip("mirror", len(repeated))
        ledger.use(len(self._unsure) - len(repeated))
        for position in self._unsure:
            if self._has_prompts:
                self._dialogue.change(position, actor="system")
            elif not self.of_helper:
                self._dialogue.change(position, kind="prompt")
        return tuple(step for position, step in enumerate(self._dialogue.steps) if position not in repeated)

    def _is_repeated(self, position: int) -> bool:
        return not self._twins.is_new("prompt", self._dialogue.steps[position].text, by="item")

    def _once(self, kind: StepKind, text: str, payload: Record, place: Place) -> Passed | None:
        text = text.strip()
        if not text:
            return Passed(f"empty {kind}")
        by = "item" if "role" in payload or "summary" in payload else str(payload.get("type"))
        return self._say(kind, text, place) if self._twins.is_new(kind, text, by=by) else MIRROR

    def _say(self, kind: StepKind, text: str, place: Place, *, actor: str = "agent") -> Passed | None:
        return None if self._dialogue.say(kind, place, text=text, actor=actor) else Passed(f"empty {kind}")


def _content(payload: Record) -> str:
    content = payload.get("content")
    if isinstance(content, str):
        return content
    return "\n".join(part for part in map(text_of, content) if part) if isinstance(content, list) else ""
