"""What a server answers, made to values here: the driver would believe the lengths and types that the server names.

What reads an array for the driver trusts its header, and one of type JSON may be nested deeper than Python's stack. So
of an answer only its bytes are taken from the driver, as its length in the protocol bounds them, and read by the few
types that our tables have, each with a check of its length. An answer of any other type makes no sense.
"""

from __future__ import annotations

import socket
import struct
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

if TYPE_CHECKING:
    import psycopg

#: An answer may have so many bytes: as many as a hundred thousands of names of objects have, or eight of the largest.
MOST_RECEIVED = 64 << 20
_TEXT, _TEXTS, _BOOL, _BYTES = 25, 1009, 16, 17
#: The sizes of the types of whole numbers.
_NUMBERS = {21: 2, 23: 4, 20: 8}
_BINARY = 1
_Row = TypeVar("_Row", bound=msgspec.Struct)


class AnswerRefused(ValueError):
    """An answer is not of the types that were asked for, or has more rows."""


def rows_of(cursor: psycopg.Cursor[Any], kind: type[_Row], *, least: int = 0, most: int | None = None) -> list[_Row]:
    """The rows of what was executed with ``binary=True``, from ``least`` to ``most``, each checked as ``kind`` says.

    Raises:
        AnswerRefused: They are no such rows.
    """
    found = cursor.pgresult
    if found is None or found.ntuples < least or (most is not None and found.ntuples > most):
        raise AnswerRefused("no rows, too few, or too many")
    types = [found.ftype(column) for column in range(found.nfields)]
    if any(found.fformat(column) != _BINARY for column in range(found.nfields)):
        raise AnswerRefused("values as text")
    try:
        return [
            msgspec.convert([_value(found.get_value(row, column), of) for column, of in enumerate(types)], kind)
            for row in range(found.ntuples)
        ]
    except msgspec.ValidationError as error:
        raise AnswerRefused("rows of another kind") from error


def _value(raw: bytes | None, of: int) -> object:
    if raw is None or of == _BYTES:
        return raw
    if of == _TEXT:
        return raw.decode()
    if of == _TEXTS:
        return _texts(raw)
    if len(raw) != (1 if of == _BOOL else _NUMBERS.get(of)):
        raise AnswerRefused(f"a value of type {of} and {len(raw)} bytes")
    number = int.from_bytes(raw, "big", signed=True)
    return number != 0 if of == _BOOL else number


def _texts(raw: bytes) -> list[str]:
    """An array of texts of one dimension (``array_recv`` in PostgreSQL's arrayfuncs.c)."""
    try:
        dimensions, _, of = struct.unpack_from(">iii", raw)
        count = struct.unpack_from(">i", raw, 12)[0] if dimensions == 1 else 0
        if dimensions not in {0, 1} or of != _TEXT:
            raise AnswerRefused("an array of another kind")
        found, place = list[str](), 20
        for _ in range(count):
            (length,) = struct.unpack_from(">i", raw, place)
            if not 0 <= length <= len(raw) - place - 4:
                raise AnswerRefused("an array that ends early")
            found.append(raw[place + 4 : place + 4 + length].decode())
            place += 4 + length
    except struct.error as error:
        raise AnswerRefused("an array that ends early") from error
    return found


#: Where Linux says in ``struct tcp_info`` how many bytes came (``tcpi_bytes_received``).
_RECEIVED = slice(128, 136)


def bytes_received(connection: socket.socket) -> int:
    """How much has come through a connection so far; 0 where the system does not count it."""
    with suppress(OSError, AttributeError):
        told = connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, _RECEIVED.stop)
        return int.from_bytes(told[_RECEIVED], "little")
    return 0
