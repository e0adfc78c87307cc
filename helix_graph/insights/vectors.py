"""The vectors of a memory as one matrix, mapped from a file beside the database.

The truth is the column ``embedding``; reading a hundred thousand of those out of rows takes a second, and a cold
process has a few hundred milliseconds. So the matrix is kept in ``cache/``, one file a model, with the revision of the
table that it holds. What was written since is read from the table and laid beside it, and goes into the file when it
has grown to some hundreds. A file that is damaged, missing or another database's is made anew: nothing depends on it.

The file begins with a header of one page. Each row then is the number of the insight (8 bytes) and its vector, in the
order of numbers. It only ever grows at its end or is replaced whole, so whoever has mapped it is never disturbed; the
header is written last, after the rows are on the disk.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import struct
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from helix_episodes.errors import WriteFailed
from helix_episodes.files import write_atomically

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    Floats = NDArray[np.float32]
    Numbers = NDArray[np.int64]

FOLDER = "cache"
_MAGIC = b"hlxvec01"
_HEADER = struct.Struct("<8sIQQ32s16s")
#: The header has a page of its own, so that rows begin where a file can be mapped from.
_PAGE = 4096
_NUMBER_FLOATS = 2  # a number of 8 bytes takes the place of two float32
#: So many new vectors are worth a write; fewer are read from the table in half a millisecond.
_WORTH_WRITING = 256
#: Cosines are compared at this precision: the last bits of a float32 depend on the processor.
DECIMALS = 6


class Kept(NamedTuple):
    """Rows of the file: which database and revision they are of, their numbers in order, their vectors."""

    memory: str
    revision: int
    numbers: Numbers
    matrix: Floats


class Look(NamedTuple):
    """The vectors of one state of the table: those of the file, and those written since (``newer`` numbers, in order).

    A number of the file that is also among the newer ones is out of date there.
    """

    kept: Kept
    newer: Numbers
    newest: Floats

    def cosines(self, vector: Floats) -> tuple[Numbers, Floats]:
        """The number of every insight with a vector, and how alike ``vector`` it is, -1 to 1."""
        old = self.kept.matrix @ vector
        old[_positions(self.kept.numbers, self.newer)] = -1
        together = np.concatenate((old, self.newest @ vector))
        return np.concatenate((self.kept.numbers, self.newer)), together

    def rows(self) -> tuple[Numbers, Floats]:
        """Every number with its vector, by number; those that have lost theirs are left out."""
        fresh = np.ones(len(self.kept.numbers), dtype=bool)
        fresh[_positions(self.kept.numbers, self.newer)] = False
        numbers = np.concatenate((self.kept.numbers[fresh], self.newer))
        matrix = np.concatenate((self.kept.matrix[fresh], self.newest))
        there = matrix.any(axis=1)
        order = np.argsort(numbers[there], kind="stable")
        return numbers[there][order], matrix[there][order]


def alike(found: tuple[Numbers, Floats], *, least: float, also: Collection[int] = ()) -> list[tuple[int, float]]:
    """Those at least so alike, and those of ``also`` that are not unlike; the most alike first, then by number."""
    numbers, cosines = found
    # Whether a cosine reaches a limit is decided on the rounded value as a decimal, not on its float32.
    close = cosines >= least - 10.0**-DECIMALS
    if also:
        # A table, for a look-up by value would sort all of them.
        wanted = np.zeros(int(numbers.max(initial=0)) + 1, dtype=bool)
        wanted[[number for number in also if number < wanted.size]] = True
        close |= wanted[numbers] & (cosines > 0)
    some = np.flatnonzero(close)
    pairs = [
        (number, round(cosine, DECIMALS))
        for number, cosine in zip(numbers[some].tolist(), cosines[some].tolist(), strict=True)
    ]
    return sorted((pair for pair in pairs if pair[1] >= least or pair[0] in also), key=lambda pair: (-pair[1], pair[0]))


def path_of(database: Path, model: str) -> Path:
    """Where the vectors of a model are kept for a database."""
    name = hashlib.blake2b(model.encode(), digest_size=6).hexdigest()
    return database.parent / FOLDER / f"{database.name}-vectors-{name}"


class VectorFile:
    """The matrix of one model's vectors. It stays mapped between calls, which cost little when nothing has changed."""

    def __init__(self, path: Path, *, model: str, dimensions: int) -> None:
        self.path = path
        self.model = model
        self.dimensions = dimensions
        self._kept: Kept | None = None

    def look(self, connection: sqlite3.Connection) -> Look:
        """The vectors as the connection sees the table."""
        memory, revision = connection.execute("SELECT memory, vectors FROM insight_revision").fetchone()
        kept = self._current(memory, revision)
        newer, newest = self._written_since(connection, kept.revision)
        if len(newer) < _WORTH_WRITING:
            return Look(kept, newer, newest)
        with contextlib.suppress(OSError, WriteFailed):  # the file only saves time: without it the answer is the same
            self._keep(kept, revision, newer, newest)
            renewed = self._current(memory, revision)
            if renewed.revision == revision:
                return Look(renewed, newer[:0], newest[:0])
        return Look(kept, newer, newest)

    def _written_since(self, connection: sqlite3.Connection, revision: int) -> tuple[Numbers, Floats]:
        """What was written after a revision; a row that has no vector of this model any more counts as all zeros."""
        width = 4 * self.dimensions
        rows = connection.execute(
            "SELECT number, CASE WHEN model = ? AND length(embedding) = ? THEN embedding END"
            " FROM insight WHERE vector > ? ORDER BY +number",  # else all rows are read, since they come in that order
            (self.model, width, revision),
        ).fetchall()
        blobs = b"".join(blob or bytes(width) for _, blob in rows)
        numbers = np.array([number for number, _ in rows], dtype=np.int64)
        return numbers, np.frombuffer(blobs, dtype="<f4").reshape(len(rows), self.dimensions)

    def _current(self, memory: str, revision: int) -> Kept:
        """What is mapped when it is still that of the file, else what the file has; nothing when it does not fit."""
        kept = self._kept
        if kept is None or (kept.memory, kept.revision) != (memory, revision):
            kept = self._map()
        if kept is None or kept.memory != memory or kept.revision > revision:
            return Kept(memory, -1, np.zeros(0, np.int64), np.zeros((0, self.dimensions), np.float32))
        self._kept = kept
        return kept

    def _map(self) -> Kept | None:
        try:
            with self.path.open("rb") as file:
                header = _header(file.read(_PAGE), self.dimensions)
                size = os.fstat(file.fileno()).st_size
        except OSError:
            return None
        if header is None or size < _PAGE + header[0] * self._stride:
            return None
        count, revision, memory = header
        if self._kept and (self._kept.memory, self._kept.revision) == (memory, revision):
            return self._kept
        if not count:
            return Kept(memory, revision, np.zeros(0, np.int64), np.zeros((0, self.dimensions), np.float32))
        shape = (count, self.dimensions + _NUMBER_FLOATS)
        table = np.memmap(self.path, dtype="<f4", mode="r", offset=_PAGE, shape=shape)
        plain = np.asarray(table)
        numbers = np.ascontiguousarray(plain[:, :_NUMBER_FLOATS]).view("<i8").reshape(count)
        return Kept(memory, revision, numbers, plain[:, _NUMBER_FLOATS:])

    @property
    def _stride(self) -> int:
        return 4 * (self.dimensions + _NUMBER_FLOATS)

    def _keep(self, kept: Kept, revision: int, newer: Numbers, newest: Floats) -> None:
        """Brings the file up to a revision; somebody else who has done so meanwhile is left alone."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with _alone(self.path):
            there = self._map()
            if there and there.memory == kept.memory and there.revision >= revision:
                return
            last = kept.numbers[-1] if len(kept.numbers) else -1
            grows = there is not None and there.revision == kept.revision and there.memory == kept.memory
            if grows and newer[0] > last:
                self._append(kept, revision, newer, newest)
            else:
                numbers, matrix = Look(kept, newer, newest).rows()
                self._replace(kept.memory, revision, numbers, matrix)

    def _append(self, kept: Kept, revision: int, newer: Numbers, newest: Floats) -> None:
        count = len(kept.numbers)
        handle = os.open(self.path, os.O_WRONLY)
        try:
            os.pwrite(handle, _packed(newer, newest), _PAGE + count * self._stride)
            os.fsync(handle)
            header = _header_bytes(count + len(newer), revision, kept.memory, self.dimensions)
            os.pwrite(handle, header, 0)
        finally:
            os.close(handle)

    def _replace(self, memory: str, revision: int, numbers: Numbers, matrix: Floats) -> None:
        header = _header_bytes(len(numbers), revision, memory, self.dimensions)
        write_atomically(self.path, header.ljust(_PAGE, b"\0") + _packed(numbers, matrix))


def close_pairs(numbers: Numbers, matrix: Floats, *, least: float) -> Iterable[tuple[int, int, float]]:
    """Every two rows at least so alike, the most alike first: (lower number, higher number, cosine)."""
    pairs = []
    for start in range(0, len(numbers), _BLOCK):
        block = matrix[start : start + _BLOCK] @ matrix.T
        for row, column in np.argwhere(block >= least - 10.0**-DECIMALS).tolist():
            cosine = round(float(block[row, column]), DECIMALS)
            if start + row < column and cosine >= least:
                pairs.append((int(numbers[start + row]), int(numbers[column]), cosine))
    return sorted(pairs, key=lambda pair: (-pair[2], pair[0], pair[1]))


#: So many rows are compared with all others at a time: at a hundred thousand rows a block takes 200 MB.
_BLOCK = 512


def leaders(order: Sequence[int], blobs: Mapping[int, bytes], *, least: float) -> dict[int, int]:
    """Which of those before it each row goes with: the most alike of the leaders, else it leads from then on.

    ``blobs`` are vectors as `blob` makes them; a row without one leads itself.
    """
    found: dict[int, int] = {}
    ahead: list[int] = []
    matrix: list[Floats] = []
    for number in order:
        found[number] = number
        if number not in blobs:
            continue
        vector = np.frombuffer(blobs[number], dtype="<f4")
        cosines = np.round(np.stack(matrix) @ vector, DECIMALS) if matrix else np.empty(0)
        if cosines.size and cosines.max() >= least:
            found[number] = ahead[int(cosines.argmax())]
        else:
            ahead.append(number)
            matrix.append(vector)
    return found


def blob(vector: Sequence[float] | Floats) -> bytes:
    """A vector as the table has it."""
    return np.asarray(vector, dtype="<f4").tobytes()


def _positions(numbers: Numbers, wanted: Numbers) -> Numbers:
    """Where in ``numbers``, which are in order, the wanted ones are; those that are not there are left out."""
    places = np.searchsorted(numbers, wanted)
    inside = places < len(numbers)
    places, wanted = places[inside], wanted[inside]
    found: Numbers = places[numbers[places] == wanted]
    return found


def _packed(numbers: Numbers, matrix: Floats) -> bytes:
    table = np.empty((len(numbers), matrix.shape[1] + _NUMBER_FLOATS), dtype="<f4")
    table[:, :_NUMBER_FLOATS] = numbers.astype("<i8").reshape(-1, 1).view("<f4")
    table[:, _NUMBER_FLOATS:] = matrix
    return table.tobytes()


def _header_bytes(count: int, revision: int, memory: str, dimensions: int) -> bytes:
    plain = _HEADER.pack(_MAGIC, dimensions, count, revision, memory.encode(), bytes(16))
    check = hashlib.blake2b(plain, digest_size=16).digest()
    return plain[:-16] + check


def _header(page: bytes, dimensions: int) -> tuple[int, int, str] | None:
    """Rows, revision and database of a file; None when it is none of ours or half written."""
    if len(page) < _HEADER.size:
        return None
    magic, width, count, revision, memory, _ = _HEADER.unpack_from(page)
    if magic != _MAGIC or width != dimensions:
        return None
    name = memory.rstrip(b"\0").decode("ascii", "replace")
    if page[: _HEADER.size] != _header_bytes(count, revision, name, dimensions):
        return None
    return count, revision, name


@contextlib.contextmanager
def _alone(path: Path) -> Iterator[None]:
    lock = os.open(path.with_name(path.name + ".lock"), os.O_CREAT | os.O_RDWR, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
    finally:
        os.close(lock)
