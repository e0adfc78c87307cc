"""The files that the graph is made from: which there are, whether they changed, what is in them.

A file is known by its name, its size and the time of its last change, and in the end by the hash of its content. What
is in it is either an episode's facts or a problem, never an exception: one spoilt file hides no other.
"""

from __future__ import annotations

import hashlib
import os
import time
from abc import abstractmethod
from contextlib import suppress
from typing import TYPE_CHECKING, Protocol

import msgspec

from helix_episodes.errors import InvalidEpisode
from helix_episodes.files import read_regular
from helix_episodes.model import Episode
from helix_graph.database import ANY_OF, as_list
from helix_graph.graph.asserted import Named, as_corrected, facts_with
from helix_graph.graph.model import EpisodeFacts
from helix_graph.graph.observations import Observed

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Sequence
    from pathlib import Path

PREFIX, SUFFIX = "episode-", ".json"
#: A file changed this shortly before it was looked at may change again within the same tick of the file system's clock
#: (10 ms on Linux), unseen; such a file is hashed again next time.
_TICK_NS = 50_000_000


class Stamp(msgspec.Struct, frozen=True, gc=False):
    """What tells that a file is the same without opening it; ``mtime_ns`` is 0 when it can't be relied on.

    There are ten thousands of these, and none can be part of a ring, so the collector need not look at them.
    """

    size: int
    mtime_ns: int


class Seen(msgspec.Struct, frozen=True, gc=False):
    """What graph.db remembers of a file."""

    stamp: Stamp
    sha256: bytes
    episode: int | None
    problem: str | None


class _Stamped(Protocol):
    @property
    @abstractmethod
    def stamp(self) -> Stamp:
        """The stamp at the time it was seen."""


class Read(msgspec.Struct, frozen=True):
    """A file that was read: its facts and what was observed in it, or what is wrong with it."""

    stamp: Stamp
    sha256: bytes
    facts: EpisodeFacts | None
    problem: str | None
    observed: Observed | None = None


def scan(folder: Path, *, only: Sequence[str] | None = None) -> dict[str, Stamp]:
    """The episode files of a folder, by name; with ``only`` those of these names, without a look at the others."""
    stamps: dict[str, Stamp] = {}
    if only is not None:
        for name in only:
            with suppress(FileNotFoundError):
                stamps[name] = stamp_of(folder / name)
    elif folder.is_dir():
        settled = time.time_ns() - _TICK_NS  # whatever changes from here on is later than that
        with os.scandir(folder) as entries:
            for entry in entries:
                name = entry.name
                if name.startswith(PREFIX) and name.endswith(SUFFIX):
                    try:
                        stamps[name] = _stamp(entry.stat(follow_symlinks=False), settled)
                    except FileNotFoundError:  # deleted since the folder was listed
                        continue
    return stamps


def stamp_of(entry: os.DirEntry[str] | Path) -> Stamp:
    """The stamp of a file as it is now."""
    return _stamp(entry.stat(follow_symlinks=False), time.time_ns() - _TICK_NS)


def _stamp(stat: os.stat_result, settled: int) -> Stamp:
    changed = stat.st_mtime_ns
    return Stamp(stat.st_size, changed if changed < settled else 0)


def known_files(connection: sqlite3.Connection, *, only: Sequence[str] | None = None) -> dict[str, Seen]:
    """What graph.db remembers of the files it was made from, by name; with ``only`` of those of these names."""
    where, values = ("", ()) if only is None else (f" WHERE name {ANY_OF}", (as_list(only),))
    return {
        name: Seen(Stamp(size, mtime), sha256, episode, problem)
        for name, size, mtime, sha256, episode, problem in connection.execute(f"SELECT * FROM file{where}", values)  # noqa: S608  (a constant)
    }


def differs(stamp: Stamp, seen: _Stamped | None) -> bool:
    """Whether a file has to be looked into."""
    return seen is None or not stamp.mtime_ns or stamp != seen.stamp


def count_pending(connection: sqlite3.Connection, folder: Path) -> int:
    """How many files are new, changed or gone since the last compile."""
    present, known = scan(folder), known_files(connection)
    changed = [name for name, stamp in present.items() if differs(stamp, known.get(name))]
    return sum(not _is_same(folder / name, known.get(name)) for name in changed) + len(known.keys() - present.keys())


def _is_same(path: Path, seen: Seen | None) -> bool:
    """Whether a file that may have changed holds what it held."""
    return seen is not None and digest_of(path) == seen.sha256


def digest_of(path: Path) -> bytes:
    """The hash that graph.db remembers of a file: of its content; empty for one that cannot be read."""
    try:
        return hashlib.sha256(read_regular(path)).digest()
    except OSError:
        return b""


def read_source(
    path: Path,
    stamp: Stamp,
    assertions: Callable[[str], Sequence[Named]] = lambda _: (),
    observe: Callable[[Episode], Observed] | None = None,
) -> Read | None:
    """A file's facts and observations, or what is wrong with it; never raises for what a file may contain.

    ``None`` when it has been deleted since the folder was listed. ``assertions`` gives what people have said about the
    episode of an id; ``observe`` makes the observations.
    """
    try:
        data = read_regular(path)
    except FileNotFoundError:
        return None
    except OSError as error:
        return Read(Stamp(0, 0), b"", None, f"cannot be read: {error.strerror or error}")
    digest = hashlib.sha256(data).digest()
    try:
        extracted = decode_episode(data, path)
    except InvalidEpisode as error:
        return Read(stamp, digest, None, error.problem)
    told = assertions(extracted.id)
    episode = as_corrected(extracted, told)
    facts = facts_with(episode, told, extracted=extracted)
    return Read(stamp, digest, facts, None, observe(episode) if observe else None)


def decode_episode(data: bytes, path: Path) -> Episode:
    """The episode in a file, which has to bear its id as its name: a copy under another name is no second session.

    Raises:
        InvalidEpisode: It does not fit the schema, or bears another id than its file.
    """
    try:
        episode = msgspec.json.decode(data, type=Episode)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise InvalidEpisode(path=path, problem=str(error)) from error
    if episode.id != path.stem:
        raise InvalidEpisode(path=path, problem=f"its id is {episode.id!r}, which belongs in {episode.id}{SUFFIX}")
    return episode
