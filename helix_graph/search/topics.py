"""Topics as a source: entries by their words, as the topics' own search ranks them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from helix_graph.search.model import Found, Manner, Noted
from helix_graph.topics.ranking import MOST_WORDS
from helix_graph.topics.tokens import asked

if TYPE_CHECKING:
    from helix_graph.topics.door import Topics
    from helix_graph.topics.search import Hit

NAME = "Topics"


class TopicSource:
    """The topics of a memory."""

    name = NAME
    manners: frozenset[Manner] = frozenset({"both", "lexical"})

    def __init__(self, topics: Topics) -> None:
        self._topics = topics

    def problem(self) -> str | None:
        """None: where nothing was written down, nothing is found."""
        return None

    def search(self, query: str, *, limit: int, manner: Manner) -> list[Found]:  # noqa: ARG002  (it knows but one)
        """Entries that have all words, else some; of a very long query the first words count."""
        words = asked(query)[:MOST_WORDS]
        if not words:
            return []
        answer = self._topics.search(" ".join(words), detail="full", limit=limit)
        found = [_found(hit) for hit in answer.hits]
        damaged = ", ".join(one.problem for one in answer.damaged)
        return Noted(found, note=f"left out: {damaged}; `helix-graph doctor` has more") if damaged else found


def _found(hit: Hit) -> Found:
    entry = hit.entry
    name = f"{entry.topic}:{entry.index}"
    return Found(name=name, content=entry.text, source=NAME, score=hit.score, scored_by="BM25", path=entry.source)
