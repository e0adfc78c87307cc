"""Unlearning: what insights hold of sessions that are forgotten goes as well.

An insight that was harvested from these sessions alone is removed with its links; one that others teach too takes its
words from the earliest of those. Links to steps of the sessions go. Showings and feedback stay as numbers, since other
insights stand on them, but no longer say in which session they were, for what, or by which words they were explained.
What a person told or edited is theirs, and stays.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from helix_graph.database import ANY_OF, as_list
from helix_graph.insights import log, rows
from helix_graph.insights.admitting import silent_entry, silent_injection
from helix_graph.insights.forgetting import remove
from helix_graph.insights.harvesting import grouped
from helix_graph.insights.links import links_of, links_where
from helix_graph.insights.model import SOURCE
from helix_graph.insights.room import Room

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable

    from helix_graph.insights.harvest import Harvested
    from helix_graph.insights.model import Kept

_PREFIX = "episode-"


class Unlearning(Room):
    """The part of `Insights` that forgets sessions."""

    def forget_sessions(self, sessions: Iterable[str]) -> int:
        """Takes out all that rests on these sessions; how many insights were removed.

        It is called while the other sessions' episodes can still be read, and before the graph is made anew.
        """
        gone = {form for session in sessions for form in (session, session.removeprefix(_PREFIX))}
        gone |= {_PREFIX + session for session in gone}
        if not (gone and self.path.exists()):
            return 0
        tasks = self._tasks_of(gone)
        with self._database.writing() as connection:
            touched = self._cut(connection, gone)
            removed = [kept for kept in touched if not self._reword(connection, kept, gone)]
            remove(connection, {uid for kept in removed for uid in rows.own_uids(connection, kept.insight.uid)})
            _silence_log(connection, gone, tasks)
            connection.execute("INSERT INTO insight_text (insight_text) VALUES ('optimize')")
        self._erase()
        return len(removed)

    def _tasks_of(self, gone: set[str]) -> set[str]:
        """The tasks that only these sessions worked on: showings may name the task and no session."""
        if self._experience is None:
            return set()
        episodes = self._experience.episodes
        found = {one.task_id for name in gone if (one := episodes.get(name)) and one.task_id}
        return found - {one.task_id for one in (episodes.list() if found else ()) if one.session not in gone}

    def _cut(self, connection: sqlite3.Connection, gone: set[str]) -> list[Kept]:
        """Removes the links to the sessions; the harvested insights that rested on them."""
        wanted = as_list(gone)
        linked = {link.insight for link in links_where(connection, f"episode {ANY_OF}", wanted)}
        connection.execute(f"DELETE FROM insight_link WHERE episode {ANY_OF}", (wanted,))  # noqa: S608  (a constant)
        named = f"uid {ANY_OF} OR episode {ANY_OF} ORDER BY number"
        found = list(rows.where(connection, named, as_list(linked), wanted))
        for kept in found:
            if kept.insight.source != SOURCE and kept.insight.episode in gone:
                rows.update(connection, kept, replace(kept.insight, episode=""))
        return [kept for kept in found if kept.insight.source == SOURCE]

    def _reword(self, connection: sqlite3.Connection, kept: Kept, gone: set[str]) -> bool:
        """Whether an insight stays: others teach it too, and lend it their words, or a person gave it theirs."""
        insight = kept.insight
        if insight.edited_at:
            rows.update(connection, kept, replace(insight, episode=""))
            return True
        others = sorted({link.episode for link in links_of(connection, [insight.uid]) if link.episode})
        first = self._first_of(insight.uid, others)
        if first is None:
            return False
        if insight.episode in gone:
            rows.update(
                connection, kept, replace(insight, content=first.content, created_at=first.at, episode=first.episode)
            )
        return True

    def _first_of(self, uid: str, episodes: Iterable[str]) -> Harvested | None:
        found = (self._past.episodes.get(one) for one in episodes)
        return next((group[0] for group in grouped(one for one in found if one) if group.uid == uid), None)


def _silence_log(connection: sqlite3.Connection, gone: set[str], tasks: set[str]) -> None:
    wanted = as_list(gone)
    named = [one for one in log.entries(connection) if one.episode in gone or any(name in one.id for name in gone)]
    for entry in named:
        log.remove(connection, entry.id)
        log.write(connection, silent_entry(entry, gone))
    for shown in list(log.injections(connection, f"session {ANY_OF} OR task {ANY_OF}", wanted, as_list(gone | tasks))):
        log.write_injection(connection, silent_injection(shown))
