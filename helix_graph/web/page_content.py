"""What the page of a memory is about: its sessions and issues, in columns that the page's scripts read as JSON.

And its places and rules, with the figures of `helix-graph checks`, `fragile`, `rules` and `advise`; here every folder
and file is listed that has runs enough, so that a place can be compared with the check's own rate.

A page is made of *packs*, one for each tab and one for each session's trace, so that a browser unpacks only what is
looked at. Sessions are in the order of time and go by their place in it. Texts are as the logs have them; the page
shows them as text only.

The newest `TRACES` sessions and those of the last `SHOWN` occurrences of the commonest issues have their trace on the
page; of the others it names the command that shows it. So a page of 10,000 sessions stays a few megabytes.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping
from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING

import msgspec

from helix_episodes.msgspec_types import read_json
from helix_graph.causality.check_rates import check_report, count_runs
from helix_graph.causality.fragile import ChangedTogether, fragile_report
from helix_graph.causality.lookups import only_looks
from helix_graph.issues.model import (
    Issue,
    Occurrence,
    SimilarIssue,
    remedies_heading,
    remedy_words,
    repair_words,
)
from helix_graph.rules.model import NOTHING_TO_SHOW, BeforeAfter, Proposal, State, not_read
from helix_graph.web.rendering import short
from helix_graph.web.timeline import copied

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Sequence
    from pathlib import Path

    from helix_graph.causality.check_rates import CheckRate, SituationRate
    from helix_graph.graph.observations import Trial
    from helix_graph.issues.history import History
    from helix_graph.issues.survey import IssueInFull, IssueSurvey
    from helix_graph.rules.model import Advice, RuleList, RuleRecord


#: So many of the newest sessions have their trace on the page.
TRACES = 200
#: So many of an issue's newest occurrences are on it, and their sessions' traces for the first `ISSUES_TRACED` issues:
#: these come first in the list, and a trace takes about 5 kB.
SHOWN, ISSUES_TRACED = 3, 200
#: So many issues are on the page, and so many of those that one session met.
MOST_ISSUES, MOST_ONCE = 400, 100
#: The places of a check that are on the page; those with most runs.
_MOST_PLACES, _MOST_PAIRS = 150, 60
_LONGEST_TITLE = 140
_MOST_PATHS = 12
_WHOLE = 1000


class PageSessions(msgspec.Struct, frozen=True, kw_only=True):
    """The sessions in columns. ``minutes`` and ``tokens`` are of the whole session, None where the log has none.

    ``trouble`` and ``mended`` are places in the session, in thousandths of its log: where it first failed, and where
    the last of its failures was over; None where it never failed, and where a failure was left. ``lost`` are the
    active seconds that its failures took. ``traced`` says whose trace is on the page.
    """

    session: tuple[str, ...]
    title: tuple[str, ...]
    outcome: tuple[str, ...]
    basis: tuple[str, ...]
    time: tuple[str | None, ...]
    agent: tuple[str | None, ...]
    model: tuple[str | None, ...]
    branch: tuple[str | None, ...]
    author: tuple[str, ...]
    project: tuple[str | None, ...]
    minutes: tuple[float | None, ...]
    calls: tuple[int | None, ...]
    tokens: tuple[int | None, ...]
    failures: tuple[int, ...]
    lost: tuple[int | None, ...]
    trouble: tuple[int | None, ...]
    mended: tuple[int | None, ...]
    traced: tuple[bool, ...]


class PageRemedy(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A remedy in words, with what the newest repair of its kind changed and where that is."""

    words: str
    how: str
    times: int
    of: int
    sessions: int
    verified: int
    example: str = ""
    diff: tuple[str, ...] = ()
    session: str = ""
    log: str | None = None
    line: int | None = None


class PageOccurrence(Occurrence, frozen=True, kw_only=True, omit_defaults=True):
    """One occurrence with its quotation, and the step that it is in its session's trace."""

    step: str
    quote: str


class PageIssue(Issue, frozen=True, kw_only=True):
    """An issue with what its own page shows.

    ``met`` are the places of the sessions of all its occurrences, ``outcomes`` what became of each (0 not repaired,
    1 repaired, 2 verified, 3 another command worked instead), ``paths`` the files that it was met in. ``repair`` says
    in a sentence what repaired it, ``heading`` is what its list of remedies is called. ``group`` is the id of the group
    it is in, empty of a group and where that is not on the page. ``looks`` says that only look-ups met it: one that
    found nothing leaves nothing to repair.
    """

    repair: str
    heading: str
    group: str
    looks: bool
    remedies: tuple[PageRemedy, ...]
    similar: tuple[SimilarIssue, ...]
    shown: tuple[PageOccurrence, ...]
    met: tuple[int, ...]
    outcomes: tuple[int, ...]
    paths: tuple[str, ...]


class PageIssues(msgspec.Struct, frozen=True, kw_only=True):
    """The issues, those of most sessions first; ``left`` are not on the page, ``deliberate`` failures announced."""

    issues: tuple[PageIssue, ...]
    left: int
    deliberate: int
    note: str


class _Head(msgspec.Struct):
    """What is read of an episode's file that graph.db does not have."""

    project: str | None = None
    metrics: _Metrics | None = None


class _Metrics(msgspec.Struct):
    duration_minutes: float | None = None
    tool_calls: int | None = None
    tokens: int | None = None


def issues_of(survey: IssueSurvey) -> PageIssues:
    """The issues of a memory, from one reading of it."""
    every, left = survey.in_full(most=MOST_ISSUES, most_once=MOST_ONCE, occurrences=SHOWN)
    found = [one for one in every if not _is_idle(one.details.issue)]
    groups = {one.group for one in found if one.details.issue.kind == "group"}
    return PageIssues(
        issues=tuple(_issue(one, survey.history, groups) for one in found),
        left=left + len(every) - len(found),
        deliberate=sum(one.deliberate for one in survey.history.failures),
        note="Costs say where time went, not where it will go.",
    )


def _is_idle(issue: Issue) -> bool:
    """Whether all there is to an issue is one look-up that found nothing: there is nothing to act on."""
    return issue.sessions == 1 and only_looks(issue.check) and not issue.repaired and issue.remedy is None


def issues_at(survey: IssueSurvey) -> dict[tuple[str, int | None], list[str]]:
    """The issues, and behind each the group that it is in, at each line of a session's log, by its episode."""
    found: defaultdict[tuple[str, int | None], list[str]] = defaultdict(list)
    history = survey.history
    for one in history.failures:
        found[history.sessions[one.number].id, one.line].extend((one.issue, one.group))
    return found


def _issue(one: IssueInFull, history: History, groups: AbstractSet[str]) -> PageIssue:
    found = one.details
    quotes = [one.quotes[met.episode, local] for met, local in zip(found.occurrences, one.locals, strict=True)]
    return copied(
        PageIssue,
        found.issue,
        repair=repair_words(found.issue),
        heading=remedies_heading(found.remedies),
        looks=only_looks(found.issue.check),
        group=one.group if found.issue.kind == "issue" and one.group in groups else "",
        remedies=tuple(
            copied(PageRemedy, one, words=remedy_words(one))
            for one in sorted(found.remedies, key=lambda one: one != found.issue.remedy)
        ),
        similar=found.similar,
        shown=tuple(
            copied(PageOccurrence, met, step=local, quote=quote)
            for met, local, quote in zip(found.occurrences, one.locals, quotes, strict=True)
        ),
        met=tuple(history.place(failure) for failure in one.members),
        outcomes=tuple(3 if (it.number, it.local) in one.answered else it.repaired for it in one.members),
        paths=tuple(path for path, _ in Counter(f.path for f in one.members if f.path).most_common(_MOST_PATHS)),
    )


def traced_sessions(issues: PageIssues, history: History) -> list[str]:
    """The episodes whose trace belongs on the page, the oldest first."""
    rows = list(history.sessions.values())
    wanted = {row.id for row in rows[-TRACES:]}
    wanted.update(met.episode for one in issues.issues[:ISSUES_TRACED] for met in one.shown)
    return [row.id for row in rows if row.id in wanted]


def sessions_of(
    connection: sqlite3.Connection,
    history: History,
    *,
    files: Path,
    authors: Mapping[str, str],
    traced: Iterable[str],
) -> PageSessions:
    """The sessions of an open graph.db; ``files`` is the folder of their episodes."""
    about = {
        number: rest
        for number, *rest in connection.execute(
            "SELECT number, task, outcome, basis FROM episode WHERE origin = 'episode'"
        )
    }
    strips = _Strips(connection, history)
    shown = set(traced)
    rows = []
    for number, one in history.sessions.items():
        task, outcome, basis = about[number]
        head = read_json(files / f"{one.id}.json", _Head) or _Head()  # it may be gone since the graph was compiled
        metrics = head.metrics or _Metrics()
        rows.append(
            (
                *(one.session, short(task, _LONGEST_TITLE), outcome, basis, one.date),
                *(one.agent, one.model, one.branch, authors.get(one.id, ""), head.project),
                *(metrics.duration_minutes, metrics.tool_calls, metrics.tokens),
                *strips.of(number),
                one.id in shown,
            )
        )
    columns = list(zip(*rows, strict=True)) or [()] * len(PageSessions.__struct_fields__)
    return PageSessions(**dict(zip(PageSessions.__struct_fields__, columns, strict=True)))


class _Strips:
    """Where each session first failed, and where the last of its failures was repaired or got past."""

    def __init__(self, connection: sqlite3.Connection, history: History) -> None:
        self._lines: defaultdict[int, list[int]] = defaultdict(list)
        lines = "SELECT DISTINCT episode, line FROM mention WHERE line IS NOT NULL ORDER BY episode, line"
        for episode, line in connection.execute(lines):
            self._lines[episode].append(line)
        self._repaired: dict[int, int] = dict(
            connection.execute(
                "SELECT r.episode, max(m.line) FROM repair r JOIN mention m ON m.episode = r.episode"
                " AND m.local = coalesce(r.verified_by, r.change) GROUP BY r.episode"
            )
        )
        over_by_itself = "SELECT episode, local FROM cost WHERE ended IN ('pass', 'instead', 'left')"
        passed_by = set(connection.execute(over_by_itself))
        self._failures: defaultdict[int, list[tuple[int, bool, int | None]]] = defaultdict(list)
        for one in (*history.failures, *history.reported):
            # A look-up that found nothing is no trouble.
            if not one.deliberate and one.line is not None and (one.repaired or not only_looks(one.check)):
                over = one.repaired > 0 or (one.number, one.local) in passed_by
                self._failures[one.number].append((one.line, over, one.seconds))

    def of(self, number: int) -> tuple[int, int | None, int | None, int | None]:
        """How often a session failed, the seconds that took, and the two places among what the session did."""
        failures = self._failures.get(number, ())
        if not failures:
            return 0, None, None, None
        lines = self._lines[number]
        seconds = [one for _, _, one in failures if one is not None]
        first = min(line for line, _, _ in failures)
        # What was got past without a repair was over where it happened.
        last_line = max(line for line, _, _ in failures)
        mended = max(self._repaired.get(number, 0), last_line) if all(over for _, over, _ in failures) else None
        return (
            len(failures),
            sum(seconds) if seconds else None,
            _WHOLE * bisect_left(lines, first) // (len(lines) or 1),
            None if mended is None else _WHOLE * bisect_right(lines, mended) // (len(lines) or 1),
        )


class PagePlace(msgspec.Struct, frozen=True, kw_only=True):
    """A folder or file after whose change ``failed`` of ``runs`` fresh runs of a check failed.

    ``rate`` is drawn towards the check's own, ``low`` to ``high`` of the next ten runs will fail (90 %); None while
    there are too few sessions. ``met`` has the places of sessions of the newest failures, each with its line and its
    issues.
    """

    path: str
    folder: bool
    runs: int
    failed: int
    sessions: int
    runs_elsewhere: int
    failed_elsewhere: int
    rate: float | None
    low: int | None
    high: int | None
    standing: str
    after: str
    met: tuple[tuple[int, int | None, tuple[str, ...]], ...]


class PageCheck(msgspec.Struct, frozen=True, kw_only=True):
    """A check with its own rate and its places, in the order of a tree."""

    check: str
    command: str
    runs: int
    failed: int
    rate: float | None
    seconds: float | None
    places: tuple[PagePlace, ...]


class PagePlaces(msgspec.Struct, frozen=True, kw_only=True):
    """The checks, the most used first; ``enough`` says whether there are sessions enough for rates."""

    enough: bool
    checks: tuple[PageCheck, ...]
    together: tuple[ChangedTogether, ...]


#: The issues at a line of a session's log.
_IssuesAt = Mapping[tuple[str, int | None], Collection[str]]


def places_of(trials: Sequence[Trial], place_of: Mapping[str, int], issues_at: _IssuesAt) -> PagePlaces:
    """The places of a memory; ``place_of`` are those of sessions by episode, ``issues_at`` by episode and line."""
    counted = count_runs(trials)
    fragile = fragile_report(trials, counted=counted)
    after = {(one.rate.check, one.path): one.after for one in fragile.places}
    found = check_report(trials, everything=True, counted=counted)
    checks = (_check(one, after, place_of, issues_at) for one in found.checks)
    return PagePlaces(
        enough=found.enough,
        checks=tuple(one for one in checks if one.places),
        together=fragile.together[:_MOST_PAIRS],
    )


def _check(
    one: CheckRate,
    after: Mapping[tuple[str, str], str],
    place_of: Mapping[str, int],
    issues_at: _IssuesAt,
) -> PageCheck:
    rows = [row for row in one.situations if row.dimension in {"folder", "file"}]
    rows.sort(key=lambda row: (-row.runs, row.value))
    places = [_place(row, after.get((one.check, row.value), ""), place_of, issues_at) for row in rows[:_MOST_PLACES]]
    return PageCheck(
        check=one.check,
        command=one.command,
        runs=one.fresh,
        failed=one.fresh_failed,
        rate=one.rate,
        seconds=one.seconds,
        places=tuple(sorted(places, key=lambda place: place.path.split("/"))),
    )


def _place(row: SituationRate, after: str, place_of: Mapping[str, int], issues_at: _IssuesAt) -> PagePlace:
    low, high = row.next_failed or (None, None)
    return copied(
        PagePlace,
        row,
        path=row.value,
        folder=row.dimension == "folder",
        low=low,
        high=high,
        after=after,
        met=tuple(
            (place_of[one.episode], one.line, tuple(dict.fromkeys(issues_at.get((one.episode, one.line), ()))))
            for one in row.failures
            if one.episode in place_of
        ),
    )


class PageRule(msgspec.Struct, frozen=True, kw_only=True):
    """A rule with what sessions show of it; ``change`` is None where there is no before.

    ``missed`` has the place of the session, the line and what was done there, of each of the newest misses.
    """

    id: str
    text: str
    file: str
    since: str
    state: State
    followed: int
    opportunities: int
    instead: int
    sessions: int
    change: BeforeAfter | None
    missed: tuple[tuple[int, int | None, str], ...]


class PageRules(msgspec.Struct, frozen=True, kw_only=True):
    """The rules that sessions show something of, and those that are missing; ``into`` is the file for them."""

    rules: tuple[PageRule, ...]
    unobservable: int
    nothing: str
    unread: str
    note: str
    proposals: tuple[Proposal, ...]
    proposals_note: str
    into: str


def page_rules(found: RuleList, advice: Advice, *, place_of: Mapping[str, int]) -> PageRules:
    """The rules of a project as the page has them; ``place_of`` are the places of sessions by episode."""
    return PageRules(
        rules=tuple(_rule(one, place_of) for one in found.rules),
        unobservable=found.unobservable,
        nothing=not_read(found.unread) or NOTHING_TO_SHOW,
        unread=not_read(found.unread),
        note=found.note,
        proposals=advice.proposals,
        proposals_note=advice.note,
        into=advice.into,
    )


def _rule(one: RuleRecord, place_of: Mapping[str, int]) -> PageRule:
    rule = one.rule
    missed = tuple(
        (place_of[it.episode], it.line, f"{it.what}: {it.why}" if it.why else it.what)
        for it in one.missed
        if it.episode in place_of
    )
    return copied(PageRule, one, id=rule.id, text=rule.text, since=rule.since, missed=missed)
