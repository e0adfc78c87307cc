"""What failures are added up under, and which of the rows are listed.

A row is an issue, a group of issues, or all failures of one file, check, agent, model, branch or author.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, NamedTuple

from helix_episodes.errors import NotFound
from helix_episodes.normalization import message_template
from helix_graph.graph.error_query import SAYS_NO_NAME, says_something
from helix_graph.issues.history import Recurrence, recurrence
from helix_graph.issues.model import By, issue_id

if TYPE_CHECKING:
    from collections.abc import Sequence

    from helix_graph.issues.history import Failure, History, SessionRow
    from helix_graph.issues.model import State

#: What has an id, and so a state.
_NAMED: tuple[By, ...] = ("issue", "group")
#: What recurs is in so many sessions.
_AGAIN = 2
#: The share of a group's failures that say the same sentence, where it is the tool's and not theirs.
_NEARLY_ALL = 0.8
#: The share of all minutes that failures took with which a group is worth a row, even if it only says "exit code 1".
_MUCH = 0.1

#: Who wrote each of these episodes; those of this user alone are in none.
Authors = Callable[[Iterable[str]], dict[str, str]]


class FailureRow(NamedTuple):
    """Failures that are added up: by what, under which key, and the failures."""

    kind: By
    key: str
    members: list[Failure]

    @property
    def is_named(self) -> bool:
        """Whether it is an issue or a group, which alone have an id and a state."""
        return self.kind in _NAMED

    @property
    def id(self) -> str:
        """The id of an issue or a group; of other rows none."""
        return issue_id(self.kind, self.key) if self.is_named else ""

    @property
    def sessions(self) -> int:
        """How many sessions had it."""
        return len(sessions_of(self.members))


def _key(failure: Failure, by: By, session: SessionRow, authors: dict[str, str]) -> str | None:
    """What a failure is added up under; None where that is not known."""
    if by == "author":
        return authors.get(session.id) or ("an unknown author" if session.id in authors else "you")
    return {
        "issue": failure.issue_key,
        "group": failure.label,
        "file": failure.path,
        "check": failure.check or None,
        "agent": session.agent,
        "model": session.model,
        "branch": session.branch,
    }[by]


def group(
    history: History, failures: Iterable[Failure], by: By, authors: dict[str, str] | None = None
) -> dict[str, list[Failure]]:
    """The failures of each key."""
    found: dict[str, list[Failure]] = defaultdict(list)
    for one in failures:
        key = _key(one, by, history.sessions[one.number], authors or {})
        if key is not None:
            found[key].append(one)
    return found


def sessions_of(failures: Iterable[Failure]) -> set[int]:
    """The numbers of the sessions that had them."""
    return {one.number for one in failures}


def recurring(history: History, failures: Sequence[Failure]) -> list[FailureRow]:
    """Issues of at least two sessions, and groups of which no issue makes up half."""
    issues, groups = (group(history, failures, by) for by in _NAMED)
    of_group: defaultdict[str, list[tuple[str, list[Failure]]]] = defaultdict(list)
    for key, one in issues.items():
        if one[0].fingerprint:
            of_group[one[0].label].append((key, one))
    rows: list[FailureRow] = []
    much = _MUCH * sum(one.seconds or 0 for one in failures)
    for label, members in groups.items():
        check, family, own = members[0].check, members[0].family, of_group[label]
        largest = max((len(sessions_of(one)) for _, one in own), default=0)
        # Where no line says what is wrong, a group is only the check again.
        met = len(sessions_of(members))
        differs = bool(own) and (2 * largest < met or largest < _AGAIN <= met) and family not in SAYS_NO_NAME
        dear = 0 < much <= sum(one.seconds or 0 for one in members)
        shown = differs and (says_something(family) or history.runs_of(check) is not None or dear)
        if shown:
            rows.append(FailureRow("group", label, members))
            sentences = Counter(message_template(one.said) for one in members)
            if sentences.most_common(1)[0][1] >= _NEARLY_ALL * len(members):
                continue  # the tool says one fixed sentence of any file: then the group says it all
        for key, one in own:
            said = one[-1].said  # the newest message, which may say no more than that it failed
            if says_something(family) or (said and not said.startswith(f"{one[-1].check} fails: ")):
                rows.append(FailureRow("issue", key, one))
    return rows


class ChosenRows(NamedTuple):
    """The rows that were asked for; how many are of one session alone, and the ids of those that people hid."""

    rows: list[FailureRow]
    once: int
    hidden: list[str]


def choose(
    history: History, by: By, *, check: str | None, state: State | None, every: bool, authors: Authors
) -> ChosenRows:
    """The rows to list, those of most sessions first."""
    failing = [one for one in history.failures if not one.deliberate and check in {None, one.check}]
    written = authors(row.id for row in history.sessions.values()) if by == "author" else {}
    rows: list[FailureRow] = (
        recurring(history, failing)
        if by == "recurring"
        else [FailureRow(by, key, members) for key, members in group(history, failing, by, written).items()]
    )
    rows.sort(key=lambda row: (-row.sessions, -sum(one.steps or 0 for one in row.members), row.key))
    again = [row for row in rows if by != "recurring" or state == "new" or row.sessions >= _AGAIN]
    chosen, hidden = [], []
    for row in again:
        spoken_of = row.is_named and row.id in history.statements
        found = state_of(history, row).state if row.is_named and (state or spoken_of) else None
        if state is not None and found != state:
            continue
        if state is None and not every and found in {"muted", "resolved"}:
            hidden.append(row.id)
            continue
        chosen.append(row)
    return ChosenRows(chosen, len(rows) - len(again), hidden)


def state_of(history: History, row: FailureRow) -> Recurrence:
    """Whether an issue or a group is new, comes again, or has gone quiet, and what people said of it."""
    places = sorted({history.place(one) for one in row.members})
    return recurrence(
        places,
        history.runs_of(row.members[-1].check) or history.each_session,
        said=history.statements.get(row.id),
        begun=[session.moment for session in history.sessions.values()],
    )


def rows_by_id(history: History) -> dict[str, FailureRow]:
    """Every issue and group."""
    rows: dict[str, FailureRow] = {}
    for by in _NAMED:
        for key, members in group(history, [*history.failures, *history.reported], by).items():
            rows.setdefault(issue_id(by, key), FailureRow(by, key, members))
    return rows


def find_row(history: History, name: str) -> FailureRow:
    """The issue or group of an id or the beginning of one."""
    rows = rows_by_id(history)
    fitting = sorted(one for one in rows if one.startswith(name.casefold())) if name else []
    if len(fitting) != 1:
        which = f"several begin so: {', '.join(fitting[:5])}" if fitting else "`helix-graph issues` lists the ids"
        raise NotFound(f"no issue {name!r}; {which}")
    return rows[fitting[0]]
