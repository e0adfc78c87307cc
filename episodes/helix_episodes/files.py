"""Files that are whole or absent: a reader never sees half of one, and a failed write leaves the old one in place."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

from helix_episodes.errors import WriteFailed

#: What `write_atomically` writes to before it renames; a killed process leaves one behind.
TEMPORARY_SUFFIX = ".tmp"


def write_atomically(path: Path, data: bytes, *, mode: int = 0o600) -> None:
    """Writes ``data`` to ``path`` through a temporary file beside it: written, synced, renamed.

    Raises:
        WriteFailed: The disk is full, or the folder is read-only or missing and cannot be made.
    """
    import tempfile  # noqa: PLC0415  (takes 10 ms to load, and most commands write nothing)

    temporary: Path | None = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=TEMPORARY_SUFFIX, dir=path.parent)
        temporary = Path(name)
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fchmod(file.fileno(), mode)
            os.fsync(file.fileno())
        temporary.replace(path)
    except OSError as error:
        if temporary is not None:
            with contextlib.suppress(OSError):
                temporary.unlink(missing_ok=True)
        raise WriteFailed(path=path, problem=error.strerror or str(error)) from error


def remove_file(path: Path) -> bool:
    """Deletes a file; whether it was there.

    Raises:
        WriteFailed: The folder is read-only.
    """
    try:
        path.unlink()
    except FileNotFoundError:
        return False
    except OSError as error:
        raise WriteFailed(path=path, problem=error.strerror or str(error)) from error
    return True


def replace_file(path: Path, *, before: bytes, after: bytes) -> bool:
    """Writes ``after`` where ``before`` stands; False, and nothing written, when somebody else has changed it since.

    Raises:
        WriteFailed: As for `write_atomically`.
    """
    try:
        if path.read_bytes() != before:
            return False
    except OSError:
        return False
    write_atomically(path, after)
    return True
