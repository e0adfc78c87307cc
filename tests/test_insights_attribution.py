"""Which insights count as having had a hand in an outcome, and what is said of why?"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helix_graph.insights.attribution import RULE, AttributionSignals, attribute, path_strength


def signs(cosine: float | None, *, linked: bool = True, up: bool = False, path: float = 0.0) -> AttributionSignals:
    return AttributionSignals(cosine=cosine, linked=linked, taken_up=up, path=path)


@pytest.mark.parametrize(
    ("given_signs", "causal"),
    [
        (signs(0.2, up=True, path=0.5), True),
        (signs(0.5, up=True, path=0.5), True),
        (signs(0.40, up=True), True),
        (signs(0.399, up=True), False),
        (signs(0.9, path=0.5), False),
        (signs(0.9), False),
        (signs(0.40, linked=False), True),
        (signs(0.399, linked=False, up=True, path=0.9), False),
        (signs(None, up=True, path=0.5), True),
        (signs(None, up=True), False),
        (signs(None, linked=False), False),
        (AttributionSignals(cosine=None, words=0.40, linked=False), True),
        (AttributionSignals(cosine=None, words=0.399, linked=False), False),
        (AttributionSignals(cosine=0.399, words=0.9, linked=False), False),
        (AttributionSignals(cosine=None, words=0.40, linked=True, taken_up=True), True),
    ],
)
def test_the_rule(given_signs: AttributionSignals, *, causal: bool) -> None:
    assert attribute(given_signs).causal == causal


@pytest.mark.parametrize(
    ("given_signs", "score"),
    [
        (signs(0.40, linked=False), 0.5),
        (signs(0.20, linked=False), 0.0),
        (signs(0.60, linked=False), 1.0),
        (signs(0.95, linked=False), 1.0),
        (signs(-0.3, linked=False), 0.0),
        (signs(0.40), 0.05 * 0.5),
        (signs(0.40, path=0.9), 0.05 * 0.5),
        (signs(0.40, up=True), 0.35 * 0.5),
        (signs(0.40, up=True, path=0.6), 1 - 0.4 * 0.75),
        (signs(None, up=True, path=0.6), 0.6),
        (signs(None, linked=False), 0.0),
    ],
)
def test_the_score_by_hand(given_signs: AttributionSignals, score: float) -> None:
    assert attribute(given_signs).score == pytest.approx(score)


def test_the_record_names_the_rule_that_it_was_made_by() -> None:
    assert attribute(signs(0.5, up=True, path=0.5)).rule == RULE == "strict 3"


@pytest.mark.parametrize(
    ("given_signs", "why"),
    [
        (signs(0.9), "linked, but not taken up after it was shown"),
        (signs(0.1, up=True, path=0.5), "taken up, and a path of strength 0.50 leads to the outcome"),
        (signs(0.1, up=True), "taken up, no path to the outcome; cosine 0.10 with the outcome, below 0.40"),
        (signs(None, linked=False), "no links, so by the text alone: no vectors to compare it with the outcome"),
        (signs(0.5, linked=False), "no links, so by the text alone: cosine 0.50 with the outcome, at least 0.40"),
    ],
)
def test_every_record_says_why(given_signs: AttributionSignals, why: str) -> None:
    assert attribute(given_signs).reason == why


unit = st.floats(0, 1)


@given(cosine=st.floats(-1, 1), path=unit, more=unit, linked=st.booleans(), up=st.booleans())
def test_scores_are_shares_and_more_of_a_sign_never_lowers_them(
    cosine: float,
    path: float,
    more: float,
    *,
    linked: bool,
    up: bool,
) -> None:
    less = attribute(AttributionSignals(cosine=cosine, linked=linked, taken_up=up, path=path)).score or 0.0
    closer = (
        attribute(AttributionSignals(cosine=min(1.0, cosine + more), linked=linked, taken_up=up, path=path)).score
        or 0.0
    )
    firmer = (
        attribute(AttributionSignals(cosine=cosine, linked=linked, taken_up=up, path=min(1.0, path + more))).score
        or 0.0
    )
    assert 0 <= less <= closer <= 1
    assert less <= firmer + 1e-12 or path == 0


@pytest.mark.parametrize(
    ("weights", "strength"),
    [
        ([], 0.0),
        ([0.6], 0.6),
        ([0.6, 0.6], 0.85 * 0.6),
        ([0.9, 0.4], 0.85 * 0.6),
        ([1.0] * 5, 0.85**4),
        ([1.0] * 6, 0.0),
        ([0.6, 0.0], 0.0),
    ],
)
def test_a_path_s_strength_by_hand(weights: list[float], strength: float) -> None:
    assert path_strength(weights) == pytest.approx(strength)
