"""Work of the driver that has an end, whatever the server does: it is done in a thread that can be left.

libpq looks at no clock while it computes. A server may ask for two thousand million rounds of hashing before a password
counts, or send settings without end, each of which libpq looks for among all before: hanging up does not end that. So
whoever asks waits as long as was said, and then goes on without the thread, and without the connection that it uses.
"""

from __future__ import annotations

import atexit
import os
import sys
from threading import Lock, Thread
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

_Done = TypeVar("_Done")


class TookTooLong(OSError):
    """What was asked of a server has not ended in time; the connection may still be in use, and nobody may touch it."""


class _Worker(Thread, Generic[_Done]):
    """A thread for one piece of work; ``too_late`` is given what it gives when nobody waits for it any more."""

    def __init__(self, work: Callable[[], _Done], too_late: Callable[[_Done], object]) -> None:
        super().__init__(daemon=True)
        self._work, self._too_late = work, too_late
        self._lock, self._is_left = Lock(), False
        self._found: list[_Done] = []
        self._error: BaseException | None = None

    def run(self) -> None:
        try:
            found = self._work()
        except BaseException as error:  # noqa: BLE001  (raised again where it is waited for)
            self._error = error
            return
        with self._lock:
            self._found.append(found)
        if self._is_left:
            self._too_late(found)

    def leave(self) -> bool:
        """Lets go of work that has not ended; False where it has."""
        with self._lock:
            self._is_left = not self._found and self.is_alive()
            return self._is_left

    def result(self) -> _Done:
        """What the work gave, or raises what it raised."""
        if self._error is not None:
            raise self._error
        return self._found[0]


#: The last thread that was left, by the server. It may compute for half an hour, so that as long there is no second.
_left: dict[str, Thread] = {}


def end_at_once(code: int = 1) -> None:
    """Ends the process with this code where a thread was left that has not ended; else nothing is done."""
    if any(one.is_alive() for one in _left.values()):
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def in_time(
    work: Callable[[], _Done], *, server: str, seconds: float, too_late: Callable[[_Done], object] = lambda _: None
) -> _Done:
    """What ``work`` gives or raises; it has so many seconds.

    Raises:
        TookTooLong: It has not ended by then, or earlier work with this server has not ended yet.
    """
    if server in _left and _left[server].is_alive():
        raise TookTooLong("what was asked of this server before has not ended")
    worker = _Worker(work, too_late)
    worker.start()
    try:
        worker.join(seconds)
    finally:  # also where a person interrupts it
        is_left = worker.leave()
        if is_left:
            if not _left:
                atexit.register(end_at_once)
            _left[server] = worker
    if is_left:
        raise TookTooLong("it took too long")
    worker.join()
    return worker.result()
