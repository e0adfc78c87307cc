"""Topics whose clock stands where a test puts it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from helix_graph.topics.api import Topics

if TYPE_CHECKING:
    from pathlib import Path

#: The day of the seed document's examples.
NOW = datetime(2026, 2, 21, 6, 11, tzinfo=UTC)


class Clock:
    """A clock that is moved by hand."""

    def __init__(self) -> None:
        self.now = NOW

    def __call__(self) -> datetime:
        """What it shows."""
        return self.now

    def back(self, **ago: float) -> None:
        """Puts it so long before `NOW`; without arguments to `NOW`."""
        self.now = NOW - timedelta(**ago)


def topics_at(folder: Path, clock: Clock | None = None) -> Topics:
    """The topics of a new memory in a folder, in which sources are looked up as well."""
    return Topics(folder / "helix.db", folders=(folder,), clock=clock or Clock())
