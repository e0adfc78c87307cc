"""helix.db: the database of insights, topics and plans, which cannot be derived from anything else.

Insights, their links and the log of feedback, topics, plans and workspaces are in this one SQLite file. Unlike
graph.db it is the truth, so its tables are never dropped: every package has its own tables and says in `Tables` which
steps lead to them, and a file made by an older version takes the steps that it lacks when somebody next writes to it.
Every commit is on the disk before it is acknowledged, and every writing is one transaction that holds the write lock
from its first look on, so that processes at work together come to what one after the other would have come to.

>>> import tempfile
>>> from helix_graph.plans.schema import PLAN_TABLES
>>> with tempfile.TemporaryDirectory() as folder:
...     database = HelixDatabase(Path(folder) / "helix.db", PLAN_TABLES)
...     with database.writing() as connection:
...         _ = connection.execute("INSERT INTO attempt VALUES (1, 'build', 'read the log first', '2026-01-01')")
...     with database.reading() as connection:
...         connection.execute("SELECT approach FROM attempt").fetchall()
[('read the log first',)]
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
from _thread import allocate_lock  # as in `helix_graph.database`
from datetime import UTC, datetime
from pathlib import Path

from helix_episodes.light_imports import Value
from helix_episodes.safe_files import expanded
from helix_graph.database import (
    SIDE_FILES,
    DatabaseKind,
    SchemaForeign,
    beginning_of,
    open_for_reading,
    open_for_writing,
    open_in_memory,
    ownership,
    reporting,
    transaction,
)
from helix_graph.errors import (
    DatabaseRefused,
    DatabaseUnreadable,
    GraphNotCompiled,
    MemoryDamaged,
    MemoryNewer,
    NotOurDatabase,
)
from helix_graph.schema_digests import HELIX_OBJECTS, ROOM_VERSIONS

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

NAME = "helix.db"
#: The seeds' way to name the file; it is looked at in every call, since one process may serve several memories.
ENVIRONMENT = "HELIX_DB_PATH"
_ROOMS = "CREATE TABLE IF NOT EXISTS room (name TEXT PRIMARY KEY, version INTEGER NOT NULL) WITHOUT ROWID"
#: Where the header has the number of pages, and the size of the smallest page there is (65,536 is written as 1).
_SIZES = slice(28, 32)
_SMALLEST_PAGE = 512
HELIX_DB = DatabaseKind(
    application_id=int.from_bytes(b"hlxm", "big"),
    version=1,
    schema=_ROOMS,
    known=HELIX_OBJECTS,
    indexed_by_triggers=True,
)


#: The original's file has the same name, and may be named by ``HELIX_DB_PATH``.
_TAKE_OVER = "; what the original's helix.db knows is taken over by `helix-graph insight import FILE`"


#: What cannot be read from a folder in which nothing may be written.
_CUT_SHORT = "a process was killed while it wrote, which has to be undone first: make its folder writable once"
_OLDER = "an older version wrote it, and it has to be brought up to date first: make its folder writable once"


class Tables(Value):
    """The tables of one package, as the steps that make them.

    Step N leads from version N to N + 1, and is never edited, but for leaving out what a later step drops wherever it
    is. A step is SQL of one or more statements, or a function for what SQL alone cannot do. ``known`` are the digests
    of what the steps make, unless `helix_graph.schema_digests` has them.
    """

    room: str
    steps: tuple[str | Callable[[sqlite3.Connection], None], ...]
    known: frozenset[str] = frozenset()


def database_path(root: Path) -> Path:
    """Where the database of the memory in ``root`` is: ``HELIX_DB_PATH`` if that is set now, else ``root/helix.db``.

    A link is followed only where its owner named it, in the variable.
    """
    override = os.environ.get(ENVIRONMENT)
    return Path(os.path.realpath(expanded(override))) if override else root / NAME


def databases_of(root: Path) -> tuple[Path, ...]:
    """The databases that may hold what the memory in ``root`` learnt: the one in use now, and its own."""
    return tuple(path for path in dict.fromkeys((database_path(root), root / NAME)) if path.exists())


class ConnectionPool:
    """Connections of one sort, to read or to write; while they are `kept_open`, one a file waits for the next use.

    The last connection to close a file copies its whole log into it, with two waits for the disk. A process that writes
    again and again, as a server does, would do that every time; with one kept open SQLite does it when the log is long.
    A file that was deleted or replaced since is not the one that the connection knows, which is dropped; and in a
    folder that is read-only a connection may be to tables that were only made up, so none is kept there.
    """

    def __init__(self) -> None:
        self._lock = allocate_lock()
        self._idle: dict[Path, tuple[sqlite3.Connection, _Identity]] = {}
        self._keepers = 0
        os.register_at_fork(after_in_child=self._idle.clear)  # SQLite's connections may not be carried into a child

    @contextlib.contextmanager
    def lend(
        self, path: Path, *, make: Callable[[], sqlite3.Connection], fits: Callable[[sqlite3.Connection], bool]
    ) -> Iterator[sqlite3.Connection]:
        """A connection to the file at ``path``, the idle one if it fits or a new one; what fails within closes it."""
        connection = self._take(path)
        if connection is not None and not fits(connection):
            connection.close()
            connection = None
        connection = connection or make()
        try:
            yield connection
        except BaseException:
            connection.close()
            raise
        self._give(path, connection)

    @contextlib.contextmanager
    def kept(self) -> Iterator[None]:
        """Within, connections wait to be used again."""
        with self._lock:
            self._keepers += 1
        try:
            yield
        finally:
            with self._lock:
                self._keepers -= 1
                surplus = [] if self._keepers else [self._idle.pop(path)[0] for path in list(self._idle)]
            for connection in surplus:
                connection.close()

    def _take(self, path: Path) -> sqlite3.Connection | None:
        with self._lock:
            connection, identity = self._idle.pop(path, (None, None))
        if connection is None or identity == _identity(path):
            return connection
        connection.close()
        return None

    def _give(self, path: Path, connection: sqlite3.Connection) -> None:
        identity = _identity(path)
        with self._lock:
            keep = self._keepers > 0 and path not in self._idle and os.access(path.parent, os.W_OK)
            if keep and identity is not None:
                self._idle[path] = (connection, identity)
        if not keep or identity is None:
            connection.close()


_Identity = tuple[int, int]


def _identity(path: Path) -> _Identity | None:
    """Which file stands there, under whatever name it came."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


_READERS, _WRITERS = ConnectionPool(), ConnectionPool()


@contextlib.contextmanager
def kept_open() -> Iterator[None]:
    """For a process that asks again and again, such as a server: within, connections to helix.db stay open.

    Until the end a copy of the file alone may lack what was written last, which is in the log next to it.
    """
    with _WRITERS.kept(), _READERS.kept():
        yield


class HelixDatabase:
    """One package's access to helix.db, for any thread."""

    def __init__(self, path: Path, tables: Tables) -> None:
        self.path = path
        self.tables = tables
        self._kind = HELIX_DB._replace(known=HELIX_DB.known | tables.known) if tables.known else HELIX_DB

    @contextlib.contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """A connection that sees one state of the file throughout; a file or tables yet to be made are empty ones."""
        with self._reporting(), _READERS.lend(self.path, make=self._reader, fits=self._is_current) as connection:
            connection.execute("BEGIN")
            try:
                yield connection
            finally:
                connection.rollback()

    @contextlib.contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """A connection within a transaction: everything done with it happens, durably, or nothing does."""
        lent = _WRITERS.lend(self.path, make=self._writer, fits=lambda _: True)
        with self._reporting(), lent as connection, transaction(connection):
            self._step_up(connection)
            yield connection

    def _writer(self) -> sqlite3.Connection:
        if ownership(self.path, HELIX_DB) == "ours":  # a pipe in its place would be waited for
            self._refuse_torn()
        connection = self._open(write=True)
        connection.execute("PRAGMA synchronous = FULL")  # nothing could bring back what a power cut takes
        return connection

    def _open(self, *, write: bool = False) -> sqlite3.Connection:
        """A connection to the file.

        Raises:
            MemoryNewer: Its schema has something unknown, and the steps of a newer version were taken.
            DatabaseUnreadable: Its schema has something that is not ours.
        """
        try:
            if write:
                return open_for_writing(self.path, self._kind, for_any_thread=True)
            return open_for_reading(self.path, self._kind, for_any_thread=True)
        except SchemaForeign as error:
            versions = {**ROOM_VERSIONS, self.tables.room: len(self.tables.steps)}
            for room, version in error.rooms.items():
                if version > versions.get(room, version):
                    raise MemoryNewer(path=self.path, room=room, version=version, known=versions[room]) from error
            raise

    def _refuse_torn(self) -> None:
        """Before anything is written to a file whose end is missing: SQLite may not come by there, and write on.

        Where a log stands beside it, somebody is writing or was killed, and SQLite puts the end right from the log.
        """
        log = self.path.with_name(self.path.name + SIDE_FILES[0])
        if not log.exists() and _is_torn(self.path) and not log.exists():
            raise MemoryDamaged(path=self.path, problem="its end is cut off")

    def _reader(self) -> sqlite3.Connection:
        if ownership(self.path, HELIX_DB) == "absent":
            return self._empty()
        ready = self._ready()
        if ready is None and not os.access(self.path.parent, os.W_OK):
            return self._unmade()
        if ready is None:
            with self.writing():
                pass
            ready = self._open()
        return ready

    def _empty(self) -> sqlite3.Connection:
        empty = open_in_memory()
        self._step_up(empty)
        return empty

    def _unmade(self) -> sqlite3.Connection:
        """Empty tables where the file has none of this package and may not be given any.

        Raises:
            DatabaseRefused: It has some, and they would have to be changed before they can be read.
        """
        try:
            with reporting(self.path), contextlib.closing(self._open()) as connection:
                version = self._version(connection)
        except GraphNotCompiled as error:
            raise DatabaseRefused(path=self.path, problem=_CUT_SHORT) from error
        if version:
            raise DatabaseRefused(path=self.path, problem=_OLDER)
        return self._empty()

    def _ready(self) -> sqlite3.Connection | None:
        """A connection to the file as it is; None when it lacks tables of ours, or a writer was killed."""
        try:
            with reporting(self.path), contextlib.ExitStack() as unless_ready:
                connection = self._open()
                unless_ready.callback(connection.close)
                if not self._is_current(connection):
                    return None
                unless_ready.pop_all()
                return connection
        except GraphNotCompiled:
            return None

    def _is_current(self, connection: sqlite3.Connection) -> bool:
        return self._version(connection) == len(self.tables.steps)

    def _version(self, connection: sqlite3.Connection) -> int:
        """Of this package's tables in the file."""
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
            if callable(step):
                step(connection)
                continue
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
        except NotOurDatabase as error:
            raise NotOurDatabase(path=self.path, problem=error.problem, besides=_TAKE_OVER) from error


def _is_torn(path: Path) -> bool:
    """Whether the file is shorter than its header says (https://sqlite.org/fileformat2.html#the_database_header)."""
    try:
        header = beginning_of(path, _SIZES.stop) or b""
        size = path.stat().st_size
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


# Times are texts of one length, or whole seconds since 1970, all in UTC. A stamp has microseconds, so that text order
# is time order. The seeds wrote naive local or UTC dates; a date without a zone is read as UTC.


def datetime_of(seconds: int) -> datetime:
    """The time of a number of seconds since 1970, in UTC."""
    return datetime.fromtimestamp(seconds, tz=UTC)


def seconds_of(at: datetime) -> int:
    """Whole seconds since 1970; a time that names no zone is UTC."""
    return int(aware(at).timestamp() // 1)


def utc_now() -> datetime:
    """The moment, in UTC."""
    return datetime.now(UTC)


def aware(moment: datetime) -> datetime:
    """A moment with a zone: UTC where it names none."""
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def stamp(moment: datetime) -> str:
    """A moment as text; one without a zone is taken for UTC.

    >>> stamp(parse_stamp("2026-11-22T07:30:00"))
    '2026-11-22T07:30:00.000000Z'
    """
    return aware(moment).astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ").rjust(27, "0")


def parse_stamp(text: str | None) -> datetime | None:
    """A text as a moment in UTC; None when it is none.

    >>> parse_stamp("yesterday"), parse_stamp("9999-12-31T23:59:59-14:00")
    (None, None)
    """
    try:
        return aware(datetime.fromisoformat(text or "")).astimezone(UTC)
    except (ValueError, OverflowError):  # the last hours of the year 9999 are no time in UTC
        return None


def days_between(earlier: datetime, later: datetime) -> int:
    """Whole days; none when the clock was set back in between."""
    return max(0, (later - earlier).days)
