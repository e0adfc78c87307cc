"""Opening: graph.db, opened for one question and closed again, and the assertions that people add to it.

Any number of processes may ask while one compiles, since nobody keeps the file open.
"""

from __future__ import annotations

from abc import abstractmethod
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Protocol

from helix_graph import database
from helix_graph.errors import CUT_SHORT, GraphNotCompiled
from helix_graph.graph.schema import GRAPH_FILE
from helix_graph.graph.version import FILE_NAME, LABEL_MODE, LABEL_VERSION

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Iterator
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

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        """graph.db for one question.

        Raises:
            GraphNotCompiled: It is not there, not finished, or was made by another version.
            NotOurDatabase: Another program's file is in its place.
            DatabaseUnreadable: It is damaged.
        """
        path = self.path_of_file
        if database.ownership(path, GRAPH_FILE) == "absent":
            raise GraphNotCompiled(path=path)
        with database.reporting(path), closing(database.open_for_reading(path)) as connection:
            version = database.schema_version(connection)
            if not version:
                raise GraphNotCompiled(path=path, problem=CUT_SHORT)
            if version != GRAPH_FILE.version or not _has_our_labels(connection):
                raise GraphNotCompiled(path=path, problem="was compiled by another version")
            yield connection


def _has_our_labels(connection: sqlite3.Connection) -> bool:
    found = connection.execute("SELECT value FROM meta WHERE key = 'labels'").fetchone()
    return bool(found == (f"{LABEL_VERSION} {LABEL_MODE}",))
