"""helix.db: what a memory holds that nothing else could bring back.

Insights, their links and the log of feedback, topics, plans and workspaces stand in this one SQLite file. Unlike
graph.db it is not derived, so its tables are never dropped: every room keeps its own tables and says in `Tables` which
steps lead to them, and a file made by an older version takes the steps that it lacks when somebody next writes to it.
Every commit is on the disk before it is acknowledged, and every writing is one transaction that holds the write lock
from its first look on, so that processes at work together come to what one after the other would have come to.

>>> import tempfile
>>> notes = Tables(room="notes", steps=("CREATE TABLE note (text TEXT NOT NULL)",))
>>> with tempfile.TemporaryDirectory() as folder:
...     database = HelixDatabase(Path(folder) / "helix.db", notes)
...     with database.writing() as connection:
...         _ = connection.execute("INSERT INTO note VALUES ('read the log first')")
...     with database.reading() as connection:
...         connection.execute("SELECT text FROM note").fetchall()
[('read the log first',)]
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from helix_graph.database import (
    SIDE_FILES,
    Kind,
    open_for_reading,
    open_for_writing,
    open_in_memory,
    ownership,
    reporting,
    transaction,
)
from helix_graph.errors import DatabaseUnreadable, GraphNotCompiled, MemoryDamaged, MemoryNewer

if TYPE_CHECKING:
    from collections.abc import Iterator

NAME = "helix.db"
#: The seeds' way to name the file; it is looked at in every call, since one process may serve several memories.
ENVIRONMENT = "HELIX_DB_PATH"
_ROOMS = "CREATE TABLE IF NOT EXISTS room (name TEXT PRIMARY KEY, version INTEGER NOT NULL) WITHOUT ROWID"
#: Where the header has the number of pages, and the size of the smallest page there is (65,536 is written as 1).
_SIZES = slice(28, 32)
_SMALLEST_PAGE = 512
HELIX_DB = Kind(application_id=int.from_bytes(b"hlxm", "big"), version=1, schema=_ROOMS)


class Tables(msgspec.Struct, frozen=True, kw_only=True):
    """The tables of one room, as the steps that make them: step N leads from version N to N + 1, and is never edited.

    A step is SQL of one or more statements.
    """

    room: str
    steps: tuple[str, ...]


def database_path(root: Path) -> Path:
    """Where the database of the memory in ``root`` is: ``HELIX_DB_PATH`` if that is set now, else ``root/helix.db``."""
    override = os.environ.get(ENVIRONMENT)
    return Path(override).expanduser().absolute() if override else root / NAME


class HelixDatabase:
    """One room's way into helix.db. Nothing stays open between calls, so threads and processes may share it."""

    def __init__(self, path: Path, tables: Tables) -> None:
        self.path = path
        self.tables = tables

    @contextlib.contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """A connection that sees one state of the file throughout; a file or tables yet to be made are empty ones.

        Raises:
            NotOurDatabase: Another program's file stands there.
            MemoryNewer: A newer version wrote it.
            MemoryDamaged: It is ours and cannot be read.
            DatabaseBusy: Another process kept it locked.
            DatabaseRefused: Permissions are missing.
        """
        with self._reporting(), contextlib.closing(self._reader()) as connection:
            connection.execute("BEGIN")
            yield connection

    @contextlib.contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """A connection within a transaction: everything done with it happens, durably, or nothing does.

        Raises:
            NotOurDatabase: Another program's file stands there.
            MemoryNewer: A newer version wrote it.
            MemoryDamaged: It is ours and cannot be read.
            DatabaseBusy: Another process kept it locked.
            DatabaseRefused: The disk is full, or permissions are missing.
        """
        self._refuse_torn()
        with self._reporting(), contextlib.closing(open_for_writing(self.path, HELIX_DB)) as connection:
            connection.execute("PRAGMA synchronous = FULL")  # nothing could bring back what a power cut takes
            with transaction(connection):
                self._step_up(connection)
                yield connection

    def _refuse_torn(self) -> None:
        """Before anything is written to a file whose end is missing: SQLite may not come by there, and write on.

        Where a log stands beside it, somebody is writing or was killed, and SQLite puts the end right from the log.

        Raises:
            MemoryDamaged: The end is missing.
        """
        log = self.path.with_name(self.path.name + SIDE_FILES[0])
        if not log.exists() and _is_torn(self.path) and not log.exists():
            raise MemoryDamaged(path=self.path, problem="its end is cut off")

    def _reader(self) -> sqlite3.Connection:
        if ownership(self.path, HELIX_DB) == "absent":
            empty = open_in_memory()
            self._step_up(empty)
            return empty
        if not self._is_ready():
            with self.writing():
                pass
        return open_for_reading(self.path)

    def _is_ready(self) -> bool:
        """Whether the file can be read as it is: it has all our tables, and no process was killed while it wrote."""
        try:
            with reporting(self.path), contextlib.closing(open_for_reading(self.path)) as connection:
                return self._version(connection) == len(self.tables.steps)
        except GraphNotCompiled:
            return False

    def _version(self, connection: sqlite3.Connection) -> int:
        """Of this room's tables in the file.

        Raises:
            MemoryNewer: The file has steps that this version does not know.
        """
        try:
            row = connection.execute("SELECT version FROM room WHERE name = ?", (self.tables.room,)).fetchone()
        except sqlite3.OperationalError as error:
            if "no such table" not in str(error):
                raise
            row = None
        version = int(row[0]) if row else 0
        if version > len(self.tables.steps):
            raise MemoryNewer(path=self.path, room=self.tables.room, version=version, known=len(self.tables.steps))
        return version

    def _step_up(self, connection: sqlite3.Connection) -> None:
        version = self._version(connection)
        if version == len(self.tables.steps):
            return
        connection.execute(_ROOMS)
        for step in self.tables.steps[version:]:
            for statement in _statements(step):
                connection.execute(statement)
        connection.execute("INSERT OR REPLACE INTO room VALUES (?, ?)", (self.tables.room, len(self.tables.steps)))

    @contextlib.contextmanager
    def _reporting(self) -> Iterator[None]:
        try:
            with reporting(self.path):
                yield
        except DatabaseUnreadable as error:
            raise MemoryDamaged(path=self.path, problem=error.problem) from error


def _is_torn(path: Path) -> bool:
    """Whether the file is shorter than its header says (https://sqlite.org/fileformat2.html#the_database_header)."""
    try:
        with path.open("rb") as file:
            header = file.read(_SIZES.stop)
            size = file.seek(0, os.SEEK_END)
    except OSError:
        return False  # absent, or what opening it will say better
    if len(header) < _SIZES.stop:
        return False
    page, pages = int.from_bytes(header[16:18], "big"), int.from_bytes(header[_SIZES], "big")
    return size < max(page, _SMALLEST_PAGE) * pages


def _statements(script: str) -> Iterator[str]:
    """The statements of a script, one by one: ``executescript`` would end the transaction under way."""
    begun = ""
    for piece in script.split(";"):
        begun += piece
        if sqlite3.complete_statement(begun + ";"):
            yield begun
            begun = ""
        else:
            begun += ";"
    if begun.strip(" \n;"):
        yield begun
