"""The log of feedback, which is only ever added to, and the standing that follows from it.

An entry that is the newest moves the standings it speaks of by one step; one that comes late (by import) has them
folded anew. Both come to the same, and `rebuild` folds everything.
"""

from __future__ import annotations

import os
from datetime import timedelta
from typing import TYPE_CHECKING

import msgspec

from helix_graph.database import ANY_OF, as_list
from helix_graph.insights import rows
from helix_graph.insights.clock import stamp
from helix_graph.insights.fold import after, fold
from helix_graph.insights.model import Entry, Injection, Kept, Standing, Verdict, Withheld
from helix_graph.insights.showings import Showing, write_showing

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Iterator
    from datetime import datetime

    from helix_graph.insights.settings import Settings

#: The entries that speak of any of these insights.
SPEAKS = f"id IN (SELECT feedback FROM insight_judged WHERE uid {ANY_OF})"  # noqa: S608  (a constant)
_ENTRY = "id, ts, kind, outcome, names, verdicts, episode, policy, days, standing, injection"


def new_id() -> str:
    """An id that no other entry has, in any memory: 128 bits of chance."""
    return os.urandom(16).hex()


def holds(connection: sqlite3.Connection, identity: str) -> bool:
    """Whether the log has an entry of that id."""
    return connection.execute("SELECT 1 FROM insight_feedback WHERE id = ?", (identity,)).fetchone() is not None


def free_moment(connection: sqlite3.Connection, now: datetime) -> str:
    """``now``, or the first microsecond after it that no entry has: what came one after the other stays so."""
    taken = "SELECT 1 FROM insight_feedback WHERE ts = ?"
    while connection.execute(taken, (stamp(now),)).fetchone():
        now += timedelta(microseconds=1)
    return stamp(now)


def write(connection: sqlite3.Connection, entry: Entry) -> None:
    """Adds an entry, or puts it in the place of the one with its id; standings are as they were."""
    encode = msgspec.json.encode
    connection.execute(
        f"INSERT OR REPLACE INTO insight_feedback ({_ENTRY}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",  # noqa: S608  (a constant)
        (
            entry.id,
            entry.ts,
            entry.kind,
            entry.outcome,
            encode(entry.names).decode(),
            encode(entry.verdicts).decode(),
            entry.episode,
            entry.policy,
            entry.days,
            encode(entry.standing).decode() if entry.standing else None,
            entry.injection,
        ),
    )
    connection.execute("DELETE FROM insight_judged WHERE feedback = ?", (entry.id,))
    judged = [(verdict.uid, entry.id) for verdict in entry.verdicts]
    connection.executemany("INSERT OR IGNORE INTO insight_judged VALUES (?, ?)", judged)


def remove(connection: sqlite3.Connection, identity: str) -> None:
    """Takes out the entry of that id, for one that says less; standings are as they were."""
    connection.execute("DELETE FROM insight_feedback WHERE id = ?", (identity,))
    connection.execute("DELETE FROM insight_judged WHERE feedback = ?", (identity,))


def add(connection: sqlite3.Connection, entry: Entry, *, to: Iterable[Kept], settings: Settings) -> None:
    """Adds an entry and brings the standings of ``to``, of whom it speaks, up to date."""
    late = "SELECT 1 FROM insight_feedback WHERE (ts, id) > (?, ?) LIMIT 1"
    newest = connection.execute(late, (entry.ts, entry.id)).fetchone() is None
    write(connection, entry)
    for kept in to:
        if newest:
            own = rows.own_uids(connection, kept.insight.uid)
            since = kept.insight.created_at
            rows.set_standing(
                connection, kept.number, after(kept.standing, entry, own=own, since=since, settings=settings)
            )
        else:
            refold(connection, kept, settings=settings)


def refold(connection: sqlite3.Connection, kept: Kept, *, settings: Settings) -> None:
    """Folds everything that the log says of one insight."""
    own = rows.own_uids(connection, kept.insight.uid)
    found = entries(connection, f"kind = 'decay' OR {SPEAKS}", as_list(own))
    rows.set_standing(connection, kept.number, fold(kept.insight, found, own=own, settings=settings))


def rebuild(connection: sqlite3.Connection, *, settings: Settings) -> tuple[int, int]:
    """Folds the whole log over every insight; how many insights, and how many of them came out otherwise."""
    speaking: dict[str, list[Entry]] = {}
    decays: list[Entry] = []
    for entry in entries(connection):
        if entry.kind == "decay":
            decays.append(entry)
        for uid in {verdict.uid for verdict in entry.verdicts}:
            speaking.setdefault(uid, []).append(entry)
    count = changed = 0
    for kept in rows.standing_insights(connection):
        own = rows.own_uids(connection, kept.insight.uid)
        heard = {entry.id: entry for uid in own for entry in speaking.get(uid, ())}
        found = sorted((*heard.values(), *decays), key=lambda entry: (entry.ts, entry.id))
        standing = fold(kept.insight, found, own=own, settings=settings)
        if standing != kept.standing:
            rows.set_standing(connection, kept.number, standing)
            changed += 1
        count += 1
    return count, changed


def entries(connection: sqlite3.Connection, condition: str = "1", *values: str) -> Iterator[Entry]:
    """The entries that meet a condition, in their order."""
    query = f"SELECT {_ENTRY} FROM insight_feedback WHERE {condition} ORDER BY ts, id"  # noqa: S608  (constants)
    decode = msgspec.json.decode
    for row in connection.execute(query, values):
        identity, ts, kind, outcome, names, verdicts, episode, policy, days, standing, injection = row
        yield Entry(
            id=identity,
            ts=ts,
            kind=kind,
            outcome=outcome,
            names=decode(names, type=tuple[str, ...]),
            verdicts=decode(verdicts, type=tuple[Verdict, ...]),
            episode=episode,
            policy=policy,
            days=days,
            standing=decode(standing, type=Standing) if standing else None,
            injection=injection,
        )


def entries_of(connection: sqlite3.Connection, uids: Iterable[str]) -> list[Entry]:
    """The entries that speak of any of these insights, in their order."""
    return list(entries(connection, SPEAKS, as_list(uids)))


def write_injection(connection: sqlite3.Connection, injection: Injection) -> None:
    """Adds what was shown to the log of injections, or puts it in the place of the one with its id."""
    write_showing(
        connection,
        Showing(task=injection.task, session=injection.session, about=injection.query, policy=injection.policy),
        identity=injection.id,
        at=injection.ts,
        shown=injection.shown,
        withheld=[(one.name, one.propensity) for one in injection.withheld],
        chances=injection.chances,
    )


def injections(connection: sqlite3.Connection, condition: str = "1", *values: str) -> Iterator[Injection]:
    """What was shown and meets a condition, in order."""
    columns = "id, ts, task, session, query, shown, withheld, policy, chances"
    query = f"SELECT {columns} FROM insight_injection WHERE {condition} ORDER BY ts, id"  # noqa: S608  (constants)
    decode = msgspec.json.decode
    for identity, ts, task, session, asked, shown, withheld, policy, chances in connection.execute(query, values):
        yield Injection(
            id=identity,
            ts=ts,
            task=task,
            session=session,
            query=asked,
            shown=decode(shown, type=tuple[str, ...]),
            withheld=decode(withheld, type=tuple[Withheld, ...]),
            policy=policy,
            chances=decode(chances, type=dict[str, float]),
        )
