"""Outcomes that later sessions revise, as assertions' files, so that whatever reads episodes applies them.

graph.db has of each episode what may matter to another (`helix_episodes.later_evidence`). Failures at the start of a
session are compared with the session before it in the project that worked; only where there are such failures are the
two read. Reverts are compared with all commits, where there is one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from helix_episodes.later_evidence import EpisodeSignals, contradiction, revert_revisions
from helix_episodes.safe_files import remove_file
from helix_graph.graph.assertions import ASSERTION_SUFFIX, AssertionStore, name_of

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator
    from pathlib import Path

    from helix_episodes.corrections import OutcomeRevision


def revise(connection: sqlite3.Connection, folder: Path) -> bool:
    """Writes and removes revisions until they are those that the episodes give; says whether any file changed."""
    wanted = {name_of(one): one for one in _revisions(connection)}
    known = (
        "SELECT name FROM assertion WHERE problem IS NULL AND json_extract(CAST(body AS TEXT), '$.kind') = 'revision'"
    )
    there = {name for (name,) in connection.execute(known)}
    store = AssertionStore(folder)
    for name in sorted(wanted.keys() - there):
        store.add(wanted[name])
    for name in sorted(there - wanted.keys()):
        remove_file(folder / f"{name}{ASSERTION_SUFFIX}")
    return wanted.keys() != there


def _revisions(connection: sqlite3.Connection) -> Iterator[OutcomeRevision]:
    pairs = connection.execute(
        "SELECT one.body, later.body FROM ("
        " SELECT episode, early, lag(episode) OVER (PARTITION BY project ORDER BY begin, session) AS before"
        " FROM telling WHERE worked AND project IS NOT NULL) AS pair"
        " JOIN telling one ON one.episode = pair.before JOIN telling later ON later.episode = pair.episode"
        " WHERE pair.early AND one.body IS NOT NULL ORDER BY pair.episode"
    )
    decoder = msgspec.msgpack.Decoder(EpisodeSignals)
    for one, later in pairs:
        if found := contradiction(decoder.decode(one), decoder.decode(later)):
            yield found
    if connection.execute("SELECT 1 FROM telling WHERE commits AND reverts LIMIT 1").fetchone():
        bodies = connection.execute("SELECT body FROM telling WHERE commits ORDER BY begin, session")
        yield from revert_revisions([decoder.decode(body) for (body,) in bodies])
