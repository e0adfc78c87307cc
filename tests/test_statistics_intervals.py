"""How sure can one be of a rate, given the counts behind it?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom  # type: ignore[import-untyped]  # (ships no types)
from statsmodels.stats.proportion import proportion_confint  # type: ignore[import-untyped]  # (ships no types)

from helix_graph.stats.intervals import Interval, likelihood_interval, wilson_interval

if TYPE_CHECKING:
    from collections.abc import Callable


@st.composite
def counts(draw: st.DrawFn, *, most: int = 100_000) -> tuple[int, int]:
    trials = draw(st.integers(1, most))
    return draw(st.integers(0, trials)), trials


@given(counts(), st.floats(0.5, 0.999))
def test_agrees_with_statsmodels(pair: tuple[int, int], confidence: float) -> None:
    successes, trials = pair
    low, high = proportion_confint(successes, trials, alpha=1 - confidence, method="wilson")
    interval = wilson_interval(successes, trials, confidence=confidence)
    assert (interval.low, interval.high) == pytest.approx((low, high), abs=1e-9)


BOTH = pytest.mark.parametrize("interval_of", [wilson_interval, likelihood_interval])


@BOTH
@given(pair=counts())
def test_holds_the_observed_rate_and_stays_between_0_and_1(
    interval_of: Callable[..., Interval], pair: tuple[int, int]
) -> None:
    successes, trials = pair
    interval = interval_of(successes, trials)
    assert 0 <= interval.low <= successes / trials <= interval.high <= 1


@given(counts(most=1000))
def test_more_of_the_same_narrows_it(pair: tuple[int, int]) -> None:
    successes, trials = pair
    narrow, wide = wilson_interval(10 * successes, 10 * trials), wilson_interval(successes, trials)
    assert narrow.high - narrow.low < wide.high - wide.low


@BOTH
@given(pair=counts())
def test_success_and_failure_mirror_each_other(interval_of: Callable[..., Interval], pair: tuple[int, int]) -> None:
    successes, trials = pair
    interval, mirrored = interval_of(successes, trials), interval_of(trials - successes, trials)
    assert mirrored.low == pytest.approx(1 - interval.high)
    assert mirrored.high == pytest.approx(1 - interval.low)


@given(counts(most=300), st.floats(1e-7, 1e-3))
def test_limits_by_likelihood_leave_out_as_little_far_out_as_they_say(pair: tuple[int, int], tail: float) -> None:
    """The exact chance of what was seen (itself counted half) at either limit is at most eight times the tail."""
    successes, trials = pair
    interval = likelihood_interval(successes, trials, confidence=1 - 2 * tail)
    seen_half = [binom.pmf(successes, trials, end) / 2 for end in (interval.low, interval.high)]
    assert binom.sf(successes, trials, interval.low) + seen_half[0] <= 8 * tail or not successes
    assert binom.cdf(successes - 1, trials, interval.high) + seen_half[1] <= 8 * tail or successes == trials


@BOTH
def test_without_trials_anything_is_possible(interval_of: Callable[..., Interval]) -> None:
    assert interval_of(0, 0) == Interval(low=0.0, high=1.0)


@BOTH
def test_ends_are_exact_where_nothing_or_everything_succeeded(interval_of: Callable[..., Interval]) -> None:
    assert interval_of(0, 7).low == 0
    assert interval_of(7, 7).high == 1


def test_a_rate_one_step_of_floating_point_below_1_has_limits() -> None:
    assert likelihood_interval(7 * (1 - 2**-53), 7).high == pytest.approx(1)


@BOTH
@pytest.mark.parametrize(("successes", "trials"), [(4, 3), (-1, 3), (0, -1), (1, 0)])
def test_impossible_counts_are_refused(interval_of: Callable[..., Interval], successes: int, trials: int) -> None:
    with pytest.raises(ValueError, match=f"{successes} successes of {trials} trials"):
        interval_of(successes, trials)


@pytest.mark.parametrize("confidence", [0.0, 1.0, 95.0, -0.5, float("nan")])
def test_impossible_confidence_is_refused(confidence: float) -> None:
    with pytest.raises(ValueError, match="confidence is"):
        wilson_interval(1, 3, confidence=confidence)
