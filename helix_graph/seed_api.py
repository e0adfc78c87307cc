"""The original API's functions under their names: ``Add-CausalNode``, ``Add-CausalEdge``, ``Add-Pattern`` and others.

What they add is an assertion's file; the graph takes it in at once, and the export waits for the next compile. Patterns
are counted and compared over all sessions, so these functions stand above both `helix_graph.graph` and
`helix_graph.causality`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from helix_graph.graph.api import Graph
from helix_graph.graph.model import find_node, node_id, row_of

if TYPE_CHECKING:
    from typing import Any

    from helix_graph.causality.api import Causality


#: What the original says of a pattern, and whether anybody measured its rate.
_PATTERN_KEYS = (
    "id", "name", "description", "trigger", "action", "success_rate", "occurrences", "last_used", "measured"
)  # fmt: skip


class SeedGraph(Graph):
    """The causal graph with what the original offers, key by key."""

    def add_causal_node(self, type: str, label: str, episode_id: str | None = None) -> dict[str, Any]:  # noqa: A002  (the original's word)
        """Adds a node, or counts it once more; ``Add-CausalNode`` of the original.

        Args:
            type: decision, event, outcome, pattern or error.
            label: Its text; a label that the graph has in another case is the same.
            episode_id: The episode that mentions it; the same node of the same episode counts once.

        Returns:
            ``id``, ``type``, ``label``, ``episodes``, ``frequency``, and ``success_rate``: of its episodes with a
            measured outcome the share that succeeded, None when there are none.

        Raises:
            InvalidArgument: The label is empty. The type is none of the five.
        """
        from helix_graph.graph.assertions import node_assertion

        with self._open_made() as connection:
            assertion = node_assertion(connection, type=type, label=label, episode=episode_id)
        self.keep(assertion)
        with self._open() as connection:
            return row_of(find_node(connection, node_id(assertion.type, assertion.label)))

    def add_causal_edge(self, source_id: str, target_id: str, type: str, weight: float = 0.5) -> dict[str, Any]:  # noqa: A002  (as above)
        """Adds an edge between two nodes, or one more piece of evidence for it; ``Add-CausalEdge`` of the original.

        Args:
            source_id: The id of a node, or its whole label.
            target_id: The same for where it leads.
            type: causes, enables, prevents or correlates.
            weight: How sure one is, 0 to 1.

        Returns:
            ``source``, ``target``, ``type``, ``weight`` (the mean over all evidence), ``evidence_count`` (episodes and
            assertions), ``reasons``, ``status``.

        Raises:
            InvalidArgument: The type is none of the four. The weight is not between 0 and 1. Both ends are one node.
        """
        from helix_graph.graph.assertions import edge_assertion, edge_row

        with self._open_made() as connection:
            assertion = edge_assertion(connection, source=source_id, target=target_id, type=type, weight=weight)
        self.keep(assertion)
        with self._open() as connection:
            return edge_row(connection, assertion)

    def add_pattern(
        self, name: str, trigger: str, action: str, description: str = "", success_rate: float | None = None
    ) -> dict[str, Any]:
        """Adds a pattern, or one more use of it; ``Add-Pattern`` of the original.

        Args:
            name: What it is called; the same name in any case is the same pattern.
            trigger: The situation.
            action: What to do in it.
            description: More about it. Of several, those of the first call are kept, as trigger and action are.
            success_rate: 0 to 1; the mean of those given counts. Without one the row says 1.0 and ``measured`` false.

        Returns:
            ``id``, ``name``, ``description``, ``trigger``, ``action``, ``success_rate``, ``occurrences``,
            ``last_used``, ``measured``.

        Raises:
            InvalidArgument: Name, trigger or action is empty. The rate is not between 0 and 1. The pattern would
                recommend its own trigger.
        """
        from helix_graph.graph.assertions import FOLDER, AssertionStore, pattern_assertion, patterns_among
        from helix_graph.graph.patterns import asserted_patterns

        assertion = pattern_assertion(
            name=name, trigger=trigger, action=action, description=description, success_rate=success_rate
        )
        self.keep(assertion)
        found = ((path.stem, one) for path, one in AssertionStore(self.causality / FOLDER).scan())
        patterns = {one.name.casefold(): one for one in asserted_patterns(patterns_among(found))}
        pattern = patterns[assertion.name.casefold()]
        return {key: getattr(pattern, key) for key in _PATTERN_KEYS}

    def get_patterns(self, min_success_rate: float = 0.0, min_occurrences: int = 1) -> list[dict[str, Any]]:
        """What works, as `Causality.get_patterns`."""
        return self._compared().get_patterns(min_success_rate=min_success_rate, min_occurrences=min_occurrences)

    def get_anti_patterns(self, max_success_rate: float = 0.3) -> list[dict[str, Any]]:
        """What keeps failing, as `Causality.get_anti_patterns`."""
        return self._compared().get_anti_patterns(max_success_rate=max_success_rate)

    def _compared(self) -> Causality:
        from helix_graph.causality.api import Causality
        from helix_graph.graph.assertions import FOLDER

        return Causality(self, assertions=self.causality / FOLDER)

    def get_reflexion_memory_status(self) -> dict[str, dict[str, Any]]:
        """``Get-ReflexionMemoryStatus`` of the original, key by key, even of an empty memory; `status` says more."""
        from helix_graph.graph.status import original_status

        if not self.path_of_file.exists():
            return original_status(None, episodes=self.episodes, causality=self.causality)
        with self._open() as connection:
            return original_status(connection, episodes=self.episodes, causality=self.causality)

    def get_causal_path(self, from_label: str, to_label: str, max_depth: int = 5) -> dict[str, Any]:
        """The shortest path between two labels as the original gives it; `path` says more.

        Returns:
            ``found``, ``path`` (its nodes), and ``depth`` in edges when found, else ``error`` and ``hint``.

        Raises:
            InvalidArgument: One of the labels is empty. ``max_depth`` is not between 1 and 10.
        """
        from helix_graph.graph.path_answer import path_row

        return path_row(self.path(source=from_label, target=to_label, max_depth=max_depth, resolution="kind"))
