"""One reading of graph.db for questions about issues: its rows, one issue in full, what people reported."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from hashlib import blake2b
from typing import TYPE_CHECKING, NamedTuple

from msgspec.structs import replace

from helix_episodes.errors import NotFound
from helix_episodes.light_imports import Regex
from helix_episodes.normalization import message_template
from helix_graph.graph.error_query import SAYS_NO_NAME, says_something
from helix_graph.issues.history import History, Recurrence, recurrence, shared_statements, texts_of
from helix_graph.issues.model import (
    By,
    Issue,
    IssueDetails,
    IssueList,
    Occurrence,
    SimilarIssue,
    State,
)
from helix_graph.issues.remedies import changes_for, generalised, worked_instead

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Collection, Sequence
    from pathlib import Path

    from helix_graph.issues.history import Failure, SessionRow
    from helix_graph.issues.model import GeneralRemedy
    from helix_graph.issues.remedies import Change


#: What has an id, and so a state.
_NAMED: tuple[By, ...] = ("issue", "group")
MOST_OCCURRENCES = 500
_FILES, _SIMILAR, _CHECKS = 3, 5, 2
#: What recurs is in so many sessions.
_AGAIN = 2
#: The share of a group's failures that say the same sentence, where it is the tool's and not theirs.
_NEARLY_ALL = 0.8
_PLACE = Regex(r"^\S+?[:(]\d+(?:[:,]\d+\)?)?:? ")
_TIMES = Regex(r" \((?:\d+ times|[^()]*(?:failed|passed)[^()]*)\)$")
#: The share of all minutes that failures took with which a group is worth a row, even if it only says "exit code 1".
_MUCH = 0.1
#: What a label has in place of what varies.
_MASK = Regex(r"<\w+>")
#: A test or a symbol, and the last part of a path.
_NAME = Regex(r"[A-Za-z_$][\w$]*(?:\.[\w$]+)*")
_PATH = Regex(r"/([\w@.+-]+\.\w{1,8})(?=\s)")
_ID = Regex(r"[0-9a-f]{4,16}")


#: Who wrote each of these episodes; those of this user alone are in none.
Authors = Callable[[Iterable[str]], dict[str, str]]


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
        chosen = _chosen(history, by, check=check, state=state, every=every, authors=self._authors)
        shared = shared_statements(self._connection, history.root) if chosen.hidden else frozenset()
        return IssueList(
            by=by,
            issues=tuple(_row(self._connection, history, *row) for row in chosen.rows[:limit]),
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
        row = _found(self.history, name)
        kind, key, members = row
        others = _grouped(self.history, self.history.failures, "issue", {}) if kind == "issue" else {}
        similar = [
            (other, found) for other, found in others.items() if other != key and found[0].label == members[0].label
        ]
        return _details(self._connection, self.history, row, self._authors, similar=similar)

    def in_full(self, *, most: int, most_once: int, occurrences: int) -> tuple[tuple[IssueInFull, ...], int]:
        """The issues that recur and the newest of one session, each with its newest occurrences; and how many are left.

        Muted and resolved ones are among them.
        """
        history = self.history
        again = _chosen(history, "recurring", check=None, state=None, every=True, authors=self._authors).rows
        failing = [one for one in history.failures if not one.deliberate]
        once = [row for row in _recurring(history, failing) if row[0] == "issue" and len(_sessions_of(row[2])) == 1]
        once.sort(key=lambda row: -history.place(row[2][-1]))
        alike: dict[str, list[tuple[str, list[Failure]]]] = defaultdict(list)
        for key, members in _grouped(history, history.failures, "issue", {}).items():
            alike[members[0].label].append((key, members))
        chosen = [*again[:most], *once[:most_once]]
        found = []
        for kind, key, members in chosen:
            similar = [one for one in alike[members[0].label] if one[0] != key] if kind == "issue" else []
            row = kind, key, members
            details = _details(self._connection, history, row, self._authors, similar=similar, most=occurrences)
            newest = members[-occurrences:]
            found.append(
                IssueInFull(
                    details=details,
                    members=tuple(members),
                    locals=tuple(one.local for one in newest),
                    group=issue_id("group", members[0].label),
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

    def id_of(self, name: str) -> str:
        """The whole id of an issue or a group."""
        kind, key, _ = _found(self.history, name)
        return issue_id(kind, key)

    def ids(self) -> set[str]:
        """The ids of all issues and groups that a session has."""
        return {*_by_id(self.history)}

    def reported(self) -> IssueDetails | None:
        """What people reported in their own words, as if it were one group; None where nobody did."""
        reported = self.history.reported
        if not reported:
            return None
        row: _Row = ("group", reported[0].label, reported)
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


def issue_id(kind: By, key: str) -> str:
    """The id of an issue or a group: the fingerprint, or 16 digits of the same kind."""
    if kind == "issue" and _ID.fullmatch(key):
        return key
    return blake2b(f"{kind}\0{key}".encode(), digest_size=8).hexdigest()


def _key(failure: Failure, by: By, session: SessionRow, authors: dict[str, str]) -> str | None:
    """What a failure is added up under; None where that is not known."""
    if by == "author":
        return authors.get(session.id) or ("an unknown author" if session.id in authors else "you")
    return {
        "issue": failure.fingerprint or failure.label,
        "group": failure.label,
        "file": failure.path,
        "check": failure.check or None,
        "agent": session.agent,
        "model": session.model,
        "branch": session.branch,
    }[by]


def _grouped(
    history: History, failures: Iterable[Failure], by: By, authors: dict[str, str]
) -> dict[str, list[Failure]]:
    found: dict[str, list[Failure]] = defaultdict(list)
    for one in failures:
        key = _key(one, by, history.sessions[one.number], authors)
        if key is not None:
            found[key].append(one)
    return found


def _sessions_of(failures: Iterable[Failure]) -> set[int]:
    return {one.number for one in failures}


#: What is added up, under what, and the failures.
_Row = tuple[By, str, "list[Failure]"]


def _recurring(history: History, failures: Sequence[Failure]) -> list[_Row]:
    """Issues of at least two sessions, and groups of which no issue makes up half."""
    issues, groups = (_grouped(history, failures, by, {}) for by in _NAMED)
    of_group: defaultdict[str, list[tuple[str, list[Failure]]]] = defaultdict(list)
    for key, one in issues.items():
        if one[0].fingerprint:
            of_group[one[0].label].append((key, one))
    rows: list[_Row] = []
    much = _MUCH * sum(one.seconds or 0 for one in failures)
    for label, members in groups.items():
        check, family, own = members[0].check, members[0].family, of_group[label]
        largest = max((len(_sessions_of(one)) for _, one in own), default=0)
        # Where no line says what is wrong, a group is only the check again.
        met = len(_sessions_of(members))
        differs = bool(own) and (2 * largest < met or largest < _AGAIN <= met) and family not in SAYS_NO_NAME
        dear = 0 < much <= sum(one.seconds or 0 for one in members)
        shown = differs and (says_something(family) or history.runs_of(check) is not None or dear)
        if shown:
            rows.append(("group", label, members))
        # A tool says one fixed sentence of any file: then the group says it all.
        if not (shown and _say_the_same(members)):
            for key, one in own:
                said = one[-1].said  # the newest message, which may say no more than that it failed
                if says_something(family) or (said and not said.startswith(f"{one[-1].check} fails: ")):
                    rows.append(("issue", key, one))
    return rows


def _say_the_same(members: Sequence[Failure]) -> bool:
    sentences = Counter(message_template(one.said) for one in members)
    return sentences.most_common(1)[0][1] >= _NEARLY_ALL * len(members)


class _Chosen(NamedTuple):
    """The rows that were asked for, and how many others there are."""

    rows: list[_Row]
    once: int
    hidden: list[str]


def _chosen(
    history: History, by: By, *, check: str | None, state: State | None, every: bool, authors: Authors
) -> _Chosen:
    failing = [one for one in history.failures if not one.deliberate and check in {None, one.check}]
    written = authors(row.id for row in history.sessions.values()) if by == "author" else {}
    rows: list[_Row] = (
        _recurring(history, failing)
        if by == "recurring"
        else [(by, key, members) for key, members in _grouped(history, failing, by, written).items()]
    )
    rows.sort(key=lambda row: (-len(_sessions_of(row[2])), -sum(one.steps or 0 for one in row[2]), row[1]))
    again = [row for row in rows if by != "recurring" or state == "new" or len(_sessions_of(row[2])) >= _AGAIN]
    chosen, hidden = [], []
    for kind, key, members in again:
        spoken_of = kind in _NAMED and issue_id(kind, key) in history.statements
        found = _state(history, kind, key, members).state if kind in _NAMED and (state or spoken_of) else None
        if state is not None and found != state:
            continue
        if state is None and not every and found in {"muted", "resolved"}:
            hidden.append(issue_id(kind, key))
            continue
        chosen.append((kind, key, members))
    return _Chosen(chosen, len(rows) - len(again), hidden)


def _state(history: History, kind: By, key: str, members: Sequence[Failure]) -> Recurrence:
    places = sorted({history.place(one) for one in members})
    return recurrence(
        places,
        history.runs_of(members[-1].check) or history.each_session,
        said=history.statements.get(issue_id(kind, key)),
        begun=[row.moment for row in history.sessions.values()],
    )


class _Repairs(NamedTuple):
    """The changes that repaired each failure of a row, by episode and local id, and what they have in common."""

    changes: dict[tuple[int, str], list[Change]]
    remedies: list[GeneralRemedy]


def _row(
    connection: sqlite3.Connection,
    history: History,
    kind: By,
    key: str,
    members: Sequence[Failure],
    *,
    repairs: _Repairs | None = None,
) -> Issue:
    """One row in full; ``repairs`` are its own, where they are known already."""
    named = kind in _NAMED
    if repairs is not None:
        changes, remedies = repairs
    else:
        changes = changes_for(connection, members)
        remedies = generalised(members, changes, history)
        if named and (other := worked_instead(members, remedies, history)):
            remedies = [other.remedy]
    repaired = sum(one.repaired > 0 for one in members)
    rows = [history.sessions[one.number] for one in members]
    texts, latest = texts_of(connection, members[-1]), members[-1]
    state = _state(history, kind, key, members) if named else None
    identity = issue_id(kind, key) if named else ""
    said = history.statements.get(identity)
    files = Counter(path for path in {(one.path, one.number): one.path for one in members}.values() if path)
    tokens = [one.tokens for one in members if one.tokens is not None]
    steps = [one.steps for one in members if one.steps is not None]
    # What two sessions have in common, or what they ran instead; the others say not what to do.
    common = (one for one in remedies if one.how in {"run", "instead", "edit", "edit named"} and one.sessions > 1)
    best = next(common, None) if named else None
    # What repaired it most often but for a marker, as short as a row has it.
    way = next((one for one in remedies if one.how != "silence"), None) if named and best is None else None
    return Issue(
        id=identity,
        kind=kind,
        title=_title(history, kind, key, members, texts.raw),
        message=_PLACE.sub("", texts.message) if named else "",
        thing=Counter(one.thing for one in members).most_common(1)[0][0],
        check=latest.check if named else "",
        family=latest.family if named else "",
        state=state.state if state else None,
        since=state.since if state else 0,
        unit="runs" if history.runs_of(latest.check) else "sessions",
        reason=said.reason if said else "",
        first_seen=rows[0].date,
        last_seen=rows[-1].date,
        occurrences=len(members),
        runs=len({(one.number, one.line) for one in members}),
        kinds=len({one.fingerprint or one.local for one in members}) if kind == "group" else 1,
        sessions=len(_sessions_of(members)),
        agents=_distinct(row.agent for row in rows),
        models=_distinct(row.model for row in rows),
        steps=round(sum(steps), 1) if steps else None,
        minutes=_minutes(members),
        tokens=sum(tokens) if tokens else None,
        repaired=repaired,
        verified=sum(one.repaired > 1 for one in members),
        remedy=best,
        way=replace(way, example="", diff=()) if way else None,
        suppressed=sum(
            all(change.silences for change in changes[place])
            for place in ((one.number, one.local) for one in members)
            if place in changes
        ),
        files=tuple(sorted(files.items(), key=lambda item: (-item[1], item[0]))[:_FILES]) if named else (),
    )


def _minutes(members: Iterable[Failure]) -> float | None:
    seconds = [one.seconds for one in members if one.seconds is not None]
    return round(sum(seconds) / 60, 2) if seconds else None


def _title(history: History, kind: By, key: str, members: Sequence[Failure], raw: str) -> str:
    """What an issue or a group is called: its check and what the check calls it; an issue may have several checks."""
    if kind not in _NAMED:
        return key
    latest = members[-1]
    check = " and ".join(sorted(name for name, _ in Counter(one.check for one in members).most_common(_CHECKS)))
    if not says_something(latest.family) and kind == "issue":
        return f"{check}: {latest.thing}" if latest.thing.isidentifier() else check
    family = _TIMES.sub("", raw.rpartition(" fails: ")[2])
    # A rule is one word; whatever else a log says stands in the message, which is quoted where it is shown.
    if " " in family or not _MASK.search(latest.family):
        family = _MASK.sub("…", latest.family)
    elif kind == "group":
        family += " and others"
    return f"{check}: {family}{_of_thing(latest, alone=latest.label in history.alone) if kind == 'issue' else ''}"


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


def _by_id(history: History) -> dict[str, _Row]:
    """Every issue and group."""
    rows: dict[str, _Row] = {}
    for by in _NAMED:
        for key, members in _grouped(history, [*history.failures, *history.reported], by, {}).items():
            rows.setdefault(issue_id(by, key), (by, key, members))
    return rows


def _found(history: History, name: str) -> _Row:
    """The issue or group of an id or the beginning of one."""
    rows = _by_id(history)
    fitting = sorted(one for one in rows if one.startswith(name.casefold())) if name else []
    if len(fitting) != 1:
        which = f"several begin so: {', '.join(fitting[:5])}" if fitting else "`helix-graph issues` lists the ids"
        raise NotFound(f"No issue {name!r}; {which}")
    return rows[fitting[0]]


def _details(
    connection: sqlite3.Connection,
    history: History,
    row: _Row,
    authors: Authors,
    *,
    similar: Sequence[tuple[str, list[Failure]]],
    most: int = MOST_OCCURRENCES,
) -> IssueDetails:
    kind, key, members = row
    # Failures on purpose do not count, unless there are no others.
    counting = [one for one in members if not one.deliberate] or list(members)
    changes = changes_for(connection, members)
    remedies = generalised(counting, changes, history)
    other = worked_instead(counting, remedies, history)
    if other is not None:
        remedies = [other.remedy]
    written = authors(history.sessions[one.number].id for one in members[-most:])
    occurrences = []
    for one in members[-most:]:
        session, texts = history.sessions[one.number], texts_of(connection, one)
        made = changes.get((one.number, one.local), [])
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
                minutes=None if one.seconds is None else round(one.seconds / 60, 2),
                tokens=one.tokens,
                changes=tuple(dict.fromkeys(change.raw for change in made)),
                deliberate=one.deliberate,
                agent=session.agent,
                author=written.get(session.id, ""),
                instead=other.commands.get((one.number, one.local), "") if other else "",
            )
        )
    alike = sorted(similar, key=lambda item: (-len(_sessions_of(item[1])), item[0]))
    return IssueDetails(
        issue=_row(connection, history, kind, key, counting, repairs=_Repairs(changes, remedies)),
        occurrences=tuple(occurrences),
        remedies=tuple(remedies),
        similar=tuple(_similar(connection, history, other, found) for other, found in alike[:_SIMILAR]),
    )


def _similar(connection: sqlite3.Connection, history: History, key: str, members: Sequence[Failure]) -> SimilarIssue:
    texts = texts_of(connection, members[-1])
    return SimilarIssue(
        id=issue_id("issue", key),
        title=_title(history, "issue", key, members, texts.raw),
        message=_PLACE.sub("", texts.message),
        sessions=len(_sessions_of(members)),
    )


def _verified_by(connection: sqlite3.Connection, failure: Failure, made: Sequence[Change]) -> str | None:
    """What showed that a failure was repaired, in the words of the log's episode."""
    name = next((one.verified_by for one in made if one.verified_by), None)
    row = connection.execute(
        "SELECT raw FROM mention WHERE episode = ? AND local = ?", (failure.number, name)
    ).fetchone()
    return row[0] if row else None
