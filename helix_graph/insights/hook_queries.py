"""What hooks ask of insights, without loading the rest of the package: an agent waits for the answer.

The same functions answer here as behind `helix_graph.insights.api.Insights`.
"""

from __future__ import annotations

from helix_episodes.light_imports import blake2b
from helix_graph import timestamps
from helix_graph.helix_db import HelixDatabase, database_path
from helix_graph.insights.exposure_log import ExposureContext, ExposureRow, injection_id_of, known_names, write_exposure
from helix_graph.insights.recall import RecallQuery, checked_query, hit_forms, proven_rows, recall_by_words
from helix_graph.insights.schema import INSIGHT_TABLES, relevance_by_words
from helix_graph.insights.scoring import V6

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path
    from typing import Any


def recall(root: Path, query: str, limit: int) -> list[dict[str, Any]]:
    """As `Insights.recall` with ``semantic=False``.

    Raises:
        InvalidArgument: There is nothing in the query.
    """
    about = checked_query(query)
    asked = RecallQuery(limit=limit, min_relevance=V6.min_relevance, now=timestamps.utc_now(), settings=V6)
    with _database(root).reading() as connection:
        by_words = relevance_by_words(connection, about)
        return list(hit_forms(connection, recall_by_words(connection, by_words, asked)))


def proven(root: Path, limit: int) -> list[dict[str, Any]]:
    """As `Insights.proven`."""
    with _database(root).reading() as connection:
        return proven_rows(connection, limit, settings=V6, episodes=root / "episodes")


def log_shown(root: Path, names: Sequence[str], exposure: ExposureContext) -> None:
    """Notes that these insights are shown, all of them: for a memory that withholds nothing.

    What a person typed is left out: to cut secrets from it takes longer to load than a prompt may wait, and only the
    injection's id, a hash, needs it.
    """
    at = timestamps.stamp(timestamps.utc_now())
    identity = injection_id_of(exposure, names, at=at)
    if not exposure.session.replace("-", "").replace("_", "").isalnum():  # agents name sessions so; this is none
        exposure = exposure._replace(session=blake2b(exposure.session.encode(), digest_size=16).hexdigest())
    with _database(root).writing() as connection:
        known = known_names(connection, names)
        if known:
            row = ExposureRow(identity, at, exposure.task, exposure.session, shown=known, policy=exposure.policy)
            write_exposure(connection, row)


def _database(root: Path) -> HelixDatabase:
    return HelixDatabase(database_path(root), INSIGHT_TABLES)
