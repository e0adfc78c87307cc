"""What do injections with and without an insight say of it, and when do they say nothing?"""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helix_graph.insights.holdout import Exposure, ExposureCounts, Fate, count_exposures
from helix_graph.insights.uplift import pooled_uplift, uplift_report
from helix_graph.stats.intervals import newcombe_interval

if TYPE_CHECKING:
    from helix_graph.insights.uplift import Uplift


def newcomb(a: int, n: int, b: int, m: int) -> tuple[float, float]:
    """The interval as statsmodels has it, which takes a second to load."""
    from statsmodels.stats.proportion import confint_proportions_2indep  # type: ignore[import-untyped]  # (ships no types)

    low, high = confint_proportions_2indep(a, n, b, m, compare="diff", method="newcomb")
    return float(low), float(high)


def rows(
    fate: Fate,
    *,
    n: int,
    successes: int,
    insight: str = "run-the-tests",
    propensity: float = 0.1,
    taken_up: bool | None = None,
) -> list[Exposure]:
    return [
        Exposure(
            insight=insight,
            injection=f"{insight} {fate} {propensity} {taken_up} {number}",
            fate=fate,
            propensity=propensity,
            succeeded=number < successes,
            taken_up=taken_up,
        )
        for number in range(n)
    ]


def only(deliveries: list[Exposure]) -> Uplift:
    (found,) = uplift_report(deliveries).insights
    return found


def test_with_against_without() -> None:
    found = only(rows("given", n=900, successes=630) + rows("withheld", n=100, successes=50))
    assert (found.given.n, found.given.successes, found.withheld.n, found.withheld.successes) == (900, 630, 100, 50)
    assert found.difference == pytest.approx(0.2)
    assert found.interval is not None
    low, high = newcomb(630, 900, 50, 100)
    assert (found.interval.low, found.interval.high) == pytest.approx((low, high))
    assert found.verdict == "helps"


@pytest.mark.parametrize(
    ("given_n", "withheld_n", "early"), [(900, 99, True), (99, 100, True), (900, 100, False), (100, 100, False)]
)
def test_a_hundred_on_each_side_or_it_is_too_early(given_n: int, withheld_n: int, *, early: bool) -> None:
    found = only(rows("given", n=given_n, successes=given_n) + rows("withheld", n=withheld_n, successes=0))
    assert (found.verdict == "too early") == early
    assert (found.difference is None) == early
    assert (found.interval is None) == early
    assert (found.given.n, found.withheld.n) == (given_n, withheld_n)


def test_harm_is_called_harm_and_nothing_is_told_apart_from_luck() -> None:
    harmful = rows("given", n=900, successes=360) + rows("withheld", n=100, successes=70)
    assert only(harmful).verdict == "harms"
    idle = rows("given", n=900, successes=450) + rows("withheld", n=100, successes=48)
    assert only(idle).verdict == "could be chance"


@pytest.mark.slow
def test_one_striking_insight_of_many_is_luck() -> None:
    striking = rows("given", n=900, successes=540) + rows("withheld", n=100, successes=49)
    idle = [
        row
        for n in range(40)
        for row in rows("given", n=900, successes=450, insight=f"idle-{n:02}")
        + rows("withheld", n=100, successes=50, insight=f"idle-{n:02}")
    ]
    alone, among = only(striking), uplift_report(striking + idle).insights[-1]
    assert (alone.insight, alone.verdict) == (among.insight, "helps")
    assert among.verdict == "could be chance"


def test_rows_are_compared_with_rows_of_the_same_chance() -> None:
    """Early injections (one in ten withheld) were hard, late ones (one in fifty) easy; the insight does nothing."""
    early = rows("given", n=900, successes=180) + rows("withheld", n=100, successes=20)
    late = rows("given", n=4900, successes=3920, propensity=0.02)
    late += rows("withheld", n=100, successes=80, propensity=0.02)
    found = only(early + late)
    assert found.difference == pytest.approx(0.0, abs=1e-12)
    plain = (180 + 3920) / 5800 - 100 / 200
    assert plain > 0.2
    assert 199 < found.withheld.worth <= 200, "every withheld row counts; weights by the inverse chance left 138"


def test_what_chance_had_no_say_in_does_not_count() -> None:
    counted = rows("given", n=200, successes=100) + rows("withheld", n=100, successes=50)
    passed = rows("passed over", n=500, successes=500)
    safety = rows("given", n=500, successes=500, propensity=0.0)
    unknown = [
        Exposure(insight="run-the-tests", injection=f"u{n}", fate="given", propensity=0.1, succeeded=None)
        for n in range(50)
    ]
    assert only(counted + passed + safety + unknown) == only(counted)
    assert uplift_report(counted + unknown).measured == 300


def test_the_order_of_the_log_does_not_matter() -> None:
    log = rows("given", n=300, successes=200, taken_up=True) + rows("given", n=200, successes=90, taken_up=False)
    log += rows("withheld", n=120, successes=50) + rows("withheld", n=30, successes=9, propensity=0.02)
    mixed = random.Random(3).sample(log, len(log))  # noqa: S311  (repeatable, not secret)
    assert uplift_report(mixed) == uplift_report(log)
    assert count_exposures(mixed) == count_exposures(log)


def test_nothing_at_all_is_too_early() -> None:
    report = uplift_report([])
    assert (report.measured, report.insights, report.pooled.verdict) == (0, (), "too early")


def test_an_estimate_with_its_interval_and_what_uptake_adds() -> None:
    told = rows("given", n=600, successes=400, taken_up=True) + rows("given", n=400, successes=100, taken_up=False)
    told += rows("withheld", n=400, successes=100)
    one = only(told)
    assert one.difference is not None
    assert one.interval is not None
    assert one.takers is not None
    estimate = (one.difference, one.interval.low, one.interval.high, one.takers.per_taker, one.takers.as_treated)
    assert [round(100 * value) for value in estimate] == [25, 20, 30, 42, 42]
    assert (one.verdict, one.takers.note) == ("helps", "")
    confounded = rows("given", n=600, successes=400, taken_up=True) + rows("given", n=400, successes=0, taken_up=False)
    takers = only(confounded + rows("withheld", n=400, successes=100)).takers
    assert takers is not None
    assert takers.note == "uptake is confounded"


class TestPooled:
    """All insights together."""

    def shared(self, injections: int, each: int) -> list[Exposure]:
        """Injections of ``each`` insights; in every tenth all of them are withheld. Half of either kind succeeds."""
        return [
            Exposure(
                insight=f"insight-{place}",
                injection=f"injection-{number}",
                fate="withheld" if number % 10 == 0 else "given",
                propensity=0.1,
                succeeded=number // 10 % 2 == 0,
            )
            for number in range(injections)
            for place in range(each)
        ]

    def test_insights_of_one_injection_are_one_observation(self) -> None:
        together, single = (pooled_uplift(self.shared(2000, each)) for each in (5, 1))
        assert together.half_width == pytest.approx(single.half_width)
        assert together.withheld.n == 5 * single.withheld.n

    def test_insights_withheld_one_by_one_add_up(self) -> None:
        log = rows("given", n=4500, successes=2700) + rows("withheld", n=500, successes=250)
        found = pooled_uplift(log)
        assert found.insight is None
        assert found.verdict == "helps"
        assert found.difference == pytest.approx(0.1)
        low, high = newcomb(2700, 4500, 250, 500)
        assert found.interval is not None
        assert (found.interval.low, found.interval.high) == pytest.approx((low, high))

    def test_certain_only_so_far_when_everything_succeeded(self) -> None:
        found = pooled_uplift(rows("given", n=900, successes=900) + rows("withheld", n=100, successes=100))
        assert found.verdict == "could be chance"
        assert found.interval is not None
        assert found.interval.high > 0.03


class TestTakers:
    """Where it was taken up."""

    def log(self, *, ignored: int, took: int = 420) -> list[Exposure]:
        """600 took it up, 400 did not, 400 went without and half of those succeeded."""
        taken = rows("given", n=600, successes=took, taken_up=True)
        return taken + rows("given", n=400, successes=ignored, taken_up=False) + rows("withheld", n=400, successes=200)

    def test_two_reckonings_agree_where_uptake_is_by_chance(self) -> None:
        takers = only(self.log(ignored=200)).takers
        assert takers is not None
        assert takers.share == pytest.approx(0.6)
        assert takers.as_treated == pytest.approx(0.2, abs=1e-12)
        assert takers.per_taker == pytest.approx(0.2, abs=1e-12)
        assert takers.note == ""

    def test_they_part_where_it_is_not(self) -> None:
        """Handed over, it changes nothing; but it is taken up on easy tasks."""
        takers = only(self.log(took=400, ignored=100)).takers
        assert takers is not None
        assert takers.per_taker == pytest.approx(0.0, abs=1e-12)
        assert takers.as_treated > 0.15
        assert takers.note == "uptake is confounded"

    @pytest.mark.parametrize(("ignored", "confounded"), [(173, False), (227, False), (171, True), (229, True)])
    def test_more_than_two_standard_errors(self, ignored: int, *, confounded: bool) -> None:
        takers = only(self.log(ignored=ignored)).takers
        assert takers is not None
        assert bool(takers.note) == confounded

    def test_the_two_are_a_multiple_of_what_is_tested_apart(self) -> None:
        log = self.log(ignored=173)
        takers, sides = only(log).takers, only(log)
        assert takers is not None
        assert sides.withheld.rate is not None
        left, without = 173 / 400, sides.withheld.rate
        multiple = 0.4 / 0.6 + 400 / 800
        assert takers.per_taker - takers.as_treated == pytest.approx(multiple * (left - without))

    def test_nothing_is_said_where_nobody_can_tell(self) -> None:
        assert only(rows("given", n=900, successes=500) + rows("withheld", n=100, successes=50)).takers is None


def test_uptake_counts_where_it_can_be_seen() -> None:
    log = [
        *rows("given", n=3, successes=2, taken_up=True),
        *rows("given", n=2, successes=1, taken_up=False),
        *rows("withheld", n=4, successes=1),
        *rows("passed over", n=5, successes=3),
        *rows("given", n=6, successes=4, insight="unlinked"),
        Exposure(insight="unlinked", injection="x", fate="given", propensity=0.1, succeeded=None),
    ]
    assert count_exposures(log) == {
        "run-the-tests": ExposureCounts(treated=3, successes=2, untreated=11, untreated_successes=5),
        "unlinked": ExposureCounts(treated=6, successes=4),
    }


@given(st.integers(1, 5000), st.integers(1, 5000), st.floats(0, 1), st.floats(0, 1))
def test_the_interval_agrees_with_statsmodels(n: int, m: int, share: float, other: float) -> None:
    a, b = int(share * n), int(other * m)
    low, high = newcomb(a, n, b, m)
    found = newcombe_interval((a, b), (n, m))
    assert (found.low, found.high) == pytest.approx((low, high), abs=1e-9)
    assert -1 <= found.low <= a / n - b / m <= found.high <= 1


def test_the_interval_of_nothing_is_everything() -> None:
    found = newcombe_interval((3, 0), (4, 0))
    assert found.low < -0.4
    assert found.high > 0.5
