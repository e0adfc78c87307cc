"""OpenCode: sessions of messages made of parts (``docs/reference/formats/opencode.md``).

Sessions lie in a database, in folders of small files, or in the one document of an export. All three hold the same
objects: a session, its messages, and the parts that each message is made of. A tool's part holds the call and its
result. A helper's session hangs below the one that sent it; its steps follow the call that names it, else come last.
"""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from glob import escape
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from helix_episodes.errors import LogNotReadable
from helix_episodes.readers.base import SQLITE_HEADER
from helix_episodes.readers.common.fields import Record, RecordPosition, count_in, object_in, parse_any_time, text_in
from helix_episodes.readers.common.json_with_lines import read_json_with_lines, set_step_lines
from helix_episodes.readers.common.jsonl import SkippedRecord, parse, read_object
from helix_episodes.readers.common.session_builder import SessionBuilder
from helix_episodes.readers.common.tool_translation import COMMON_TOOLS, ask, look, named
from helix_episodes.session import Source

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from helix_episodes.readers.base import LogHead
    from helix_episodes.readers.common.json_with_lines import JsonNode
    from helix_episodes.readers.common.jsonl import LineLedger
    from helix_episodes.session import Session, Status


_TABLES = ("session", "message", "part")
#: In bytes. A part is at most an output of some megabytes; a column that is worked out could have any size.
_LONGEST_VALUE = 32 << 20


class StoredPart(NamedTuple):
    """One object of the store, and where it is; ``node`` has the lines of its texts."""

    source: Source
    record: Record
    node: JsonNode | None = None


class StoredMessage(NamedTuple):
    """A message and its parts in order."""

    info: StoredPart
    parts: Sequence[StoredPart]


class ExportedSessions:
    """The document that ``opencode export`` writes: one session."""

    def __init__(self, path: Path) -> None:
        self._document = read_json_with_lines(path)

    def sessions(self) -> list[Record]:
        """The one session."""
        return [object_in(self._document.record, "info")]

    def messages(self, session: str, *, ledger: LineLedger) -> Iterator[StoredMessage]:  # noqa: ARG002  (there is but one)
        """Its messages."""
        for node in self._document.get("messages").items:
            if "info" not in node.members:
                ledger.report_bad(line=node.line, problem="a message without info")
                continue
            parts = [_piece(part) for part in node.get("parts").items]
            yield StoredMessage(_piece(node.members["info"]), parts)


class SessionFolders:
    """``storage/session/<project>/<session>.json`` with ``message`` and ``part`` next to ``session``, before 1.2."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._storage = path.parents[2]

    def sessions(self) -> list[Record]:
        """The session of the file and those below it."""
        own = read_object(self._path)
        if own is None:
            raise LogNotReadable(path=self._path, problem="it is not JSON object")
        siblings = (read_object(path) for path in sorted(self._path.parent.glob("*.json")) if path != self._path)
        return [own, *(one for one in siblings if one and one.get("parentID"))]

    def messages(self, session: str, *, ledger: LineLedger) -> Iterator[StoredMessage]:
        """The messages in the session's folder; parts lie in folders called after their message, or all in one."""
        loose = list(self._pieces(self._storage / "part", ledger=ledger))
        for info in self._pieces(self._inside("message", session), ledger=ledger):
            name = text_in(info.record, "id") or ""
            parts = list(self._pieces(self._inside("part", name), ledger=ledger)) if name else []
            yield StoredMessage(info, [*parts, *(one for one in loose if one.record.get("messageID") == name)])

    def _inside(self, kind: str, name: str) -> Path | None:
        """The folder of a session's messages or of a message's parts; an id that leads elsewhere names none."""
        folder = self._storage / kind / name
        return folder if folder.name == name != ".." and not folder.is_symlink() else None

    def _pieces(self, folder: Path | None, *, ledger: LineLedger) -> Iterator[StoredPart]:
        for path in sorted(folder.glob("*.json")) if folder else ():
            label = os.path.relpath(path, self._path.parent).replace(os.sep, "/")
            record = None if path.is_symlink() else read_object(path)
            if record is None:
                ledger.report_bad(line=1, problem="it is not JSON object", file=label)
            else:
                yield StoredPart(Source(line=1, id=text_in(record, "id"), file=label), record)


class SessionDatabase:
    """``opencode.db`` since 1.2, opened for reading only. A part's line is its place in its session."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def sessions(self) -> list[Record]:
        """All sessions, oldest first.

        Raises:
            LogNotReadable: A column is worked out when it is read: OpenCode's are not, and it may take any time.
        """
        hidden = (
            "SELECT count(*) FROM sqlite_master AS t, pragma_table_xinfo(t.name) AS c"
            " WHERE c.hidden AND t.name IN (?, ?, ?)"
        )
        if self._rows(hidden, *_TABLES) != [(0,)]:
            raise LogNotReadable(
                path=self._path, problem="a column of it is worked out, so that OpenCode did not write it"
            )
        query = "SELECT id, parent_id, directory, version FROM session ORDER BY time_created, id"
        names = ("id", "parentID", "directory", "version")
        return [dict(zip(names, row, strict=True)) for row in self._rows(query)]

    def messages(self, session: str, *, ledger: LineLedger) -> Iterator[StoredMessage]:
        """The session's messages and parts, each kind by one query."""
        parts: dict[object, list[tuple[object, object]]] = {}
        query = "SELECT message_id, id, data FROM part WHERE session_id = ? ORDER BY id"
        for message, name, data in self._rows(query, session):
            parts.setdefault(message, []).append((name, data))
        line = 0
        query = "SELECT id, data FROM message WHERE session_id = ? ORDER BY time_created, id"
        for name, data in self._rows(query, session):
            pieces = []
            for one, text in [(name, data), *parts.get(name, [])]:
                line += 1
                pieces.append(_stored(one, text, line=line, ledger=ledger))
            if pieces[0] is not None:
                yield StoredMessage(pieces[0], [piece for piece in pieces[1:] if piece is not None])

    def _rows(self, query: str, *values: str) -> list[tuple[Any, ...]]:
        try:
            with closing(sqlite3.connect(f"{self._path.absolute().as_uri()}?mode=ro", uri=True)) as connection:
                connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _LONGEST_VALUE)
                return connection.execute(query, values).fetchall()
        except sqlite3.Error as error:
            raise LogNotReadable(path=self._path, problem=f"the database says: {error}") from error


SessionStore: TypeAlias = ExportedSessions | SessionFolders | SessionDatabase


def has_sessions(path: Path) -> bool:
    """Whether this database has OpenCode's tables."""
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as connection:
            rows = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
    except sqlite3.Error:
        return False
    return {name for (name,) in rows} >= set(_TABLES)


def is_helpers(path: Path) -> bool:
    """Whether this is the file of a session that another one next to it began."""
    if path.parent.parent.name != "session":
        return False
    origin = text_in(read_object(path) or {}, "parentID")
    return origin is not None and any(path.parent.glob(f"*{escape(origin)}.json"))


def _piece(node: JsonNode) -> StoredPart:
    record = node.record
    return StoredPart(Source(line=node.line, id=text_in(record, "id")), record, node)


def _stored(name: object, data: object, *, line: int, ledger: LineLedger) -> StoredPart | None:
    if not (isinstance(name, str) and isinstance(data, str)):  # a column takes any value, whatever its type says
        ledger.report_bad(line=line, problem="its id or its data is no text")
        return None
    try:
        record = parse(data.encode("utf-8", "replace"))
    except ValueError as error:
        ledger.report_bad(line=line, problem=f"{name}: not JSON ({error})")
        return None
    return StoredPart(Source(line=line, id=name), record if isinstance(record, dict) else {})


_TOOLS = {
    **COMMON_TOOLS,
    **named("list", "codesearch", "lspdiagnostics", "lsphover", "skill", by=look),
    "question": ask,
}
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
        if head.lines[0].startswith(SQLITE_HEADER):
            return None if has_sessions(head.path) else "a database without the tables session, message and part"
        document = head.document if isinstance(head.document, dict) else {}
        is_export = isinstance(document.get("messages"), list) and "directory" in object_in(document, "info")
        is_session = {"id", "projectID", "directory", "time"} <= document.keys()
        # A message or a part: `is_part` says by its place to what it belongs.
        is_piece = "messageID" in document or {"id", "sessionID", "role"} <= document.keys()
        if is_export or is_session or is_piece:
            return None
        return "neither a database, nor a session with a projectID and a directory, nor an export of one"

    def is_part(self, path: Path) -> bool:
        """Whether this is a message, a part or a helper's session, which are read with the session that has them."""
        if path.suffix != ".json":
            return False
        return bool({"message", "part"} & set(path.parts[-3:-1])) or is_helpers(path)

    def read(self, path: Path) -> Iterator[Session]:
        """The sessions in the store; those of helpers are a part of the one that sent them."""
        store = _store(path)
        sessions = store.sessions()
        known = {one["id"]: one for one in sessions if text_in(one, "id")}
        roots = [one for one in sessions if text_in(one, "parentID") not in known] if len(sessions) > 1 else sessions
        found = False
        for one in roots:
            transcript = _SessionReader(store, sessions)
            transcript.take_session(one, actor="agent")
            if transcript.builder.dialogue.steps:
                found = True
                yield transcript.builder.session(path, reader=self.name, rewritten=True)
        if not found:
            raise LogNotReadable(path=path, problem="it contains no session with a step")


def _store(path: Path) -> SessionStore:
    with path.open("rb") as file:
        if file.read(len(SQLITE_HEADER)) == SQLITE_HEADER:
            return SessionDatabase(path)
    return SessionFolders(path) if path.parent.parent.name == "session" else ExportedSessions(path)


class _SessionReader:
    """One session and its helpers' while they are read."""

    def __init__(self, store: SessionStore, sessions: list[Record]) -> None:
        self.builder = SessionBuilder()
        self._dialogue = self.builder.dialogue
        self._store = store
        self._children = {one["id"]: one for one in sessions if text_in(one, "id") and one.get("parentID")}

    def take_session(self, session: Record, *, actor: str) -> None:
        """Takes in the messages of one session, and then the helpers that no call of it names."""
        name = text_in(session, "id") or ""
        self._children.pop(name, None)
        if actor == "agent":
            self.builder.note(id=name, version=text_in(session, "version"), root=text_in(session, "directory"))
        for message in self._store.messages(name, ledger=self.builder.ledger):
            for part in message.parts:
                typed = message.info.record.get("role") == "user"
                since = len(self._dialogue.steps)
                self.builder.ledger.enter(self._part(part, at=message.info, typed=typed, actor=actor))
                if part.node is not None:
                    set_step_lines(self._dialogue, part.node, since=since)
            self.builder.ledger.enter(self._message(message.info))
        for child in [one for one in self._children.values() if one.get("parentID") == name]:
            self._helper(child["id"])

    def _helper(self, name: str) -> None:
        child = self._children.get(name)
        if child is not None:
            self.take_session(child, actor=f"agent:{name}")

    def _message(self, info: StoredPart) -> SkippedRecord | None:
        record = info.record
        model = text_in(record, "modelID") or text_in(object_in(record, "model"), "modelID")
        self.builder.count_model(model if record.get("role") == "assistant" else None)
        tokens = object_in(record, "tokens")
        self.builder.add_tokens(count_in(tokens, "input", "output") + count_in(object_in(tokens, "cache"), "write"))
        error = object_in(record, "error")
        if not error:
            return SkippedRecord("message")
        stopped = error.get("name") == "MessageAbortedError"
        text = text_in(object_in(error, "data"), "message") or text_in(error, "name") or "error"
        status: Status = "interrupted" if stopped else "unknown"
        actor = "user" if stopped else "system"
        self._dialogue.add("note", _place(info, info), actor=actor, text=text, status=status)
        return None

    def _part(self, part: StoredPart, *, at: StoredPart, typed: bool, actor: str) -> SkippedRecord | None:
        record, place = part.record, _place(part, at)
        kind = text_in(record, "type") or "part without type"
        text = text_in(record, "text") or ""
        if kind == "text":
            return self._text(record, place, text=text, typed=typed, actor=actor)
        if kind == "reasoning":
            return self._dialogue.add_text_or_skip("thought", place, text=text, actor=actor, empty="empty thought")
        if kind == "tool":
            self._tool(record, place, actor=actor)
            return None
        if kind == "compaction":
            self._dialogue.add("boundary", place, actor="system", arguments={"reason": "compaction"})
            return None
        return SkippedRecord(kind, known=kind in _SKIPPED)

    def _text(
        self, record: Record, place: RecordPosition, *, text: str, typed: bool, actor: str
    ) -> SkippedRecord | None:
        if record.get("synthetic") is True or record.get("ignored") is True:
            return SkippedRecord("text of the program")
        if not typed:
            return self._dialogue.add_text_or_skip("message", place, text=text, actor=actor, empty="empty text")
        if actor != "agent":
            return self._dialogue.add_text_or_skip("note", place, text=text, actor=actor, empty="empty text")
        spoken, inside = text.strip(), text.strip()[1:-1]
        # The program puts quotation marks around a prompt that is handed to it as an argument.
        if spoken == f'"{inside}"' and '"' not in inside.replace('\\"', ""):
            spoken = inside.replace('\\"', '"')
        return self._dialogue.add_text_or_skip("prompt", place, text=spoken, actor="user", empty="empty prompt")

    def _tool(self, record: Record, place: RecordPosition, *, actor: str) -> None:
        state = object_in(record, "state")
        metadata = object_in(state, "metadata")
        call_id, tool = text_in(record, "callID"), text_in(record, "tool")
        self._dialogue.call(place, tool, state.get("input"), tools=_TOOLS, call_id=call_id, actor=actor)
        if metadata.get("exists") is False:
            self._dialogue.mark_created(call_id)
        if helper := text_in(metadata, "sessionId"):
            self._helper(helper)
        if text_in(state, "status") in _ENDED:
            self._end_call(state, place, call_id=call_id)

    def _end_call(self, state: Record, place: RecordPosition, *, call_id: str | None) -> None:
        failed = state.get("status") == "error"
        text = text_in(state, "error") or text_in(state, "output") or ""
        ended = parse_any_time(object_in(state, "time").get("end")) or place.at
        refusal: Status = "interrupted" if text.startswith(_ABORTED) else "error"
        if _REJECTED in text[:200]:
            refusal = "rejected"
        self._dialogue.end_call(
            call_id,
            RecordPosition(place.source, ended),
            text=text,
            failed=failed,
            exit_code=object_in(state, "metadata").get("exit"),
            status=refusal if failed else None,
        )


def _place(piece: StoredPart, message: StoredPart) -> RecordPosition:
    """Where a part is; without a time of its own it was when its message was."""
    times = object_in(piece.record, "time"), object_in(object_in(piece.record, "state"), "time")
    own = next((at for time in times if (at := parse_any_time(time.get("start")))), None)
    return RecordPosition(piece.source, own or parse_any_time(object_in(message.record, "time").get("created")))
