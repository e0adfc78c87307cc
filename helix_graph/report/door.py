"""Reports: what `helix-graph report` writes: one value, shown as a page, as Markdown or as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from helix_episodes.files import read_regular, remove_file, write_atomically
from helix_graph.given import one_of, when, whole
from helix_graph.project import PAGES
from helix_graph.report.errors import FolderInUse
from helix_graph.report.gathering import report_of
from helix_graph.report.model import Report

if TYPE_CHECKING:
    from datetime import date
    from pathlib import Path

    from helix_graph.causality.door import Causality
    from helix_graph.graph.door import Graph
    from helix_graph.insights.door import Insights
    from helix_graph.view.door import Pages

#: The formats, each with the name of its file in a folder.
FORMATS = {"html": "index.html", "markdown": "report.md", "json": "report.json"}
#: A year: more is no period that a team looks back on, and its bars could not be told apart.
MOST_DAYS = 366
#: So many sessions have a page of their own in a folder: each is 0.5 MB, and takes a second where there are a thousand.
MOST_PAGES = 24
_SESSIONS = "sessions"


class Reported(msgspec.Struct, frozen=True, kw_only=True):
    """A report in its format; ``path`` is where it was written, None when it is only here.

    ``pages`` are those of sessions beside it, in a folder.
    """

    report: Report
    format: str
    data: bytes
    path: str | None
    pages: int


class Reports:
    """Makes reports of the memory in ``root`` from what its doors answer."""

    def __init__(self, root: Path, *, graph: Graph, causality: Causality, insights: Insights, pages: Pages) -> None:
        self._root = root
        self._graph = graph
        self._causality = causality
        self._insights = insights
        self._pages = pages

    def make(
        self,
        *,
        output: Path | None = None,
        format: str = "html",  # noqa: A002  (the option's name)
        days: int = 7,
        until: date | None = None,
    ) -> Reported:
        """The report of the ``days`` (1 to 366) before ``until``, or up to the newest session.

        With ``output`` it is written: where that is a folder or has no ending, into the folder, as HTML with the pages
        of the sessions that it cites; else into that file. HTML without ``output`` lies in the memory's pages.

        Raises:
            GraphNotCompiled: There is no graph yet.
            NotOneOf: ``format`` is none of the three.
            OutOfRange: ``days`` lies outside its range.
            FolderInUse: In the folder lies a page of somebody else.
            WriteFailed: A file cannot be written.
        """
        wanted = one_of("format", format, tuple(FORMATS))
        length = whole("days", days, lowest=1, highest=MOST_DAYS)
        folder = output if output is not None and _is_folder(output) else None
        if folder is not None and wanted == "html":
            _require_ours(folder)
        report = report_of(
            self._root,
            graph=self._graph,
            causality=self._causality,
            insights=self._insights,
            days=length,
            until=when("until", until),
        )
        pages = self._session_pages(report, folder) if folder is not None and wanted == "html" else {}
        data = rendered(report, wanted, pages)
        path = self._place(output, folder, wanted)
        if path is not None:
            write_atomically(path, data)
        return Reported(
            report=report, format=wanted, data=data, path=None if path is None else str(path), pages=len(pages)
        )

    def _place(self, output: Path | None, folder: Path | None, wanted: str) -> Path | None:
        """Where it is written: what is read in a terminal need not be."""
        if output is None:
            return self._root / PAGES / "report.html" if wanted == "html" else None
        return folder / FORMATS[wanted] if folder is not None else output

    def _session_pages(self, report: Report, folder: Path) -> dict[str, str]:
        """The pages of the sessions cited, the newest `MOST_PAGES`, and none of an earlier report's."""
        cited = {one.episode: one.date for one in report.evidence}
        newest = sorted(cited, key=lambda name: (cited[name], name), reverse=True)[:MOST_PAGES]
        for page in sorted((folder / _SESSIONS).glob("episode-*.html")):
            remove_file(page)
        written = self._pages.write_sessions(newest, folder / _SESSIONS)
        return {name: f"{_SESSIONS}/{name}.html" for name in written}


def rendered(report: Report, format: str, pages: dict[str, str]) -> bytes:  # noqa: A002  (as above)
    """A report in one of the formats; ``pages`` are the addresses of sessions' pages."""
    if format == "json":
        return msgspec.json.format(msgspec.json.encode(report), indent=2) + b"\n"
    if format == "markdown":
        from helix_graph.report.markdown import markdown_of  # noqa: PLC0415  (each format loads its own)

        return markdown_of(report).encode()
    from helix_graph.report.page import page_of  # noqa: PLC0415  (as above)

    return page_of(report, pages=pages)


def _is_folder(output: Path) -> bool:
    return output.is_dir() or not output.suffix


def _require_ours(folder: Path) -> None:
    """Whether the page that lies in a folder, if any, is an earlier report.

    Raises:
        FolderInUse: It is not, or cannot be read.
    """
    from helix_graph.report.page import MARK  # noqa: PLC0415  (as above)

    page = folder / FORMATS["html"]
    try:
        ours = MARK.encode() in read_regular(page)
    except FileNotFoundError:
        return
    except OSError:
        ours = False
    if not ours:
        raise FolderInUse(page)
