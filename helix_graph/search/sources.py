"""The sources of a search: insights, entries of topics, episodes, folders of Markdown notes, a Forgetful server.

Folders, such as Serena's, are searched by the words of names and texts. The seed looks at names alone. Names count
first here as well, and the text decides between equal ones: a note is often named for its area and found by its
content. Links are not followed. Very large files are found by their names alone, and the answer says so. Secrets are
redacted from what is shown: the files are not the memory's own.

A Forgetful server is asked over its MCP endpoint with the official client. Its tool for searching has had several
names: the newest is reached through ``execute_forgetful_tool``. Every failure there becomes one sentence, within the
time that the settings allow: a search does not fail because of another program. Whether the server answers is checked
at most twice a minute. The answer is kept in a file, since each question may come from a process of its own. A file
that is damaged or from another address or from the future counts as none.
"""

from __future__ import annotations

import contextlib
import logging
import socket
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from stat import S_ISREG
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import msgspec

from helix_episodes.errors import FileError, ProgramFailed, WriteFailed
from helix_episodes.msgspec_types import read_json
from helix_episodes.safe_files import read_regular, write_atomically
from helix_graph.embedding.choice import unavailable
from helix_graph.errors import GraphNotCompiled, MissingExtra
from helix_graph.graph.similar_decisions import SimilarDecision, words_of
from helix_graph.insights.safe_quoting import sanitize_line
from helix_graph.search.model import PartialResults, SearchMode, SourceResult
from helix_graph.topics.ranking import MOST_WORDS, asked_words
from helix_graph.word_search import query_words, telling

if TYPE_CHECKING:
    from helix_graph.causality.api import Causality
    from helix_graph.episodes import Episodes
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
                name=hit["name"],
                content=hit["content"],
                source=INSIGHTS,
                score=hit["_score"],
                scored_by="recall",
                said_by=hit.get("_said_by", ""),
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

    def search(self, query: str, *, limit: int, manner: SearchMode) -> list[SourceResult]:  # noqa: ARG002  (it has only one)
        """Entries that have all words, else some; of a very long query the first words count."""
        words = asked_words(query)[:MOST_WORDS]
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
                said_by=f"recorded {hit.entry.stored:%Y-%m-%d}",
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
        """One result a session, with the decision that is most like the query."""
        if not words_of(query):
            return []
        return [self._found(one) for one in self._causality.similar(query, limit=limit).decisions]

    def _found(self, decided: SimilarDecision) -> SourceResult:
        episode = self._episodes.get(decided.episode)
        lines = [decided.task, f"decided: {decided.chosen or decided.label}"]
        lines += [f"because: {decided.rationale}"] if decided.rationale else []
        lines += [f"outcome: {decided.outcome}" + ("" if decided.basis == "none" else f" ({decided.basis})")]
        lines += [f"lesson: {lesson}" for lesson in (episode.lessons if episode else ())]
        return SourceResult(
            name=decided.session,
            content="\n".join(lines),
            source=EPISODES,
            score=round(decided.score, 4),
            scored_by="BM25",
            path=str(self._episodes.folder / f"{decided.episode}.json"),
            said_by="from that session's log",
        )


#: Of one file: a note that people keep is far smaller, and what is larger is a log or a dump.
_LARGEST = 1_000_000
#: Of one folder: reading more at each question would take seconds.
_MOST_FILES = 5_000
#: So many of them are named.
_NAMED = 3
#: How much a word in the text counts, compared with one in the name.
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
        """Files with a word of the query; the score is the percentage of words found, those in texts counting half.

        Raises:
            FileError: The folder could not be listed to its end.
        """
        wanted, files = telling(query_words(query)), list(self._files())
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
            name=path.stem,
            content=content,
            source=self.name,
            score=score,
            scored_by="percentage",
            path=str(path),
            said_by="from that file",
        )

    def _files(self) -> Iterator[tuple[Path, str | None]]:
        """The files with their texts; None is the text of one that is too large."""
        try:
            paths = sorted(self.folder.rglob("*.md"))[:_MOST_FILES]
        except OSError as error:  # another program's folder, or one that vanishes while it is listed
            problem = f"cannot be listed: {error.strerror or error}; name another folder in .helix/config.toml"
            raise FileError(path=self.folder, problem=problem) from error
        for path in paths:
            try:
                yield path, _text(path)
            except OSError:  # gone since the folder was listed, or no regular file
                continue


def _score(path: Path, text: str, wanted: tuple[str, ...]) -> float:
    in_name, in_text = set(query_words(path.stem)), set(query_words(text))
    found = sum(1.0 if word in in_name else _TEXT_SHARE if word in in_text else 0.0 for word in wanted)
    return round(100 * found / len(wanted), 2) if wanted else 0.0


def _text(path: Path) -> str | None:
    """The file's text; None when it is too large."""
    found = path.stat(follow_symlinks=False)
    if S_ISREG(found.st_mode) and found.st_size > _LARGEST:
        return None
    return read_regular(path).decode(errors="replace")


#: The seed's.
TTL_SECONDS = 30.0
_PORTS = {"http": 80, "https": 443}


class _Checked(msgspec.Struct, frozen=True):
    endpoint: str
    at: float
    available: bool


class Availability:
    """What is known of one endpoint. ``clock`` gives seconds since the epoch."""

    def __init__(self, cache: Path, *, endpoint: str, timeout_ms: int, clock: Callable[[], float] = time.time) -> None:
        self._cache = cache
        self._endpoint = endpoint
        self._timeout = timeout_ms / 1000
        self._clock = clock

    def available(self, *, force: bool = False) -> bool:
        """Whether something listens there; checked again after `TTL_SECONDS`, or with ``force``."""
        known = self._known()
        if known is not None and not force and 0 <= self._clock() - known.at < TTL_SECONDS:
            return known.available
        return self.note(available=self._listens())

    def note(self, *, available: bool) -> bool:
        """Keeps for the next questions what has just been learnt, where the folder lets one write."""
        checked = _Checked(endpoint=self._endpoint, at=self._clock(), available=available)
        with contextlib.suppress(WriteFailed):  # a memory that may only be read asks each time
            write_atomically(self._cache, msgspec.json.encode(checked))
        return available

    def age(self) -> float:
        """Seconds since it was last looked at; -1 when it never was."""
        known = self._known()
        return -1.0 if known is None else max(0.0, round(self._clock() - known.at, 3))

    def _known(self) -> _Checked | None:
        known = read_json(self._cache, _Checked)
        return known if known and known.endpoint == self._endpoint else None

    def _listens(self) -> bool:
        parts = urlsplit(self._endpoint)
        try:
            with socket.create_connection((parts.hostname, parts.port or _PORTS[parts.scheme]), self._timeout):
                return True
        except OSError:
            return False


FORGETFUL = "Forgetful"
_WHY = "a search over a coding agent's memories"
#: A server that listens has to start a search by meaning, which takes longer than listening.
_ANSWER_TIMES = 10
_LONGEST_PROBLEM = 200
_UNHEARD = logging.NullHandler()


class Forgetful:
    """The server at ``endpoint``."""

    name = FORGETFUL
    manners: frozenset[SearchMode] = frozenset({"both", "semantic"})

    def __init__(self, endpoint: str, *, timeout_ms: int, availability: Availability) -> None:
        self.endpoint = endpoint
        self._seconds = timeout_ms * _ANSWER_TIMES / 1000
        self._availability = availability

    def problem(self) -> str | None:
        """That nothing listens there; what was found out in the last 30 seconds holds."""
        return None if self._availability.available() else f"nothing listens at {self.endpoint}"

    def search(self, query: str, *, limit: int, manner: SearchMode) -> list[SourceResult]:  # noqa: ARG002  (it knows but one)
        """Its memories, as it ranks them.

        Raises:
            ProgramFailed: It is no such server, does not answer in time, or answers what is not understood.
        """
        from helix_episodes.redaction import redact_text

        answer = self._ask(redact_text(query), limit)  # it leaves this program, and maybe this machine
        while not isinstance(answer, list):  # a list of memories, or an object or a text that holds one
            answer = self._within(answer)
        memories = [one for one in answer if isinstance(one, dict)]
        found = []
        for number, memory in enumerate(memories[:limit], 1):
            title = str(memory.get("title") or memory.get("name") or memory.get("id") or f"memory {number}")
            scores = (memory[key] for key in ("score", "similarity") if isinstance(memory.get(key), int | float))
            found.append(
                SourceResult(
                    name=sanitize_line(redact_text(title)),
                    content=redact_text(str(memory.get("content") or "")),
                    source=FORGETFUL,
                    score=float(next(scores, 0.0)),
                    scored_by="similarity",
                    foreign=True,
                )
            )
        return found

    def _within(self, answer: object) -> object:
        """What an answer holds.

        Raises:
            ProgramFailed: It is neither an object with memories nor JSON.
        """
        keys = ("primary_memories", "memories", "results", "result")
        if isinstance(answer, dict) and (key := next((key for key in keys if key in answer), None)):
            return answer[key]
        if isinstance(answer, str):
            with contextlib.suppress(msgspec.DecodeError, RecursionError):
                return msgspec.json.decode(answer)
        raise ProgramFailed(f"{FORGETFUL} at {self.endpoint} answers in a form that is not known: no list of memories")

    def _ask(self, query: str, limit: int) -> object:
        try:
            from anyio.from_thread import start_blocking_portal
            from httpx2 import HTTPError
            from mcp import MCPError
        except ImportError as error:
            raise MissingExtra(wanted="asking a Forgetful server", extra="mcp") from error
        # What fails is in the answer; without a handler the SDK's tracebacks would be printed as well.
        logging.getLogger("mcp").addHandler(_UNHEARD)
        try:
            with start_blocking_portal() as portal:  # a thread of its own: the caller's may run a loop already
                return portal.call(self._call, query, limit)
        except* (OSError, TimeoutError, ValueError, HTTPError, MCPError, _NotUnderstoodError) as group:
            first: BaseException = group
            while isinstance(first, BaseExceptionGroup):
                first = first.exceptions[0]
            said = str(first) or type(first).__name__
            problem = said.partition("\n")[0][
                :_LONGEST_PROBLEM
            ]  # of what does not fit the protocol there is a line a field
        self._availability.note(available=False)
        raise ProgramFailed(f"{FORGETFUL} at {self.endpoint} did not answer: {problem}")

    async def _call(self, query: str, limit: int) -> object:
        import anyio
        from mcp import Client

        with anyio.fail_after(self._seconds):
            async with Client(self.endpoint, mode="legacy") as client:
                tools = {tool.name for tool in (await client.list_tools()).tools}
                name, arguments = _request(tools, query, limit)
                result = await client.call_tool(name, arguments)
        texts = [block.text for block in result.content if block.type == "text"]
        if result.is_error:
            raise _NotUnderstoodError("it answers: " + " ".join(texts)[:_LONGEST_PROBLEM])
        try:
            return result.structured_content or msgspec.json.decode("".join(texts))
        except (msgspec.DecodeError, RecursionError) as error:
            raise _NotUnderstoodError("its answer is not JSON") from error


class _NotUnderstoodError(Exception):
    """The server answers, but not as such a server does."""


def _request(tools: set[str], query: str, limit: int) -> tuple[str, dict[str, Any]]:
    """The tool to call, with its arguments."""
    asked = {"query": query, "query_context": _WHY, "k": limit}
    known: dict[str, dict[str, Any]] = {
        "execute_forgetful_tool": {"tool_name": "query_memory", "arguments": asked},
        "query_memory": asked,
        "memory_search": {"query": query, "limit": limit},
    }
    for name, arguments in known.items():
        if name in tools:
            return name, arguments
    raise _NotUnderstoodError(f"it has none of the tools {', '.join(known)}")
