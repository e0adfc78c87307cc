"""Whether this user can write a memory, and if not, why and what to do: its disk is read-only, or a mode forbids it.

Questions and hooks are answered from such a memory all the same, and nothing is written there. What was shown to a
session is then remembered in the user's own state folder, and its outcome is credited to nothing.
"""

from __future__ import annotations

import errno
import os
from pathlib import Path

from helix_episodes.light_imports import Value
from helix_graph.project import HOOK_FOLDER

#: What a session that is recorded writes to, below the memory, as far as it is there.
_WRITTEN = (".", "episodes", "causality", HOOK_FOLDER, "cache", "helix.db", "causality/graph.db")


class ReadOnly(Value):
    """What of the memory in ``root`` cannot be written (``name``, below it), why, and what a person can do."""

    root: Path
    name: str
    problem: str
    remedy: str

    def __str__(self) -> str:
        """The sentence for a person."""
        what = f"{self.root} can only be read" if self.name == "." else f"{self.root / self.name} cannot be written"
        return (
            f"{what} ({self.problem}), so no session is recorded; questions and hooks are answered from what is there. "
            f"To record sessions, {self.remedy}"
        )


def read_only(root: Path) -> ReadOnly | None:
    """The first part of the memory in ``root`` that this user cannot write; None where all of it can be written."""
    for name in _WRITTEN:
        path = root / name
        if path.exists() and (refused := refusal_to_write(path)):
            return ReadOnly(root, name, os.strerror(refused).lower(), _remedy(path, refused))
    return None


def refusal_to_write(path: Path) -> int | None:
    """The number of the error with which the system refuses to write to a file, or in a folder; None where it does not.

    Of what is not there yet, the folder counts in which it would be made.

    >>> refusal_to_write(Path("/dev/null"))
    """
    if os.access(path, os.W_OK):
        return None
    if not os.path.lexists(path) and path != path.parent:
        return refusal_to_write(path.parent)
    try:
        return errno.EROFS if os.statvfs(path).f_flag & os.ST_RDONLY else errno.EACCES
    except OSError as error:
        return error.errno


def refusal_of_database(path: Path) -> int | None:
    """As `refusal_to_write`, of a database: SQLite makes files beside it."""
    return refusal_to_write(path) or refusal_to_write(path.parent)


def _remedy(path: Path, refused: int) -> str:
    if refused == errno.EROFS:
        return "mount its disk so that it can be written, or name a memory elsewhere in HELIX_DIR"
    owner = path.stat().st_uid
    if owner == os.geteuid():
        return f"chmod u+w {path}"
    return f"have its owner (user {owner}) let you write there, or name a memory of your own in HELIX_DIR"
