"""What was said in a Codex rollout: prompts, messages and thoughts, each once.

The same message may be in a rollout as the model's item, as the program's event and as a completed item of a newer
kind. And what is under the user's role is often the program's: the project's rules, the environment, a reminder.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

from helix_episodes.readers.codex.calls import output_text
from helix_episodes.readers.common.fields import text_in
from helix_episodes.readers.common.jsonl import SkippedRecord

if TYPE_CHECKING:
    from helix_episodes.readers.common.fields import Record, RecordPosition
    from helix_episodes.readers.common.jsonl import LineLedger
    from helix_episodes.readers.common.session_builder import Dialogue
    from helix_episodes.session import Step, StepKind


# Texts that the program puts under the user's role: an element, or the project's rules under their heading.
_INJECTED = re.compile(r"\s*(<[a-zA-Z][\w-]*(?: [^<>\n]{0,200})?>|# AGENTS\.md instructions\b)")
_INJECTED_KINDS = frozenset({"user_instructions", "environment_context"})
# What an editor puts before the words themselves.
_REQUEST = re.compile(r"^## My request for Codex:[ \t]*\n", re.MULTILINE)


class Twins:
    """Tells a text's first copy from those that other kinds of record hold."""

    def __init__(self) -> None:
        self._seen: Counter[tuple[str, str, str]] = Counter()
        self._taken: Counter[tuple[str, str]] = Counter()

    def is_new(self, kind: str, text: str, *, by: str) -> bool:
        """Whether this is more than what the records of another kind already said.

        >>> twins = Twins()
        >>> [twins.is_new("message", "Done.", by=by) for by in ("item", "event", "event")]
        [True, False, True]
        """
        self._seen[kind, text, by] += 1
        if self._seen[kind, text, by] <= self._taken[kind, text]:
            return False
        self._taken[kind, text] += 1
        return True


def is_injected(text: str, *, kind: object = None) -> bool:
    """Whether the program wrote this under the user's role.

    >>> is_injected("<environment_context><cwd>/srv</cwd>"), is_injected("why is x < y here?")
    (True, False)
    """
    return kind in _INJECTED_KINDS or _INJECTED.match(text) is not None


def typed(text: str) -> str:
    r"""What the person typed, without what an editor tells of its open files.

    >>> typed("# Context from my IDE setup:\n\n## My request for Codex:\nfix it")
    'fix it'
    """
    return _REQUEST.split(text)[-1].strip()


MESSAGE_MIRROR = SkippedRecord("mirror")
INJECTED = SkippedRecord("injected")
#: Stands for a record of which only the end of the log will tell what it is.
PENDING = SkippedRecord("pending")


class RolloutConversation:
    """Adds words to the dialogue."""

    def __init__(self, dialogue: Dialogue) -> None:
        self.of_helper = False
        self._dialogue = dialogue
        self._twins = Twins()
        self._unsure: list[int] = []
        self._has_prompts = False

    def prompt(self, payload: Record, place: RecordPosition) -> SkippedRecord | None:
        """What a person typed, as an event tells it; in a helper's session nobody typed it."""
        text = typed(text_in(payload, "message") or _content(payload))
        if is_injected(text, kind=payload.get("kind")):
            return INJECTED
        if not self._twins.is_new("prompt", text, by=str(payload.get("type"))):
            return MESSAGE_MIRROR
        self._has_prompts = True
        return self._say("note" if self.of_helper else "prompt", text, place, actor="user")

    def message(self, payload: Record, place: RecordPosition) -> SkippedRecord | None:
        """An item of the model's: of the assistant, of the user or the program under the user's role."""
        role = payload.get("role")
        if role == "assistant":
            return self.answer(payload, place)
        if role != "user":
            return SkippedRecord(f"message of {role}", known=role in ("developer", "system"))
        text = typed(text_in(payload, "message") or _content(payload))
        if is_injected(text):
            return INJECTED
        if not text:
            return SkippedRecord("empty message")
        self._unsure.append(len(self._dialogue.steps))
        self._dialogue.add("note", place, text=text, actor="user")
        return PENDING

    def answer(self, payload: Record, place: RecordPosition) -> SkippedRecord | None:
        """What the agent said."""
        return self._once("message", text_in(payload, "message") or _content(payload), payload, place)

    def thoughts(self, payload: Record, place: RecordPosition) -> SkippedRecord | None:
        """What the agent thought: each paragraph of the summary is an event of its own elsewhere."""
        parts = [text_in(payload, "text") or ""]
        for name in ("summary", "summary_text"):
            listed = payload.get(name)
            parts += [output_text(part) for part in listed] if isinstance(listed, list) else []
        added = [self._once("thought", part, payload, place) for part in parts if part.strip()]
        return None if None in added else (added[0] if added else SkippedRecord("empty thought"))

    def between_agents(self, payload: Record, place: RecordPosition) -> SkippedRecord | None:
        """What one agent wrote to another."""
        return self._say("note", _content(payload), place, actor=f"agent:{payload.get('author') or 'helper'}")

    def finish(self, ledger: LineLedger) -> tuple[Step, ...]:
        """The steps, now that it is known whether events tell of the prompts.

        Where they do, an item under the user's role is the same prompt again or something that the program put there.
        """
        steps = self._dialogue.steps
        repeated = {n for n in self._unsure if not self._twins.is_new("prompt", steps[n].text, by="item")}
        if repeated:
            ledger.skip("mirror", len(repeated))
        ledger.use(len(self._unsure) - len(repeated))
        for position in self._unsure:
            if self._has_prompts:
                self._dialogue.change(position, actor="system")
            elif not self.of_helper:
                self._dialogue.change(position, kind="prompt")
        return tuple(step for position, step in enumerate(self._dialogue.steps) if position not in repeated)

    def _once(self, kind: StepKind, text: str, payload: Record, place: RecordPosition) -> SkippedRecord | None:
        text = text.strip()
        if not text:
            return SkippedRecord(f"empty {kind}")
        by = "item" if "role" in payload or "summary" in payload else str(payload.get("type"))
        return self._say(kind, text, place) if self._twins.is_new(kind, text, by=by) else MESSAGE_MIRROR

    def _say(self, kind: StepKind, text: str, place: RecordPosition, *, actor: str = "agent") -> SkippedRecord | None:
        return self._dialogue.add_text_or_skip(kind, place, text=text, actor=actor, empty=f"empty {kind}")


def _content(payload: Record) -> str:
    content = payload.get("content")
    if isinstance(content, str):
        return content
    return "\n".join(part for part in map(output_text, content) if part) if isinstance(content, list) else ""
