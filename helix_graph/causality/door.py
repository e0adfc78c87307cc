"""Causality: what works and what keeps failing, asked of a folder of episodes.

The folder is read anew on every call. Episodes are the truth and there is nothing to invalidate, and decoding is fast
enough for it: ``docs/patterns.md`` has the measurement.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import msgspec

from helix_episodes.corrections import corrected
from helix_episodes.model import Episode
from helix_episodes.store import EpisodeStore
from helix_graph.causality.patterns import (
    Pattern,
    mine_patterns,
    select_anti_patterns,
    select_patterns,
    told_patterns,
)
from helix_graph.errors import InvalidAssertion
from helix_graph.graph.asserted_patterns import fold_patterns
from helix_graph.graph.assertions import AssertionStore, corrections_by_episode, patterns_among

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path
    from typing import Any

    from helix_episodes.corrections import Correction


class Skipped(msgspec.Struct, frozen=True, kw_only=True):
    """An episode file that could not be used, and why."""

    path: str
    problem: str


class Survey(msgspec.Struct, frozen=True, kw_only=True):
    """All patterns, and what they were made from.

    ``outcomes`` counts the episodes by basis and outcome (``"measured success": 31``): rates over a memory in which
    nearly everything is a success, or nothing is measured, say little. ``skipped`` names the files left out.
    """

    patterns: tuple[Pattern, ...]
    episodes: int
    outcomes: dict[str, int]
    skipped: tuple[Skipped, ...]


class Causality:
    """The door to everything that counts over episodes.

    ``episodes`` is the folder of episode files; ``assertions`` that of what people have corrected and added, if any.
    """

    def __init__(self, episodes: Path, *, assertions: Path | None = None) -> None:
        self._folder = episodes
        self._assertions = assertions

    def survey(self) -> Survey:
        """Every pattern, by name, with the episodes they were counted over; a missing folder is an empty memory."""
        found = list(AssertionStore(self._assertions).scan()) if self._assertions else []
        bad = tuple(
            Skipped(path=str(path), problem=str(one)) for path, one in found if isinstance(one, InvalidAssertion)
        )
        told = patterns_among(found)
        episodes, skipped = read_episodes(self._folder, corrections=corrections_by_episode(found))
        outcomes = Counter(f"{episode.outcome_basis} {episode.outcome}" for episode in episodes)
        return Survey(
            patterns=_by_name((*mine_patterns(episodes), *told_patterns(fold_patterns(told)))),
            episodes=len(episodes),
            outcomes=dict(sorted(outcomes.items())),
            skipped=(*skipped, *bad),
        )

    def patterns(self, *, min_success_rate: float = 0.0, min_occurrences: int = 1) -> tuple[Pattern, ...]:
        """What works: the highest success rate first. `select_patterns` describes the options.

        Raises:
            OutOfRange: ``min_success_rate`` is not within 0 to 1, or ``min_occurrences`` not within 1 to 1000.
        """
        return select_patterns(
            self.survey().patterns, min_success_rate=min_success_rate, min_occurrences=min_occurrences
        )

    def anti_patterns(self, *, max_success_rate: float = 0.3) -> tuple[Pattern, ...]:
        """What keeps failing: the lowest success rate first, over at least two episodes.

        Raises:
            OutOfRange: ``max_success_rate`` is not within 0 to 1.
        """
        return select_anti_patterns(self.survey().patterns, max_success_rate=max_success_rate)

    def get_patterns(self, *, min_success_rate: float = 0.0, min_occurrences: int = 1) -> list[dict[str, Any]]:
        """``Get-Patterns`` of the original: `patterns` as plain dicts, its keys first and ours behind them.

        Raises:
            OutOfRange: As `patterns`.
        """
        rows = self.patterns(min_success_rate=min_success_rate, min_occurrences=min_occurrences)
        return [msgspec.to_builtins(row) for row in rows]

    def get_anti_patterns(self, *, max_success_rate: float = 0.3) -> list[dict[str, Any]]:
        """``Get-AntiPatterns`` of the original: `anti_patterns` as plain dicts.

        Raises:
            OutOfRange: As `anti_patterns`.
        """
        return [msgspec.to_builtins(row) for row in self.anti_patterns(max_success_rate=max_success_rate)]


def _by_name(patterns: Sequence[Pattern]) -> tuple[Pattern, ...]:
    return tuple(sorted(patterns, key=lambda pattern: (pattern.name, pattern.basis)))


def read_episodes(
    folder: Path, *, corrections: Mapping[str, Sequence[Correction]] | None = None
) -> tuple[list[Episode], tuple[Skipped, ...]]:
    """The episodes in a folder, corrected, in the order of their file names, and the files that are none.

    One bad file hides no other.
    """
    decoder = msgspec.json.Decoder(Episode)
    episodes: list[Episode] = []
    skipped: list[Skipped] = []
    for path in EpisodeStore(folder).files():
        try:
            episode = decoder.decode(path.read_bytes())
        except (OSError, msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            skipped.append(Skipped(path=str(path), problem=str(error)))
        else:
            episodes.append(corrected(episode, (corrections or {}).get(episode.id, ())))
    return episodes, tuple(skipped)
