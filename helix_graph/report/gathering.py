"""The report itself: what the doors of the memory answer, put together for some days."""

from __future__ import annotations

from typing import TYPE_CHECKING

from helix_graph.causality.repeats import repeats_of
from helix_graph.report.evidence import Ledger
from helix_graph.report.findings import what_fails, what_works
from helix_graph.report.health import health_of, learnt_of
from helix_graph.report.model import Report, rate_of
from helix_graph.report.outcomes import outcomes_of
from helix_graph.report.period import period_of
from helix_graph.report.sessions import sessions_of
from helix_graph.report.troubles import fixed_of, repairs_of, troubles_of
from helix_graph.report.words import count

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import datetime
    from pathlib import Path

    from helix_graph.causality.door import Causality
    from helix_graph.graph.door import Graph
    from helix_graph.insights.door import Insights
    from helix_graph.report.model import Health, Outcomes
    from helix_graph.report.sessions import Session


def report_of(
    root: Path, *, graph: Graph, causality: Causality, insights: Insights, days: int, until: datetime | None
) -> Report:
    """The report of the ``days`` before ``until``, or up to the newest session.

    Raises:
        GraphNotCompiled: There is no graph yet.
    """
    status = graph.status()
    survey = causality.survey()
    episodes, skipped = causality.episodes()
    sessions = sessions_of(episodes)
    period = period_of([one.at for one in sessions if one.at], days=days, until=until)
    ledger = Ledger(episodes)
    outcomes = outcomes_of(sessions, period) if period else None
    # Evidence is numbered as it is cited, so what is cited is chosen in the order in which it is read.
    works, failing = what_works(survey, ledger, period), what_fails(survey, ledger, period)
    troubles = troubles_of(sessions, ledger, period) if period else ()
    repairs = repairs_of(sessions, ledger, period) if period else ()
    repeats = repeats_of(episodes).total
    health = health_of(root, status=status, survey=survey, skipped=skipped, insights=insights.health())
    return Report(
        title=root.parent.name,
        since=str(period.start.date()) if period else "",
        last=str(period.last.date()) if period else "",
        days=days,
        sessions=outcomes.period.sessions if outcomes else 0,
        notes=tuple(_notes(sessions, outcomes, health)),
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


def _notes(sessions: Sequence[Session], outcomes: Outcomes | None, health: Health) -> Iterator[str]:
    """What is missing, in sentences."""
    if outcomes and outcomes.period.unknown:
        yield f"Of {count(outcomes.period.unknown, 'session')} of these days nobody knows how they ended."
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
