"""The fold: what the log of feedback comes to for one insight.

Effectiveness moves a tenth of the way to the outcome when the insight was causal (1 for delivered, 0 for blocked), and
a tenth of the way to neutral when it was not. Since the order of entries matters, they are taken by date and id, and so
the same log gives the same standing wherever and however often it is folded.

>>> from helix_graph.insights.settings import V6
>>> standing = Standing()
>>> for day in range(10):
...     standing = judged(standing, at=f"2026-11-{day + 1:02}", outcome="delivered", causal=True, settings=V6)
>>> round(standing.effectiveness, 3)
0.826
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from msgspec.structs import replace

from helix_graph.insights.clock import read, stamp
from helix_graph.insights.model import Standing
from helix_graph.insights.scoring import ema, erode

if TYPE_CHECKING:
    from collections.abc import Iterable

    from helix_graph.insights.model import Entry, Insight, Outcome
    from helix_graph.insights.settings import Settings


def fold(insight: Insight, entries: Iterable[Entry], *, own: frozenset[str], settings: Settings) -> Standing:
    """The standing of an insight after ``entries``, which are in order.

    ``own`` are the uids under which the log speaks of it: its own, and those of insights that were merged into it.
    """
    standing = Standing(effectiveness=insight.initial)
    for entry in entries:
        standing = after(standing, entry, own=own, since=insight.created_at, settings=settings)
    return standing


def after(standing: Standing, entry: Entry, *, own: frozenset[str], since: str, settings: Settings) -> Standing:
    """The standing after one more entry. An entry that names the insight twice judges it once, in its favour."""
    if entry.kind == "decay":
        return decayed(standing, at=entry.ts, days=entry.days, since=since, settings=settings)
    causal = [verdict.causal for verdict in entry.verdicts if verdict.uid in own]
    if not causal:
        return standing
    if entry.kind == "given":
        return entry.standing or standing
    return judged(standing, at=entry.ts, outcome=entry.outcome, causal=any(causal), settings=settings)


def judged(standing: Standing, *, at: str, outcome: Outcome | None, causal: bool, settings: Settings) -> Standing:
    """The standing after one feedback."""
    old = standing.effectiveness
    aim = 0.0 if outcome == "blocked" else 1.0
    return replace(
        standing,
        effectiveness=ema(old, aim, settings=settings) if causal else erode(old, settings=settings),
        use_count=standing.use_count + 1,
        causal_hits=standing.causal_hits + causal,
        last_used=at,
        last_feedback_at=at if causal else standing.last_feedback_at,
    )


def decayed(standing: Standing, *, at: str, days: int, since: str, settings: Settings) -> Standing:
    """The standing after idle time: one step towards neutral for each full ``days`` without use.

    Time that has been counted is not counted again, so it makes no difference how often one asks.
    """
    if standing.effectiveness == settings.neutral:
        return standing  # there is nowhere to go, and the time need not be counted: only feedback leads away
    start, end = read(max(standing.decayed_until or "", standing.last_used or since)), read(at)
    if start is None or end is None:
        return standing
    steps = int((end - start) / timedelta(days=days))
    if steps <= 0:
        return standing
    distance = (standing.effectiveness - settings.neutral) * (1 - settings.decay_step) ** steps
    return replace(
        standing,
        effectiveness=settings.neutral + distance,
        decayed_until=stamp(start + timedelta(days=days * steps)),
    )
