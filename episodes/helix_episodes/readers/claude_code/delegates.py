"""The helpers of a Claude Code session: who was sent by which call, whose a line is, and what a helper answered."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from helix_episodes.readers.common.fields import id_in, objects_in, text_in

if TYPE_CHECKING:
    from helix_episodes.readers.common.fields import Record


# The note that the program puts below a helper's answer, for the agent to call it again.
_TAIL = re.compile(r"\n*agentId: (\w{1,64})\b[^\n]{0,200}(?:\n<usage>[\s\S]{0,400}</usage>)?\s*\Z")
# The note is short; only the end of the answer is searched, whatever its length.
_TAIL_SPAN = 800
# Enough of a record's id to distinguish a session's side conversations.
_ROOT_LETTERS = 8


class Delegates:
    """Who was sent by which call, learnt from results, and which inline lines are whose."""

    def __init__(self) -> None:
        self._call_of: dict[str, str] = {}
        self._root_of: dict[str, str] = {}

    @property
    def names(self) -> tuple[str, ...]:
        """The ids of the helpers and background tasks that results named."""
        return tuple(self._call_of)

    def call_of(self, helper: str) -> str | None:
        """The call that sent this helper, once its result (or launch message) was read."""
        return self._call_of.get(helper)

    def actor_inline(self, record: Record) -> str:
        """``agent``, or for a side conversation ``agent:`` and its helper's id, else the id of its first line."""
        if record.get("isSidechain") is not True:
            return "agent"
        uuid = id_in(record, "uuid") or "?"
        root = self._root_of.get(id_in(record, "parentUuid") or "", uuid)
        self._root_of[uuid] = root
        return f"agent:{id_in(record, 'agentId') or root[:_ROOT_LETTERS]}"

    def remember_background(self, extra: object, *, call_id: str | None) -> None:
        """A command that goes on in the background is named by its task's id when it ends."""
        task = text_in(extra, "backgroundTaskId") if isinstance(extra, dict) else None
        if task and call_id:
            self._call_of[task] = call_id

    def answer(self, text: str, *, extra: object, call_id: str | None) -> str:
        """A helper's answer without the program's note below it; remembers whose answer it is."""
        # The report by itself: newer versions put words for the agent around it in the result.
        blocks = objects_in(extra, "content") if isinstance(extra, dict) else []
        text = (text_in(blocks[-1], "text") if blocks else "") or text
        tail = _TAIL.search(text[-_TAIL_SPAN:])
        helper = id_in(extra, "agentId") if isinstance(extra, dict) else None
        if helper is None and tail is not None:
            helper = tail[1]
        if helper and call_id:
            self._call_of[helper] = call_id
        if tail is None:
            return text
        return text[: max(len(text) - _TAIL_SPAN, 0) + tail.start()]
