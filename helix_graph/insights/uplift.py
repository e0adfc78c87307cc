"""Uplift: how much more often tasks succeed with an insight than without it, and ranking by that.

"Without" are the injections from which the insight was withheld at random (`helix_graph.insights.holdout`). It had been
chosen for them as well, so only chance separates the two groups, and their difference in success is the effect of
*showing* the insight (intention to treat), whether it was then taken up or not. The first estimate is for all insights
together; then one for each insight that was shown and withheld a hundred times; all others are *too early*.

Each row is weighted by the inverse of its probability of being in its group, and each group's rate is the weighted mean
(the self-normalised inverse propensity estimate, SNIPS): the chance of being withheld falls from 0.10 to 0.02 over an
insight's life, and without weights the groups would be of different times. Intervals are Newcombe's, with as many rows
as the weights are worth (Kish).

For ranking, each insight has a belief about its uplift, a normal curve with a mean and a spread, and one value is drawn
from each (Thompson sampling): an insight known to help nearly always comes first, one that was hardly tried sometimes
does, and so gets tried. Relevance decides which take part, and little more. The draws are hashes, so the same injection
is always ranked alike. Formulas and constants: `reference/causal-statistics.md` §5.3.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from statistics import NormalDist
from typing import Literal, NamedTuple

import msgspec

from helix_graph.insights.holdout import Exposure, ExposureCounts, uniform_draw
from helix_graph.insights.scoring import RELEVANCE_GATE, SAFETY_TAG
from helix_graph.stats.intervals import Interval, newcombe_interval, q_values

#: On either side, before anything is said: the interval is then about ten points wide to either side.
LEAST = 100
#: Of the insights said to help or to harm, at most about this share is expected to do neither.
FALSE_DISCOVERY_RATE = 0.10
#: As-treated and intention to treat are held to disagree from so many standard errors on.
APART = 2.0
CONFOUNDED = "uptake is confounded"

UpliftVerdict = Literal["helps", "harms", "not told apart", "too early"]


class UpliftArm(msgspec.Struct, frozen=True, kw_only=True):
    """One side of a comparison: rows, successes, and the weighted rate (0 to 1; None without rows).

    ``worth`` is how many rows of equal weight would tell as much: at most ``n``.
    """

    n: int
    successes: int
    rate: float | None
    worth: float

    @property
    def share(self) -> float:
        """The rate to reckon with: half of nothing is as good a guess as any, and it weighs nothing."""
        return 0.5 if self.rate is None else self.rate


class UptakeEffect(msgspec.Struct, frozen=True, kw_only=True):
    """What the insight does where it is taken up, reckoned in two ways that should agree.

    ``share`` (0 to 1) of those shown were taken up. ``as_treated`` is success where it was taken up less success
    where it was not, whether shown or withheld: precise, but wrong where uptake depends on how hard the task is.
    ``per_taker`` is the effect of handing over, divided by ``share``: less precise, and right in any case. ``note``
    says so when they are more than two standard errors apart, "" otherwise.
    """

    share: float
    as_treated: float
    per_taker: float
    note: str


class Uplift(msgspec.Struct, frozen=True, kw_only=True):
    """With an insight against without it; ``insight`` is None for all of them together.

    ``difference`` (-1 to 1) is the success rate of ``given`` less that of ``withheld``, ``interval`` its 95 % interval;
    both None while it is too early. ``q`` is corrected for the number of insights (None for all together). ``takers``
    is None where nobody knows whether it was taken up.
    """

    insight: str | None
    verdict: UpliftVerdict
    given: UpliftArm
    withheld: UpliftArm
    difference: float | None = None
    interval: Interval | None = None
    q: float | None = None
    takers: UptakeEffect | None = None

    @property
    def half_width(self) -> float | None:
        """Half of the interval's width: what `helix_graph.insights.holdout.propensity` asks for."""
        return None if self.interval is None else (self.interval.high - self.interval.low) / 2


class UpliftReport(msgspec.Struct, frozen=True, kw_only=True):
    """The estimate for the whole memory, and those for each insight that was ever withheld or given at random, by name.

    ``measured`` is the number of injections whose outcome is known.
    """

    measured: int
    pooled: Uplift
    insights: tuple[Uplift, ...]


def uplift_report(exposures: Iterable[Exposure]) -> UpliftReport:
    """What a log of exposures says of insights, in whatever order it comes.

    Rows count where the outcome is known and chance had a say: not those passed over, nor those of insights that are
    never withheld.
    """
    known = [one for one in exposures if one.succeeded is not None]
    by_insight: dict[str, list[Exposure]] = defaultdict(list)
    for one in known:
        if _is_random(one):
            by_insight[one.insight].append(one)
    estimates = []
    for name, rows in sorted(by_insight.items()):
        sides = _sides(rows)
        bare = Uplift(
            insight=name, verdict="too early", given=sides.given, withheld=sides.withheld, takers=_takers(rows, sides)
        )
        estimates.append(_with_interval(bare, design=1.0))
    return UpliftReport(
        measured=len({one.injection for one in known}), pooled=pooled_uplift(known), insights=_with_q_values(estimates)
    )


def describe_uplift(one: Uplift) -> str:
    """An estimate as a sentence, with both counts; too early, what is missing.

    >>> describe_uplift(Uplift(insight="run-the-tests", verdict="too early",
    ...                 given=UpliftArm(n=540, successes=378, rate=0.7, worth=540.0),
    ...                 withheld=UpliftArm(n=60, successes=30, rate=0.5, worth=60.0)))
    'run-the-tests: too early, 378 of 540 with it, 30 of 60 without; 100 of each are needed'
    """
    name = one.insight or "all insights together"
    counts = f"{one.given.successes} of {one.given.n} with it, {one.withheld.successes} of {one.withheld.n} without"
    if one.difference is None or one.interval is None:
        return f"{name}: {one.verdict}, {counts}; {LEAST} of each are needed"
    taken = ""
    if one.takers:
        taken = f"; where taken up {_points(one.takers.per_taker)}, as treated {_points(one.takers.as_treated)}"
        taken += f" ({one.takers.note})" if one.takers.note else ""
    low, high = (_points(end) for end in (one.interval.low, one.interval.high))
    return f"{name}: {one.verdict}, {_points(one.difference)} points ({low} to {high}), {counts}{taken}"


def _points(difference: float) -> str:
    return f"{100 * difference:+.0f}"


def pooled_uplift(exposures: Iterable[Exposure]) -> Uplift:
    """Does memory help at all: what handing over one insight that was chosen changes, on average over all of them.

    Insights of one injection share its outcome, so they are not so many observations. The interval is widened by as
    much as the variance between injections (of the linearised difference) exceeds that of independent rows.
    """
    rows = [one for one in exposures if one.succeeded is not None and _is_random(one)]
    sides = _sides(rows)
    return _with_interval(
        Uplift(insight=None, verdict="too early", given=sides.given, withheld=sides.withheld), _design(rows)
    )


def _is_random(one: Exposure) -> bool:
    return one.fate != "passed over" and 0 < one.propensity < 1


def _weight(one: Exposure) -> float:
    return 1 / (one.propensity if one.fate == "withheld" else 1 - one.propensity)


class _Sides(NamedTuple):
    given: UpliftArm
    withheld: UpliftArm


def _sides(rows: Sequence[Exposure]) -> _Sides:
    return _Sides(*(_side([one for one in rows if one.fate == fate]) for fate in ("given", "withheld")))


def _side(rows: Sequence[Exposure]) -> UpliftArm:
    weights = [_weight(one) for one in rows]
    total = math.fsum(weights)
    won = math.fsum(weight for weight, one in zip(weights, rows, strict=True) if one.succeeded)
    return UpliftArm(
        n=len(rows),
        successes=sum(one.succeeded is True for one in rows),
        rate=won / total if rows else None,
        worth=total**2 / math.fsum(weight**2 for weight in weights) if rows else 0.0,
    )


def _design(rows: Sequence[Exposure]) -> float:
    """By how much injections vary more than as many independent rows would; at least 1."""
    sides = _sides(rows)
    alone = _variance(sides.given) + _variance(sides.withheld)
    if not rows or not alone:
        return 1.0
    totals = {fate: math.fsum(_weight(one) for one in rows if one.fate == fate) for fate in ("given", "withheld")}
    pulls: dict[str, list[float]] = defaultdict(list)
    for one in rows:
        side, sign = (sides.given, 1) if one.fate == "given" else (sides.withheld, -1)
        pulls[one.injection].append(sign * _weight(one) / totals[one.fate] * (bool(one.succeeded) - side.share))
    return max(1.0, math.fsum(math.fsum(pull) ** 2 for pull in pulls.values()) / alone)


def _variance(side: UpliftArm) -> float:
    return side.share * (1 - side.share) / side.worth if side.worth else 0.0


def _with_interval(bare: Uplift, design: float) -> Uplift:
    """With its difference and interval, if it is not too early."""
    given, withheld = bare.given, bare.withheld
    if min(given.n, withheld.n) < LEAST:
        return bare
    trials = given.worth / design, withheld.worth / design
    interval = newcombe_interval((given.share * trials[0], withheld.share * trials[1]), trials)
    difference = given.share - withheld.share
    verdict: UpliftVerdict = "not told apart" if interval.low <= 0 <= interval.high else _sign(difference)
    return msgspec.structs.replace(bare, verdict=verdict, difference=difference, interval=interval)


def _sign(difference: float) -> UpliftVerdict:
    return "helps" if difference > 0 else "harms"


def _with_q_values(estimates: Sequence[Uplift]) -> tuple[Uplift, ...]:
    """With the q of each, and a verdict by it: of a hundred insights that do nothing, five have an interval off 0."""
    tested = [one for one in estimates if one.difference is not None]
    by_name = dict(zip([one.insight for one in tested], q_values([_chance(one) for one in tested]), strict=True))
    judged = []
    for one in estimates:
        if one.difference is None:
            judged.append(one)
            continue
        q = by_name[one.insight]
        verdict: UpliftVerdict = _sign(one.difference) if q <= FALSE_DISCOVERY_RATE else "not told apart"
        judged.append(msgspec.structs.replace(one, q=q, verdict=verdict))
    return tuple(judged)


def _chance(one: Uplift) -> float:
    """How likely so large a difference would be, in either direction, if there were none (score test)."""
    given, withheld = one.given, one.withheld
    both = (given.share * given.worth + withheld.share * withheld.worth) / (given.worth + withheld.worth)
    error = math.sqrt(both * (1 - both) * (1 / given.worth + 1 / withheld.worth))
    return 2 * NormalDist().cdf(-abs(given.share - withheld.share) / error) if error else 1.0


def _takers(rows: Sequence[Exposure], sides: _Sides) -> UptakeEffect | None:
    """None where uptake is unknown, or too few took it up, left it or went without it."""
    given = [one for one in rows if one.fate == "given"]
    if any(one.taken_up is None for one in given):
        return None
    took, left = _side([one for one in given if one.taken_up]), _side([one for one in given if not one.taken_up])
    if min(took.n, left.n, sides.withheld.n) < LEAST:
        return None
    share = took.n / len(given)
    return UptakeEffect(
        share=share,
        as_treated=took.share - _side([one for one in rows if one.fate == "withheld" or not one.taken_up]).share,
        per_taker=(sides.given.share - sides.withheld.share) / share,
        note=_note(left, sides.withheld),
    )


def _note(left: UpliftArm, withheld: UpliftArm) -> str:
    """Whether the two reckonings disagree.

    Their difference is a multiple of one simpler thing: success where it was shown and left, less success where
    it was withheld. In neither did the insight do anything, so they differ only if uptake goes with something else.
    """
    apart = abs(left.share - withheld.share)
    error = math.sqrt(_variance(left) + _variance(withheld))
    return CONFOUNDED if apart > APART * error else ""


#: Injections that a belief starts with, as if seen: half of them succeeded, and the insight changed nothing.
PRIOR_WEIGHT = 4.0
#: What a full point of relevance adds to the draw: it breaks ties, and never outweighs a known effect.
RELEVANCE_WEIGHT = 0.15
MIDDLE = 0.5
#: Withdrawn when the uplift is negative with more than this chance, after this many treated injections.
HARM_CONFIDENCE = 0.95
LEAST_TREATED = 20
#: Injections with a known outcome before ranking by uplift is offered: at five insights each and one in ten withheld,
#: so many hold the hundred withheld that the first estimate needs.
MEASURED_NEEDED = 200
MOST_RANKED = 5
_STANDARD = NormalDist()


class Belief(NamedTuple):
    """About an insight's uplift: the mean (-1 to 1) and the standard deviation."""

    mean: float
    deviation: float


class RankCandidate(msgspec.Struct, frozen=True, kw_only=True):
    """An insight that might be shown; ``relevance`` is its cosine with the task (-1 to 1)."""

    insight: str
    relevance: float
    counts: ExposureCounts = ExposureCounts()
    tags: tuple[str, ...] = ()


class RankedInsight(msgspec.Struct, frozen=True, kw_only=True):
    """An insight in its place, and the number by which it was ranked."""

    insight: str
    drawn: float


class Readiness(msgspec.Struct, frozen=True, kw_only=True):
    """Whether ranking by uplift is offered; ``too_early`` says what is missing, "" when nothing is."""

    measured: int
    needed: int = MEASURED_NEEDED

    @property
    def too_early(self) -> str:
        """What is missing.

        >>> Readiness(measured=12).too_early
        'too early: 12 of 200 injections with a known outcome'
        """
        if self.measured >= self.needed:
            return ""
        return f"too early: {self.measured} of {self.needed} injections with a known outcome"


def belief(counts: ExposureCounts) -> Belief:
    """What the counts say of the uplift, pulled to none where they are few.

    >>> mean, deviation = belief(ExposureCounts(treated=16, successes=12, untreated=16, untreated_successes=8))
    >>> f"{mean:.2f} ± {deviation:.2f}"
    '0.20 ± 0.15'
    """
    treated, successes, untreated, spared = counts
    without = (spared + PRIOR_WEIGHT / 2) / (untreated + PRIOR_WEIGHT)
    with_ = (successes + PRIOR_WEIGHT * without) / (treated + PRIOR_WEIGHT)
    variance = with_ * (1 - with_) / (treated + PRIOR_WEIGHT) + without * (1 - without) / (untreated + PRIOR_WEIGHT)
    return Belief(with_ - without, math.sqrt(variance))


def is_withdrawn(counts: ExposureCounts) -> bool:
    """Whether an insight has done harm so often that it is no longer shown.

    The mean lies so many deviations below 0 that less than one in twenty of the curve is above it.

    >>> is_withdrawn(ExposureCounts(treated=20, successes=5, untreated=40, untreated_successes=24))
    True
    >>> is_withdrawn(ExposureCounts(treated=19, successes=0, untreated=40, untreated_successes=40))
    False
    """
    mean, deviation = belief(counts)
    return counts.treated >= LEAST_TREATED and mean < _STANDARD.inv_cdf(1 - HARM_CONFIDENCE) * deviation


def rank_by_uplift(
    contenders: Iterable[RankCandidate], *, injection: str, salt: str, places: int = MOST_RANKED
) -> tuple[RankedInsight, ...]:
    """The insights to hand over, best first: at most ``places``, each relevant, not withdrawn, and drawn above 0.

    Whatever is tagged ``safety`` takes part whatever was drawn: a low draw is no reason to keep a warning back.

    >>> helpful = ExposureCounts(treated=90, successes=72, untreated=90, untreated_successes=45)
    >>> contenders = [RankCandidate(insight="run-the-tests", relevance=0.5, counts=helpful),
    ...               RankCandidate(insight="off-topic", relevance=0.2, counts=helpful)]
    >>> [place.insight for place in rank_by_uplift(contenders, injection="episode-7", salt="a")]
    ['run-the-tests']
    """
    drawn = [_drawn(one, injection, salt) for one in contenders if one.relevance >= RELEVANCE_GATE]
    standing = [place for place in drawn if place is not None]
    return tuple(sorted(standing, key=lambda place: (-place.drawn, place.insight))[:places])


def _drawn(one: RankCandidate, injection: str, salt: str) -> RankedInsight | None:
    mean, deviation = belief(one.counts)
    luck = _STANDARD.inv_cdf(uniform_draw("rank", salt, injection, one.insight))
    drawn = mean + deviation * luck + RELEVANCE_WEIGHT * (one.relevance - MIDDLE)
    if SAFETY_TAG not in one.tags and (drawn <= 0 or is_withdrawn(one.counts)):
        return None
    return RankedInsight(insight=one.insight, drawn=drawn)
