"""Patterns counted over episodes, as `Causality.survey` counts them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from helix_graph.graph.observations import distinct, trial_of
from helix_graph.graph.patterns import Pattern, count_patterns

if TYPE_CHECKING:
    from collections.abc import Iterable

    from helix_episodes.model import Episode


def mine_patterns(episodes: Iterable[Episode]) -> tuple[Pattern, ...]:
    """The patterns in some episodes."""
    return count_patterns(row for trial in distinct(map(trial_of, episodes)) for row in trial.observations)
