"""A graph that is built anew, in a file that takes its name once it is complete.

Nobody else sees the file until then and nothing is left of one that fails, so it needs no journal. Foreign keys are not
checked, which costs a tenth of all writing: nothing that is written first is deleted by somebody else.

What one process does alone when all files are read counts twice where there are two cores. So a table that follows from
the others is filled by another connection in a thread, SQLite working without Python's lock, while this one makes their
indexes. That table stands in a file of its own, for only one connection writes to a file; SQLite copies the rows and
indexes of an equal table as they are, in a fifth of the time that they took.
"""

from __future__ import annotations

import os
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING

from helix_graph import database
from helix_graph.errors import DatabaseRefused
from helix_graph.graph.graph_db import GRAPH_FILE

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Iterator
    from pathlib import Path


#: All edges of a hundred thousand episodes: they come in any order, and a page that is not there is read again.
_CACHE_KIB = 256 * 1024
#: What the thread sorts in memory: the claims of a hundred thousand episodes.
_SORTED_KIB = 64 * 1024


class NewGraph:
    """The file, while it grows; all within a transaction."""

    def __init__(self, connection: sqlite3.Connection, path: Path, sync: Callable[[], None]) -> None:
        self._connection, self._path, self._sync = connection, path, sync

    def write_early(self) -> None:
        """Writes what the transaction has so far and has the disk begin with it.

        170 MB are there a quarter of a second earlier if the last indexes are made meanwhile.
        """
        self._connection.execute("COMMIT")
        self._connection.execute("BEGIN IMMEDIATE")
        self._sync()

    @contextmanager
    def filled(self, table: str, query: str) -> Iterator[None]:
        """Within, a thread fills an empty table with what a query gives; at the end it is there with its indexes.

        Meanwhile indexes may be made, and no rows may come or go.
        """
        self.write_early()
        aside = database.beside(self._path, database.ASIDE_SUFFIX)
        with ThreadPoolExecutor(1) as thread:
            work = thread.submit(_fill, _connect(aside, _fresh(self._path)), table, query)
            yield
            work.result()
            self._connection.execute("COMMIT")  # a file is attached outside of transactions
            self._connection.execute("ATTACH ? AS aside", (aside.absolute().as_uri(),))
            self._connection.execute("BEGIN IMMEDIATE")
            database.create_indexes(self._connection, GRAPH_FILE, only_of=table)  # as there: else rows are made anew
            self._connection.execute(f"INSERT INTO {table} SELECT * FROM aside.{table}")  # noqa: S608  (our own name)
            self._connection.execute("COMMIT")
            self._connection.execute("DETACH aside")
            self._connection.execute("BEGIN IMMEDIATE")
            self._sync()
        database.remove(aside)


def _connect(path: Path, whole: Path) -> sqlite3.Connection:
    """A connection to a new file, that also reads the tables of another which do not change."""
    connection = database.open_aside(path, whole)
    connection.execute(f"PRAGMA page_size = {GRAPH_FILE.page_size}")
    connection.execute("PRAGMA journal_mode = OFF")
    connection.execute("PRAGMA synchronous = OFF")
    connection.execute(f"PRAGMA cache_size = -{_SORTED_KIB}")
    return connection


def _fill(connection: sqlite3.Connection, table: str, query: str) -> None:
    with closing(connection):
        (made,) = connection.execute("SELECT sql FROM whole.sqlite_master WHERE name = ?", (table,)).fetchone()
        connection.execute("BEGIN")
        connection.execute(made)
        connection.execute(f"INSERT INTO {table} {query}")
        database.create_indexes(connection, GRAPH_FILE, only_of=table)
        connection.execute("COMMIT")


@contextmanager
def new_graph(path: Path) -> Iterator[tuple[sqlite3.Connection, NewGraph]]:
    """A connection to a graph that is made beside ``path``, and takes its place; within `database.sole_builder`.

    An older file of the name is deleted with its log before, for SQLite would take that log for the new file's.
    """
    fresh = _fresh(path)
    database.remove_unfinished(path)
    try:
        with (
            _synced(fresh, reported_as=path) as sync,
            closing(database.open_for_writing(fresh, GRAPH_FILE)) as connection,
        ):
            connection.execute("PRAGMA journal_mode = OFF")
            connection.execute("PRAGMA synchronous = OFF")
            connection.execute("PRAGMA foreign_keys = OFF")
            # Nothing in it was deleted; to overwrite what rows leave behind where a page is split takes a tenth of the
            # time of adding them, with an SQLite that does so unless it is told not to, as Debian's.
            connection.execute("PRAGMA secure_delete = OFF")
            connection.execute(f"PRAGMA cache_size = -{_CACHE_KIB}")
            yield connection, NewGraph(connection, path, sync)
            connection.execute("PRAGMA synchronous = NORMAL")
            connection.execute("PRAGMA journal_mode = WAL")
        with DatabaseRefused.for_os_errors(path):
            database.remove(path)
            fresh.replace(path)
    finally:
        database.remove_unfinished(path)


def _fresh(path: Path) -> Path:
    return database.beside(path, database.NEW_SUFFIX)


@contextmanager
def _synced(path: Path, *, reported_as: Path) -> Iterator[Callable[[], None]]:
    """Makes a file that is on the disk at the end; a call within has the disk begin with what is written by then.

    Raises:
        DatabaseRefused: The disk did not take it, then or at the end.
    """
    with DatabaseRefused.for_os_errors(reported_as):
        file = os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, database.OWNER_ONLY)
    try:
        with ThreadPoolExecutor(1) as disk:
            begun: list[Future[None]] = []
            yield lambda: begun.append(disk.submit(os.fsync, file))
            begun.append(disk.submit(os.fsync, file))
            with DatabaseRefused.for_os_errors(reported_as):
                for one in begun:  # an error is only reported to the first that asks
                    one.result()
    finally:
        os.close(file)  # after its connections: with it go their locks
