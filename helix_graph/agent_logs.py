"""Find the logs of every agent on this machine and extract those that belong to this memory.

A log belongs to the memory when its session ran in this project: in its repository, in one of its work trees, or,
without git, in the memory's folder or below. A log that names no folder is only taken with ``any``. The first lines of
a log decide whether it is read; the whole session decides whether it is recorded.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from helix_episodes.discovery import AGENT_HOMES, FoundLog, check_agent, logs_named, logs_of, named_folder, root_of
from helix_episodes.errors import HelixGraphError, InvalidArgument, LogNotReadable, WriteFailed
from helix_episodes.extraction.echo_removal import without_echoes
from helix_episodes.ingest import ExtractReport, RecordedSession, log_key, record, recorded_logs
from helix_episodes.model import Episode, Outcome
from helix_episodes.readers import read_sessions
from helix_episodes.readers.common.session_builder import project_of
from helix_episodes.store import EpisodeStore
from helix_graph.graph.compile import CompileReport
from helix_graph.ingest_filter import MemoryFilter
from helix_graph.project import FOLDER, project_folder, work_trees
from helix_graph.sharing.model import TeamReport
from helix_graph.sync_stamp import RUNNING, LogPlace, finished_since, read_stamp, write_stamp

if TYPE_CHECKING:
    from datetime import datetime

    from helix_episodes.session import Session


ANY = "any"


class LogSource(msgspec.Struct, frozen=True, kw_only=True):
    """What one agent has on this machine. ``here`` are the logs of this project, ``unsaid`` those that name no folder.

    A database holds sessions of many folders: it counts as one log that names none.
    """

    agent: str
    root: str
    found: bool
    logs: int
    newest: str | None
    here: int
    unsaid: int


class RecordDifference(msgspec.Struct, frozen=True, kw_only=True):
    """How an episode would come out of its log now. ``reason``: the log has grown, or the extractor is a newer one."""

    session: str
    reason: str
    decisions: tuple[int, int]
    events: tuple[int, int]
    outcome: tuple[Outcome, Outcome]


class SourcesReport(msgspec.Struct, frozen=True, kw_only=True):
    """What was found on this machine and what came of it.

    ``untouched`` logs were recorded before and have not changed, ``elsewhere`` are those of other projects. Of a dry
    run ``differences`` tells how episodes would change, and ``labels`` why the graph would be folded anew, if it would.
    """

    sources: tuple[LogSource, ...]
    report: ExtractReport
    untouched: int
    elsewhere: int
    dry_run: bool = False
    differences: tuple[RecordDifference, ...] = ()
    labels: str | None = None


class SyncReport(msgspec.Struct, frozen=True, kw_only=True):
    """What became of this project's logs, and of the graph; and what was exchanged with the team's server, if asked."""

    logs: SourcesReport
    graph: CompileReport
    team: TeamReport | None = None


class Project:
    """What belongs to one project; to all of them with ``any``."""

    def __init__(self, name: str | None, *, memory: Path) -> None:
        own = memory.parent if memory.name == FOLDER else Path.cwd()
        self._wanted = None if name == ANY else _place(Path(named_folder(name) or name) if name else own)
        self._known: dict[str, bool] = {}

    @property
    def everything(self) -> bool:
        """Whether every log belongs here, whatever it says."""
        return self._wanted is None

    @cached_property
    def folders(self) -> tuple[Path, ...]:
        """The project's folder and those of its work trees, which agents call their own folders after."""
        return (self._wanted, *work_trees(self._wanted)) if self._wanted else ()

    def holds(self, folder: str) -> bool:
        """Whether a session that ran in this folder is this project's."""
        if self._wanted is None:
            return True
        if folder not in self._known:
            try:
                self._known[folder] = self._wanted == _place(Path(folder))
            except OSError:  # too long to be a path, or below a folder that this user may not look into
                self._known[folder] = False
        return self._known[folder]


class SourceFilter:
    """Lets in what `MemoryFilter` does, as far as it ran in the project."""

    def __init__(self, admission: MemoryFilter, *, project: Project, found: Sequence[FoundLog]) -> None:
        self._admission = admission
        self._project = project
        self._folders = {os.path.realpath(log.path): log.folder for log in found}
        self._log = ""

    def against_log(self, path: Path) -> str | None:
        """The rule that keeps out the log's file."""
        self._log = os.path.realpath(path)
        return self._admission.against_log(path)

    def against_session(self, session: Session) -> str | None:
        """Why a session stays out: a rule, that it was forgotten, or that it ran elsewhere."""
        folder = named_folder(session.root) or self._folders.get(self._log)
        if folder is None and not self._project.everything:
            return "the log does not name the session's folder; --project any includes it"
        if folder is not None and not self._project.holds(folder):
            return f"the session ran in {folder}, which is another project"
        return self._admission.against_session(session)

    def is_forgotten(self, session: str) -> bool:
        """Whether a session was forgotten, perhaps while its log was read."""
        return self._admission.is_forgotten(session)

    def is_anothers(self, session: str) -> bool:
        """Whether the episode of a session came from the team's server."""
        return self._admission.is_anothers(session)

    def is_origin(self, episode: Episode) -> bool:
        """Whether an episode was recorded from a log of this user's, as far as that can be known."""
        return self._admission.is_origin(episode)

    def admitted(self, session: Session) -> Session:
        """The session without what stays out, in the folder that the log's place tells when the log does not."""
        folder = session.root or self._folders.get(self._log)
        placed = msgspec.structs.replace(session, root=folder, project=session.project or project_of(folder))
        return self._admission.admitted(placed)


def only_own(memory: Path, logs: Sequence[Path], admission: MemoryFilter) -> SourceFilter:
    """Lets in of ``logs``, or of the logs in them where they are folders, the sessions of this memory's project."""
    project = Project(None, memory=memory)
    places = [log.resolve() for log in logs]
    homes = [home for home in AGENT_HOMES if any(one.is_relative_to(root_of(home).resolve()) for one in places)]
    found = [log for home in homes for log in logs_of(home, candidates=project.folders)]
    return SourceFilter(admission, project=project, found=found)


class Preview(EpisodeStore):
    """A store that keeps what is saved to itself, and leaves the files as they are."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.saved: dict[str, Episode] = {}

    def get(self, name: str) -> Episode | None:
        """The episode as it would be."""
        return self.saved.get(name) or super().get(name)

    def save(self, episode: Episode) -> Path:
        """Keeps the episode for `get`."""
        self.saved[episode.session] = episode
        return self.path_of(episode.session)


def list_sources(memory: Path, *, project: str | None = None) -> tuple[LogSource, ...]:
    """Where each agent's logs are on this machine, and how many of them belong to ``project`` (default: this one)."""
    wanted = Project(project, memory=memory)
    return tuple(_source(agent, root, logs, wanted) for agent, root, logs in _found(wanted, agent=None))


def extract_all(  # noqa: PLR0913  (the command's options)
    memory: Path,
    *,
    agent: str | None = None,
    project: str | None = None,
    since: datetime | None = None,
    force: bool = False,
    strict: bool = False,
    dry_run: bool = False,
    progress: Callable[[int, int, Path], None] | None = None,
    workers: int | None = 1,
) -> SourcesReport:
    """Records what is new or has grown in the logs of the agents on this machine.

    Args:
        memory: The memory's folder.
        agent: Only this agent's logs.
        project: Another project's folder, or ``any``.
        since: Only logs that were written to since then.
        force: As for single logs: replaces what differs, and brings back what was forgotten.
        strict: A log with a damaged or unknown line fails, and nothing of it is written.
        dry_run: Changes nothing, and says how episodes would come out.
        progress: Called before each log.
        workers: At most so many processes make episodes where there is much to read; None: one for each core.
    """
    check_agent(agent)
    began = time.time()
    wanted = Project(project, memory=memory)
    found = list(_found(wanted, agent=agent))
    logs = [log for _, _, found_logs in found for log in found_logs if since is None or log.modified >= since]
    near = [log for log in logs if log.folder is None or wanted.holds(log.folder)]
    standing = EpisodeStore(memory / "episodes")
    admission = MemoryFilter(memory, force=force)
    recorded = recorded_logs(standing, admission)
    fresh = [log for log in near if force or not _is_recorded(log.path, recorded=recorded)]
    store = Preview(standing.folder) if dry_run else standing
    report = record(
        [log.path for log in fresh],
        store,
        force=force,
        strict=strict,
        admission=SourceFilter(admission, project=wanted, found=fresh),
        progress=progress,
        workers=workers,
    )
    if not dry_run:
        admission.lift(one.session for one in report.recorded)
        if agent is None and project is None and since is None:
            write_stamp(memory, at=began - RUNNING, places=_places())
    return SourcesReport(
        sources=tuple(_source(name, root, logs, wanted) for name, root, logs in found),
        report=report,
        untouched=len(near) - len(fresh),
        elsewhere=len(logs) - len(near),
        dry_run=dry_run,
        differences=tuple(_differences(report.updated, before=standing, after=store)) if dry_run else (),
    )


def own_logs(memory: Path) -> tuple[Path, ...]:
    """This project's logs on this machine, as far as they name the folder of their sessions."""
    wanted = Project(None, memory=memory)
    logs = (log for home in AGENT_HOMES for log in logs_of(home, candidates=wanted.folders))
    return tuple(sorted(log.path for log in logs if log.folder and wanted.holds(log.folder)))


def session_of(episode: Episode) -> Session | None:
    """The session that an episode was made of, read again from its log; None where the log is not found.

    Only logs in the folders of agents are looked for, by name. What a memory put into the session is left out, as it
    was when the episode was made.
    """
    name = episode.provenance.log if episode.provenance else ""
    for _, path in logs_named({name}) if name else ():
        try:
            found = next((one for one in read_sessions(path) if one.id == episode.session), None)
        except HelixGraphError:  # it was overwritten, or is no log any more: as if it were gone
            continue
        if found is not None:
            return without_echoes(found)
    return None


def session_from(episode: Episode, *, log: Path | None = None) -> Session:
    """The session that an episode was made of, read from ``log``, or from where its agent keeps its logs.

    Raises:
        InvalidArgument: The log has another session.
    """
    if log is not None:
        found = next((one for one in read_sessions(log) if one.id == episode.session), None)
        if found is None:
            raise InvalidArgument("log", f"{log} has no session {episode.session}; name the log it was read from")
        return without_echoes(found)
    session = session_of(episode)
    if session is None:
        name = episode.provenance.log if episode.provenance else "unknown"
        raise LogNotReadable(path=Path(name), problem="it is not where agents keep their logs; name it with --log")
    return session


def unread_logs(memory: Path) -> tuple[Path, ...]:
    """This project's logs that were written after the memory last read all of them, the oldest first.

    Sessions that are still running are left for later. Where there is none, the stamp moves on, so that other projects'
    logs are looked at once.
    """
    stamp, began = read_stamp(memory), time.time()
    newer = set(finished_since(stamp, now=began)) if stamp else set()
    if not newer:
        return ()
    wanted = Project(None, memory=memory)
    recorded = recorded_logs(EpisodeStore(memory / "episodes"), MemoryFilter(memory, force=False))
    logs = [log for home in AGENT_HOMES for log in logs_of(home, candidates=wanted.folders, only=newer)]
    own = [log for log in logs if log.folder and wanted.holds(log.folder)]
    waiting = [log.path for log in own if not _is_recorded(log.path, recorded=recorded)]
    if not waiting:
        with suppress(WriteFailed):  # questions work on a memory that may only be read
            write_stamp(memory, at=began - RUNNING, places=_places())
    return tuple(sorted(waiting, key=lambda path: (path.stat().st_mtime, path)))


def _places() -> list[LogPlace]:
    return [LogPlace(root=str(root_of(home)), patterns=tuple(home.logs.split())) for home in AGENT_HOMES]


def _found(wanted: Project, *, agent: str | None) -> Iterator[tuple[str, Path, list[FoundLog]]]:
    for home in AGENT_HOMES:
        if agent in (None, home.agent):
            yield home.agent, root_of(home), list(logs_of(home, candidates=wanted.folders))


def _source(agent: str, root: Path, logs: Sequence[FoundLog], wanted: Project) -> LogSource:
    newest = max((log.modified for log in logs), default=None)
    return LogSource(
        agent=agent,
        root=str(root),
        found=root.is_dir(),
        logs=len(logs),
        newest=newest.isoformat(timespec="seconds") if newest else None,
        here=sum(log.folder is not None and wanted.holds(log.folder) for log in logs),
        unsaid=sum(log.folder is None for log in logs),
    )


def _is_recorded(path: Path, *, recorded: frozenset[tuple[str, str | None]]) -> bool:
    """Whether the log was read before as it is; one that cannot be read is left to be reported."""
    try:
        return log_key(path) in recorded
    except LogNotReadable:
        return False


def _differences(
    updated: Sequence[RecordedSession], *, before: EpisodeStore, after: EpisodeStore
) -> Iterator[RecordDifference]:
    for one in updated:
        old, new = before.require(one.session), after.require(one.session)
        same = old.provenance and new.provenance and old.provenance.sha256 == new.provenance.sha256
        yield RecordDifference(
            session=one.session,
            reason="newer extractor" if same else "grown",
            decisions=(len(old.decisions), len(new.decisions)),
            events=(len(old.events), len(new.events)),
            outcome=(old.outcome, new.outcome),
        )


def _place(folder: Path) -> Path:
    """What stands for a folder's project: its repository or memory, else the folder itself."""
    return Path(os.path.realpath(project_folder(folder) or folder))
