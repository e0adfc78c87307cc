"""One dated copy beside a file of settings: what stood there before the last edit."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from helix_episodes.errors import WriteFailed
from helix_episodes.files import remove_file

if TYPE_CHECKING:
    from pathlib import Path

_MARK = ".helix-graph-"
_END = ".bak"


def backup_of(target: Path) -> Path:
    """Where today's copy of a file goes."""
    today = datetime.now(UTC).date().isoformat()
    return target.with_name(f"{target.name}{_MARK}{today}{_END}")


def drop_backups(target: Path, *, but: Path | None = None) -> None:
    """Removes the copies of a file that earlier edits left, all ``but`` one.

    Raises:
        WriteFailed: The folder cannot be read or written.
    """
    begin = f"{target.name}{_MARK}"
    try:
        found = [one for one in target.parent.iterdir() if one.name.startswith(begin) and one.name.endswith(_END)]
    except OSError as error:
        raise WriteFailed(path=target.parent, problem=error.strerror or str(error)) from error
    for one in sorted(found):
        if one != but:
            remove_file(one)
