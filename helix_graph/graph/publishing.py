"""Patterns and export: what a compile writes once the graph itself is up to date.

Both follow from the whole graph or from all episodes, so they are too dear for a single assertion: that marks them as
out of date (by deleting their lines in ``meta``), and the next compile makes them again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from helix_episodes.files import write_atomically
from helix_graph.graph.export import export_bytes

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    Rows = Sequence[Mapping[str, Any]]


def leave_for_later(connection: sqlite3.Connection, told: Rows, *, rates: bool) -> None:
    """Marks the export, and with ``rates`` the patterns too, as out of date; those that people told are put in."""
    connection.execute("DELETE FROM meta WHERE key = 'export'")
    if rates:
        connection.execute("DELETE FROM meta WHERE key = 'patterns'")
        _put_in(connection, told)


def count_patterns(connection: sqlite3.Connection, patterns: Callable[[], Rows] | None, *, changed: bool) -> int:
    """Has the patterns counted when they may have changed; returns how many are new."""
    counted = connection.execute("SELECT 1 FROM meta WHERE key = 'patterns'").fetchone()
    if not patterns or (counted and not changed):
        return 0
    rows = patterns()
    before = {name for (name,) in connection.execute("SELECT id FROM pattern")}
    connection.execute("DELETE FROM pattern")
    _put_in(connection, rows)
    connection.execute("INSERT OR REPLACE INTO meta VALUES ('patterns', 'counted')")
    return sum(each["id"] not in before for each in rows)


def write_export(connection: sqlite3.Connection, path: Path, *, changed: bool) -> None:
    """Writes the export when there is something new, or when it is not the file that was written last.

    Raises:
        WriteFailed: It cannot be written.
    """
    if changed or not export_is_current(connection, path):
        data = export_bytes(connection)
        if not path.is_file() or path.read_bytes() != data:
            write_atomically(path, data)
        connection.execute("INSERT OR REPLACE INTO meta VALUES ('export', ?)", (_mark(path),))


def export_is_current(connection: sqlite3.Connection, path: Path) -> bool:
    """Whether the export is the file that was written last, going by its size and time."""
    found = connection.execute("SELECT value FROM meta WHERE key = 'export'").fetchone()
    return bool(found) and found[0] == _mark(path)


def _put_in(connection: sqlite3.Connection, rows: Rows) -> None:
    connection.executemany(
        "INSERT OR REPLACE INTO pattern VALUES (?, ?)", ((each["id"], msgspec.json.encode(each)) for each in rows)
    )


def _mark(path: Path) -> str:
    try:
        stat = path.stat()
    except OSError:
        return ""
    return f"{stat.st_size} {stat.st_mtime_ns}"
