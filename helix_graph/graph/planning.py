"""What a compile has been asked to do, and what there is to do: which files to look into, and which are gone.

Nothing is read here but names, sizes and times. Whoever names files, or a time since which episodes count, wants these
taken in and nothing else taken out; so a file can only be called gone when all were looked for.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from helix_graph.errors import OutsideMemory
from helix_graph.graph.assertion_sources import AssertionPlan, plan_assertions
from helix_graph.graph.assertions import FOLDER as ASSERTIONS
from helix_graph.graph.observations import PatternCounter
from helix_graph.graph.sources import SUFFIX, Seen, Stamp, differs, known_files, scan

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable

Progress = Callable[[int, int, Path], None]


class Job(msgspec.Struct, frozen=True):
    """The arguments of a compile; ``damage`` is what was wrong with the file that stood there before."""

    episodes: Path
    causality: Path
    chosen: list[Path]
    since: str
    dry_run: bool
    progress: Progress | None
    patterns: PatternCounter | None
    assertions_only: bool = False
    damage: str | None = None

    @property
    def whole(self) -> bool:
        """Whether everything is looked at, so that what is not there can be called gone."""
        return not (self.since or self.chosen or self.assertions_only)

    def for_everything(self) -> Job:
        """A graph that is built anew needs all files, whichever were asked for."""
        return msgspec.structs.replace(self, chosen=[], since="", assertions_only=False)


class Plan(msgspec.Struct, frozen=True):
    """Which files to look into, which are gone, and what is known of all; which assertions there are to take in.

    ``again`` are the episodes' files that are folded anew though they have not changed: people have corrected them.
    """

    folder: Path
    present: dict[str, Stamp]
    known: dict[str, Seen]
    suspects: list[str]
    gone: list[str]
    asserted: AssertionPlan
    again: frozenset[str]
    since: str = ""

    def __bool__(self) -> bool:
        """Whether there is anything to look into or to take out."""
        return bool(self.suspects or self.gone or self.asserted)


def chosen_paths(folder: Path, paths: Iterable[Path]) -> list[Path]:
    """The paths asked for, made absolute.

    Raises:
        OutsideMemory: One of them is not in the folder.
    """
    root = folder.resolve()
    chosen = [path.resolve() for path in paths]
    for path in chosen:
        if root not in {path, path.parent}:
            raise OutsideMemory(path=path, folder=folder)
    return chosen


def make_plan(connection: sqlite3.Connection, job: Job) -> Plan:
    """Compares the files with what graph.db remembers of them."""
    asserted = _plan_assertions(connection, job)
    only = [unit + SUFFIX for unit in sorted(asserted.units)] if job.assertions_only else None
    present, known = scan(job.episodes, only=only), known_files(connection, only=only)
    wanted = _wanted(job)
    suspects = {name for name, stamp in present.items() if wanted(name) and differs(stamp, known.get(name))}
    again = {name for unit in asserted.units if (name := unit + SUFFIX) in present}
    gone = [] if job.since else [name for name in known if name not in present and wanted(name)]
    return Plan(
        folder=job.episodes,
        present=present,
        known=known,
        suspects=sorted(suspects | again),
        gone=sorted(gone),
        asserted=asserted,
        again=frozenset(again),
        since=job.since,
    )


def _plan_assertions(connection: sqlite3.Connection, job: Job) -> AssertionPlan:
    """Which assertions to take in: none when only some of the episodes were asked for."""
    folder = job.causality / ASSERTIONS
    if job.whole or job.assertions_only:
        return plan_assertions(connection, folder)
    return AssertionPlan(folder=folder, changes={}, gone=(), units=frozenset(), rates=False)


def _wanted(job: Job) -> Callable[[str], bool]:
    if job.assertions_only:
        return lambda _: False
    root = job.episodes.resolve()
    if not job.chosen or root in job.chosen:
        return lambda _: True
    names = {path.name for path in job.chosen}
    return names.__contains__
