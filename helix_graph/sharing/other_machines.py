"""What other machines of the same person did to what is this memory's own, and how it becomes so here.

Each own object has a base: what both sides had when it was last exchanged (`helix_graph.sharing.exchanged`). What was
changed only there is taken in, what was changed only here is pushed, and of what was changed on both sides the later
edit of each part holds, whichever machine comes first; the one that gave way is named. What the user forgot there is
forgotten here, and forgetting wins over editing.

That the server speaks for this user is what they say with ``--mine``. Nothing of this is done in a memory where they
never said it, and only what this role itself deleted there counts: not what an administrator or anybody else did.
"""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple

from helix_episodes.corrections import OutcomeCorrection, parts_of
from helix_episodes.errors import InvalidEpisode
from helix_episodes.store import PREFIX, EpisodeStore, decode_episode, session_of
from helix_graph.graph.assertions import FOLDER as ASSERTIONS
from helix_graph.graph.assertions import AssertionStore, name_of
from helix_graph.helix_db import stamp
from helix_graph.insights.model import HARVEST_SOURCE, ForgottenInsight, Insight
from helix_graph.project import TEAM_EXCHANGED
from helix_graph.project import digest as subject_of_name
from helix_graph.sharing.entry_versions import entry_changes
from helix_graph.sharing.exchanged import Exchange, exchange_of, is_edited_since, is_same_said, merge_insights
from helix_graph.sharing.model import LostEdit, OtherMachines
from helix_graph.sharing.private_lines import SessionCorrection, TopicNumbers, key_of_insight
from helix_graph.sharing.pushing import episode_as_pushed
from helix_graph.sharing.records import SharedEntry, SharedInsight, ShareProblem, encode
from helix_graph.sharing.replica import subject_of_record, subject_of_session
from helix_graph.trust import shared_episodes, team_marker

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from datetime import datetime
    from pathlib import Path

    from helix_episodes.corrections import Correction
    from helix_graph.sharing.api import Sharing
    from helix_graph.sharing.private_lines import PrivateRecord
    from helix_graph.sharing.records import SharedRecord
    from helix_graph.sharing.replica import Replica
    from helix_graph.sharing.server import ServerEntry, ServerLine, TeamServer

    #: Forgets sessions in this memory alone; what of them could not be removed, in words.
    Forget = Callable[[Iterable[str]], Iterable[str]]


#: When a person edited an insight last.
_DATES = ("edited_at", "tagged_at", "state_at")


class OwnTakenIn(NamedTuple):
    """What became this memory's own: objects and lines that were not here, and what other machines changed."""

    objects: int
    lines: int
    problems: tuple[ShareProblem, ...]
    changes: OtherMachines


def deleted_by_user(server: TeamServer) -> set[str]:
    """What this role deleted on the server, from whichever machine; not what somebody who administers it did."""
    return {one.subject for one in server.own_tombstones() if one.is_by_author}


def is_news(entry: ServerEntry, exchanged: Mapping[str, Exchange]) -> bool:
    """Whether what the server lists of this role is something else than what both sides had."""
    base = exchanged.get(entry.subject)
    return base is not None if entry.kind == "gone" else base is None or base.there != entry.hash


class TakingIn:
    """One exchange's worth of what this user did elsewhere; without ``forget`` sessions stay for the next one."""

    def __init__(
        self,
        server: TeamServer,
        replica: Replica,
        sharing: Sharing,
        *,
        forget: Forget | None,
        now: Callable[[], datetime],
    ) -> None:
        self._server, self._replica, self._sharing, self._forget, self._now = server, replica, sharing, forget, now
        self._own, self._root = sharing.own, sharing.root
        self._base, self._is_noted = replica.exchanged, (sharing.root / TEAM_EXCHANGED).exists()
        self._there = {one.subject: one for one in server.own_entries()}
        deleted = server.own_tombstones()
        self._deleted = {one.subject for one in deleted}
        self._deleted_by_user = {one.subject for one in deleted if one.is_by_author} - self._there.keys()
        self._lines = server.private()
        self._exchanged: dict[str, Exchange] = {}
        self._problems: list[ShareProblem] = []
        self._lost: list[LostEdit] = []
        self._changed = self._forgotten = 0

    def run(self) -> OwnTakenIn:
        """Forgets what was forgotten elsewhere, then takes in what was changed and what is new there."""
        self._replica.note_deleted(self._deleted)
        sessions = self._forget_sessions()
        self._forget_insights()
        entries = self._entries()
        self._take_changes()
        self._take_episodes()
        known = self._known_here()
        wanted = [
            one
            for one in self._there.values()
            if one.subject not in known and one.subject not in entries and not self._replica.is_own(one)
        ]
        found = self._server.contents(wanted)
        wrong = [problem for one, data in found if (problem := self._replica.keep(one, data, mine=True))]
        self._problems += wrong
        lines = self._take_lines()
        self._replica.take_back(self._sharing, deleted=())
        self._remember({one.subject for one in wanted} | entries)
        changes = OtherMachines(
            changed=self._changed, forgotten=self._forgotten, sessions=sessions, lost=tuple(self._lost)
        )
        return OwnTakenIn(len(wanted) - len(wrong), lines, tuple(self._problems), changes)

    def _is_gone(self, subject: str) -> bool:
        """Whether both sides had it, and this user let go of it on another machine.

        A memory that never noted what was exchanged had it from there, or pushed it.
        """
        return subject in self._deleted_by_user and (subject in self._base or not self._is_noted)

    def _records(self) -> dict[str, SharedRecord]:
        return {subject_of_record(one): one for one in self._own.records()}

    def _forget_sessions(self) -> tuple[str, ...]:
        """Forgets the sessions that were forgotten elsewhere; which."""
        names = {session_of(path) for path in EpisodeStore(self._root / "episodes").files()}
        others = shared_episodes(self._root, {PREFIX + name for name in names})
        own = {name for name in names if PREFIX + name not in others} | (self._own.sessions_named() - names)
        gone = sorted(name for name in own if subject_of_session(name) in self._deleted_by_user)
        if self._forget is None:
            return ()
        for name in sorted(names - own):
            is_theirs = team_marker(self._root, PREFIX + name).exists()
            if not is_theirs and subject_of_session(name) in self._deleted_by_user:
                problem = (
                    f"forgotten on another machine of yours; git tracks it, so `helix-graph forget {name}` does it here"
                )
                self._problems.append(
                    ShareProblem(file=f"episodes/{PREFIX}{name}.json", line=1, problem=problem, kind="invalid")
                )
        for problem in self._forget(gone) if gone else ():
            self._problems.append(ShareProblem(file="forget", line=1, problem=problem, kind="invalid"))
        self._forgotten += len(gone)
        return tuple(gone)

    def _forget_insights(self) -> None:
        """Forgets, or merges, the insights that were forgotten or merged elsewhere."""
        records = self._records()
        forgotten: dict[str, str] = {}
        own = {key_of_insight(one.uid): one for one in records.values() if isinstance(one, SharedInsight)}
        here = self._own.every_insight()
        for record in self._read_lines(self._lines_about(here)):
            said = record.record
            if isinstance(said, ForgottenInsight):
                if (key := key_of_insight(said.uid)) not in own or self._is_gone(key):
                    forgotten[said.uid] = said.ts
            elif isinstance(said, Insight) and (said.state == "merged" or record.mark) and _is_later(said, here):
                self._replica.keep_back(record)
                self._changed += 1
        explained = {one.key for one in self._lines}
        has_lines = self._server.has_private()
        for key, one in own.items():
            is_harvested = one.own is not None and one.own.source == HARVEST_SOURCE  # it went with its session there
            if self._is_gone(key) and key not in explained and not (has_lines and is_harvested):
                forgotten[one.uid] = stamp(self._now())
        for uid in forgotten:
            mine, base = own.get(key_of_insight(uid)), self._base.get(key_of_insight(uid))
            if mine and base and is_edited_since(mine, base):
                self._lost.append(LostEdit(what=f"insight {mine.slug}", kept="forgotten", lost=""))
        if forgotten:
            self._forgotten += len(self._sharing.insights.forget_uids(forgotten))

    def _lines_about(self, uids: Iterable[str]) -> list[ServerLine]:
        """The lines that say something else of these insights than this memory does."""
        keys = set(map(key_of_insight, uids))
        here = {one.subject for one in self._own.private_lines()} if self._lines else set()
        return [one for one in self._lines if one.key in keys and one.subject not in here]

    def _read_lines(self, lines: Iterable[ServerLine]) -> list[PrivateRecord]:
        found = []
        for line, data in self._server.contents(lines):
            said = self._replica.read_line(line, data)
            if isinstance(said, ShareProblem):
                self._problems.append(said)
            else:
                found.append(said)
        return found

    def _entries(self) -> frozenset[str]:
        """Makes entries of topics what they became elsewhere; the subjects that are not to be brought in as new."""
        records = self._records()
        live = self._own.own_entries()
        replaced = self._own.replaced_entries()
        known = records.keys() | {subject_of_name(name) for name in self._own.forgotten(records.values())}
        is_any_gone = any(map(self._is_gone, known))
        missing = [one for one in self._there.values() if one.kind == "record" and one.subject not in known]
        new = dict[str, SharedEntry]()
        for one, data in self._server.contents(missing if is_any_gone else ()):
            if isinstance(said := self._replica.read(one, data), SharedEntry):
                new[one.subject] = said
        found = entry_changes(live, replaced, new, is_gone=self._is_gone, there=self._there)
        if found.versions:
            self._sharing.topics.put_versions(found.versions)
        if found.dead and self._replica.is_begun_here:
            self._server.delete(found.dead)
        for subject in found.used:
            self._replica.drop(self._there[subject])  # a question may have brought it in as a quotation
        self._changed += found.changed
        self._forgotten += found.deleted
        self._lost += found.lost
        return found.used

    def _take_changes(self) -> None:
        """Takes in what was changed elsewhere of records that are here."""
        here = self._records()
        merged = dict[str, SharedInsight]()
        wanted = []
        for subject, record in here.items():
            there, base, mine = self._there.get(subject), self._base.get(subject), sha256(encode(record)).hexdigest()
            if there is None or there.hash == mine or (base and base.there == there.hash):
                continue
            if isinstance(record, SharedInsight):
                wanted.append(there)
            elif base:  # nobody edits the rest of it: numbers of entries, and which insights an outcome names
                is_as_it_was = base.here == mine
                self._exchanged[subject] = Exchange(here=mine if is_as_it_was else there.hash, there=there.hash)
        for entry, data in self._server.contents(wanted):
            theirs, mine_now = self._replica.read(entry, data), here[entry.subject]
            if not (isinstance(theirs, SharedInsight) and isinstance(mine_now, SharedInsight)):
                self._problems += [theirs] if isinstance(theirs, ShareProblem) else []
                continue
            both, lost = merge_insights(mine_now, theirs, self._base.get(entry.subject))
            self._lost += [
                LostEdit(what=f"insight {both.slug}", kept="there" if one.was_here else "here", lost=one.value)
                for one in lost
            ]
            if not is_same_said(both, mine_now):
                merged[entry.subject] = both
                self._changed += 1
            is_theirs = is_same_said(both, theirs)
            self._exchanged[entry.subject] = exchange_of(theirs, "" if is_theirs else entry.hash, entry.hash)
        if merged:
            names = (session_of(path) for path in EpisodeStore(self._root / "episodes").files())
            self._sharing.put_edits(merged.values(), sessions=names)

    def _take_episodes(self) -> None:
        """Takes in the sessions that were read anew or corrected elsewhere; of two forms the one with more steps."""
        store = EpisodeStore(self._root / "episodes")
        files = {subject_of_session(session_of(path)): path for path in store.files()}
        changed = [
            one
            for one in self._there.values()
            if one.kind == "episode" and self._replica.is_own(one) and one.subject in files
            and (base := self._base.get(one.subject)) and base.there != one.hash
        ]  # fmt: skip
        for entry, data in self._server.contents(changed):
            path, base = files[entry.subject], self._base[entry.subject]
            try:
                mine = sha256(episode_as_pushed(path, self._corrections_of(path))).hexdigest()
            except OSError:  # pushing names it
                continue
            if mine != entry.hash and (mine == base.here or _steps(data, path) >= _steps(path.read_bytes(), path)):
                problem = self._replica.keep(entry, data, mine=True, anew=True)
                self._problems += [problem] if problem else []
                self._changed += not problem
            self._exchanged[entry.subject] = Exchange(here=entry.hash, there=entry.hash)

    def _corrections_of(self, path: Path) -> list[Correction]:
        return AssertionStore(self._root / "causality" / ASSERTIONS).corrections().get(path.stem, [])

    def _known_here(self) -> set[str]:
        """The subjects that are here, or that this memory let go of."""
        records = self._records()
        known = records.keys() | {subject_of_name(name) for name in self._own.forgotten(records.values())}
        known |= {one for one in self._there if self._replica.is_forgotten(one)}
        return known | {
            subject
            for subject, sessions in self._replica.state.rests_on.items()
            if subject not in records and any(map(self._replica.is_forgotten, sessions))
        }

    def _take_lines(self) -> int:
        """Keeps the lines of records that are not here, and that name nothing which was forgotten here; how many.

        Of two lines of a record, of two machines, the later one.
        """
        let_go = self._own.let_go()
        here = {one.key for one in self._own.private_lines()} | let_go
        here |= set(map(key_of_insight, self._own.uids()))
        corrections = AssertionStore(self._root / "causality" / ASSERTIONS)
        here |= {subject_of_name(f"correction {path.stem}") for path in corrections.files()}
        newest = {one.key: one for one in self._lines}
        wanted = [one for one in newest.values() if one.key not in here and not self._replica.is_let_go(one, let_go)]
        last = self._own.last_number()
        read = self._read_lines(wanted)
        found = [one for one in read if not (isinstance(one.record, TopicNumbers) and one.record.last <= last)]
        for one in found:
            self._replica.keep_back(one)
        self._compare_corrections(
            [one.record.correction() for one in found if isinstance(one.record, SessionCorrection)]
        )
        return len(found)

    def _compare_corrections(self, theirs: Iterable[Correction]) -> None:
        """Names the outcomes of sessions that were corrected on both sides since the last exchange."""
        pushed = {one.key for one in self._lines}
        own = AssertionStore(self._root / "causality" / ASSERTIONS).corrections()
        for there in theirs:
            for here in own.get(there.episode, ()):
                is_unsaid = subject_of_name(f"correction {name_of(here)}") not in pushed
                if isinstance(here, OutcomeCorrection) and isinstance(there, OutcomeCorrection) and is_unsaid:
                    first, last = sorted((here, there), key=lambda one: one.asserted_at)
                    what = f"the outcome of session {there.episode.removeprefix(PREFIX)}"
                    lost = f"{first.outcome}: {first.because}"
                    self._lost.append(LostEdit(what=what, kept="here" if last is here else "there", lost=lost))

    def _remember(self, new: set[str]) -> None:
        """Notes what both sides have now; nothing of what the server has no more."""
        for subject, record in self._records().items():
            there, noted = self._there.get(subject), self._exchanged.get(subject)
            if there and (subject in new or (noted and not noted.here)):
                mine = sha256(encode(record)).hexdigest()
                self._exchanged[subject] = exchange_of(record, mine, there.hash)
        for subject in new - self._exchanged.keys():
            if self._there[subject].kind == "episode":
                self._exchanged[subject] = Exchange(here=self._there[subject].hash, there=self._there[subject].hash)
        gone = self._base.keys() - self._there.keys() - self._records().keys()
        self._replica.note_exchanged({name: one for name, one in self._exchanged.items() if one.here}, gone=gone)


def _steps(data: bytes, path: Path) -> int:
    """How much an episode tells; nothing where it cannot be read."""
    try:
        return len(parts_of(decode_episode(data, path=path)))
    except InvalidEpisode:
        return -1


def _is_later(said: Insight, here: Mapping[str, Insight]) -> bool:
    """Whether a person edited an insight later than here."""
    return any(getattr(said, one) > getattr(here[said.uid], one) for one in _DATES)
