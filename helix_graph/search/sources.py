"""The local sources of a search: insights, entries of topics, episodes, and folders of Markdown notes.

Folders, such as Serena's, are searched by the words of names and texts. The seed looks at names alone. Names count
first here as well, and the text decides between equal ones: a note is often named for its area and found by its
content. Links are not followed. Very large files are found by their names alone, and the answer says so. Secrets are
redacted from what is shown: the files are not the memory's own.
"""

from __future__ import annotations

from stat import S_ISREG
from typing import TYPE_CHECKING

from helix_episodes.io import read_regular
from helix_graph.embedding.choice import unavailable
from helix_graph.errors import FolderUnreadable, GraphNotCompiled
from helix_graph.graph.similar import words_of
from helix_graph.search.model import PartialResults, SearchMode, SourceResult, words
from helix_graph.topics.ranking import MOST_WORDS
from helix_graph.topics.tokens import query_words

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from helix_graph.causality.api import Causality
    from helix_graph.episodes import Episodes
    from helix_graph.graph.similar import SimilarDecision
    from helix_graph.insights.api import Insights
    from helix_graph.topics.api import Topics


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
        return [
            SourceResult(
                name=hit["name"], content=hit["content"], source=INSIGHTS, score=hit["_score"], scored_by="recall"
            )
            for hit in recalled
            if manner != "semantic" or hit["_via"] != "words"
        ]


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
        found = [
            SourceResult(
                name=f"{hit.entry.topic}:{hit.entry.index}",
                content=hit.entry.text,
                source=TOPICS,
                score=hit.score,
                scored_by="BM25",
                path=hit.entry.source,
            )
            for hit in answer.hits
        ]
        damaged = ", ".join(one.problem for one in answer.damaged)
        return PartialResults(found, note=f"left out: {damaged}; `helix-graph doctor` has more") if damaged else found


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


#: Of one file: a note that people keep is far smaller, and what is larger is a log or a dump.
_LARGEST = 1_000_000
#: Of one folder: reading more at each question would take seconds.
_MOST_FILES = 5_000
#: So many of them are named.
_NAMED = 3
#: How much a word in the text counts beside one in the name.
_TEXT_SHARE = 0.5


class MarkdownFolder:
    """The Markdown files in a folder and below it."""

    manners: frozenset[SearchMode] = frozenset({"both", "lexical"})

    def __init__(self, folder: Path, *, name: str) -> None:
        self.folder = folder
        self.name = name

    def problem(self) -> str | None:
        """That there is no such folder, or none that can be looked at."""
        try:
            return None if self.folder.is_dir() else f"{self.folder} is no folder"
        except OSError as error:
            return f"{self.folder} cannot be looked at: {error.strerror or error}"

    def search(self, query: str, *, limit: int, manner: SearchMode) -> list[SourceResult]:  # noqa: ARG002  (it knows but one)
        """Files with a word of the query; the score is the percentage of words met, those in texts counting half.

        Raises:
            FolderUnreadable: The folder could not be listed to its end.
        """
        wanted, files = words(query), list(self._files())
        scored = [(score, path, text) for path, text in files if (score := _score(path, text or "", wanted))]
        scored.sort(key=lambda one: (-one[0], one[1].as_posix()))
        found = [self._found(path, text, score=score) for score, path, text in scored[:limit]]
        large = [path.name for path, text in files if text is None]
        if not large:
            return found
        number = "1 file" if len(large) == 1 else f"{len(large)} files"
        named = ", ".join(large[:_NAMED]) + (", …" if len(large) > _NAMED else "")
        return PartialResults(found, note=f"passed by: {number} too large, looked for by name alone ({named})")

    def _found(self, path: Path, text: str | None, *, score: float) -> SourceResult:
        from helix_episodes.redaction import redact_text

        content = f"{path.name} is too large to be read here" if text is None else redact_text(text)
        return SourceResult(
            name=path.stem, content=content, source=self.name, score=score, scored_by="percentage", path=str(path)
        )

    def _files(self) -> Iterator[tuple[Path, str | None]]:
        """The files with their texts; None is the text of one that is too large."""
        try:
            paths = sorted(self.folder.rglob("*.md"))[:_MOST_FILES]
        except OSError as error:  # another program's folder, or one that vanishes while it is listed
            raise FolderUnreadable(folder=self.folder, problem=error.strerror or str(error)) from error
        for path in paths:
            try:
                yield path, _text(path)
            except OSError:  # gone since the folder was listed, or no regular file
                continue


def _score(path: Path, text: str, wanted: tuple[str, ...]) -> float:
    in_name, in_text = set(words(path.stem)), set(words(text))
    found = sum(1.0 if word in in_name else _TEXT_SHARE if word in in_text else 0.0 for word in wanted)
    return round(100 * found / len(wanted), 2) if wanted else 0.0


def _text(path: Path) -> str | None:
    """What stands in it; None when that is too much.

    Raises:
        OSError: It cannot be read.
    """
    found = path.stat(follow_symlinks=False)
    if S_ISREG(found.st_mode) and found.st_size > _LARGEST:
        return None
    return read_regular(path).decode(errors="replace")
