"""What every part of insights works with: the database, the clock, the embedding engine, and the rest of the memory."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from helix_graph.database import erase_traces
from helix_graph.errors import GraphNotCompiled, InvalidConfiguration, NoMemory
from helix_graph.helix_db import HELIX_DB, utc_now
from helix_graph.insights.insight_db import InsightDatabase
from helix_graph.insights.model import TextVector
from helix_graph.insights.schema import relevance_by_words
from helix_graph.insights.scoring import V6, ScoringSettings

if TYPE_CHECKING:
    import sqlite3
    from datetime import datetime
    from typing import Self

    from helix_graph.embedding.model import Embedder
    from helix_graph.episodes import Episodes
    from helix_graph.graph.anchors import AnchoredNode, NodeAnchor, NodeExample
    from helix_graph.graph.api import Graph
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
        """The chance with which an insight is withheld (``[insights] withhold``); 0, where nothing is set.

        Raises:
            InvalidConfiguration: The file is not understood, or it is no share that one can learn from.
        """
        from helix_graph.insights.holdout import LARGEST_SHARE, InsightsTable
        from helix_graph.project import CONFIGURATION, read_table, user_configuration

        path = self.root / CONFIGURATION
        table = read_table(path, "insights", InsightsTable)
        if table.withhold is None:
            path = user_configuration()
            table = read_table(path, "insights", InsightsTable)
        if table.withhold is None:
            return 0.0
        if not 0 <= table.withhold <= LARGEST_SHARE:
            raise InvalidConfiguration(path=path, problem=f"withhold must be 0 to {LARGEST_SHARE}")
        return table.withhold


class InsightContext:
    """What the functions of this package work with: one helix.db, and the rest of the memory.

    ``history`` is the memory that the insights belong to, if any. ``embedder`` is called when vectors are first
    needed, and returns None where there is no model: then everything works by words. ``clock`` returns the time, in
    UTC.
    """

    def __init__(
        self,
        path: Path,
        *,
        embedder: Callable[[], Embedder | None] = lambda: None,
        settings: ScoringSettings = V6,
        clock: Callable[[], datetime] = utc_now,
        history: ProjectHistory | None = None,
    ) -> None:
        self.path = path
        self.settings = settings
        self.database = InsightDatabase(path, history.root if history else path.parent)
        self.now = clock
        self.history = history
        self._find_embedder = embedder
        self._vector_file: VectorFile | None = None
        self._counted: tuple[object, dict[str, dict[str, int]]] = (None, {})

    def scored_by(self, settings: ScoringSettings) -> Self:
        """The same insights under other settings."""
        return type(self)(
            self.path, embedder=lambda: self.embedder, settings=settings, clock=self.now, history=self.history
        )

    @cached_property
    def embedder(self) -> Embedder | None:
        """The engine for vectors; None in lexical mode."""
        return self._find_embedder()

    @property
    def required_history(self) -> ProjectHistory:
        """The episodes and the graph of the memory.

        Raises:
            NoMemory: These insights are a file by itself.
        """
        if self.history is None:
            raise NoMemory(start=self.path.parent, expected=None)
        return self.history

    def anchored(self, anchors: Iterable[NodeAnchor]) -> dict[NodeAnchor, AnchoredNode]:
        """The nodes that anchors lead to; none without a graph."""
        return self.history.anchored(anchors) if self.history else {}

    def vector_file(self, embedder: Embedder) -> VectorFile:
        """The matrix of the model's vectors."""
        from helix_graph.insights.vectors import VectorFile, vector_path

        if self._vector_file is None:
            path = vector_path(self.path, embedder.model)
            self._vector_file = VectorFile(path, model=embedder.model, dimensions=embedder.dimensions)
        return self._vector_file

    def embed(self, texts: Sequence[str]) -> list[tuple[TextVector, Floats]]:
        """The vectors of texts, as the table stores them and as numbers; none without a model."""
        if not texts or self.embedder is None:
            return []
        from helix_graph.insights.vectors import vector_bytes

        model = self.embedder.model
        return [(TextVector(model, vector_bytes(row)), row) for row in self.embedder.embed(texts)]

    def embed_one(self, text: str) -> tuple[TextVector, Floats] | tuple[None, None]:
        """The vector of a text, in both forms; None without a model."""
        found = self.embed([text])
        return found[0] if found else (None, None)

    def by_words(self, connection: sqlite3.Connection, text: str) -> dict[int, float]:
        """The rows that share words with a text, and their relevance by words.

        How many rows have a frequent word takes long to count; what was counted holds until a text changes.
        """
        state = connection.execute("SELECT memory, texts FROM insight_revision").fetchone()
        counted = self._counted
        if counted[0] != state:
            self._counted = counted = (state, {})
        return relevance_by_words(connection, text, frequent=counted[1])

    def by_meaning(
        self,
        connection: sqlite3.Connection,
        vector: Floats | None,
        *,
        least: float,
        words: Mapping[int, float] | None = None,
    ) -> dict[int, float]:
        """The rows with at least this cosine with a vector, the most similar first; none without a model.

        Rows that reach it with the help of their relevance by ``words`` are included.
        """
        # Without a vector the engine is not looked for: finding it costs a question by words a tenth of its time.
        if vector is None or self.embedder is None:
            return {}
        from helix_graph.insights.vectors import similar_rows

        cosines = self.vector_file(self.embedder).look(connection).cosines(vector)
        return dict(similar_rows(cosines, least=least, words=words or {}))

    def why_no_model(self) -> str:
        """Why no text is compared by meaning."""
        from helix_graph.embedding.choice import SWITCH, switched_off

        return f"{SWITCH} is set to lexical" if switched_off() else "no embedding model"

    def erase_deleted(self) -> None:
        """Makes what was deleted unreadable: free pages of the database, and the matrix of vectors."""
        erase_traces(self.path, HELIX_DB)
        with contextlib.suppress(OSError):  # what can't be listed is not ours
            for file in (self.path.parent / "cache").glob(f"{self.path.name}-vectors-*"):
                file.unlink(missing_ok=True)
        self._vector_file = None
