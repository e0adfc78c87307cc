"""Memory: opens a project's memory and hands out its parts.

Only this module creates the parts and connects them::

    from helix_graph import Memory

    memory = Memory.open()
    memory.extract([Path("~/.claude/projects/my-project").expanduser()])
    memory.graph.compile()
    memory.graph.seen("ModuleNotFoundError: No module named 'shop'")
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from helix_episodes.errors import InvalidArgument
from helix_episodes.safe_files import home_folder, make_output_folder, remove_file, write_atomically, write_output
from helix_graph.errors import MissingExtra, NoMemory, TeamServerFailed
from helix_graph.project import (
    ACCEPTED_RULES,
    FOLDER,
    OFF_FILE,
    PRIVATE_MEMORY,
    SERVER_VARIABLE,
    SHARED_MEMORY,
    TEAM_EPISODES,
    TEAM_STATE,
    check_folders,
    disabled_by,
    memory_folder,
    project_folder,
    user_configuration,
)
from helix_graph.trust import accept, begin, check, seal
from helix_graph.validation import as_choice, as_datetime, as_path, as_str, as_tuple, as_workers
from helix_graph.writability import read_only

if TYPE_CHECKING:
    from datetime import date

    from helix_episodes.ingest import ExtractReport, IngestFilter
    from helix_episodes.model import Episode
    from helix_episodes.session import Session
    from helix_graph.agent_logs import LogSource, SourcesReport, SyncReport
    from helix_graph.causality.api import Causality
    from helix_graph.doctor.api import Examination
    from helix_graph.embedding.model import Embedder
    from helix_graph.episodes import Episodes
    from helix_graph.forget import ForgetReport, Selection
    from helix_graph.highlights.model import Highlights
    from helix_graph.insights.api import Insights
    from helix_graph.issues.api import Issues
    from helix_graph.plans.api import Plans
    from helix_graph.rules.api import Rules
    from helix_graph.search.api import Search
    from helix_graph.search.model import SearchSource
    from helix_graph.seed_api import SeedGraph
    from helix_graph.shards.fold import FoldReport
    from helix_graph.shards.pack import PackReport
    from helix_graph.sharing.api import Sharing
    from helix_graph.sharing.model import TeamPulled, TeamPushed
    from helix_graph.sharing.team import Team
    from helix_graph.sync_stamp import CaughtUp
    from helix_graph.topics.api import Topics
    from helix_graph.trust_preview import TrustPreview
    from helix_graph.web.api import Pages, ViewReport, WrittenReport
    from helix_graph.web.timeline import PageTimeline
    from helix_graph.worth import WorthReport
    from helix_graph.writability import ReadOnly


class Memory:
    """One project's memory. ``root`` is its ``.helix`` folder.

    `open` and `init` refuse a memory that this user neither began nor accepted (`helix_graph.trust`). Making a value of
    this class asks nothing: whoever names the folder vouches for it. ``adopted`` says that `open` has just accepted a
    memory from before memories were recorded.
    """

    def __init__(self, root: Path, *, adopted: bool = False) -> None:
        self.root = as_path("root", root)
        self.adopted = adopted
        check_folders(self.root)
        self._engine: Embedder | None = None

    @classmethod
    def init(cls, start: Path | None = None, *, share: bool = False) -> Memory:
        """Makes the memory of the project around ``start`` (default: the current folder), or keeps the one there is.

        With ``share``, git is told to keep episodes and assertions; they quote people's prompts. The memory is recorded
        as this user's own (`helix_graph.trust`).

        Raises:
            UntrustedMemory: There is one already that this user neither began nor accepted.
            NoMemory: ``start`` is no place where one could be.
        """
        where, root = _folder_for(start)
        root = root or where.absolute() / FOLDER
        check_folders(root)
        adopted = begin(root, start=where)
        ignore = root / ".gitignore"
        if share or not ignore.exists():
            write_atomically(ignore, (SHARED_MEMORY if share else PRIVATE_MEMORY).encode(), mode=0o644)
        return cls(root, adopted=adopted)

    @classmethod
    def open(cls, start: Path | None = None) -> Memory:
        """The memory of the project around ``start`` (default: the current folder).

        Raises:
            NoMemory: The project has none yet, or ``start`` is no place where one could be.
        """
        where, root = _folder_for(start)
        if root is None or not root.is_dir():
            raise NoMemory(start=where, expected=root)
        return cls(root, adopted=check(root, start=where))

    @classmethod
    def trust(cls, start: Path | None = None, *, shown: TrustPreview | None = None) -> Memory:
        """Accepts the memory of the project around ``start`` as this user's own; `preview` shows what is in it.

        ``shown`` is what a person saw: rules on trial that came after it are not accepted, and the memory is refused.

        Raises:
            NoMemory: The project has none yet, or ``start`` is no place where one could be.
            UntrustedMemory: Others can write to it, git tracks a database of it, or its rules are others than shown.
        """
        found = cls.preview(start)
        root = Path(found.root)
        if not found.accepted:
            accept(root, how="trust")
            if digest := (shown or found).rules_digest:
                seal(root, ACCEPTED_RULES, digest)
            check(root, start=start)
        return cls(root)

    @classmethod
    def preview(cls, start: Path | None = None) -> TrustPreview:
        """What the memory of the project around ``start`` would say, accepted or not; nothing of it is believed.

        Raises:
            NoMemory: The project has none yet, or ``start`` is no place where one could be.
            UntrustedMemory: Others can write to it, or git tracks one of its databases, which are never opened.
        """
        from helix_graph.trust_preview import preview

        where, root = _folder_for(start)
        if root is None or not root.is_dir():
            raise NoMemory(start=where, expected=root)
        check(root, start=where, unknown=True)
        return preview(root, cls(root).episodes)

    @property
    def episodes(self) -> Episodes:
        """What happened: the episodes, as people have corrected them."""
        from helix_graph.episodes import Episodes
        from helix_graph.graph.assertions import AssertionStore

        assertions = AssertionStore(self.root / "causality" / "assertions")
        return Episodes(self.root / "episodes", assertions=assertions, keep=self.graph.keep)

    @property
    def graph(self) -> SeedGraph:
        """What led to what: the causal graph and its questions."""
        from helix_graph.seed_api import SeedGraph

        return SeedGraph(self.root / "episodes", self.root / "causality")

    @property
    def causality(self) -> Causality:
        """What works and what keeps failing."""
        from helix_graph.causality.api import Causality

        def read_log(episode: Episode) -> Session | None:
            from helix_graph.agent_logs import session_of

            return session_of(episode)

        return Causality(self.graph, assertions=self.root / "causality" / "assertions", read_log=read_log)

    @property
    def issues(self) -> Issues:
        """What keeps failing, what it costs, and what repaired it."""
        from helix_graph.issues.api import Issues

        return Issues(self.graph)

    @property
    def rules(self) -> Rules:
        """The rules that are written for agents, and what sessions show of them."""
        from helix_graph.rules.api import Rules

        return Rules(self.root, sessions=self.causality.each_episode, issues=lambda: self.issues)

    def worth(
        self, logs: Iterable[Path] = (), *, progress: Callable[[int, int, Path], None] | None = None
    ) -> WorthReport:
        """Whether this memory would have paid: its own history, replayed in time order; see `helix_graph.worth`.

        ``logs`` are files or folders of logs; without any, the agents' logs on this machine.
        """
        from helix_episodes.readers import find_logs
        from helix_graph.agent_logs import own_logs
        from helix_graph.worth import replay

        named = [as_path("logs", log) for log in as_tuple("logs", logs)]
        gone = next((one for one in named if not one.exists()), None)
        if gone is not None:
            raise InvalidArgument("logs", f"{gone} does not exist; name a log or a folder of logs")
        found = [log for one in named for log in (find_logs(one) if one.is_dir() else [one])]
        return replay(
            self.episodes.list(max_results=None), self.root / "episodes", logs=found or own_logs(self.root),
            proposals=self.rules.proposals_for, progress=progress,
        )  # fmt: skip

    def highlights(self) -> Highlights:
        """What stands out: at most ten sentences, the most useful first; see `helix_graph.highlights.api`."""
        from helix_graph.highlights.api import known_highlights

        return known_highlights(self.root, self.issues, self.causality)

    @property
    def insights(self) -> Insights:
        """What was learnt: remembered advice, found again by meaning and words, judged by outcomes."""
        from helix_graph.helix_db import database_path

        return self._insights_in(database_path(self.root))

    def _insights_in(self, path: Path) -> Insights:
        from helix_graph.insights.api import Insights
        from helix_graph.insights.context import ProjectHistory

        known = ProjectHistory(self.root, episodes=lambda: self.episodes, graph=lambda: self.graph)
        return Insights(path, embedder=self._embedder, history=known)

    def _embedder(self) -> Embedder | None:
        """What compares texts by meaning here, looked for when it is needed and kept: it takes time to load.

        None if there is no model. That is checked again on each call: a model may be installed while a server runs.
        """
        from helix_graph.embedding.cache import CACHE_NAME
        from helix_graph.embedding.choice import embedder

        if self._engine is None:
            self._engine = embedder(cache=self.root / CACHE_NAME)
        return self._engine

    @property
    def topics(self) -> Topics:
        """What was written down: entries by topic, stored, searched, briefed and edited."""
        from helix_graph.helix_db import database_path
        from helix_graph.shared_authors import entries_of_others
        from helix_graph.topics.api import Topics

        return Topics(
            database_path(self.root),
            folders=(self.root.parent, Path.cwd()),
            others=lambda: entries_of_others(self.root),
        )

    @property
    def sharing(self) -> Sharing:
        """What a team shares through git: proposed here, accepted by pull requests, taken in by `Sharing.merge`."""
        from helix_graph.sharing.api import Sharing

        return Sharing(self.root, insights=self.insights, topics=self.topics)

    @property
    def team(self) -> Team:
        """What a team shares through a server; see `helix_graph.sharing.team`."""
        from helix_graph.sharing.team import Team

        return Team(self.root, sharing=self.sharing, forget=self._forget_here)

    @property
    def search(self) -> Search:
        """One question to insights, topics, episodes and configured sources: ``memory.search("lock files")``."""
        from helix_graph.search.api import Search

        return Search(self.root, own=self._searched)

    def _searched(self) -> tuple[SearchSource, ...]:
        from helix_graph.search.sources import EpisodeSource, InsightSource, TopicSource

        return (
            InsightSource(self.insights),
            TopicSource(self.topics),
            EpisodeSource(self.episodes, self.causality, graph_file=self.graph.path_of_file),
        )

    @property
    def plans(self) -> Plans:
        """Orchestrated work: explorations, plans and workspaces, what agents get, who is done, what was learnt."""
        from helix_episodes.store import EpisodeStore
        from helix_graph.plans.api import Plans

        return Plans(self.root, insights=self.insights, episodes=EpisodeStore(self.root / "episodes"))

    def extract(  # noqa: PLR0913  (the command's options)
        self,
        logs: Iterable[Path],
        *,
        output: Path | None = None,
        force: bool = False,
        strict: bool = False,
        format: str = "auto",  # noqa: A002  (the option's name)
        own: bool = False,
        progress: Callable[[int, int, Path], None] | None = None,
        workers: int | None = 1,
    ) -> ExtractReport:
        """Reads logs (files, or folders of them) and records an episode of each session, in ``output`` if given.

        Bad logs stand in the report's ``failed``; the rest goes on. What ``.helixignore`` keeps out, and sessions that
        were forgotten, stand in ``left_out``; ``force`` brings a forgotten session back, but ignores no rule. With
        ``strict`` a log with a damaged or unknown line fails, and nothing of it is written. With ``own`` sessions that
        ran in another project are left out, as by `extract_all`. ``workers`` is how many processes may make episodes
        where there is much to read, None one for each core.
        """
        from helix_episodes.ingest import record
        from helix_episodes.store import EpisodeStore
        from helix_graph.ingest_filter import MemoryFilter

        paths = [as_path("logs", log) for log in as_tuple("logs", logs)]
        folder = self.root / "episodes" if output is None else as_path("output", output)
        if output is not None:
            make_output_folder(folder)
        store = EpisodeStore(folder)  # stores episodes as extracted; corrections are separate files, applied on reading
        admission = MemoryFilter(self.root, force=force)
        admitted: IngestFilter = admission
        if own:
            from helix_graph.agent_logs import only_own

            admitted = only_own(self.root, paths, admission)
        report = record(
            paths,
            store,
            force=force,
            strict=strict,
            format=format,
            admission=admitted,
            progress=progress,
            workers=as_workers(workers),
        )
        admission.lift(one.session for one in report.recorded)
        if output is None:
            self._claim(report)
        return report

    def _claim(self, report: ExtractReport) -> None:
        """What was recorded here is this memory's own, also where it came from the team's server before."""
        if (self.root / TEAM_EPISODES).is_dir():
            from helix_graph.sharing.replica import claim

            claim(self.root, (one.session for one in report.recorded))

    def sources(self, *, project: str | None = None) -> tuple[LogSource, ...]:
        """Where the agents' logs are on this machine, and how many are of ``project``; `helix_graph.agent_logs`."""
        from helix_graph.agent_logs import list_sources

        return list_sources(self.root, project=project)

    def extract_all(  # noqa: PLR0913  (the command's options)
        self,
        *,
        agent: str | None = None,
        project: str | None = None,
        since: date | None = None,
        force: bool = False,
        strict: bool = False,
        dry_run: bool = False,
        progress: Callable[[int, int, Path], None] | None = None,
        workers: int | None = 1,
    ) -> SourcesReport:
        """Records what is new in the agents' logs on this machine, and harvests what it teaches.

        See `helix_graph.agent_logs.extract_all`.
        """
        from helix_graph.agent_logs import extract_all

        report = extract_all(
            self.root,
            agent=agent,
            project=project,
            since=as_datetime("since", since),
            force=force,
            strict=strict,
            dry_run=dry_run,
            progress=progress,
            workers=as_workers(workers),
        )
        if not dry_run:
            self._claim(report.report)
            for one in report.report.recorded:
                self.insights.harvest(one.session)
        if not (dry_run and self.graph.path_of_file.exists()):
            return report
        return replace(report, labels=self.graph.compile(dry_run=True).rebuilt)

    def sync(
        self,
        *,
        project: str | None = None,
        to: str | None = None,
        team_project: str | None = None,
        mine: bool = False,
        progress: Callable[[int, int, Path], None] | None = None,
        workers: int | None = 1,
    ) -> SyncReport:
        """Reads what is new in this project's logs, or another's or ``any``, and brings the graph up to date.

        ``workers`` is as for `helix_graph.graph.api.Graph.compile`. With ``to``, the address of a team's server or ""
        for the configured one, what is new here is pushed there, and what others have comes in: as the project
        ``team_project``, or the last one, or one called like the project's folder. With ``mine`` what this user pushed
        there becomes this memory's own again (`helix_graph.sharing.team.Team.sync`).

        Raises:
            MissingExtra, TeamServerFailed: The team's server cannot be asked; everything else is done.
        """
        from helix_graph.agent_logs import SyncReport

        logs, team = self.extract_all(project=project, progress=progress, workers=workers), None
        try:
            if to is not None:
                team = self.team.sync(to, project=team_project, mine=mine, progress=progress)
        finally:
            graph = self.graph.compile(workers=workers)
        return SyncReport(logs=logs, graph=graph, team=team)

    @classmethod
    def from_team(
        cls, start: Path | None = None, *, progress: Callable[[int, int, Path], None] | None = None
    ) -> tuple[Memory, TeamPulled] | None:
        """Begins the memory of the project around ``start`` with what the team's server has, where there is none yet.

        The server has to know the project by the name of its folder, and this user as its member; else nothing is
        made. None where no server is named, or where no memory belongs: in the home folder, say.

        Raises:
            NoMemory: The server is away, or this user is no member of a project of this name.
        """
        where, root = _folder_for(start)
        root = root or where.absolute() / FOLDER
        is_project = project_folder(where) is not None or where not in {home_folder(), Path(where.anchor)}
        if not os.environ.get(SERVER_VARIABLE) and not user_configuration().exists():
            return None
        from helix_graph.sharing.team import ANOTHER_NAME, check_membership, team_settings

        settings = team_settings()
        if not (settings.database and is_project) or root.is_dir():
            return None
        name = root.absolute().parent.name
        try:
            check_membership(settings.database, name, seconds=settings.seconds)
        except (TeamServerFailed, MissingExtra) as error:
            problem = str(error).partition(";")[0]
            if isinstance(error, TeamServerFailed) and error.reason == "project":
                problem += ANOTHER_NAME
            raise NoMemory(start=where, expected=root, problem=problem) from error
        memory = cls.init(where)
        pulled = memory.team.follow(began=name, progress=progress)
        memory.graph.compile()
        return memory, pulled

    def follow_team(self) -> TeamPulled | None:
        """Brings in what the team's server has (`helix_graph.sharing.team.Team.follow`); None where none takes part."""
        if not (self.root / TEAM_STATE).exists():
            return None
        pulled = self.team.follow()
        if pulled.episodes or pulled.deleted or pulled.own_news:
            self.graph.compile()
        return pulled

    def push_to_team(self) -> TeamPushed | None:
        """Pushes what was stored here since to the team's server; see `helix_graph.sharing.team.Team.push`."""
        return self.team.push() if (self.root / TEAM_STATE).exists() else None

    def unread_logs(self) -> tuple[Path, ...]:
        """This project's logs that are newer than the last `sync`, the oldest first, without running sessions."""
        from helix_graph.sync_stamp import finished_since, read_stamp

        stamp = read_stamp(self.root)
        if stamp is None or next(finished_since(stamp), None) is None:
            return ()
        from helix_graph.agent_logs import unread_logs

        return unread_logs(self.root)

    def sync_within(self, seconds: float) -> CaughtUp:
        """Reads new logs, the oldest first, until the time is over; what is left waits for the next call."""
        from helix_graph.sync_stamp import CaughtUp

        end, logs = time.monotonic() + seconds, self.unread_logs()
        read = 0
        for log in logs:
            if time.monotonic() >= end:
                break
            self.extract([log], own=True)
            read += 1
        if read:
            self.graph.compile()
        return CaughtUp(read=read, left=len(logs) - read)

    def view(self, *, output: Path | None = None, **opening: Any) -> ViewReport:  # noqa: ANN401  (those of `Pages.write`)
        """Writes the page of the memory, in ``output`` or the memory's ``pages`` (``docs/how-to/view.md``).

        `helix_graph.web.api.Pages.write` says where it may open.
        """
        return self._pages().write(None if output is None else as_path("output", output), **opening)

    def timeline(self, episode: str) -> PageTimeline:
        """A session step by step with its suspects, as its page has it; ``episode`` is its id or its session's."""
        return self._pages().timeline(episode)

    def _pages(self) -> Pages:
        from helix_graph.web.api import Pages

        return Pages(
            self.root,
            graph=self.graph,
            causality=self.causality,
            episodes=self.episodes,
            issues=self.issues,
            rules=self.rules,
            insights=lambda: self.insights,
        )

    def report(
        self,
        *,
        output: Path | str | None = None,
        format: str = "html",  # noqa: A002  (the option's name)
        days: int = 7,
        until: date | None = None,
    ) -> WrittenReport:
        """A team's week, as ``html``, ``markdown``, ``json`` or ``card``; see `helix_graph.web.api.Pages.report`.

        It tells of the ``days`` up to the newest session, or before ``until``. ``docs/how-to/report.md`` says how each
        figure is computed.
        """
        found = self.highlights()
        return self._pages().report(found, output=output, format=format, days=days, until=until)

    def pack(
        self,
        output: Path | str,
        *,
        memories: Iterable[Path | str] = (),
        workers: int | None = 1,
        progress: Callable[[int, int, Path], None] | None = None,
    ) -> PackReport:
        """Writes the facts of all episodes as Parquet shards into ``output``; see `helix_graph.shards.pack.pack`.

        ``memories`` are other ``.helix`` folders whose episodes go there too. What any of these memories forgets later
        leaves the shards as well.
        """
        from helix_graph.shards.pack import pack

        several = [self.root, *(as_path("memories", one) for one in as_tuple("memories", memories))]
        return pack(several, as_path("output", output).absolute(), workers=workers, progress=progress)

    def fold(self, output: Path | str) -> FoldReport:
        """Writes the sums of this memory's graph, the same as `helix_graph.shards.fold.fold` has from its shards."""
        from helix_graph.shards.fold import fold_locally

        return fold_locally(self.graph, as_path("output", output))

    def export(
        self,
        episode: str,
        *,
        format: str = "atif",  # noqa: A002  (the option's name)
        log: Path | str | None = None,
        output: Path | str | None = None,
    ) -> bytes:
        """A session for other tools, redacted: as a trajectory in ATIF (``docs/reference/formats/atif.md``).

        It is made from the session's log: ``log``, or the one that is still where its agent keeps it. With ``output``
        it is written to this file as well.

        Raises:
            InvalidArgument: The format is another one, or the log has another session.
        """
        from helix_episodes.readers.atif import atif_bytes
        from helix_graph.agent_logs import session_from

        as_choice("format", format, ("atif",))
        found = self.episodes.require(episode)
        data = atif_bytes(session_from(found, log=None if log is None else as_path("log", log)))
        if output is not None:
            write_output(as_path("output", output), data)
        return data

    def doctor(self, *, fix: bool = False) -> Examination:
        """What is wrong with the memory and how to mend it; with ``fix`` what can be mended is.

        The answer's ``healthy`` says whether no fault is left; ``docs/reference/doctor.md`` has the list of findings.
        """
        from helix_graph.doctor.api import examine

        return examine(self.root, self.graph, self.topics, self.insights, fix=fix)

    def forget(
        self,
        sessions: Iterable[str] = (),
        *,
        project: str | None = None,
        since: date | None = None,
        until: date | None = None,
        dry_run: bool = False,
    ) -> ForgetReport:
        """Removes sessions everywhere and proves it; see `helix_graph.forget.forget`.

        What this user pushed of them to the team's server is deleted there too (`helix_graph.sharing.team.Team.erase`).
        """
        from helix_graph.forget import Selection

        chosen = Selection(
            sessions=as_tuple("sessions", sessions),
            project=None if project is None else as_str("project", project),
            since=as_datetime("since", since),
            until=as_datetime("until", until),
        )
        report = self._forget_selected(chosen, dry_run=dry_run)
        if dry_run or not (self.root / TEAM_STATE).exists():
            return report
        return replace(report, team=self.team.erase(report.sessions))

    def _forget_selected(self, chosen: Selection, *, dry_run: bool = False) -> ForgetReport:
        from helix_graph.forget import forget
        from helix_graph.helix_db import databases_of

        databases = [self._insights_in(path) for path in databases_of(self.root)]
        return forget(self.root, self.graph, databases, self.sharing, chosen, dry_run=dry_run)

    def _forget_here(self, sessions: Iterable[str]) -> tuple[str, ...]:
        """Forgets sessions that this user forgot on another machine; what is left of them here, in words."""
        from helix_graph.forget import Selection

        proof = self._forget_selected(Selection(sessions=tuple(sessions))).proof
        left = [*(one.file for one in proof.left), *(one.file for one in proof.unsearched)] if proof else []
        next_step = "helix-graph forget without options looks again"
        return (
            (f"of what was forgotten elsewhere something may be left in {', '.join(left)}; {next_step}",)
            if left
            else ()
        )

    @property
    def silenced(self) -> str | None:
        """What silences the memory's automatic work, in words, or None; what is asked for by hand always works."""
        return disabled_by(self.root)

    @property
    def read_only(self) -> ReadOnly | None:
        """Why this user cannot write the memory, and what to do, as a sentence with `str`; None where they can."""
        return read_only(self.root)

    def off(self) -> None:
        """Silences the memory's automatic work until `on`."""
        write_atomically(self.root / OFF_FILE, b"")

    def on(self) -> None:
        """Lets the memory work by itself again; ``HELIX_OFF`` in the environment still silences it."""
        remove_file(self.root / OFF_FILE)


def _folder_for(start: Path | None) -> tuple[Path, Path | None]:
    """Where one stands, and the memory that belongs there.

    Raises:
        NoMemory: The system knows no such place: its name is too long, or forbidden.
    """
    where = Path.cwd() if start is None else as_path("start", start)
    try:
        return where, memory_folder(where)
    except OSError as error:
        raise NoMemory(start=where, expected=None, problem=error.strerror) from error
