"""What this memory gives to the team's server: its own episodes, records and lines, and what is to be deleted there.

An object is pushed if the server does not have it as it is, it has no secret and it is not too large. What was
forgotten here is deleted there, and looked for: what is left and who can delete it. What is merely missing here stays.
What another machine of this user has changed there since the last exchange is not replaced: it is `behind` until that
change has been taken in here.
"""

from __future__ import annotations

from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from helix_episodes.corrections import OutcomeRevision, corrected
from helix_episodes.errors import InvalidEpisode
from helix_episodes.safe_files import read_own
from helix_episodes.store import PREFIX, EpisodeStore, decode_episode, encode_episode
from helix_graph.errors import TeamServerFailed
from helix_graph.graph.assertions import FOLDER as ASSERTIONS
from helix_graph.graph.assertions import AssertionStore
from helix_graph.project import FORGOTTEN, SERVER_VARIABLE
from helix_graph.project import digest as subject_of_name
from helix_graph.shared_authors import author_name
from helix_graph.sharing.exchanged import Exchange, exchange_of
from helix_graph.sharing.model import ServerErasure
from helix_graph.sharing.private_lines import KEY_OF_NUMBERS, key_of_insight
from helix_graph.sharing.records import SharedFeedback, SharedInsight, ShareProblem, encode, find_secrets
from helix_graph.sharing.replica import subject_of_record, subject_of_session
from helix_graph.sharing.server import ServerObject, TeamServer, batches
from helix_graph.sharing.server_schema import LARGEST_OBJECT, LARGEST_RECORD
from helix_graph.trust import shared_episodes

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator

    from helix_episodes.corrections import Correction
    from helix_graph.sharing.own_records import OwnRecords
    from helix_graph.sharing.private_lines import PrivateLine
    from helix_graph.sharing.records import SharedRecord
    from helix_graph.sharing.replica import Replica


class Pushing:
    """What goes from this memory to the server, and what is counted of it.

    A memory that came from elsewhere changes nothing there that it did not push itself.
    """

    def __init__(self, server: TeamServer, replica: Replica, own: OwnRecords) -> None:
        self._server, self._replica, self._own = server, replica, own
        self._root = own.root
        #: The hashes of what the server has.
        self._there = server.own()
        #: What alone may be replaced or deleted there; without it everything that this role has pushed.
        self._sent = None if replica.is_begun_here else set(replica.state.sent)
        self._base = replica.exchanged
        self._exchanged: dict[str, Exchange] = {}
        self.deleted: set[str] = set()
        self.unchanged: set[str] = set()
        #: What another machine changed there, and is not so here yet.
        self.behind: set[str] = set()
        #: What was deleted there before, and is not stored again.
        self.refused: set[str] = set()
        self.stored = self.lines_pushed = 0
        self._pushable: dict[str, SharedRecord] = {}
        self.missing: frozenset[str] = frozenset()
        self.problems = list(own.damaged())

    def records(self, own: Iterable[tuple[SharedRecord, ServerObject]]) -> Iterator[ServerObject]:
        """Those of the own records that the server does not have as they are."""
        for record, one in own:
            if one.subject in self._pushable:  # two entries of the same words, topic and time are one to everybody else
                continue
            if (
                isinstance(record, SharedFeedback)
                and one.subject not in self._there
                and any(self._is_others(key_of_insight(uid)) for uid in (*record.helped, *record.present))
            ):
                problem = "it judges what another memory of yours pushed, so it stays here"
                self.problems.append(
                    ShareProblem(file=f"the outcome {record.id}", line=1, problem=problem, kind="invalid")
                )
                continue
            self._pushable[one.subject] = record
            yield from self._checked(f"the {type(record).__name__} {one.subject[:12]}", one)

    def episodes(self, progress: Callable[[int, int, Path], None] | None) -> Iterator[ServerObject]:
        """Those own episodes that the server does not have as they are, as people have corrected them.

        What later sessions show of an earlier one each memory finds by itself.
        """
        files = {path.stem: path for path in EpisodeStore(self._root / "episodes").files()}
        corrections = AssertionStore(self._root / "causality" / ASSERTIONS).corrections()
        shared = shared_episodes(self._root, files)
        for number, (name, path) in enumerate(files.items()):
            if progress:
                progress(number, len(files), path)
            if name not in shared:
                subject = subject_of_session(name.removeprefix(PREFIX))
                try:
                    data = episode_as_pushed(path, corrections.get(name, ()))
                except OSError as error:
                    problem = f"it cannot be read: {error.strerror or error}"
                    file = f"episodes/{path.name}"
                    self.problems.append(ShareProblem(file=file, line=1, problem=problem, kind="invalid"))
                    continue
                one = ServerObject(subject=subject, kind="episode", data=data)
                yield from self._checked(f"episodes/{path.name}", one)

    def push(self, own: Iterable[ServerObject], *, mine: bool = False) -> None:
        """Pushes what the server does not have, then deletes there what was forgotten here.

        With ``mine`` what is here as the server has it counts as pushed from here.
        """
        for part in batches(own, size=lambda one: len(one.data)):
            replaced = {self._there[one.subject] for one in part if one.subject in self._there}
            stored = self._server.store(part, replacing=replaced)
            self.refused |= {one.subject for one in part} - stored
            self.stored += len(stored)
            self._note_sent(one.subject for one in part)
            for one in part:
                if one.subject in stored:
                    record = self._pushable.get(one.subject)
                    self._exchanged[one.subject] = exchange_of(record, one.hash, one.hash)
        forgotten = self._forgotten()
        self.deleted = set(filter(self._may_change, forgotten))
        self._note_sent(self.unchanged - forgotten if mine else ())
        if self.deleted:
            self._explain(self.deleted)
            self._server.delete(self.deleted)
        self._replica.note_exchanged(self._exchanged, gone=self.deleted)
        self.missing = (self._replica.state.records & self._there.keys()) - self._pushable.keys() - self.deleted
        rests_on = {subject_of_name(name): found for name, found in self._own.sessions().items()}
        kept = {subject: found for subject, found in self._replica.state.rests_on.items() if subject in self.missing}
        records, sent = frozenset(self._pushable) | self.missing, frozenset(self._sent or ())
        self._replica.change(records=records, rests_on={**kept, **rests_on}, sent=sent)

    def _forgotten(self) -> set[str]:
        """What the server has of this role that somebody forgot here; what is merely missing here is no such thing."""
        names = self._own.forgotten(self._pushable.values())
        subjects = {subject_of_name(name) for name in names} | set(filter(self._replica.is_forgotten, self._there))
        # What rested on a forgotten session went with it, and nothing here tells of it.
        subjects |= {
            subject
            for subject, sessions in self._replica.state.rests_on.items()
            if subject not in self._pushable and any(map(self._replica.is_forgotten, sessions))
        }
        return subjects & self._there.keys()

    def _explain(self, deleted: Collection[str]) -> None:
        """Pushes the lines that say of insights, before they are deleted there, whether they were merged or forgotten.

        Another machine of this user would take a merged one for forgotten.
        """
        if self._server.has_private():
            lines = [one for one in self._own.private_lines() if one.key in deleted and self._may_say(one, taken=())]
            there = {one.subject for one in self._server.private()} if lines else set[str]()
            new: set[str] = set()
            for part in batches(self._lines_lacking(lines, there), size=lambda one: len(one.data)):
                new |= self._server.push_private(part)
            self.lines_pushed += len(new)
            self._note_sent(new)

    def push_lines(self, *, is_forgetting: bool = False, mine: bool = False) -> None:
        """Pushes what the server keeps for this user alone, and deletes there what is no more so.

        Lines quote what people asked, so new ones wait for `sync`, as sessions do: where somebody only forgets, a line
        is pushed in the place of one that said more of the same record, or if it says that an insight was forgotten.

        A line goes when another one of the same record comes, when the server has its insight as one that this memory
        shares, and when something that it names was forgotten. What is merely missing here stays.
        """
        let_go = self._own.let_go()
        there = {one.subject: one for one in self._server.private()}
        own = {one.subject: one for one in self._own.private_lines() if not self._replica.is_let_go(one, let_go)}
        new: set[str] = set()
        if self._server.has_private():
            known = {*let_go, *(one.key for one in there.values())}
            taken = {one.key for one in there.values() if not self._may_change(one.subject)}
            wanted = (
                one
                for one in own.values()
                if (not is_forgetting or one.key in known) and self._may_say(one, taken=taken)
            )
            checked = self._lines_lacking(wanted, there)
            for part in batches(checked, size=lambda one: len(one.data)):
                new |= self._server.push_private(part)
        self.lines_pushed += len(new)
        followed = {own[subject].key for subject in new}
        shared = (one for subject, one in self._pushable.items() if subject in self._there)
        followed |= {key_of_insight(one.uid) for one in shared if isinstance(one, SharedInsight)}
        followed |= self._own.replaced_twins()
        gone = {
            subject
            for subject, one in there.items()
            if subject not in own
            and self._may_change(subject)
            and (one.key in followed or self._replica.is_let_go(one, let_go))
        }
        if gone:
            self._server.delete(gone)
        self._note_sent(new | (own.keys() & there.keys() if mine else set()))
        self._replica.change(let_go=digest_of_all(let_go), sent=frozenset(self._sent or ()))

    def _lines_lacking(self, own: Iterable[PrivateLine], there: Collection[str]) -> Iterator[PrivateLine]:
        """Those of the own lines that are not ``there`` and may be pushed."""
        for one in own:
            if one.subject not in there and self._may_be_pushed(
                f"the line {one.subject[:12]}", one.data, largest=LARGEST_RECORD
            ):
                yield one

    def _checked(self, name: str, one: ServerObject) -> Iterator[ServerObject]:
        """The object, unless the server has it as it is, or it may not be pushed."""
        largest = LARGEST_OBJECT if one.kind == "episode" else LARGEST_RECORD
        there, base = self._there.get(one.subject), self._base.get(one.subject)
        if there == one.hash or (base and (base.here, base.there) == (one.hash, there)):
            self.unchanged.add(one.subject)
            if there == one.hash:
                self._exchanged[one.subject] = exchange_of(self._pushable.get(one.subject), one.hash, one.hash)
        elif there and base and base.there != there and self._may_change(one.subject):
            self.behind.add(one.subject)
        elif one.subject in self._there and not self._may_change(one.subject):
            problem = "the server has it in another form, pushed from another memory of yours: that one stays"
            self.problems.append(ShareProblem(file=name, line=1, problem=problem, kind="invalid"))
        elif self._may_be_pushed(name, one.data, largest=largest):
            yield one

    def _may_change(self, subject: str) -> bool:
        """Whether what the server has of a subject may be replaced or deleted from here."""
        return self._sent is None or subject in self._sent

    def _may_say(self, line: PrivateLine, *, taken: Collection[str]) -> bool:
        """Whether a line may be pushed: from a memory that came from elsewhere none about what others pushed.

        ``taken`` are the keys of lines that the server has from other memories of this user.
        """
        if self._sent is None:
            return True
        named = {line.key, *line.rests_on}
        return line.key != KEY_OF_NUMBERS and named.isdisjoint(taken) and not any(map(self._is_others, named))

    def _is_others(self, subject: str) -> bool:
        return subject in self._there and not self._may_change(subject)

    def _note_sent(self, subjects: Iterable[str]) -> None:
        """Remembers what was pushed from here, where that counts."""
        if self._sent is not None:
            self._sent.update(subjects)

    def _may_be_pushed(self, name: str, data: bytes, *, largest: int) -> bool:
        """Whether it is not too large and has no secret; else it is noted why."""
        found = list(find_secrets(name, data)) if len(data) <= largest else []
        if len(data) > largest:
            problem = f"it has {len(data):,} bytes; the server takes {largest:,}"
            found = [ShareProblem(file=name, line=1, problem=problem, kind="invalid")]
        self.problems += found
        return not found


def own_objects(own: OwnRecords) -> list[tuple[SharedRecord, ServerObject]]:
    """Own insights, their outcomes and entries of topics, as they are and as the server has them."""
    return [
        (one, ServerObject(subject=subject_of_record(one), kind="record", data=encode(one))) for one in own.records()
    ]


def episode_as_pushed(path: Path, corrections: Iterable[Correction]) -> bytes:
    """An episode as people have corrected it, the oldest correction first.

    Raises:
        OSError: It cannot be read, or another user may have written it.
    """
    data = read_own(path)
    said = [each for each in corrections if not isinstance(each, OutcomeRevision)]
    if said:
        with suppress(InvalidEpisode):  # compiling names it
            data = encode_episode(corrected(decode_episode(data, path=path), said))
    return data


def digest_of_all(names: Iterable[str]) -> str:
    """What differs as soon as one more or less is among them."""
    return sha256("".join(sorted(names)).encode()).hexdigest()


def digest_of(records: Iterable[tuple[SharedRecord, ServerObject]]) -> str:
    """What differs as soon as one of the records does."""
    lines = sorted(f"{one.subject} {one.hash}\n" for _, one in records)
    return sha256("".join(lines).encode()).hexdigest()


#: What deletes on the server what could not be deleted there at once. A memory that came from elsewhere deletes only
#: what it pushed itself.
_LATER = "the next `helix-graph sync --to` does it"
_LATER_ELSEWHERE = (
    "the next `helix-graph sync --to` deletes there what it pushed itself; forget the rest in the memory that pushed it"
)


def erase(replica: Replica, own: OwnRecords, address: str, sessions: Iterable[str]) -> ServerErasure | None:
    """As `helix_graph.sharing.team.Team.erase`, on the server at this address."""
    state, is_known = replica.state, bool(replica.written.project)
    later = _LATER if replica.is_begun_here else _LATER_ELSEWHERE
    if not state.project:
        return ServerErasure(problem=f"this memory came from elsewhere; {later}") if is_known else None
    if not address:
        return ServerErasure(problem=f"no server is named, so set {SERVER_VARIABLE}; {later}")
    try:
        with TeamServer(address, state.project) as server:
            standing = server.standing()  # whoever is no member any more sees nothing there, though it is not gone
            if standing.server != state.server:
                other = "is another server than the one that this memory takes part in"
                return ServerErasure(problem=f"{SERVER_VARIABLE} {other}; name that one, and {later}")
            deleted = set[str]()
            if standing.may_write:
                pushing = Pushing(server, replica, own)
                pushing.push(pushing.records(own_objects(own)))
                pushing.push_lines(is_forgetting=True)
                deleted = pushing.deleted
            forgotten = {path.stem for path in (replica.root / FORGOTTEN).glob("*.json")}
            found = server.trace(forgotten | deleted, rests_on=forgotten | own.let_go())
            others = server.other_authors(map(subject_of_session, sessions))
    except TeamServerFailed as error:
        return ServerErasure(problem=f"{error}; {later}")
    reads = f"{author_name(standing.role)} may only read there; an administrator deletes what is left"
    return ServerErasure(
        deleted=len(deleted),
        left=found.objects,
        tombstones=found.tombstones,
        others=sum(one.objects for one in others),
        authors=tuple(author_name(one.author) for one in others),
        problem=reads if found.objects and not standing.may_write else "",
    )
