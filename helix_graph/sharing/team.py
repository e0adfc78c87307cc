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
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

from helix_episodes.errors import WriteFailed
from helix_episodes.store import EpisodeStore
from helix_graph.errors import MissingExtra, TeamServerFailed
from helix_graph.helix_db import kept_open
from helix_graph.project import SERVER_VARIABLE, read_table, user_configuration
from helix_graph.shared_authors import author_name
from helix_graph.sharing.connection import check_project
from helix_graph.sharing.entry_versions import reverted, version_item
from helix_graph.sharing.model import (
    OtherMachines,
    ServerErasure,
    TeamPulled,
    TeamPushed,
    TeamReport,
    TeamSettings,
)
from helix_graph.sharing.other_machines import OwnTakenIn, TakingIn, deleted_by_user, is_news
from helix_graph.sharing.pushing import Pushing, digest_of, digest_of_all, erase, own_objects
from helix_graph.sharing.replica import Replica, ReplicaState
from helix_graph.sharing.server import ServerObject, TeamServer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from helix_graph.sharing.api import Sharing
    from helix_graph.sharing.other_machines import Forget
    from helix_graph.sharing.records import SharedRecord, ShareProblem
    from helix_graph.sharing.server import ServerEntry, ServerStanding

#: For how long a server is not asked by questions after it was away, in seconds.
_WAIT = 60.0
#: What to do where a folder is not called as its project is there.
ANOTHER_NAME = "; if the project has another name there, `helix-graph sync --to --as NAME`"
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


def check_membership(address: str, project: str, *, seconds: float | None = None) -> None:
    """Whether the server has a project of this name, of which the role is a member.

    Raises:
        TeamServerFailed: It is away or refuses, or the role is no member; or the project can have no such name.
    """
    with TeamServer(address, project, budget=seconds) as server:
        server.standing()


def check_server(address: str | None, root: Path, *, project: str | None = None) -> None:
    """Whether a memory that is begun in ``root`` could take part in the project, as `Team.sync` asks it.

    Raises:
        MissingExtra, TeamServerFailed: As `Team.sync`.
    """
    with _offering_another_name(project):
        check_membership(address_of(address), project or _folder_of(root))


def _folder_of(root: Path) -> str:
    """What a project is called whose memory is in ``root``, where nobody says otherwise."""
    return root.absolute().parent.name


@contextmanager
def _offering_another_name(named: str | None) -> Iterator[None]:
    """Within, whoever is no member of the project that is called like the folder learns how another is ``named``."""
    try:
        yield
    except TeamServerFailed as error:
        if named or error.reason != "project":
            raise
        raise TeamServerFailed(f"{error}{ANOTHER_NAME}", reason=error.reason) from None


class Team:
    """What the memory in ``root`` shares through a server."""

    def __init__(self, root: Path, *, sharing: Sharing, forget: Forget) -> None:
        self.root = root
        self._sharing = sharing
        self._forget = forget
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

        What this user changed or forgot on other machines becomes so here, once they said ``mine`` in this memory
        (`helix_graph.sharing.other_machines`).

        Args:
            address: ``postgresql://…``; without one, that of ``HELIX_DATABASE`` or the user's configuration.
            project: Its name on the server; without one, that of the last time, or of the project's folder.
            mine: First takes back what this role pushed, from here or from another machine, as this memory's own, now
                and from now on. Whoever administers the server can write in anybody's name, so this is never done
                unasked.
            progress: Is told how many own episodes of how many were looked at, and which.
        """
        address = address_of(address)
        replica = self._replica()
        named = project or replica.state.project
        with _offering_another_name(named):
            name = check_project(named or _folder_of(self.root))
        with TeamServer(address, name) as server, kept_open():
            with _offering_another_name(named):
                standing = server.standing()
            self._begin(replica, standing, name)
            # Once said, it holds; of a memory that came from elsewhere each time anew.
            is_trusted = mine or replica.is_trusted
            own = OwnTakenIn(0, 0, (), OtherMachines())
            if is_trusted:
                replica.change(mine=True)
                now = self._sharing.insights.now
                own = TakingIn(server, replica, self._sharing, forget=self._forget, now=now).run()
            done = self._push_all(server, replica, standing, progress, mine=is_trusted)
            waiting = done.behind | (done.refused and done.refused & deleted_by_user(server))
            pulled = self._pull(server, replica, standing, until=None)
        replica.note_back()
        return TeamReport(
            project=name,
            role=author_name(standing.role),
            may_write=standing.may_write,
            pushed=done.stored,
            unchanged=len(done.unchanged),
            deleted=len(done.deleted),
            refused=len(done.refused),
            pulled=pulled,
            problems=(*own.problems, *done.problems),
            missing=len(done.missing),
            taken_back=own.objects,
            lines_pushed=done.lines_pushed,
            lines_taken_back=own.lines,
            other_machines=replace(own.changes, waiting=len(waiting)),
        )

    def _push_all(
        self,
        server: TeamServer,
        replica: Replica,
        standing: ServerStanding,
        progress: Callable[[int, int, Path], None] | None,
        *,
        mine: bool = False,
    ) -> Pushing:
        """Pushes all that is this memory's own, and deletes what was forgotten; nothing, where one may only read.

        With ``mine`` what is here as the server has it counts as pushed from here.
        """
        pushing = Pushing(server, replica, self._sharing.own)
        if standing.may_write:
            self._note_deleted(server, replica)
            self._renew_reverted(server, replica)
            mark, records = self._sharing.own.mark(), own_objects(self._sharing.own)
            pushing.push(itertools.chain(pushing.episodes(progress), pushing.records(records)), mine=mine)
            pushing.push_lines(mine=mine)
            replica.change(mark=mark, pushed=digest_of(records))
        return pushing

    def _note_deleted(self, server: TeamServer, replica: Replica) -> bool:
        """Remembers which sessions of own records this user forgot on another machine; whether any is new.

        What is pushed from here does not name them again.
        """
        named = set(itertools.chain.from_iterable(self._sharing.own.sessions().values()))
        return replica.note_deleted(server.deleted(named))

    def _renew_reverted(self, server: TeamServer, replica: Replica) -> bool:
        """Dates entries anew that have a form again which was deleted on the server; whether there is one."""
        own = self._sharing.own
        found = reverted(own.own_entries(), own.replaced_entries(), replica.exchanged)
        gone = server.deleted(found)
        if gone:
            live, now = own.own_entries(), self._sharing.insights.now().isoformat()
            versions = {found[one]: (version_item(live[found[one]], modified=now),) for one in gone}
            self._sharing.topics.put_versions(versions)
        return bool(gone)

    def follow(self, *, began: str = "", progress: Callable[[int, int, Path], None] | None = None) -> TeamPulled:
        """Brings in what others have, for as long as the user's settings say; the next call goes on from there.

        Nothing in a memory that does not take part, or where no server is named. A server that was away is asked again
        after a minute, so that not every question waits for it. A memory that ``began`` from a project takes part in
        it, and its first call may take longer; ``progress`` is told how far it has read, of how much, and where.
        """
        settings, replica = team_settings(), self._replica()
        project = began or replica.state.project
        if not (settings.database and project) or replica.was_away(settings.database, within=_WAIT):
            return TeamPulled()
        seconds = settings.first_seconds if began else settings.seconds
        until = time.monotonic() + seconds
        try:
            with TeamServer(settings.database, project, budget=seconds) as server:
                standing = server.standing()
                self._begin(replica, standing, project)
                pulled = self._pull(server, replica, standing, until=until, progress=progress)
                return replace(self._with_own(server, replica, pulled), began=began)
        except (TeamServerFailed, MissingExtra) as error:
            replica.note_away(settings.database)
            return TeamPulled(complete=False, away=str(error), began=began)

    def _with_own(self, server: TeamServer, replica: Replica, pulled: TeamPulled) -> TeamPulled:
        """Also takes in what this user did on another machine, where something is new of it.

        A session that was forgotten there waits for `sync`: proving that nothing is left reads all files.
        """
        if not pulled.own_news:
            return pulled
        own = TakingIn(server, replica, self._sharing, forget=None, now=self._sharing.insights.now).run()
        count = own.objects + own.changes.changed + own.changes.forgotten
        return replace(pulled, own_news=count, lost=own.changes.lost, problems=(*pulled.problems, *own.problems))

    def push(self) -> TeamPushed:
        """Pushes insights, outcomes and entries that were stored, changed or forgotten here since the last time.

        Nothing, without asking the server, where nothing has changed or the memory does not take part. Sessions wait
        for `sync`. A server that was away is asked again after a minute. A memory that cannot be written to has nothing
        new of its own.
        """
        settings, replica, mark = team_settings(), self._replica(), self._sharing.own.mark()
        state = replica.state
        if not (settings.database and state.project) or mark == state.mark:
            return TeamPushed()
        if replica.was_away(settings.database, within=_WAIT):
            return TeamPushed()
        records = own_objects(self._sharing.own)
        digest, let_go = digest_of(records), digest_of_all(self._sharing.own.let_go())
        try:
            if digest == (state.pushed or digest_of(())) and let_go == (state.let_go or digest_of_all(())):
                done: TeamPushed | None = TeamPushed()
            else:
                with TeamServer(settings.database, state.project, budget=settings.seconds) as server:
                    done = self._pushed(server, replica, records)
            if done is not None:
                replica.change(mark=mark, pushed=digest)
        except (TeamServerFailed, MissingExtra) as error:
            replica.note_away(settings.database)
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
        if self._note_deleted(server, replica) | self._renew_reverted(server, replica):
            records = own_objects(self._sharing.own)
        pushing = Pushing(server, replica, self._sharing.own)
        pushing.push(pushing.records(records))
        if digest_of_all(self._sharing.own.let_go()) != (replica.state.let_go or digest_of_all(())):
            pushing.push_lines(is_forgetting=True)
        return TeamPushed(
            stored=pushing.stored,
            deleted=len(pushing.deleted),
            problems=tuple(pushing.problems),
            behind=len(pushing.behind),
        )

    def erase(self, sessions: Iterable[str] = ()) -> ServerErasure | None:
        """Deletes on the server what was forgotten here, and looks whether it is gone; None where none takes part.

        Only what this role has pushed is deleted, whoever else has a session of the same name; who else has one of
        ``sessions`` is said.
        """
        return erase(self._replica(), self._sharing.own, team_settings().database, sessions)

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
        is_trusted, exchanged = replica.is_trusted, replica.exchanged
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
            of_user = [one for one in entries if one.author == standing.role]
            wanted = (one for one in entries if one not in of_user or not (is_trusted or one.subject in own))
            kept, wrong, is_late = _kept(server, replica, self._lacking(replica, wanted), until=until)
            problems += wrong
            if not is_late:
                replica.reached(entries[-1].at, records=any(one.kind == "record" for one in kept))
            state = replica.state
            pulled = TeamPulled(
                episodes=pulled.episodes + sum(one.kind == "episode" for one in kept),
                objects=pulled.objects + len(kept),
                deleted=pulled.deleted + sum(was for _, was in dropped),
                own_news=pulled.own_news + sum(is_trusted and is_news(one, exchanged) for one in of_user),
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
            one
            for one in entries
            if one.kind != "gone" and not replica.is_forgotten(one.subject) and replica.lacks(one)
        ]


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
