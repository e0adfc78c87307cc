"""The server on stdin and stdout: one line a message, each request answered, slow ones in threads.

A line that no parser takes is answered too, by the id that can be found in it: half of a surrogate pair, which
JavaScript writes when it cuts a text within an emoji, JSON that is nested too deep, a line without end. Its sender
would wait for ever.
"""

from __future__ import annotations

import json
import os
import re
import signal
import threading
from contextlib import ExitStack

from helix_cli.mcp.protocol import INVALID_REQUEST, PARSE, SLOW, Server, failure

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from concurrent.futures import Future, ThreadPoolExecutor
    from typing import Any, BinaryIO, NoReturn

#: More than any tool takes: a batch has at most 1,000 entries.
LONGEST_LINE = 16_000_000
#: Of a longer line so much of its beginning and of its end is looked through for the id.
_ENDS = 4_096
#: Calls at once; others wait for their turn.
_THREADS = 8
#: After stdin was closed calls may go on for so long. What one writes is there as a whole or not at all, whenever the
#: process ends; a client that does not want to wait ends it.
_ENDING_SECONDS = 10
_INTERRUPTED = 130
_STDERR = 2


def serve(chosen: str) -> NoReturn:
    """Serves until the client closes stdin, or SIGINT."""
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell starts what runs in the background without it
    code = 0
    connection = _Connection(Server(chosen), *_claimed())
    try:
        connection.serve()
    except KeyboardInterrupt:
        code = _INTERRUPTED
    except BrokenPipeError:  # the client is gone
        code = 1
    os._exit(code)  # a thread that works on a call cannot be stopped


def _claimed() -> tuple[BinaryIO, BinaryIO]:
    """The protocol's streams: what a library prints by accident goes to stderr, and a child reads nothing."""
    nothing = os.open(os.devnull, os.O_RDWR)
    while nothing <= _STDERR:  # takes the place of a stream that was closed before the start
        nothing = os.open(os.devnull, os.O_RDWR)
    reading, writing = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb", buffering=0)
    os.dup2(nothing, 0)
    os.dup2(_STDERR, 1)
    return reading, writing


class _Connection:
    """One client: its requests, and the calls that run."""

    def __init__(self, server: Server, reading: BinaryIO, writing: BinaryIO) -> None:
        self._server = server
        self._reading, self._writing = reading, writing
        self._lock = threading.Lock()
        self._open = ExitStack()
        self._pool: ThreadPoolExecutor | None = None
        self._running: set[Future[None]] = set()

    def serve(self) -> None:
        """Answers line by line, and ends when there are no more and the calls are done."""
        for line in self._lines():
            self._take(line)
        if self._running:
            from concurrent.futures import wait

            if wait(list(self._running), timeout=_ENDING_SECONDS).not_done:
                return
        self._open.close()

    def _lines(self) -> Iterator[bytes]:
        while line := self._reading.readline(LONGEST_LINE):
            if len(line) < LONGEST_LINE or line.endswith(b"\n"):
                if line.strip():
                    yield line
            else:
                self._refuse_long(line)

    def _refuse_long(self, line: bytes) -> None:
        """Answers a line that is too long, of which the end has still to be read."""
        beginning, end = line[:_ENDS], line[-_ENDS:]
        while more := self._reading.readline(LONGEST_LINE):
            end = (end + more)[-_ENDS:]
            if more.endswith(b"\n"):
                break
        identity = _id_in(beginning.decode(errors="replace"))
        if identity is None and (found := _LAST_ID.search(end.decode(errors="replace"))):
            identity = _value(found[1])
        problem = f"the message is longer than {LONGEST_LINE:,} bytes; send less at once"
        self._send(failure(identity, INVALID_REQUEST, problem))

    def _take(self, line: bytes) -> None:
        try:
            message = json.loads(line.decode(), parse_constant=_no_number)
        except (ValueError, RecursionError) as error:
            why = "it is nested too deep" if isinstance(error, RecursionError) else str(error)
            problem = f"the message could not be read ({why[:200]}); send valid JSON on one line"
            self._send(failure(_id_in(line.decode(errors="replace")), PARSE, problem))
            return
        if isinstance(message, list) and message:
            self._later(lambda: self._answer_batch(message))
        elif isinstance(message, dict) and str(message.get("method")) in SLOW:
            self._later(lambda: self._answer(message))
        else:
            self._answer(message)

    def _answer(self, message: Any) -> None:  # noqa: ANN401  (JSON)
        if answer := self._server.answer(message, self._send):
            self._send(answer)

    def _answer_batch(self, messages: list[Any]) -> None:
        """Of a client of 2025-03-26, which alone has batches: its answers are a list too."""
        if answers := [one for one in (self._server.answer(each, self._send) for each in messages) if one]:
            self._send(answers)

    def _later(self, work: Callable[[], None]) -> None:
        if self._pool is None:
            from concurrent.futures import ThreadPoolExecutor

            from helix_graph.helix_db import kept_open

            self._open.enter_context(kept_open())
            self._pool = ThreadPoolExecutor(_THREADS)
        running = self._pool.submit(work)
        self._running.add(running)
        running.add_done_callback(self._running.discard)

    def _send(self, message: dict[str, Any] | list[Any]) -> None:
        text = json.dumps(message, ensure_ascii=False, separators=(",", ":"))
        line = text.encode(errors="replace") + b"\n"  # half a character would make the whole line unreadable
        with self._lock:
            while line:
                line = line[self._writing.write(line) :]


def _no_number(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")


#: A text, with the value behind it where it is the key ``id``; or what opens or closes a level.
_TOKENS = re.compile(r'"id"\s*:\s*("(?:[^"\\]|\\.)*"|-?\d+)|"(?:[^"\\]|\\.)*"|[{}\[\]]')
#: The id of a message whose last members are short.
_LAST_ID = re.compile(
    r'"id"\s*:\s*("[^"\\]{1,100}"|-?\d{1,18})\s*(?:,\s*"(?:jsonrpc|method)"\s*:\s*"[^"\\]*"\s*)*\}\s*$'
)
_LONGEST_ID = 100


def _id_in(line: str) -> str | int | None:
    """The id of a message in JSON that no parser takes: what follows ``"id":`` on its first level."""
    depth = 0
    for found in _TOKENS.finditer(line):
        if found[1] and depth == 1 and len(found[1]) <= _LONGEST_ID:
            return _value(found[1])
        depth += {"{": 1, "[": 1, "}": -1, "]": -1}.get(found[0], 0)
    return None


def _value(token: str) -> str | int | None:
    """The text or the whole number that a token says; None where it is neither in JSON (``007``)."""
    try:
        value: str | int = json.loads(token, strict=False)
    except ValueError:
        return None
    return value
