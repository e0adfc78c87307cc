"""Pages and reports: what `helix-graph view` and `helix-graph report` write, from the answers of the memory's parts.

A report goes into a file or a folder. The user does not name the files in a folder, so only files of an earlier report
are replaced there (`helix_graph.web.written_files`).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

import msgspec

from helix_episodes.errors import InvalidArgument
from helix_episodes.extraction.costs import LONGEST_GAP
from helix_episodes.safe_files import make_output_folder, write_atomically, write_output
from helix_episodes.store import PREFIX
from helix_graph.graph.graph_db import open_graph
from helix_graph.insights.safe_quoting import harmless_json
from helix_graph.project import PAGES
from helix_graph.shared_authors import authors_of
from helix_graph.validation import as_choice, as_datetime, as_int, as_path, as_str
from helix_graph.web.page_content import (
    issues_at,
    issues_of,
    page_rules,
    places_of,
    sessions_of,
    traced_sessions,
)
from helix_graph.web.page_graph import PageGraph, PagePath, graph_of, path_of
from helix_graph.web.rendering import (
    page_html,
    report_card,
    report_html,
    report_markdown,
)
from helix_graph.web.report_content import build_report, project_name
from helix_graph.web.report_model import PeriodReport
from helix_graph.web.timeline import PageTimeline, build_timeline, trace_of
from helix_graph.web.written_files import FORMATS, VIEW, require_ours

if TYPE_CHECKING:
    from datetime import date

    from helix_graph.causality.api import Causality
    from helix_graph.episodes import Episodes
    from helix_graph.graph.api import Graph
    from helix_graph.highlights.model import Highlights
    from helix_graph.insights.api import Insights
    from helix_graph.issues.api import Issues
    from helix_graph.rules.api import Rules


#: Of so many of the newest sessions that did not succeed the log is read again, where it still is: each takes up to a
#: tenth of a second. Of the others what their episodes kept is put in order.
_LOGS_READ = 20


class PageMeta(msgspec.Struct, frozen=True, kw_only=True):
    """What the page begins with: ``opens`` is where, ``newest`` the time of the newest session.

    ``pause`` is how many minutes without an entry are no work.
    """

    title: str
    opens: str
    newest: str
    sessions: int
    tabs: tuple[str, ...]
    pause: float


class ViewReport(msgspec.Struct, frozen=True, kw_only=True):
    """The page that was written: where, and how much is on it.

    ``traces`` of the ``sessions`` have their steps on it, ``opens`` is the place in it that it opens at. ``no_path``
    says why there is none where one was asked for; it is empty otherwise.
    """

    path: str
    sessions: int
    traces: int
    issues: int
    nodes: int
    edges: int
    bytes: int
    opens: str
    no_path: str


class Packs(msgspec.Struct, frozen=True, kw_only=True):
    """The content of a page: ``packs`` are its parts as JSON, by name, ``episodes`` the sessions that it lists."""

    packs: dict[str, bytes]
    title: str
    episodes: tuple[str, ...]
    report: ViewReport


#: A year: more is no period that a team looks back on, and its bars could not be distinguished.
MOST_DAYS = 366


class WrittenReport(msgspec.Struct, frozen=True, kw_only=True):
    """A report in its format; ``path`` is where it was written, None when it is only here.

    ``page`` says whether the page of the memory is next to it, in a folder.
    """

    report: PeriodReport
    format: str
    data: bytes
    path: str | None
    page: bool


class Pages:
    """Makes pages and reports of the memory in ``root`` from the answers of its parts."""

    def __init__(  # noqa: PLR0913  (the parts that pages are made of)
        self,
        root: Path,
        *,
        graph: Graph,
        causality: Causality,
        episodes: Episodes,
        issues: Issues,
        rules: Rules,
        insights: Callable[[], Insights],
    ) -> None:
        self._root = root
        self._graph = graph
        self._causality = causality
        self._episodes = episodes
        self._issues = issues
        self._rules = rules
        self._insights = insights

    def write(
        self,
        output: Path | None,
        *,
        focus: str | None = None,
        source: str | None = None,
        target: str | None = None,
        episode: str | None = None,
    ) -> ViewReport:
        """Writes the page of the memory to ``output``, or to the memory's folder for pages.

        It opens at a label (``focus``), at the path between two, or at a session (``episode``), else at the issues.

        Raises:
            InvalidArgument: More than one of the three was asked for, or only one end of a path.
        """
        asked = {"focus": focus, "source": source, "target": target, "episode": episode}
        made = self._packs({name: as_str(name, text) for name, text in asked.items() if text is not None}, ())
        path, data = output or self._root / PAGES / VIEW, page_html(made.title, made.packs)
        (write_atomically if output is None else write_output)(path, data)
        return msgspec.structs.replace(made.report, path=str(path), bytes=len(data))

    def _packs(self, asked: Mapping[str, str], cited: Iterable[str]) -> Packs:
        if set(asked) not in ({*()}, {"focus"}, {"source", "target"}, {"episode"}):
            raise InvalidArgument(None, "give only one of these: focus, or source with target, or episode")
        wanted = [self._episodes.require(asked["episode"]).id] if "episode" in asked else []
        trials = self._causality.trials()
        with self._issues.open() as survey, open_graph(self._graph.path_of_file) as connection:
            history = survey.history
            names = [row.id for row in history.sessions.values()]
            issues = issues_of(survey)
            place_of = {name: place for place, name in enumerate(names)}
            traced = {*traced_sessions(issues, history), *wanted, *(one for one in cited if one in place_of)}
            sessions = sessions_of(
                connection,
                history,
                files=self._graph.episodes,
                # Nobody is named where all are this user's own.
                authors={one: author or "an unknown author" for one, author in authors_of(self._root, names).items()},
                traced=traced,
            )
            graph = graph_of(connection, {number: row.place for number, row in history.sessions.items()})
            failing = issues_at(survey)
            rules = page_rules(self._rules.list(limit=200), self._rules.advise(survey=survey), place_of=place_of)
        opens, path = self._opening(asked, graph, place_of, wanted)
        traces = self._traces(traced, place_of, asked=wanted)
        meta = PageMeta(
            title=project_name(self._root, sessions.project),
            opens=opens,
            newest=max((one or "" for one in sessions.time), default=""),
            sessions=len(names),
            tabs=("issues", "places", "rules", "sessions", "graph"),
            pause=LONGEST_GAP / 60,
        )
        packs = {
            "meta": meta,
            "issues": issues,
            "sessions": sessions,
            "graph": graph,
            "places": places_of(trials, place_of, failing),
            "rules": rules,
            **traces,
            **({"path": path} if path else {}),
        }
        return Packs(
            title=meta.title,
            episodes=tuple(names),
            packs={name: msgspec.json.encode(one) for name, one in packs.items()},
            report=ViewReport(
                path="",
                sessions=len(names),
                traces=len(traces),
                issues=sum(one.kind == "issue" for one in issues.issues),
                nodes=len(graph.id),
                edges=len(graph.source),
                bytes=0,
                opens=opens,
                no_path=path.sentence if path and not path.nodes else "",
            ),
        )

    def _opening(
        self, asked: Mapping[str, str], graph: PageGraph, place_of: Mapping[str, int], wanted: list[str]
    ) -> tuple[str, PagePath | None]:
        """Where the page opens, and the path that was asked for."""
        if wanted:
            return f"sessions/{wanted[0].removeprefix(PREFIX)}", None
        if "focus" in asked:
            found = self._graph.excerpt(focus=asked["focus"])
            labels = {found.nodes[place].label for place in found.marked}
            best = next((place for place, kind in enumerate(graph.kind) if kind in labels), 0)
            return f"graph/{graph.id[best]}", None
        if "source" in asked:
            ids: dict[str, str] = {}
            for label, kind, name in zip(graph.label, graph.kind, graph.id, strict=True):
                ids.setdefault(label, name)
                ids.setdefault(kind, name)
            answer = self._graph.path(source=asked["source"], target=asked["target"])
            return "graph/path", path_of(answer, **asked, place_of=place_of, ids=ids)
        return "issues", None

    def _traces(self, names: Iterable[str], place_of: Mapping[str, int], *, asked: Sequence[str]) -> dict[str, object]:
        """The traces of some sessions, by the place of each; of one deleted since the compile there is none."""
        found: dict[str, object] = {}
        read = 0
        for episode in reversed(self._causality.episodes(sorted(names, key=lambda name: place_of.get(name, -1)))[0]):
            if episode.id in place_of:
                from_log = episode.id in asked or (episode.outcome != "success" and read < _LOGS_READ)
                explanation = self._causality.explain_alone(episode, from_log=from_log)
                read += from_log
                # What the memory had put into the session, in words; of what was forgotten since only its name.
                insights = self._insights() if episode.injected else None
                known = [(name, insights.get(name)) for name in episode.injected] if insights is not None else []
                shown = [str((one or {}).get("content") or name) for name, one in known]
                found[f"trace-{place_of[episode.id]}"] = trace_of(episode, explanation=explanation, shown=shown)
        return found

    def timeline(self, name: str) -> PageTimeline:
        """The steps of a session, by the id of its episode or its own.

        Raises:
            NotFound: There is no such episode, or it was deleted since it was compiled.
        """
        return build_timeline(
            self._episodes.require(name),
            explanation=self._causality.explain(name, from_log=False),
            contrast=self._causality.contrast(name),
        )

    def report(
        self,
        highlights: Highlights,
        *,
        output: Path | str | None = None,
        format: str = "html",  # noqa: A002  (the option's name)
        days: int = 7,
        until: date | None = None,
    ) -> WrittenReport:
        """The report of the ``days`` (1 to 366) before ``until``, or up to the newest session.

        With ``output`` it is written: where that is a folder, ends in a slash or has no ending, into the folder, as
        HTML with the page of the memory, to which its evidence links; else into that file. HTML without ``output`` goes
        to the memory's pages.

        Raises:
            InvalidArgument: ``format`` is none of the four. ``days`` is outside its range.
            FolderInUse: A file of somebody else in the folder would have to be replaced.
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
            issues=self._issues,
            rules=self._rules,
            highlights=highlights,
            days=length,
            until=as_datetime("until", until),
        )
        if folder is not None:
            make_output_folder(folder)
        pages: dict[str, str] = {}  # by episode, the addresses of sessions on the memory's page, written next to it
        if folder is not None and wanted == "html":
            made = self._packs({}, [one.episode for one in report.evidence])
            write_atomically(folder / VIEW, page_html(made.title, made.packs))
            pages = {one: f"{VIEW}#sessions/{quote(one.removeprefix(PREFIX), safe='')}" for one in made.episodes}
        data = rendered(report, wanted, pages)
        path = self._write_report(data, output=output, folder=folder, wanted=wanted)
        return WrittenReport(
            report=report, format=wanted, data=data, path=None if path is None else str(path), page=bool(pages)
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


def rendered(report: PeriodReport, format: str, pages: Mapping[str, str]) -> bytes:  # noqa: A002  (as above)
    """A report in one of the formats; ``pages`` are the addresses of sessions on the memory's page."""
    if format == "json":
        return harmless_json(msgspec.json.format(msgspec.json.encode(report), indent=2).decode()).encode() + b"\n"
    if format == "markdown":
        return report_markdown(report)
    if format == "card":
        return report_card(report)
    return report_html(report, pages=pages)


def _folder_of(output: Path | str | None) -> Path | None:
    """The folder that was asked for: one that there is, or a name that ends in a slash or without an ending."""
    if output is None:
        return None
    path = as_path("output", output)
    slash = os.fspath(output).endswith(("/", os.sep))
    return path if slash or path.is_dir() or not path.suffix else None
