"""``.helix/hooks.log``: what went wrong in hooks, since an agent is never shown it. It stays small."""

from __future__ import annotations

import contextlib
import fcntl
import os
import time

from helix_graph.project import HOOK_LOG

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path

#: A line has some hundred bytes, so these are the last several hundred failures; then the older half goes.
_MOST_BYTES = 64 * 1024
_LONGEST_PROBLEM = 300


def note(root: Path, event: str, problem: str) -> None:
    """Adds a line; where that is impossible (a full disk, a read-only folder) nothing can be said anywhere."""
    told = " ".join(problem.split())[:_LONGEST_PROBLEM]
    line = f"{time.strftime('%Y-%m-%dT%H:%M:%SZ', time.gmtime())} | {event} | {told}\n"
    with contextlib.suppress(OSError):
        flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        with os.fdopen(os.open(root / HOOK_LOG, flags, 0o600), "rb+") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            if file.seek(0, os.SEEK_END) > _MOST_BYTES:
                _halve(file.fileno())
            file.write(line.encode("utf-8", "replace"))


def _halve(handle: int) -> None:
    """Keeps the newer half, from its first whole line on."""
    kept = os.pread(handle, _MOST_BYTES, _MOST_BYTES // 2)
    os.ftruncate(handle, 0)
    os.write(handle, kept.partition(b"\n")[2])
