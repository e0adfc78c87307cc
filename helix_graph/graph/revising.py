"""Revising: the assertions that later evidence makes, kept in step with the episodes.

`helix_episodes.later` works out the revisions from what all episodes tell; here each stands as an assertion's file,
like a person's correction, so that everything that reads episodes applies it. Their names follow from their content, so
the same episodes give the same files on every machine. A file whose evidence is gone is removed, whoever removed that.

What an episode tells is kept in graph.db with the size and time of its file, so only files that changed are read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from helix_episodes.corrections import OutcomeRevision
from helix_episodes.errors import InvalidEpisode
from helix_episodes.files import read_regular, remove_file
from helix_episodes.later import revisions
from helix_episodes.later.telling import Telling, telling_of
from helix_graph.graph.assertions import AssertionStore, name_of
from helix_graph.graph.sources import Stamp, decode_episode, differs, scan

if TYPE_CHECKING:
    import sqlite3
    from pathlib import Path


class _Told(msgspec.Struct, frozen=True):
    """The stamp of the file when it was read."""

    stamp: Stamp


def revise(connection: sqlite3.Connection, episodes: Path, assertions: Path) -> bool:
    """Writes and removes revisions until they are those that the episodes give; says whether any file changed.

    Raises:
        WriteFailed: A file could not be written or removed.
    """
    _read_changed(connection, episodes)
    store = AssertionStore(assertions)
    wanted = {name_of(one): one for one in revisions(_tellings(connection))}
    there = {path.stem: path for path, one in store.scan() if isinstance(one, OutcomeRevision)}
    for name in sorted(wanted.keys() - there.keys()):
        store.add(wanted[name])
    for name in sorted(there.keys() - wanted.keys()):
        remove_file(there[name])
    return wanted.keys() != there.keys()


def _read_changed(connection: sqlite3.Connection, folder: Path) -> None:
    """Brings what graph.db keeps up to date with the files."""
    known = {
        name: _Told(Stamp(size, mtime))
        for name, size, mtime in connection.execute("SELECT name, size, mtime_ns FROM telling")
    }
    present = scan(folder)
    connection.executemany("DELETE FROM telling WHERE name = ?", [(name,) for name in known.keys() - present.keys()])
    connection.executemany(
        "INSERT OR REPLACE INTO telling VALUES (?, ?, ?, ?)",
        (
            (name, stamp.size, stamp.mtime_ns, _body(folder / name))
            for name, stamp in present.items()
            if differs(stamp, known.get(name))
        ),
    )


def _body(path: Path) -> bytes | None:
    """What the episode in a file tells; None when it is none, of which compile itself tells."""
    try:
        return msgspec.msgpack.encode(telling_of(decode_episode(read_regular(path), path)))
    except (OSError, InvalidEpisode):
        return None


def _tellings(connection: sqlite3.Connection) -> list[Telling]:
    decoder = msgspec.msgpack.Decoder(Telling)
    rows = connection.execute("SELECT body FROM telling WHERE body IS NOT NULL ORDER BY name")
    return [decoder.decode(body) for (body,) in rows]
