"""Work that goes on after the hook has answered.

Claude Code gives all hooks of a session's end 1.5 s, and reading a long log takes longer. So as soon as such a hook has
read what it is told, it leaves the agent's session and terminal for a process of its own, which has a limit too. Of one
memory one such process works at a time, the others wait for their turn.
"""

from __future__ import annotations

import fcntl
import gc
import os
from contextlib import contextmanager

from helix_cli.hooks.process import note_if_stopped, within
from helix_graph.project import HOOK_FOLDER

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

#: Reading the longest log known to us takes seconds; a process that is at it after ten minutes hangs.
_SECONDS = 600.0
_LOCK = "working.lock"
_STREAMS = 3
#: No hook opens more files than this.
_MOST_HANDLES = 1 << 16


def leave(event: str, work: Callable[[], Iterator[bytes]]) -> None:
    """Does the work in a process that nobody waits for. The caller ends at once, so that nobody has to collect it.

    Raises:
        OSError: No process is to be had.
    """
    if os.fork():
        return
    try:
        os.setsid()
        _let_go()
        gc.enable()
        note_if_stopped(event, within(work, seconds=_SECONDS))
    finally:
        os._exit(0)


@contextmanager
def in_turn(root: Path) -> Iterator[None]:
    """Waits until no other process works behind the hooks of this memory."""
    folder = root / HOOK_FOLDER
    folder.mkdir(mode=0o700, exist_ok=True)
    with (folder / _LOCK).open("ab") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _let_go() -> None:
    """Of everything that the agent may be waiting to see closed."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in range(_STREAMS):
        os.dup2(nothing, stream)
    os.closerange(_STREAMS, _MOST_HANDLES)
