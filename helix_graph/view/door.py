"""Pages: what `helix-graph view` writes, put together from what the doors of the memory answer."""

from __future__ import annotations

from contextlib import suppress
from types import MappingProxyType
from typing import TYPE_CHECKING

import msgspec

from helix_episodes.errors import EpisodeNotFound, InvalidSessionId
from helix_episodes.files import read_regular, write_atomically, write_output
from helix_episodes.store import PREFIX
from helix_graph.project import PAGES
from helix_graph.view.html import html_of
from helix_graph.view.page import page_of
from helix_graph.view.session import timeline_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path
    from typing import Any

    from helix_graph.causality.claims import ClaimReport
    from helix_graph.causality.door import Causality
    from helix_graph.episodes import Episodes
    from helix_graph.graph.door import Graph
    from helix_graph.graph.excerpt import Excerpt, Session
    from helix_graph.view.model import Page, PageTimeline


class ViewReport(msgspec.Struct, frozen=True, kw_only=True):
    """The page that was written: where, what part of the memory is on it, and how much of the whole that is.

    ``no_path`` says why there is none where one was asked for; it is empty otherwise.
    """

    path: str
    part: str
    nodes: int
    edges: int
    nodes_in_all: int
    edges_in_all: int
    bytes: int
    no_path: str


class _Head(msgspec.Struct):
    """What is read of an episode's file for its project."""

    project: str | None = None


class Pages:
    """Makes pages of the memory in ``root`` from what its doors answer."""

    def __init__(self, root: Path, *, graph: Graph, causality: Causality, episodes: Episodes) -> None:
        self._root = root
        self._graph = graph
        self._causality = causality
        self._episodes = episodes

    def write(self, output: Path | None, **part: Any) -> ViewReport:  # noqa: ANN401  (the options of `Graph.excerpt`)
        """Writes the page of a part of the memory to ``output``, or to the memory's folder for pages.

        Raises:
            WriteFailed: The file cannot be written.
            GraphError: As `helix_graph.graph.door.Graph.excerpt`.
        """
        page = self.page(self._causality.claims(), **part)
        name = page.timeline.episode if page.timeline else "graph"
        path, data = output or self._root / PAGES / f"{name}.html", html_of(page)
        if output is None:
            write_atomically(path, data)
        else:
            write_output(path, data)
        return ViewReport(
            path=str(path),
            part=page.part,
            nodes=len(page.nodes),
            edges=len(page.edges),
            nodes_in_all=page.nodes_in_all,
            edges_in_all=page.edges_in_all,
            bytes=len(data),
            no_path=page.path.sentence if page.path and not page.path.found else "",
        )

    def write_sessions(self, names: Iterable[str], folder: Path) -> list[str]:
        """Writes the pages of some sessions, each called after its episode; of those not in the graph there is none.

        Raises:
            WriteFailed: A file cannot be written.
            GraphNotCompiled: There is no graph yet.
        """
        claims, written = self._causality.claims(), []
        for name in names:
            with suppress(EpisodeNotFound, InvalidSessionId):
                write_atomically(folder / f"{name}.html", html_of(self.page(claims, episode=name)))
                written.append(name)
        return written

    def page(self, claims: ClaimReport, **part: Any) -> Page:  # noqa: ANN401  (as above)
        """What stands on the page of a part of the memory; ``claims`` are those of all its sessions."""
        excerpt = self._graph.excerpt(**part)
        return page_of(
            excerpt,
            claims=claims,
            projects=_projects(self._graph.episodes, excerpt.sessions),
            title=_title(self._root),
            part=_in_words(**part),
            timeline=self._timeline(excerpt) if part.get("episode") is not None else None,
        )

    def timeline(self, name: str, places: Mapping[str, int] = MappingProxyType({})) -> PageTimeline:
        """The steps of a session, by the id of its episode or its own; ``places`` are those of labels on a page.

        Raises:
            EpisodeNotFound: There is no such episode, or it was deleted since it was compiled.
        """
        return timeline_of(
            self._episodes.require(name),
            explanation=self._causality.explain(name),
            contrast=self._causality.contrast(name),
            places=places,
        )

    def _timeline(self, excerpt: Excerpt) -> PageTimeline:
        name = next(one.id for one in excerpt.sessions if not one.asserted)
        return self.timeline(name, {node.id: place for place, node in enumerate(excerpt.nodes)})


def _title(root: Path) -> str:
    return f"{root.parent.name} · helix-graph"


def _in_words(
    *,
    focus: str | None = None,
    source: str | None = None,
    target: str | None = None,
    episode: str | None = None,
    max_nodes: int = 0,  # noqa: ARG001  (the note on what is left out says it)
) -> str:
    if focus is not None:
        return f"around “{focus}”"
    if source is not None:
        return f"from “{source}” to “{target}”"
    return "one session" if episode is not None else "the whole memory"


def _projects(folder: Path, sessions: Iterable[Session]) -> dict[str, str]:
    """The projects of sessions by episode, of those that name one; what cannot be read names none."""
    found = {}
    for session in sessions:
        try:
            head = msgspec.json.decode(read_regular(folder / f"{PREFIX}{session.session}.json"), type=_Head)
        except (OSError, msgspec.MsgspecError, UnicodeDecodeError):
            continue
        if head.project:
            found[session.id] = head.project
    return found
