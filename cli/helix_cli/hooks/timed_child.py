"""A child process with a time limit, and what it reported through a pipe."""

from __future__ import annotations

import os
import select
import time

TYPE_CHECKING = False  # as `typing` has it, which takes longer to load than all of this
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


class ChildResult:
    """What a child wrote before it ended, or before it was stopped (``cut_short``)."""

    def __init__(self, pieces: bytes, *, cut_short: bool) -> None:
        self.pieces = pieces
        self.cut_short = cut_short


#: Yielded by work whose answer is out: from then on nobody waits for it, nor stops it.
ANSWERED = b""
_STREAMS = 3


def run_within(work: Callable[[], Iterator[bytes]], *, seconds: float) -> ChildResult:
    """Runs ``work`` in a process of its own, which is killed when the time is up; returns what it yielded.

    What remains after `ANSWERED` must be short, such as closing a database, which costs two waits for the disk.
    """
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        try:
            for piece in work():
                if piece == ANSWERED:
                    nothing = os.open(os.devnull, os.O_RDWR)
                    for handle in (*range(_STREAMS), writing):  # everything that somebody waits to see closed
                        os.dup2(nothing, handle)
                write_all(writing, piece)
        finally:
            os._exit(0)  # the parent's exit handlers and buffers are not ours
    os.close(writing)
    ended = False
    try:
        pieces, ended = _read_until(reading, deadline=time.monotonic() + seconds)
    finally:  # also after an interrupt: leave no child process
        if not ended:
            import signal

            os.kill(child, signal.SIGKILL)
    os.close(reading)
    return ChildResult(pieces, cut_short=not ended)


def note_if_stopped(event: str, result: ChildResult) -> None:
    """Notes that the child was killed, in the log of the memory whose folder it had written, if any."""
    if result.cut_short:
        root = os.fsdecode(result.pieces.rstrip(b"\n"))
        note_failure(event, "was stopped: it took longer than its limit", root=root)


def note_failure(event: str, problem: str, *, root: str = "") -> None:
    """Notes a failure in the log of the memory in ``root``, or of the one of this process's folder if it is ours."""
    from pathlib import Path

    from helix_cli.hooks.log import note
    from helix_graph.project import memory_folder
    from helix_graph.trust import refusal_of

    place = Path(root) if root else memory_folder(Path.cwd())
    if place is not None and place.is_dir() and refusal_of(place) is None:
        note(place, event, problem)


def _read_until(reading: int, *, deadline: float) -> tuple[bytes, bool]:
    """Everything from a pipe until its other end closes, and whether that was before the deadline."""
    pieces: list[bytes] = []
    while (left := deadline - time.monotonic()) > 0:
        if not select.select([reading], [], [], left)[0]:
            break
        piece = os.read(reading, _CHUNK)
        if not piece:
            return b"".join(pieces), True
        pieces.append(piece)
    return b"".join(pieces), False


def write_all(handle: int, text: bytes) -> bool:
    """Whether all of it was written; a reader that has gone does not want it any more."""
    try:
        while text:
            text = text[os.write(handle, text) :]
    except OSError:
        return False
    return True


_CHUNK = 1 << 16
