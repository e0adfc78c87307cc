"""Episodes as a source: sessions by the words of their decisions and tasks, in the words of `similar`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from helix_graph.errors import GraphNotCompiled
from helix_graph.graph.decided import words_of
from helix_graph.search.model import Found, Manner

if TYPE_CHECKING:
    from pathlib import Path

    from helix_graph.causality.door import Causality
    from helix_graph.episodes import Episodes
    from helix_graph.graph.decided import Decided

NAME = "Episodes"


class EpisodeSource:
    """The episodes of a memory, through its compiled graph at ``graph_file``."""

    name = NAME
    manners: frozenset[Manner] = frozenset({"both", "lexical"})

    def __init__(self, episodes: Episodes, causality: Causality, *, graph_file: Path) -> None:
        self._episodes = episodes
        self._causality = causality
        self._graph_file = graph_file

    def problem(self) -> str | None:
        """That there is no graph yet."""
        return None if self._graph_file.is_file() else str(GraphNotCompiled(path=self._graph_file))

    def search(self, query: str, *, limit: int, manner: Manner) -> list[Found]:  # noqa: ARG002  (it knows but one)
        """One result a session, with the decision that is most like the query.

        Raises:
            GraphNotCompiled: There is none that this version reads.
        """
        if not words_of(query):
            return []
        return [self._found(one) for one in self._causality.similar(query, limit=limit).decisions]

    def _found(self, decided: Decided) -> Found:
        episode = self._episodes.get(decided.episode)
        lessons = () if episode is None else episode.lessons
        lines = [
            decided.task,
            f"decided: {decided.chosen or decided.label}",
            *([f"because: {decided.rationale}"] if decided.rationale else []),
            f"outcome: {decided.outcome} ({decided.basis})",
            *(f"lesson: {lesson}" for lesson in lessons),
        ]
        return Found(
            name=decided.session,
            content="\n".join(lines),
            source=NAME,
            score=round(decided.score, 4),
            scored_by="BM25",
            path=str(self._episodes.path_of(decided.session)),
        )
