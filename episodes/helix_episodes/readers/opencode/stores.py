"""Where OpenCode keeps sessions: in a database, in folders of small files, or in the one document of an export.

All three hold the same objects: a session, its messages, and the parts that each message is made of.
"""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from glob import escape
from typing import TYPE_CHECKING, NamedTuple, Protocol

from helix_episodes.errors import LogNotReadable
from helix_episodes.readers.documents import read_located
from helix_episodes.readers.fields import Record, object_in, text_in
from helix_episodes.readers.jsonl import open_log, parse
from helix_episodes.session import Source

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from helix_episodes.readers.ledger import Ledger
    from helix_episodes.readers.located import Node

MAGIC = b"SQLite format 3\0"
_TABLES = ("session", "message", "part")


class Piece(NamedTuple):
    """One object of the store, and where it stands; ``node`` has the lines of its texts."""

    source: Source
    record: Record
    node: Node | None = None


class Message(NamedTuple):
    """A message and its parts in order."""

    info: Piece
    parts: Sequence[Piece]


class Store(Protocol):
    """Sessions with their messages."""

    def sessions(self) -> list[Record]:
        """The sessions, as the program describes them."""
        ...

    def messages(self, session: str, *, ledger: Ledger) -> Iterator[Message]:
        """A session's messages in order; what cannot be read goes into the ledger."""
        ...


class Export:
    """The document that ``opencode export`` writes: one session."""

    def __init__(self, path: Path) -> None:
        self._document = read_located(path)

    def sessions(self) -> list[Record]:
        """The one session."""
        return [object_in(self._document.record, "info")]

    def messages(self, session: str, *, ledger: Ledger) -> Iterator[Message]:  # noqa: ARG002  (there is but one)
        """Its messages."""
        for node in self._document.get("messages").items:
            if "info" not in node.members:
                ledger.report_bad(line=node.line, problem="a message without info")
                continue
            parts = [_piece(part) for part in node.get("parts").items]
            yield Message(_piece(node.members["info"]), parts)


class Folders:
    """``storage/session/<project>/<session>.json`` with ``message`` and ``part`` beside ``session``, before 1.2."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._storage = path.parents[2]

    def sessions(self) -> list[Record]:
        """The session of the file and those below it."""
        own = _read_object(self._path)
        if own is None:
            raise LogNotReadable(path=self._path, problem="it is no JSON object")
        beside = (_read_object(path) for path in sorted(self._path.parent.glob("*.json")) if path != self._path)
        return [own, *(one for one in beside if one and one.get("parentID"))]

    def messages(self, session: str, *, ledger: Ledger) -> Iterator[Message]:
        """The messages in the session's folder; parts lie in folders called after their message, or all in one."""
        loose = list(self._pieces(self._storage / "part", ledger=ledger))
        for info in self._pieces(self._storage / "message" / session, ledger=ledger):
            name = text_in(info.record, "id") or ""
            parts = list(self._pieces(self._storage / "part" / name, ledger=ledger)) if name else []
            yield Message(info, [*parts, *(one for one in loose if one.record.get("messageID") == name)])

    def _pieces(self, folder: Path, *, ledger: Ledger) -> Iterator[Piece]:
        for path in sorted(folder.glob("*.json")):
            label = os.path.relpath(path, self._path.parent).replace(os.sep, "/")
            record = _read_object(path)
            if record is None:
                ledger.report_bad(line=1, problem="it is no JSON object", file=label)
            else:
                yield Piece(Source(line=1, id=text_in(record, "id"), file=label), record)


class Database:
    """``opencode.db`` since 1.2, opened for reading only. A part's line is its place in its session."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def sessions(self) -> list[Record]:
        """All sessions, oldest first."""
        query = "SELECT id, parent_id, directory, version FROM session ORDER BY time_created, id"
        names = ("id", "parentID", "directory", "version")
        return [dict(zip(names, row, strict=True)) for row in self._rows(query)]

    def messages(self, session: str, *, ledger: Ledger) -> Iterator[Message]:
        """The session's messages and parts, each kind by one query."""
        parts: dict[str, list[tuple[str, str]]] = {}
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
                yield Message(pieces[0], [piece for piece in pieces[1:] if piece is not None])

    def _rows(self, query: str, *values: str) -> list[tuple[str, ...]]:
        try:
            with closing(sqlite3.connect(f"{self._path.absolute().as_uri()}?mode=ro", uri=True)) as connection:
                return connection.execute(query, values).fetchall()
        except sqlite3.Error as error:
            raise LogNotReadable(path=self._path, problem=f"the database says: {error}") from error


def has_sessions(path: Path) -> bool:
    """Whether this database has OpenCode's tables."""
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as connection:
            rows = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
    except sqlite3.Error:
        return False
    return {name for (name,) in rows} >= set(_TABLES)


def is_helpers(path: Path) -> bool:
    """Whether this is the file of a session that another one beside it began."""
    if path.parent.parent.name != "session":
        return False
    origin = text_in(_read_object(path) or {}, "parentID")
    return origin is not None and any(path.parent.glob(f"*{escape(origin)}.json"))


def _piece(node: Node) -> Piece:
    record = node.record
    return Piece(Source(line=node.line, id=text_in(record, "id")), record, node)


def _stored(name: str, data: str, *, line: int, ledger: Ledger) -> Piece | None:
    try:
        record = parse(data.encode("utf-8", "replace"))
    except ValueError as error:
        ledger.report_bad(line=line, problem=f"{name}: not JSON ({error})")
        return None
    return Piece(Source(line=line, id=name), record if isinstance(record, dict) else {})


def _read_object(path: Path) -> Record | None:
    try:
        with open_log(path) as file:
            value = parse(file.read())
    except (OSError, ValueError, LogNotReadable):
        return None
    return value if isinstance(value, dict) else None
