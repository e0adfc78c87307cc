"""Unpacking: the content of a file, and of the compressed content within it, for whoever has to search all of it.

gzip, bzip2, xz and zip are known by their first bytes, whatever the file is called, and unpacked while they are read;
so are archives within archives. What this Python cannot unpack (zstd, lz4, 7z, rar, encrypted or damaged archives) is
named, never passed over.
"""

from __future__ import annotations

import bz2
import gzip
import lzma
import struct
import zipfile
import zlib
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING, cast

from helix_graph.errors import NotUnpacked

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
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
