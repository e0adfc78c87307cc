"""What a folder holds after commands have written in it: texts as they are, databases row by row."""

from __future__ import annotations

import sqlite3
from hashlib import sha256
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

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
                yield from sorted(repr(tuple(map(_value, row))) for row in found)
    finally:
        database.close()


def _value(value: object) -> object:
    return f"blob {len(value)} {sha256(value).hexdigest()[:16]}" if isinstance(value, bytes) else value
