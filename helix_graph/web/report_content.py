"""Builds a report: outcomes over time, what works and fails, recurring errors and fixes, insights, health.

A session counts as success, partly done or failed when something other than the agent itself confirms it; the agent's
own word is counted separately. The difference to the time before is that of two rates, with Newcombe's interval. It
compares whatever was worked on then with whatever was worked on now: it is not an effect of anything.

Rows of patterns and all their figures are those of `Causality.survey`; only their choice and order are decided here.
Rows that differ significantly once similar sessions are compared come first, then those with the strongest counts: by
the lower end of the interval for what works, by the upper end for what fails. So 30 of 31 comes before 10 of 10,
which is compatible with 72 %. Rows of fewer than ten uses are shown only while the memory is too small to compare
anything: later there are so many of them that some look bad by chance. Of rows that differ only in the kind of error
or of task, or in what success means, one is shown.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import dropwhile, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from helix_episodes.model import Episode, Event, Fix, parse_timestamp
from helix_graph.causality.repeated_errors import repeats_of
from helix_graph.graph.patterns import ANTI_PATTERN_OCCURRENCES, RUN_LEVELS, Pattern
from helix_graph.stats.intervals import newcombe_interval
from helix_graph.web.report_model import (
    Damage,
    EvidenceLedger,
    MemoryHealth,
    OutcomeChange,
    Outcomes,
    OutcomeSpan,
    PeriodReport,
    RecurringError,
    ReportAdvice,
    ReportFinding,
    ReportFindings,
    ReportInsights,
    ReportRepair,
    day_of,
    errors_of,
    period_of,
    rate_of,
    sessions_of,
)
from helix_graph.web.report_text import count

if TYPE_CHECKING:
    from datetime import datetime

    from helix_graph.causality.api import Causality, Survey
    from helix_graph.graph.api import Graph
    from helix_graph.graph.model import SkippedFile
    from helix_graph.graph.status import Status
    from helix_graph.highlights import Highlights
    from helix_graph.insights.api import Insights
    from helix_graph.insights.uplift import Uplift
    from helix_graph.web.report_model import ReportPeriod, ReportRate, ReportSession


def outcomes_of(sessions: Sequence[ReportSession], period: ReportPeriod) -> Outcomes:
    """How they came out, in the period and before it."""
    now = _span(sessions, period)
    trend = tuple(_span(sessions, one) for one in period.trend())
    return Outcomes(
        period=now,
        bars=tuple(_span(sessions, one) for one in period.bars()),
        trend=(*dropwhile(lambda one: not one.sessions, trend[:-1]), now),
        change=_change(now.rate, trend[:-1]),
    )


def _span(sessions: Sequence[ReportSession], period: ReportPeriod) -> OutcomeSpan:
    within = [one for one in sessions if period.holds(one.at)]
    judged = [one for one in within if one.success is not None]
    succeeded = sum(one.success is True for one in judged)
    partly = sum(one.episode.outcome == "partial" for one in judged)
    unknown = sum(one.episode.outcome == "unknown" for one in within)
    return OutcomeSpan(
        start=str(period.start.date()),
        end=str(period.last.date()),
        sessions=len(within),
        succeeded=succeeded,
        partly=partly,
        failed=len(judged) - succeeded - partly,
        claimed=len(within) - len(judged) - unknown,
        unknown=unknown,
        rate=rate_of(succeeded, len(judged)),
    )


def _change(now: ReportRate, earlier: Sequence[OutcomeSpan]) -> OutcomeChange:
    before = rate_of(sum(one.rate.successes for one in earlier), sum(one.rate.n for one in earlier))
    if now.too_early or before.too_early:
        reason = f"{now.n} judged sessions now and {before.n} before; ten of each are needed"
        return OutcomeChange(
            verdict="too early", before=before, spans=len(earlier), difference=None, interval=None, reason=reason
        )
    interval = newcombe_interval((now.successes, before.successes), (now.n, before.n))
    difference = now.successes / now.n - before.successes / before.n
    apart = "not told apart" if interval.low <= 0 <= interval.high else ("higher" if difference > 0 else "lower")
    return OutcomeChange(
        verdict=apart, before=before, spans=len(earlier), difference=difference, interval=interval, reason=""
    )


#: What works succeeds at least so often: as far from always as the original API's anti-patterns (0.3) are from never.
WORKS_FROM = 0.7
_Key = tuple[bool, bool, float, int, str, str]
#: As many as are read; the commands have all.
MOST_SHOWN = 6


def what_works(survey: Survey, ledger: EvidenceLedger, period: ReportPeriod | None) -> ReportFindings:
    """What succeeds mostly, and no less often than what else was done."""

    def best_first(row: Pattern) -> _Key:
        low = row.interval.low if row.interval else 0.0
        return not _helps(row), row.too_early, -low, -row.occurrences, row.name, row.basis

    rows = _of_episodes(survey.best(min_success_rate=WORKS_FROM, min_occurrences=ANTI_PATTERN_OCCURRENCES))
    works = [one for one in rows if _helps(one) or (not _hurts(one) and one.success_rate >= (one.base_rate or 0.0))]
    return _chosen(sorted(works, key=best_first), survey, ledger, period)


def what_fails(survey: Survey, ledger: EvidenceLedger, period: ReportPeriod | None) -> ReportFindings:
    """What succeeds seldom, and less often than what else was done; and what goes with failure among like sessions."""

    def worst_first(row: Pattern) -> _Key:
        high = row.interval.high if row.interval else 1.0
        return not _hurts(row), row.too_early, high, -row.occurrences, row.name, row.basis

    def is_worse(row: Pattern) -> bool:
        return row.success_rate < (1.0 if row.base_rate is None else row.base_rate)

    rows = {one.id: one for one in (*survey.worst(), *survey.worst(max_success_rate=1, evidence="associated"))}
    fails = [one for one in _of_episodes(rows.values()) if _hurts(one) or (not _helps(one) and is_worse(one))]
    return _chosen(sorted(fails, key=worst_first), survey, ledger, period)


def _of_episodes(rows: Iterable[Pattern]) -> Iterator[Pattern]:
    """The rows that count episodes; those of runs are for `patterns`."""
    return (row for row in rows if row.level not in RUN_LEVELS)


def _helps(row: Pattern) -> bool:
    return row.standing == "associated" and row.effect is not None and not row.effect.hurts


def _hurts(row: Pattern) -> bool:
    return row.standing == "associated" and row.effect is not None and row.effect.hurts


def _chosen(
    ranked: Iterable[Pattern], survey: Survey, ledger: EvidenceLedger, period: ReportPeriod | None
) -> ReportFindings:
    one_each: dict[tuple[str, str], Pattern] = {}
    for row in ranked:
        situation = "any task" if row.level == "task" else row.trigger.partition(": ")[0]
        one_each.setdefault((situation, row.action), row)
    rows = list(one_each.values())
    enough = [row for row in rows if not row.too_early]
    shown = (enough or (rows if survey.too_early else []))[:MOST_SHOWN]
    return ReportFindings(
        shown=tuple(
            ReportFinding(
                pattern=row,
                in_period=period is not None and period.holds(parse_timestamp(row.last_used)),
                evidence=ledger.cite(zip(row.episodes, row.decisions, strict=True)),
            )
            for row in shown
        ),
        of=len(rows),
        too_early=survey.too_early,
    )


MOST_TROUBLES = 6
MOST_REPAIRS = 8
#: One session that meets an error is an accident; two have it in common.
_AGAIN = 2
_Meetings = list[tuple["Episode", "Event"]]


def troubles_of(
    sessions: Sequence[ReportSession], ledger: EvidenceLedger, period: ReportPeriod
) -> tuple[RecurringError, ...]:
    """The errors of the period that occurred in two sessions or more, the most frequent in the period first."""
    now, before = defaultdict[str, _Meetings](list), defaultdict[str, int](int)
    for one in sessions:
        firsts: dict[str, Event] = {}  # ten runs of one failing check count once
        for label, event in errors_of(one.episode):
            firsts.setdefault(label, event)
        for label, event in firsts.items():
            if period.holds(one.at):
                now[label].append((one.episode, event))
            elif one.at and one.at < period.start:
                before[label] += 1
    again = [label for label in now if len(now[label]) + before[label] >= _AGAIN]
    ranked = sorted(again, key=lambda label: (-len(now[label]), -before[label], label))
    return tuple(_trouble(label, now[label], before[label], ledger) for label in ranked[:MOST_TROUBLES])


def _trouble(label: str, met: _Meetings, earlier: int, ledger: EvidenceLedger) -> RecurringError:
    fixed = sum(label in _fixed_in(episode) for episode, _ in met)
    return RecurringError(
        label=label,
        sessions=len(met),
        earlier=earlier,
        fixed=rate_of(fixed, len(met)),
        evidence=ledger.cite((episode.id, event.id) for episode, event in met),
    )


def _fixed_in(episode: Episode) -> set[str]:
    return {label for label, _, _ in verified_fixes(episode)}


def verified_fixes(episode: Episode) -> Iterator[tuple[str, Event, Fix]]:
    """The fixes after which the failing check was seen to pass, with label and event of the error."""
    fixes = {fix.error: fix for fix in episode.fixes if fix.verified_by}
    for label, event in errors_of(episode):
        if event.id in fixes:
            yield label, event, fixes[event.id]


def repairs_of(
    sessions: Sequence[ReportSession], ledger: EvidenceLedger, period: ReportPeriod
) -> tuple[ReportRepair, ...]:
    """The newest verified fixes of the period, one a session and label."""
    found = (
        _repair(one.episode, label, event, fix, ledger)
        for one in sessions
        if period.holds(one.at)
        for label, event, fix in {fixed[0]: fixed for fixed in verified_fixes(one.episode)}.values()
    )
    return tuple(islice(found, MOST_REPAIRS))


def fixed_of(sessions: Sequence[ReportSession], period: ReportPeriod) -> ReportRate:
    """Of the errors in the sessions of the period, each once a session, those with a verified fix."""
    within = [one.episode for one in sessions if period.holds(one.at)]
    met = sum(len({label for label, _ in errors_of(episode)}) for episode in within)
    return rate_of(sum(len(_fixed_in(episode)) for episode in within), met)


def _repair(episode: Episode, label: str, event: Event, fix: Fix, ledger: EvidenceLedger) -> ReportRepair:
    changes = [one for one in episode.decisions if one.id in fix.changes]
    return ReportRepair(
        label=label,
        message=event.message or "",
        changes=tuple(dict.fromkeys(one.chosen for one in changes)),
        check=fix.check,
        date=day_of(event.timestamp or episode.timestamp),
        episode=episode.id,
        failed=ledger.one(episode.id, event.id),
        changed=ledger.one(episode.id, changes[0].id if changes else None),
        passed=ledger.one(episode.id, fix.verified_by),
    )


#: As many insights as are read.
MOST_ADVICE = 8
#: It covers the last hour, and a report is the same at any hour.
_OF_THE_HOUR = "recent_feedback"


def learnt_of(insights: Insights) -> ReportInsights:
    """What insights do, where chance decided who got them: the firmest estimates first, then the most shown."""

    def firmest(one: Uplift) -> tuple[bool, float, int, str]:
        low = one.interval.low if one.interval else 0.0
        return one.interval is None, -low, -(one.given.n + one.withheld.n), one.insight or ""

    found = insights.uplift()
    shown = []
    for one in sorted(found.insights, key=firmest)[:MOST_ADVICE]:
        insight = insights.get(one.insight or "")  # one that was forgotten since has only its name
        shown.append(ReportAdvice(content=str(insight["content"]) if insight else "", uplift=one))
    return ReportInsights(measured=found.measured, pooled=found.pooled, shown=tuple(shown), of=len(found.insights))


def health_of(
    root: Path, *, status: Status, survey: Survey, skipped: Iterable[SkippedFile], insights: dict[str, Any]
) -> MemoryHealth:
    """How the memory does."""
    damaged = []
    for path, problem in sorted({one.path: one.problem for one in (*skipped, *survey.skipped)}.items()):
        file = Path(path)
        inside = file.is_relative_to(root)
        damaged.append(Damage(file=str(file.relative_to(root)) if inside else file.name, problem=problem))
    return MemoryHealth(
        sessions=survey.episodes,
        outcomes=survey.outcomes,
        damaged=tuple(damaged),
        nodes=status.nodes,
        edges=status.edges,
        pending=status.pending,
        shared=status.shared_mentions,
        compared=survey.compared,
        comparisons=survey.tested,
        too_early=survey.too_early,
        insights={name: value for name, value in insights.items() if name != _OF_THE_HOUR},
    )


def build_report(  # noqa: PLR0913  (the parts that a report is made of)
    root: Path,
    *,
    graph: Graph,
    causality: Causality,
    insights: Insights,
    highlights: Highlights,
    days: int,
    until: datetime | None,
) -> PeriodReport:
    """The report of the ``days`` before ``until``, or up to the newest session.

    Raises:
        GraphNotCompiled: There is no graph yet.
    """
    status = graph.status()
    survey = causality.survey()
    episodes, skipped = causality.episodes()
    sessions = sessions_of(episodes)
    period = period_of([one.at for one in sessions if one.at], days=days, until=until)
    ledger = EvidenceLedger(episodes)
    outcomes = outcomes_of(sessions, period) if period else None
    # Evidence is numbered as it is cited, so what is cited is chosen in the order in which it is read.
    works, failing = what_works(survey, ledger, period), what_fails(survey, ledger, period)
    troubles = troubles_of(sessions, ledger, period) if period else ()
    repairs = repairs_of(sessions, ledger, period) if period else ()
    repeats = repeats_of(episodes).total
    health = health_of(root, status=status, survey=survey, skipped=skipped, insights=insights.health())
    return PeriodReport(
        title=root.parent.name,
        since=str(period.start.date()) if period else "",
        last=str(period.last.date()) if period else "",
        days=days,
        sessions=outcomes.period.sessions if outcomes else 0,
        notes=tuple(_notes(sessions, outcomes, health)),
        highlights=highlights.found,
        outcomes=outcomes,
        fixed=fixed_of(sessions, period) if period else rate_of(0, 0),
        met_again=rate_of(repeats.met_again, repeats.errors),
        fixed_before=rate_of(repeats.fixed_before, repeats.met_again),
        works=works,
        failing=failing,
        troubles=troubles,
        repairs=repairs,
        learnt=learnt_of(insights),
        health=health,
        evidence=ledger.entries(),
    )


def _notes(sessions: Sequence[ReportSession], outcomes: Outcomes | None, health: MemoryHealth) -> Iterator[str]:
    """What is missing, in sentences."""
    if outcomes and outcomes.period.unknown:
        unknown = outcomes.period.unknown
        yield f"{count(unknown, 'session')} of this period {'has' if unknown == 1 else 'have'} no known outcome."
    if outcomes and outcomes.period.claimed:
        yield (
            f"Of {count(outcomes.period.claimed, 'session')} only the agent says how they ended: they are in no rate."
        )
    undated = sum(one.at is None for one in sessions)
    if undated:
        yield f"{count(undated, 'session')} without a date: in no period."
    if health.damaged:
        yield f"{count(len(health.damaged), 'file')} of the memory could not be read; the rest is here."
    if health.pending:
        yield f"{count(health.pending, 'file')} changed since the graph was compiled: its own figures are older."
