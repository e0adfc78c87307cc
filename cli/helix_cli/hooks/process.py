"""The process of one hook: the work in a child with a time limit, the answer on stdout, always exit code 0.

Nothing that an event may meet (a locked database, a log of gigabytes, a reader that hangs, a bug in this program)
keeps the agent longer than the limit: the child is killed, and there is no answer. The child writes the answer
itself: only it knows which items the answer contains, and they count as shown once the answer is out and not before.

The child loads what the event needs and this process does not: anything loaded here would have to be copied for the
child and taken down again after the agent was answered. `benchmarks/hooks.py` measures it.
"""

from __future__ import annotations

import gc
import os
import sys

from helix_cli.hooks.events import EVENTS, seconds_for
from helix_cli.hooks.timed_child import note_failure, note_if_stopped, run_within, write_all

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence


#: More than any event should carry; what is longer is a tool's output, and no JSON once it is cut.
_MOST_BYTES = 32 * 1024 * 1024
_STDOUT = 1
#: The work for these must not be lost, and nobody reads an answer: all of it is done in the background.
_AFTERWARDS = frozenset({"subagent-stop", "session-end"})


def answer(arguments: Sequence[str]) -> int:
    """Answers one event on stdout and returns the exit code, which is 0 whatever happens."""
    event = arguments[0] if arguments else ""
    if event not in EVENTS or sys.stdin is None or sys.stdin.isatty():
        return 0
    gc.disable()  # the answer is there before there is anything to collect; `run_detached` switches it on again
    asked = os.getpid()
    try:
        note_if_stopped(event, run_within(lambda: _work(event, asked), seconds=seconds_for(event)))
    except OSError as error:  # no process can be started or no file opened
        note_failure(event, f"{type(error).__name__}: {error}")
    return 0


def _work(event: str, asked: int) -> Iterator[bytes]:
    """The child's work. ``asked`` is the process that the agent waits for: without it nobody reads an answer."""
    payload = sys.stdin.buffer.read(_MOST_BYTES)
    if event == "post-tool":
        from helix_cli.hooks.events import surely_succeeded

        if surely_succeeded(payload):
            return
    if event not in _AFTERWARDS:
        yield from _answer_payload(event, payload, lambda text: os.getppid() == asked and _say(text))
        return
    from helix_cli.hooks.background import run_detached

    run_detached(event, lambda: _answer_payload(event, payload, _say))


def _answer_payload(event: str, payload: bytes, say: Callable[[bytes], bool]) -> Iterator[bytes]:
    from helix_cli.hooks.call import read_call

    call = read_call(event, payload)
    if call is None or call.says_nothing:
        return
    from helix_cli.hooks.dispatch import answer_call

    yield from answer_call(call, say)


def _say(text: bytes) -> bool:
    """Writes the answer; returns whether the agent has it, which is always so for an empty one."""
    return not text or (sys.stdout is not None and write_all(_STDOUT, text))
