"""What the page says of places and of rules.

Places: after a change of which folder or file each check fails, and what is changed together. The figures are those of
`helix-graph checks` and `helix-graph fragile`; here every folder and file is listed that has runs enough, so that a
place can be compared with the check's own rate. Rules: how far each is followed, what changed when it came, and which
are missing, with the figures of `helix-graph rules` and `helix-graph advise`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING

import msgspec

from helix_graph.causality.check_rates import check_report, count_runs
from helix_graph.causality.fragile import ChangedTogether, fragile_report
from helix_graph.rules.model import NOTHING_TO_SHOW, BeforeAfter, Proposal, State, not_read
from helix_graph.web.timeline import copied

if TYPE_CHECKING:
    from collections.abc import Sequence

    from helix_graph.causality.check_rates import CheckRate, SituationRate
    from helix_graph.graph.observations import Trial
    from helix_graph.rules.model import Advice, RuleList, RuleRecord

#: The places of a check that are on the page; those with most runs.
_MOST_PLACES = 150
_MOST_PAIRS = 60


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
