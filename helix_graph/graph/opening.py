"""Opening: graph.db, opened for one question and closed again, and the assertions that people add to it.

Any number of processes may ask while one compiles, since nobody keeps the file open.
"""

from __future__ import annotations

from abc import abstractmethod
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol

from helix_graph import database
from helix_graph.graph.asking import opened
from helix_graph.graph.schema import GRAPH_FILE
from helix_graph.graph.version import FILE_NAME

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager
    from pathlib import Path
    from typing import Any

    from helix_graph.graph.assertions import Assertion
    from helix_graph.graph.observations import PatternCounter


class PatternSource(Protocol):
    """Who counts patterns; `helix_graph.causality.door.Causality` does."""

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
        from helix_graph.graph.assertions import FOLDER, AssertionStore  # noqa: PLC0415  (questions do without)
        from helix_graph.graph.compile import compile_graph  # noqa: PLC0415  (as above)

        database.check_writable(self.path_of_file, GRAPH_FILE)  # what is refused is not kept either
        name = AssertionStore(self.causality / FOLDER).add(assertion)
        compile_graph(self.episodes, self.causality, patterns=self._patterns, assertions_only=True)
        return name

    @contextmanager
    def _open_made(self) -> Iterator[sqlite3.Connection]:
        """graph.db for somebody who adds to it: compiled first when there is none that can be read."""
        from helix_graph.graph.compile import compile_graph  # noqa: PLC0415  (as above)

        compile_graph(self.episodes, self.causality, patterns=self._patterns, assertions_only=True)
        with self._open() as connection:
            yield connection

    def _open(self) -> AbstractContextManager[sqlite3.Connection]:
        """graph.db for one question; `helix_graph.graph.asking.opened` says what may be wrong with it."""
        return opened(self.path_of_file)
