"""Outcomes over time: how the sessions of each day came out, and whether the period differs from what was before it.

A session counts as success, partly done or failed when somebody or something other than the agent vouches for it; the
agent's own word stands apart. The difference to the time before is that of two rates, with Newcombe's interval. It
compares whatever was worked on then with whatever was worked on now: it is no effect of anything.
"""

from __future__ import annotations

from itertools import dropwhile
from typing import TYPE_CHECKING

from helix_graph.report.model import Change, Outcomes, Span, rate_of
from helix_graph.statistics import newcombe_interval

if TYPE_CHECKING:
    from collections.abc import Sequence

    from helix_graph.report.model import Rate
    from helix_graph.report.period import Period
    from helix_graph.report.sessions import Session


def outcomes_of(sessions: Sequence[Session], period: Period) -> Outcomes:
    """How they came out, in the period and before it."""
    now = _span(sessions, period)
    trend = tuple(_span(sessions, one) for one in period.trend())
    return Outcomes(
        period=now,
        bars=tuple(_span(sessions, one) for one in period.bars()),
        trend=(*dropwhile(lambda one: not one.sessions, trend[:-1]), now),
        change=_change(now.rate, trend[:-1]),
    )


def _span(sessions: Sequence[Session], period: Period) -> Span:
    within = [one for one in sessions if period.holds(one.at)]
    judged = [one for one in within if one.success is not None]
    succeeded = sum(one.success is True for one in judged)
    partly = sum(one.episode.outcome == "partial" for one in judged)
    unknown = sum(one.episode.outcome == "unknown" for one in within)
    return Span(
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


def _change(now: Rate, earlier: Sequence[Span]) -> Change:
    before = rate_of(sum(one.rate.successes for one in earlier), sum(one.rate.n for one in earlier))
    if now.too_early or before.too_early:
        reason = f"{now.n} judged sessions now and {before.n} before; ten of each are needed"
        return Change(
            verdict="too early", before=before, spans=len(earlier), difference=None, interval=None, reason=reason
        )
    interval = newcombe_interval((now.successes, before.successes), (now.n, before.n))
    difference = now.successes / now.n - before.successes / before.n
    apart = "not told apart" if interval.low <= 0 <= interval.high else ("higher" if difference > 0 else "lower")
    return Change(verdict=apart, before=before, spans=len(earlier), difference=difference, interval=interval, reason="")
