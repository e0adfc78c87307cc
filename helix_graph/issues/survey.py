"""One reading of graph.db for questions about issues: its rows, one issue in full, what people reported."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from msgspec.structs import replace

from helix_episodes.light_imports import Regex
from helix_graph.graph.error_query import says_something
from helix_graph.issues.grouping import (
    FailureRow,
    choose,
    find_row,
    group,
    recurring,
    rows_by_id,
    sessions_of,
    state_of,
)
from helix_graph.issues.history import History, shared_statements, texts_of
from helix_graph.issues.model import By, Issue, IssueDetails, IssueList, Occurrence, SimilarIssue, State
from helix_graph.issues.remedies import changes_for, generalised, worked_instead

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Collection, Iterable, Sequence
    from pathlib import Path

    from helix_graph.issues.grouping import Authors
    from helix_graph.issues.history import Failure
    from helix_graph.issues.model import GeneralRemedy
    from helix_graph.issues.remedies import Change


Number = TypeVar("Number", int, float)

MOST_OCCURRENCES = 500
_FILES, _SIMILAR, _CHECKS = 3, 5, 2
_PLACE = Regex(r"^\S+?[:(]\d+(?:[:,]\d+\)?)?:? ")
_TIMES = Regex(r" \((?:\d+ times|[^()]*(?:failed|passed)[^()]*)\)$")
#: What a label has in place of what varies.
_MASK = Regex(r"<\w+>")
#: A test or a symbol, and the last part of a path.
_NAME = Regex(r"[A-Za-z_$][\w$]*(?:\.[\w$]+)*")
_PATH = Regex(r"/([\w@.+-]+\.\w{1,8})(?=\s)")


class IssueSurvey:
    """The failures of a graph as they are now; several questions share one reading.

    ``authors`` says who wrote each of some episodes; those of this user alone are in none. With ``among`` there are no
    other episodes.
    """

    def __init__(
        self,
        connection: sqlite3.Connection,
        folder: Path,
        *,
        authors: Authors,
        among: Collection[str] | None = None,
    ) -> None:
        self._connection = connection
        #: Every failure, session and run that the answers count.
        self.history = History(connection, folder, among=among)
        self._authors = authors

    def list(
        self, *, by: By, check: str | None = None, limit: int, state: State | None = None, every: bool = False
    ) -> IssueList:
        """As `helix_graph.issues.api.Issues.list`, of arguments that are known to be right."""
        history = self.history
        chosen = choose(history, by, check=check, state=state, every=every, authors=self._authors)
        shared = shared_statements(self._connection, history.root) if chosen.hidden else frozenset()
        return IssueList(
            by=by,
            issues=tuple(
                _issue(self._connection, history, row, _repairs_of(self._connection, history, row))
                for row in chosen.rows[:limit]
            ),
            sessions=len(history.sessions),
            rows=len(chosen.rows),
            once=chosen.once,
            hidden=len(chosen.hidden),
            hidden_by_others=len(shared.intersection(chosen.hidden)),
            deliberate=sum(one.deliberate for one in history.failures),
            minutes=_minutes([*history.failures, *history.reported]),
        )

    def show(self, name: str) -> IssueDetails:
        """As `helix_graph.issues.api.Issues.show`."""
        row = find_row(self.history, name)
        others = group(self.history, self.history.failures, "issue") if row.kind == "issue" else {}
        label = row.members[0].label
        similar = [(other, found) for other, found in others.items() if other != row.key and found[0].label == label]
        return _details(self._connection, self.history, row, self._authors, similar=similar)

    def in_full(self, *, most: int, most_once: int, occurrences: int) -> tuple[tuple[IssueInFull, ...], int]:
        """The issues that recur and the newest of one session, each with its newest occurrences; and how many are left.

        Muted and resolved ones are among them.
        """
        history = self.history
        again = choose(history, "recurring", check=None, state=None, every=True, authors=self._authors).rows
        failing = [one for one in history.failures if not one.deliberate]
        once = [row for row in recurring(history, failing) if row.kind == "issue" and row.sessions == 1]
        once.sort(key=lambda row: -history.place(row.members[-1]))
        alike: dict[str, list[tuple[str, list[Failure]]]] = defaultdict(list)
        for key, members in group(history, history.failures, "issue").items():
            alike[members[0].label].append((key, members))
        chosen = [*again[:most], *once[:most_once]]
        found = []
        for row in chosen:
            first = row.members[0]
            similar = [one for one in alike[first.label] if one[0] != row.key] if row.kind == "issue" else []
            details = _details(self._connection, history, row, self._authors, similar=similar, most=occurrences)
            newest = row.members[-occurrences:]
            found.append(
                IssueInFull(
                    details=details,
                    members=tuple(row.members),
                    locals=tuple(one.local for one in newest),
                    group=first.group,
                    answered=frozenset(
                        (one.number, one.local)
                        for one, met in zip(newest, details.occurrences, strict=True)
                        if met.instead
                    ),
                    quotes={
                        (history.sessions[one.number].id, one.local): self._connection.execute(
                            "SELECT quote FROM mention WHERE episode = ? AND local = ?", (one.number, one.local)
                        ).fetchone()[0]
                        for one in newest
                    },
                )
            )
        return tuple(found), len(again) + len(once) - len(chosen)

    def ids(self) -> set[str]:
        """The ids of all issues and groups that a session has."""
        return {*rows_by_id(self.history)}

    def reported(self) -> IssueDetails | None:
        """What people reported in their own words, as if it were one group; None where nobody did."""
        reported = self.history.reported
        if not reported:
            return None
        row = FailureRow("group", reported[0].label, reported)
        return _details(self._connection, self.history, row, self._authors, similar=[])


class IssueInFull(NamedTuple):
    """An issue with all its failures; ``locals`` are the ids of the occurrences that its details have.

    ``group`` is the id of the group that it is in. ``answered`` are the newest failures, by session and local id, in
    place of which another command worked.
    """

    details: IssueDetails
    members: tuple[Failure, ...]
    locals: tuple[str, ...]
    group: str
    answered: frozenset[tuple[int, str]]
    quotes: dict[tuple[str, str], str]


class _Repairs(NamedTuple):
    """The changes that repaired each failure of a row, by episode and local id, and what they have in common.

    ``instead`` has, in the same way, the command that worked in place of a failed one.
    """

    changes: dict[tuple[int, str], list[Change]]
    remedies: Sequence[GeneralRemedy]
    instead: dict[tuple[int, str], str]


def _repairs_of(
    connection: sqlite3.Connection, history: History, row: FailureRow, *, counting: Sequence[Failure] | None = None
) -> _Repairs:
    """What repaired a row; what its repairs have in common is said of the failures that count, if not all do.

    Rows that are no issue or group have too many different failures for that.
    """
    changes = changes_for(connection, row.members)
    if not row.is_named:
        return _Repairs(changes, [], {})
    members = row.members if counting is None else counting
    remedies = generalised(members, changes, history)
    if other := worked_instead(members, remedies, history):
        return _Repairs(changes, [other.remedy], other.commands)
    return _Repairs(changes, remedies, {})


def _issue(connection: sqlite3.Connection, history: History, row: FailureRow, repairs: _Repairs) -> Issue:
    """One row as it is shown."""
    members, latest, named = row.members, row.members[-1], row.is_named
    sessions = [history.sessions[one.number] for one in members]
    texts = texts_of(connection, latest)
    state = state_of(history, row) if named else None
    said = history.statements.get(row.id)
    files = Counter(path for path in {(one.path, one.number): one.path for one in members}.values() if path)
    steps, tokens = _known_sum(one.steps for one in members), _known_sum(one.tokens for one in members)
    best, way = _shown_remedies(repairs.remedies)
    return Issue(
        id=row.id,
        kind=row.kind,
        title=_title(history, row, texts.raw),
        message=_PLACE.sub("", texts.message) if named else "",
        thing=Counter(one.thing for one in members).most_common(1)[0][0],
        check=latest.check if named else "",
        family=latest.family if named else "",
        state=state.state if state else None,
        since=state.since if state else 0,
        unit="runs" if history.runs_of(latest.check) else "sessions",
        reason=said.reason if said else "",
        first_seen=sessions[0].date,
        last_seen=sessions[-1].date,
        occurrences=len(members),
        runs=len({(one.number, one.line) for one in members}),
        kinds=len({one.fingerprint or one.local for one in members}) if row.kind == "group" else 1,
        sessions=row.sessions,
        agents=_distinct(one.agent for one in sessions),
        models=_distinct(one.model for one in sessions),
        steps=None if steps is None else round(steps, 1),
        minutes=_minutes(members),
        tokens=tokens,
        repaired=sum(one.repaired > 0 for one in members),
        verified=sum(one.repaired > 1 for one in members),
        remedy=best,
        way=way,
        suppressed=sum(
            all(change.silences for change in repairs.changes[place])
            for place in ((one.number, one.local) for one in members)
            if place in repairs.changes
        ),
        files=tuple(sorted(files.items(), key=lambda item: (-item[1], item[0]))[:_FILES]) if named else (),
    )


def _shown_remedies(remedies: Sequence[GeneralRemedy]) -> tuple[GeneralRemedy | None, GeneralRemedy | None]:
    """What to do, by several sessions; or else how it was repaired most often, which is no advice.

    A marker that silences the check is neither. What repaired it is as short as a row has it.
    """
    # What two sessions have in common, or what they ran instead; the others say not what to do.
    common = (one for one in remedies if one.how in {"run", "instead", "edit", "edit named"} and one.sessions > 1)
    if best := next(common, None):
        return best, None
    way = next((one for one in remedies if one.how != "silence"), None)
    return None, replace(way, example="", diff=()) if way else None


def _known_sum(values: Iterable[Number | None]) -> Number | None:
    """The sum of what is known; None where nothing is."""
    known = [one for one in values if one is not None]
    return sum(known[1:], start=known[0]) if known else None


def _minutes(members: Iterable[Failure]) -> float | None:
    seconds = _known_sum(one.seconds for one in members)
    return None if seconds is None else round(seconds / 60, 2)


def _title(history: History, row: FailureRow, raw: str) -> str:
    """What an issue or a group is called: its check and what the check calls it; an issue may have several checks."""
    if not row.is_named:
        return row.key
    latest = row.members[-1]
    check = " and ".join(sorted(name for name, _ in Counter(one.check for one in row.members).most_common(_CHECKS)))
    if not says_something(latest.family) and row.kind == "issue":
        return f"{check}: {latest.thing}" if latest.thing.isidentifier() else check
    family = _TIMES.sub("", raw.rpartition(" fails: ")[2])
    # A rule is one word; whatever else a log says stands in the message, which is quoted where it is shown.
    if " " in family or not _MASK.search(latest.family):
        family = _MASK.sub("…", latest.family)
    elif row.kind == "group":
        family += " and others"
    if row.kind == "issue":
        family += _of_thing(latest, alone=latest.label in history.alone)
    return f"{check}: {family}"


def _of_thing(failure: Failure, *, alone: bool) -> str:
    """The file, test or name that an issue is about.

    Without it the issues of a group have one title. The title of the only one of its group does without what its
    message says.
    """
    file = failure.thing == failure.path
    name = failure.thing.rpartition("/")[2] if file else failure.thing
    if not file and not _NAME.fullmatch(name):
        # What is one issue wherever it is met has no place in its title.
        path = None if alone else _PATH.search(f"/{failure.path or failure.thing} ")
        name, file = path[1] if path else "", True
    if not name or (alone and name in failure.said):
        return ""
    return f": {name}" if name in failure.said and not file else f" in {name}"


def _distinct(values: Iterable[str | None]) -> tuple[str, ...]:
    return tuple(sorted({one for one in values if one}))


def _details(
    connection: sqlite3.Connection,
    history: History,
    row: FailureRow,
    authors: Authors,
    *,
    similar: Sequence[tuple[str, list[Failure]]],
    most: int = MOST_OCCURRENCES,
) -> IssueDetails:
    # Failures on purpose do not count, unless there are no others.
    counting = [one for one in row.members if not one.deliberate] or row.members
    repairs = _repairs_of(connection, history, row, counting=counting)
    newest = row.members[-most:]
    written = authors(history.sessions[one.number].id for one in newest)
    occurrences = []
    for one in newest:
        session, texts = history.sessions[one.number], texts_of(connection, one)
        made = repairs.changes.get((one.number, one.local), [])
        occurrences.append(
            Occurrence(
                session=session.session,
                episode=session.id,
                event=one.local,
                date=session.date,
                message=texts.message,
                path=one.path,
                log=texts.log,
                line=texts.line,
                repaired=one.repaired > 0,
                verified_by=_verified_by(connection, one, made),
                ended=texts.ended,
                steps=one.steps,
                minutes=_minutes([one]),
                tokens=one.tokens,
                changes=tuple(dict.fromkeys(change.raw for change in made)),
                deliberate=one.deliberate,
                agent=session.agent,
                author=written.get(session.id, ""),
                instead=repairs.instead.get((one.number, one.local), ""),
            )
        )
    alike = sorted(similar, key=lambda item: (-len(sessions_of(item[1])), item[0]))
    return IssueDetails(
        issue=_issue(connection, history, row._replace(members=counting), repairs),
        occurrences=tuple(occurrences),
        remedies=tuple(repairs.remedies),
        similar=tuple(
            _similar(connection, history, FailureRow("issue", other, found)) for other, found in alike[:_SIMILAR]
        ),
    )


def _similar(connection: sqlite3.Connection, history: History, row: FailureRow) -> SimilarIssue:
    texts = texts_of(connection, row.members[-1])
    return SimilarIssue(
        id=row.id,
        title=_title(history, row, texts.raw),
        message=_PLACE.sub("", texts.message),
        sessions=row.sessions,
    )


def _verified_by(connection: sqlite3.Connection, failure: Failure, made: Sequence[Change]) -> str | None:
    """What showed that a failure was repaired, in the words of the log's episode."""
    name = next((one.verified_by for one in made if one.verified_by), None)
    row = connection.execute(
        "SELECT raw FROM mention WHERE episode = ? AND local = ?", (failure.number, name)
    ).fetchone()
    return row[0] if row else None
