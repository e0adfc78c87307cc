"""Pages and reports: what `helix-graph view` and `helix-graph report` write, from the answers of the memory's parts.

A report goes into a file or a folder. The user does not name the files in a folder, so only files of an earlier report
are replaced or deleted there. Each format is recognised in its file, pages of sessions by the mark of our pages, and
those only next to an earlier report: elsewhere somebody may have collected them.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

import msgspec

from helix_episodes.errors import EpisodeNotFound, InvalidSessionId
from helix_episodes.msgspec_types import ready
from helix_episodes.safe_files import read_regular, remove_file, write_atomically, write_output
from helix_episodes.store import PREFIX
from helix_graph.errors import FolderInUse
from helix_graph.project import PAGES
from helix_graph.validation import as_choice, as_datetime, as_int, as_path
from helix_graph.web.graph_content import Page, build_graph_page
from helix_graph.web.rendering import PAGE_MARK, REPORT_MARK, page_html, report_html, report_markdown
from helix_graph.web.report_content import build_report
from helix_graph.web.report_model import PeriodReport
from helix_graph.web.report_text import QUOTES
from helix_graph.web.timeline import PageTimeline, build_timeline

if TYPE_CHECKING:
    from datetime import date
    from typing import Any

    from helix_graph.causality.api import Causality
    from helix_graph.causality.edge_support import ClaimReport
    from helix_graph.episodes import Episodes
    from helix_graph.graph.api import Graph
    from helix_graph.graph.subgraph import ExcerptSession
    from helix_graph.highlights import Highlights
    from helix_graph.insights.api import Insights


#: The formats, each with the name of its file in a folder.
FORMATS = {"html": "index.html", "markdown": "report.md", "json": "report.json"}
SESSIONS = "sessions"


class _ReportHead(msgspec.Struct):
    """What a report in JSON begins with."""

    title: str
    since: str
    last: str
    days: int
    sessions: int


def _in_use(page: Path) -> FolderInUse:
    """What to raise of a file or folder that no earlier report has written."""
    return FolderInUse(f"{page} is of no earlier report of helix-graph; name another folder, or a file")


def require_ours(folder: Path, format: str) -> None:  # noqa: A002  (the option's name)
    """Whether the file of the format in a folder, if any, is an earlier report.

    Raises:
        FolderInUse: It is not, or cannot be read; or the folder is none.
    """
    if os.path.lexists(folder) and not folder.is_dir():
        raise _in_use(folder)
    _require(folder / FORMATS[format], _KNOWN[format])


def require_free_sessions(folder: Path, names: Iterable[str]) -> None:
    """Whether the pages of the sessions named can be written: where there is something, it is such a page.

    Raises:
        FolderInUse: It is none, or the pages would land in another folder.
    """
    sessions = folder / SESSIONS
    if os.path.lexists(sessions) and (sessions.is_symlink() or not sessions.is_dir()):
        raise _in_use(sessions)
    for name in names:
        _require(sessions / f"{name}.html", _is_view)


def remove_stale(folder: Path) -> None:
    """Deletes the sessions' pages of an earlier report.

    Raises:
        WriteFailed: One cannot be deleted.
    """
    if not (folder / FORMATS["html"]).exists():
        return
    for page in sorted((folder / SESSIONS).glob("episode-*.html")):
        if _holds(page, _is_view):
            remove_file(page)


def _require(path: Path, known: Callable[[bytes], bool]) -> None:
    if os.path.lexists(path) and not _holds(path, known):
        raise _in_use(path)


def _holds(path: Path, known: Callable[[bytes], bool]) -> bool:
    try:
        return known(read_regular(path))
    except OSError:
        return False


def _is_view(data: bytes) -> bool:
    return PAGE_MARK.encode() in data


def _is_json(data: bytes) -> bool:
    try:
        msgspec.json.decode(data, type=ready(_ReportHead))
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return False
    return True


_KNOWN: dict[str, Callable[[bytes], bool]] = {
    "html": lambda data: REPORT_MARK.encode() in data,
    "markdown": lambda data: data.endswith(f"\n{QUOTES}\n".encode()),
    "json": _is_json,
}


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


#: A year: more is no period that a team looks back on, and its bars could not be distinguished.
MOST_DAYS = 366
#: So many sessions have a page of their own in a folder: each is 0.5 MB, and takes a second where there are a thousand.
MOST_PAGES = 24


class WrittenReport(msgspec.Struct, frozen=True, kw_only=True):
    """A report in its format; ``path`` is where it was written, None when it is only here.

    ``pages`` is the number of sessions' pages next to it, in a folder.
    """

    report: PeriodReport
    format: str
    data: bytes
    path: str | None
    pages: int


class _Head(msgspec.Struct):
    """What is read of an episode's file for its project."""

    project: str | None = None


class Pages:
    """Makes pages and reports of the memory in ``root`` from the answers of its parts."""

    def __init__(self, root: Path, *, graph: Graph, causality: Causality, episodes: Episodes) -> None:
        self._root = root
        self._graph = graph
        self._causality = causality
        self._episodes = episodes

    def write(self, output: Path | None, **part: Any) -> ViewReport:  # noqa: ANN401  (the options of `Graph.excerpt`)
        """Writes the page of a part of the memory to ``output``, or to the memory's folder for pages.

        Raises:
            WriteFailed: The file cannot be written.
            GraphError: As `helix_graph.graph.api.Graph.excerpt`.
        """
        page = self.page(self._causality.claims(), **part)
        name = page.timeline.episode if page.timeline else "graph"
        path, data = output or self._root / PAGES / f"{name}.html", page_html(page)
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
                write_atomically(folder / f"{name}.html", page_html(self.page(claims, episode=name)))
                written.append(name)
        return written

    def page(self, claims: ClaimReport, **part: Any) -> Page:  # noqa: ANN401  (as above)
        """The content of the page of a part of the memory; ``claims`` are those of all its sessions."""
        excerpt = self._graph.excerpt(**part)
        timeline = None
        if part.get("episode") is not None:
            name = next(one.id for one in excerpt.sessions if not one.asserted)
            timeline = self.timeline(name, {node.id: place for place, node in enumerate(excerpt.nodes)})
        return build_graph_page(
            excerpt,
            claims=claims,
            projects=_projects(self._graph.episodes, excerpt.sessions),
            title=f"{self._root.parent.name} · helix-graph",
            part=_in_words(part),
            timeline=timeline,
        )

    def timeline(self, name: str, places: Mapping[str, int] = MappingProxyType({})) -> PageTimeline:
        """The steps of a session, by the id of its episode or its own; ``places`` are those of labels on a page.

        Raises:
            EpisodeNotFound: There is no such episode, or it was deleted since it was compiled.
        """
        return build_timeline(
            self._episodes.require(name),
            explanation=self._causality.explain(name, from_log=False),
            contrast=self._causality.contrast(name),
            places=places,
        )

    def report(
        self,
        insights: Insights,
        highlights: Highlights,
        *,
        output: Path | str | None = None,
        format: str = "html",  # noqa: A002  (the option's name)
        days: int = 7,
        until: date | None = None,
    ) -> WrittenReport:
        """The report of the ``days`` (1 to 366) before ``until``, or up to the newest session.

        With ``output`` it is written: where that is a folder, ends in a slash or has no ending, into the folder, as
        HTML with the pages of the sessions that it cites; else into that file. HTML without ``output`` goes to the
        memory's pages.

        Raises:
            GraphNotCompiled: There is no graph yet.
            InvalidArgument: ``format`` is none of the three. ``days`` is outside its range.
            FolderInUse: A file of somebody else in the folder would have to be replaced.
            WriteFailed: A file cannot be written.
        """
        wanted = as_choice("format", format, tuple(FORMATS))
        length = as_int("days", days, lowest=1, highest=MOST_DAYS)
        folder = _folder_of(output)
        if folder is not None:
            require_ours(folder, wanted)
        report = build_report(
            self._root,
            graph=self._graph,
            causality=self._causality,
            insights=insights,
            highlights=highlights,
            days=length,
            until=as_datetime("until", until),
        )
        pages = self._session_pages(report, folder) if folder is not None and wanted == "html" else {}
        data = rendered(report, wanted, pages)
        path = self._write_report(data, output=output, folder=folder, wanted=wanted)
        return WrittenReport(
            report=report, format=wanted, data=data, path=None if path is None else str(path), pages=len(pages)
        )

    def _write_report(self, data: bytes, *, output: Path | str | None, folder: Path | None, wanted: str) -> Path | None:
        """Where it was written, if it was: what is read in a terminal need not be."""
        if output is not None:
            path = as_path("output", output) if folder is None else folder / FORMATS[wanted]
            write_output(path, data)
            return path
        if wanted != "html":
            return None
        path = self._root / PAGES / "report.html"
        write_atomically(path, data)
        return path

    def _session_pages(self, report: PeriodReport, folder: Path) -> dict[str, str]:
        """The pages of the sessions cited, the newest `MOST_PAGES`, and none of an earlier report's."""
        cited = {one.episode: one.date for one in report.evidence}
        newest = sorted(cited, key=lambda name: (cited[name], name), reverse=True)[:MOST_PAGES]
        require_free_sessions(folder, newest)
        remove_stale(folder)
        written = self.write_sessions(newest, folder / SESSIONS)
        return {name: f"{SESSIONS}/{name}.html" for name in written}


def _in_words(part: Mapping[str, Any]) -> str:
    """The part of the memory that is on a page; a note there says how much is left out."""
    if part.get("focus") is not None:
        return f"around “{part['focus']}”"
    if part.get("source") is not None:
        return f"from “{part['source']}” to “{part['target']}”"
    return "one session" if part.get("episode") is not None else "the whole memory"


def _projects(folder: Path, sessions: Iterable[ExcerptSession]) -> dict[str, str]:
    """The projects of sessions by episode, of those that name one; what cannot be read names none."""
    found = {}
    for session in sessions:
        try:
            head = msgspec.json.decode(read_regular(folder / f"{PREFIX}{session.session}.json"), type=ready(_Head))
        except (OSError, msgspec.MsgspecError, UnicodeDecodeError):
            continue
        if head.project:
            found[session.id] = head.project
    return found


def rendered(report: PeriodReport, format: str, pages: dict[str, str]) -> bytes:  # noqa: A002  (as above)
    """A report in one of the formats; ``pages`` are the addresses of sessions' pages."""
    if format == "json":
        return msgspec.json.format(msgspec.json.encode(report), indent=2) + b"\n"
    if format == "markdown":
        return report_markdown(report)
    return report_html(report, pages=pages)


def _folder_of(output: Path | str | None) -> Path | None:
    """The folder that was asked for: one that there is, or a name that ends in a slash or without an ending."""
    if output is None:
        return None
    path = as_path("output", output)
    slash = os.fspath(output).endswith(("/", os.sep))
    return path if slash or path.is_dir() or not path.suffix else None
