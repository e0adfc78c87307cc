"""Rewinds: where a person went back to an earlier point and said something else.

Each record names its parent. Parallel calls fork the tree by accident, but two prompts of different wording below one
parent are a real second try. Records of the program's own (hooks, durations) hang between; they are looked through, so
that both tries are seen to hang on the same point of the conversation.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from helix_episodes.readers.fields import text_in

if TYPE_CHECKING:
    from helix_episodes.readers.fields import Record


class Rewinds:
    """Remembers below which point each prompt was said."""

    def __init__(self) -> None:
        self._anchor: dict[str, str] = {}
        self._prompt_below: dict[str, tuple[str, int]] = {}

    def pass_through(self, record: Record) -> None:
        """Takes in a record that is no part of the conversation: who hangs on it hangs on its parent."""
        uuid, parent = text_in(record, "uuid"), text_in(record, "parentUuid")
        if uuid and parent:
            self._anchor[uuid] = self._anchor.get(parent, parent)

    def meet(self, record: Record, *, text: str, line: int) -> int | None:
        """The line of the prompt that this one replaces, if it replaces one; the same words again replace nothing."""
        parent = text_in(record, "parentUuid")
        if parent is None:
            return None
        point = self._anchor.get(parent, parent)
        earlier = self._prompt_below.get(point)
        self._prompt_below[point] = (text, line)
        if earlier is None or earlier[0] == text:
            return None
        return earlier[1]
