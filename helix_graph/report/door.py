"""Reports: what `helix-graph report` writes: one value, shown as a page, as Markdown or as JSON."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import msgspec

from helix_episodes.files import write_atomically, write_output
from helix_graph.given import one_of, place, when, whole
from helix_graph.project import PAGES
from helix_graph.report.folder import FORMATS, SESSIONS, remove_stale, require_free_sessions, require_ours
from helix_graph.report.gathering import report_of
from helix_graph.report.model import Report
from helix_graph.report.page import page_of

if TYPE_CHECKING:
    from datetime import date
    from pathlib import Path

    from helix_graph.causality.door import Causality
    from helix_graph.graph.door import Graph
    from helix_graph.insights.door import Insights
    from helix_graph.view.door import Pages

#: A year: more is no period that a team looks back on, and its bars could not be told apart.
MOST_DAYS = 366
#: So many sessions have a page of their own in a folder: each is 0.5 MB, and takes a second where there are a thousand.
MOST_PAGES = 24


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
        output: Path | str | None = None,
        format: str = "html",  # noqa: A002  (the option's name)
        days: int = 7,
        until: date | None = None,
    ) -> Reported:
        """The report of the ``days`` (1 to 366) before ``until``, or up to the newest session.

        With ``output`` it is written: where that is a folder, ends in a slash or has no ending, into the folder, as
        HTML with the pages of the sessions that it cites; else into that file. HTML without ``output`` lies in the
        memory's pages.

        Raises:
            GraphNotCompiled: There is no graph yet.
            NotOneOf: ``format`` is none of the three.
            OutOfRange: ``days`` lies outside its range.
            FolderInUse: In the folder lies a file of somebody else that would have to be replaced.
            WriteFailed: A file cannot be written.
        """
        wanted = one_of("format", format, tuple(FORMATS))
        length = whole("days", days, lowest=1, highest=MOST_DAYS)
        folder = _folder_of(output)
        if folder is not None:
            require_ours(folder, wanted)
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
        path = self._write(data, output=output, folder=folder, wanted=wanted)
        return Reported(
            report=report, format=wanted, data=data, path=None if path is None else str(path), pages=len(pages)
        )

    def _write(self, data: bytes, *, output: Path | str | None, folder: Path | None, wanted: str) -> Path | None:
        """Where it was written, if it was: what is read in a terminal need not be."""
        if output is not None:
            path = place("output", output) if folder is None else folder / FORMATS[wanted]
            write_output(path, data)
            return path
        if wanted != "html":
            return None
        path = self._root / PAGES / "report.html"
        write_atomically(path, data)
        return path

    def _session_pages(self, report: Report, folder: Path) -> dict[str, str]:
        """The pages of the sessions cited, the newest `MOST_PAGES`, and none of an earlier report's."""
        cited = {one.episode: one.date for one in report.evidence}
        newest = sorted(cited, key=lambda name: (cited[name], name), reverse=True)[:MOST_PAGES]
        require_free_sessions(folder, newest)
        remove_stale(folder)
        written = self._pages.write_sessions(newest, folder / SESSIONS)
        return {name: f"{SESSIONS}/{name}.html" for name in written}


def rendered(report: Report, format: str, pages: dict[str, str]) -> bytes:  # noqa: A002  (as above)
    """A report in one of the formats; ``pages`` are the addresses of sessions' pages."""
    if format == "json":
        return msgspec.json.format(msgspec.json.encode(report), indent=2) + b"\n"
    if format == "markdown":
        from helix_graph.report.markdown import markdown_of  # noqa: PLC0415  (few ask for it)

        return markdown_of(report).encode()
    return page_of(report, pages=pages)


def _folder_of(output: Path | str | None) -> Path | None:
    """The folder that was asked for: one that there is, or a name that ends in a slash or without an ending."""
    if output is None:
        return None
    path = place("output", output)
    slash = os.fspath(output).endswith(("/", os.sep))
    return path if slash or path.is_dir() or not path.suffix else None
