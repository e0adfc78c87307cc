"""Graph: the causal graph of one memory, and the questions to it.

Every question opens graph.db, asks and closes it again, so any number of processes may ask while one compiles. Nothing
heavy is imported for a question; `networkx` loads networkx, and only it.
"""

from __future__ import annotations

from contextlib import closing, contextmanager
from typing import TYPE_CHECKING

from helix_graph import database
from helix_graph.errors import GraphNotCompiled, OutOfRange
from helix_graph.graph.neighbours import FileNeighbours
from helix_graph.graph.schema import GRAPH_FILE
from helix_graph.graph.version import FILE_NAME, LABEL_MODE, LABEL_VERSION

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
    from datetime import datetime
    from pathlib import Path
    from typing import Any

    import networkx as nx

    from helix_graph.graph.compile import CompileReport
    from helix_graph.graph.paths import PathAnswer
    from helix_graph.graph.relations import RelationsAnswer
    from helix_graph.graph.seen import SeenAnswer
    from helix_graph.graph.status import Status

MOST_PRECEDENTS = 100


class Graph:
    """The causal graph in ``causality``, made from the episodes in ``episodes``.

    ``patterns``, when given, is called by `compile` for the patterns to put into the export.
    """

    def __init__(
        self,
        episodes: Path,
        causality: Path,
        *,
        patterns: Callable[[], Sequence[Mapping[str, Any]]] | None = None,
    ) -> None:
        self.episodes = episodes
        self.causality = causality
        self._patterns = patterns

    @property
    def path_of_file(self) -> Path:
        """graph.db."""
        return self.causality / FILE_NAME

    def compile(
        self,
        paths: Iterable[Path] = (),
        *,
        since: datetime | None = None,
        dry_run: bool = False,
        progress: Callable[[int, int, Path], None] | None = None,
    ) -> CompileReport:
        """Brings the graph up to date with the episodes; see `helix_graph.graph.compile.compile_graph`."""
        from helix_graph.graph.compile import compile_graph  # noqa: PLC0415  (questions do without)

        return compile_graph(
            self.episodes,
            self.causality,
            paths=paths,
            since=since,
            dry_run=dry_run,
            progress=progress,
            patterns=self._patterns,
        )

    def seen(self, text: str = "", *, limit: int = 5) -> SeenAnswer:
        """Whether an error was met before, and what fixed it; ``text`` is a line, a whole output, or empty.

        Raises:
            GraphNotCompiled: There is no graph yet.
            OutOfRange: ``limit`` is not between 1 and 100.
        """
        from helix_graph.graph.seen import find_seen  # noqa: PLC0415  (each question loads its own module)

        if not 1 <= limit <= MOST_PRECEDENTS:
            raise OutOfRange("--limit", value=limit, lowest=1, highest=MOST_PRECEDENTS)
        with self._open() as connection:
            return find_seen(connection, text, limit=limit)

    def path(
        self, *, source: str, target: str, max_depth: int = 5, follow: Collection[str] | None = None
    ) -> PathAnswer:
        """The shortest way from ``source`` to ``target``; see `helix_graph.graph.paths.find_path`.

        ``follow`` names the types of edges to go along; by default those that lead to something: causes and enables.

        Raises:
            GraphNotCompiled: There is no graph yet.
            EmptyQuery: One of the labels is empty.
            OutOfRange: ``max_depth`` is not between 1 and 10.
        """
        from helix_graph.graph.paths import LEADING, find_path  # noqa: PLC0415  (as above)

        with self._open() as connection:
            graph = FileNeighbours(connection)
            return find_path(graph, source=source, target=target, max_depth=max_depth, follow=follow or LEADING)

    def causes(self, label: str) -> RelationsAnswer:
        """What leads straight to the nodes that match ``label``.

        Raises:
            GraphNotCompiled: There is no graph yet.
            EmptyQuery: The label is empty.
        """
        from helix_graph.graph.relations import find_relations  # noqa: PLC0415  (as above)

        with self._open() as connection:
            return find_relations(FileNeighbours(connection), label, direction="causes")

    def effects(self, label: str) -> RelationsAnswer:
        """What the nodes that match ``label`` lead straight to.

        Raises:
            GraphNotCompiled: There is no graph yet.
            EmptyQuery: The label is empty.
        """
        from helix_graph.graph.relations import find_relations  # noqa: PLC0415  (as above)

        with self._open() as connection:
            return find_relations(FileNeighbours(connection), label, direction="effects")

    def status(self) -> Status:
        """How large the graph is and how good its labels are.

        Raises:
            GraphNotCompiled: There is no graph yet.
        """
        from helix_graph.graph.sources import count_pending  # noqa: PLC0415  (as above)
        from helix_graph.graph.status import find_status  # noqa: PLC0415  (as above)

        with self._open() as connection:
            pending = count_pending(connection, self.episodes)
            return find_status(connection, episodes=self.episodes, causality=self.causality, pending=pending)

    def networkx(self) -> nx.MultiDiGraph[str]:
        """The whole graph as a networkx ``MultiDiGraph``; see `helix_graph.graph.fold.fold` for its attributes.

        Raises:
            GraphNotCompiled: There is no graph yet.
        """
        from helix_graph.graph.file import read_facts  # noqa: PLC0415  (as above)
        from helix_graph.graph.fold import fold  # noqa: PLC0415  (as above)

        with self._open() as connection:
            return fold(read_facts(connection))

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        """graph.db for one question.

        Raises:
            GraphNotCompiled: It is not there, or was made by another version.
            NotOurDatabase: Another program's file is in its place.
            DatabaseUnreadable: It is damaged.
        """
        path = self.path_of_file
        if database.ownership(path, GRAPH_FILE) == "absent":
            raise GraphNotCompiled(path=path)
        with database.reporting(path), closing(database.open_for_reading(path)) as connection:
            if database.schema_version(connection) != GRAPH_FILE.version or not _has_our_labels(connection):
                raise GraphNotCompiled(path=path, problem="was compiled by another version")
            yield connection


def _has_our_labels(connection: sqlite3.Connection) -> bool:
    found = connection.execute("SELECT value FROM meta WHERE key = 'labels'").fetchone()
    return bool(found == (f"{LABEL_VERSION} {LABEL_MODE}",))
