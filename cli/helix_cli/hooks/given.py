"""What a session has been given, so that it is not given again; in a file of hashes, for every process of the session.

Hashes, because the file then tells nothing that `forget` would have to find. It is a file and no table of helix.db:
every tool call looks at it, and SQLite with all that belongs to it takes longer to load than a tool event may take.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import time
from _blake2 import blake2b  # as hashlib has it, which loads OpenSSL besides: 5 ms at every tool call

from helix_graph.project import HOOK_FOLDER

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

_BYTES = 8
#: A session that was left alone for so long is over, told or not.
_DAYS = 7
_SUFFIX = ".given"
#: Before the label of an error that the session has met.
SITUATION = "situation "


class Given:
    """What one session was given. A session without a name has no memory of it."""

    def __init__(self, root: Path, session: str) -> None:
        self._folder = root / HOOK_FOLDER
        self._path = self._folder / f"{_hash(session)}{_SUFFIX}" if session else None

    def has(self, item: str) -> bool:
        """Whether the session has it."""
        try:
            return self._path is not None and _hash(item) in self._path.read_text(encoding="ascii").split()
        except (OSError, UnicodeDecodeError):
            return False

    def take(self, items: Iterable[str]) -> list[str]:
        """Those of the items that the session has not; from now on it has. Two processes never both take one.

        Raises:
            OSError: The file cannot be written; then nothing may be given, since it would be given again and again.
        """
        wanted = list(dict.fromkeys(items))
        if self._path is None or not wanted:
            return wanted
        self._folder.mkdir(mode=0o700, exist_ok=True)
        flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        with os.fdopen(os.open(self._path, flags, 0o600), "rb+") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            known = set(file.read().decode("ascii", "replace").split())
            fresh = [item for item in wanted if _hash(item) not in known]
            file.write("".join(f"{_hash(item)}\n" for item in fresh).encode())
        return fresh

    def clear(self) -> None:
        """Lets the session be given everything again: what it was given is no longer before the agent."""
        if self._path is not None:
            self._path.unlink(missing_ok=True)

    def sweep(self) -> None:
        """Removes the files of sessions that are long over."""
        oldest = time.time() - _DAYS * 24 * 3600
        for path in self._folder.glob(f"*{_SUFFIX}"):
            with contextlib.suppress(OSError):  # another session's end may be faster
                if path.stat().st_mtime < oldest:
                    path.unlink()


def _hash(text: str) -> str:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=_BYTES).hexdigest()
