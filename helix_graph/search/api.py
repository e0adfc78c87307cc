"""``memory.search``: one question to every source, and which sources can be searched.

The user's own configuration (`helix_graph.project.user_configuration`) has its settings::

    [search]
    markdown = ["~/notes", "docs/notes"]            # folders of Markdown; relative ones start at the project
    forgetful = "http://127.0.0.1:8020/mcp"         # a Forgetful server's MCP endpoint
    forgetful_timeout_ms = 500

``.helix/config.toml`` may come with a repository, so it may name folders within the project and nothing else: a server
would read the queries, and a folder outside would be read to whoever asks. What it names beyond that has no effect, and
`SearchSettings.ignored` says so. Where neither file names folders, ``.serena/memories`` of the project is searched.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import msgspec

from helix_episodes.errors import HelixGraphError, InvalidArgument
from helix_episodes.safe_files import expanded
from helix_graph.embedding.model import NoEmbedder
from helix_graph.errors import InvalidConfiguration
from helix_graph.insights.safe_quoting import logged_name_or_quoted
from helix_graph.project import CONFIGURATION, read_table, user_configuration
from helix_graph.search.model import (
    MemorySearchAnswer,
    PartialResults,
    SearchMode,
    SearchSource,
    SourceResult,
    SourceStatus,
    checked,
    merged,
)
from helix_graph.search.sources import FORGETFUL, TTL_SECONDS, Availability, Forgetful, MarkdownFolder
from helix_graph.validation import as_int

SERENA = Path(".serena/memories")
#: The seed's: a server on the same machine answers in a few milliseconds, and a search does not wait longer for one.
_TIMEOUT_MS = 500
_LONGEST_TIMEOUT_MS = 60_000


class SearchSettings(msgspec.Struct, frozen=True, kw_only=True):
    """Folders to search, and the Forgetful server to ask; ``ignored`` names the memory's settings without effect."""

    markdown: tuple[Path, ...]
    forgetful: str | None = None
    forgetful_timeout_ms: int = _TIMEOUT_MS
    ignored: tuple[str, ...] = ()


class _Table(msgspec.Struct, forbid_unknown_fields=True):
    markdown: list[str] | None = None
    forgetful: str | None = None
    forgetful_timeout_ms: int = _TIMEOUT_MS


def read_settings(root: Path) -> SearchSettings:
    """The settings for the memory in ``root``: the user's own, and of the memory's what may come with a repository.

    Raises:
        InvalidConfiguration: A file is not understood; guessing could ask a server that nobody named.
    """
    path, shipped_path = user_configuration(), root / CONFIGURATION
    table, shipped = read_table(path, "search", _Table), read_table(shipped_path, "search", _Table)
    if not 1 <= table.forgetful_timeout_ms <= _LONGEST_TIMEOUT_MS:
        raise InvalidConfiguration(path=path, problem=f"forgetful_timeout_ms must be 1 to {_LONGEST_TIMEOUT_MS}")
    if table.forgetful is not None and not _is_endpoint(table.forgetful):
        raise InvalidConfiguration(
            path=path, problem=f"forgetful is {table.forgetful!r}, which is not an http(s) address"
        )
    for file, named in ((path, table.markdown), (shipped_path, shipped.markdown)):
        if any(not one.strip() for one in named or ()):
            raise InvalidConfiguration(path=file, problem='markdown names an empty folder; the project itself is "."')
        if any("\0" in one for one in named or ()):
            raise InvalidConfiguration(path=file, problem="markdown names a folder with a null character in it")
    project, remedy = root.parent, f"set it in {path} if you want it"
    shipped_folders = [project / one for one in shipped.markdown or () if not one.startswith("~")]
    if table.markdown is None and shipped.markdown is None:
        shipped_folders = [project / SERENA]
    inside = [one for one in shipped_folders if Path(os.path.realpath(one)).is_relative_to(os.path.realpath(project))]
    outside = [one for one in shipped.markdown or () if project / one not in inside]
    ignored = [
        f"{shipped_path}: {logged_name_or_quoted(one)} is outside of the project and not searched; {remedy}"
        for one in outside
    ]
    if shipped.forgetful is not None:
        ignored.append(f"{shipped_path}: the server {logged_name_or_quoted(shipped.forgetful)} is not asked; {remedy}")
    if shipped.forgetful_timeout_ms != _TIMEOUT_MS:
        ignored.append(f"{shipped_path}: forgetful_timeout_ms has no effect there; {remedy}")
    own = [project / expanded(one) for one in table.markdown or ()]
    return SearchSettings(
        markdown=tuple(dict.fromkeys((*own, *inside))),
        forgetful=table.forgetful,
        forgetful_timeout_ms=table.forgetful_timeout_ms,
        ignored=tuple(ignored),
    )


def _is_endpoint(address: str) -> bool:
    try:
        parts = urlsplit(address)
        return parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:  # a port that is no number
        return False


FEWEST, MOST, DEFAULT = 1, 100, 10
_CACHE = "cache/forgetful.json"
_PORTS = {"http": 80, "https": 443}


class Search:
    """The search over the memory in ``root``. ``own`` gives the sources that are the memory's own parts."""

    def __init__(self, root: Path, *, own: Callable[[], Sequence[SearchSource]]) -> None:
        self.root = root
        self._own = own

    def __call__(
        self, query: str, *, max_results: int = DEFAULT, semantic_only: bool = False, lexical_only: bool = False
    ) -> MemorySearchAnswer:
        """What fits the query best, over all sources: by words and by meaning, or by one of them alone.

        Raises:
            InvalidArgument: The query is empty, longer than 500 characters, or holds a character other than ASCII's
                letters and digits, white space and ``- . , _ ( ) & :``; both ``semantic_only`` and ``lexical_only``.
                ``max_results`` is not between 1 and 100.
            NoEmbedder: ``semantic_only``, and nothing here compares meanings.
        """
        if semantic_only and lexical_only:
            raise InvalidArgument(None, "Cannot specify both semantic_only and lexical_only")
        asked = checked(query)
        limit = as_int("max_results", max_results, lowest=FEWEST, highest=MOST)
        manner: SearchMode = "semantic" if semantic_only else "lexical" if lexical_only else "both"
        answers = [_ask(source, asked, limit=limit, manner=manner) for source in self._sources()]
        if semantic_only and not any(searched.state == "searched" for searched, _ in answers):
            reasons = [f"{one.name}: {one.problem}" for one, _ in answers if one.state != "left out"]
            why = "; ".join(reasons) or f"{FORGETFUL} is not available"
            problem = f"No semantic search is available and semantic_only was specified: {why}"
            raise NoEmbedder(f"{problem}. `helix-graph model status` says how to get one")
        return MemorySearchAnswer(
            results=merged([found for _, found in answers], limit=limit),
            sources=tuple(searched for searched, _ in answers),
        )

    def status(self) -> dict[str, dict[str, Any]]:
        """What can be searched, under the seed's keys, and ours."""
        settings = read_settings(self.root)
        serena = settings.markdown[0] if settings.markdown else self.root.parent / SERENA
        availability = self._availability(settings)
        parts = urlsplit(settings.forgetful or "")
        problems = [(source, source.problem()) for source in self._sources()]
        return {
            "Serena": {"Available": serena.is_dir(), "Path": str(serena)},
            "Forgetful": {
                "Available": availability is not None and availability.available(),
                "Endpoint": settings.forgetful,
            },
            "Cache": {"AgeSeconds": -1.0 if availability is None else availability.age(), "TTLSeconds": TTL_SECONDS},
            "Configuration": {
                "SerenaPath": str(serena),
                "ForgetfulPort": parts.port or _PORTS.get(parts.scheme),
                "ForgetfulTimeout": settings.forgetful_timeout_ms,
                "MaxResults": DEFAULT,
                **({"Ignored": list(settings.ignored)} if settings.ignored else {}),
            },
            "Sources": {
                one.name: {"Available": problem is None, "Problem": problem, "Manners": sorted(one.manners)}
                for one, problem in problems
            },
        }

    def ignored(self) -> tuple[str, ...]:
        """Which settings of the memory's own ``config.toml`` have no effect, since only the user may set such."""
        return read_settings(self.root).ignored

    def _sources(self) -> list[SearchSource]:
        settings = read_settings(self.root)
        project = self.root.parent
        sources = [*self._own()]
        for path in settings.markdown:  # Serena's goes by the name of the seed's source, others by their paths
            name = path.relative_to(project).as_posix() if path.is_relative_to(project) else str(path)
            sources.append(MarkdownFolder(path, name="Serena" if path == project / SERENA else name))
        availability = self._availability(settings)
        if availability is not None and settings.forgetful is not None:
            timeout = settings.forgetful_timeout_ms
            sources.append(Forgetful(settings.forgetful, timeout_ms=timeout, availability=availability))
        return sources

    def _availability(self, settings: SearchSettings) -> Availability | None:
        if settings.forgetful is None:
            return None
        cache = self.root / _CACHE
        return Availability(cache, endpoint=settings.forgetful, timeout_ms=settings.forgetful_timeout_ms)


def _ask(
    source: SearchSource, query: str, *, limit: int, manner: SearchMode
) -> tuple[SourceStatus, Sequence[SourceResult]]:
    """A source's results, or in their place why it has none."""
    if manner not in source.manners:
        problem = f"it has no {manner} search"
        return SourceStatus(name=source.name, state="left out", problem=problem), ()
    if problem_now := source.problem():
        return SourceStatus(name=source.name, state="absent", problem=problem_now), ()
    try:
        found = source.search(query, limit=limit, manner=manner)
    except HelixGraphError as error:  # reported with the results: one source must not silence the others
        return SourceStatus(name=source.name, state="failed", problem=str(error)), ()
    note = found.note if isinstance(found, PartialResults) else None
    return SourceStatus(name=source.name, state="searched", found=len(found), note=note), found
