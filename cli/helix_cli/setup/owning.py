"""Whose a file of settings is: it stays so when it is replaced, and a new one is whose the folder is.

Setup is also run by root in somebody's home, whose agent has to read what comes of it.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from helix_episodes.errors import WriteFailed
from helix_episodes.files import write_atomically

if TYPE_CHECKING:
    from pathlib import Path

#: A file of settings may hold keys, so one that we make is its owner's alone.
_MODE = 0o600
_ROOT = 0


def write_for_its_owner(path: Path, content: bytes, *, like: Path) -> None:
    """Writes a file that belongs to whom ``like`` belongs to, and may be read and written by the same people.

    Where there is no such file, it is its folder's owner's alone.

    Raises:
        WriteFailed: It cannot be written, or not be given to its owner.
    """
    _make_folder(path.parent)
    try:
        found = like.stat()
    except FileNotFoundError:
        write_atomically(path, content, mode=_MODE, owner=_owner_of_new(path))
    else:
        write_atomically(path, content, mode=found.st_mode & 0o7777, owner=(found.st_uid, found.st_gid))


def _owner_of_new(path: Path) -> tuple[int, int] | None:
    """The owner of the folder; None where only root could give a file away."""
    if os.geteuid() != _ROOT:
        return None
    found = path.parent.stat()
    return found.st_uid, found.st_gid


def _make_folder(folder: Path) -> None:
    missing = [one for one in (folder, *folder.parents) if not one.exists()]
    try:
        for one in reversed(missing):
            one.mkdir()
            os.chown(one, *(_owner_of_new(one) or (-1, -1)))  # -1 leaves it as it is
    except OSError as error:
        raise WriteFailed(path=folder, problem=error.strerror or str(error)) from error
