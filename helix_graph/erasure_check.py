"""Search every file of the memory for remains of forgotten sessions.

The search covers file names and bytes, databases with their write-ahead logs and free pages, and the content of gzip,
bzip2, xz and zip files, nested ones too. What this Python cannot unpack (zstd, lz4, 7z, rar, encrypted or damaged
archives) is reported, never skipped silently.

It looks for the session ids and for every text of the episodes by their fingerprints (`helix_graph.tombstones`), so a
search gives the same answer when the texts themselves are gone. A text that another session contains as well is
counted apart. Texts shorter than twelve characters are not searched: ``pytest`` is in every memory.
"""

from __future__ import annotations

import bz2
import gzip
import lzma
import struct
import zipfile
import zlib
from contextlib import closing, contextmanager
from typing import IO, TYPE_CHECKING, Any, cast

import msgspec

from helix_graph import database
from helix_graph.errors import NotUnpacked
from helix_graph.graph.connection import GRAPH_FILE
from helix_graph.tombstones import Fingerprint, Searcher, Unproved, digest, fingerprints_of

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator
    from pathlib import Path


_ZIP = b"PK\x03\x04"
_OPENERS: dict[bytes, Callable[[IO[bytes]], object]] = {
    b"\x1f\x8b": gzip.open,
    b"BZh": bz2.open,
    b"\xfd7zXZ\x00": lzma.open,
}
_UNKNOWN = {
    b"\x28\xb5\x2f\xfd": "zstd",
    b"\x04\x22\x4d\x18": "lz4",
    b"7z\xbc\xaf\x27\x1c": "7z",
    b"Rar!\x1a\x07": "rar",
    b"\x1f\x9d": "compress",
}
_LONGEST_MARK = 6
#: An archive in an archive in an archive is still somebody's backup; deeper ones are made to hurt.
_DEEPEST = 3
#: So much is unpacked of one file: a gigabyte of zeros fits into a megabyte.
_MOST_BYTES = 1 << 30
#: What the modules of the standard library raise for archives that are damaged, encrypted or of an unknown method.
_DAMAGE = (OSError, EOFError, ValueError, RuntimeError, zlib.error, struct.error, lzma.LZMAError, zipfile.BadZipFile)


def contents(path: Path) -> Iterator[Content]:
    """The file as it is, then what is packed in it, each to be read before the next is asked for.

    Raises:
        NotUnpacked: A part of it cannot be read; what came before was all that can be.
        FileNotFoundError: It is gone.
    """
    with _reporting(), path.open("rb") as raw:
        yield Content(raw)
        raw.seek(0)
        yield from _inner(raw, depth=0, budget=_Budget())


class Content:
    """What is in a file or packed in it, from its start."""

    def __init__(self, stream: IO[bytes], *, budget: _Budget | None = None) -> None:
        self._stream = stream
        self._budget = budget

    def read(self, size: int) -> bytes:
        """The next bytes, at most so many; none at the end.

        Raises:
            NotUnpacked: It is damaged, or there is too much of it.
        """
        with _reporting():
            data = self._stream.read(size)
        if self._budget:
            self._budget.spend(len(data))
        return data


class _Budget:
    """How much may still be unpacked of one file."""

    def __init__(self) -> None:
        self.left = _MOST_BYTES

    def spend(self, count: int) -> None:
        self.left -= count
        if self.left < 0:
            raise NotUnpacked("it holds more than a gigabyte when unpacked")


@contextmanager
def _reporting() -> Iterator[None]:
    try:
        yield
    except FileNotFoundError:
        raise
    except _DAMAGE as error:
        raise NotUnpacked(str(error) or type(error).__name__) from error


def _inner(stream: IO[bytes], *, depth: int, budget: _Budget) -> Iterator[Content]:
    """What is packed in a stream that can be read again from its start."""
    mark = stream.read(_LONGEST_MARK)
    stream.seek(0)
    unknown = next((name for start, name in _UNKNOWN.items() if mark.startswith(start)), None)
    if unknown:
        raise NotUnpacked(f"it is compressed by {unknown}, which Python cannot unpack")
    packed = mark.startswith((_ZIP, *_OPENERS))
    if packed and depth == _DEEPEST:
        raise NotUnpacked(f"it is packed more than {_DEEPEST} times over")
    for inner in _unpacked(stream, mark) if packed else ():
        yield Content(inner, budget=budget)
        inner.seek(0)
        yield from _inner(inner, depth=depth + 1, budget=budget)


def _unpacked(stream: IO[bytes], mark: bytes) -> Iterator[IO[bytes]]:
    if mark.startswith(_ZIP):
        with zipfile.ZipFile(stream) as archive:
            for member in archive.infolist():
                with archive.open(member) as inner:
                    yield inner
        return
    opener = next(opener for start, opener in _OPENERS.items() if mark.startswith(start))
    with cast("IO[bytes]", opener(stream)) as inner:
        yield inner


EPISODE_PREFIX = "episode-"


class Trace(msgspec.Struct, frozen=True, kw_only=True):
    """A file that still holds something: in how many ways, and whether a session's id is among them."""

    file: str
    texts: int
    names_session: bool


class Unsearched(msgspec.Struct, frozen=True, kw_only=True):
    """A file that could not be searched, or not all of it, and why."""

    file: str
    problem: str


class ErasureProof(msgspec.Struct, frozen=True, kw_only=True):
    """What was searched for, where, and what was found.

    ``texts`` were searched for in ``files`` of ``bytes``. ``left`` should be empty, and so should ``unsearched``.
    ``shared`` texts stand in kept sessions too. ``too_short`` ones were not searched for.
    """

    texts: int
    files: int
    bytes: int
    shared: int = 0
    too_short: int = 0
    left: tuple[Trace, ...] = ()
    unsearched: tuple[Unsearched, ...] = ()

    @property
    def whole(self) -> bool:
        """Whether everything was searched and nothing found."""
        return not (self.left or self.unsearched)


def to_verify(session: str, texts: Iterable[str]) -> Unproved:
    """What has to be searched for after a session that said these texts is gone."""
    names = {session, EPISODE_PREFIX + session}
    said = set(texts) - names
    prints = fingerprints_of(said) | fingerprints_of(names, names=True)
    return Unproved(texts=tuple(sorted(prints)), too_short=sum(len(fingerprints_of([text])) == 0 for text in said))


def find_traces(
    root: Path, unproved: Unproved, *, sessions: Collection[str], graph: Path, outside: Iterable[Path] = ()
) -> ErasureProof:
    """Searches every file of the memory in ``root``, and those ``outside`` of it.

    ``sessions`` are the digests of the sessions that are to be gone, ``graph`` is the memory's graph.db.
    """
    search = _Search(root, Searcher(unproved.texts, bounded=_parts_of_kept_names(root, unproved.texts)))
    derived = [path for path in root.rglob("*") if not _is_episode(root, path) and path.is_file()]
    found = search.all_of(sorted({*derived, *outside}))
    rows = _rows_in_graph(graph, sessions)
    # Kept sessions come last: one that is being recorded meanwhile is there before anything is derived from it.
    kept = search.all_of(sorted(path for path in (root / "episodes").glob("*.json") if path.is_file()))
    shared = {one for hits in kept.values() for one in hits if not one.names}
    found = dict(sorted({**found, **kept}.items()))
    left = [_trace(root, path, hits - shared, rows if path == graph else 0) for path, hits in found.items()]
    return ErasureProof(
        texts=len(unproved.texts),
        files=len(found),
        bytes=sum(_size(path) for path in found),
        shared=len(shared),
        too_short=unproved.too_short,
        left=tuple(trace for trace in left if trace.texts),
        unsearched=tuple(search.unsearched),
    )


def strings_of(value: Any) -> Iterator[str]:  # noqa: ANN401  (JSON)
    """Every text in a JSON value, keys left out."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for each in value.values():
            yield from strings_of(each)
    elif isinstance(value, list):
        for each in value:
            yield from strings_of(each)


class _Search:
    """One search through the files of a memory; ``unsearched`` grows while it goes on."""

    def __init__(self, root: Path, searcher: Searcher) -> None:
        self.unsearched: list[Unsearched] = []
        self._root = root
        self._searcher = searcher

    def all_of(self, paths: Iterable[Path]) -> dict[Path, set[Fingerprint]]:
        """What stands in each of the files that are still there."""
        return {path: hits for path in paths if (hits := self.of(path)) is not None}

    def of(self, path: Path) -> set[Fingerprint] | None:
        """What stands in a file or its name; None when it is gone."""
        name = _name_in(self._root, path)
        found = self._searcher.search(name.encode("utf-8", "surrogateescape"))
        try:
            for stream in contents(path):
                found |= self._searcher.search_stream(stream)
        except FileNotFoundError:
            return None  # a temporary file of another process, which is done with it
        except NotUnpacked as error:
            self.unsearched.append(Unsearched(file=name, problem=str(error)))
        return found


def _name_in(root: Path, path: Path) -> str:
    """A file's name within the memory; its whole path when it stands elsewhere."""
    return path.relative_to(root).as_posix() if path.is_relative_to(root) else path.as_posix()


def _parts_of_kept_names(root: Path, wanted: Collection[Fingerprint]) -> set[Fingerprint]:
    """Names with which a kept one begins: ``session-1`` stands in ``session-12`` as well."""
    searcher = Searcher(wanted)
    kept = (path.stem.encode("utf-8", "surrogateescape") for path in (root / "episodes").glob("*.json"))
    return {one for name in kept for one in searcher.search(name)}


def _trace(root: Path, path: Path, hits: set[Fingerprint], rows: int) -> Trace:
    names = bool(rows) or any(one.names for one in hits)
    return Trace(file=_name_in(root, path), texts=len(hits) + rows, names_session=names)


def _is_episode(root: Path, path: Path) -> bool:
    """Whether a file is a kept episode: only another session may say the same; an assertion has it from this one."""
    return path.parent == root / "episodes" and path.suffix == ".json"


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0


def _rows_in_graph(graph: Path, sessions: Collection[str]) -> int:
    """How many rows of the graph's tables are theirs, however short the id; a file not ours holds nothing of ours."""
    if not graph.exists() or database.ownership(graph, GRAPH_FILE) == "absent":
        return 0
    with database.reporting(graph), closing(database.open_for_reading(graph)) as connection:
        names = [name.removeprefix(EPISODE_PREFIX) for (name,) in connection.execute("SELECT id FROM episode")]
        names += [name for (name,) in connection.execute("SELECT session FROM episode")]
    return sum(digest(name) in sessions for name in names)
