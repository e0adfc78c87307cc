"""OpenCode: sessions of messages made of parts (``docs/formats/opencode.md`` describes it).

A tool's part holds the call and what came of it. A helper's session hangs below the one that sent it; its steps stand
behind the call that names it, else at the end.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from helix_episodes.errors import LogNotReadable
from helix_episodes.readers.documents import place_steps
from helix_episodes.readers.exits import ending_of
from helix_episodes.readers.fields import Place, Record, moment_of, object_in, text_in
from helix_episodes.readers.journal import Journal
from helix_episodes.readers.ledger import Passed
from helix_episodes.readers.messages.parts import arguments_of
from helix_episodes.readers.opencode.stores import MAGIC, Database, Export, Folders, Piece, has_sessions, is_helpers
from helix_episodes.readers.vocabulary import COMMON, ask, look, named, translate

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from helix_episodes.readers.opencode.stores import Store
    from helix_episodes.readers.registry import LogHead
    from helix_episodes.session import Session, Status

_TOOLS = {**COMMON, **named("list", "codesearch", "lspdiagnostics", "lsphover", "skill", by=look), "question": ask}
_SKIPPED = frozenset({"step-start", "step-finish", "snapshot", "patch", "agent", "file", "subtask", "retry"})
_ENDED = frozenset({"completed", "success", "error"})
# What the program writes in an error's place when a person did not let a call through, or stopped it.
_REJECTED = "rejected permission"
_ABORTED = "Tool execution aborted"


class OpenCodeReader:
    """Reads ``opencode.db``, a session's file under ``storage/session``, and what ``opencode export`` writes."""

    name = "opencode"
    suffixes = (".db", ".json")

    def sniff(self, head: LogHead) -> str | None:
        """``None`` when it is one of OpenCode's stores, else why not."""
        if head.lines[0].startswith(MAGIC):
            return None if has_sessions(head.path) else "a database without the tables session, message and part"
        document = head.document if isinstance(head.document, dict) else {}
        if _is_export(document) or _is_session(document) or _is_piece(document):
            return None
        return "neither a database, nor a session with a projectID and a directory, nor an export of one"

    def is_part(self, path: Path) -> bool:
        """Whether this is a message, a part or a helper's session, which are read with the session that has them."""
        if path.suffix != ".json":
            return False
        return bool({"message", "part"} & set(path.parts[-3:-1])) or is_helpers(path)

    def read(self, path: Path) -> Iterator[Session]:
        """The sessions in the store; those of helpers are a part of the one that sent them.

        Raises:
            LogNotReadable: the store cannot be read, or holds no session.
        """
        store = _store(path)
        sessions = store.sessions()
        known = {one["id"]: one for one in sessions if text_in(one, "id")}
        roots = [one for one in sessions if text_in(one, "parentID") not in known] if len(sessions) > 1 else sessions
        found = False
        for one in roots:
            transcript = _Transcript(store, sessions)
            transcript.take_session(one, actor="agent")
            if transcript.journal.dialogue.steps:
                found = True
                yield transcript.journal.session(path, reader=self.name, rewritten=True)
        if not found:
            raise LogNotReadable(path=path, problem="it holds no session with a step")


def _store(path: Path) -> Store:
    with path.open("rb") as file:
        if file.read(len(MAGIC)) == MAGIC:
            return Database(path)
    return Folders(path) if path.parent.parent.name == "session" else Export(path)


def _is_export(document: Record) -> bool:
    return isinstance(document.get("messages"), list) and "directory" in object_in(document, "info")


def _is_session(document: Record) -> bool:
    return {"id", "projectID", "directory", "time"} <= document.keys()


def _is_piece(document: Record) -> bool:
    """A message or a part: `is_part` says by its place to what it belongs."""
    return "messageID" in document or {"id", "sessionID", "role"} <= document.keys()


class _Transcript:
    """One session and its helpers' while they are read."""

    def __init__(self, store: Store, sessions: list[Record]) -> None:
        self.journal = Journal()
        self._dialogue = self.journal.dialogue
        self._store = store
        self._children = {one["id"]: one for one in sessions if text_in(one, "id") and one.get("parentID")}

    def take_session(self, session: Record, *, actor: str) -> None:
        """Takes in the messages of one session, and then the helpers that no call of it names."""
        name = text_in(session, "id") or ""
        self._children.pop(name, None)
        if actor == "agent":
            self.journal.tell(id=name, version=text_in(session, "version"), root=text_in(session, "directory"))
        for message in self._store.messages(name, ledger=self.journal.ledger):
            for part in message.parts:
                typed = message.info.record.get("role") == "user"
                since = len(self._dialogue.steps)
                self.journal.ledger.enter(self._part(part, at=message.info, typed=typed, actor=actor))
                if part.node is not None:
                    place_steps(self._dialogue, part.node, since=since)
            self.journal.ledger.enter(self._message(message.info))
        for child in [one for one in self._children.values() if one.get("parentID") == name]:
            self._helper(child["id"])

    def _helper(self, name: str) -> None:
        child = self._children.get(name)
        if child is not None:
            self.take_session(child, actor=f"agent:{name}")

    def _message(self, info: Piece) -> Passed | None:
        record = info.record
        model = text_in(record, "modelID") or text_in(object_in(record, "model"), "modelID")
        self.journal.answered_by(model if record.get("role") == "assistant" else None)
        tokens = object_in(record, "tokens")
        counted = (tokens.get("input"), tokens.get("output"), object_in(tokens, "cache").get("write"))
        self.journal.spent(sum(value for value in counted if isinstance(value, int)))
        error = object_in(record, "error")
        if not error:
            return Passed("message")
        stopped = error.get("name") == "MessageAbortedError"
        text = text_in(object_in(error, "data"), "message") or text_in(error, "name") or "error"
        status: Status = "interrupted" if stopped else "unknown"
        actor = "user" if stopped else "system"
        self._dialogue.add("note", _place(info, info), actor=actor, text=text, status=status)
        return None

    def _part(self, part: Piece, *, at: Piece, typed: bool, actor: str) -> Passed | None:
        record, place = part.record, _place(part, at)
        kind = text_in(record, "type") or "part without type"
        text = text_in(record, "text") or ""
        if kind == "text":
            return self._text(record, place, text=text, typed=typed, actor=actor)
        if kind == "reasoning":
            said = self._dialogue.say("thought", place, text=text, actor=actor)
            return None if said else Passed("empty thought")
        if kind == "tool":
            self._tool(record, place, actor=actor)
            return None
        if kind == "compaction":
            self._dialogue.add("boundary", place, actor="system", arguments={"reason": "compaction"})
            return None
        return Passed(kind, known=kind in _SKIPPED)

    def _text(self, record: Record, place: Place, *, text: str, typed: bool, actor: str) -> Passed | None:
        if record.get("synthetic") is True or record.get("ignored") is True:
            return Passed("text of the program")
        if not typed:
            return None if self._dialogue.say("message", place, text=text, actor=actor) else Passed("empty text")
        if actor != "agent":
            return None if self._dialogue.say("note", place, text=text, actor=actor) else Passed("empty text")
        return None if self._dialogue.say("prompt", place, text=text, actor="user") else Passed("empty prompt")

    def _tool(self, record: Record, place: Place, *, actor: str) -> None:
        state = object_in(record, "state")
        metadata = object_in(state, "metadata")
        tool = text_in(record, "tool") or "unnamed"
        translations = translate(tool, arguments_of(state.get("input")), tools=_TOOLS)
        call_id = text_in(record, "callID")
        self._dialogue.call(place, tool=tool, call_id=call_id, translations=translations, actor=actor)
        if metadata.get("exists") is False:
            self._dialogue.mark_created(call_id)
        if helper := text_in(metadata, "sessionId"):
            self._helper(helper)
        if text_in(state, "status") in _ENDED:
            self._settle(state, place, call_id=call_id, ran=translations[0].operation == "run")

    def _settle(self, state: Record, place: Place, *, call_id: str | None, ran: bool) -> None:
        code = object_in(state, "metadata").get("exit")
        failed = state.get("status") == "error"
        text = text_in(state, "error") or text_in(state, "output") or ""
        ending = ending_of(text, failed=failed, ran=ran, exit_code=code if isinstance(code, int) else None)
        ended = moment_of(object_in(state, "time").get("end")) or place.at
        self._dialogue.settle(
            call_id,
            Place(place.source, ended),
            text=ending.text,
            status=_refusal(text) if failed else ending.status,
            exit_code=ending.exit_code,
        )


def _refusal(text: str) -> Status:
    if _REJECTED in text[:200]:
        return "rejected"
    return "interrupted" if text.startswith(_ABORTED) else "error"


def _place(piece: Piece, message: Piece) -> Place:
    """Where a part stands; without a time of its own it was when its message was."""
    times = object_in(piece.record, "time"), object_in(object_in(piece.record, "state"), "time")
    own = next((at for time in times if (at := moment_of(time.get("start")))), None)
    return Place(piece.source, own or moment_of(object_in(message.record, "time").get("created")))
