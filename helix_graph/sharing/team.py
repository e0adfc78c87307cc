"""A team's memory through a server: what is pushed, what comes in, and what is forgotten there.

`Team.sync` pushes this memory's own episodes, insights with their outcomes, and entries of topics, and brings in what
others have. Around a question, `Team.follow` brings in what is new, and `Team.push` pushes insights, outcomes and
entries that have changed here since, both within a budget: what one stores, the next question of everybody knows.
Everything goes in batches, each of which is kept at once, so that what was cut short goes on from there, and all of it
again changes nothing. What comes in has the standing of what git brings (`helix_graph.sharing.api`): it is shown with
its author, and proves nothing.

A memory takes part once `Team.sync` was called for it, or when it began from the server (`Memory.from_team`). The
address is never stored: it comes from the caller, from ``HELIX_DATABASE``, or from the table ``[team]`` of the user's
own configuration.
"""

from __future__ import annotations

import itertools
import os
import time
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

from helix_episodes.corrections import OutcomeRevision, corrected
from helix_episodes.errors import InvalidEpisode, WriteFailed
from helix_episodes.safe_files import read_regular
from helix_episodes.store import PREFIX, EpisodeStore, decode_episode, encode_episode
from helix_graph.errors import MissingExtra, TeamServerFailed
from helix_graph.graph.assertions import FOLDER as ASSERTIONS
from helix_graph.graph.assertions import AssertionStore
from helix_graph.helix_db import kept_open
from helix_graph.project import FORGOTTEN, SERVER_VARIABLE, read_table, user_configuration
from helix_graph.project import digest as subject_of_name
from helix_graph.shared_authors import author_name
from helix_graph.sharing.model import ServerErasure, TeamPulled, TeamPushed, TeamReport, TeamSettings
from helix_graph.sharing.private_lines import KEY_OF_NUMBERS, key_of_insight
from helix_graph.sharing.records import SharedFeedback, SharedInsight, ShareProblem, encode, find_secrets
from helix_graph.sharing.replica import Replica, ReplicaState, subject_of_record, subject_of_session
from helix_graph.sharing.server import ServerObject, TeamServer, batches, check_project
from helix_graph.sharing.server_schema import LARGEST_OBJECT, LARGEST_RECORD
from helix_graph.trust import shared_episodes

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator

    from helix_graph.sharing.api import Sharing
    from helix_graph.sharing.private_lines import PrivateLine
    from helix_graph.sharing.records import SharedRecord
    from helix_graph.sharing.server import ServerEntry, ServerLine, ServerStanding

#: For how long a server is not asked by questions after it was away, in seconds.
_WAIT = 60.0
#: How far it has read is written down this often, in seconds, so that who is killed does not begin again.
_SAVED_EVERY = 0.5
#: What one `sync` reads of the server's list: a server that never ends it is left.
MOST_ENTRIES = 1_000_000


def team_settings() -> TeamSettings:
    """The user's settings; ``HELIX_DATABASE`` in the environment comes before the configured server."""
    settings = read_table(user_configuration(), "team", TeamSettings)
    return replace(settings, database=os.environ.get(SERVER_VARIABLE) or settings.database)


def address_of(named: str | None) -> str:
    """The server that is ``named``, or else the configured one."""
    address = named or team_settings().database
    if not address:
        sentence = f"no server is named; give --to postgresql://USER@HOST/DATABASE, or set {SERVER_VARIABLE}"
        raise TeamServerFailed(sentence, reason="address")
    return address


def check_membership(settings: TeamSettings, project: str) -> None:
    """Whether the server has a project of this name, of which the role is a member.

    Raises:
        TeamServerFailed: It is away or refuses, or the role is no member; or the project can have no such name.
    """
    with TeamServer(settings.database, project, budget=settings.seconds) as server:
        server.standing()


class Team:
    """What the memory in ``root`` shares through a server."""

    def __init__(self, root: Path, *, sharing: Sharing) -> None:
        self.root = root
        self._sharing = sharing
        self._store = EpisodeStore(root / "episodes")

    def _replica(self) -> Replica:
        return Replica(self.root, self._store)

    def sync(
        self,
        address: str | None = None,
        *,
        project: str | None = None,
        mine: bool = False,
        progress: Callable[[int, int, Path], None] | None = None,
    ) -> TeamReport:
        """Pushes what is this memory's own, and brings in what others have.

        Args:
            address: ``postgresql://…``; without one, that of ``HELIX_DATABASE`` or the user's configuration.
            project: Its name on the server; without one, that of the last time, or of the project's folder.
            mine: First takes back what this role pushed, from here or from another machine, as this memory's own.
                Whoever administers the server can write in anybody's name, so this is never done unasked.
            progress: Is told how many own episodes of how many were looked at, and which.
        """
        address = address_of(address)
        replica = self._replica()
        name = check_project(project or replica.state.project or self.root.absolute().parent.name)
        with TeamServer(address, name) as server, kept_open():
            standing = server.standing()
            self._begin(replica, standing, name)
            passes = [self._push_all(server, replica, standing, progress)]
            back, lines, problems = self._take_back(server, replica, standing) if mine else (0, 0, [])
            if mine:  # from now on it is this memory's own as what it pushed itself
                passes.append(self._push_all(server, replica, standing, progress, mine=True))
            pulled = self._pull(server, replica, standing, until=None)
        return TeamReport(
            project=name,
            role=author_name(standing.role),
            may_write=standing.may_write,
            pushed=sum(one.stored for one in passes),
            unchanged=len(passes[-1].unchanged),
            deleted=sum(len(one.deleted) for one in passes),
            refused=sum(one.offered - one.stored for one in passes),
            pulled=pulled,
            problems=(*problems, *passes[-1].problems),
            missing=len(passes[-1].missing),
            taken_back=back,
            lines_pushed=sum(one.lines_pushed for one in passes),
            lines_taken_back=lines,
        )

    def _push_all(
        self,
        server: TeamServer,
        replica: Replica,
        standing: ServerStanding,
        progress: Callable[[int, int, Path], None] | None,
        *,
        mine: bool = False,
    ) -> _Pushing:
        """Pushes all that is this memory's own, and deletes what was forgotten; nothing, where one may only read.

        With ``mine`` what is here as the server has it counts as pushed from here.
        """
        pushing = self._pushing(server, replica)
        if standing.may_write:
            self._note_deleted(server, replica)
            mark, records = self._sharing.own.mark(), self._own_records()
            own = itertools.chain(self._own_episodes(pushing, progress), pushing.records(records))
            self._push(server, replica, own, pushing, mine=mine)
            self._push_lines(server, replica, pushing, mine=mine)
            replica.change(mark=mark, pushed=_digest_of(records))
        return pushing

    def _pushing(self, server: TeamServer, replica: Replica) -> _Pushing:
        """What is to be counted. A memory that came from elsewhere changes nothing that it did not push itself."""
        return _Pushing(server.own(), sent=None if replica.is_begun_here else set(replica.state.sent))

    def _note_deleted(self, server: TeamServer, replica: Replica) -> bool:
        """Remembers which sessions of own records this user forgot on another machine; whether any is new.

        What is pushed from here does not name them again.
        """
        named = set(itertools.chain.from_iterable(self._sharing.own.sessions().values()))
        return replica.note_deleted(server.deleted(named))

    def _push_lines(
        self,
        server: TeamServer,
        replica: Replica,
        pushing: _Pushing,
        *,
        is_forgetting: bool = False,
        mine: bool = False,
    ) -> None:
        """Pushes what the server keeps for this user alone, and deletes there what is no more so.

        Lines quote what people asked, so new ones wait for `sync`, as sessions do: where somebody only forgets, a line
        is pushed in the place of one that said more of the same record, or if it says that an insight was forgotten.

        A line goes when another one of the same record comes, when the server has its insight as one that this memory
        shares, and when something that it names was forgotten. What is merely missing here stays.
        """
        let_go = self._sharing.own.let_go()
        there = {one.subject: one for one in server.private()}
        own = {one.subject: one for one in self._sharing.own.private_lines() if not self._rests_on_gone(one, let_go)}
        new: set[str] = set()
        if server.has_private():
            known = {*let_go, *(one.key for one in there.values())}
            taken = {one.key for one in there.values() if not pushing.may_change(one.subject)}
            wanted = (
                one
                for one in own.values()
                if (not is_forgetting or one.key in known) and pushing.may_say(one, taken=taken)
            )
            checked = pushing.lines(wanted, there)
            for part in batches(checked, size=lambda one: len(one.data)):
                new |= server.push_private(part)
        pushing.lines_pushed = len(new)
        followed = {own[subject].key for subject in new}
        shared = (one for subject, one in pushing.own.items() if subject in pushing.there)
        followed |= {key_of_insight(one.uid) for one in shared if isinstance(one, SharedInsight)}
        followed |= self._sharing.own.replaced_twins()
        gone = {
            subject
            for subject, one in there.items()
            if subject not in own
            and pushing.may_change(subject)
            and (one.key in followed or self._rests_on_gone(one, let_go))
        }
        if gone:
            server.delete(gone)
        pushing.note_sent(new | (own.keys() & there.keys() if mine else set()))
        replica.change(let_go=_digest_of_all(let_go), sent=frozenset(pushing.sent or ()))

    def _rests_on_gone(self, line: PrivateLine | ServerLine, let_go: frozenset[str]) -> bool:
        return any(one in let_go or self._is_forgotten(one) for one in line.rests_on)

    def _take_back(
        self, server: TeamServer, replica: Replica, standing: ServerStanding
    ) -> tuple[int, int, list[ShareProblem]]:
        """Makes what this role pushed this memory's own, unless it is or was forgotten here.

        How many objects, how many lines that only this role reads, and what is wrong with others.
        """
        here = {subject_of_record(one) for one in self._sharing.own.records()}
        listed = itertools.islice(_each(server, standing), MOST_ENTRIES)
        own = [one for one in listed if one.author == standing.role]
        there = [one for one in own if one.kind != "gone" and not self._is_forgotten(one.subject)]
        wanted = [one for one in there if one.subject not in here and not replica.is_own(one)]
        wrong = [problem for one, data in server.contents(wanted) if (problem := replica.keep(one, data, mine=True))]
        lines = self._lines_wanted(server)
        spoilt = [problem for line, data in server.contents(lines) if (problem := replica.keep_line(line, data))]
        replica.take_back(self._sharing, deleted=(one.subject for one in own if one.kind == "gone"))
        return len(wanted) - len(wrong), len(lines) - len(spoilt), [*wrong, *spoilt]

    def _lines_wanted(self, server: TeamServer) -> list[ServerLine]:
        """The lines of this role whose records are not here, and that name nothing which was forgotten here.

        Of two lines of a record, of two machines, the later one.
        """
        let_go = self._sharing.own.let_go()
        here = {one.key for one in self._sharing.own.private_lines()} | let_go
        here |= {key_of_insight(uid) for uid in self._sharing.own.uids()}
        newest = {one.key: one for one in server.private()}
        return [one for one in newest.values() if one.key not in here and not self._rests_on_gone(one, let_go)]

    def follow(self, *, began: str = "", progress: Callable[[int, int, Path], None] | None = None) -> TeamPulled:
        """Brings in what others have, for as long as the user's settings say; the next call goes on from there.

        Nothing in a memory that does not take part, or where no server is named. A server that was away is asked again
        after a minute, so that not every question waits for it. A memory that ``began`` from a project takes part in
        it, and its first call may take longer; ``progress`` is told how far it has read, of how much, and where.
        """
        settings, replica = team_settings(), self._replica()
        project = began or replica.state.project
        if not (settings.database and project) or replica.was_away(within=_WAIT):
            return TeamPulled()
        seconds = settings.first_seconds if began else settings.seconds
        until = time.monotonic() + seconds
        try:
            with TeamServer(settings.database, project, budget=seconds) as server:
                standing = server.standing()
                self._begin(replica, standing, project)
                pulled = self._pull(server, replica, standing, until=until, progress=progress)
                return replace(pulled, began=began)
        except (TeamServerFailed, MissingExtra) as error:
            replica.note_away()
            return TeamPulled(complete=False, away=str(error), began=began)

    def push(self) -> TeamPushed:
        """Pushes insights, outcomes and entries that were stored, changed or forgotten here since the last time.

        Nothing, without asking the server, where nothing has changed or the memory does not take part. Sessions wait
        for `sync`. A server that was away is asked again after a minute. A memory that cannot be written to has nothing
        new of its own.
        """
        settings, replica, mark = team_settings(), self._replica(), self._sharing.own.mark()
        state = replica.state
        if not (settings.database and state.project) or mark == state.mark or replica.was_away(within=_WAIT):
            return TeamPushed()
        records = self._own_records()
        digest, let_go = _digest_of(records), _digest_of_all(self._sharing.own.let_go())
        try:
            if digest == (state.pushed or _digest_of(())) and let_go == (state.let_go or _digest_of_all(())):
                done: TeamPushed | None = TeamPushed()
            else:
                with TeamServer(settings.database, state.project, budget=settings.seconds) as server:
                    done = self._pushed(server, replica, records)
            if done is not None:
                replica.change(mark=mark, pushed=digest)
        except (TeamServerFailed, MissingExtra) as error:
            replica.note_away()
            return TeamPushed(away=str(error))
        except WriteFailed as error:
            return TeamPushed(away=str(error))
        return done or TeamPushed()

    def _pushed(
        self, server: TeamServer, replica: Replica, records: list[tuple[SharedRecord, ServerObject]]
    ) -> TeamPushed | None:
        """Pushes records, as `push`; None where the server is another one than before, with which following begins."""
        standing = server.standing()
        if standing.server != replica.state.server:
            return None
        if not standing.may_write:
            return TeamPushed(away=f"{author_name(standing.role)} may only read on the server: it stays here")
        if self._note_deleted(server, replica):
            records = self._own_records()
        pushing = self._pushing(server, replica)
        self._push(server, replica, pushing.records(records), pushing)
        if _digest_of_all(self._sharing.own.let_go()) != (replica.state.let_go or _digest_of_all(())):
            self._push_lines(server, replica, pushing, is_forgetting=True)
        return TeamPushed(stored=pushing.stored, deleted=len(pushing.deleted), problems=tuple(pushing.problems))

    def erase(self) -> ServerErasure | None:
        """Deletes on the server what was forgotten here, and looks whether it is gone; None where none takes part.

        Only what this role has pushed is deleted, whoever else has a session of the same name. Where the server is
        away, the next `sync` deletes it.
        """
        replica = self._replica()
        project = replica.state.project
        if not project:
            was_moved = (
                "this memory came from elsewhere, so name the project that it takes part in: helix-graph sync --to"
            )
            return ServerErasure(problem=was_moved) if replica.written.project else None
        address = team_settings().database
        if not address:
            return ServerErasure(problem=f"no server is named; set {SERVER_VARIABLE}, and forget again without options")
        try:
            with TeamServer(address, project) as server:
                pushing = self._pushing(server, replica)
                self._push(server, replica, pushing.records(self._own_records()), pushing)
                self._push_lines(server, replica, pushing, is_forgetting=True)
                forgotten = {path.stem for path in (self.root / FORGOTTEN).glob("*.json")}
                found = server.trace(forgotten | pushing.deleted, rests_on=forgotten | self._sharing.own.let_go())
                return ServerErasure(deleted=len(pushing.deleted), left=found.objects, tombstones=found.tombstones)
        except TeamServerFailed as error:
            return ServerErasure(problem=str(error))

    def _push(
        self,
        server: TeamServer,
        replica: Replica,
        own: Iterable[ServerObject],
        pushing: _Pushing,
        *,
        mine: bool = False,
    ) -> None:
        """Pushes what the server does not have, then deletes there what was forgotten here."""
        for part in batches(own, size=lambda one: len(one.data)):
            pushing.offered += len(part)
            pushing.stored += server.push(part)
            pushing.note_sent(one.subject for one in part)
        forgotten = self._forgotten_of(replica, pushing)
        pushing.deleted = set(filter(pushing.may_change, forgotten))
        pushing.note_sent(pushing.unchanged - forgotten if mine else ())
        if pushing.deleted:
            server.delete(pushing.deleted)
        pushing.missing = (replica.state.records & pushing.there.keys()) - pushing.own.keys() - pushing.deleted
        rests_on = {subject_of_name(name): found for name, found in self._sharing.own.sessions().items()}
        kept = {subject: found for subject, found in replica.state.rests_on.items() if subject in pushing.missing}
        records, sent = frozenset(pushing.own) | pushing.missing, frozenset(pushing.sent or ())
        replica.change(records=records, rests_on={**kept, **rests_on}, sent=sent)

    def _forgotten_of(self, replica: Replica, pushing: _Pushing) -> set[str]:
        """What the server has of this role that somebody forgot here; what is merely missing here is no such thing."""
        names = self._sharing.own.forgotten(pushing.own.values())
        subjects = {subject_of_name(name) for name in names} | set(filter(self._is_forgotten, pushing.there))
        # What rested on a forgotten session went with it, and nothing here tells of it.
        subjects |= {
            subject
            for subject, sessions in replica.state.rests_on.items()
            if subject not in pushing.own and any(map(self._is_forgotten, sessions))
        }
        return subjects & pushing.there.keys()

    def _begin(self, replica: Replica, standing: ServerStanding, project: str) -> None:
        """Where this memory stands with the server; from the beginning, if that is another one, or an older copy."""
        state = replica.state
        is_same = (state.server, state.project) == (standing.server, project)
        if not is_same or state.number > standing.newest:
            # A copy of a memory is told here that it takes part in the same project. What it says that it had pushed
            # is not read again as somebody's; nothing is deleted because it says so.
            before = replica.written if not state.project else state
            if (before.server, before.project) != (standing.server, project):
                before = state = ReplicaState()
            replica.change(
                server=standing.server,
                project=project,
                number=0,
                records=before.records,
                rests_on=state.rests_on,
                pushed=state.pushed,
                let_go=state.let_go,
                mark=state.mark,
                sent=state.sent,
            )

    def _pull(
        self,
        server: TeamServer,
        replica: Replica,
        standing: ServerStanding,
        *,
        until: float | None,
        progress: Callable[[int, int, Path], None] | None = None,
    ) -> TeamPulled:
        state, pulled = replica.state, TeamPulled()
        own, was_pending = state.records, state.pending
        problems: list[ShareProblem] = []
        seen = 0
        while pulled.complete and state.number < standing.newest and seen < MOST_ENTRIES:
            entries = server.since(state.number)
            if not entries:
                break
            if progress:
                progress(state.number, standing.newest, self.root)
            seen += len(entries)
            dropped = [(one, replica.drop(one)) for one in entries if one.kind == "gone"]
            if any(not was for _, was in dropped):
                replica.change(pending=True)
            wanted = (one for one in entries if not (one.author == standing.role and one.subject in own))
            kept, wrong, is_late = _kept(server, replica, self._lacking(replica, wanted), until=until)
            problems += wrong
            if not is_late:
                replica.reached(entries[-1].at, records=any(one.kind == "record" for one in kept))
            state = replica.state
            pulled = TeamPulled(
                episodes=pulled.episodes + sum(one.kind == "episode" for one in kept),
                objects=pulled.objects + len(kept),
                deleted=pulled.deleted + sum(was for _, was in dropped),
                complete=not is_late and (until is None or time.monotonic() < until),
            )
        if state.pending:
            merged = replica.take_in(self._sharing, whole=was_pending)
            pulled = replace(pulled, deleted=pulled.deleted + merged.forgotten)
            replica.change(pending=False)
        if pulled.complete and seen >= MOST_ENTRIES and state.number < standing.newest:
            sentence = (
                f"the team's server listed {seen:,} objects and has more; the next `helix-graph sync --to` goes on"
            )
            raise TeamServerFailed(sentence, reason="answer")
        return replace(pulled, problems=tuple(problems))

    def _lacking(self, replica: Replica, entries: Iterable[ServerEntry]) -> list[ServerEntry]:
        """What has to be read of these: neither deleted, nor forgotten here, nor here as it is."""
        return [
            one for one in entries if one.kind != "gone" and not self._is_forgotten(one.subject) and replica.lacks(one)
        ]

    def _own_episodes(
        self, pushing: _Pushing, progress: Callable[[int, int, Path], None] | None
    ) -> Iterator[ServerObject]:
        """Those that the server does not have as they are, as people have corrected them.

        What later sessions show of an earlier one each memory finds by itself.
        """
        files = {path.stem: path for path in self._store.files()}
        corrections = AssertionStore(self.root / "causality" / ASSERTIONS).corrections()
        shared = shared_episodes(self.root, files)
        for number, (name, path) in enumerate(files.items()):
            if progress:
                progress(number, len(files), path)
            if name not in shared:
                subject = subject_of_session(name.removeprefix(PREFIX))
                data = read_regular(path)
                said = [each for each in corrections.get(name, ()) if not isinstance(each, OutcomeRevision)]
                if said:
                    with suppress(InvalidEpisode):  # compiling names it
                        data = encode_episode(corrected(decode_episode(data, path=path), said))
                one = ServerObject(subject=subject, kind="episode", data=data)
                yield from pushing.checked(f"episodes/{path.name}", one)

    def _own_records(self) -> list[tuple[SharedRecord, ServerObject]]:
        """Own insights, their outcomes and entries of topics, as they are and as the server has them."""
        return [
            (one, ServerObject(subject=subject_of_record(one), kind="record", data=encode(one)))
            for one in self._sharing.own.records()
        ]

    def _is_forgotten(self, subject: str) -> bool:
        return (self.root / FORGOTTEN / f"{subject}.json").exists()


def _each(server: TeamServer, standing: ServerStanding) -> Iterator[ServerEntry]:
    """All that the server lists, in order."""
    number = 0
    while number < standing.newest and (entries := server.since(number)):
        yield from entries
        number = entries[-1].at


def _kept(
    server: TeamServer, replica: Replica, wanted: list[ServerEntry], *, until: float | None
) -> tuple[list[ServerEntry], list[ShareProblem], bool]:
    """Reads and keeps what is wanted; what was kept, what is wrong with others, and whether the time was over before.

    How far it has read is written down now and then.
    """
    kept: list[ServerEntry] = []
    problems: list[ShareProblem] = []
    saved = time.monotonic()
    for entry, data in server.contents(wanted):
        problem = replica.keep(entry, data)
        problems += [problem] if problem else []
        kept += [] if problem else [entry]
        is_late = until is not None and time.monotonic() >= until
        if is_late or time.monotonic() >= saved + _SAVED_EVERY:
            saved = time.monotonic()
            replica.reached(entry.at, records=any(one.kind == "record" for one in kept))
        if is_late:
            return kept, problems, True
    return kept, problems, False


class _Pushing:
    """What is counted while objects are pushed; ``there`` are the hashes of what the server has.

    ``sent`` is what alone may be replaced or deleted there; without it everything that this role has pushed.
    """

    def __init__(self, there: dict[str, str], *, sent: set[str] | None) -> None:
        self.there = there
        self.sent = sent
        self.deleted: set[str] = set()
        self.unchanged: set[str] = set()
        self.offered = self.stored = self.lines_pushed = 0
        self.own: dict[str, SharedRecord] = {}
        self.missing: frozenset[str] = frozenset()
        self.problems: list[ShareProblem] = []

    def records(self, own: Iterable[tuple[SharedRecord, ServerObject]]) -> Iterator[ServerObject]:
        """Those of the own records that the server does not have as they are."""
        for record, one in own:
            if one.subject in self.own:  # two entries of the same words, topic and time are one to everybody else
                continue
            if isinstance(record, SharedFeedback) and one.subject not in self.there and self._judges_others(record):
                problem = "it judges what another memory of yours pushed, so it stays here"
                self.problems.append(
                    ShareProblem(file=f"the outcome {record.id}", line=1, problem=problem, kind="invalid")
                )
                continue
            self.own[one.subject] = record
            yield from self.checked(f"the {type(record).__name__} {one.subject[:12]}", one)

    def lines(self, own: Iterable[PrivateLine], there: Collection[str]) -> Iterator[PrivateLine]:
        """Those of the own lines that are not ``there`` and may be pushed."""
        for one in own:
            if one.subject not in there and self._may_be_pushed(
                f"the line {one.subject[:12]}", one.data, largest=LARGEST_RECORD
            ):
                yield one

    def checked(self, name: str, one: ServerObject) -> Iterator[ServerObject]:
        """The object, unless the server has it as it is, or it may not be pushed."""
        largest = LARGEST_OBJECT if one.kind == "episode" else LARGEST_RECORD
        if self.there.get(one.subject) == one.hash:
            self.unchanged.add(one.subject)
        elif one.subject in self.there and not self.may_change(one.subject):
            problem = "the server has it in another form, pushed from another memory of yours: that one stays"
            self.problems.append(ShareProblem(file=name, line=1, problem=problem, kind="invalid"))
        elif self._may_be_pushed(name, one.data, largest=largest):
            yield one

    def may_change(self, subject: str) -> bool:
        """Whether what the server has of a subject may be replaced or deleted from here."""
        return self.sent is None or subject in self.sent

    def may_say(self, line: PrivateLine, *, taken: Collection[str]) -> bool:
        """Whether a line may be pushed: from a memory that came from elsewhere none about what others pushed.

        ``taken`` are the keys of lines that the server has from other memories of this user.
        """
        if self.sent is None:
            return True
        named = {line.key, *line.rests_on}
        return line.key != KEY_OF_NUMBERS and named.isdisjoint(taken) and not any(map(self._is_others, named))

    def _judges_others(self, record: SharedFeedback) -> bool:
        return any(self._is_others(key_of_insight(uid)) for uid in (*record.helped, *record.present))

    def _is_others(self, subject: str) -> bool:
        return subject in self.there and not self.may_change(subject)

    def note_sent(self, subjects: Iterable[str]) -> None:
        """Remembers what was pushed from here, where that counts."""
        if self.sent is not None:
            self.sent.update(subjects)

    def _may_be_pushed(self, name: str, data: bytes, *, largest: int) -> bool:
        """Whether it is not too large and has no secret; else it is noted why."""
        found = list(find_secrets(name, data)) if len(data) <= largest else []
        if len(data) > largest:
            problem = f"it has {len(data):,} bytes; the server takes {largest:,}"
            found = [ShareProblem(file=name, line=1, problem=problem, kind="invalid")]
        self.problems += found
        return not found


def _digest_of_all(names: Iterable[str]) -> str:
    """What differs as soon as one more or less is among them."""
    return sha256("".join(sorted(names)).encode()).hexdigest()


def _digest_of(records: Iterable[tuple[SharedRecord, ServerObject]]) -> str:
    """What differs as soon as one of the records does."""
    lines = sorted(f"{one.subject} {one.hash}\n" for _, one in records)
    return sha256("".join(lines).encode()).hexdigest()
