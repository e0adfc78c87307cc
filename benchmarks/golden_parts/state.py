"""What a folder holds after commands have written in it: texts as they are, databases row by row."""

from __future__ import annotations

import sqlite3
from hashlib import sha256
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

#: Of these only the tables and how many rows they have: the rest stands in the file that is made of them.
_DERIVED = {"graph.db"}
_LARGE = 1_000_000
#: These hold hashes with times in them: how many lines is what counts.
_HASHES = ".given"
_DATABASE = b"SQLite format 3\x00"
#: Companions of databases: there or not, as the last writer left it.
_COMPANIONS = ("-wal", "-shm", "-journal")


def files_of(folder: Path) -> Iterator[tuple[str, str]]:
    """Every file below a folder, without the insides of ``.git``."""
    for path in sorted(folder.rglob("*")):
        parts = path.relative_to(folder).parts
        if path.is_file() and ".git" not in parts and not path.name.endswith(_COMPANIONS):
            yield "/".join(parts), _content(path)


def _content(path: Path) -> str:
    with path.open("rb") as file:
        begin = file.read(len(_DATABASE))
    if begin == _DATABASE:
        return "\n".join(_rows(path))
    content = path.read_bytes()
    if path.suffix == _HASHES:
        return f"{content.count(bytes([10]))} lines"
    try:
        return content.decode()
    except UnicodeDecodeError:
        return f"{len(content)} bytes, sha256 {sha256(content).hexdigest()}"


def _rows(path: Path) -> Iterator[str]:
    """The tables of a database and their rows; of tables that SQLite keeps for an index, the definition only."""
    database = sqlite3.connect(path)
    try:
        tables = database.execute("select name, sql from sqlite_master order by type, name").fetchall()
        names = [name for name, sql in tables if sql and sql.lower().startswith("create table")]
        virtual = [name for name, sql in tables if sql and sql.lower().startswith("create virtual")]
        yield from (str(sql) for _, sql in tables if sql)
        for name in names:
            if not any(name.startswith(f"{one}_") for one in virtual):
                found = database.execute(f'select * from "{name}"').fetchall()  # noqa: S608  (names of its own tables)
                yield f"-- {name}: {len(found)} rows"
                if path.name not in _DERIVED:
                    yield from sorted(_row(row) for row in found)
    finally:
        database.close()


def _row(row: tuple[object, ...]) -> str:
    """A row; of one that holds bytes, which may have a time in them, only how long these are, and no check sum."""
    if any(isinstance(value, bytes) for value in row):
        row = tuple(f"blob {len(value)}" if isinstance(value, bytes) else _small(value) for value in row)
    return repr(row)


def _small(value: object) -> object:
    return "number" if isinstance(value, int) and value > _LARGE else value
