"""Check helix.db for damaged pages and records.

A damaged record cannot be restored, since nothing else contains it: it is moved to quarantine, and the rest is whole
again.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from helix_graph.doctor.model import fixable
from helix_graph.errors import MemoryDamaged
from helix_graph.quarantine import quarantine_copy

if TYPE_CHECKING:
    from pathlib import Path

    from helix_graph.doctor.model import FixableFinding
    from helix_graph.topics.api import Topics
    from helix_graph.topics.model import Damaged


_FOLDER = "topics"


def check_topics(root: Path, topics: Topics) -> list[FixableFinding]:
    """One for each damaged record, or one for the file when more than records is damaged."""
    name = topics.database.path.name
    try:
        damaged = topics.damaged()
    except MemoryDamaged as error:
        return [fixable("damaged database", name, error.problem, "put back a copy of it; nothing else holds it")]

    def keep(number: int, body: bytes) -> None:
        quarantine_copy(root, root / _FOLDER / f"record-{number}.json", body)

    @cache  # one turn sets all of them aside
    def mend() -> None:
        topics.set_damaged_aside(keep)

    remedy = "store it again from what was set aside; doctor --fix sets the record aside, the others stay"
    return [fixable("damaged record", name, _problem(one), remedy, mend=mend) for one in damaged]


def _problem(one: Damaged) -> str:
    if one.topic is None:
        return f"{one.problem}; the index has no entry for it"
    return f"{one.problem}: topic {one.topic}, index {one.index}, entry {one.entry}"
