"""The vectors of a memory as one matrix, mapped from a file beside the database.

The truth is the column ``embedding``; reading a hundred thousand of those out of rows takes a second, and a cold
process has a few hundred milliseconds. So the matrix is kept in ``cache/``, one file a model, with the revision of the
table that it holds. What was written since is read from the table and laid next to it, and goes into the file when it
has grown to some hundreds. A file that is damaged, missing or another database's is rebuilt: nothing depends on it.

The file begins with a header of one page. Then come blocks of 1,024 rows in the order of the insights' numbers: first
those numbers (8 bytes each), then the first coordinate of all its vectors, the second of all, and so on. A product with
one vector reads a matrix that lies so in two thirds of the time that it takes row by row, since the processor then adds
up as many rows at once as it can. The file only ever grows at its end or is replaced whole, so whoever has mapped it is
never disturbed; the header is written last, after the rows are on the disk.
"""

from __future__ import annotations

import contextlib
import os
import struct
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from helix_episodes.errors import WriteFailed
from helix_episodes.light_imports import blake2b
from helix_episodes.safe_files import locked, make_folder, open_regular, write_atomically
from helix_graph.insights.scoring import combined_relevance

if TYPE_CHECKING:
    import sqlite3

    from numpy.typing import NDArray

    Floats = NDArray[np.float32]
    Numbers = NDArray[np.int64]

FOLDER = "cache"
_MAGIC = b"hlxvec02"
_HEADER = struct.Struct("<8sIQQ32s16s")
#: The header has a page of its own, so that rows begin where a file can be mapped from.
_PAGE = 4096
_NUMBER_FLOATS = 2  # a number of 8 bytes takes the place of two float32
#: Rows of a block, so that a coordinate of all of them fills a page; with fewer the product takes longer.
_ROWS = 1024
#: This many new vectors are worth a write; fewer are read from the table in half a millisecond.
_WORTH_WRITING = 256
#: Cosines are compared at this precision: the last bits of a float32 depend on the processor.
DECIMALS = 6


class VectorMatrix(NamedTuple):
    """Rows of the file: which database and revision they are of, their numbers in order, their vectors.

    ``blocks`` has a coordinate of a row at (block, coordinate, place in the block); behind the last row it has zeros.
    """

    memory: str
    revision: int
    numbers: Numbers
    blocks: Floats

    def matrix(self, *, block: int = 0) -> Floats:
        """The vectors, one below the other, from a block on."""
        count = len(self.numbers) - block * _ROWS
        return self.blocks[block:].transpose(0, 2, 1).reshape(-1, self.blocks.shape[1])[:count]


class VectorSnapshot(NamedTuple):
    """The vectors of one state of the table: those of the file, and those written since (``newer`` numbers, in order).

    A number of the file that is also among the newer ones is out of date there.
    """

    kept: VectorMatrix
    newer: Numbers
    newest: Floats

    def cosines(self, vector: Floats) -> tuple[Numbers, Floats]:
        """The number of every insight with a vector, and how similar ``vector`` it is, -1 to 1."""
        old: Floats = np.matmul(vector, self.kept.blocks).reshape(-1)[: len(self.kept.numbers)]
        if not len(self.newer):
            return self.kept.numbers, old
        old[_positions(self.kept.numbers, self.newer)] = -1
        together = np.concatenate((old, self.newest @ vector))
        return np.concatenate((self.kept.numbers, self.newer)), together

    def rows(self) -> tuple[Numbers, Floats]:
        """Every number with its vector, by number; those that have lost theirs are left out."""
        fresh = np.ones(len(self.kept.numbers), dtype=bool)
        fresh[_positions(self.kept.numbers, self.newer)] = False
        numbers = np.concatenate((self.kept.numbers[fresh], self.newer))
        matrix = np.concatenate((self.kept.matrix()[fresh], self.newest))
        there = matrix.any(axis=1)
        order = np.argsort(numbers[there], kind="stable")
        return numbers[there][order], matrix[there][order]


def similar_rows(found: tuple[Numbers, Floats], *, least: float, words: Mapping[int, float]) -> list[tuple[int, float]]:
    """Those at least so alike, the most similar first, then by number.

    ``words`` are relevances by words (0 to 1) of rows: of these, every one with a positive cosine is among those found
    for which both `together` may make as much as ``least``.
    """
    numbers, cosines = found
    # Whether a cosine reaches a limit is decided on the rounded value as a decimal, not on its float32.
    limit = least - 10.0**-DECIMALS
    close = cosines >= limit
    if words:
        close[_helped(found, words, limit=limit)] = True
    some = np.flatnonzero(close)
    pairs = [
        (number, round(cosine, DECIMALS))
        for number, cosine in zip(numbers[some].tolist(), cosines[some].tolist(), strict=True)
    ]
    return sorted((one for one in pairs if one[1] >= least or one[0] in words), key=lambda one: (-one[1], one[0]))


def _helped(found: tuple[Numbers, Floats], words: Mapping[int, float], *, limit: float) -> Numbers:
    """The places of the rows that reach the limit by a positive cosine and their words `together`."""
    numbers, cosines = found
    # A table, for a look-up by value would sort all of them.
    said = np.zeros(int(numbers.max(initial=0)) + 1)
    known = np.fromiter(words.keys(), np.int64, len(words))
    there = known < said.size
    said[known[there]] = np.fromiter(words.values(), np.float64, len(words))[there]
    shared = np.flatnonzero((said > 0)[numbers])
    shared = shared[cosines[shared] > 0]
    helped: Numbers = shared[combined_relevance(cosines[shared].astype(np.float64), said[numbers[shared]]) >= limit]
    return helped


def vector_path(database: Path, model: str) -> Path:
    """Where the vectors of a model are stored for a database."""
    name = blake2b(model.encode(), digest_size=6).hexdigest()
    return database.parent / FOLDER / f"{database.name}-vectors-{name}"


class VectorFile:
    """The matrix of one model's vectors. It stays mapped between calls, which cost little when nothing has changed."""

    def __init__(self, path: Path, *, model: str, dimensions: int) -> None:
        self.path = path
        self.model = model
        self.dimensions = dimensions
        self._kept: VectorMatrix | None = None

    def look(self, connection: sqlite3.Connection) -> VectorSnapshot:
        """The vectors as the connection sees the table."""
        memory, revision = connection.execute("SELECT memory, vectors FROM insight_revision").fetchone()
        stored = self._current(memory, revision)
        newer, newest = self._written_since(connection, stored.revision)
        if len(newer) < _WORTH_WRITING:
            return VectorSnapshot(stored, newer, newest)
        with contextlib.suppress(OSError, WriteFailed):  # the file only saves time: without it the answer is the same
            self._keep(stored, revision, newer, newest)
            renewed = self._current(memory, revision)
            if renewed.revision == revision:
                return VectorSnapshot(renewed, newer[:0], newest[:0])
        return VectorSnapshot(stored, newer, newest)

    def _written_since(self, connection: sqlite3.Connection, revision: int) -> tuple[Numbers, Floats]:
        """What was written after a revision; a row that has no vector of this model any more counts as all zeros."""
        width = 4 * self.dimensions
        rows = connection.execute(
            "SELECT number, CASE WHEN model = ? AND length(embedding) = ? THEN embedding END"
            " FROM main.insight WHERE vector > ? ORDER BY +number",  # else all rows are read, as they come so
            (self.model, width, revision),
        ).fetchall()
        blobs = b"".join(blob or bytes(width) for _, blob in rows)
        numbers = np.array([number for number, _ in rows], dtype=np.int64)
        return numbers, np.frombuffer(blobs, dtype="<f4").reshape(len(rows), self.dimensions)

    def _current(self, memory: str, revision: int) -> VectorMatrix:
        """What is mapped when it is still that of the file, else what the file has; nothing when it does not fit."""
        stored = self._kept
        if stored is None or (stored.memory, stored.revision) != (memory, revision):
            stored = self._map()
        if stored is None or stored.memory != memory or stored.revision > revision:
            return self._nothing(memory, -1)
        self._kept = stored
        return stored

    def _map(self) -> VectorMatrix | None:
        try:
            with open_regular(self.path) as file:
                header = _header(file.read(_PAGE), self.dimensions)
                size = os.fstat(file.fileno()).st_size
        except OSError:
            return None
        if header is None or size < _PAGE + _blocks(header[0]) * self._size:
            return None
        count, revision, memory = header
        if self._kept and (self._kept.memory, self._kept.revision) == (memory, revision):
            return self._kept
        if not count:
            return self._nothing(memory, revision)
        shape = (_blocks(count), self.dimensions + _NUMBER_FLOATS, _ROWS)
        table = np.asarray(np.memmap(self.path, dtype="<f4", mode="r", offset=_PAGE, shape=shape))
        numbers = np.ascontiguousarray(table[:, :_NUMBER_FLOATS]).view("<i8").reshape(-1)[:count]
        return VectorMatrix(memory, revision, numbers, table[:, _NUMBER_FLOATS:])

    def _nothing(self, memory: str, revision: int) -> VectorMatrix:
        return VectorMatrix(memory, revision, np.zeros(0, np.int64), np.zeros((0, self.dimensions, _ROWS), np.float32))

    @property
    def _size(self) -> int:
        """Of a block, in bytes."""
        return 4 * (self.dimensions + _NUMBER_FLOATS) * _ROWS

    def _keep(self, stored: VectorMatrix, revision: int, newer: Numbers, newest: Floats) -> None:
        """Brings the file up to a revision; somebody else who has done so meanwhile is left alone."""
        make_folder(self.path.parent)
        with locked(self.path.with_name(f"{self.path.name}.lock")):
            there = self._map()
            if there and there.memory == stored.memory and there.revision >= revision:
                return
            last = stored.numbers[-1] if len(stored.numbers) else -1
            grows = there is not None and there.revision == stored.revision and there.memory == stored.memory
            if grows and newer[0] > last:
                self._append(stored, revision, newer, newest)
            else:
                numbers, matrix = VectorSnapshot(stored, newer, newest).rows()
                header = _header_bytes(len(numbers), revision, stored.memory, self.dimensions)
                write_atomically(self.path, header.ljust(_PAGE, b"\0") + _packed(numbers, matrix))

    def _append(self, stored: VectorMatrix, revision: int, newer: Numbers, newest: Floats) -> None:
        """Writes the last block again, which changes none of the bytes that anybody has mapped, and those behind it."""
        whole = len(stored.numbers) // _ROWS
        numbers = np.concatenate((stored.numbers[whole * _ROWS :], newer))
        packed = _packed(numbers, np.concatenate((stored.matrix(block=whole), newest)))
        handle = os.open(self.path, os.O_WRONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        try:
            os.pwrite(handle, packed, _PAGE + whole * self._size)
            os.fsync(handle)
            header = _header_bytes(len(stored.numbers) + len(newer), revision, stored.memory, self.dimensions)
            os.pwrite(handle, header, 0)
        finally:
            os.close(handle)


def close_pairs(numbers: Numbers, matrix: Floats, *, least: float) -> Iterable[tuple[int, int, float]]:
    """Every two rows at least so alike, the most similar first: (lower number, higher number, cosine)."""
    pairs = []
    for start in range(0, len(numbers), _BLOCK):
        block = matrix[start : start + _BLOCK] @ matrix.T
        for row, column in np.argwhere(block >= least - 10.0**-DECIMALS).tolist():
            cosine = round(float(block[row, column]), DECIMALS)
            if start + row < column and cosine >= least:
                pairs.append((int(numbers[start + row]), int(numbers[column]), cosine))
    return sorted(pairs, key=lambda pair: (-pair[2], pair[0], pair[1]))


#: This many rows are compared with all others at a time: at a hundred thousand rows a block takes 200 MB.
_BLOCK = 512


def cluster_leaders(
    order: Sequence[int], blobs: Mapping[int, bytes], *, least: float, same: Callable[[int, int], bool]
) -> dict[int, int]:
    """Which of those before it each row goes with: the most similar of the leaders that say the ``same``.

    A row that goes with none leads from then on. ``blobs`` are vectors as `blob` makes them; a row without one leads
    itself.
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
        near = [place for place in np.argsort(-cosines, kind="stable").tolist() if cosines[place] >= least]
        found[number] = next((ahead[place] for place in near if same(ahead[place], number)), number)
        if found[number] == number:
            ahead.append(number)
            matrix.append(vector)
    return found


def vector_bytes(vector: Sequence[float] | Floats) -> bytes:
    """A vector as the table has it."""
    return np.asarray(vector, dtype="<f4").tobytes()


def _positions(numbers: Numbers, wanted: Numbers) -> Numbers:
    """Where in ``numbers``, which are in order, the wanted ones are; those that are not there are left out."""
    places = np.searchsorted(numbers, wanted)
    inside = places < len(numbers)
    places, wanted = places[inside], wanted[inside]
    found: Numbers = places[numbers[places] == wanted]
    return found


def _blocks(count: int) -> int:
    """How many blocks this many rows take."""
    return -(-count // _ROWS)


def _packed(numbers: Numbers, matrix: Floats) -> bytes:
    """Rows as the file has them."""
    count, width = matrix.shape
    table = np.zeros((_blocks(count), _NUMBER_FLOATS + width, _ROWS), dtype="<f4")
    padded = np.zeros(len(table) * _ROWS, dtype="<i8")
    padded[:count] = numbers
    table[:, :_NUMBER_FLOATS] = padded.view("<f4").reshape(-1, _NUMBER_FLOATS, _ROWS)
    for block, start in zip(table, range(0, count, _ROWS), strict=True):
        rows = matrix[start : start + _ROWS]
        block[_NUMBER_FLOATS:, : len(rows)] = rows.T
    return table.tobytes()


def _header_bytes(count: int, revision: int, memory: str, dimensions: int) -> bytes:
    plain = _HEADER.pack(_MAGIC, dimensions, count, revision, memory.encode(), bytes(16))
    check = blake2b(plain, digest_size=16).digest()
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
