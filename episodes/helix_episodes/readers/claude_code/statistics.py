"""What the records say about the session as a whole: its id, where it ran, with which model, for how many tokens."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from helix_episodes.echo import insights_in
from helix_episodes.readers.claude_code.records import blocks_of, message_of
from helix_episodes.readers.fields import Record, object_in, text_in
from helix_episodes.readers.naming import parts_of
from helix_episodes.regex import Regex

if TYPE_CHECKING:
    from pathlib import Path

# A home folder, or anything above one, is nobody's repository root: "/Users/x" has two parts.
_HOME_DEPTH = 2
_SYNTHETIC_MODEL = "<synthetic>"
#: The attachments that hooks make, and prompts that waited; the others show files, diagnostics, lists.
_FROM_HOOKS = ("hook_", "queued_command")
#: What a person's own commands printed stands among the words of prompts.
_PRINTED = Regex(r"<((?:bash|local-command)-std(?:out|err))>[\s\S]*?</\1>")


class Statistics:
    """Gathers while the records go by."""

    def __init__(self) -> None:
        self.session_ids: Counter[str] = Counter()
        self.version: str | None = None
        self._folders: dict[str, None] = {}
        self._model_of: dict[str, str] = {}
        self._tokens_of: dict[str, int] = {}
        self._insights: dict[str, None] = {}

    def note(self, record: Record) -> None:
        """Takes in one record of the main conversation."""
        if session := text_in(record, "sessionId"):
            self.session_ids[session] += 1
        if folder := text_in(record, "cwd"):
            self._folders[folder] = None
        self.version = text_in(record, "version") or self.version

    def note_usage(self, record: Record, *, main: bool) -> None:
        """Takes in the model and tokens of one line of an answer.

        An answer is written as several lines with the same message id, each with the usage so far: the last counts.
        """
        message = message_of(record)
        key = text_in(message, "id") or text_in(record, "requestId") or text_in(record, "uuid")
        if key is None:
            return
        model = text_in(message, "model")
        if main and model and model != _SYNTHETIC_MODEL:
            self._model_of[key] = model
        usage = message.get("usage")
        if isinstance(usage, dict):
            self._tokens_of[key] = _tokens(usage)

    def note_injected(self, record: Record) -> None:
        """Takes in the insights that a memory's hook put before the agent with this record.

        Most of these records give no step (attachments, reminders), so that nobody else would hear of them. What a
        tool printed and what a file holds is in such records too, and is nothing that a hook said.
        """
        self._insights.update(dict.fromkeys(insights_in(_said_in(record))))

    @property
    def injected(self) -> tuple[str, ...]:
        """The names of the insights that were put in, in order."""
        return tuple(self._insights)

    @property
    def model(self) -> str | None:
        """The model that gave most answers of the main conversation; the first met among equals."""
        counts = Counter(self._model_of.values())
        return counts.most_common(1)[0][0] if counts else None

    @property
    def tokens(self) -> int | None:
        """Tokens written and newly read: output, input and input put into the cache, helpers' included.

        Reads from the cache are left out: they repeat the same text with every call and would drown the rest.
        """
        return sum(self._tokens_of.values()) if self._tokens_of else None

    @property
    def root(self) -> str | None:
        """The folder the session began in, or one above it that the agent later worked in."""
        folders = list(self._folders)
        if not folders:
            return None
        above = [folder for folder in folders if _holds(folder, folders[0]) and len(parts_of(folder)) > _HOME_DEPTH]
        return min(above, key=len, default=folders[0])

    def session_id(self, path: Path) -> str:
        """The file's name when its records bear it, else the id that most of them bear, else the file's name."""
        if path.stem in self.session_ids or not self.session_ids:
            return path.stem
        return self.session_ids.most_common(1)[0][0]


def _said_in(record: Record) -> list[object]:
    """What a person's prompt or a hook says in a record; nothing that a tool or a shell printed."""
    if text_in(record, "type") == "attachment":
        attachment = object_in(record, "attachment")
        return [attachment] if (text_in(attachment, "type") or "").startswith(_FROM_HOOKS) else []
    blocks = blocks_of(message_of(record)) or blocks_of(record) or []
    texts = (text_in(block, "text") or "" for block in blocks if block.get("type") == "text")
    return [_PRINTED.sub("", text) for text in texts]


def _holds(folder: str, other: str) -> bool:
    parts = parts_of(folder)
    return parts == parts_of(other)[: len(parts)]


def _tokens(usage: Record) -> int:
    counted = ("output_tokens", "input_tokens", "cache_creation_input_tokens")
    return sum(value for name in counted if isinstance(value := usage.get(name), int))
