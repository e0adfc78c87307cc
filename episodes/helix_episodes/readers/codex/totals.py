"""What a rollout says of the session as a whole: its id, where it ran, with which model, for how many tokens."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from helix_episodes.readers.fields import Record, object_in, text_in
from helix_episodes.readers.naming import fit_id

if TYPE_CHECKING:
    from pathlib import Path


class Totals:
    """Gathers while the records go by."""

    def __init__(self) -> None:
        self.version: str | None = None
        self.root: str | None = None
        self.is_helper = False
        self._id: str | None = None
        self._models: Counter[str] = Counter()
        self._spent: int | None = None
        self._counted = 0

    def note_session(self, meta: Record) -> None:
        """Takes in a ``session_meta``; those after the first came with a history copied from another session."""
        if self._id is not None:
            return
        self._id = text_in(meta, "id") or text_in(meta, "session_id")
        self.version = text_in(meta, "cli_version")
        self.root = self.root or text_in(meta, "cwd")
        self.is_helper = "subagent" in object_in(meta, "source")

    def note_turn(self, turn: Record) -> None:
        """Takes in a ``turn_context``."""
        if model := text_in(turn, "model"):
            self._models[model] += 1
        self.root = self.root or text_in(turn, "cwd")

    def note_tokens(self, info: Record) -> None:
        """Takes in the running total; what counts is by how much it grew, for the log repeats it."""
        total = object_in(info, "total_token_usage")
        if not total:
            return
        now = _number(total, "input_tokens") - _number(total, "cached_input_tokens") + _number(total, "output_tokens")
        # A total that fell began anew.
        self._spent = (self._spent or 0) + (now - self._counted if now >= self._counted else now)
        self._counted = now

    @property
    def model(self) -> str | None:
        """The model of most turns; the first met among equals."""
        return self._models.most_common(1)[0][0] if self._models else None

    @property
    def tokens(self) -> int | None:
        """Tokens written and newly read; reads from the cache are left out, for they repeat the same text."""
        return self._spent

    def session_id(self, path: Path) -> str:
        """The id that the log bears, else the file's name."""
        return fit_id(self._id or path.stem)


def _number(record: Record, name: str) -> int:
    value = record.get(name)
    return value if isinstance(value, int) else 0
