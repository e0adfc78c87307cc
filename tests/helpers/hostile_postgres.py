"""Somebody who listens where a team's server is expected, and answers whatever a test says."""

from __future__ import annotations

import contextlib
import itertools
import socket
import struct
import threading
from typing import TYPE_CHECKING, BinaryIO, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

#: The types of PostgreSQL's catalogue by which columns are announced.
INT4, INT8, TEXT, TEXTS, BOOL, BYTES, JSONB = 23, 20, 25, 1009, 16, 17, 3802


class Column(NamedTuple):
    """One value in an answer: the type that it is announced with, and its bytes."""

    type: int
    raw: bytes


def message(kind: bytes, body: bytes = b"") -> bytes:
    return kind + struct.pack(">i", len(body) + 4) + body


def announced(columns: Iterable[Column]) -> bytes:
    """What comes before the rows of such columns."""
    fields = [struct.pack(">2sihihih", b"c\0", 0, 0, one.type, -1, -1, 1) for one in columns]
    return message(b"T", struct.pack(">h", len(fields)) + b"".join(fields))


def row(columns: Iterable[Column]) -> bytes:
    values = [struct.pack(">i", len(one.raw)) + one.raw for one in columns]
    return message(b"D", struct.pack(">h", len(values)) + b"".join(values))


class HostilePostgres:
    """It lets everybody in and gives ``answers``, the last of them again and again, to whatever is asked.

    With ``asks_password`` it asks for one in clear text first; ``passwords`` are those that it was sent. With
    ``rounds`` it asks for a proof by so many rounds of hashing, and says no more. Without answers it gives none.
    """

    def __init__(self, *answers: Iterable[bytes], asks_password: bool = False, rounds: int = 0) -> None:
        self._answers = list(answers)
        self._asks, self._rounds = asks_password, rounds
        self.passwords: list[bytes] = []
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.address = f"postgresql://ann@127.0.0.1:{self._listening.getsockname()[1]}/team"

    @contextlib.contextmanager
    def listening(self) -> Iterator[HostilePostgres]:
        threading.Thread(target=self._accept, daemon=True).start()
        with self._listening:
            yield self

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                threading.Thread(target=self._serve, args=(self._listening.accept()[0],), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        with client, client.makefile("rb") as asked, contextlib.suppress(OSError, struct.error):
            while (begun := struct.unpack(">ii", asked.read(8)))[1] in ENCRYPTION:
                client.sendall(b"N")
            asked.read(begun[0] - 8)
            if self._asks:
                client.sendall(message(b"R", struct.pack(">i", 3)))
                self.passwords.append(self._read(asked)[1])
            if self._rounds:
                client.sendall(message(b"R", struct.pack(">i", 10) + b"SCRAM-SHA-256\0\0"))
                nonce = self._read(asked)[1].rpartition(b"r=")[2]
                said = b"r=" + nonce + b"abc,s=c2FsdHNhbHQ=,i=%d" % self._rounds
                client.sendall(message(b"R", struct.pack(">i", 11) + said))
                self._read(asked)
                return
            client.sendall(message(b"R", bytes(4)) + message(b"S", b"client_encoding\0UTF8\0") + message(b"Z", b"I"))
            sql, within = b"", b"I"
            while True:
                kind, body = self._read(asked)
                if kind == b"P":
                    sql = body
                elif kind == b"Q":  # what begins and ends a transaction
                    within = b"T" if body.startswith(b"BEGIN") else b"I"
                    client.sendall(message(b"C", body) + message(b"Z", within))
                elif kind == b"S":
                    for part in itertools.chain([BEGIN], SETTLED if b"set_config" in sql else self._next(), [END]):
                        client.sendall(part)
                    client.sendall(message(b"Z", within))

    def _next(self) -> Iterable[bytes]:
        if not self._answers:
            threading.Event().wait()
        return self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]

    @staticmethod
    def _read(asked: BinaryIO) -> tuple[bytes, bytes]:
        kind, length = struct.unpack(">ci", asked.read(5))
        return kind, asked.read(length - 4)


SETTLED = (announced([Column(TEXT, b"")]), row([Column(TEXT, b"15s")]))
#: By these a client asks whether a connection may be encrypted.
ENCRYPTION = frozenset({80877103, 80877104})
BEGIN = message(b"1") + message(b"2")
END = message(b"C", b"SELECT 1\0")
