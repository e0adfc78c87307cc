"""The process of one hook: the work in a child with a time limit, the answer on stdout, always exit code 0.

Nothing that an event may meet (a locked database, a log of gigabytes, a reader that hangs, a bug in this program)
keeps the agent longer than the limit: the child is killed, and there is no answer. The child writes the answer
itself: only it knows which items the answer contains, and they count as shown once the answer is out and not before.

The child loads what the event needs and this process does not: anything loaded here would have to be copied for the
child and taken down again after the agent was answered. Times are in ``benchmarks/hooks.py`` and docs/hooks.md.
"""

from __future__ import annotations

import gc
import os
import sys

from helix_cli.hooks.child import note_failure, note_if_stopped, run_within, write_all
from helix_cli.hooks.events import EVENTS, seconds_for

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence


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
        note_if_stopped(event, run_within(lambda: _work(event, asked), seconds=seconds_for(event)))
    except OSError as error:  # no process or no file is to be had
        note_failure(event, f"{type(error).__name__}: {error}")
    return 0


def _work(event: str, asked: int) -> Iterator[bytes]:
    """What the child does. ``asked`` is the process that the agent waits for: without it nobody hears an answer."""
    payload = sys.stdin.buffer.read(_MOST_BYTES)
    if event not in _AFTERWARDS:
        yield from _answered(event, payload, lambda text: os.getppid() == asked and _say(text))
        return
    from helix_cli.hooks.background import run_detached

    run_detached(event, lambda: _answered(event, payload, _say))


def _answered(event: str, payload: bytes, say: Callable[[bytes], bool]) -> Iterator[bytes]:
    from helix_cli.hooks.call import read_call

    call = read_call(event, payload)
    if call is None or call.says_nothing:
        return
    from helix_cli.hooks.dispatch import answer_call

    yield from answer_call(call, say)


def _say(text: bytes) -> bool:
    """Whether the agent has the text; nothing at all it always has."""
    return not text or (sys.stdout is not None and write_all(_STDOUT, text))
