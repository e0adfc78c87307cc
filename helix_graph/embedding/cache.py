"""A file of vectors, so that no text is embedded twice.

Vectors are stored by the model's name and the SHA-256 of the text, in SQLite, without the texts. The file
is derived: deleting it costs time and nothing else. So does a file that cannot be used: it never costs an answer. It
never holds more than `MOST_KEPT` vectors. A damaged one, or one of another version, is rebuilt; one that is another
program's, or that the disk refuses, is left alone and `Cached.problem` says so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from helix_graph import database
from helix_graph.database import DatabaseKind
from helix_graph.embedding.model import Embedder, readable
from helix_graph.errors import DatabaseUnreadable, GraphError
from helix_graph.schema_digests import VECTOR_OBJECTS

if TYPE_CHECKING:
    import sqlite3

    import numpy as np
    from numpy.typing import NDArray


Done = TypeVar("Done")

#: Where a memory keeps it, below its folder.
CACHE_NAME = "cache/vectors.db"
_VECTORS = "CREATE TABLE vector (model TEXT NOT NULL, text TEXT NOT NULL, numbers BLOB NOT NULL, UNIQUE (model, text))"
VECTOR_CACHE = DatabaseKind(
    application_id=int.from_bytes(b"hlxv", "big"), version=1, schema=_VECTORS, known=VECTOR_OBJECTS
)
#: Maximum number of vectors, some 320 MB at 1.6 kB each; the oldest go first. Questions are kept too, and a memory that
#: is asked every day must not fill a disk.
MOST_KEPT = 200_000
_GET = f"SELECT text, numbers FROM vector WHERE model = ? AND text {database.ANY_OF}"  # noqa: S608  (a constant)
_PUT = "INSERT OR REPLACE INTO vector VALUES (?, ?, ?)"
#: Rows are numbered in the order in which they came.
_THIN = "DELETE FROM vector WHERE rowid <= (SELECT max(rowid) FROM vector) - ?"


def clear(path: Path) -> None:
    """Takes every vector out of the file, and out of what SQLite keeps of deleted rows.

    A vector reveals something of its text, so none may stay when a text is forgotten.
    """
    try:
        if database.ownership(path, VECTOR_CACHE) == "absent":
            return
        with _writing(path) as connection:
            database.create_tables(connection, VECTOR_CACHE)
        database.erase_traces(path, VECTOR_CACHE)
    except DatabaseUnreadable:
        with database.sole_builder(path):
            database.remove(path)


class Cached:
    """An `Embedder` that asks another one only for new texts. Threads and processes may share the file."""

    def __init__(self, embedder: Embedder, path: Path, *, most: int = MOST_KEPT) -> None:
        self._most = most
        self.embedder = embedder
        self.path = path
        #: Why the file was last not read or written to, in a sentence.
        self.problem: str | None = None

    @property
    def model(self) -> str:
        """Of the embedder behind it."""
        return self.embedder.model

    @property
    def dimensions(self) -> int:
        """Of each vector."""
        return self.embedder.dimensions

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """One row a text; a text that was embedded before has the very numbers that were computed then."""
        import hashlib

        import numpy as np

        keys = [hashlib.sha256(readable(text).encode()).hexdigest() for text in texts]
        rows, length = self._using(lambda: self._rows(keys)) or [], 4 * self.dimensions
        known = {
            key: np.frombuffer(numbers, "<f4")
            for key, numbers in rows
            if isinstance(numbers, bytes) and len(numbers) == length
        }
        new = {key: text for key, text in zip(keys, texts, strict=True) if key not in known}
        if new:
            computed = self.embedder.embed(list(new.values()))
            known |= dict(zip(new, computed, strict=True))
            self._using(lambda: self._write({key: np.asarray(known[key], "<f4").tobytes() for key in new}))
        return np.array([known[key] for key in keys], np.float32).reshape(len(keys), self.dimensions)

    def _rows(self, keys: Iterable[str]) -> list[tuple[str, object]]:
        if database.ownership(self.path, VECTOR_CACHE) == "absent":
            return []
        with database.reporting(self.path), closing(database.open_for_reading(self.path, VECTOR_CACHE)) as connection:
            if database.schema_version(connection) != VECTOR_CACHE.version:
                return []  # of another version, or just being made: the next writer rebuilds it
            return connection.execute(_GET, (self.model, database.as_list(set(keys)))).fetchall()

    def _write(self, vectors: Mapping[str, bytes]) -> None:
        with _writing(self.path) as connection:
            if database.schema_version(connection) != VECTOR_CACHE.version:
                database.create_tables(connection, VECTOR_CACHE)
            connection.executemany(_PUT, [(self.model, key, numbers) for key, numbers in vectors.items()])
            connection.execute(_THIN, (self._most,))

    def _using(self, work: Callable[[], Done]) -> Done | None:
        """Does the work, after rebuilding a damaged file if need be; None where the file cannot be used."""
        try:
            with suppress(DatabaseUnreadable):
                return work()
            with database.sole_builder(self.path):
                with suppress(DatabaseUnreadable):  # another process may have rebuilt it while this one waited
                    return work()
                database.remove(self.path)
                return work()
        except GraphError as error:
            self.problem = str(error)
            return None


@contextmanager
def _writing(path: Path) -> Iterator[sqlite3.Connection]:
    with (
        database.reporting(path),
        closing(database.open_for_writing(path, VECTOR_CACHE)) as connection,
        database.transaction(connection),
    ):
        yield connection
