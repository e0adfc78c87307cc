"""Builds a report: what stands out, the period's sessions, its new issues and those that came back, its newest fixes.

A session counts as success, partly done or failed when something other than the agent itself confirms it; the agent's
own word is counted separately. Nothing compares the period with the time before: whatever was worked on then was
something else.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from helix_episodes.model import Episode, Event, Fix, parse_timestamp
from helix_graph.issues.model import remedy_sentence
from helix_graph.quoted_answers import quoted_answer
from helix_graph.web.report_model import (
    MOST_OF_ONE,
    Damage,
    EvidenceLedger,
    Outcomes,
    OutcomeSpan,
    PeriodReport,
    ReportIssue,
    ReportRepair,
    ReportRule,
    day_of,
    errors_of,
    period_of,
    rate_of,
    sessions_of,
)
from helix_graph.web.report_text import count
from helix_graph.web.timeline import copied

if TYPE_CHECKING:
    from datetime import datetime

    from helix_graph.causality.api import Causality
    from helix_graph.graph.api import Graph
    from helix_graph.graph.model import SkippedFile
    from helix_graph.highlights.model import Highlights
    from helix_graph.issues.api import Issues
    from helix_graph.issues.survey import IssueInFull, IssueSurvey
    from helix_graph.rules.api import Rules
    from helix_graph.web.report_model import ReportPeriod, ReportRate, ReportSession


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


#: As many issues, repairs and rules as are read; the commands have all.
_MOST_SHOWN = 5
#: So many issues are looked at: more never failed for the first time in one period.
_MOST_LOOKED_AT, _MOST_ONCE = 400, 400


def issues_of(
    survey: IssueSurvey, period: ReportPeriod, ledger: EvidenceLedger
) -> tuple[list[ReportIssue], list[ReportIssue]]:
    """The issues that the period is the first to meet, and those that came back in it, those of most sessions first.

    What came back as one of a kind is not new.
    """
    found, _ = survey.in_full(most=_MOST_LOOKED_AT, most_once=_MOST_ONCE, occurrences=MOST_OF_ONE)
    new: list[IssueInFull] = []
    regressed: list[IssueInFull] = []
    for one in found:
        issue = one.details.issue
        if issue.state in {"muted", "resolved"} or not period.holds(parse_timestamp(issue.last_seen)):
            continue
        if period.holds(parse_timestamp(issue.first_seen)):
            new.append(one)
        elif issue.state == "regressed":
            regressed.append(one)
    back = {(failure.number, failure.local) for one in regressed for failure in one.members}
    new = [one for one in new if not {(failure.number, failure.local) for failure in one.members} <= back]
    shown = [[_issue(one, survey, period, ledger) for one in several] for several in (new, regressed)]
    return shown[0], shown[1]


def _issue(one: IssueInFull, survey: IssueSurvey, period: ReportPeriod, ledger: EvidenceLedger) -> ReportIssue:
    issue, sessions = one.details.issue, survey.history.sessions
    met = {failure.number for failure in one.members}
    steps = zip(one.details.occurrences, one.locals, strict=True)
    return copied(
        ReportIssue,
        issue,
        here=sum(period.holds(parse_timestamp(sessions[number].date)) for number in met),
        remedy=remedy_sentence(quoted_answer(issue).answer),
        evidence=ledger.cite((occurrence.episode, local) for occurrence, local in reversed(list(steps))),
    )


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
    return tuple(islice(found, _MOST_SHOWN))


def fixed_of(sessions: Sequence[ReportSession], period: ReportPeriod) -> ReportRate:
    """Of the errors in the sessions of the period, each once a session, those with a verified fix."""
    within = [one.episode for one in sessions if period.holds(one.at)]
    met = sum(len({label for label, _ in errors_of(episode)}) for episode in within)
    return rate_of(sum(len({label for label, _, _ in verified_fixes(episode)}) for episode in within), met)


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


def damage_of(root: Path, skipped: Iterable[SkippedFile]) -> tuple[Damage, ...]:
    """The files of the memory that could not be read."""
    damaged = []
    for path, problem in sorted({one.path: one.problem for one in skipped}.items()):
        file = Path(path)
        inside = file.is_relative_to(root)
        damaged.append(Damage(file=str(file.relative_to(root)) if inside else file.name, problem=problem))
    return tuple(damaged)


def project_name(root: Path, projects: Iterable[str | None]) -> str:
    """What the project of a memory is called: by the folder of most of its sessions, else by its own."""
    named = Counter(one for one in projects if one).most_common(1)
    return named[0][0] if named else root.absolute().parent.name


def build_report(  # noqa: PLR0913  (the parts that a report is made of)
    root: Path,
    *,
    graph: Graph,
    causality: Causality,
    issues: Issues,
    rules: Rules,
    highlights: Highlights,
    days: int,
    until: datetime | None,
) -> PeriodReport:
    """The report of the ``days`` before ``until``, or up to the newest session."""
    pending = graph.status().pending
    episodes, skipped = causality.episodes()
    sessions = sessions_of(episodes)
    period = period_of([one.at for one in sessions if one.at], days=days, until=until)
    ledger = EvidenceLedger(episodes)
    bars = tuple(_span(sessions, one) for one in period.bars()) if period else ()
    outcomes = Outcomes(period=_span(sessions, period), bars=bars) if period else None
    # Evidence is numbered as it is cited, so what is cited is chosen in the order in which it is read.
    new, regressed = list[ReportIssue](), list[ReportIssue]()
    if period:
        with issues.open() as survey:
            new, regressed = issues_of(survey, period, ledger)
    repairs = repairs_of(sessions, ledger, period) if period else ()
    damaged = damage_of(root, skipped)
    written = rules.list(limit=_MOST_SHOWN)
    return PeriodReport(
        title=project_name(root, (one.project for one in episodes)),
        since=str(period.start.date()) if period else "",
        last=str(period.last.date()) if period else "",
        days=days,
        sessions=outcomes.period.sessions if outcomes else 0,
        sessions_in_all=len(sessions),
        notes=tuple(_notes(sessions, outcomes, damaged=len(damaged), pending=pending)),
        highlights=highlights.found,
        outcomes=outcomes,
        fixed=fixed_of(sessions, period) if period else rate_of(0, 0),
        new=tuple(new[:_MOST_SHOWN]),
        new_in_all=len(new),
        regressed=tuple(regressed[:_MOST_SHOWN]),
        regressed_in_all=len(regressed),
        repairs=repairs,
        rules=tuple(copied(ReportRule, one, id=one.rule.id, text=one.rule.text) for one in written.rules),
        rules_in_all=written.rows,
        damaged=damaged,
        pending=pending,
        evidence=ledger.entries(),
    )


def _notes(
    sessions: Sequence[ReportSession], outcomes: Outcomes | None, *, damaged: int, pending: int
) -> Iterator[str]:
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
    if damaged:
        yield f"{count(damaged, 'file')} of the memory could not be read; the rest is here."
    if pending:
        yield f"{count(pending, 'file')} changed since the graph was compiled: run helix-graph sync."
