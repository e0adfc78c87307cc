"""The memory's own sources: insights, entries of topics, and episodes by their decisions and tasks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from helix_graph.embedding.choice import unavailable
from helix_graph.errors import GraphNotCompiled
from helix_graph.graph.similar import words_of
from helix_graph.search.model import PartialResults, SearchMode, SourceResult
from helix_graph.topics.ranking import MOST_WORDS
from helix_graph.topics.tokens import query_words

if TYPE_CHECKING:
    from pathlib import Path

    from helix_graph.causality.api import Causality
    from helix_graph.episodes import Episodes
    from helix_graph.graph.similar import SimilarDecision
    from helix_graph.insights.api import Insights
    from helix_graph.topics.api import Topics
    from helix_graph.topics.search import Hit


INSIGHTS = "Insights"


class InsightSource:
    """The insights of a memory."""

    name = INSIGHTS
    manners: frozenset[SearchMode] = frozenset({"both", "lexical", "semantic"})

    def __init__(self, insights: Insights) -> None:
        self._insights = insights

    def problem(self) -> str | None:
        """None: where nothing was remembered, nothing is found."""
        return None

    def search(self, query: str, *, limit: int, manner: SearchMode) -> list[SourceResult]:
        """As `recall` ranks them; with ``semantic`` only those that are near in meaning.

        Raises:
            NoEmbedder: Meanings alone were asked for, and there is no model.
        """
        recalled = self._insights.recall(query, limit, semantic=manner != "lexical")
        if manner == "semantic" and recalled.mode != "semantic":
            raise unavailable()
        return [_found_insight(hit) for hit in recalled if manner != "semantic" or hit["_via"] != "words"]


def _found_insight(hit: dict[str, Any]) -> SourceResult:
    return SourceResult(
        name=hit["name"], content=hit["content"], source=INSIGHTS, score=hit["_score"], scored_by="recall"
    )


TOPICS = "Topics"


class TopicSource:
    """The topics of a memory."""

    name = TOPICS
    manners: frozenset[SearchMode] = frozenset({"both", "lexical"})

    def __init__(self, topics: Topics) -> None:
        self._topics = topics

    def problem(self) -> str | None:
        """None: where nothing was written down, nothing is found."""
        return None

    def search(self, query: str, *, limit: int, manner: SearchMode) -> list[SourceResult]:  # noqa: ARG002  (it knows but one)
        """Entries that have all words, else some; of a very long query the first words count."""
        words = query_words(query)[:MOST_WORDS]
        if not words:
            return []
        answer = self._topics.search(" ".join(words), detail="full", limit=limit)
        found = [_found_entry(hit) for hit in answer.hits]
        damaged = ", ".join(one.problem for one in answer.damaged)
        return PartialResults(found, note=f"left out: {damaged}; `helix-graph doctor` has more") if damaged else found


def _found_entry(hit: Hit) -> SourceResult:
    entry = hit.entry
    name = f"{entry.topic}:{entry.index}"
    return SourceResult(
        name=name, content=entry.text, source=TOPICS, score=hit.score, scored_by="BM25", path=entry.source
    )


EPISODES = "Episodes"


class EpisodeSource:
    """The episodes of a memory, through its compiled graph at ``graph_file``."""

    name = EPISODES
    manners: frozenset[SearchMode] = frozenset({"both", "lexical"})

    def __init__(self, episodes: Episodes, causality: Causality, *, graph_file: Path) -> None:
        self._episodes = episodes
        self._causality = causality
        self._graph_file = graph_file

    def problem(self) -> str | None:
        """That there is no graph yet."""
        return None if self._graph_file.is_file() else str(GraphNotCompiled(path=self._graph_file))

    def search(self, query: str, *, limit: int, manner: SearchMode) -> list[SourceResult]:  # noqa: ARG002  (it knows but one)
        """One result a session, with the decision that is most like the query.

        Raises:
            GraphNotCompiled: There is none that this version reads.
        """
        if not words_of(query):
            return []
        return [self._found(one) for one in self._causality.similar(query, limit=limit).decisions]

    def _found(self, decided: SimilarDecision) -> SourceResult:
        episode = self._episodes.get(decided.episode)
        lessons = () if episode is None else episode.lessons
        lines = [
            decided.task,
            f"decided: {decided.chosen or decided.label}",
            *([f"because: {decided.rationale}"] if decided.rationale else []),
            f"outcome: {decided.outcome} ({decided.basis})",
            *(f"lesson: {lesson}" for lesson in lessons),
        ]
        return SourceResult(
            name=decided.session,
            content="\n".join(lines),
            source=EPISODES,
            score=round(decided.score, 4),
            scored_by="BM25",
            path=str(self._episodes.path_of(decided.session)),
        )
