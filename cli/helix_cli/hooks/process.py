"""The process of one hook: the work in a child with a limit on its time, the answer on stdout, always exit code 0.

Nothing that an event may meet (a locked database, a log of gigabytes, a reader that does not read, a fault in this
program) keeps the agent longer than the limit: the child is killed, and the answer is none. The child writes the answer
itself, since it alone knows what it took for it, and that must count once the answer is out and not before. What a hook
usually takes is far below; see ``benchmarks/hooks.py`` and docs/hooks.md.

The child loads what the event needs, and nothing else does: whatever this process had loaded it would have to copy for
the child and take down again, after the agent was answered.
"""

from __future__ import annotations

import gc
import os
import select
import sys
import time

from helix_cli.hooks.events import EVENTS

TYPE_CHECKING = False  # as `typing` has it, which takes longer to load than all of this
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

#: The longest that an agent ever waits, in seconds: ten times what the event may usually take, for a machine that does
#: other things as well. Claude Code gives all hooks of a session's end 1.5 s together, Codex one second.
LIMITS = {"session-start": 1.5, "user-prompt": 1.0, "session-end": 0.9}
_LIMIT_ELSEWHERE = 0.6
#: As long as Claude Code and Codex wait for a hook that says nothing of its time. Nobody hears a later answer.
_LONGEST = 600.0
#: Overrides the limit, for machines that are slower than any that was measured.
ENVIRONMENT = "HELIX_HOOK_SECONDS"
_CHUNK = 1 << 16
#: More than any event should carry; what is longer is a tool's output, and no JSON once it is cut.
_MOST_BYTES = 32 * 1024 * 1024
_STDOUT = 1
#: What these lead to must not be lost, and nobody hears an answer: all of it is done where no limit reaches it.
_AFTERWARDS = frozenset({"subagent-stop", "session-end"})


def answer(arguments: Sequence[str]) -> int:
    """Answers one event on stdout; the exit code, which is 0 whatever happens."""
    event = arguments[0] if arguments else ""
    if event not in EVENTS or sys.stdin is None or sys.stdin.isatty():
        return 0
    gc.disable()  # the answer is there before there is anything to collect; `detached` switches it on again
    asked = os.getpid()
    try:
        note_if_stopped(event, within(lambda: _told(event, asked), seconds=_limit(event)))
    except OSError as error:  # no process or no file is to be had
        _note(event, f"{type(error).__name__}: {error}")
    return 0


def note_if_stopped(event: str, told: Told) -> None:
    """Notes that the child was killed: in the memory that it was at, or where this process stands if it knew none."""
    if told.cut_short:
        _note(event, "was stopped: it took longer than its limit", root=os.fsdecode(told.pieces.rstrip(b"\n")))


class Told:
    """What a child said before it ended, or before it was stopped (``cut_short``)."""

    def __init__(self, pieces: bytes, *, cut_short: bool) -> None:
        self.pieces = pieces
        self.cut_short = cut_short


def within(work: Callable[[], Iterator[bytes]], *, seconds: float) -> Told:
    """What ``work`` yields in a process of its own, which is killed when the time is up."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        try:
            for piece in work():
                _write(writing, piece)
        finally:
            os._exit(0)  # the parent's exit handlers and buffers are not ours
    os.close(writing)
    ended = False
    try:
        pieces, ended = _heard(reading, deadline=time.monotonic() + seconds)
    finally:  # also of an interrupt: nobody is left behind
        if not ended:
            _kill(child)
    os.close(reading)
    if ended:
        os.waitpid(child, 0)
    return Told(pieces, cut_short=not ended)


def _kill(child: int) -> None:
    import signal  # noqa: PLC0415  (its names of signals take 5 ms to load, and few hooks are stopped)

    os.kill(child, signal.SIGKILL)


def _note(event: str, problem: str, *, root: str = "") -> None:
    from pathlib import Path  # noqa: PLC0415  (few hooks have anything to note)

    from helix_cli.hooks.log import note  # noqa: PLC0415  (as above)
    from helix_graph.project import memory_folder  # noqa: PLC0415  (as above)

    place = Path(root) if root else memory_folder(Path.cwd())
    if place is not None and place.is_dir():
        note(place, event, problem)


def _told(event: str, asked: int) -> Iterator[bytes]:
    """What the child does. ``asked`` is the process that the agent waits for: without it nobody hears an answer."""
    payload = sys.stdin.buffer.read(_MOST_BYTES)
    if event not in _AFTERWARDS:
        yield from _answered(event, payload, lambda text: os.getppid() == asked and _say(text))
        return
    from helix_cli.hooks.detached import leave  # noqa: PLC0415  (only the child needs it)

    leave(event, lambda: _answered(event, payload, _say))


def _answered(event: str, payload: bytes, say: Callable[[bytes], bool]) -> Iterator[bytes]:
    from helix_cli.hooks.call import read_call  # noqa: PLC0415  (only the child needs it)

    call = read_call(event, payload)
    if call is None or call.says_nothing:
        return
    from helix_cli.hooks.answering import answer_call  # noqa: PLC0415  (most calls of tools end before)

    yield from answer_call(call, say)


def _say(text: bytes) -> bool:
    """Whether the agent has the text; nothing at all it always has."""
    return not text or (sys.stdout is not None and _write(_STDOUT, text))


def _heard(reading: int, *, deadline: float) -> tuple[bytes, bool]:
    """What comes through a pipe until its other end closes, and whether that was before the deadline."""
    heard: list[bytes] = []
    while (left := deadline - time.monotonic()) > 0:
        if not select.select([reading], [], [], left)[0]:
            break
        piece = os.read(reading, _CHUNK)
        if not piece:
            return b"".join(heard), True
        heard.append(piece)
    return b"".join(heard), False


def _limit(event: str) -> float:
    try:
        seconds = float(os.environ[ENVIRONMENT])
    except (KeyError, ValueError):
        seconds = 0.0
    return min(seconds, _LONGEST) if seconds > 0 else LIMITS.get(event, _LIMIT_ELSEWHERE)  # NaN is not above 0


def _write(handle: int, text: bytes) -> bool:
    """Whether all of it was written; a reader that has gone does not want it any more."""
    try:
        while text:
            text = text[os.write(handle, text) :]
    except OSError:
        return False
    return True
