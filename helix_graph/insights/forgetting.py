"""Removing insights for good: the rows, what links to them, and their names in the logs.

The uid of what was removed stays, so that an import can't bring it back; it is a hash. Storing the same text again is
another insight.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from helix_graph.database import ANY_OF, as_list
from helix_graph.insights import log, rows

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Sequence

    from helix_graph.insights.model import Kept

#: What stands where the name of a removed insight stood: a name is the beginning of a text.
FORGOTTEN = "(forgotten)"


def drop(connection: sqlite3.Connection, kept: Sequence[Kept], *, at: str) -> None:
    """Removes insights and what was merged into them, within the transaction under way."""
    uids = sorted({uid for one in kept for uid in rows.own_uids(connection, one.insight.uid)})
    bury(connection, dict.fromkeys(uids, at))


def bury(connection: sqlite3.Connection, uids: dict[str, str]) -> None:
    """Removes all there is of these uids, which were forgotten at their dates, and remembers that they were."""
    connection.executemany(
        "INSERT INTO insight_forgotten VALUES (?, ?) ON CONFLICT (uid) DO UPDATE SET ts = min(ts, excluded.ts)",
        sorted(uids.items()),
    )
    remove(connection, uids)


def remove(connection: sqlite3.Connection, uids: Iterable[str]) -> None:
    """Removes all there is of these uids, and remembers nothing: they may come again."""
    forgotten = set(uids)
    wanted = as_list(forgotten)
    gone = list(rows.where(connection, f"uid {ANY_OF}", wanted))
    rows.delete(connection, [kept.number for kept in gone])
    connection.execute(f"DELETE FROM insight_link WHERE insight {ANY_OF} OR target {ANY_OF}", (wanted, wanted))  # noqa: S608  (constants)
    _silence(connection, forgotten, {kept.name for kept in gone})


def _silence(connection: sqlite3.Connection, forgotten: set[str], names: set[str]) -> None:
    """Takes the names out of both logs: of entries that speak of these uids, and of what was shown."""
    for entry in log.entries_of(connection, forgotten):
        told = {verdict.name for verdict in entry.verdicts if verdict.uid in forgotten}
        names |= told
        verdicts = tuple(verdict for verdict in entry.verdicts if verdict.uid not in forgotten)
        log.write(connection, replace(entry, names=_without(entry.names, told), verdicts=verdicts))
    for injection in list(log.injections(connection)) if names else ():
        named = names & {*injection.shown, *(one.name for one in injection.withheld)}
        if named:
            withheld = tuple(one for one in injection.withheld if one.name not in named)
            chances = {name: chance for name, chance in injection.chances.items() if name not in named}
            log.write_injection(
                connection,
                replace(injection, shown=_without(injection.shown, named), withheld=withheld, chances=chances),
            )


def _without(names: tuple[str, ...], gone: set[str]) -> tuple[str, ...]:
    return tuple(FORGOTTEN if name in gone else name for name in names)
