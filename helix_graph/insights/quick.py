"""Insights for those who cannot wait: what a hook asks, answered by the functions that the door asks as well.

The door brings all that can be done with insights, and what it is made of takes longer to load than a prompt may be
held up. What is answered here is what the door answers without a model, under the default settings.
"""

from __future__ import annotations

from helix_graph.helix_db import HelixDatabase, database_path
from helix_graph.insights import clock
from helix_graph.insights.proving import proven_rows
from helix_graph.insights.recall import Asked, by_words_alone, shown, sought
from helix_graph.insights.settings import V6
from helix_graph.insights.showings import Showing, identity_of, is_noted, known_names, write_showing
from helix_graph.insights.tables import TABLES
from helix_graph.insights.words import Frequent, relevance_by_words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path
    from typing import Any


def recall(root: Path, query: str, limit: int) -> list[dict[str, Any]]:
    """As `door.Insights.recall` with ``semantic=False``.

    Raises:
        EmptyQuery: There is nothing in the query.
    """
    asked, about = Asked(limit=limit, min_relevance=V6.min_relevance), sought(query)
    with _database(root).reading() as connection:
        by_words = relevance_by_words(connection, about, frequent=Frequent())
        return list(shown(connection, by_words_alone(connection, by_words, asked, now=clock.now(), settings=V6)))


def proven(root: Path, limit: int) -> list[dict[str, Any]]:
    """As `door.Insights.proven`."""
    with _database(root).reading() as connection:
        return proven_rows(connection, limit, settings=V6)


def note_shown(root: Path, names: Sequence[str], showing: Showing) -> None:
    """Notes that these insights are shown, all of them: for a memory that holds nothing back by lot."""
    at = clock.stamp(clock.now())
    identity = identity_of(showing, names, at=at)
    with _database(root).writing() as connection:
        known = known_names(connection, names)
        if known and not is_noted(connection, identity):
            write_showing(connection, showing, identity=identity, at=at, shown=known, withheld=(), chances={})


def _database(root: Path) -> HelixDatabase:
    return HelixDatabase(database_path(root), TABLES)
