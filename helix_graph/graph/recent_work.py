"""What the newest sessions left: how the last one ended, what still fails, the newest verified fixes.

Asked when a session begins, by a hook that an agent waits for, so the module imports little. Which episodes are asked
is the caller's choice: of those that somebody else may have written nothing should be said unasked.
"""

from __future__ import annotations

from helix_episodes.light_imports import Regex, Value
from helix_graph.database import ANY_OF, as_list

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Collection, Iterator

    from helix_graph.graph.remedy_state import WorkingTree

#: What failed longer ago than in this many sessions is history, and a fix of then is found by its error.
SESSIONS = 20


class LastSession(Value):
    """The newest session that had a task; ``quote`` is what its outcome rests on."""

    date: str
    task: str
    outcome: str
    basis: str
    quote: str


class StillFailing(Value):
    """A check whose newest run failed."""

    check: str
    message: str
    path: str
    date: str


class VerifiedFix(Value):
    """An error, and the change after which the failing check was seen to pass."""

    error: str
    path: str
    change: str
    verified_by: str


class RecentWork(Value):
    """What a session should know before it begins, the newest first."""

    last: LastSession | None
    failing: tuple[StillFailing, ...]
    fixes: tuple[VerifiedFix, ...]


def newest_episodes(connection: sqlite3.Connection) -> dict[int, str]:
    """The newest episodes, by number, with their ids."""
    rows = "SELECT number, id FROM episode WHERE origin = 'episode' ORDER BY moment DESC, id DESC LIMIT ?"
    return dict(connection.execute(rows, (SESSIONS,)).fetchall())


def read_recent_work(
    connection: sqlite3.Connection, episodes: Collection[int], *, limit: int, tree: WorkingTree
) -> RecentWork:
    """What these episodes left; at most ``limit`` of each kind. What failed in a file that is gone fails no more."""
    chosen = as_list(episodes)
    return RecentWork(
        last=_last(connection, chosen),
        failing=tuple(one for one in _failing(connection, chosen) if not tree.is_gone(one.path))[:limit],
        fixes=tuple(_fixes(connection, chosen))[:limit],
    )


def _last(connection: sqlite3.Connection, chosen: str) -> LastSession | None:
    row = connection.execute(
        "SELECT coalesce(e.timestamp, ''), e.task, e.outcome, e.basis, coalesce(m.quote, '') FROM episode e"  # noqa: S608  (a constant)
        f" LEFT JOIN mention m ON m.episode = e.number AND m.local = 'outcome' WHERE e.number {ANY_OF} AND e.task != ''"
        " ORDER BY e.moment DESC, e.id DESC LIMIT 1",
        (chosen,),
    ).fetchone()
    return LastSession(*row) if row else None


def _failing(connection: sqlite3.Connection, chosen: str) -> Iterator[StillFailing]:
    """Of each check that ever passed, the last event of its newest session, if it failed.

    What never passed is no check whose failing would last: a tool of the agent that refused a call, a look-up.
    """
    rows = connection.execute(
        "WITH event AS (SELECT m.episode, m.local, m.checked, m.message, m.quote, m.path, m.line, n.type, e.moment,"  # noqa: S608  (a constant)
        " e.timestamp AS began FROM mention m"
        " JOIN node n ON n.number = m.node JOIN episode e ON e.number = m.episode"
        f" WHERE m.episode {ANY_OF} AND m.checked != '' AND m.deliberate = 0 AND m.local LIKE 'e%'),"
        " last AS (SELECT *, row_number() OVER (PARTITION BY checked ORDER BY moment DESC, episode DESC,"
        "   coalesce(line, 0) DESC, local DESC) AS newest FROM event),"
        " known AS (SELECT checked FROM event GROUP BY checked HAVING sum(type != 'error') > 0)"
        " SELECT checked, coalesce(message, quote), coalesce(path, ''), coalesce(began, '') FROM last"
        " WHERE newest = 1 AND type = 'error' AND checked IN (SELECT checked FROM known) ORDER BY moment DESC",
        (chosen,),
    )
    yield from (StillFailing(*row) for row in rows)


#: A total says nothing of what was wrong.
_COUNTS = Regex(r"(?:Found |\W)*\d+ (?:errors?|problems?|issues?|warnings?|failed|failures?)\b.{0,20}")


def _fixes(connection: sqlite3.Connection, chosen: str) -> Iterator[VerifiedFix]:
    """One fix of each error, that of the change with the largest share; the same change once."""
    rows = connection.execute(
        "SELECT coalesce(f.message, f.quote), coalesce(m.path, m.command, m.raw), m.quote, coalesce(v.raw, r.checked),"  # noqa: S608  (a constant)
        " max(r.share) FROM repair r JOIN episode e ON e.number = r.episode"
        " JOIN mention f ON f.episode = r.episode AND f.local = r.error"
        " JOIN mention m ON m.episode = r.episode AND m.local = r.change"
        " LEFT JOIN mention v ON v.episode = r.episode AND v.local = r.verified_by"
        # That a tool was used again is no check: what a refused call of it says is enough for anybody.
        f" WHERE r.episode {ANY_OF} AND r.verified_by LIKE 'e%' AND r.verified_by != r.change"
        " GROUP BY r.episode, r.error"
        " ORDER BY e.moment DESC, r.episode DESC, r.error DESC",
        (chosen,),
    )
    seen = set()
    for error, path, change, verified_by, _ in rows:
        if (error, path) not in seen and not _COUNTS.fullmatch(error):
            seen.add((error, path))
            yield VerifiedFix(error, path, change, verified_by)


class BestFind(Value):
    """The error that most sessions met and that was repaired, with its newest verified repair."""

    sessions: int
    fix: VerifiedFix


def best_find(connection: sqlite3.Connection) -> BestFind | None:
    """What a memory has to offer first; None while no repair was verified."""
    found = connection.execute(
        "SELECT i.fingerprint, count(DISTINCT i.episode) FROM issue i JOIN episode e ON e.number = i.episode"
        " JOIN mention m ON m.episode = i.episode AND m.local = i.local"
        " WHERE e.origin = 'episode' AND m.deliberate = 0 AND i.fingerprint IN (SELECT fingerprint FROM issue"
        "   JOIN repair r ON r.episode = issue.episode AND r.error = issue.local WHERE r.verified_by IS NOT NULL)"
        " GROUP BY i.fingerprint ORDER BY 2 DESC, max(e.moment) DESC, i.fingerprint LIMIT 1"
    ).fetchone()
    if found is None:
        return None
    fingerprint, sessions = found
    rows = connection.execute("SELECT DISTINCT episode FROM issue WHERE fingerprint = ?", (fingerprint,))
    fix = next(_fixes(connection, as_list(number for (number,) in rows)), None)
    return None if fix is None else BestFind(sessions, fix)
