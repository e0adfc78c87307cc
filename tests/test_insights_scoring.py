"""Do the seed's formulas give the seed's figures?"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helix_graph.insights.scoring import NEUTRAL, causal_adjusted, ema, erode, recency, score

unit = st.floats(0, 1)


@pytest.mark.parametrize(("times", "value"), [(1, 0.55), (10, 0.826), (20, 0.939)])
def test_deliveries_from_neutral(times: int, value: float) -> None:
    held = NEUTRAL
    for _ in range(times):
        held = ema(held, 1.0)
    assert held == pytest.approx(value, abs=5e-4)


def test_one_block_and_one_erosion() -> None:
    assert ema(0.8, 0.0) == pytest.approx(0.72)
    assert erode(0.8) == pytest.approx(0.77)
    assert erode(0.2) == pytest.approx(0.23)


@given(unit)
def test_erosion_never_crosses_neutral(held: float) -> None:
    assert abs(erode(held) - NEUTRAL) <= abs(held - NEUTRAL)
    assert (erode(held) - NEUTRAL) * (held - NEUTRAL) >= 0


@pytest.mark.parametrize(
    ("hits", "uses", "factor"), [(0, 2, 1.0), (0, 3, 0.3), (1, 4, 0.3), (2, 5, 0.4), (5, 5, 1.0), (3, 10, 0.3)]
)
def test_the_share_of_hits_counts_from_three_uses_on(hits: int, uses: int, factor: float) -> None:
    assert causal_adjusted(0.8, causal_hits=hits, use_count=uses) == pytest.approx(0.8 * factor)


@given(unit, unit, st.floats(0, 1000))
def test_scores_are_shares(relevance: float, effectiveness: float, days: float) -> None:
    assert 0 <= score(relevance=relevance, effectiveness=effectiveness, recency=recency(days)) <= 1 + 1e-12


def test_weights_and_half_life() -> None:
    assert score(relevance=1, effectiveness=0, recency=0) == 0.7
    assert score(relevance=0, effectiveness=1, recency=0) == 0.2
    assert score(relevance=0, effectiveness=0, recency=1) == 0.1
    assert recency(7) == pytest.approx(0.5**0.5)
