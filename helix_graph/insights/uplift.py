"""Uplift: how much more often tasks succeed with an insight than without it, and ranking by that.

"Without" are the injections from which the insight was withheld at random (`helix_graph.insights.holdout`). It had been
chosen for them as well, so only chance separates the two groups, and their difference in success is the effect of
*showing* the insight (intention to treat), whether it was then taken up or not. The first estimate is for all insights
together; then one for each insight that was shown and withheld a hundred times; all others are *too early*.

Rows are compared only with rows that were withheld with the same chance (Mantel-Haenszel over these strata), since that
chance falls over an insight's life, and tasks change meanwhile. Weighting by the inverse of the chance is as fair and
says less: of 40 effects of ten points either way it found half as many (`benchmarks/feedback effects`). Intervals are
MOVER's, as of all comparisons (`helix_graph.stats.strata`).

For ranking, each insight has a belief about its uplift, a normal curve with a mean and a spread, and one value is drawn
from each (Thompson sampling): an insight known to help nearly always comes first, one that was hardly tried sometimes
does, and so gets tried. Relevance decides which take part, and little more. The draws are hashes, so the same injection
is always ranked alike. Formulas and constants: `reference/causal-statistics.md` §5.3.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from statistics import NormalDist
from typing import Literal, NamedTuple

import msgspec
import numpy as np

from helix_graph.insights.holdout import Exposure, ExposureCounts, uniform_draw
from helix_graph.insights.scoring import RELEVANCE_GATE, SAFETY_TAG
from helix_graph.stats.intervals import Interval, newcombe_interval, q_values
from helix_graph.stats.strata import RiskDifference, Tables, chances, risk_difference, tables_of

#: On either side, before anything is said: the interval is then about ten points wide to either side.
LEAST = 100
#: Of the insights said to help or to harm, at most about this share is expected to do neither.
FALSE_DISCOVERY_RATE = 0.10
#: As-treated and intention to treat are held to disagree from so many standard errors on.
APART = 2.0
CONFOUNDED = "uptake is confounded"

UpliftVerdict = Literal["helps", "harms", "could be chance", "too early"]


class UpliftArm(msgspec.Struct, frozen=True, kw_only=True):
    """One side of a comparison: rows, successes, and the rate with the weights of the strata (0 to 1).

    ``rate`` is None where no stratum has both sides. ``worth`` is how many rows without strata would tell as much.
    """

    n: int
    successes: int
    rate: float | None
    worth: float


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
    estimates, chance = [], {}
    for name, rows in sorted(by_insight.items()):
        tables = _tables(rows, exposed=_is_given)
        estimates.append(_estimate(name, rows, tables, takers=_takers(rows)))
        chance[name] = min(1.0, 2 * min(chances(tables)))
    return UpliftReport(
        measured=len({one.injection for one in known}),
        pooled=pooled_uplift(known),
        insights=_with_q_values(estimates, chance),
    )


def missing_rows(given: int, withheld: int) -> str:
    """What either side lacks before anything is said, as the end of a sentence; empty when both are ready."""
    lacking = [
        f"{LEAST - rows} more {side}" for rows, side in ((given, "with it"), (withheld, "without it")) if rows < LEAST
    ]
    return f"; {' and '.join(lacking)} are needed" if lacking else ""


def pooled_uplift(exposures: Iterable[Exposure]) -> Uplift:
    """Does memory help at all: what handing over one insight that was chosen changes, on average over all of them.

    Insights of one injection share its outcome, so they are not so many observations. The interval is widened by as
    much as the variance between injections (of the linearised difference) exceeds that of independent rows.
    """
    rows = [one for one in exposures if one.succeeded is not None and _is_random(one)]
    tables = _tables(rows, exposed=_is_given)
    return _estimate(None, rows, tables, design=_design(rows, tables))


def _is_random(one: Exposure) -> bool:
    return one.fate != "passed over" and 0 < one.propensity < 1


def _is_given(one: Exposure) -> bool:
    return one.fate == "given"


def _succeeded(one: Exposure) -> bool:
    return one.succeeded is True


_Question = Callable[[Exposure], bool]


def _tables(rows: Sequence[Exposure], *, exposed: _Question, success: _Question = _succeeded) -> Tables:
    """One table for each chance of being withheld."""
    places = {chance: place for place, chance in enumerate(sorted({one.propensity for one in rows}))}
    return tables_of(
        strata=np.array([places[one.propensity] for one in rows], dtype=np.int64),
        exposed=np.array([exposed(one) for one in rows], dtype=bool),
        success=np.array([success(one) for one in rows], dtype=bool),
    )


def _estimate(
    name: str | None,
    rows: Sequence[Exposure],
    tables: Tables,
    *,
    design: float = 1.0,
    takers: UptakeEffect | None = None,
) -> Uplift:
    """The difference with its interval, where each side has rows enough."""
    found = risk_difference(tables)
    rates, worth = (found.rates, found.sessions) if found else ((None, None), (0.0, 0.0))
    given, withheld = (
        UpliftArm(n=len(side), successes=sum(map(_succeeded, side)), rate=rate, worth=size)
        for side, rate, size in zip(
            ([one for one in rows if _is_given(one) == wanted] for wanted in (True, False)), rates, worth, strict=True
        )
    )
    bare = Uplift(insight=name, verdict="too early", given=given, withheld=withheld, takers=takers)
    if found is None or min(given.n, withheld.n) < LEAST:
        return bare
    trials = worth[0] / design, worth[1] / design
    interval = newcombe_interval((found.rates[0] * trials[0], found.rates[1] * trials[1]), trials)
    verdict: UpliftVerdict = "could be chance" if interval.low <= 0 <= interval.high else _sign(found.estimate)
    return msgspec.structs.replace(bare, verdict=verdict, difference=found.estimate, interval=interval)


def _design(rows: Sequence[Exposure], tables: Tables) -> float:
    """By how much injections vary more than as many independent rows would; at least 1."""
    sizes = tables.sum(axis=2).astype(np.float64)
    weights = sizes.prod(axis=1) / np.maximum(sizes.sum(axis=1), 1)
    if not weights.sum():
        return 1.0
    weights /= weights.sum()
    rates = tables[:, :, 1] / np.maximum(sizes, 1)
    alone = float((weights[:, None] ** 2 * rates * (1 - rates) / np.maximum(sizes, 1)).sum())
    places = {chance: place for place, chance in enumerate(sorted({one.propensity for one in rows}))}
    pulls: dict[str, list[float]] = defaultdict(list)
    for one in rows:
        cell = places[one.propensity], int(_is_given(one))
        pull = weights[cell[0]] / sizes[cell] * (_succeeded(one) - rates[cell])
        pulls[one.injection].append(float(pull if cell[1] else -pull))
    return max(1.0, math.fsum(math.fsum(pull) ** 2 for pull in pulls.values()) / alone) if alone else 1.0


def _sign(difference: float) -> UpliftVerdict:
    return "helps" if difference > 0 else "harms"


def _with_q_values(estimates: Sequence[Uplift], chance: Mapping[str, float]) -> tuple[Uplift, ...]:
    """With the q of each, and a verdict by it: of a hundred insights that do nothing, five have an interval off 0."""
    tested = [one.insight or "" for one in estimates if one.difference is not None]
    by_name = dict(zip(tested, q_values([chance[name] for name in tested]), strict=True))
    judged = []
    for one in estimates:
        if one.difference is None:
            judged.append(one)
            continue
        q = by_name[one.insight or ""]
        verdict: UpliftVerdict = _sign(one.difference) if q <= FALSE_DISCOVERY_RATE else "could be chance"
        judged.append(msgspec.structs.replace(one, q=q, verdict=verdict))
    return tuple(judged)


def _takers(rows: Sequence[Exposure]) -> UptakeEffect | None:
    """None where uptake is unknown, or too few took it up, left it or went without it."""
    given = [one for one in rows if _is_given(one)]
    if any(one.taken_up is None for one in given):
        return None
    took = sum(_took(one) for one in given)
    if min(took, len(given) - took, len(rows) - len(given)) < LEAST:
        return None
    effect = risk_difference(_tables(rows, exposed=_is_given))
    uptake = risk_difference(_tables(rows, exposed=_is_given, success=_took))
    treated = risk_difference(_tables(rows, exposed=_took))
    left = risk_difference(_tables([one for one in rows if not _took(one)], exposed=_is_given))
    if not (effect and uptake and treated and left):
        return None
    return UptakeEffect(
        share=uptake.rates[0],
        as_treated=treated.estimate,
        per_taker=effect.estimate / uptake.rates[0],
        note=_note(left),
    )


def _took(one: Exposure) -> bool:
    return one.taken_up is True


def _note(left: RiskDifference) -> str:
    """Whether the two reckonings disagree.

    Their difference is a multiple of one simpler thing: success where it was shown and left, less success where
    it was withheld. In neither did the insight do anything, so they differ only if uptake goes with something else.
    """
    error = math.sqrt(sum(rate * (1 - rate) / size for rate, size in zip(left.rates, left.sessions, strict=True)))
    return CONFOUNDED if abs(left.estimate) > APART * error else ""


#: Injections that a belief starts with, as if seen: they succeeded as often as all, and the insight changed nothing.
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
    """Whether ranking by uplift is offered; ``too_early`` says what is missing, "" when nothing is.

    ``measured`` injections have a known outcome; of what was shown or withheld at random in them, ``given`` and
    ``withheld`` count either side. Without a control group a ranking would go by plain success.
    """

    measured: int
    given: int = 0
    withheld: int = 0
    needed: int = MEASURED_NEEDED

    @property
    def too_early(self) -> str:
        """What is missing.

        >>> Readiness(measured=12).too_early
        'too early: 12 of 200 injections with a known outcome'
        >>> Readiness(measured=240, given=1100, withheld=60).too_early
        'too early: 240 injections with a known outcome; 40 more without it are needed'
        """
        if self.measured < self.needed:
            return f"too early: {self.measured} of {self.needed} injections with a known outcome"
        if not self.withheld:
            return (
                "no control group: nothing was withheld; `withhold = 0.1` under [insights] in .helix/config.toml "
                "withholds one in ten at random"
            )
        missing = missing_rows(self.given, self.withheld)
        return f"too early: {self.measured} injections with a known outcome{missing}" if missing else ""


def readiness_of(exposures: Iterable[Exposure]) -> Readiness:
    """Whether a log holds enough on each side to rank by uplift."""
    known = [one for one in exposures if one.succeeded is not None]
    sides = Counter(one.fate for one in known if _is_random(one))
    return Readiness(measured=len({one.injection for one in known}), given=sides["given"], withheld=sides["withheld"])


def success_rate(exposures: Iterable[Exposure]) -> float:
    """The share of measured injections that succeeded: where the belief about either side begins."""
    outcomes = {one.injection: one.succeeded for one in exposures if one.succeeded is not None}
    return sum(map(bool, outcomes.values())) / len(outcomes) if outcomes else MIDDLE


def belief(counts: ExposureCounts, *, base: float) -> Belief:
    """What the counts say of the uplift, pulled to none where they are few.

    Both sides begin at ``base``, the memory's own success rate: beginning at one half, every insight of a memory whose
    tasks mostly succeed would seem to help.

    >>> mean, deviation = belief(
    ...     ExposureCounts(treated=16, successes=12, untreated=16, untreated_successes=8), base=0.5
    ... )
    >>> f"{mean:.2f} ± {deviation:.2f}"
    '0.20 ± 0.15'
    """
    treated, successes, untreated, spared = counts
    without = (spared + PRIOR_WEIGHT * base) / (untreated + PRIOR_WEIGHT)
    with_ = (successes + PRIOR_WEIGHT * without) / (treated + PRIOR_WEIGHT)
    variance = with_ * (1 - with_) / (treated + PRIOR_WEIGHT) + without * (1 - without) / (untreated + PRIOR_WEIGHT)
    return Belief(with_ - without, math.sqrt(variance))


def is_withdrawn(counts: ExposureCounts, *, base: float) -> bool:
    """Whether an insight has done harm so often that it is no longer shown.

    The mean lies so many deviations below 0 that less than one in twenty of the curve is above it.

    >>> is_withdrawn(ExposureCounts(treated=20, successes=5, untreated=40, untreated_successes=24), base=0.6)
    True
    >>> is_withdrawn(ExposureCounts(treated=19, successes=0, untreated=40, untreated_successes=40), base=0.6)
    False
    """
    mean, deviation = belief(counts, base=base)
    return counts.treated >= LEAST_TREATED and mean < _STANDARD.inv_cdf(1 - HARM_CONFIDENCE) * deviation


def rank_by_uplift(
    contenders: Iterable[RankCandidate], *, injection: str, salt: str, base: float, places: int = MOST_RANKED
) -> tuple[RankedInsight, ...]:
    """The insights to hand over, best first: at most ``places``, each relevant, not withdrawn, and drawn above 0.

    Whatever is tagged ``safety`` takes part whatever was drawn: a low draw is no reason to keep a warning back.

    >>> helpful = ExposureCounts(treated=90, successes=72, untreated=90, untreated_successes=45)
    >>> contenders = [RankCandidate(insight="run-the-tests", relevance=0.5, counts=helpful),
    ...               RankCandidate(insight="off-topic", relevance=0.2, counts=helpful)]
    >>> [place.insight for place in rank_by_uplift(contenders, injection="episode-7", salt="a", base=0.6)]
    ['run-the-tests']
    """
    drawn = [_drawn(one, injection, salt, base=base) for one in contenders if one.relevance >= RELEVANCE_GATE]
    standing = [place for place in drawn if place is not None]
    return tuple(sorted(standing, key=lambda place: (-place.drawn, place.insight))[:places])


def _drawn(one: RankCandidate, injection: str, salt: str, *, base: float) -> RankedInsight | None:
    mean, deviation = belief(one.counts, base=base)
    luck = _STANDARD.inv_cdf(uniform_draw("rank", salt, injection, one.insight))
    drawn = mean + deviation * luck + RELEVANCE_WEIGHT * (one.relevance - MIDDLE)
    if SAFETY_TAG not in one.tags and (drawn <= 0 or is_withdrawn(one.counts, base=base)):
        return None
    return RankedInsight(insight=one.insight, drawn=drawn)
