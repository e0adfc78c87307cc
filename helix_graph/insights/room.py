"""What every part of insights works with: the database, the clock, and the engine for vectors, if there is one."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from helix_graph.database import erase_traces
from helix_graph.errors import NoMemory
from helix_graph.helix_db import HELIX_DB, HelixDatabase
from helix_graph.insights import clock, rows
from helix_graph.insights.errors import InsightNotFound
from helix_graph.insights.settings import V6
from helix_graph.insights.tables import TABLES
from helix_graph.insights.words import Frequent, relevance_by_words

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Mapping, Sequence
    from datetime import datetime
    from pathlib import Path

    from helix_graph.embedding.model import Embedder
    from helix_graph.insights.experience import Experience
    from helix_graph.insights.model import Kept
    from helix_graph.insights.settings import Settings
    from helix_graph.insights.store import Vector
    from helix_graph.insights.vectors import Floats, VectorFile


def no_embedder() -> Embedder | None:
    """Lexical mode: no text is turned into a vector."""
    return None


class Room:
    """Insights in one helix.db.

    ``experience`` is the memory that they belong to, if any. ``embedder`` is asked when vectors are first needed, and
    answers None where there is no model: then everything works by words. ``clock`` says what time it is, in UTC.
    """

    def __init__(
        self,
        path: Path,
        *,
        embedder: Callable[[], Embedder | None] = no_embedder,
        settings: Settings = V6,
        clock: Callable[[], datetime] = clock.now,
        experience: Experience | None = None,
    ) -> None:
        self.path = path
        self.settings = settings
        self._database = HelixDatabase(path, TABLES)
        self._find_embedder = embedder
        self._clock = clock
        self._experience = experience
        self._found: tuple[Embedder | None] | None = None
        self._file: VectorFile | None = None
        self._frequent = Frequent()

    @property
    def _embedder(self) -> Embedder | None:
        if self._found is None:
            self._found = (self._find_embedder(),)
        return self._found[0]

    @property
    def _past(self) -> Experience:
        """The episodes and the graph of the memory.

        Raises:
            NoMemory: These insights are a file by itself.
        """
        if self._experience is None:
            raise NoMemory(start=self.path.parent, expected=None)
        return self._experience

    def _vectors(self, embedder: Embedder) -> VectorFile:
        from helix_graph.insights.vectors import VectorFile, path_of  # noqa: PLC0415  (numpy is for vectors only)

        if self._file is None:
            path = path_of(self.path, embedder.model)
            self._file = VectorFile(path, model=embedder.model, dimensions=embedder.dimensions)
        return self._file

    def _embed(self, texts: Sequence[str]) -> list[tuple[Vector, Floats]]:
        """The vectors of texts, as the table has them and as numbers; none without a model."""
        embedder = self._embedder
        if embedder is None or not texts:
            return []
        from helix_graph.insights.store import Vector  # noqa: PLC0415  (as above)
        from helix_graph.insights.vectors import blob  # noqa: PLC0415  (as above)

        return [(Vector(embedder.model, blob(row)), row) for row in embedder.embed(texts)]

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
        from helix_graph.insights.vectors import alike  # noqa: PLC0415  (numpy is for vectors only)

        return dict(alike(self._vectors(embedder).look(connection).cosines(vector), least=least, words=words or {}))

    def _without_model(self) -> str:
        """Why no text is compared by meaning."""
        from helix_graph.embedding.choice import SWITCH, switched_off  # noqa: PLC0415  (words alone do without)

        return f"{SWITCH} is set to lexical" if switched_off() else "no embedding model"

    def _named(self, connection: sqlite3.Connection, name: str) -> Kept:
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
