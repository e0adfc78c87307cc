"""Files of columns, of whichever program: how they begin, and what is in their columns, which are compressed.

``forget`` looks into those that it finds below a memory: a shard, an export, what a notebook has kept.
"""

from __future__ import annotations

import io
import re
from importlib import import_module
from typing import IO, TYPE_CHECKING, Any

from helix_episodes.verification import strings_in
from helix_graph.errors import MissingExtra
from helix_graph.shards.files import parquet_modules

if TYPE_CHECKING:
    from collections.abc import Iterator

#: Where which bytes stand, and what the format is called.
_MARKS = (
    (0, b"PAR1", "Parquet"),  # https://parquet.apache.org/docs/file-format/
    (0, b"ARROW1", "Arrow"),  # and Feather: https://arrow.apache.org/docs/format/Columnar.html
    (0, b"ORC", "ORC"),
    (0, b"PARE", "encrypted Parquet"),
    (0, b"Obj\x01", "Avro"),
    (0, b"\x89HDF\r\n\x1a\n", "HDF5"),
    (8, b"DUCK", "DuckDB"),
)
#: One of these and "Arrow stream" is the format of a file of columns.
COLUMNAR = frozenset({name for _, _, name in _MARKS} | {"Arrow stream"})
#: What no text has, which may begin with the same letters.
_NO_TEXT = re.compile(rb"[\0-\x08]")
#: A stream of Arrow begins with this and the length of what comes first, in which the place of its root comes first.
_ARROW_STREAM, _LONGEST_SCHEMA = b"\xff\xff\xff\xff", 1 << 24
#: Rows that are unpacked at a time: a file that holds a gigabyte shows it before all of it is there.
_ROWS = 1000


def columnar_format(head: bytes) -> str | None:
    r"""The name of the format of a file that begins so; None where it is none that is known.

    >>> columnar_format(b"ARROW1\0\0"), columnar_format(b"ORCHARD")
    ('Arrow', None)
    """
    if not _NO_TEXT.search(head):
        return None
    if head.startswith(_ARROW_STREAM):
        length, root = (int.from_bytes(head[at : at + 4], "little") for at in (4, 8))
        return "Arrow stream" if 0 < root < length < _LONGEST_SCHEMA and length % 8 == 0 else None
    return next((name for at, mark, name in _MARKS if head.startswith(mark, at)), None)


def column_contents(stream: IO[bytes], columnar: str) -> Iterator[IO[bytes]]:
    """The texts in the columns of a file, and each value of bytes by itself, which may be packed once more.

    Raises:
        MissingExtra: pyarrow is not installed.
        ValueError: It does not read this format.
    """
    for batch in _batches(stream, columnar):
        for start in range(0, batch.num_rows, _ROWS):
            values = [_plain(one) for one in batch.slice(start, _ROWS).to_pylist()]
            yield io.BytesIO("\0".join(("", *strings_in(values))).encode("utf-8", "surrogatepass"))
            yield from map(io.BytesIO, _bytes_in(values))


def _batches(stream: IO[bytes], columnar: str) -> Iterator[Any]:
    """The rows in parts (`pyarrow.RecordBatch`)."""
    if columnar == "Parquet":
        yield from parquet_modules()[1].ParquetFile(stream).iter_batches(batch_size=_ROWS)
    elif columnar == "Arrow":
        file = _module("ipc").open_file(stream)
        yield from map(file.get_batch, range(file.num_record_batches))
    elif columnar == "Arrow stream":
        yield from _module("ipc").open_stream(stream)
    elif columnar == "ORC":
        file = _module("orc").ORCFile(stream)
        yield from map(file.read_stripe, range(file.nstripes))
    else:
        raise ValueError(f"it is {columnar}, which cannot be looked into here")


def _module(name: str) -> Any:  # noqa: ANN401  (a module of pyarrow)
    try:
        return import_module(f"pyarrow.{name}")
    except ImportError as error:
        raise MissingExtra(wanted="looking into files of columns", extra="parquet") from error


def _plain(value: object) -> object:
    """A value in lists and dicts alone: a map is a list of tuples."""
    if isinstance(value, dict):
        return {name: _plain(one) for name, one in value.items()}
    return [_plain(one) for one in value] if isinstance(value, list | tuple) else value


def _bytes_in(value: object) -> Iterator[bytes]:
    if isinstance(value, bytes):
        yield value
    elif isinstance(value, dict | list):
        for one in value.values() if isinstance(value, dict) else value:
            yield from _bytes_in(one)
