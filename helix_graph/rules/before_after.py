"""What changed when a rule came: rates per opportunity before and after, with what explains a change as well left out.

Rules are written after a bad spell, and the return to normal looks like an effect. So the burst that led to a rule is
left out of what was before: the sessions at the end in which there was most more of it than usual. A change counts as
better only without the burst, and as worse only with it. What had stopped before the rule came is not called better.
What the rule does not touch is the control: where that changed as much, something else did. All of this is
association; a rule given to half of the sessions at random is the one test of it (`helix_graph.rules.trials`).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from msgspec.structs import replace

from helix_graph.rules.model import BeforeAfter, Rate, Verdict
from helix_graph.stats.intervals import q_values, wilson_interval
from helix_graph.stats.rates import RateRatio, effective_counts, rate_ratio

if TYPE_CHECKING:
    from collections.abc import Sequence

#: Fewer sessions on either side, or fewer events to be expected on either, say nothing. (With 2 events fewer than 8 of
#: 100 made-up rules without an effect are called one, where 10 may be.)
_FEWEST_SESSIONS, _FEWEST_EVENTS = 5, 2
#: The share of verdicts that may be false, in one ledger.
FALSE_DISCOVERIES = 0.10
#: An interval within these says that a rule neither halved nor doubled what it is against.
_SAME = (0.5, 2.0)
#: What is certain to be rarer than this was as good as followed.
_RARE = 0.15
#: Where a control so seldom changes by chance, the rule has to have changed more than it did.
_CONTROL_CHANGED = 0.2
#: So many sessions without an event right before the rule say that it had stopped, where so many in a row are rarer
#: than this at the rate until then.
_FEWEST_QUIET, _BY_CHANCE = 5, 0.2
#: An end beyond this is none: before there was nothing.
_NO_END = 1000.0


class SessionCount(NamedTuple):
    """The events and opportunities of one session, of what a rule is against and of what it does not touch."""

    at: str
    events: int
    opportunities: int
    control: tuple[int, int] = (0, 0)


class Judged(NamedTuple):
    """A comparison, and the chance of it without an effect; None where it is too early."""

    change: BeforeAfter
    chance: float | None


def before_and_after(sessions: Sequence[SessionCount], *, since: str, until: str | None = None) -> Judged | None:
    """The comparison of a rule that came at ``since``; None where there is no session before it, or none after."""
    ordered = sorted(one for one in sessions if one.opportunities)
    earlier = [one for one in ordered if one.at < since]
    after = [one for one in ordered if since <= one.at and (until is None or one.at < until)]
    if not (earlier and after):
        return None
    start = _start_of_burst(earlier)
    before = earlier[:start]
    found = _ratio(before, after)
    with_burst = _ratio(earlier, after)
    controls = [one.control for one in before], [one.control for one in after]
    control = rate_ratio(*controls)
    # With nothing on one side the ratio is that of half an event: it says less than the counts.
    told = found if _happened(before) and _happened(after) else None
    change = BeforeAfter(
        before=_rate(before), after=_rate(after), left_out=sum(one.opportunities for one in earlier[start:]),
        ratio=told and told.ratio, low=told and told.low, high=told.high if told and told.high < _NO_END else None,
        control=control.ratio if control and all(any(events for events, _ in side) for side in controls) else None,
        verdict="too early", quiet=_quiet(earlier),
        last_seen=next((one.at for one in (*reversed(after), *reversed(earlier)) if one.events), None),
    )  # fmt: skip
    # So rare on both sides that nothing could get much better; where it clearly changed all the same, that is judged.
    if _is_rare(earlier) and _is_rare(after) and (found is None or found.low <= 1 <= found.high):
        return Judged(replace(change, verdict="changed nothing"), None)
    if found is None or with_burst is None or _is_early(before, after):
        return Judged(change, None)
    judged = _judged(change, found, with_burst, control)
    if judged.change.verdict == "better" and _had_stopped(earlier):
        clear = judged.chance is not None and judged.chance <= FALSE_DISCOVERIES
        return Judged(replace(change, verdict="stopped before" if clear else "too early"), None)
    return judged


def _judged(change: BeforeAfter, found: RateRatio, with_burst: RateRatio, control: RateRatio | None) -> Judged:
    # The end of the interval that is nearer to 1: after more events, also the bad spell has to be exceeded.
    told = found if found.ratio < 1 else min(found, with_burst, key=lambda one: one.ratio)
    chance = told.chance
    if control is not None and control.high < _NO_END and control.chance < _CONTROL_CHANGED:
        # The ratio of the two ratios: their distances from 1, taken at right angles.
        chance = max(chance, _against(told, control))
    if chance < 2 * FALSE_DISCOVERIES and (told.ratio < 1) == (found.ratio < 1):
        return Judged(replace(change, verdict="better" if found.ratio < 1 else "worse"), chance)
    steady = _SAME[0] <= found.low and found.high <= _SAME[1]
    return Judged(replace(change, verdict="changed nothing" if steady else "too early"), chance)


def _against(found: RateRatio, control: RateRatio) -> float:
    """The chance of a ratio so far from that of the control, by the normal curve on the logarithmic scale."""
    if not (found.low > 0 and control.low > 0 and found.high < _NO_END):
        return found.chance
    z95 = 1.96
    errors = [math.log(one.high / one.low) / (2 * z95) for one in (found, control)]
    distance = math.log(found.ratio / control.ratio)
    if (distance < 0) != (found.ratio < 1):
        return 1.0
    return math.erfc(abs(distance) / (math.hypot(*errors) * math.sqrt(2)))


def settle(judged: Sequence[Judged]) -> list[BeforeAfter]:
    """The comparisons of one ledger, with so few called better or worse that one in ten of them may be false."""
    tested = [(place, one.chance) for place, one in enumerate(judged) if one.chance is not None]
    q = dict(zip((place for place, _ in tested), q_values([chance for _, chance in tested]), strict=True))
    settled = []
    for place, one in enumerate(judged):
        weak = one.change.verdict in {"better", "worse"} and q[place] > FALSE_DISCOVERIES
        verdict: Verdict = "too early" if weak else one.change.verdict
        settled.append(replace(one.change, verdict=verdict))
    return settled


def _start_of_burst(earlier: Sequence[SessionCount]) -> int:
    """Where the burst begins: the end of the sessions that has the most events beyond the usual rate.

    The usual rate is that of the first half, which the burst has not reached.
    """
    half = earlier[: (len(earlier) + 1) // 2]
    trials = sum(one.opportunities for one in half)
    usual = sum(one.events for one in half) / trials if trials else 0.0
    most, start, excess = 0.0, len(earlier), 0.0
    for place in range(len(earlier) - 1, len(half) - 1, -1):
        excess += earlier[place].events - usual * earlier[place].opportunities
        if excess > most:
            most, start = excess, place
    return start


def _happened(sessions: Sequence[SessionCount]) -> bool:
    return any(one.events for one in sessions)


def _quiet(earlier: Sequence[SessionCount]) -> int:
    """How many sessions without an event stand right before the rule."""
    return next((place for place, one in enumerate(reversed(earlier)) if one.events), len(earlier))


def _had_stopped(earlier: Sequence[SessionCount]) -> bool:
    """Whether there was no event any more when the rule came, for longer than the rate until then leaves to chance."""
    quiet = _quiet(earlier)
    until = earlier[: len(earlier) - quiet]
    share = sum(one.events > 0 for one in until) / len(until) if until else 0.0
    return quiet >= _FEWEST_QUIET and (1 - share) ** quiet < _BY_CHANCE


def _ratio(before: Sequence[SessionCount], after: Sequence[SessionCount]) -> RateRatio | None:
    return rate_ratio([_counts(one) for one in before], [_counts(one) for one in after])


def _counts(one: SessionCount) -> tuple[int, int]:
    return one.events, one.opportunities


def _is_rare(sessions: Sequence[SessionCount]) -> bool:
    """Whether hardly anything could get better: the rate is below one in seven for certain."""
    events, opportunities = effective_counts([_counts(one) for one in sessions])
    return wilson_interval(events, opportunities).high < _RARE


def _is_early(before: Sequence[SessionCount], after: Sequence[SessionCount]) -> bool:
    if min(len(before), len(after)) < _FEWEST_SESSIONS:
        return True
    sides = _rate(before), _rate(after)
    usual = sum(one.events for one in sides) / sum(one.opportunities for one in sides)
    return min(usual * one.opportunities for one in sides) < _FEWEST_EVENTS


def _rate(sessions: Sequence[SessionCount]) -> Rate:
    return Rate(
        events=sum(one.events for one in sessions),
        opportunities=sum(one.opportunities for one in sessions),
        sessions=len(sessions),
    )
