"""Many insights at once: what `store` would make of texts that nothing is alike, in one durable write."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from helix_graph.helix_db import HelixDatabase, stamp
from helix_graph.insights import rows
from helix_graph.insights.model import Insight, TextVector
from helix_graph.insights.schema import INSIGHT_TABLES, text_digest
from helix_graph.insights.storing import slug_of
from helix_graph.insights.vectors import vector_bytes

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from helix_graph.embedding.model import Embedder

LONG_AGO = datetime(2026, 11, 1, tzinfo=UTC)


def lay_in(path: Path, texts: Sequence[str], engine: Embedder, *, at: datetime = LONG_AGO) -> None:
    """Insights of these texts, with their vectors."""
    vectors = engine.embed(texts)
    with HelixDatabase(path, INSIGHT_TABLES).writing() as connection:
        for text, vector in zip(texts, vectors, strict=True):
            slug = slug_of(text)
            one = Insight(uid=text_digest(text), slug=slug, content=text, created_at=stamp(at))
            number = rows.insert(connection, one, name=slug)
            rows.set_vector(connection, number, TextVector(engine.model, vector_bytes(vector)))
