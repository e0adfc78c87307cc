"""``.helix/hooks.log``: failures of hooks, since an agent is never shown them. The file stays small."""

from __future__ import annotations

import contextlib
import fcntl
import os
import time

from helix_episodes.errors import HelixGraphError
from helix_episodes.safe_files import is_any_gone
from helix_graph.project import HOOK_LOG

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


#: A line has some hundred bytes, so these are the last several hundred failures; then the older half goes.
_MOST_BYTES = 64 * 1024
_LONGEST_PROBLEM = 300


@contextlib.contextmanager
def noted(root: Path, event: str) -> Iterator[None]:
    """Writes failures within to the log. A bug of this program is no reason to disturb an agent."""
    try:
        yield
    except HelixGraphError as error:
        note(root, event, f"{type(error).__name__}: {error}")
    except _unexpected():
        import traceback

        note(root, event, " / ".join(traceback.format_exc(limit=-2).splitlines()[1:]))


def _unexpected() -> tuple[type[Exception], ...]:
    """Errors that are not ours. A function, evaluated only when something failed, because SQLite loads slowly."""
    import sqlite3

    return OSError, sqlite3.Error, MemoryError, RecursionError, ValueError, LookupError, TypeError, AttributeError


def note(root: Path, event: str, problem: str) -> None:
    """Adds a line; where that is impossible (a full disk, a read-only folder) nothing can be reported anywhere."""
    from helix_episodes.redaction import for_disk  # only where something went wrong: a hook may not wait for it

    sentence = " ".join(for_disk(problem).split())[:_LONGEST_PROBLEM]
    line = f"{time.strftime('%Y-%m-%dT%H:%M:%SZ', time.gmtime())} | {event} | {sentence}\n"
    if root.is_symlink() or is_any_gone():
        return  # a memory that is a link is not ours to write to, and one that is being deleted is to go
    with contextlib.suppress(OSError):
        flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        with os.fdopen(os.open(root / HOOK_LOG, flags, 0o600), "rb+") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            if file.seek(0, os.SEEK_END) > _MOST_BYTES:
                newer = os.pread(file.fileno(), _MOST_BYTES, _MOST_BYTES // 2)
                os.ftruncate(file.fileno(), 0)
                os.write(file.fileno(), newer.partition(b"\n")[2])  # from its first whole line on
            file.write(line.encode("utf-8", "replace"))
