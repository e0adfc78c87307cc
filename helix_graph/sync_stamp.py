"""Until when has the memory read every log of its project, and is any log on this machine newer?

The stamp names the places where agents keep their logs, so that a question finds out with a few calls of ``stat``,
without the code that reads logs. Whose a newer log is, `helix_graph.agent_logs` says.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated

import msgspec

from helix_episodes.msgspec_types import read_json
from helix_episodes.safe_files import write_atomically

#: Within the memory; derived, so a damaged one counts as none.
STAMP = "cache/logs-read.json"
#: A log that was written to within so many seconds belongs to a session that is still running.
RUNNING = 60.0


class LogPlace(msgspec.Struct, frozen=True, kw_only=True):
    """The folder of one agent, and the patterns of its logs below it."""

    root: str
    patterns: tuple[str, ...]


class SyncStamp(msgspec.Struct, frozen=True, kw_only=True):
    """``at`` is a time in seconds since 1970; all of the project's logs last written before it have been read."""

    at: float
    places: tuple[LogPlace, ...]


class SyncSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The table ``[sync]`` of the user's configuration: whether questions read new logs first, and for how long.

    ``workers`` is the number of processes that a command may use where there is much to read; None: one for each core.
    """

    auto_sync: bool = False
    seconds: float = 5.0
    workers: Annotated[int, msgspec.Meta(ge=1)] | None = None


class CaughtUp(msgspec.Struct, frozen=True, kw_only=True):
    """How many logs were read before a question, and how many are left."""

    read: int
    left: int


def write_stamp(memory: Path, *, at: float, places: Sequence[LogPlace]) -> None:
    """Records that all of the project's logs that were last written before ``at`` have been read."""
    write_atomically(memory / STAMP, msgspec.json.encode(SyncStamp(at=at, places=tuple(places))))


def read_stamp(memory: Path) -> SyncStamp | None:
    """The stamp, or None when the memory has never read all logs of its project."""
    return read_json(memory / STAMP, SyncStamp)


def finished_since(stamp: SyncStamp, *, now: float | None = None) -> Iterator[Path]:
    """The logs of any project that were written after the stamp and whose sessions are not running.

    A stamp that is ahead of now was written by a clock that was wrong, and says nothing: then that is all logs.
    """
    now = time.time() if now is None else now
    since, latest = 0.0 if stamp.at > now else stamp.at, now - RUNNING
    for place in stamp.places:
        root = Path(place.root)
        for path in {path for pattern in place.patterns for path in root.glob(pattern)}:
            try:
                written = path.stat().st_mtime
            except OSError:  # removed since the folder was listed
                continue
            if since <= written <= latest:
                yield path
