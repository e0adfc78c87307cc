"""Which patterns are worth reading: rows that say something, each once, the best supported first.

Every row stays in the JSON and in the library. A reader gets those that claim no more than their counts show:

- rows of sessions' outcomes only where sessions could be compared;
- of an answer to an error one measure, the closer one, and not the row of its check that counts the same;
- no single use, nothing that only runs the check that failed, nothing that silences a check.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING

import msgspec

from helix_graph.causality.check_patterns import REPORTED
from helix_graph.graph.patterns import ANTI_PATTERN_OCCURRENCES, RUN_LEVELS, Pattern

if TYPE_CHECKING:
    from helix_graph.graph.observations import Basis

#: Levels of rows that count errors and what was done about them, episode by episode.
_COUNTED_BY_EPISODE = frozenset({"family", "check"})

#: The measures of an answer, the closest to what was done first.
_CLOSEST: tuple[Basis, ...] = ("gone at the next run", "next check passes", "check passes later")
#: From this rate on something works, and up to it something fails.
_WORKS = 0.5


class ReadableRows(msgspec.Struct, frozen=True, kw_only=True):
    """The rows that are shown, and how many are not.

    ``too_early`` counts rows of outcomes that are not compared yet, ``silencing`` those that silence a check,
    ``repeated`` the others.
    """

    rows: tuple[Pattern, ...]
    too_early: int
    silencing: int
    repeated: int


def readable(found: Sequence[Pattern], *, works: bool, tools: Collection[str]) -> ReadableRows:
    """Of these rows those worth reading: what works, or else what fails.

    ``tools`` are the agent's own, whose errors are left out: a tool that works leaves no event, so that a later error
    in another file looks like the answer's failure.
    """
    early = [row for row in found if row.level not in _COUNTED_BY_EPISODE | RUN_LEVELS and row.standing in _UNCOMPARED]
    silencing = [row for row in found if row.action.endswith("suppress a check")]
    dropped = {id(row) for row in (*early, *silencing)}
    left = [row for row in found if id(row) not in dropped and _check_of(row) not in {*tools, REPORTED}]
    chosen = [row for row in _once(left) if _says_something(row) and (_works(row) if works else not _works(row))]
    chosen.sort(
        key=lambda row: (-_bound(row, low=True) if works else _bound(row, low=False), -row.occurrences, row.name)
    )
    return ReadableRows(
        rows=tuple(
            msgspec.structs.replace(row, standing="counted")
            if row.level in _COUNTED_BY_EPISODE and row.standing in _UNCOMPARED
            else row
            for row in chosen
        ),
        too_early=len(early),
        silencing=len(silencing),
        repeated=len(left) - len(chosen),
    )


_UNCOMPARED = frozenset({"too early", "not compared"})


def _says_something(row: Pattern) -> bool:
    checks_again = row.level in _COUNTED_BY_EPISODE and row.action == f"run {_check_of(row)}"
    return (row.occurrences >= ANTI_PATTERN_OCCURRENCES or row.successes is None) and not checks_again


def _works(row: Pattern) -> bool:
    if row.standing in {"failed more", "passed more"}:
        return row.standing == "passed more"
    if row.effect is not None:
        return not row.effect.hurts
    # Everything else that was done there may work far more often.
    outdone = (
        min(row.occurrences, row.base_n) >= _COMPARED_FROM
        and row.base_rate is not None
        and row.base_rate - row.success_rate >= _FAR
    )
    return row.level != "command" and row.success_rate > _WORKS and not outdone


#: So many uses on either side, and rates so far apart, make one answer poorer than the others.
_COMPARED_FROM, _FAR = 3, 0.25


def _once(rows: Sequence[Pattern]) -> Iterator[Pattern]:
    """One row for what is counted twice: by runs and by episodes, by two measures, by the error and by its check."""
    by_runs = {_check_of(row) for row in rows if row.level == "answer"}
    known: set[tuple[str, ...]] = set()
    rank: dict[str, int] = {basis: place for place, basis in enumerate(_CLOSEST)}
    for row in sorted(rows, key=lambda row: (row.level == "check", rank.get(row.basis, 0))):
        check = _check_of(row)
        if row.level not in _COUNTED_BY_EPISODE:
            yield row
        elif check not in by_runs and not known & {(row.trigger, row.action), (row.level, check, row.action)}:
            # What the row of an error counts, the row of its check counts again.
            known |= {(row.trigger, row.action), ("check", check, row.action)}
            yield row


def _check_of(row: Pattern) -> str:
    return row.trigger.partition(" fails")[0]


def _bound(row: Pattern, *, low: bool) -> float:
    """An end of what is known of a row's rate."""
    return (row.interval.low if low else row.interval.high) if row.interval else row.success_rate
