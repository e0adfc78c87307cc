"""Tombstones: that a session was forgotten is remembered, and nothing else of it.

Without them the next walk through the folder of logs would bring a forgotten session back. A tombstone is a file in
``forgotten/`` whose name is a hash of the session's id; in it stand hashes of the ids of its steps, because the log of
a session that was resumed begins with a copy of the earlier one. Whoever knows an id can find out that it was
forgotten; nobody can read from a tombstone what it was.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import msgspec

from helix_episodes.files import write_atomically

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

FOLDER = "forgotten"
#: Two sessions with the same hash would be forgotten together; 128 bits rule that out.
_DIGEST_BYTES = 16


class Tombstone(msgspec.Struct, frozen=True, kw_only=True):
    """What stands in a tombstone's file: hashes of the ids of the session's steps."""

    steps: tuple[str, ...] = ()


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

    def bury(self, session: str, steps: Iterable[str]) -> None:
        """Remembers that the session was forgotten, with the ids of its steps.

        Raises:
            WriteFailed: The disk is full or the folder read-only.
        """
        known = Tombstone(steps=tuple(sorted({digest(step) for step in steps})))
        if known.steps or not self.holds(session):
            write_atomically(self.path_of(session), msgspec.json.encode(known))

    def lift(self, session: str) -> None:
        """Lets the session in again."""
        self.path_of(session).unlink(missing_ok=True)

    def steps(self) -> frozenset[str]:
        """The hashes of the steps of all forgotten sessions."""
        return frozenset(step for stone in self._all() for step in stone.steps)

    def _all(self) -> Iterable[Tombstone]:
        for path in sorted(self.folder.glob("*.json")):
            try:
                yield msgspec.json.decode(path.read_bytes(), type=Tombstone)
            except (OSError, msgspec.DecodeError, UnicodeDecodeError):
                continue  # its name alone keeps the session out; the doctor tells of the rest
