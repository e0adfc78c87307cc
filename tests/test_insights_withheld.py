"""Which insights are withheld: by lot, so often as said, and never where safety is at stake?"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helix_graph.insights.holdout import HoldoutCandidate, HoldoutDraw, uniform_draw, withhold

MANY = 5000


def drawn(candidate: HoldoutCandidate, *, salt: str = "a") -> list[HoldoutDraw]:
    return [withhold([candidate], injection=f"episode-{n}", salt=salt)[0] for n in range(MANY)]


@pytest.mark.parametrize(("half_width", "chance"), [(None, 0.10), (0.25, 0.10), (0.05, 0.10), (0.049, 0.02)])
def test_one_in_ten_until_the_interval_is_narrow_then_one_in_fifty(half_width: float | None, chance: float) -> None:
    lots = drawn(HoldoutCandidate(insight="run-the-tests", half_width=half_width))
    assert {one.propensity for one in lots} == {chance}
    error = (chance * (1 - chance) / MANY) ** 0.5
    assert sum(one.withheld for one in lots) / MANY == pytest.approx(chance, abs=3 * error)


def test_safety_is_never_withheld() -> None:
    lots = drawn(HoldoutCandidate(insight="never-force-push", tags=("git", "safety")))
    assert not any(one.withheld for one in lots)
    assert {one.propensity for one in lots} == {0.0}


def test_the_same_injection_draws_the_same_lots_and_another_memory_others() -> None:
    candidate = HoldoutCandidate(insight="run-the-tests")
    assert drawn(candidate) == drawn(candidate)
    assert drawn(candidate) != drawn(candidate, salt="b")


def test_an_insight_s_lot_is_its_own_whoever_else_was_chosen() -> None:
    chosen = [HoldoutCandidate(insight=f"insight-{n}") for n in range(40)]
    together = withhold(chosen, injection="episode-7", salt="a")
    alone = tuple(withhold([one], injection="episode-7", salt="a")[0] for one in reversed(chosen))
    assert together == alone[::-1]
    assert len({one.withheld for one in together}) == 2


def test_lots_of_two_insights_do_not_go_together() -> None:
    one, other = (drawn(HoldoutCandidate(insight=name)) for name in ("run-the-tests", "read-the-log"))
    both = sum(a.withheld and b.withheld for a, b in zip(one, other, strict=True))
    assert both / MANY == pytest.approx(0.01, abs=0.005)


@given(st.lists(st.text(), max_size=3), st.lists(st.text(), max_size=3))
def test_different_texts_have_different_lots_within_0_and_1(about: list[str], other: list[str]) -> None:
    assert 0 < uniform_draw(*about) < 1
    assert (uniform_draw(*about) == uniform_draw(*other)) == (about == other)


def test_a_lot_known_by_heart() -> None:
    """A change here redraws the lots of every memory: what was logged could no longer be checked."""
    assert uniform_draw("withhold", "a", "episode-7", "run-the-tests") == pytest.approx(KNOWN, abs=1e-15)


KNOWN = 0.5656421664550764
