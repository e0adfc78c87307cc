"""Files that are whole or absent: a reader never sees half of one, and a failed write leaves the old one in place."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

from helix_episodes.errors import WriteFailed


def write_atomically(path: Path, data: bytes, *, mode: int = 0o600) -> None:
    """Writes ``data`` to ``path`` through a temporary file beside it: written, synced, renamed.

    Raises:
        WriteFailed: The disk is full, or the folder is read-only or missing and cannot be made.
    """
    import tempfile  # noqa: PLC0415  (takes 10 ms to load, and most commands write nothing)

    temporary: Path | None = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".tmp", dir=path.parent)
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
