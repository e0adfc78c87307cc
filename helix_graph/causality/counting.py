"""How `compile` gets its patterns: the observations of each episode once, and the counts of what they change."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from helix_graph.graph.observations import Observed, PatternCounter

if TYPE_CHECKING:
    from collections.abc import Iterable

    from helix_episodes.model import Episode
    from helix_graph.graph.asserted_patterns import AssertedPattern
    from helix_graph.graph.observations import Observation


class EpisodePatterns(PatternCounter):
    """`tables.observe` and `patterns.count_patterns`, loaded when something is compiled."""

    #: A change to `tables`, `measures` or `trials` that reads anything else in an episode is a new version.
    version = "2"

    def observe(self, episode: Episode) -> Observed:
        """The observations of one episode, and the trial it is in comparisons."""
        from helix_graph.causality.trials import pack, trial_of  # noqa: PLC0415  (questions to the graph do without)

        trial = trial_of(episode)
        return Observed(trial.observations, pack(trial))

    def count(self, observations: Iterable[Observation]) -> list[dict[str, Any]]:
        """The patterns in all observations of some situations, as rows."""
        from helix_graph.causality.patterns import count_patterns  # noqa: PLC0415  (as above)

        return [msgspec.to_builtins(one) for one in count_patterns(observations)]

    def told(self, asserted: Iterable[AssertedPattern]) -> list[dict[str, Any]]:
        """The patterns that people have added, as rows beside those counted."""
        from helix_graph.causality.patterns import told_patterns  # noqa: PLC0415  (as above)

        return [msgspec.to_builtins(one) for one in told_patterns(asserted)]
