"""How sure can one be of a rate, given the counts behind it?"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.proportion import proportion_confint  # type: ignore[import-untyped]  # (ships no types)

from helix_graph.stats.intervals import Interval, wilson_interval


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


@given(counts())
def test_holds_the_observed_rate_and_stays_between_0_and_1(pair: tuple[int, int]) -> None:
    successes, trials = pair
    interval = wilson_interval(successes, trials)
    assert 0 <= interval.low <= successes / trials <= interval.high <= 1


@given(counts(most=1000))
def test_more_of_the_same_narrows_it(pair: tuple[int, int]) -> None:
    successes, trials = pair
    narrow, wide = wilson_interval(10 * successes, 10 * trials), wilson_interval(successes, trials)
    assert narrow.high - narrow.low < wide.high - wide.low


@given(counts())
def test_success_and_failure_mirror_each_other(pair: tuple[int, int]) -> None:
    successes, trials = pair
    interval, mirrored = wilson_interval(successes, trials), wilson_interval(trials - successes, trials)
    assert mirrored.low == pytest.approx(1 - interval.high)
    assert mirrored.high == pytest.approx(1 - interval.low)


def test_without_trials_anything_is_possible() -> None:
    assert wilson_interval(0, 0) == Interval(low=0.0, high=1.0)


def test_ends_are_exact_where_nothing_or_everything_succeeded() -> None:
    assert wilson_interval(0, 7).low == 0
    assert wilson_interval(7, 7).high == 1


@pytest.mark.parametrize(("successes", "trials"), [(4, 3), (-1, 3), (0, -1), (1, 0)])
def test_impossible_counts_are_refused(successes: int, trials: int) -> None:
    with pytest.raises(ValueError, match=f"{successes} successes of {trials} trials"):
        wilson_interval(successes, trials)


@pytest.mark.parametrize("confidence", [0.0, 1.0, 95.0, -0.5, float("nan")])
def test_impossible_confidence_is_refused(confidence: float) -> None:
    with pytest.raises(ValueError, match="confidence is"):
        wilson_interval(1, 3, confidence=confidence)
