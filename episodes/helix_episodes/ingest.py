"""Ingest: reads logs and stores an episode of each session, repeatedly, without losing or doubling anything.

A log that begins with what was recorded and has grown updates its episode; the same log again, or an older copy of it,
changes nothing; any other difference is refused unless forced. A bad log does not hide the others. When a session was
resumed into a new log, that log begins with a copy of the old one: the copied messages count for the earlier session
only.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol

import msgspec

from helix_episodes.errors import (
    EpisodeError,
    HelixGraphError,
    InvalidArgument,
    InvalidEpisode,
    LogError,
    UnknownLogFormat,
)
from helix_episodes.extraction.pipeline import EXTRACTOR_VERSION, extract
from helix_episodes.model import Episode, Outcome, Provenance
from helix_episodes.readers import find_files, find_reader, sessions_in
from helix_episodes.redaction import CutIn, cuts_in
from helix_episodes.safe_files import remove_file
from helix_episodes.session import Accounting, Session, format_position
from helix_episodes.source_logs import (
    EpisodeBeginning,
    change_since,
    fingerprint,
    first_id,
    has_same_beginning,
    ids_in,
    is_older,
    last_id,
    own_fingerprint,
    parts_fingerprint,
    provenance_of,
    read_beginning,
    without_first_steps,
)
from helix_episodes.store import session_of
from helix_episodes.workers import OrderedWork, collecting_rarely, worker_count

if TYPE_CHECKING:
    from helix_episodes.store import EpisodeStore


#: Bytes of logs that keep a process busy for clearly longer than it takes to start (measured: 0.1 s a megabyte, 0.4 s).
_WORTH_A_WORKER = 10_000_000
#: Represents the extractor's version in an episode that has to be read again, whatever its log says.
_DUE = "due"
_OLDER = "an older copy of a recorded session; nothing was changed (--force would lose the newer part)"

Change = Literal["written", "updated", "unchanged"]


class RecordedSession(msgspec.Struct, frozen=True, kw_only=True):
    """One session that was read. ``warnings`` name the lines that could not be used, and why.

    ``accounting`` counts every line of the log, ``cuts`` say what was cut from the episode and where.
    """

    log: str
    session: str
    path: str
    change: Change
    outcome: Outcome
    decisions: int
    events: int
    warnings: tuple[str, ...] = ()
    accounting: Accounting = Accounting()
    cuts: tuple[CutIn, ...] = ()


class SkippedLog(msgspec.Struct, frozen=True, kw_only=True):
    """One log that could not be read or whose episode could not be written, and why.

    ``reasons`` says of a log that no reader recognises why each declined, the closest first.
    """

    log: str
    problem: str
    reasons: tuple[str, ...] = ()


class ExtractReport(msgspec.Struct, frozen=True, kw_only=True):
    """What became of each log. ``left_out`` are those that were kept out on purpose.

    ``unread`` are the files in the folders that could be logs by their names, and that no reader recognises.
    """

    recorded: tuple[RecordedSession, ...]
    failed: tuple[SkippedLog, ...]
    left_out: tuple[SkippedLog, ...] = ()
    unread: tuple[str, ...] = ()

    @property
    def written(self) -> tuple[RecordedSession, ...]:
        """The sessions recorded for the first time."""
        return tuple(one for one in self.recorded if one.change == "written")

    @property
    def updated(self) -> tuple[RecordedSession, ...]:
        """The sessions whose log had grown, or whose episode was replaced by force or by a newer extractor."""
        return tuple(one for one in self.recorded if one.change == "updated")

    @property
    def unchanged(self) -> tuple[RecordedSession, ...]:
        """The sessions whose episode did not change."""
        return tuple(one for one in self.recorded if one.change == "unchanged")


class IngestFilter(Protocol):
    """What may enter a store. A reason in words keeps something out, None lets it in."""

    def against_log(self, path: Path) -> str | None:
        """Why a log is not even read."""
        ...

    def against_session(self, session: Session) -> str | None:
        """Why a session is not recorded."""
        ...

    def admitted(self, session: Session) -> Session:
        """The session without the steps that stay out."""
        ...

    def is_forgotten(self, session: str) -> bool:
        """Whether a session stays out because somebody forgot it, perhaps while its log was read."""
        ...

    def is_anothers(self, session: str) -> bool:
        """Whether somebody else's episode of this session is in the store; for logs it is as if it were not there."""
        ...

    def is_origin(self, episode: Episode) -> bool:
        """Whether an episode that says it began as a log did was recorded from a log of this user's."""
        ...


def record(  # noqa: PLR0913  (the options of the command)
    logs: Iterable[Path],
    store: EpisodeStore,
    *,
    force: bool = False,
    strict: bool = False,
    format: str = "auto",  # noqa: A002  (the option's name)
    admission: IngestFilter | None = None,
    progress: Callable[[int, int, Path], None] | None = None,
    workers: int | None = 1,
) -> ExtractReport:
    """Reads logs (files, or folders of them) and keeps an episode of each session in ``store``.

    ``progress`` is called before each log with how many are done, how many there are, and the log. ``workers`` is how
    many processes may make episodes of sessions where there is much to read, None one for each core; the result is the
    same with any number.

    A log that cannot be read, or whose episode cannot be written, is in ``failed``; the rest goes on. With
    ``strict`` so does a log with a line that is damaged or of an unknown type, and nothing of it is written.
    """
    recorder = _Recorder(store=store, force=force, strict=strict, format=format, admission=admission)
    paths = list(recorder.files(logs))
    size = sum(path.stat().st_size for path in paths if path.is_file())  # the others are reported when they are read
    count = 1 if workers == 1 else worker_count(size, worth=_WORTH_A_WORKER, asked=workers)
    with closing(OrderedWork(_extracted, workers=count)) as recorder.work, collecting_rarely():
        for done, path in enumerate(paths):
            if progress:
                progress(done, len(paths), path)
            recorder.take(path)
        recorder.take_again()
    return ExtractReport(
        recorded=tuple(recorder.recorded),
        failed=tuple(recorder.failed),
        left_out=tuple(recorder.left_out),
        unread=tuple(recorder.unread),
    )


def recorded_logs(store: EpisodeStore, admission: IngestFilter) -> frozenset[tuple[str, str | None]]:
    """By their bytes the logs that this extractor has read already; see `log_key`."""
    own = (path for path in store.files() if not admission.is_anothers(session_of(path)))
    known = map(read_beginning, own)
    made = (one.provenance for one in known if one and one.provenance)
    return frozenset((one.sha256, one.parts) for one in made if one.extractor == EXTRACTOR_VERSION)


def log_key(path: Path) -> tuple[str, str | None]:
    """What a log is recognised by: the SHA-256 of its bytes, and of the logs of its helpers."""
    return fingerprint(path, upto=0)[1], parts_fingerprint(path)


def _extracted(task: tuple[Session, Provenance]) -> Episode:
    """What a worker does: the episode of a session."""
    session, provenance = task
    return extract(session, provenance=provenance)


class _UnderWay(NamedTuple):
    """A session whose episode is being made, and the episode that was recorded of it before."""

    log: Path
    session: str
    accounting: Accounting
    provenance: Provenance
    old: Episode | None


@dataclass(kw_only=True)
class _Recorder:
    """Takes one log after the other. Knows which sessions began with which step, to recognise resumed ones.

    Episodes are made by ``work`` and saved in the order of their sessions. Before something is decided that an episode
    under way has a say in, it is waited for, so the result does not depend on the number of workers.
    """

    store: EpisodeStore
    force: bool
    strict: bool
    format: str
    admission: IngestFilter | None
    left_out: list[SkippedLog] = field(default_factory=list)
    recorded: list[RecordedSession] = field(default_factory=list)
    failed: list[SkippedLog] = field(default_factory=list)
    unread: list[str] = field(default_factory=list)
    work: OrderedWork[tuple[Session, Provenance], Episode] = field(
        default_factory=lambda: OrderedWork(_extracted, workers=1)
    )
    _under_way: deque[_UnderWay] = field(default_factory=deque)
    _beginnings: dict[str, set[str]] | None = None
    _contents: dict[str, set[str]] = field(default_factory=dict)
    _logs: dict[str, Path] = field(default_factory=dict)
    _again: dict[str, Path] = field(default_factory=dict)

    def files(self, logs: Iterable[Path]) -> Iterator[Path]:
        """The logs themselves, and those in the folders; a folder without any is a mistake worth a word."""
        for path in logs:
            if not path.is_dir():
                yield path
                continue
            found = find_files(path)
            self.unread += map(str, found.unread)
            if not found.logs:
                self.failed.append(SkippedLog(log=str(path), problem=f"{path}: no log in this folder"))
            yield from found.logs

    def take_again(self) -> None:
        """Reads once more the resumed sessions whose origin came after them."""
        self._finish()
        for session, path in self._again.items():
            self.recorded = [one for one in self.recorded if one.session != session]
            self.take(path)
            self._finish()

    def take(self, path: Path) -> None:
        refusal = self.admission.against_log(path) if self.admission else None
        if refusal is not None:
            self.left_out.append(SkippedLog(log=str(path), problem=refusal))
            return
        try:
            reader = find_reader(path, format=self.format)
            sessions = sessions_in(path, reader)
            for session in _undamaged(path, sessions) if self.strict else sessions:
                self._admit(path, session)
        except InvalidArgument:
            raise
        except HelixGraphError as error:
            self._fail(path, error)

    def _fail(self, path: Path, error: HelixGraphError) -> None:
        problem = str(error) if str(path) in str(error) else f"{path}: {error}"
        reasons = error.reasons if isinstance(error, UnknownLogFormat) else ()
        self.failed.append(SkippedLog(log=str(path), problem=problem, reasons=reasons))

    def _admit(self, path: Path, session: Session) -> None:
        refusal = self.admission.against_session(session) if self.admission else None
        if refusal is not None:
            self.left_out.append(SkippedLog(log=str(path), problem=refusal))
            return
        admitted = self.admission.admitted(session) if self.admission else session
        first = first_id(admitted.steps)
        if any(one.session == admitted.id or one.provenance.first == first for one in self._under_way):
            self._finish()
        known = self._begin(path, admitted)
        if known is not None:
            self._finish()
            self.recorded.append(known)

    def _begin(self, path: Path, session: Session) -> RecordedSession | None:
        """Has the episode of a session made, or says what became of one that needs none."""
        target = self.store.path_of(session.id)
        old = self._recorded_before(session.id)
        self._logs[session.id] = path
        size, digest, prefix = fingerprint(path, upto=old.provenance.bytes if old and old.provenance else 0)
        if session.rewritten:
            size, digest, prefix = own_fingerprint(session, old.provenance if old else None)
        provenance = provenance_of(path, session, size=size, digest=digest)
        if any(one.provenance.sha256 == provenance.sha256 for one in self._under_way):
            self._finish()
        if old is None and (original := self._original_of(provenance)) is not None:
            copy = f"a copy of what is recorded as {original.session}"
            place = self.store.path_of(original.session)
            return _result(path, session.accounting, original, place, "unchanged", warnings=(copy,))
        change = change_since(old, provenance, prefix=prefix)
        if old is not None and not self.force and change != "grown":
            older = change == "differs"
            if older and not is_older(session, provenance, old):
                advice = "use --force to replace it, or --output for another folder"
                there, log = (
                    json.dumps(str(one), ensure_ascii=False) for one in (target, path)
                )  # a log chose the names
                raise EpisodeError(f"{there} was recorded from a log that differs from {log}; {advice}")
            warnings = (_OLDER,) if older else ()
            return _result(path, session.accounting, old, target, "unchanged", warnings=warnings)
        own = self._without_copies(session)
        begun = _UnderWay(path, session.id, own.accounting, provenance, old)
        self._under_way.append(begun)
        for episode in self.work.begin((own, provenance)):
            self._save(self._under_way.popleft(), episode)
        return None

    def _finish(self) -> None:
        """Saves the episodes that are under way."""
        for episode in self.work.rest():
            self._save(self._under_way.popleft(), episode)

    def _save(self, begun: _UnderWay, episode: Episode) -> None:
        old = begun.old
        if old is not None:
            episode = msgspec.structs.replace(episode, extra=old.extra, tags=old.tags)
        same = old is not None and episode == old
        try:
            place = self.store.path_of(episode.session) if same else self.store.save(episode)
        except HelixGraphError as error:
            self._fail(begun.log, error)
            return
        if self.admission and self.admission.is_forgotten(episode.session):  # whoever forgets it removes it after this
            remove_file(place)
            problem = "its session was forgotten while its log was read"
            self.left_out.append(SkippedLog(log=str(begun.log), problem=problem))
            return
        if not same:
            self._remember(episode)
        change: Change = "unchanged" if same else "updated" if old else "written"
        self.recorded.append(_result(begun.log, begun.accounting, episode, place, change))

    def _recorded_before(self, session: str) -> Episode | None:
        if self.admission and self.admission.is_anothers(session):
            return None
        try:
            return self.store.get(session)
        except InvalidEpisode:
            if self.force:
                return None
            raise

    def _without_copies(self, session: Session) -> Session:
        """The session without the steps that its log copied from an earlier session's.

        The earlier of two that begin alike is the one whose last step is in the other's log.
        """
        own = [step.source.id for step in session.steps]
        copied, origin = -1, ""
        for name in sorted(self._by_beginning().get(first_id(session.steps) or "", set()) - {session.id}):
            other = self.store.get(name)  # an id as it is: to resolve a name reads the folder each time
            if other is None or not has_same_beginning(session, other):
                continue
            if self.admission and not self.admission.is_origin(other):
                continue
            ids = set(ids_in(other))
            if last_id(other) in own:
                end = max(place for place, one in enumerate(own) if one in ids)
                copied, origin = max((copied, origin), (end, name))
            elif own and first_id(session.steps[::-1]) in ids:
                self._read_again(other)
        return without_first_steps(session, copied + 1, copied_from=origin) if copied >= 0 else session

    def _read_again(self, resumed: Episode) -> None:
        """A resumed session was read before its origin: what it copied is the origin's, so it is due for reading."""
        provenance = resumed.provenance
        if provenance is None:
            return
        stale = msgspec.structs.replace(provenance, extractor=_DUE)
        place = self.store.save(msgspec.structs.replace(resumed, provenance=stale))
        if self.admission and self.admission.is_forgotten(resumed.session):  # as in `_save`
            remove_file(place)
            return
        if resumed.session in self._logs:
            self._again[resumed.session] = self._logs[resumed.session]

    def _by_beginning(self) -> dict[str, set[str]]:
        """The recorded sessions by the id of their first step."""
        if self._beginnings is None:
            self._beginnings = {}
            for path in self.store.files():
                if not (self.admission and self.admission.is_anothers(session_of(path))):
                    self._remember(read_beginning(path))
        return self._beginnings

    def _remember(self, one: Episode | EpisodeBeginning | None) -> None:
        if self._beginnings is None or not one or not one.provenance:
            return
        self._contents.setdefault(one.provenance.sha256, set()).add(one.session)
        if one.provenance.first:
            self._beginnings.setdefault(one.provenance.first, set()).add(one.session)

    def _original_of(self, copy: Provenance) -> Episode | None:
        """The session that was recorded from the same log under another name, from which a session may have its id.

        One log may hold several sessions, so one that was recorded from a log of this name is no original.
        """
        self._by_beginning()
        for name in sorted(self._contents.get(copy.sha256, ())):
            made = (one := self.store.get(name)) and one.provenance
            if one and made and made.sha256 == copy.sha256 and made.log != copy.log:
                return None if self.admission and not self.admission.is_origin(one) else one
        return None


def _result(
    path: Path,
    accounting: Accounting,
    episode: Episode,
    target: Path,
    change: Change,
    *,
    warnings: tuple[str, ...] = (),
) -> RecordedSession:
    bad = [f"{format_position(one.line, one.file)}: {one.problem}" for one in accounting.bad]
    more = [f"{accounting.more_bad} more damaged lines"] if accounting.more_bad else []
    return RecordedSession(
        log=str(path),
        session=episode.session,
        path=str(target),
        change=change,
        outcome=episode.outcome,
        decisions=len(episode.decisions),
        events=len(episode.events),
        warnings=(*warnings, *bad, *more),
        accounting=accounting,
        cuts=cuts_in(episode),
    )


def _undamaged(path: Path, sessions: Iterable[Session]) -> list[Session]:
    """All sessions of a log, read to its end before the first is recorded.

    Raises:
        LogError: A line is damaged, or of a type that the reader does not know.
    """
    whole = list(sessions)
    for session in whole:
        accounting = session.accounting
        damage = [f"{format_position(bad.line, bad.file)}: {bad.problem}" for bad in accounting.bad]
        damage += [
            f"{accounting.unknown_at.get(kind, 'a line')}: a record of unknown type {kind!r}"
            for kind in accounting.unknown
        ]
        if damage:
            raise LogError(f"{path}, {damage[0]}; nothing of it was recorded, since --strict was asked for")
    return whole
