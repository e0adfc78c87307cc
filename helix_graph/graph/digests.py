"""What comparisons of sessions read of each episode, from graph.db where that is up to date.

A comparison looks at every session there is. Decoding ten thousand episodes takes seconds; their digests take a tenth
of one. So `compile` keeps a digest of each, and this module says which of them still hold: those of files that have not
changed and that nobody has corrected since. The others are named, to be read from their files. The answer is the same
either way; only the time differs.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from helix_graph.graph.observations import digests_but_of
from helix_graph.graph.planning import Job, make_plan
from helix_graph.graph.sources import scan

if TYPE_CHECKING:
    import sqlite3


class Digests(msgspec.Struct, frozen=True, kw_only=True):
    """The digests that hold, and the files whose episodes have to be read."""

    kept: tuple[bytes, ...]
    to_read: tuple[Path, ...]


def find_digests(connection: sqlite3.Connection, *, episodes: Path, causality: Path, version: str) -> Digests:
    """The digests made by this ``version`` of their maker."""
    made_by = connection.execute("SELECT value FROM meta WHERE key = 'observations'").fetchone()
    if made_by != (version,):
        return nothing_kept(episodes)
    plan = make_plan(connection, Job(episodes, causality, [], "", dry_run=True, progress=None, patterns=None))
    spoilt = {name for name, seen in plan.known.items() if seen.episode is None and name in plan.present}
    to_read = sorted(spoilt.union(plan.suspects))
    kept = digests_but_of(connection, [*to_read, *plan.gone])
    return Digests(kept=tuple(kept), to_read=tuple(episodes / name for name in to_read))


def nothing_kept(episodes: Path) -> Digests:
    """Every file has to be read."""
    return Digests(kept=(), to_read=tuple(episodes / name for name in sorted(scan(episodes))))
