"""What the newest sessions left: the last ending, what still fails, verified fixes, and what the tree has of these.

Asked when a session begins, by a hook that an agent waits for, so the module imports little. Which episodes are asked
is the caller's choice: of those that somebody else may have written nothing should be said unasked.

A change that repaired something is known by the lines that it wrote. Each is looked for in its file as it is now, at
whatever line and with whatever indentation: where all are there the change *holds*; where some are missing the file has
*changed* since; without the file it is *gone*, unless a file of that name elsewhere, which sessions touched or which is
the only one of that name that git tracks, has the lines: then it has *moved*. Only the files of the changes that are
shown are read. What cannot be compared (a command, a deletion, a text that redaction cut) has no state.
"""

from __future__ import annotations

from helix_episodes.light_imports import Regex, Value
from helix_episodes.safe_files import read_regular
from helix_graph.database import ANY_OF, as_list

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Collection, Iterator
    from pathlib import Path


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


def newest_episodes(connection: sqlite3.Connection, *, without: Collection[str] = ()) -> dict[int, str]:
    """The newest episodes but for some, by number, with their ids."""
    rows = (
        f"SELECT number, id FROM episode WHERE origin = 'episode' AND NOT id {ANY_OF}"  # noqa: S608  (a constant)
        " ORDER BY moment DESC, id DESC LIMIT ?"
    )
    return dict(connection.execute(rows, (as_list(sorted(without)), SESSIONS)).fetchall())


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
    """One fix of each error, that of the change with the largest share; of one message the newest."""
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
        if error not in seen and not _COUNTS.fullmatch(error):
            seen.add(error)
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


#: A larger file is none that a person or an agent edits by hand, and a hook has no time for it.
_LARGEST_FILE = 1 << 20
#: A bracket or a lone keyword is in every file.
_SHORTEST_LINE = 6
#: Files of one name that are read to find where a change has moved.
_MOST_PLACES = 5
#: How a path begins that leads out of the project (as `extraction.paths.relative` gives it).
_OUTSIDE = ("/", "~", "../")
_CUT_OFF = "…"
_REDACTED = "[redacted:"


class RemedyState(Value):
    """``state`` is ``holds``, ``moved``, ``gone``, ``changed`` or None; ``now_at`` the file that it has moved to."""

    state: str | None = None
    now_at: str | None = None


class WorkingTree:
    """The project's files as they are now; each is read once. ``connection`` knows which files sessions touched."""

    def __init__(self, root: Path, connection: sqlite3.Connection) -> None:
        self._root, self._connection = root, connection
        self._read: dict[str, frozenset[str] | None] = {}
        self._named: dict[str, list[str]] = {}

    def state_of(self, path: str | None, written: str) -> RemedyState:
        """What became of the lines that a change wrote into the file at ``path``, relative to the project."""
        lines = _lines_of_change(written)
        if not path or not lines:
            return RemedyState()
        now = self._lines(path)
        if now is not None:
            return RemedyState("holds" if lines <= now else "changed")
        # The memory is not that of the files around it, or the file is of another checkout.
        if path.startswith(_OUTSIDE) or not (self._root / ".git").exists():
            return RemedyState()
        places = self._places(path)
        other = next((one for one in places if lines <= (self._lines(one) or frozenset())), None)
        if other:
            return RemedyState("moved", other)
        return RemedyState("changed" if self._tracked(path.rpartition("/")[2]) == places != [] else "gone")

    def is_gone(self, path: str) -> bool:
        """Whether a file of the project is not there any more, nor at any place where sessions touched its like."""
        if not path or path.startswith(_OUTSIDE) or not (self._root / ".git").exists():
            return False
        try:
            return not any((self._root / one).exists() for one in (path, *self._places(path)))
        except OSError:  # a name that is too long, for one: nothing can be said of it
            return False

    def _places(self, path: str) -> list[str]:
        """Where else a file of that name is: as git tracks it, if there is one alone, else as sessions touched it."""
        name = path.rpartition("/")[2]
        tracked = self._tracked(name)
        if len(tracked) == 1:
            return tracked
        rows = self._connection.execute(
            "SELECT DISTINCT path FROM mention WHERE path IS NOT NULL AND path <> ? AND substr(path, ?) = ? LIMIT ?",
            (path, -len(name) - 1, f"/{name}", _MOST_PLACES),
        )
        return [one for (one,) in rows]

    def _tracked(self, name: str) -> list[str]:
        """The files of a name that git tracks; asked only for a file that is missing, so git is seldom started."""
        if name not in self._named:
            from helix_graph.git import git_output

            literal = "".join(f"[{sign}]" if sign in "*?[" else sign for sign in name)
            found = git_output(self._root, "ls-files", "-z", "--", f":(glob)**/{literal}") or b""
            self._named[name] = [one.decode("utf-8", "replace") for one in found.split(b"\0") if one]
        return self._named[name]

    def _lines(self, path: str) -> frozenset[str] | None:
        """The lines of a file without indentation; None where there is none below the project's folder."""
        if path not in self._read:
            self._read[path] = self._lines_now(path)
        return self._read[path]

    def _lines_now(self, path: str) -> frozenset[str] | None:
        try:
            file = (self._root / path).resolve()
            if not file.is_relative_to(self._root.resolve()):
                return None
            text = read_regular(file, most=_LARGEST_FILE).decode("utf-8", "replace")
        except (OSError, ValueError):  # a null character in a path is a ValueError
            return None
        return frozenset(_plain(line) for line in text.splitlines())


def _lines_of_change(written: str) -> frozenset[str]:
    """The whole lines of a quotation that can be looked for: not the last where it was cut, none that was redacted."""
    lines = written.splitlines()
    if written.endswith(_CUT_OFF):
        lines = lines[:-1]
    if any(_REDACTED in line or "~/" in line for line in lines):
        return frozenset()
    return frozenset(plain for line in lines if len(plain := _plain(line)) >= _SHORTEST_LINE)


def _plain(line: str) -> str:
    return " ".join(line.split())
