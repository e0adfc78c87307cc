"""What every part of insights works with: the database, the clock, the embedding engine, and the rest of the memory."""

from __future__ import annotations

import contextlib
from functools import cached_property
from typing import TYPE_CHECKING

from helix_graph import timestamps
from helix_graph.database import erase_traces
from helix_graph.errors import GraphNotCompiled, InvalidConfiguration, NoMemory
from helix_graph.helix_db import HELIX_DB, HelixDatabase
from helix_graph.insights import rows
from helix_graph.insights.model import InsightNotFound
from helix_graph.insights.schema import INSIGHT_TABLES
from helix_graph.insights.scoring import V6
from helix_graph.insights.words import WordFrequencies, relevance_by_words

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from datetime import datetime
    from pathlib import Path

    from helix_graph.embedding.model import Embedder
    from helix_graph.episodes import Episodes
    from helix_graph.graph.anchors import AnchoredNode, NodeAnchor, NodeExample
    from helix_graph.graph.api import Graph
    from helix_graph.insights.model import StoredInsight, TextVector
    from helix_graph.insights.scoring import ScoringSettings
    from helix_graph.insights.vectors import Floats, VectorFile


class ProjectHistory:
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

    def anchored(self, anchors: Iterable[NodeAnchor]) -> dict[NodeAnchor, AnchoredNode]:
        """The nodes that anchors lead to; none while there is no graph."""
        try:
            return self.graph.anchored(anchors)
        except GraphNotCompiled:
            return {}

    def examples(self, types: Iterable[str]) -> list[NodeExample]:
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
        from helix_graph.insights.holdout import LARGEST_SHARE, InsightsTable  # noqa: PLC0415  (as above)

        path, table = read_table(self.root, "insights", InsightsTable)
        if not 0 <= table.withhold <= LARGEST_SHARE:
            raise InvalidConfiguration(path=path, problem=f"withhold must be 0 to {LARGEST_SHARE}")
        return table.withhold


def no_embedder() -> Embedder | None:
    """Lexical mode: no text is turned into a vector."""
    return None


class InsightContext:
    """Insights in one helix.db.

    ``experience`` is the memory that they belong to, if any. ``embedder`` is asked when vectors are first needed, and
    answers None where there is no model: then everything works by words. ``clock`` says what time it is, in UTC.
    """

    def __init__(
        self,
        path: Path,
        *,
        embedder: Callable[[], Embedder | None] = no_embedder,
        settings: ScoringSettings = V6,
        clock: Callable[[], datetime] = timestamps.utc_now,
        experience: ProjectHistory | None = None,
    ) -> None:
        self.path = path
        self.settings = settings
        self._database = HelixDatabase(path, INSIGHT_TABLES)
        self._find_embedder = embedder
        self._clock = clock
        self._experience = experience
        self._found: tuple[Embedder | None] | None = None
        self._file: VectorFile | None = None
        self._frequent = WordFrequencies()

    @property
    def _embedder(self) -> Embedder | None:
        if self._found is None:
            self._found = (self._find_embedder(),)
        return self._found[0]

    @property
    def _past(self) -> ProjectHistory:
        """The episodes and the graph of the memory.

        Raises:
            NoMemory: These insights are a file by itself.
        """
        if self._experience is None:
            raise NoMemory(start=self.path.parent, expected=None)
        return self._experience

    def _vectors(self, embedder: Embedder) -> VectorFile:
        from helix_graph.insights.vectors import VectorFile, vector_path  # noqa: PLC0415  (numpy is for vectors only)

        if self._file is None:
            path = vector_path(self.path, embedder.model)
            self._file = VectorFile(path, model=embedder.model, dimensions=embedder.dimensions)
        return self._file

    def _embed(self, texts: Sequence[str]) -> list[tuple[TextVector, Floats]]:
        """The vectors of texts, as the table has them and as numbers; none without a model."""
        embedder = self._embedder
        if embedder is None or not texts:
            return []
        from helix_graph.insights.model import TextVector  # noqa: PLC0415  (as above)
        from helix_graph.insights.vectors import vector_bytes  # noqa: PLC0415  (as above)

        return [(TextVector(embedder.model, vector_bytes(row)), row) for row in embedder.embed(texts)]

    def _by_words(self, connection: sqlite3.Connection, text: str) -> dict[int, float]:
        """The rows that share words with a text, and their relevance by words."""
        return relevance_by_words(connection, text, frequent=self._frequent)

    def _meaning(
        self,
        connection: sqlite3.Connection,
        vector: Floats | None,
        *,
        least: float,
        words: Mapping[int, float] | None = None,
    ) -> dict[int, float]:
        """The rows at least so alike a vector, the most alike first; none without a model.

        Those that are so with the help of their relevance by ``words`` are among them.
        """
        # Without a vector the engine is not asked for: finding it costs a question by words a tenth of its time.
        embedder = None if vector is None else self._embedder
        if vector is None or embedder is None:
            return {}
        from helix_graph.insights.vectors import similar_rows  # noqa: PLC0415  (numpy is for vectors only)

        return dict(
            similar_rows(self._vectors(embedder).look(connection).cosines(vector), least=least, words=words or {})
        )

    def _without_model(self) -> str:
        """Why no text is compared by meaning."""
        from helix_graph.embedding.choice import SWITCH, switched_off  # noqa: PLC0415  (words alone do without)

        return f"{SWITCH} is set to lexical" if switched_off() else "no embedding model"

    def _named(self, connection: sqlite3.Connection, name: str) -> StoredInsight:
        """The insight of that name.

        Raises:
            InsightNotFound: There is none.
        """
        kept = rows.by_name(connection, name)
        if kept is None:
            raise InsightNotFound(name)
        return kept

    def _erase(self) -> None:
        """Makes what was deleted unreadable: free pages of the database, and the matrix of vectors."""
        erase_traces(self.path, HELIX_DB)
        with contextlib.suppress(OSError):  # what can't be listed is not ours
            for file in (self.path.parent / "cache").glob(f"{self.path.name}-vectors-*"):
                file.unlink(missing_ok=True)
        self._file = None
