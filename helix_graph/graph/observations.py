"""Observations in graph.db: what patterns are counted from, kept by episode and found by situation.

An *observation* says that in one episode something was done in a situation, and whether it worked. What makes one is
`helix_graph.causality.tables`' business; this module keeps them beside the facts of their episode, takes them out with
it, and notes which situations that has changed. Only those have to be counted again: a pattern is compared with the
other answers to its own situation and with nothing else.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, Protocol

import msgspec

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Iterator

    from helix_episodes.model import Episode
    from helix_graph.graph.asserted_patterns import AssertedPattern

#: How closely a trigger names the situation: the kind of error, the check that failed, or only the kind of task.
Level = Literal["family", "check", "task"]
#: By what success is told.
Basis = Literal["check passes later", "next check passes", "gone at the next run", "outcome"]
Row = dict[str, Any]


class Observation(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One episode's first use of an action in answer to a trigger. ``success`` is ``None`` when it was not measured."""

    trigger: str
    level: Level
    action: str
    basis: Basis
    success: bool | None
    episode: str
    decision: str
    timestamp: str | None


class Observed(msgspec.Struct, frozen=True):
    """What was observed in one episode, and its ``digest``: all that comparisons of sessions read of it.

    The form of the digest is its maker's business.
    """

    observations: Sequence[Observation] = ()
    digest: bytes = b""


class PatternCounter(Protocol):
    """Who makes observations of episodes and patterns of observations; `helix_graph.causality.patterns` does.

    ``version`` changes when the same episode gives other observations than before.
    """

    version: str

    @abstractmethod
    def observe(self, episode: Episode) -> Observed:
        """The observations and the digest of one episode."""

    @abstractmethod
    def count(self, observations: Iterable[Observation]) -> Sequence[Row]:
        """The patterns in all observations of some situations, as rows with an ``id``."""

    @abstractmethod
    def told(self, asserted: Iterable[AssertedPattern]) -> Sequence[Row]:
        """The patterns that people have added, as rows with an ``id``."""


#: The numbers of situations already met in a transaction; all of them have changed by it.
Situations = dict[tuple[str, str, str], int]


def put_in(connection: sqlite3.Connection, episode: int, observed: Observed, situations: Situations) -> None:
    """Keeps the observations of an episode, in their order, and its digest."""
    rows = [
        (_situation(connection, one, situations), episode, place, one.action, one.decision, one.success, one.timestamp)
        for place, one in enumerate(observed.observations)
    ]
    connection.execute("INSERT INTO digest VALUES (?, ?)", (episode, observed.digest))
    connection.executemany("INSERT INTO observation VALUES (?, ?, ?, ?, ?, ?, ?)", rows)


def _situation(connection: sqlite3.Connection, one: Observation, situations: Situations) -> int:
    key = (one.trigger, one.level, one.basis)
    if key not in situations:
        connection.execute(
            "INSERT INTO situation (trigger, level, basis) VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET changed = TRUE",
            key,
        )
        (situations[key],) = connection.execute(
            "SELECT number FROM situation WHERE trigger = ? AND level = ? AND basis = ?", key
        ).fetchone()
    return situations[key]


def take_out(connection: sqlite3.Connection, episode: int) -> None:
    """Deletes the observations of an episode."""
    connection.execute(
        "UPDATE situation SET changed = TRUE WHERE number IN (SELECT situation FROM observation WHERE episode = ?)",
        (episode,),
    )
    connection.execute("DELETE FROM observation WHERE episode = ?", (episode,))
    connection.execute("DELETE FROM digest WHERE episode = ?", (episode,))


def digests_but_of(connection: sqlite3.Connection, names: Iterable[str]) -> list[bytes]:
    """The digests of all episodes that have a file, but for the files of these names."""
    left_out = set(names)
    rows = connection.execute("SELECT name, body FROM digest JOIN file USING (episode)")
    return [body for name, body in rows if name not in left_out]


def changed_situations(connection: sqlite3.Connection) -> Iterator[tuple[int, list[Observation]]]:
    """The situations that have changed since they were last counted, with all their observations, perhaps none."""
    changed = connection.execute("SELECT number, trigger, level, basis FROM situation WHERE changed ORDER BY number")
    for number, trigger, level, basis in changed.fetchall():
        rows = connection.execute(
            "SELECT action, success, id, decision, o.timestamp FROM observation o JOIN episode ON number = episode"
            " WHERE situation = ? ORDER BY episode, place",
            (number,),
        )
        yield (
            number,
            [
                Observation(
                    trigger=trigger,
                    level=level,
                    action=action,
                    basis=basis,
                    success=None if success is None else bool(success),
                    episode=episode,
                    decision=decision,
                    timestamp=timestamp,
                )
                for action, success, episode, decision, timestamp in rows
            ],
        )


def all_counted(connection: sqlite3.Connection) -> None:
    """Notes that every situation has been counted; those in which nothing was observed are gone."""
    connection.execute("UPDATE situation SET changed = FALSE WHERE changed")
    connection.execute(
        "DELETE FROM situation WHERE NOT EXISTS (SELECT 1 FROM observation WHERE situation = situation.number)"
    )
