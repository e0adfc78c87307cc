"""Insights in the form in which the seed shows them; from a value, or from their rows without making one."""

from __future__ import annotations

import json

from helix_graph.database import ANY_OF, as_list

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable
    from typing import Any

    from helix_graph.insights.model import Kept

_COLUMNS = "number, name, content, effectiveness, use_count, created_at, last_used, tags, causal_hits"
SHOWN_DECIMALS = 3


def public(kept: Kept) -> dict[str, Any]:
    """An insight as the seed shows it."""
    said, did = kept.insight, kept.standing
    return _form(
        kept.name,
        said.content,
        did.effectiveness,
        did.use_count,
        said.created_at,
        did.last_used,
        list(said.tags),
        did.causal_hits,
    )


def public_rows(connection: sqlite3.Connection, numbers: Iterable[int]) -> dict[int, dict[str, Any]]:
    """The insights in these rows, by number, as the seed shows them."""
    query = f"SELECT {_COLUMNS} FROM insight WHERE number {ANY_OF}"  # noqa: S608  (constants)
    rows = connection.execute(query, (as_list(numbers),))
    return {
        number: _form(name, content, effectiveness, uses, created_at, last_used, json.loads(tags), causal_hits)
        for number, name, content, effectiveness, uses, created_at, last_used, tags, causal_hits in rows
    }


def told_rows(connection: sqlite3.Connection, numbers: Iterable[int]) -> dict[int, dict[str, str]]:
    """The form in which the insights in these rows were told to the older seed, by number."""
    query = f"SELECT number, told FROM insight WHERE number {ANY_OF}"  # noqa: S608  (a constant)
    return {number: json.loads(told) for number, told in connection.execute(query, (as_list(numbers),))}


def _form(  # noqa: PLR0913, PLR0917  (the seed's fields, in their order)
    name: str,
    content: str,
    effectiveness: float,
    use_count: int,
    created_at: str,
    last_used: str | None,
    tags: list[str],
    causal_hits: int,
) -> dict[str, Any]:
    return {
        "name": name,
        "content": content,
        "effectiveness": round(effectiveness, SHOWN_DECIMALS),
        "use_count": use_count,
        "created_at": created_at,
        "last_used": last_used,
        "tags": tags,
        "causal_hits": causal_hits,
    }
