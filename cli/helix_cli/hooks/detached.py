"""Work that goes on after the hook has answered.

Claude Code gives all hooks of a session's end 1.5 s, and reading a long log takes longer. So the work leaves the
agent's session and terminal for a process of its own, which has a limit too and waits for its turn: of one memory,
one such process works at a time.
"""

from __future__ import annotations

import fcntl
import gc
import os

from helix_cli.hooks.log import note
from helix_cli.hooks.process import within
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


def detach(root: Path, event: str, work: Callable[[], None]) -> None:
    """Does the work later, in a process that nobody waits for; what goes wrong stands in ``hooks.log``."""
    if os.fork():
        return
    from helix_cli.hooks.answering import noted  # noqa: PLC0415  (it imports this module)

    try:
        with noted(root, event):
            os.setsid()
            if os.fork() == 0:  # the first child ends at once, so nobody has to collect the second
                _go_on(root, event, work)
    finally:
        os._exit(0)


def _go_on(root: Path, event: str, work: Callable[[], None]) -> None:
    _let_go()
    gc.enable()
    if within(lambda: _in_turn(root, event, work), seconds=_SECONDS).cut_short:
        note(root, event, "was stopped: its work after the answer took longer than its limit")


def _in_turn(root: Path, event: str, work: Callable[[], None]) -> Iterator[bytes]:
    from helix_cli.hooks.answering import noted  # noqa: PLC0415  (as above)

    folder = root / HOOK_FOLDER
    with noted(root, event):
        folder.mkdir(mode=0o700, exist_ok=True)
        with (folder / _LOCK).open("ab") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            work()
    yield from ()


def _let_go() -> None:
    """Of everything that the agent may be waiting to see closed."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in range(_STREAMS):
        os.dup2(nothing, stream)
    os.closerange(_STREAMS, _MOST_HANDLES)
