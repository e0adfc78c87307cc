"""Insights as a source: remembered advice, by meaning where there is a model, and by words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from helix_graph.embedding.choice import unavailable
from helix_graph.search.model import Found, Manner

if TYPE_CHECKING:
    from helix_graph.insights.door import Insights

NAME = "Insights"


class InsightSource:
    """The insights of a memory."""

    name = NAME
    manners: frozenset[Manner] = frozenset({"both", "lexical", "semantic"})

    def __init__(self, insights: Insights) -> None:
        self._insights = insights

    def problem(self) -> str | None:
        """None: where nothing was remembered, nothing is found."""
        return None

    def search(self, query: str, *, limit: int, manner: Manner) -> list[Found]:
        """As `recall` ranks them; with ``semantic`` only those that are near in meaning.

        Raises:
            NoEmbedder: Meanings alone were asked for, and there is no model.
        """
        recalled = self._insights.recall(query, limit, semantic=manner != "lexical")
        if manner == "semantic" and recalled.mode != "semantic":
            raise unavailable()
        return [_found(hit) for hit in recalled if manner != "semantic" or hit["_via"] != "words"]


def _found(hit: dict[str, Any]) -> Found:
    return Found(name=hit["name"], content=hit["content"], source=NAME, score=hit["_score"], scored_by="recall")
