"""Are the pooled differences, tests and corrections what statsmodels computes, and honest where it is silent?"""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import fisher_exact  # type: ignore[import-untyped]  # (ships no types)
from statsmodels.stats.contingency_tables import StratifiedTable  # type: ignore[import-untyped]  # (as above)
from statsmodels.stats.multitest import multipletests  # type: ignore[import-untyped]  # (as above)
from statsmodels.stats.proportion import confint_proportions_2indep  # type: ignore[import-untyped]  # (as above)

from helix_graph.stats.intervals import level_after_selection, q_values
from helix_graph.stats.strata import _exact, association, chances, e_value, risk_difference, risk_ratio, tables_of
from thoroughness import few_rows

counts = st.integers(0, 40)
table = st.tuples(counts, counts, counts, counts).filter(
    lambda cells: min(cells[0] + cells[1], cells[2] + cells[3]) > 0
)
worlds = st.lists(table, min_size=1, max_size=8)


def ours(cells: list[tuple[int, int, int, int]]) -> np.ndarray:
    """(without failed, without succeeded, with failed, with succeeded) a stratum, as our tables."""
    return np.array(cells, dtype=np.int64).reshape(-1, 2, 2)


def theirs(cells: list[tuple[int, int, int, int]]) -> StratifiedTable:
    """The same with the exposed and the successes first, as statsmodels has them."""
    return StratifiedTable([np.array([[d, c], [b, a]], dtype=float) for a, b, c, d in cells])


@given(worlds)
def test_association_is_the_cochran_mantel_haenszel_statistic(cells: list[tuple[int, int, int, int]]) -> None:
    z = association(ours(cells))
    expected = theirs(cells)
    varies = any((a + c) and (b + d) for a, b, c, d in cells)
    if varies:
        assert z**2 == pytest.approx(expected.test_null_odds(correction=False).statistic, rel=1e-9, abs=1e-9)
    else:
        assert z == 0


@given(worlds)
def test_the_pooled_ratio_is_that_of_mantel_and_haenszel(cells: list[tuple[int, int, int, int]]) -> None:
    ratio = risk_ratio(ours(cells))
    below = sum(b * (c + d) / (a + b + c + d) for a, b, c, d in cells)
    if below:
        assert ratio == pytest.approx(theirs(cells).riskratio_pooled)
    else:
        assert ratio is None


def interval_of(cells: list[tuple[int, int, int, int]], level: float = 0.95) -> tuple[float, float]:
    difference = risk_difference(ours(cells))
    assert difference is not None
    interval = difference.interval(level)
    return interval.low, interval.high


@given(table, st.sampled_from([0.9, 0.95, 0.999]))
def test_one_stratum_is_the_plain_difference_of_rates_with_newcombes_interval(
    cells: tuple[int, int, int, int], level: float
) -> None:
    a, b, c, d = cells
    difference = risk_difference(ours([cells]))
    assert difference is not None
    assert difference.estimate == pytest.approx(d / (c + d) - b / (a + b))
    expected = confint_proportions_2indep(d, c + d, b, a + b, method="newcomb", compare="diff", alpha=1 - level)
    assert interval_of([cells], level) == pytest.approx(expected, abs=1e-9)


@given(worlds)
def test_an_interval_holds_its_estimate_and_is_never_empty(cells: list[tuple[int, int, int, int]]) -> None:
    difference = risk_difference(ours(cells))
    assert difference is not None
    low, high = interval_of(cells)
    assert -1 <= low <= difference.estimate + 1e-12
    assert difference.estimate - 1e-12 <= high <= 1
    assert low < high


def test_as_many_strata_as_sessions_are_worth_less_than_one_table_of_them() -> None:
    pooled = interval_of([(10, 90, 10, 90)])
    thin = interval_of([(1, 9, 1, 9)] * 10)
    lopsided = interval_of([(1, 17, 1, 1), (9, 73, 9, 89)])
    assert thin == pytest.approx(pooled)
    assert lopsided[1] - lopsided[0] > pooled[1] - pooled[0]


@pytest.mark.parametrize(("sessions", "success"), few_rows([(200, 0.95), (300, 0.97), (300, 0.6)], 1))
def test_where_nearly_all_succeed_nineteen_of_twenty_intervals_hold_the_truth(sessions: int, success: float) -> None:
    """Nothing matters here, so 0 is the truth; a variance of the difference held it in 70 % of the first world."""
    source = np.random.default_rng(5)
    held = []
    for _ in range(1500):
        strata, outcome = source.integers(0, 5, sessions), source.random(sessions) < success
        exposed = source.random(sessions) < source.uniform(0.05, 0.15)
        difference = risk_difference(tables_of(strata=strata, exposed=exposed, success=outcome))
        if exposed.sum() >= 10 and difference is not None:
            interval = difference.interval(0.95)
            held.append(interval.low <= 0 <= interval.high)
    assert len(held) > 1000
    assert 0.93 <= np.mean(held) <= 0.985


def test_a_difference_that_is_only_between_tasks_vanishes_within_them() -> None:
    easy, hard = (2, 18, 8, 72), (72, 8, 18, 2)  # without failed, succeeded; with failed, succeeded
    pooled = risk_difference(ours([easy, hard]))
    crude = risk_difference(ours([tuple(np.add(easy, hard))]))
    assert pooled is not None
    assert crude is not None
    assert abs(pooled.estimate) < 1e-9
    assert crude.estimate > 0.4


def test_strata_with_one_arm_compare_nothing() -> None:
    assert risk_difference(ours([(0, 0, 10, 20), (5, 5, 0, 0)])) is None
    both = (10, 20, 20, 10)
    assert risk_difference(ours([both, (0, 0, 3, 4)])) == risk_difference(ours([both]))


@given(worlds, st.randoms())
def test_the_order_of_strata_changes_nothing(cells: list[tuple[int, int, int, int]], source: object) -> None:
    mixed = list(cells)
    source.shuffle(mixed)  # type: ignore[attr-defined]
    one, other = risk_difference(ours(cells)), risk_difference(ours(mixed))
    assert (one is None) == (other is None)
    if one and other:
        assert one.estimate == pytest.approx(other.estimate, abs=1e-12)
        assert (one.interval(0.95).low, one.error) == pytest.approx((other.interval(0.95).low, other.error), abs=1e-9)


def test_few_expected_successes_are_tested_exactly() -> None:
    """Of 1140 ways to place three successes, 120 put all of them here; the normal curve would say 0.035."""
    less, more = chances(ours([(10, 0, 7, 3)]))
    assert more == pytest.approx(120 / 1140 / 2)
    assert less == pytest.approx(1 - 120 / 1140 / 2)


def test_of_one_session_each_way_every_chance_can_be_counted() -> None:
    """One success of two sessions falls to either; what was seen is counted half."""
    assert chances(ours([(1, 0, 0, 1)])) == pytest.approx((0.75, 0.25))


@given(worlds)
def test_one_stratum_is_fishers_exact_test_with_the_seen_table_counted_half(
    cells: list[tuple[int, int, int, int]],
) -> None:
    a, b, c, d = cells[0]
    less, more = chances(ours(cells[:1]))
    greater, smaller = (fisher_exact([[d, c], [b, a]], alternative=way)[1] for way in ("greater", "less"))
    half = (greater + smaller - 1) / 2
    assert more == pytest.approx(greater - half, abs=1e-9)
    assert less == pytest.approx(smaller - half, abs=1e-9)


def test_many_trials_are_tested_by_the_normal_curve_with_nearly_the_exact_result() -> None:
    many = ours([(300, 700, 340, 660), (150, 250, 160, 240)])
    assert chances(many).less == pytest.approx(0.5 * math.erfc(-association(many) / math.sqrt(2)))
    assert chances(many).less == pytest.approx(_exact(many).less, rel=0.1)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=60))
def test_q_values_are_those_of_benjamini_and_hochberg(found: list[float]) -> None:
    assert q_values(found) == pytest.approx(multipletests(found, method="fdr_bh")[1])


def test_of_the_rows_shown_for_their_chance_nineteen_of_twenty_intervals_hold_the_truth() -> None:
    """Ten thousand normal estimates of 0 and of 2 standard errors, shown where one-sided p is at most 0.02."""
    source = np.random.default_rng(3)
    quantile = NormalDist().inv_cdf
    reach, bar = quantile((1 + level_after_selection(0.02)) / 2), quantile(1 - 0.02)
    for true in (0.0, 2.0):
        seen = true + source.standard_normal(200_000)
        shown = np.abs(seen) >= bar
        assert np.mean(np.abs(seen - true)[shown] <= reach) >= 0.95


def test_an_unseen_cause_must_be_stronger_than_what_it_explains() -> None:
    assert e_value(1.0) == 1.0
    assert e_value(2.0) == pytest.approx(2 + math.sqrt(2))
    assert e_value(0.5) == pytest.approx(e_value(2.0))
    assert e_value(0.0) is None


def test_units_become_tables() -> None:
    exposed = np.array([True, True, False, False])
    success = np.array([True, False, True, True])
    assert tables_of(strata=np.array([0, 0, 0, 2]), exposed=exposed, success=success).tolist() == [
        [[0, 1], [1, 1]],
        [[0, 0], [0, 0]],
        [[0, 1], [0, 0]],
    ]
