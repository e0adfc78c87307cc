"""Every failure in graph.db with its cost and its session, and the runs of each check by session: what issues count.

Whether an issue is new, comes again, has gone quiet or has come back is counted in runs of its check. Days say nothing:
a check that nobody ran did not fail. The runs between two sessions that had the issue are a gap. It is *quiet* after
three times the mean gap without it (were it still there as often as before, so long a gap would come one time in
twenty), and not before ten runs; an issue of one session after twenty. It has *regressed* when the last gap before it
was as long as that. Of tools and commands only failures are recorded: sessions stand in for runs.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from functools import cached_property
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, NamedTuple

from helix_episodes.model import sortable_time
from helix_graph.graph.assertions import ASSERTION_SUFFIX, FOLDER, IssueAssertion, decode_assertion, oldest_first
from helix_graph.issues.model import issue_id
from helix_graph.trust import every_shared_episode, tracked_by_git

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Collection, Iterable, Sequence
    from pathlib import Path

    from helix_graph.issues.model import State


class SessionRow(NamedTuple):
    """One session; ``place`` counts the sessions by the time they began."""

    place: int
    id: str
    session: str
    date: str | None
    moment: str
    agent: str | None
    model: str | None
    branch: str | None


class Failure(NamedTuple):
    """One failure.

    ``said`` is its message, ``thing`` the test or symbol that it names; ``repaired`` is 0 without a repair, 1 with one,
    2 with one that was verified.
    """

    number: int
    local: str
    fingerprint: str
    label: str
    check: str
    family: str
    path: str | None
    line: int | None
    said: str
    thing: str
    deliberate: bool
    steps: float | None
    seconds: int | None
    tokens: int | None
    repaired: int
    moment: str | None

    @property
    def issue(self) -> str:
        """The id of the issue that it is of."""
        return issue_id("issue", self.issue_key)

    @property
    def issue_key(self) -> str:
        """What is the same for all failures of an issue."""
        return self.fingerprint or self.label

    @property
    def group(self) -> str:
        """The id of the group that it is in."""
        return issue_id("group", self.label)


#: What people report is said in their own words: of no two reports it can be said that they are of one failure.
REPORTED = "reported by the user"
_FAILURES = """
    SELECT m.episode, m.local, coalesce(m.issues, ''), n.label, coalesce(m.checked, ''), coalesce(m.family, ''), m.path,
        m.line, coalesce(m.message, ''), coalesce(m.thing, ''), m.deliberate, c.steps, c.seconds, c.tokens,
        coalesce(r.repaired, 0), m.timestamp
    FROM node n JOIN mention m ON m.node = n.number
    LEFT JOIN cost c ON c.episode = m.episode AND c.local = m.local
    LEFT JOIN (
        SELECT episode, error, 1 + max(verified_by IS NOT NULL) AS repaired FROM repair GROUP BY episode, error
    ) r ON r.episode = m.episode AND r.error = m.local
    WHERE n.type = 'error' AND m.counted"""


class RunsOfCheck:
    """How many runs of one check, or sessions where it has none, there were up to each session."""

    def __init__(self, places: list[int], counts: list[int]) -> None:
        self._places = places
        self._sums = [0, *accumulate(counts)]

    def between(self, first: int, last: int) -> int:
        """How many there were in the sessions after the one at ``first``, up to the one at ``last``."""
        return self._sums[bisect_right(self._places, last)] - self._sums[bisect_right(self._places, first)]


class History:
    """What one graph.db says of failures; read at once, since what is asked is asked of all of it.

    ``root`` is the memory's folder. ``recorded`` are the failures with those that forked sessions repeat. With
    ``among`` there are no other episodes.
    """

    def __init__(self, connection: sqlite3.Connection, folder: Path, *, among: Collection[str] | None = None) -> None:
        self.root = folder.parent
        query = (
            "SELECT number, id, session, timestamp, moment, agent, model, branch FROM episode WHERE origin = 'episode'"
            " ORDER BY moment, id"
        )
        rows = (row for row in connection.execute(query) if among is None or row[1] in among)
        self.sessions = {number: SessionRow(place, *rest) for place, (number, *rest) in enumerate(rows)}
        meant = {
            (number, name)
            for number, events in connection.execute("SELECT episode, events FROM run WHERE deliberate")
            for name in events.split(" ")
        }
        self.reported: list[Failure] = []
        self.recorded: list[Failure] = []
        for one in (Failure(*row) for row in connection.execute(_FAILURES)):
            if one.number in self.sessions:
                failure = one._replace(
                    fingerprint=one.fingerprint.partition(" ")[0],
                    deliberate=bool(one.deliberate) or (one.number, one.local) in meant,
                )
                (self.reported if one.family == REPORTED else self.recorded).append(failure)
        order = {number: row.place for number, row in self.sessions.items()}
        for each in (self.recorded, self.reported):
            each.sort(key=lambda one: (order[one.number], one.line or 0, one.local))
        self.failures, self.reported = first_occurrences(self.recorded), first_occurrences(self.reported)
        counted: defaultdict[str, dict[int, int]] = defaultdict(dict)
        query = (
            "SELECT checked, episode, count(*), min(kind) FROM run WHERE passed IS NOT NULL AND kind <> 'command'"
            " GROUP BY 1, 2"
        )
        self._kinds: dict[str, str] = {}
        for check, number, runs, kind in connection.execute(query):
            if number in order:
                counted[check][order[number]] = runs
                self._kinds[check] = kind
        self._runs = {
            check: RunsOfCheck(sorted(by), [by[place] for place in sorted(by)]) for check, by in counted.items()
        }
        #: Sessions in place of runs.
        self.each_session = RunsOfCheck(list(range(len(order))), [1] * len(order))
        self.statements = statements(connection, folder)
        kinds: defaultdict[str, set[str]] = defaultdict(set)
        for one in self.failures:
            kinds[one.label].add(one.issue_key)
        #: The labels of which all failures are one issue.
        self.alone = {label for label, found in kinds.items() if len(found) == 1}

    @cached_property
    def shared(self) -> frozenset[int]:
        """The numbers of the sessions that somebody else may have written."""
        names = every_shared_episode(self.root)
        return frozenset(number for number, row in self.sessions.items() if names is None or row.id in names)

    def runs_of(self, check: str) -> RunsOfCheck | None:
        """The runs of a check; None of a tool or a command, of which only failures are recorded."""
        return self._runs.get(check)

    def kind_of(self, check: str) -> str:
        """What kind of check it is (`test`, `lint` …); empty of a tool or a command."""
        return self._kinds.get(check, "")

    def place(self, failure: Failure) -> int:
        """The place of its session in time."""
        return self.sessions[failure.number].place


def first_occurrences(failures: Iterable[Failure]) -> list[Failure]:
    """Each failure in the first session that has it: a forked session repeats the results of the one before it.

    ``failures`` are in order of time.
    """
    first: dict[tuple[str, str, str], int] = {}
    return [
        one
        for one in failures
        if one.moment is None or first.setdefault((one.moment, one.label, one.said), one.number) == one.number
    ]


def statements(connection: sqlite3.Connection, folder: Path) -> dict[str, IssueAssertion]:
    """What people said last of each issue."""
    return {issue: one for issue, (_, one) in _newest_statements(connection, folder).items()}


def shared_statements(connection: sqlite3.Connection, root: Path) -> frozenset[str]:
    """The issues of which git tracks what was said last, perhaps by somebody else; all where that cannot be read."""
    newest = _newest_statements(connection, root)
    files = {
        f"causality/{FOLDER}/{name.removesuffix(ASSERTION_SUFFIX)}{ASSERTION_SUFFIX}": issue
        for issue, (name, _) in newest.items()
    }
    try:
        return frozenset(files[name] for name in tracked_by_git(root, files) if name in files) if files else frozenset()
    except (OSError, ValueError, IndexError):
        return frozenset(newest)


def _newest_statements(connection: sqlite3.Connection, folder: Path) -> dict[str, tuple[str, IssueAssertion]]:
    """By issue, what people said of it last and the name of the file."""
    rows = connection.execute("SELECT name, body FROM assertion WHERE unit = '' AND problem IS NULL")
    found = ((name, decode_assertion(body, path=folder)) for name, body in rows)
    kept = [(name, one) for name, one in found if isinstance(one, IssueAssertion)]
    return {one.issue: (name, one) for name, one in oldest_first(kept)}


class Texts(NamedTuple):
    """What a failure said, and where."""

    message: str
    raw: str
    log: str | None
    line: int | None
    ended: str | None


def texts_of(connection: sqlite3.Connection, failure: Failure) -> Texts:
    """The message of one failure with its place in the log."""
    row = connection.execute(
        "SELECT coalesce(m.message, m.raw), m.raw, m.log, m.line, c.ended FROM mention m"
        " LEFT JOIN cost c ON c.episode = m.episode AND c.local = m.local WHERE m.episode = ? AND m.local = ?",
        (failure.number, failure.local),
    ).fetchone()
    return Texts(*row)


_TIMES_THE_GAP = 3
_FEWEST = 10
_FEWEST_AFTER_ONE = 20


class Recurrence(NamedTuple):
    """The state of an issue, and how many runs there have been since it was last seen."""

    state: State
    since: int


def recurrence(
    places: Sequence[int], runs: RunsOfCheck, *, begun: Sequence[str], said: IssueAssertion | None
) -> Recurrence:
    """The state of an issue that the sessions at these places met; ``begun`` is when each session of all began."""
    last = len(begun) - 1
    since = runs.between(places[-1], last)
    if said is not None and said.state == "muted":
        return Recurrence("muted", since)
    if said is not None and said.state == "resolved":
        return Recurrence("regressed" if begun[places[-1]] > sortable_time(said.asserted_at) else "resolved", since)
    # Of the session that has it again it is not known which of its runs came before.
    gaps = [runs.between(before, after - 1) for before, after in pairwise(places)]
    if since >= _long_gap(gaps):
        return Recurrence("quiet", since)
    if not gaps:
        return Recurrence("new", since)
    return Recurrence("regressed" if gaps[-1] >= _long_gap(gaps[:-1]) else "recurring", since)


def _long_gap(gaps: Sequence[int]) -> float:
    """How many runs without it make an issue quiet that came after these gaps before."""
    if not gaps:
        return _FEWEST_AFTER_ONE
    return max(_FEWEST, _TIMES_THE_GAP * sum(gaps) / len(gaps))
