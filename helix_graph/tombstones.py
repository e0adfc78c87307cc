"""Tombstones: that a session was forgotten is remembered, and nothing else of it.

Without them the next walk through the folder of logs would bring a forgotten session back. A tombstone is a file in
``forgotten/`` whose name is a hash of the session's id; in it stand hashes of the ids of its steps, because the log of
a session that was resumed begins with a copy of the earlier one. Whoever knows an id can find out that it was
forgotten; nobody can read from a tombstone what it was.

Until a search has proved that nothing of the session remains, its tombstone also has the fingerprints of what it said
(`helix_graph.fingerprints`): a search that was cut short is taken up again by the next one, whole.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import msgspec

from helix_episodes.files import read_regular, write_atomically
from helix_graph.fingerprints import Fingerprint

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

FOLDER = "forgotten"
#: Two sessions with the same hash would be forgotten together; 128 bits rule that out.
_DIGEST_BYTES = 16


class Unproved(msgspec.Struct, frozen=True, kw_only=True):
    """What has to be searched for, by fingerprints. ``too_short`` texts are not."""

    texts: tuple[Fingerprint, ...] = ()
    too_short: int = 0


class Tombstone(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What stands in a tombstone's file: hashes of the ids of the session's steps, and what is still to be proved."""

    steps: tuple[str, ...] = ()
    unproved: Unproved | None = None


def digest(name: str) -> str:
    """The hash under which a session or a step is remembered as forgotten.

    >>> digest("session-1") == digest("session-1") != digest("session-2")
    True
    """
    data = name.encode("utf-8", "replace")
    return hashlib.blake2b(data, digest_size=_DIGEST_BYTES, person=b"helix-forget").hexdigest()


class Tombstones:
    """Those of one memory. ``root`` is its ``.helix`` folder."""

    def __init__(self, root: Path) -> None:
        self.folder = root / FOLDER

    def path_of(self, session: str) -> Path:
        """Where the session's tombstone is or would be."""
        return self.folder / f"{digest(session)}.json"

    def holds(self, session: str) -> bool:
        """Whether the session was forgotten."""
        return self.path_of(session).is_file()

    def bury(self, session: str, *, steps: Iterable[str], unproved: Unproved) -> None:
        """Remembers that the session was forgotten, the ids of its steps, and what is to be searched for.

        What an earlier attempt has remembered stays: it may have seen more of the session.

        Raises:
            WriteFailed: The disk is full or the folder read-only.
        """
        path = self.path_of(session)
        old = _read(path) or Tombstone()
        known = {digest(step) for step in steps}
        before = old.unproved or Unproved()
        waiting = Unproved(
            texts=tuple(sorted({*before.texts, *unproved.texts})),
            too_short=max(before.too_short, unproved.too_short),
        )
        stone = Tombstone(steps=tuple(sorted({*old.steps, *known})), unproved=waiting)
        write_atomically(path, msgspec.json.encode(stone))

    def unproved(self) -> dict[str, Unproved]:
        """What is still to be proved of which forgotten sessions, by the hashes of their ids."""
        return {path.stem: stone.unproved for path, stone in self._all() if stone.unproved is not None}

    def settle(self, digests: Iterable[str]) -> None:
        """Drops the fingerprints of these sessions: a search has found nothing of them.

        Raises:
            WriteFailed: The disk is full or the folder read-only.
        """
        for name in digests:
            path = self.folder / f"{name}.json"
            stone = _read(path)
            if stone and stone.unproved is not None:
                write_atomically(path, msgspec.json.encode(Tombstone(steps=stone.steps)))

    def lift(self, session: str) -> None:
        """Lets the session in again."""
        self.path_of(session).unlink(missing_ok=True)

    def steps(self) -> frozenset[str]:
        """The hashes of the steps of all forgotten sessions."""
        return frozenset(step for _, stone in self._all() for step in stone.steps)

    def _all(self) -> Iterator[tuple[Path, Tombstone]]:
        for path in sorted(self.folder.glob("*.json")):
            stone = _read(path)
            if stone:  # the name alone keeps a session out; of a spoilt file the doctor tells
                yield path, stone


def all_of(several: Iterable[Unproved]) -> Unproved:
    """What is to be searched for, of several sessions together."""
    each = list(several)
    texts = {text for one in each for text in one.texts}
    return Unproved(texts=tuple(sorted(texts)), too_short=sum(one.too_short for one in each))


def _read(path: Path) -> Tombstone | None:
    try:
        return msgspec.json.decode(read_regular(path), type=Tombstone)
    except (OSError, msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
