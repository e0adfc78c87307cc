"""Open, create and lock the SQLite files of a memory.

Write-ahead logging lets readers read while one process writes. ``BEGIN IMMEDIATE`` takes the write lock before the
first read, so what was read is still true when it is written; a writer waits for a lock that is taken. Our files have
an application id in their header, and a file without it is refused before SQLite touches it.

A database may have come from a stranger, and its schema runs code: triggers, views and generated columns act when rows
are read or written. So every table, index and trigger is compared with ours whenever a file is opened; what the schema
calls is not trusted with functions that have side effects, and a file cannot grow past a limit. From Python 3.12 on
SQLite's defensive mode also refuses writes to its internal tables; on 3.11 only the comparison prevents them.
"""

from __future__ import annotations

import contextlib
import functools
import json
import os
import sqlite3
import sys
from _thread import RLock  # hooks wait, and `threading` takes 1 ms to load
from weakref import WeakSet

from helix_episodes.light_imports import Value, blake2b
from helix_episodes.safe_files import irregularity, locked, make_folder, open_regular
from helix_graph.errors import (
    CUT_SHORT,
    DatabaseBusy,
    DatabaseRefused,
    DatabaseUnreadable,
    GraphNotCompiled,
    NotOurDatabase,
)
from helix_graph.writability import refusal_of_database

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path
    from typing import Any, Literal

    Ownership = Literal["absent", "ours"]


#: How long a writer waits for another: a full compile of ten thousand episodes takes a few seconds.
BUSY_SECONDS = 30.0
#: A first compile of ten thousand episodes writes to pages all over the file; SQLite's own 2 MB would spill them.
_CACHE_KIB = 64 * 1024
_MAGIC = b"SQLite format 3\0"
#: Where the header of an SQLite file keeps the application id
#: (https://sqlite.org/fileformat2.html#the_database_header).
_ID_AT = slice(68, 72)
_HEADER_LENGTH = 100
#: What SQLite keeps beside a file while it is open, or after a crash.
SIDE_FILES = ("-wal", "-shm", "-journal")
LOCK_SUFFIX = ".lock"
#: Of a file that takes its name once it is complete, and of one that a part of it is made in.
NEW_SUFFIX = ".new"
ASIDE_SUFFIX = ".aside"
OWNER_ONLY = 0o600

#: The lowest byte of an extended result code is the kind of error (https://sqlite.org/rescode.html).
_PRIMARY_CODE = 0xFF
_BUSY_CODES = frozenset({sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED})
#: About the place, not the file: deleting and rebuilding would help nobody.
_REFUSED_CODES = frozenset(
    {sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM}
)
#: A process was killed while it wrote: what it began has to be undone, and who only reads may not.
_UNDO_CODES = frozenset({sqlite3.SQLITE_READONLY_ROLLBACK, sqlite3.SQLITE_READONLY_RECOVERY})
#: A list of values in a query is handed over as one JSON text: no limit on their number, one statement to prepare.
ANY_OF = "IN (SELECT value FROM json_each(?))"


class DamagedRows(sqlite3.DatabaseError):
    """Rows of a file that SQLite itself finds sound are not those that were written; `reporting` makes it ours."""


class SchemaForeign(DatabaseUnreadable):
    """The schema has something that is not ours; ``rooms`` are the versions of helix.db's parts, as it names them."""

    def __init__(self, *, path: Path, problem: str, rooms: Mapping[str, int]) -> None:
        self.rooms = rooms
        super().__init__(path=path, problem=problem)


class DatabaseKind(Value):
    """A kind of database file: its mark, the version of its tables, and the statements that make them.

    ``indexes`` stand apart: made after the first load of rows they cost half of what keeping them up to date does.
    ``known`` has the `object_digest` of everything that may be in its schema, at most ``most_pages`` the file. With
    ``indexed_by_triggers`` its own triggers write to an index of words, which SQLite refuses to a schema that is not
    trusted: writers trust it once it was compared.
    """

    application_id: int
    version: int
    schema: str
    known: frozenset[str]
    indexes: str = ""
    indexed_by_triggers: bool = False
    most_pages: int = 1 << 18  # a gigabyte of SQLite's usual pages: some 200,000 insights with their vectors
    page_size: int = 4096


def ownership(path: Path, kind: DatabaseKind) -> Ownership:
    """Whether the file is ours or is yet to be made; an empty one counts as yet to be made.

    Raises:
        DatabaseUnreadable: Its beginning is cut off or nothing but zeros, as a crash leaves it; no program's file
            begins so.
    """
    for part in (path, *(beside(path, suffix) for suffix in SIDE_FILES)):  # SQLite would write where a link leads
        if problem := irregularity(part):
            raise NotOurDatabase(path=part, problem=problem)
    try:
        header = beginning_of(path, _HEADER_LENGTH)
    except FileNotFoundError:
        return "absent"
    except OSError as error:
        raise DatabaseRefused(path=path, problem=error.strerror or str(error)) from error
    if header is None:
        return "ours"
    if not header:
        return "absent"
    _check_header(header, path, kind)
    return "ours"


def _check_header(header: bytes, path: Path, kind: DatabaseKind) -> None:
    if not any(header):
        raise DatabaseUnreadable(path=path, problem="its beginning is nothing but zeros")
    if len(header) < _HEADER_LENGTH and header[: len(_MAGIC)] == _MAGIC[: len(header)]:
        raise DatabaseUnreadable(path=path, problem="its beginning is cut off")
    if not header.startswith(_MAGIC):
        raise NotOurDatabase(path=path, problem="it is not an SQLite file")
    if int.from_bytes(header[_ID_AT], "big") != kind.application_id:
        raise NotOurDatabase(path=path, problem="it carries another program's mark")


def open_for_reading(path: Path, kind: DatabaseKind, *, for_any_thread: bool = False) -> sqlite3.Connection:
    """A connection that cannot write, within `reporting`; with ``for_any_thread`` one after another may use it.

    Even a reader of a file with write-ahead logging makes files beside it. Where it may not, and no log stands there,
    nobody else can be writing either, and the file is read as one that does not change.
    """
    fixed = "" if os.access(path.parent, os.W_OK) or beside(path, "-wal").exists() else "&immutable=1"
    return _checked(_connect(path, for_any_thread=for_any_thread, options=f"?mode=ro{fixed}"), path, kind)


def open_for_writing(path: Path, kind: DatabaseKind, *, for_any_thread: bool = False) -> sqlite3.Connection:
    """A connection to the file, which is made with its mark when it is not there; its tables are `create_tables`' work.

    With ``for_any_thread`` one thread after another may use it.
    The mark is written before write-ahead logging begins: later it would stand in the log, not in the header.
    """
    made = ownership(path, kind) == "absent"
    with DatabaseRefused.for_os_errors(path):
        make_folder(path.parent)
        # Its files quote people's prompts; SQLite gives the files beside it the same permissions.
        with contextlib.suppress(FileExistsError):
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDONLY, OWNER_ONLY))
    with reporting(path):
        connection = _checked(_connect(path, for_any_thread=for_any_thread), path, kind)
        connection.execute(f"PRAGMA max_page_count = {kind.most_pages}")
        if kind.indexed_by_triggers:
            connection.execute("PRAGMA trusted_schema = ON")
        if made or connection.execute("PRAGMA journal_mode").fetchone()[0] != "wal":
            _begin(connection, path, kind)
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute(f"PRAGMA cache_size = -{_CACHE_KIB}")
    return connection


def _checked(connection: sqlite3.Connection, path: Path, kind: DatabaseKind) -> sqlite3.Connection:
    """The connection, when its schema has only what is ours; tables of another version are dropped or refused anyway.

    Raises:
        SchemaForeign: Something in it is not ours; the connection is closed.
    """
    with contextlib.ExitStack() as unless_sound:
        unless_sound.callback(connection.close)
        if schema_version(connection) in {0, kind.version} and (problem := foreign_object(connection, kind)):
            raise SchemaForeign(path=path, problem=problem, rooms=_rooms(connection, kind))
        unless_sound.pop_all()
    return connection


def foreign_object(connection: sqlite3.Connection, kind: DatabaseKind) -> str | None:
    """What is in the schema and not ours, in a sentence."""
    for type_, name, table, sql in connection.execute("SELECT type, name, tbl_name, sql FROM sqlite_master"):
        counts = type_ == "table" and str(name).startswith("sqlite_stat")  # what ANALYZE makes runs nothing
        if not counts and object_digest(type_, name, table, sql) not in kind.known:
            return f"it has a {type_} {name!r} that helix-graph did not make"
    return None


def _rooms(connection: sqlite3.Connection, kind: DatabaseKind) -> dict[str, int]:
    """The versions that helix.db's table ``room`` names, where that table is ours: anything else could run for ever."""
    query = "SELECT type, name, tbl_name, sql FROM sqlite_master WHERE name = 'room'"
    if any(object_digest(*row) not in kind.known for row in connection.execute(query)):
        return {}
    with contextlib.suppress(sqlite3.Error):
        return dict(connection.execute("SELECT name, version FROM room WHERE typeof(version) = 'integer'").fetchall())
    return {}


@functools.lru_cache(maxsize=512)  # every opening asks about the same hundred rows
def object_digest(*row: str | None) -> str:
    """The digest of one row of sqlite_master, whatever blanks stand in its SQL."""
    words = "\0".join(" ".join((part or "").split()) for part in row)
    return blake2b(words.encode("utf-8", "replace"), digest_size=8).hexdigest()


def _begin(connection: sqlite3.Connection, path: Path, kind: DatabaseKind) -> None:
    """Marks a new file and begins its write-ahead log. One at a time: where two begin a log, SQLite does not wait."""
    with locked(path.parent):  # a file for the lock would be left behind
        if connection.execute("PRAGMA application_id").fetchone() != (kind.application_id,):  # no other got here first
            connection.execute(f"PRAGMA page_size = {kind.page_size}")
            connection.execute(f"PRAGMA application_id = {kind.application_id}")
            connection.execute("VACUUM")  # writes the header of a database that has no tables yet
        connection.execute("PRAGMA journal_mode = WAL")


def check_writable(path: Path, kind: DatabaseKind) -> None:
    """Whether the file, if it is there, can be written; a damaged one counts, for the next compile makes it anew."""
    with contextlib.suppress(DatabaseUnreadable):
        if ownership(path, kind) == "absent":
            return
        with reporting(path), contextlib.closing(open_for_writing(path, kind)) as connection:
            connection.execute("BEGIN IMMEDIATE")
            connection.execute("ROLLBACK")


def open_in_memory() -> sqlite3.Connection:
    """A database that leaves nothing behind, for trying things out."""
    return _connect(None)


def open_aside(path: Path, whole: Path) -> sqlite3.Connection:
    """A connection to a new file for one thread after the other, which reads the file at ``whole`` too, as ``whole``.

    What it reads there must not change: it takes no locks, so that a connection that writes more to it goes on.
    """
    path.touch(OWNER_ONLY)
    connection = _connect(path, for_any_thread=True)
    connection.execute("ATTACH ? AS whole", (f"{whole.absolute().as_uri()}?immutable=1",))
    connection.execute("SELECT count(*) FROM whole.sqlite_master").fetchone()  # its tables, as they are now
    return connection


def create_tables(connection: sqlite3.Connection, kind: DatabaseKind) -> None:
    """Drops everything there is and makes the tables of the schema, within the transaction under way; indexes wait.

    Triggers go first, so that none can act. Then the last table made, since tables refer to those made before them;
    virtual ones go before all others, since they take tables of their own with them.
    """
    found = connection.execute(
        "SELECT type, name FROM sqlite_master WHERE type IN ('table', 'view', 'trigger') AND name NOT LIKE 'sqlite_%'"
        " ORDER BY type = 'trigger' DESC, sql LIKE 'CREATE VIRTUAL TABLE%' DESC, rowid DESC"
    )
    for type_, name in found.fetchall():
        quoted = str(name).replace('"', '""')
        connection.execute(f'DROP {type_} IF EXISTS "{quoted}"')
    for statement in kind.schema.split(";"):
        connection.execute(statement)
    connection.execute(f"PRAGMA user_version = {kind.version}")


def create_indexes(connection: sqlite3.Connection, kind: DatabaseKind, *, but_of: str = "", only_of: str = "") -> None:
    """Makes the indexes of tables that `create_tables` has made, within the transaction under way.

    One table may wait for what the indexes of the others are good for.
    """
    for statement in kind.indexes.split(";"):
        table = statement.partition(" ON ")[2].partition(" ")[0]
        if table != but_of and only_of in {"", table}:
            connection.execute(statement)


def schema_version(connection: sqlite3.Connection) -> int:
    """The version of the tables in the file; 0 when it has none."""
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


@contextlib.contextmanager
def transaction(connection: sqlite3.Connection, *, keep: bool = True) -> Iterator[None]:
    """Everything within happens or nothing does. ``keep=False`` undoes it at the end in any case."""
    connection.execute("BEGIN IMMEDIATE")
    done = False
    try:
        yield
        done = True
    finally:
        if connection.in_transaction:  # a full disk ends it before we do
            connection.execute("COMMIT" if done and keep else "ROLLBACK")


@contextlib.contextmanager
def reporting(path: Path) -> Iterator[None]:
    """Turns what SQLite says about the file into our errors; a broken constraint or a wrong query stays a bug.

    Raises:
        GraphNotCompiled: A process was killed while it wrote, and this one only reads.
    """
    try:
        yield
    except (sqlite3.IntegrityError, sqlite3.ProgrammingError):
        raise
    except sqlite3.Error as error:
        extended = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR)
        code = extended & _PRIMARY_CODE
        if extended in _UNDO_CODES:
            raise GraphNotCompiled(path=path, problem=CUT_SHORT) from error
        if code in _BUSY_CODES:
            raise DatabaseBusy(path=path, seconds=BUSY_SECONDS) from error
        if code in _REFUSED_CODES:
            refused = refusal_of_database(path)
            problem = os.strerror(refused) if refused else str(error)
            if refused and beside(path, "-wal").exists():
                problem += "; a process was killed, and what it wrote has to be taken in: make its folder writable once"
            raise DatabaseRefused(path=path, problem=problem) from error
        raise DatabaseUnreadable(path=path, problem=str(error)) from error


def as_list(values: Iterable[object]) -> str:
    """Values for `ANY_OF`."""
    return json.dumps(list(values), ensure_ascii=False, separators=(",", ":"))


def word_table(name: str) -> str:
    """The statement that makes an index of words (`helix_graph.word_search`), each row of it a text."""
    return f"CREATE VIRTUAL TABLE {name} USING fts5 (text, tokenize = 'porter unicode61 remove_diacritics 2')"


def insert_row(connection: sqlite3.Connection, table: str, values: Mapping[str, Any], *, replace: bool = False) -> int:
    """Adds a row with these columns, or replaces the one with its key; its number."""
    verb, marks = "INSERT OR REPLACE" if replace else "INSERT", ", ".join("?" * len(values))
    query = f"{verb} INTO {table} ({', '.join(values)}) VALUES ({marks})"
    return connection.execute(query, tuple(values.values())).lastrowid or 0


def remove(path: Path) -> None:
    """Deletes a database file and what SQLite keeps beside it."""
    for suffix in ("", *SIDE_FILES):
        beside(path, suffix).unlink(missing_ok=True)


def remove_with_unfinished(path: Path) -> None:
    """As `remove`, and what is left of a new file whose process was killed."""
    remove(path)
    remove_unfinished(path)


def remove_unfinished(path: Path) -> None:
    """Deletes what is there of a new file that has not taken its name."""
    for suffix in (NEW_SUFFIX, ASIDE_SUFFIX):
        remove(beside(path, suffix))


@contextlib.contextmanager
def sole_builder(path: Path) -> Iterator[None]:
    """Only one process at a time is within: for deleting a damaged file, which others may be about to do as well.

    Without it the second would delete what the first has just built, and SQLite, on closing, would delete by name a
    log that belongs to somebody else's new file.

    Raises:
        DatabaseRefused: The lock's file cannot be made.
    """
    with contextlib.ExitStack() as lock:
        with DatabaseRefused.for_os_errors(path):
            make_folder(path.parent)
            lock.enter_context(locked(beside(path, LOCK_SUFFIX)))
        yield


def erase_traces(path: Path, kind: DatabaseKind) -> bool:
    """Writes the file anew without its free pages and empties its log, so that nothing deleted can be read from either.

    False when another process was reading and its log could therefore not be emptied; it is the next time.
    """
    remove_unfinished(path)
    if ownership(path, kind) == "absent":
        return True
    with reporting(path), contextlib.closing(open_for_writing(path, kind)) as connection:
        connection.execute("VACUUM")
        busy = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
    return not busy


def beside(path: Path, suffix: str) -> Path:
    """The path of what stands beside a file under its name with a suffix."""
    return path.with_name(path.name + suffix)


class _Connection(sqlite3.Connection):
    """A connection of which one can say whether it is still open."""

    is_open = True

    def close(self) -> None:
        super().close()
        self.is_open = False


#: The connections of this process, by the file that they lead to, and who may look at them.
_CONNECTED: dict[tuple[int, int], WeakSet[_Connection]] = {}
_LOOKING = RLock()
os.register_at_fork(after_in_child=_CONNECTED.clear)


def beginning_of(path: Path, length: int) -> bytes | None:
    """The first bytes of the file; None while this process has a connection to it, which was checked when it was made.

    Closing a file takes away every lock that the process has on it, those of its connections too. Another process
    then takes itself for the last one, deletes the log, and what is written to that afterwards is lost
    (https://sqlite.org/howtocorrupt.html, section 2.2).
    """
    with _LOOKING:
        found = path.stat()
        if any(one.is_open for one in _CONNECTED.get((found.st_dev, found.st_ino), ())):
            return None
        with open_regular(path) as file:
            return file.read(length)


def _connect(path: Path | None, *, for_any_thread: bool = False, options: str = "") -> sqlite3.Connection:
    """A connection to the file, or to a database in memory."""
    with _LOOKING:
        connection = sqlite3.connect(
            f"{path.absolute().as_uri()}{options}" if path else ":memory:",
            timeout=BUSY_SECONDS,
            isolation_level=None,
            uri=path is not None,
            check_same_thread=not for_any_thread,
            factory=_Connection,
        )
        if path:
            found = path.stat()
            _CONNECTED.setdefault((found.st_dev, found.st_ino), WeakSet()).add(connection)
    connection.execute("PRAGMA trusted_schema = OFF")
    connection.execute("PRAGMA cell_size_check = ON")
    if sys.version_info >= (3, 12):
        connection.setconfig(sqlite3.SQLITE_DBCONFIG_DEFENSIVE)
    return connection
