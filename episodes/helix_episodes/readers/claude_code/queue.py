"""The queue of prompts that a person types while the agent works.

``enqueue`` holds the words; ``remove`` hands them to the agent in the middle of its turn and is the only trace of it in
many versions; ``dequeue`` starts a new turn with them, which writes a user's line of its own; ``popAll`` takes them
back.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from helix_episodes.readers.fields import Place, Record, text_in

if TYPE_CHECKING:
    from collections.abc import Callable


class Queued(NamedTuple):
    """Words in the queue and the line that holds them."""

    text: str
    place: Place


class PromptQueue:
    """What is waiting, first in first out."""

    def __init__(self) -> None:
        self._waiting: list[Queued] = []
        self._given: set[str] = set()
        self._operations: dict[str | None, Callable[[], Queued | None]] = {
            "remove": self._give,
            "dequeue": self._drop_first,
            "popAll": self._drop_all,
        }

    def operate(self, record: Record, place: Place) -> Queued | None:
        """Carries out one queue operation; the words, when it hands some to the agent.

        Commands to the program (``/model``) are not said to the agent and never come out.
        """
        operation = text_in(record, "operation")
        text = text_in(record, "content")
        if operation == "enqueue":
            self._waiting.append(Queued(text or "", place))
            return None
        act = self._operations.get(operation)
        return act() if act else None

    def was_given(self, text: str) -> bool:
        """Whether these words came out of the queue already (newer versions also attach them); answers once."""
        if text.strip() not in self._given:
            return False
        self._given.remove(text.strip())
        return True

    def _give(self) -> Queued | None:
        if not self._waiting:
            return None
        first = self._waiting.pop(0)
        if not first.text.strip() or first.text.lstrip().startswith("/"):
            return None
        self._given.add(first.text.strip())
        return first

    def _drop_first(self) -> None:
        del self._waiting[:1]

    def _drop_all(self) -> None:
        self._waiting.clear()
