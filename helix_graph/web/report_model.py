"""The content of a report, as one frozen value: ``--format json`` prints it; page and Markdown are made from it.

Figures that other parts of the memory count are taken unchanged (`Pattern`, `Uplift`). A statement names its evidence
by number; `Report.evidence` has the entries.
"""

from __future__ import annotations

from typing import Any

import msgspec

from helix_graph.graph.model import rate
from helix_graph.graph.patterns import ENOUGH_OCCURRENCES, Pattern
from helix_graph.insights.uplift import Uplift
from helix_graph.stats.intervals import Interval, wilson_interval


class ReportRate(msgspec.Struct, frozen=True, kw_only=True):
    """``successes`` of ``n``, with Wilson's 95 % interval; ``rate`` (0 to 1) is None of nothing.

    ``too_early`` marks fewer than ten: the counts are true, a rate would promise more than they hold.
    """

    successes: int
    n: int
    rate: float | None
    interval: Interval
    too_early: bool


def rate_of(successes: int, n: int) -> ReportRate:
    """The rate that counts come to.

    >>> rate_of(3, 4).too_early, rate_of(9, 12).rate
    (True, 0.75)
    """
    return ReportRate(
        successes=successes,
        n=n,
        rate=rate(successes, n),
        interval=wilson_interval(successes, n),
        too_early=n < ENOUGH_OCCURRENCES,
    )


class OutcomeSpan(msgspec.Struct, frozen=True, kw_only=True):
    """How the sessions of some days came out: from the day ``start`` to the day ``end``, both included.

    ``succeeded``, ``partly`` and ``failed`` are of sessions for which somebody or something vouches. Of ``claimed``
    there is only the agent's own word, of ``unknown`` nothing. ``rate`` is that of success among the vouched for.
    """

    start: str
    end: str
    sessions: int
    succeeded: int
    partly: int
    failed: int
    claimed: int
    unknown: int
    rate: ReportRate


class OutcomeChange(msgspec.Struct, frozen=True, kw_only=True):
    """The success rate of the period less that of the ``spans`` before it: ``difference`` (-1 to 1), 95 % interval.

    ``verdict`` is higher, lower, not told apart or too early; of the last ``reason`` says why, and there is no
    difference.
    """

    verdict: str
    before: ReportRate
    spans: int
    difference: float | None
    interval: Interval | None
    reason: str


class Outcomes(msgspec.Struct, frozen=True, kw_only=True):
    """How sessions came out: in the period, in its days (or weeks), and in as long times before it, the oldest first.

    ``trend`` begins with the first such time that has a session; its last is the period.
    """

    period: OutcomeSpan
    bars: tuple[OutcomeSpan, ...]
    trend: tuple[OutcomeSpan, ...]
    change: OutcomeChange


class ReportFinding(msgspec.Struct, frozen=True, kw_only=True):
    """A pattern, which counts all sessions; ``in_period`` says whether its newest use falls into the period."""

    pattern: Pattern
    in_period: bool
    evidence: tuple[int, ...]


class ReportFindings(msgspec.Struct, frozen=True, kw_only=True):
    """The patterns shown, and how many there are to choose from; ``too_early`` says why none is compared, if so.

    Where none is ``shown`` of several, all of them rest on too few sessions.
    """

    shown: tuple[ReportFinding, ...]
    of: int
    too_early: str


class RecurringError(msgspec.Struct, frozen=True, kw_only=True):
    """An error of the period that more than one session has met.

    ``sessions`` of the period met it, ``earlier`` ones had; ``fixed`` are those of the period in which the failing
    check was then seen to pass.
    """

    label: str
    sessions: int
    earlier: int
    fixed: ReportRate
    evidence: tuple[int, ...]


class ReportRepair(msgspec.Struct, frozen=True, kw_only=True):
    """A verified fix: what failed, and the changes after which ``check`` passed (each may have done it).

    ``failed``, ``changed`` (the first change) and ``passed`` are evidence.
    """

    label: str
    message: str
    changes: tuple[str, ...]
    check: str
    date: str
    episode: str
    failed: int | None
    changed: int | None
    passed: int | None


class ReportAdvice(msgspec.Struct, frozen=True, kw_only=True):
    """An insight that a lot decided on, in its words, and what it did."""

    content: str
    uplift: Uplift


class ReportInsights(msgspec.Struct, frozen=True, kw_only=True):
    """What insights do: over ``measured`` showings with a known outcome, all together and each of ``of``."""

    measured: int
    pooled: Uplift
    shown: tuple[ReportAdvice, ...]
    of: int


class Damage(msgspec.Struct, frozen=True, kw_only=True):
    """A file that could not be used; ``file`` is relative to the memory."""

    file: str
    problem: str


class MemoryHealth(msgspec.Struct, frozen=True, kw_only=True):
    """How the memory does.

    ``pending`` files have changed since the graph was compiled, which makes its figures old. ``shared`` is the share of
    mentions whose label another session has too. ``compared`` sessions allowed ``comparisons``, or ``too_early`` says
    why none. ``insights`` is `Insights.health` without what depends on the hour.
    """

    sessions: int
    outcomes: dict[str, int]
    damaged: tuple[Damage, ...]
    nodes: int
    edges: int
    pending: int
    shared: float | None
    compared: int
    comparisons: int
    too_early: str
    insights: dict[str, Any]


class CitedEvidence(msgspec.Struct, frozen=True, kw_only=True):
    """A place in a log, by its ``number`` (from 1): the session, its step (what it was), the line and its words.

    ``date`` is the day on which the session began, ``basis`` what its outcome rests on (`Episode.outcome_basis`).
    """

    number: int
    episode: str
    task: str
    outcome: str
    basis: str
    date: str
    step: str
    text: str
    log: str
    line: int | None
    quote: str


class PeriodReport(msgspec.Struct, frozen=True, kw_only=True):
    """The report of the ``days`` from the day ``since`` to the day ``last``, both included; "" without dated sessions.

    ``sessions`` are those of the period, ``fixed`` counts its errors (each once a session) and those with a verified
    fix. ``notes`` say in words what is missing. ``met_again`` counts the errors of the whole memory that an earlier
    session had met (`helix_graph.causality.repeats`), ``fixed_before`` those of them that it had fixed.
    """

    title: str
    since: str
    last: str
    days: int
    sessions: int
    notes: tuple[str, ...]
    outcomes: Outcomes | None
    fixed: ReportRate
    met_again: ReportRate
    fixed_before: ReportRate
    works: ReportFindings
    failing: ReportFindings
    troubles: tuple[RecurringError, ...]
    repairs: tuple[ReportRepair, ...]
    learnt: ReportInsights
    health: MemoryHealth
    evidence: tuple[CitedEvidence, ...]
