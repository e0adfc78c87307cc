"""Which insights are proven: used often enough to good effect, or given by a person."""

from __future__ import annotations

import json
from itertools import islice

from helix_graph.insights.scoring import causal_adjusted
from helix_graph.insights.seed_form import public_rows
from helix_graph.insights.settings import USER_PROVIDED

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Collection
    from typing import Any

    from helix_graph.insights.settings import Settings

#: The seed calls an insight from here on "consistently helpful".
_PROVEN = 0.75


def is_proven(
    *, effectiveness: float, use_count: int, causal_hits: int, tags: Collection[str], settings: Settings
) -> bool:
    """Whether an insight that did so is proven."""
    fair = causal_adjusted(effectiveness, use_count=use_count, causal_hits=causal_hits, settings=settings)
    return USER_PROVIDED in tags or (use_count >= settings.uses_to_adjust and fair >= _PROVEN)


def proven_rows(connection: sqlite3.Connection, limit: int, *, settings: Settings) -> list[dict[str, Any]]:
    """The proven insights of the greatest effectiveness, at most ``limit``, as the seed shows them."""
    rows = connection.execute(
        "SELECT number, effectiveness, use_count, causal_hits, tags FROM insight"
        " WHERE state = 'active' AND (use_count >= ? OR tags LIKE ?) ORDER BY effectiveness DESC, created_at, name",
        (settings.uses_to_adjust, f'%"{USER_PROVIDED}"%'),
    )
    good = (
        number
        for number, effectiveness, uses, causal_hits, tags in rows
        if is_proven(
            effectiveness=effectiveness,
            use_count=uses,
            causal_hits=causal_hits,
            tags=json.loads(tags),
            settings=settings,
        )
    )
    chosen = list(islice(good, limit))
    found = public_rows(connection, chosen)
    return [found[number] for number in chosen]
