"""The SHA-256 of a large file, worked out once.

Reading 91 MB of weights through SHA-256 takes 60 to 300 ms, which no question could afford each time. What was worked
out is remembered in the user's cache folder under what identifies the file as it is: its path, size, inode, and when
its content and the inode last changed. The last of these no program can set back, so a file that was replaced with its
old date is read again. Each file is remembered in one of its own, written whole, so that processes at work together
take nothing from each other; where nothing can be remembered, hashing is all it costs.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
from pathlib import Path

import msgspec

from helix_episodes.errors import WriteFailed
from helix_episodes.files import read_regular, write_atomically


class _Remembered(msgspec.Struct, frozen=True):
    path: str
    size: int
    inode: int
    modified: int
    changed: int
    sha256: str = ""


def sha256_of(path: Path) -> str:
    """The file's SHA-256 in hexadecimal, remembered or worked out.

    Raises:
        OSError: It is not there, or may not be read.
    """
    now = _identity(path)
    entry = _entry_of(path)
    known = _recall(entry)
    if known and msgspec.structs.replace(known, sha256="") == now:
        return known.sha256
    with path.open("rb") as file:
        sha256 = hashlib.file_digest(file, "sha256").hexdigest()
    if _identity(path) == now:  # it was not written to meanwhile
        with contextlib.suppress(WriteFailed):
            write_atomically(entry, msgspec.json.encode(msgspec.structs.replace(now, sha256=sha256)))
    return sha256


def cache_folder() -> Path:
    """Where this program keeps what it can work out again: ``helix-graph`` in ``XDG_CACHE_HOME`` or ``~/.cache``."""
    return xdg_folder("XDG_CACHE_HOME", ".cache") / "helix-graph"


def xdg_folder(variable: str, usual: str) -> Path:
    """A folder of the user's by the XDG convention, where a path that is not absolute counts as not set.

    https://specifications.freedesktop.org/basedir-spec/latest/
    """
    named = Path(os.environ.get(variable, ""))
    return named if named.is_absolute() else Path.home() / usual


def _entry_of(path: Path) -> Path:
    name = hashlib.sha256(os.fsencode(path.absolute())).hexdigest()[:32]
    return cache_folder() / "hashes" / f"{name}.json"


def _identity(path: Path) -> _Remembered:
    stat = path.stat()
    # JSON holds no bytes: a name that is no text is told apart by its escapes.
    name = os.fsencode(path.absolute()).decode("utf-8", "backslashreplace")
    return _Remembered(name, stat.st_size, stat.st_ino, stat.st_mtime_ns, stat.st_ctime_ns)


def _recall(entry: Path) -> _Remembered | None:
    try:
        return msgspec.json.decode(read_regular(entry), type=_Remembered)
    except (OSError, msgspec.DecodeError):
        return None
