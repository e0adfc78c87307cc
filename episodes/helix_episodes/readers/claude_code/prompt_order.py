"""When a person's words reached the agent: prompts said again from an earlier point, and those that waited."""

from __future__ import annotations

from typing import NamedTuple

from helix_episodes.readers.common.fields import Record, RecordPosition, id_in, text_in


class Rewinds:
    """Remembers below which point each prompt was said."""

    def __init__(self) -> None:
        self._anchor: dict[str, str] = {}
        self._prompt_below: dict[str, tuple[str, int]] = {}

    def pass_through(self, record: Record) -> None:
        """Takes in a record that is no part of the conversation: who hangs on it hangs on its parent."""
        uuid, parent = id_in(record, "uuid"), id_in(record, "parentUuid")
        if uuid and parent:
            self._anchor[uuid] = self._anchor.get(parent, parent)

    def check(self, record: Record, *, text: str, line: int) -> int | None:
        """The line of the prompt that this one replaces, if it replaces one; the same words again replace nothing."""
        parent = id_in(record, "parentUuid")
        if parent is None:
            return None
        point = self._anchor.get(parent, parent)
        earlier = self._prompt_below.get(point)
        self._prompt_below[point] = (text, line)
        if earlier is None or earlier[0] == text:
            return None
        return earlier[1]


class Queued(NamedTuple):
    """Words in the queue and the line that holds them."""

    text: str
    place: RecordPosition


class PromptQueue:
    """What is waiting, first in first out."""

    def __init__(self) -> None:
        self._waiting: list[Queued] = []
        self._delivered: set[str] = set()

    def operate(self, record: Record, place: RecordPosition) -> Queued | None:
        """Carries out one queue operation; the words, when it hands some to the agent.

        Commands to the program (``/model``) are not said to the agent and never come out.
        """
        operation = text_in(record, "operation")
        text = text_in(record, "content")
        if operation == "enqueue":
            self._waiting.append(Queued(text or "", place))
            return None
        if operation == "remove":
            return self._deliver()
        if operation == "dequeue":
            del self._waiting[:1]
        elif operation == "popAll":
            self._waiting.clear()
        return None

    def was_delivered(self, text: str) -> bool:
        """Whether these words came out of the queue already (newer versions also attach them); answers once."""
        if text.strip() not in self._delivered:
            return False
        self._delivered.remove(text.strip())
        return True

    def _deliver(self) -> Queued | None:
        if not self._waiting:
            return None
        first = self._waiting.pop(0)
        if not first.text.strip() or first.text.lstrip().startswith("/"):
            return None
        self._delivered.add(first.text.strip())
        return first
