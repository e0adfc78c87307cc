"""Logs of messages with roles: seven agents, one reader (``docs/formats/messages.md`` describes them).

:mod:`dialects` says how they differ, :mod:`parts` reads what a message holds, :mod:`conversation` makes steps of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from helix_episodes.errors import LogNotReadable
from helix_episodes.readers.documents import place_steps, read_located
from helix_episodes.readers.fields import Place, Record, moment_of, object_in, text_in
from helix_episodes.readers.journal import Journal
from helix_episodes.readers.jsonl import open_log, parse, read_records
from helix_episodes.readers.ledger import Passed
from helix_episodes.readers.messages.conversation import Conversation
from helix_episodes.readers.messages.dialects import DIALECTS
from helix_episodes.readers.messages.parts import read_call, text_of
from helix_episodes.session import Source

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime
    from pathlib import Path

    from helix_episodes.readers.located import Node
    from helix_episodes.readers.messages.dialects import Dialect
    from helix_episodes.readers.registry import LogHead
    from helix_episodes.session import Session


class MessagesReader:
    """Reads the logs of one dialect."""

    def __init__(self, dialect: Dialect) -> None:
        self.name = dialect.name
        self.suffixes = (".json",) if dialect.document else (".jsonl",)
        self._dialect = dialect

    def sniff(self, head: LogHead) -> str | None:
        """``None`` when a record is as only this agent writes them, else why not."""
        if self._dialect.document:
            own = isinstance(head.document, dict) and self._dialect.is_own(head.document)
        else:
            own = any(self._dialect.is_own(record) for record in head.records)
        return None if own else self._dialect.unfamiliar

    def is_part(self, path: Path) -> bool:
        """Whether this is a helper's transcript, in the folder beside its session's log."""
        return self._dialect.parts_folder is not None and path.parent.name == self._dialect.parts_folder

    def read(self, path: Path) -> Iterator[Session]:
        """The one session in the log.

        Raises:
            LogNotReadable: the file cannot be read, or holds no step at all.
        """
        log = _Log(self._dialect, path)
        if self._dialect.document is None:
            for line, record in read_records(path, ledger=log.journal.ledger):
                log.take(record, line=line)
        else:
            log.take_document(read_located(path), self._dialect.document)
        document = self._dialect.document is not None
        yield log.journal.session(path, reader=self.name, agent=_agent(self.name, path), rewritten=document)


def message_readers() -> tuple[MessagesReader, ...]:
    """A reader for each dialect, the stricter ones first."""
    return tuple(MessagesReader(dialect) for dialect in DIALECTS)


class _Log:
    """One log while it is read."""

    def __init__(self, dialect: Dialect, path: Path) -> None:
        self.journal = Journal()
        self._dialect = dialect
        self._conversation = Conversation(self.journal.dialogue, tools=dialect.tools, heard=dialect.heard)
        self._steps_at: dict[str, int] = {}
        if dialect.beside:
            self.learn(_facts_beside(path, dialect.beside))

    def learn(self, record: Record) -> None:
        """Notes what a record says of the session as a whole."""
        found = {name: _first(record, ways) for name, ways in self._dialect.facts.items()}
        self.journal.tell(id=found.get("id"), version=found.get("version"), root=found.get("root"))
        self.journal.answered_by(found.get("model"))
        for name in self._dialect.times:
            self.journal.tell_time(moment_of(record.get(name)))

    def take_document(self, document: Node, key: str) -> None:
        """Takes in the messages of a log that is one document."""
        self.learn(document.record)
        for node in document.get(key).items:
            since = len(self.journal.dialogue.steps)
            self.take(node.record, line=node.line)
            place_steps(self.journal.dialogue, node, since=since)

    def take(self, record: Record, *, line: int) -> None:
        """Turns one record into steps, or enters in the ledger why there are none."""
        self.learn(record)
        if text_in(record, "type") in {"session", "session_start"}:
            self.journal.tell(id=text_in(record, "id"))
        place = Place(Source(line=line, id=_own_id(self._dialect, record)), self._time(record))
        self.journal.ledger.enter(self._translate(record, place))
        self._remember(record)

    def _time(self, record: Record) -> datetime | None:
        return next((at for name in self._dialect.times if (at := moment_of(record.get(name)))), None)

    def _translate(self, record: Record, place: Place) -> Passed | None:
        dialect = self._dialect
        for kind in _kinds(record):
            if kind in dialect.cuts:
                self._cut(dialect.cuts[kind], place)
                return None
            if kind in dialect.tells:
                return self._note(record, place)
            if kind in dialect.skipped:
                return Passed(kind)
            if kind in dialect.messages:
                return self._message(record, place, kind=kind)
        return Passed(_kinds(record)[0] or "record without type", known=False)

    def _message(self, record: Record, place: Place, *, kind: str) -> Passed | None:
        inner = object_in(record, self._dialect.messages[kind]) if self._dialect.messages[kind] else record
        message = inner or record
        role = self._dialect.roles.get(kind) or text_in(message, "role") or text_in(record, "role") or kind
        if role == "call":
            self._conversation.call(read_call(record | object_in(record, "function")), place)
            return None
        if role == "thought":
            self.journal.dialogue.say("thought", place, text=text_of(record.get("summary")))
            return None
        if "synthetic_reason" in record:
            return Passed("text of the program")
        if role == "user":
            self._meet_rewind(record, place)
            self._meet_interruption(record, place)
        typed = object_in(record, "systemPayload").get("displayText")
        if role == "user" and isinstance(typed, str) and typed:
            return self._conversation.prompt(typed, place)
        return self._conversation.take(_plain(message), place, role=role, status=_status(record))

    def _note(self, record: Record, place: Place) -> Passed | None:
        text = text_of(object_in(record, "message") or record) or text_in(record, "message") or ""
        said = text or text_of(object_in(record, "message").get("parts"))
        return None if self.journal.dialogue.say("note", place, text=said, actor="system") else Passed("empty note")

    def _cut(self, reason: str, place: Place) -> None:
        self.journal.dialogue.add("boundary", place, actor="system", arguments={"reason": reason})

    def _meet_rewind(self, record: Record, place: Place) -> None:
        """A prompt below an earlier record than the last one: the person went back and began anew."""
        if self._dialect.parent is None:
            return
        steps = self.journal.dialogue.steps
        begun = self._steps_at.get(text_in(record, self._dialect.parent[1]) or "", len(steps))
        if begun < len(steps) and steps[-1].kind != "boundary":
            self._cut("rewind", place)

    def _meet_interruption(self, record: Record, place: Place) -> None:
        """A prompt that says that the turn before it was stopped by the person."""
        if text_in(record, "prior_turn_interrupt"):
            self.journal.dialogue.say("note", place, text="the turn before was stopped", actor="user")
            self.journal.dialogue.change(len(self.journal.dialogue.steps) - 1, status="interrupted")

    def _remember(self, record: Record) -> None:
        """How far the session had come with a record, for a prompt that goes back to it."""
        own = _own_id(self._dialect, record)
        if own:
            self._steps_at[own] = len(self.journal.dialogue.steps)


def _kinds(record: Record) -> tuple[str, ...]:
    """What a record may be listed as: by type and subtype, by type alone."""
    kind = str(record.get("type") or "")
    subtype = text_in(record, "subtype")
    return (f"{kind}/{subtype}", kind) if subtype else (kind,)


def _own_id(dialect: Dialect, record: Record) -> str | None:
    return text_in(record, dialect.parent[0] if dialect.parent else "id")


def _plain(message: Record) -> Record:
    """The message with its text under the usual name."""
    text = text_in(message, "text") or text_in(message, "finalText")
    return message | {"content": text} if text and "content" not in message and "parts" not in message else message


def _status(record: Record) -> str | None:
    return text_in(object_in(record, "toolCallResult"), "status")


def _first(record: Record, ways: tuple[tuple[str, ...], ...]) -> str | None:
    for way in ways:
        inner = record
        for key in way[:-1]:
            inner = object_in(inner, key)
        told = text_in(inner, way[-1])
        if told:
            return told
    return None


def _facts_beside(path: Path, name: str) -> Record:
    """The file of facts beside the log; one that is missing or spoilt says nothing."""
    try:
        with open_log(path.with_name(name)) as file:
            facts = parse(file.read())
    except (OSError, ValueError, LogNotReadable):
        return {}
    return facts if isinstance(facts, dict) else {}


def _agent(name: str, path: Path) -> str:
    """OpenClaw runs pi and logs as pi does, in a folder of its own."""
    return "openclaw" if name == "pi" and ".openclaw" in path.parts else name
