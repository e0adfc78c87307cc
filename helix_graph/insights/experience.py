"""What a memory knows besides its insights: the episodes, the graph, and what a person has set.

Insights work without any of it, as they did for the seeds; with it they can be derived from what happened, be joined to
the graph and be judged by what was done.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from helix_graph.errors import GraphNotCompiled, InvalidConfiguration

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from helix_graph.episodes import Episodes
    from helix_graph.graph.anchors import Anchor, Anchored, Example
    from helix_graph.graph.door import Graph


class Experience:
    """The rest of the memory in ``root``. Its parts are asked for when they are needed: most recalls need none."""

    def __init__(self, root: Path, *, episodes: Callable[[], Episodes], graph: Callable[[], Graph]) -> None:
        self.root = root
        self._make_episodes = episodes
        self._make_graph = graph

    @cached_property
    def episodes(self) -> Episodes:
        """What happened."""
        return self._make_episodes()

    @cached_property
    def graph(self) -> Graph:
        """What led to what."""
        return self._make_graph()

    def anchored(self, anchors: Iterable[Anchor]) -> dict[Anchor, Anchored]:
        """The nodes that anchors lead to; none while there is no graph."""
        try:
            return self.graph.anchored(anchors)
        except GraphNotCompiled:
            return {}

    def examples(self, types: Iterable[str]) -> list[Example]:
        """The nodes of these types; none while there is no graph."""
        try:
            return self.graph.examples(types)
        except GraphNotCompiled:
            return []

    def withheld_share(self) -> float:
        """The chance with which an insight is held back (``[insights] withhold``); 0, where nothing is set.

        Raises:
            InvalidConfiguration: The file is not understood, or it is no share that one can learn from.
        """
        from helix_graph.configuration import read_table  # noqa: PLC0415  (a question does without)
        from helix_graph.insights.withholding import WITHHELD_AT_MOST, InsightsTable  # noqa: PLC0415  (as above)

        path, table = read_table(self.root, "insights", InsightsTable)
        if not 0 <= table.withhold <= WITHHELD_AT_MOST:
            raise InvalidConfiguration(path=path, problem=f"withhold must be 0 to {WITHHELD_AT_MOST}")
        return table.withhold
