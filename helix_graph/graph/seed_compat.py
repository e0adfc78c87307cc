"""The original API's functions under their names: ``Add-CausalNode``, ``Add-CausalEdge``, ``Add-Pattern`` and others.

What they add is an assertion's file; the graph takes it in at once, and the export waits for the next compile.
"""

from __future__ import annotations

from abc import abstractmethod
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol

from helix_graph import database
from helix_graph.graph.connection import FILE_NAME, GRAPH_FILE, open_graph
from helix_graph.graph.model import find_node, row_of

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager
    from pathlib import Path
    from typing import Any

    from helix_graph.graph.assertions import Assertion
    from helix_graph.graph.observations import PatternCounter


class PatternSource(Protocol):
    """Who counts patterns; `helix_graph.causality.api.Causality` does."""

    @abstractmethod
    def get_patterns(self, *, min_success_rate: float = 0.0, min_occurrences: int = 1) -> list[dict[str, Any]]:
        """What works."""

    @abstractmethod
    def get_anti_patterns(self, *, max_success_rate: float = 0.3) -> list[dict[str, Any]]:
        """What keeps failing."""


class OpenedGraph:
    """The graph in ``causality``, made from the episodes in ``episodes`` and the assertions beside it.

    ``patterns``, when given, makes the patterns that `compile` puts into the export, and ``counted`` answers
    `get_patterns` and `get_anti_patterns`: patterns are counted over episodes, not found in the graph.
    """

    def __init__(
        self,
        episodes: Path,
        causality: Path,
        *,
        patterns: PatternCounter | None = None,
        counted: Callable[[], PatternSource] | None = None,
    ) -> None:
        self.episodes = episodes
        self.causality = causality
        self._patterns = patterns
        self._counted = counted

    @property
    def path_of_file(self) -> Path:
        """graph.db."""
        return self.causality / FILE_NAME

    def keep(self, assertion: Assertion) -> str:
        """Keeps an assertion, takes it into the graph at once, and returns its name. The export waits for `compile`.

        Raises:
            WriteFailed: The file could not be written; nothing has changed.
            NotOurDatabase: Another program's file is where graph.db belongs; nothing has changed.
            DatabaseRefused: graph.db may not be written; nothing has changed.
            DatabaseBusy: Another process kept the graph locked. When it took the lock before this one began, nothing
                has changed; otherwise the file stands, and the next compile takes it in.
        """
        from helix_graph.graph.assertions import FOLDER, AssertionStore
        from helix_graph.graph.compile import compile_graph

        database.check_writable(self.path_of_file, GRAPH_FILE)  # what is refused is not kept either
        name = AssertionStore(self.causality / FOLDER).add(assertion)
        compile_graph(self.episodes, self.causality, patterns=self._patterns, assertions_only=True)
        return name

    @contextmanager
    def _open_made(self) -> Iterator[sqlite3.Connection]:
        """graph.db for somebody who adds to it: compiled first when there is none that can be read."""
        from helix_graph.graph.compile import compile_graph

        compile_graph(self.episodes, self.causality, patterns=self._patterns, assertions_only=True)
        with self._open() as connection:
            yield connection

    def _open(self) -> AbstractContextManager[sqlite3.Connection]:
        """graph.db for one question; `helix_graph.graph.connection.open_graph` says what may be wrong with it."""
        return open_graph(self.path_of_file)


class SeedMethods(OpenedGraph):
    """What the original offers, key by key."""

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
            EmptyText: The label is empty.
            NotOneOf: The type is none of the five.
            InvalidSessionId: The episode's id could not name a file.
            WriteFailed: The assertion could not be kept.
        """
        from helix_graph.graph.assertions import node_assertion
        from helix_graph.graph.model import node_id

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
            NodeNotFound: One of the nodes does not exist.
            AmbiguousNode: A label belongs to several nodes.
            NotOneOf: The type is none of the four.
            OutOfRange: The weight is not between 0 and 1.
            SameNode: Both ends are one node.
            WriteFailed: The assertion could not be kept.
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
            EmptyText: Name, trigger or action is empty.
            OutOfRange: The rate is not between 0 and 1.
            SameTriggerAndAction: The pattern would recommend its own trigger.
            WriteFailed: The assertion could not be kept.
        """
        from helix_graph.graph.assertions import (
            pattern_assertion,
            pattern_named,
        )

        assertion = pattern_assertion(
            name=name, trigger=trigger, action=action, description=description, success_rate=success_rate
        )
        self.keep(assertion)
        return pattern_named(self.causality, assertion.name)

    def get_patterns(self, min_success_rate: float = 0.0, min_occurrences: int = 1) -> list[dict[str, Any]]:
        """What works, as `Causality.get_patterns`; a Graph on its own, without episodes to count over, knows none.

        Raises:
            OutOfRange: An option lies outside its range.
        """
        if self._counted is None:
            return []
        return self._counted().get_patterns(min_success_rate=min_success_rate, min_occurrences=min_occurrences)

    def get_anti_patterns(self, max_success_rate: float = 0.3) -> list[dict[str, Any]]:
        """What keeps failing, as `Causality.get_anti_patterns`; otherwise as `get_patterns`.

        Raises:
            OutOfRange: The rate lies outside its range.
        """
        return self._counted().get_anti_patterns(max_success_rate=max_success_rate) if self._counted else []

    def get_reflexion_memory_status(self) -> dict[str, dict[str, Any]]:
        """``Get-ReflexionMemoryStatus`` of the original, key by key, even of an empty memory; `status` says more."""
        from helix_graph.graph.status import original_status

        if not self.path_of_file.exists():
            return original_status(None, episodes=self.episodes, causality=self.causality)
        with self._open() as connection:
            return original_status(connection, episodes=self.episodes, causality=self.causality)
