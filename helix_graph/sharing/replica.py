"""What a memory has of the team's server: others' episodes among its own, others' records, and how far it has read.

::

    episodes/episode-<session>.json         an episode, as all the others
    team/episodes/episode-<session>.json    by whom it is: what has this file came from the server
    team/records/<hash>.json                an insight, outcome or entry of a topic with its author
    team/state.json                         which server and project, and the last number that was read
    team/exchanged.json                     of own objects, what both sides had (`helix_graph.sharing.exchanged`)

An own episode is never replaced, and of two people's episodes of one name the first stays. A record that its author
deleted is marked until the memory has taken that in, so that a process may be killed at any point.
"""

from __future__ import annotations

import os
import time
from collections import defaultdict
from contextlib import suppress
from datetime import UTC, datetime
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec.structs import replace

from helix_episodes.corrections import parts_of
from helix_episodes.errors import HelixGraphError, WriteFailed
from helix_episodes.model import is_ahead, parse_timestamp
from helix_episodes.msgspec_types import read_json
from helix_episodes.normalization import one_line
from helix_episodes.safe_files import locked, make_folder, remove_file, write_atomically
from helix_episodes.store import PREFIX, EpisodeStore, decode_episode, encode_episode, is_session_id, session_of
from helix_graph.project import (
    FORGOTTEN,
    TEAM,
    TEAM_EPISODES,
    TEAM_FORGOTTEN,
    TEAM_RECORDS,
    TEAM_STATE,
    forgotten_elsewhere,
)
from helix_graph.project import digest as subject_of_name
from helix_graph.shared_authors import author_name
from helix_graph.sharing.exchanged import Exchange, note_exchanges, read_exchanges
from helix_graph.sharing.own_records import own_insights
from helix_graph.sharing.private_lines import is_key_of, read_line
from helix_graph.sharing.records import (
    Forgotten,
    SharedEntry,
    SharedInsight,
    ShareProblem,
    author_of,
    core,
    decode,
    digest,
    encode,
    find_secrets,
    subject_name,
    version_uid,
)
from helix_graph.sharing.server_schema import LARGEST_RECORD
from helix_graph.sharing.shared_files import TEAM_SERVER, checked_shared
from helix_graph.tombstones import Tombstones
from helix_graph.topics.fields import clipped
from helix_graph.trust import acceptance_of, content_digest, is_sealed, seal, team_marker

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from helix_graph.sharing.api import Sharing
    from helix_graph.sharing.model import ShareMerged
    from helix_graph.sharing.private_lines import PrivateLine, PrivateRecord
    from helix_graph.sharing.records import SharedRecord
    from helix_graph.sharing.server import ServerEntry, ServerLine


#: Its time says when the server could not be asked last.
_AWAY = "away"
#: Of somebody else's episode, in bytes; the longest that extraction leaves is a tenth of it.
_LONGEST_TEXT = 64 << 10
#: For how long objects of one author that come to nothing are searched for secrets, in seconds, and each of them when
#: that time is used up: what extraction writes takes a hundredth of it.
_LONGEST_SEARCH, _SHORTEST_SEARCH = 10.0, 0.2
#: Of what is wrong with an object, in characters.
_LONGEST_SENTENCE = 200


class ReplicaState(msgspec.Struct, frozen=True, kw_only=True):
    """Which server and project a memory takes part in, and the last ``number`` that it has read there.

    ``records`` are the subjects of those that it pushed, and ``rests_on`` says on which sessions insights
    and outcomes among them rest, as tombstones call these; ``let_go`` is the digest of the insights that were forgotten
    here when the server was last told. ``pushed`` is the digest of the own records that the server
    has, and ``mark`` that of the database when they were read. ``pending`` says that records were read which are not
    taken in yet.

    ``sent`` is what a memory that came from elsewhere pushed itself, or has as the server had it when this user took
    everything back: it replaces and deletes nothing else there.

    ``mine`` says that this user has said once that what the server has of theirs is their own word here.
    """

    server: str = ""
    project: str = ""
    number: int = 0
    records: frozenset[str] = frozenset()
    let_go: str = ""
    rests_on: dict[str, tuple[str, ...]] = {}
    pushed: str = ""
    mark: str = ""
    pending: bool = False
    sent: frozenset[str] = frozenset()
    mine: bool = False


class ReplicaItem(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Something that came from the server; ``record`` is the JSON of a record, and nothing of an episode."""

    author: str
    subject: str
    hash: str
    record: str = ""
    gone: bool = False


def subject_of_session(session: str) -> str:
    """What the server calls a session: the hash under which it would be remembered as forgotten."""
    return subject_of_name(session)


def subject_of_record(record: SharedRecord) -> str:
    """What the server calls what a record is about."""
    return subject_of_name(subject_name(record))


class Replica:
    """The part of the memory in ``root`` that came from the team's server."""

    def __init__(self, root: Path, store: EpisodeStore) -> None:
        self.root = root
        self._store = store
        self._forgotten = Tombstones(root)
        self._wasted: defaultdict[str, float] = defaultdict(float)
        self._changed: set[Path] = set()
        self._taken_back: list[SharedRecord] = []
        self._lines_back: list[PrivateRecord] = []
        self._is_unsynced = False

    @property
    def state(self) -> ReplicaState:
        """Where it stands; nowhere before the first time, and where this user named no such project in this memory."""
        found = self.written
        is_named = is_sealed(self.root, TEAM_STATE, self._named(found.project))
        return found if is_named or self.is_begun_here else ReplicaState()

    @property
    def is_begun_here(self) -> bool:
        """Whether this user began the memory on this machine: what it says of the past is then this user's word."""
        record = acceptance_of(self.root)
        return record is not None and record.how == "init"

    @property
    def is_trusted(self) -> bool:
        """Whether this user has said in this memory that the server speaks for them.

        Of a memory that came from elsewhere they say it each time.
        """
        return self.state.mine and self.is_begun_here

    def _named(self, project: str) -> bytes:
        """What the seal of a project's name is of: one memory may come in the place of another, in the same folder."""
        record = acceptance_of(self.root)
        return f"{project}\n{record.token if record else ''}".encode()

    @property
    def written(self) -> ReplicaState:
        """What is written of it, whoever wrote it: in a memory that came from elsewhere no reason to do anything."""
        return read_json(self.root / TEAM_STATE, ReplicaState) or ReplicaState()

    def change(self, **changes: Any) -> None:  # noqa: ANN401  (the fields of `ReplicaState`)
        """Writes down what has changed of where it stands; one process after another."""
        path = self.root / TEAM_STATE
        with WriteFailed.for_os_errors(path):
            make_folder(path.parent)
            with locked(path.parent):
                state = replace(self.state, **changes)
                if "project" in changes:
                    seal(self.root, TEAM_STATE, content_digest(self._named(state.project)))
                write_atomically(path, msgspec.json.encode(state, order="deterministic"))

    @property
    def exchanged(self) -> dict[str, Exchange]:
        """What was last exchanged of own objects, by subject; nothing where this memory takes part in nothing."""
        state = self.state
        return read_exchanges(self.root, server=state.server, project=state.project) if state.project else {}

    def note_exchanged(self, objects: dict[str, Exchange], *, gone: Iterable[str] = ()) -> None:
        """Remembers what was exchanged, beside what other processes have; nothing of what is ``gone``."""
        state = self.state
        note_exchanges(self.root, objects, gone=frozenset(gone), server=state.server, project=state.project)

    def reached(self, number: int, *, records: bool) -> None:
        """Writes down that everything up to this number was read, with ``records`` to take in."""
        if self._is_unsynced:
            os.sync()  # what was kept, before it counts as read
            self._is_unsynced = False
        self.change(number=number, **({"pending": True} if records else {}))

    def was_away(self, address: str, *, within: float) -> bool:
        """Whether the server at this address could not be asked within so many seconds before now."""
        path = self.root / TEAM / _AWAY
        with suppress(OSError):
            return 0 <= time.time() - path.stat().st_mtime < within and path.read_bytes() == _called(address)
        return False

    def note_away(self, address: str) -> None:
        """Remembers that the server at this address could not be asked now."""
        write_atomically(self.root / TEAM / _AWAY, _called(address))

    def note_back(self) -> None:
        """Remembers that the server was asked."""
        remove_file(self.root / TEAM / _AWAY)

    def lacks(self, entry: ServerEntry) -> bool:
        """Whether an object has to be read: it is none that is here already, as the server has it now."""
        if self.is_own(entry):
            return False
        known = _item(self._record(entry)) if entry.kind == "record" else self._episode(entry)
        return known is None or (known.author, known.hash) != (entry.author, entry.hash) or known.gone

    def is_own(self, entry: ServerEntry) -> bool:
        """Whether it is an episode of which this memory has one of its own."""
        return entry.kind == "episode" and entry.subject in self._own_sessions

    def keep(self, entry: ServerEntry, data: bytes, *, mine: bool = False, anew: bool = False) -> ShareProblem | None:
        """Keeps an object of this entry, and says why not where it cannot be used; an own one is left as it is.

        With ``mine`` it becomes this memory's own again; records do with `take_back`. With ``anew`` an own episode is
        what this user made of it on another machine.
        """

        def keep() -> None:
            if entry.kind == "episode":
                self._keep_episode(entry, data, mine=mine, anew=anew)
            else:
                self._keep_record(entry, data, mine=mine)
            self._is_unsynced = True

        return self._checked(entry.author, entry.kind, entry.subject, data, keep)

    def read(self, entry: ServerEntry, data: bytes) -> SharedRecord | ShareProblem:
        """A record of this user's own, to be looked at here; or why it cannot be used."""
        found: list[SharedRecord] = []
        problem = self._checked(entry.author, entry.kind, entry.subject, data, lambda: found.append(_own(entry, data)))
        return problem or found[0]

    def read_line(self, entry: ServerLine, data: bytes) -> PrivateRecord | ShareProblem:
        """A line of this user's own, to be looked at here; or why it cannot be used."""
        found: list[PrivateRecord] = []

        def read() -> None:
            said = read_line(data, now=datetime.now(UTC))
            if not is_key_of(said.record, entry.key):
                raise ValueError("its name is that of another record")
            found.append(said)

        return self._checked("", "line", entry.subject, data, read) or found[0]

    def keep_back(self, line: PrivateRecord) -> None:
        """Keeps a line of this user's own until `take_back`."""
        self._lines_back.append(line)

    def _checked(
        self, author: str, kind: str, subject: str, data: bytes, keep: Callable[[], None]
    ) -> ShareProblem | None:
        """Keeps what an author has on the server, if it has no secret and can be used; else what is wrong."""
        what = f"{kind} {subject[:12]}"
        where = f"{author_name(author)}: {what}" if author else what
        try:
            _check_sizes(kind, data)
            began = time.monotonic()
            left = max(_SHORTEST_SEARCH, _LONGEST_SEARCH - self._wasted[author])
            problem = next(find_secrets(where, data, seconds=left), None)
            if problem is not None:
                self._wasted[author] += time.monotonic() - began
                return problem
            keep()
        except (ValueError, RecursionError, HelixGraphError) as error:
            said = clipped(one_line(str(error)), width=_LONGEST_SENTENCE)  # it may quote what came
            return ShareProblem(file=where, line=1, problem=said, kind="invalid")
        return None

    def _keep_episode(self, entry: ServerEntry, data: bytes, *, mine: bool, anew: bool) -> None:
        episode = decode_episode(data)
        session = episode.session
        if not is_session_id(session):
            raise ValueError("its session id can name no file")
        path = self._store.path_of(session)
        if subject_of_session(session) != entry.subject or episode.id != PREFIX + session:
            raise ValueError("its name is that of another session")
        times = (parse_timestamp(one.timestamp) for one in (episode, *parts_of(episode)))
        if not mine and any(is_ahead(at) for at in times if at):
            raise ValueError("its time is in the future")  # it would be the newest for ever
        marker = team_marker(self.root, episode.id)
        known = _item(marker)
        is_of_another = known is not None and (known.author, known.subject) != (entry.author, entry.subject)
        is_kept = path.exists() and ((known is None and not anew) or (is_of_another and not mine))
        if self._forgotten.holds(session) or is_kept:
            return
        if mine:  # in the place of what somebody else pushed of this session, too
            write_atomically(path, encode_episode(episode), synced=False)
            remove_file(marker)
            self._markers.pop(entry.subject, None)
            self._own_sessions.add(entry.subject)
        else:
            _write_item(marker, ReplicaItem(author=entry.author, subject=entry.subject, hash=entry.hash))
            self._markers[entry.subject] = marker
            write_atomically(path, encode_episode(episode), synced=False)
        if self._forgotten.holds(session):  # meanwhile: whoever forgets it removes it after this
            remove_file(path)
            remove_file(marker)

    def _keep_record(self, entry: ServerEntry, data: bytes, *, mine: bool) -> None:
        record = _own(entry, data) if mine else _of_subject(entry, data)
        if mine:
            self._taken_back.append(record)
            self.drop(entry)  # as what came in as somebody's: it is this memory's own now
            return
        text = encode(core(record)).decode()
        item = ReplicaItem(author=entry.author, subject=entry.subject, hash=entry.hash, record=text)
        _write_item(self._record(entry), item)
        self._changed.add(self._record(entry))

    def drop(self, entry: ServerEntry) -> bool:
        """Removes what its author, or an administrator, deleted on the server; whether it was an episode here."""
        record = self._record(entry)
        known = _item(record)
        if known is not None:
            _write_item(record, replace(known, gone=True))
            self._changed.add(record)
        episode = self._episode(entry)
        if episode is None or episode.author != entry.author:
            return False
        marker = self._markers.pop(entry.subject)
        remove_file(self._store.folder / marker.name)
        return remove_file(marker)

    def is_forgotten(self, subject: str) -> bool:
        """Whether this user forgot it here."""
        return (self.root / FORGOTTEN / f"{subject}.json").exists()

    def is_let_go(self, line: PrivateLine | ServerLine, let_go: frozenset[str]) -> bool:
        """Whether something that a line rests on was forgotten here, or is among what was ``let_go`` of."""
        return any(one in let_go or self.is_forgotten(one) for one in line.rests_on)

    def note_deleted(self, subjects: Iterable[str]) -> bool:
        """Remembers what this user deleted on the server, from whichever machine; whether any of it is new."""
        before = forgotten_elsewhere(self.root)
        if before == (after := before.union(subjects)):
            return False
        with WriteFailed.for_os_errors(path := self.root / TEAM_FORGOTTEN):
            write_atomically(path, msgspec.json.encode(sorted(after)))
        return True

    def take_back(self, sharing: Sharing, *, deleted: Iterable[str]) -> None:
        """Makes the records that were kept as this memory's own a part of it, once the episodes are there.

        ``deleted`` are the subjects of what this user deleted on the server; harvesting does not bring it back here.
        """
        self.note_deleted(deleted)
        found, self._taken_back = self._taken_back, []
        lines, self._lines_back = self._lines_back, []
        if any(_item(path) for path in self._changed):  # those that came in as somebody's go first
            self.take_in(sharing, whole=False)
        sharing.take_back(found, lines, sessions=(session_of(path) for path in self._store.files()))

    def take_in(self, sharing: Sharing, *, whole: bool) -> ShareMerged:
        """Makes the memory's insights, outcomes and entries those of the records, and lets go of deleted ones.

        Only of records that were kept or dropped by this object, unless ``whole``: a process before this one may have
        been killed. Where one was deleted, all are read, since another author may have the same.
        """
        items = {path: item for path in sorted(self._changed) if (item := _item(path))}
        if whole or any(one.gone for one in items.values()):
            items = {path: one for path in sorted((self.root / TEAM_RECORDS).glob("*.json")) if (one := _item(path))}
        present = [(decode(one.record.encode()), author_name(one.author)) for one in items.values() if not one.gone]
        kept = {digest(record) for record, _ in present}
        left = [
            (Forgotten(of=name), author_name(one.author))
            for one in items.values()
            if one.gone and (name := _name_here(one)) and name not in kept
        ]
        merged = sharing.take_in([*present, *left], through=TEAM_SERVER)
        for path, one in items.items():
            if one.gone:
                remove_file(path)
        return merged

    def _record(self, entry: ServerEntry) -> Path:
        name = sha256(f"{entry.author}\0{entry.subject}".encode()).hexdigest()[:32]
        return self.root / TEAM_RECORDS / f"{name}.json"

    def _episode(self, entry: ServerEntry) -> ReplicaItem | None:
        """What came from the server of a session, whoever wrote it."""
        marker = self._markers.get(entry.subject)
        return _item(marker) if marker else None

    @cached_property
    def _markers(self) -> dict[str, Path]:
        """The markers of episodes, by what the server calls these."""
        paths = (self.root / TEAM_EPISODES).glob(f"{PREFIX}*.json")
        return {subject_of_session(session_of(path)): path for path in paths}

    @cached_property
    def _own_sessions(self) -> set[str]:
        """What the server calls the sessions whose episodes did not come from it."""
        sessions = (session_of(path) for path in self._store.files())
        return set(map(subject_of_session, sessions)) - self._markers.keys()


def claim(root: Path, sessions: Iterable[str]) -> None:
    """Takes episodes for this memory's own: they were recorded from logs on this machine."""
    for session in sessions:
        remove_file(team_marker(root, PREFIX + session))


def _of_subject(entry: ServerEntry, data: bytes) -> SharedRecord:
    """The record of an entry, which is about what the entry says."""
    record = checked_shared(data, now=datetime.now(UTC))
    if isinstance(record, Forgotten) or subject_of_record(record) != entry.subject:
        raise ValueError("its name is that of another record")
    return record


def _own(entry: ServerEntry, data: bytes) -> SharedRecord:
    """A record as this user's own; one whose ``own`` part is out of its bounds costs itself alone."""
    record = _of_subject(entry, data)
    if isinstance(record, SharedInsight) and record.own:
        sessions = {link.episode: PREFIX for link in record.own.links}
        list(own_insights([record], sessions, {}, now=datetime.now(UTC)))
    return record


def _check_sizes(kind: str, data: bytes) -> None:
    """Refuses what would take long to search: redaction takes up to a second for a text of this length."""
    if kind != "episode" and len(data) > LARGEST_RECORD:
        raise ValueError(f"it has {len(data):,} bytes; a {kind} has at most {LARGEST_RECORD:,}")
    longest = _LONGEST_TEXT if kind == "episode" else LARGEST_RECORD
    if any(len(line) > longest for line in data.splitlines()):
        raise ValueError(f"a text of it has more than {longest:,} bytes")


def _called(address: str) -> bytes:
    """Which address it is, without its password and settings: no trace of these may lie on a disk."""
    before, _, after = address.partition("?")[0].rpartition("@")
    role = before.removeprefix("postgresql://").partition(":")[0]
    return sha256(f"{role}@{after}".encode()).hexdigest().encode()


def _name_here(item: ReplicaItem) -> str:
    """By what the memory forgets a record that came from the server; an outcome has no such name."""
    record = decode(item.record.encode())
    if isinstance(record, SharedInsight):
        return version_uid(record.uid, author_of(TEAM_SERVER, author_name(item.author)))
    return digest(record) if isinstance(record, SharedEntry) else ""


def _item(path: Path) -> ReplicaItem | None:
    return read_json(path, ReplicaItem)


def _write_item(path: Path, item: ReplicaItem) -> None:
    write_atomically(path, msgspec.json.encode(item), synced=False)
