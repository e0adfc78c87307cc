"""Removing insights for good, and what insights hold of forgotten sessions.

Removed are the rows, the links to them, and their names in the logs. The uid of a removed insight stays, so that an
import cannot bring it back; it is a hash. Storing the same text again makes another insight.

When sessions are forgotten, an insight that was harvested from these sessions alone is removed with its links; one that
others teach too takes its words from the earliest of those. Links to steps of the sessions go. Exposures and feedback
stay as numbers, since other insights rest on them, but no longer say in which session they were, for what, or by which
words they were explained. What a person wrote or edited stays.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from helix_graph.database import ANY_OF, as_list
from helix_graph.insights import feedback, rows
from helix_graph.insights.harvest import grouped
from helix_graph.insights.links import links_of, links_where
from helix_graph.insights.model import HARVEST_SOURCE, FeedbackEntry, Injection

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Sequence

    from helix_graph.insights.context import InsightContext
    from helix_graph.insights.model import StoredInsight


def anonymous_entry(entry: FeedbackEntry, gone: Iterable[str | None]) -> FeedbackEntry:
    """A feedback as numbers: without its session, by any of the names in ``gone``, and without the reasons."""
    told = tuple(
        replace(verdict, reason=FORGOTTEN, uptake=None if verdict.uptake is None else FORGOTTEN, path=())
        for verdict in entry.verdicts
    )
    named = any(name and name in entry.id for name in gone)
    return replace(entry, id=_digest(entry.id) if named else entry.id, episode=None, verdicts=told)


def anonymous_injection(shown: Injection) -> Injection:
    """A showing without where and for what."""
    return replace(shown, session="", task="", query="")


def _digest(identity: str) -> str:
    import hashlib

    return hashlib.blake2b(identity.encode(), digest_size=16).hexdigest()


#: What stands where the name of a removed insight stood: a name is the beginning of a text.
FORGOTTEN = "(forgotten)"


def forget_insights(connection: sqlite3.Connection, kept: Sequence[StoredInsight], *, at: str) -> None:
    """Removes insights and what was merged into them, within the transaction under way."""
    uids = sorted({uid for one in kept for uid in rows.own_uids(connection, one.insight.uid)})
    forget_uids(connection, dict.fromkeys(uids, at))


def forget_uids(connection: sqlite3.Connection, uids: dict[str, str]) -> None:
    """Removes all there is of these uids, which were forgotten at their dates, and remembers that they were."""
    connection.executemany(
        "INSERT INTO insight_forgotten VALUES (?, ?) ON CONFLICT (uid) DO UPDATE SET ts = min(ts, excluded.ts)",
        sorted(uids.items()),
    )
    remove_uids(connection, uids)


def remove_uids(connection: sqlite3.Connection, uids: Iterable[str]) -> None:
    """Removes all there is of these uids, and remembers nothing: they may come again."""
    forgotten = set(uids)
    wanted = as_list(forgotten)
    gone = list(rows.where(connection, f"uid {ANY_OF}", wanted))
    rows.delete(connection, [kept.number for kept in gone])
    connection.execute(f"DELETE FROM insight_link WHERE insight {ANY_OF} OR target {ANY_OF}", (wanted, wanted))  # noqa: S608  (constants)
    _silence(connection, forgotten, {kept.name for kept in gone})


def _silence(connection: sqlite3.Connection, forgotten: set[str], names: set[str]) -> None:
    """Takes the names out of both logs: of entries that speak of these uids, and of what was shown."""
    for entry in feedback.entries_about(connection, forgotten):
        told = {verdict.name for verdict in entry.verdicts if verdict.uid in forgotten}
        names |= told
        verdicts = tuple(verdict for verdict in entry.verdicts if verdict.uid not in forgotten)
        feedback.write_entry(connection, replace(entry, names=_without(entry.names, told), verdicts=verdicts))
    for injection in list(feedback.read_injections(connection)) if names else ():
        named = names & {*injection.shown, *(one.name for one in injection.withheld)}
        if named:
            withheld = tuple(one for one in injection.withheld if one.name not in named)
            chances = {name: chance for name, chance in injection.chances.items() if name not in named}
            feedback.write_injection(
                connection,
                replace(injection, shown=_without(injection.shown, named), withheld=withheld, chances=chances),
            )


def _without(names: tuple[str, ...], gone: set[str]) -> tuple[str, ...]:
    return tuple(FORGOTTEN if name in gone else name for name in names)


_PREFIX = "episode-"


def forget_sessions(context: InsightContext, sessions: Iterable[str]) -> int:
    """Takes out all that rests on these sessions; how many insights were removed."""
    gone = {form for session in sessions for form in (session, session.removeprefix(_PREFIX))}
    gone |= {_PREFIX + session for session in gone}
    if not (gone and context.path.exists()):
        return 0
    tasks = _tasks_of(context, gone)
    with context.database.writing() as connection:
        touched = _cut(connection, gone)
        removed = [kept for kept in touched if not _reword(context, connection, kept, gone)]
        remove_uids(connection, {uid for kept in removed for uid in rows.own_uids(connection, kept.insight.uid)})
        _silence_log(connection, gone, tasks)
        connection.execute("INSERT INTO insight_text (insight_text) VALUES ('optimize')")
    context.erase_deleted()
    return len(removed)


def _tasks_of(context: InsightContext, gone: set[str]) -> set[str]:
    """The tasks that only these sessions worked on: showings may name the task and no session."""
    if context.history is None:
        return set()
    episodes = context.history.episodes
    found = {one.task_id for name in gone if (one := episodes.get(name)) and one.task_id}
    return found - {one.task_id for one in (episodes.list() if found else ()) if one.session not in gone}


def _cut(connection: sqlite3.Connection, gone: set[str]) -> list[StoredInsight]:
    """Removes the links to the sessions; the harvested insights that rested on them."""
    wanted = as_list(gone)
    linked = {link.insight for link in links_where(connection, f"episode {ANY_OF}", wanted)}
    connection.execute(f"DELETE FROM insight_link WHERE episode {ANY_OF}", (wanted,))  # noqa: S608  (a constant)
    named = f"uid {ANY_OF} OR episode {ANY_OF} ORDER BY number"
    found = list(rows.where(connection, named, as_list(linked), wanted))
    for kept in found:
        if kept.insight.source != HARVEST_SOURCE and kept.insight.episode in gone:
            rows.update(connection, kept, replace(kept.insight, episode=""))
    return [kept for kept in found if kept.insight.source == HARVEST_SOURCE]


def _reword(context: InsightContext, connection: sqlite3.Connection, kept: StoredInsight, gone: set[str]) -> bool:
    """Whether an insight stays: others teach it too, and lend it their words, or a person gave it theirs."""
    insight = kept.insight
    if insight.edited_at:
        rows.update(connection, kept, replace(insight, episode=""))
        return True
    others = sorted({link.episode for link in links_of(connection, [insight.uid]) if link.episode})
    episodes = (context.required_history.episodes.get(one) for one in others)
    groups = grouped(one for one in episodes if one)
    first = next((group[0] for group in groups if group.uid == insight.uid), None)
    if first is None:
        return False
    if insight.episode in gone:
        rows.update(
            connection, kept, replace(insight, content=first.content, created_at=first.at, episode=first.episode)
        )
    return True


def _silence_log(connection: sqlite3.Connection, gone: set[str], tasks: set[str]) -> None:
    wanted = as_list(gone)
    named = [
        one for one in feedback.read_entries(connection) if one.episode in gone or any(name in one.id for name in gone)
    ]
    for entry in named:
        feedback.remove_entries(connection, entry.id)
        feedback.write_entry(connection, anonymous_entry(entry, gone))
    for shown in list(
        feedback.read_injections(connection, f"session {ANY_OF} OR task {ANY_OF}", wanted, as_list(gone | tasks))
    ):
        feedback.write_injection(connection, anonymous_injection(shown))
