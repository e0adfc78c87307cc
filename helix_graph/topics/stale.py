"""`stale`: entries whose source file has changed since they were written.

A source is ``path:line`` or a path. A file that is not there is no evidence for anything, so such sources are only
counted. With ``refresh`` the lines that the source names are shown as they are now, of files inside the project.
"""

from __future__ import annotations

import re
from datetime import datetime
from typing import TYPE_CHECKING

import msgspec

from helix_episodes.files import irregularity, read_regular
from helix_graph.topics.entries import by_id, shown
from helix_graph.topics.model import Entry, moment

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Sequence
    from pathlib import Path

#: ``src/cache.rs:42``, also with a column or a span of lines; what stands before the first number is the path.
_SOURCE = re.compile(r"(?P<path>.+?)(?::(?P<line>\d{1,9})(?:[:-]\d{1,9})?)?\Z")
#: So many lines on each side of the one that is named.
_AROUND = 3
_MOST_LINES = 12
_LARGEST_FILE = 5_000_000


class StaleEntry(msgspec.Struct, frozen=True, kw_only=True):
    """An entry, its source file, when that was changed, and its lines as they are now where they were asked for."""

    entry: Entry
    file: str
    file_changed: datetime
    line: int | None
    current: str | None


class StaleAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """What `stale` answers: of ``checked`` sources some are stale, and of ``absent`` ones the file is not there."""

    entries: tuple[StaleEntry, ...]
    checked: int
    absent: int
    refreshed: bool


def stale(connection: sqlite3.Connection, folders: Sequence[Path], *, refresh: bool) -> StaleAnswer:
    """Entries whose source file is younger than they are; relative paths are looked up in each folder in turn."""
    filed = by_id(connection, [entry for (entry,) in connection.execute("SELECT entry FROM topic_entry")])
    sourced = [one for _, one in sorted(filed.items()) if one.record.source]
    files = {source: _file(source, folders) for source in {one.record.source or "" for one in sourced}}
    found = [(one, file) for one in sourced if (file := files[one.record.source or ""]) is not None]
    old = [(one, file) for one, file in found if file.stat().st_mtime >= one.record.changed + 1]
    entries = shown(connection, [one for one, _ in old])
    return StaleAnswer(
        entries=tuple(
            _stale(entry, file, folders, refresh=refresh) for entry, (_, file) in zip(entries, old, strict=True)
        ),
        checked=len(found),
        absent=len(sourced) - len(found),
        refreshed=refresh,
    )


def _parts(source: str) -> tuple[str, int | None]:
    found = _SOURCE.match(source)
    if found is None:
        return source, None
    return found["path"], int(found["line"]) if found["line"] else None


def _file(source: str, folders: Sequence[Path]) -> Path | None:
    path = _parts(source)[0]
    for folder in folders:
        try:
            file = folder / path
            if file.is_file():
                return file
        except (OSError, ValueError):  # a name too long, or with a character that no name has
            continue
    return None


def _stale(entry: Entry, file: Path, folders: Sequence[Path], *, refresh: bool) -> StaleEntry:
    line = _parts(entry.source or "")[1]
    return StaleEntry(
        entry=entry,
        file=str(file),
        file_changed=moment(int(file.stat().st_mtime)),
        line=line,
        current=_current(file, line, folders) if refresh else None,
    )


def _current(file: Path, line: int | None, folders: Sequence[Path]) -> str | None:
    """The lines around the one that is named; None of what is no text file of the project."""
    real = file.resolve()
    inside = any(real.is_relative_to(folder.resolve()) for folder in folders)
    if not inside or irregularity(real) or real.stat().st_size > _LARGEST_FILE:
        return None
    try:
        lines = read_regular(real).decode("utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        return None
    start, end = (0, _MOST_LINES) if line is None else (max(line - 1 - _AROUND, 0), line + _AROUND)
    return "\n".join(f"{number}: {text}" for number, text in enumerate(lines[start:end], start + 1))
