"""What a session has been shown already, so that nothing is shown twice; a file of hashes for all its processes.

Hashes, because the file then contains nothing that `forget` would have to find. It is a file and not a table of
helix.db: every tool call reads it, and SQLite takes longer to load than a tool event may take.

Items are taken before they are shown, and a hook may be killed in between. So what is taken counts only once
`SessionDedup.keep` says that the agent has it. Until then the file is locked: another process that wants the same item
waits, and finds it either shown or free.

Compaction of the context clears the file: what the session was shown goes with it and may be shown again.

For a memory that can only be read the file is in the user's own state folder. Where that cannot be written either,
nothing is remembered: an answer that comes twice is better than none.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import time
from pathlib import Path

from helix_episodes.errors import WriteFailed
from helix_episodes.light_imports import blake2b
from helix_episodes.safe_files import make_folder, read_regular
from helix_graph.project import HOOK_FOLDER, check_folders, xdg_folder
from helix_graph.trust import make_private
from helix_graph.writability import refusal_to_write

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Self

    from helix_cli.hooks.call import HookCall


_BYTES = 8
#: A session that was idle for so long is over, reported or not.
_DAYS = 7
_SUFFIX = ".given"
#: Prefix of the label of an error that occurred in the session.
SITUATION = "situation "
#: So much of what a repair wrote tells it from others; texts about it cut it at different lengths.
_OF_REPAIR = 60
_FLAGS = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
#: Reserves the space of a hash, so that a full disk is noticed before anything is shown. No hash looks like it.
_RESERVED = "-" * (2 * _BYTES)


class SessionDedup:
    """The items that one session has been shown. Nothing is remembered for a session without a name.

    As a context manager it frees, at its end, items that were taken and not kept.
    """

    def __init__(self, root: Path, session: str) -> None:
        self._root = root
        self._folder, name = root / HOOK_FOLDER, session
        if refusal_to_write(self._folder if self._folder.is_dir() else root):
            state = xdg_folder("XDG_STATE_HOME", ".local/state") / "helix-graph" / HOOK_FOLDER
            if _is_usable(state):
                self._folder, name = state, session and f"{root} {session}"
            else:
                name = ""
        self._path = self._folder / f"{_hash(name)}{_SUFFIX}" if name else None
        self._handle: int | None = None
        self._end = 0
        self._known: set[str] = set()
        self._taken: list[str] = []

    def __enter__(self) -> Self:
        check_folders(self._root)  # before anything of the memory is read or written
        return self

    def __exit__(self, *_: object) -> None:
        if self._handle is not None:
            os.ftruncate(self._handle, self._end)
            fcntl.flock(self._handle, fcntl.LOCK_UN)  # a process that was left behind may still have it open
            os.close(self._handle)
            self._handle = None

    def has(self, item: str) -> bool:
        """Whether the session has it."""
        try:
            return self._path is not None and _hash(item) in read_regular(self._path).decode("ascii").split()
        except (OSError, UnicodeDecodeError):
            return False

    def take(self, items: Iterable[str]) -> list[str]:
        """Those of the items that the session has not. Two processes never both take one.

        Raises:
            OSError: The file cannot be written; then nothing may be shown, since it would be shown again and again.
        """
        wanted = list(dict.fromkeys(items))
        if self._path is None or not wanted:
            return wanted
        handle = self._held(self._path)
        fresh = [item for item in wanted if _hash(item) not in self._known]
        self._taken += map(_hash, fresh)
        self._known.update(self._taken)
        os.pwrite(handle, _lines([_RESERVED] * len(self._taken)), self._end)
        return fresh

    def keep(self) -> None:
        """Records that the agent has what was taken."""
        if self._handle is not None:
            self._end += os.pwrite(self._handle, _lines(self._taken), self._end)
            self._taken = []

    def remember(self, items: Iterable[str]) -> None:
        """Adds items that the session knows without us; nothing may be taken yet."""
        self.take(items)
        self.keep()

    def clear(self, point: str) -> None:
        """Lets everything be shown again: what the session was shown is no longer in the agent's context.

        Two programs may report the same emptying. ``point`` is how far the session had come; the second report of the
        same point changes nothing. Where it is not known (``""``) every report counts.
        """
        if self._path is None:
            return
        handle = self._held(self._path)
        emptied = f"emptied {point}"
        if not point or _hash(emptied) not in self._known:
            os.ftruncate(handle, 0)
            self._end, self._known, self._taken = 0, set(), []
            self.remember([emptied])

    def sweep(self) -> None:
        """Removes the files of sessions that are long over."""
        oldest = time.time() - _DAYS * 24 * 3600
        for path in self._folder.glob(f"*{_SUFFIX}"):
            with contextlib.suppress(OSError):  # another session's end may be faster
                if path.stat().st_mtime < oldest:
                    path.unlink()

    def _held(self, path: Path) -> int:
        """The file, open and locked. A bare handle: what is left behind must not close it a second time."""
        if self._handle is None:
            make_folder(self._folder)
            self._handle = os.open(path, _FLAGS, 0o600)
            fcntl.flock(self._handle, fcntl.LOCK_EX)
            self._end = os.fstat(self._handle).st_size
            self._known = set(os.pread(self._handle, self._end, 0).decode("ascii", "replace").split())
        return self._handle


def _is_usable(state: Path) -> bool:
    """Whether the folder is this user's alone, made if need be, and can be written."""
    try:
        make_private(state)
    except WriteFailed:
        return False
    return refusal_to_write(state) is None


def repair_item(written: str) -> str:
    """The item of a repair by what it wrote, in whatever words the session is shown it.

    >>> repair_item("return price    * rate ")
    'repair return price * rate'
    """
    return f"repair {' '.join(written.split())[:_OF_REPAIR]}"


def _lines(hashes: Iterable[str]) -> bytes:
    return "".join(f"{one}\n" for one in hashes).encode()


def _hash(text: str) -> str:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=_BYTES).hexdigest()


def transcript_size(call: HookCall) -> str:
    """How far the session has come: its transcript's size, the same for all programs that report an event."""
    transcript = Path(call.transcript)
    return str(transcript.stat().st_size) if call.transcript and transcript.is_file() else ""
