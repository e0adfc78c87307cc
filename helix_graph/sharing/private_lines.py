"""What the server keeps of a memory's insights for its author alone: lines of an export (`insights.exported_lines`).

Shared records say what others need. The rest of a memory goes as lines: what was handed over, withheld and passed over,
why an outcome was judged as it was, how idle time was counted, what was merged or forgotten, what an import of
somebody's file brought, with the file's mark, and what was corrected of sessions. Row-level security shows them to
their author only, so they name sessions as they are. They come back with ``--mine`` as an export of one's own does
(``import --own``): what a file brought stays a quotation from that file and gives no rank. What came from the team is
no part of them: its author has it there.

A line is addressed by its content, so a changed record is another line. Its ``key`` says which record it is about, and
``rests_on`` which sessions and insights it names, as tombstones call them: whoever forgets one of these, on any
machine of theirs, deletes every line that names it.
"""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import msgspec

from helix_episodes.corrections import OutcomeRevision
from helix_episodes.store import PREFIX
from helix_graph.database import ANY_OF, as_list
from helix_graph.graph.assertions import CORRECTIONS, decode_assertion, encode_assertion, name_of
from helix_graph.graph.assertions import FOLDER as ASSERTIONS
from helix_graph.helix_db import stamp
from helix_graph.insights import feedback, rows
from helix_graph.insights.exported_lines import line_of, record_of
from helix_graph.insights.links import links_where
from helix_graph.insights.model import FeedbackEntry, ForgottenInsight, ImportMark, Injection, Insight, InsightLink
from helix_graph.insights.transfer import take_in
from helix_graph.project import digest
from helix_graph.sharing.records import SharedEntry
from helix_graph.sharing.records import digest as record_digest
from helix_graph.sharing.shared_files import checked_shared, feedback_entry, is_from_team

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from helix_episodes.corrections import Correction
    from helix_graph.insights.context import InsightContext
    from helix_graph.insights.model import Record
    from helix_graph.sharing.records import SharedFeedback

#: Of what others forgot nothing is known, not even when; so that everybody remembers the same.
NO_TIME = stamp(datetime(1970, 1, 1, tzinfo=UTC))

#: The beginning of a line of topics; those of insights begin with the word that an export has there.
_TOPIC = b'{"kind":'


class PrivateLine(msgspec.Struct, frozen=True, kw_only=True):
    """A record of one's own, as the server keeps it for its author alone; all but ``data`` are hashes."""

    key: str
    rests_on: tuple[str, ...]
    data: bytes

    @property
    def hash(self) -> str:
        """The content's address."""
        return sha256(self.data).hexdigest()

    @property
    def subject(self) -> str:
        """What the server calls the line, and its tombstone."""
        return digest(f"line {self.hash}")


#: More entries than anybody writes; another number was forged or damaged.
_NUMBERS_END = 2**40
#: The key of the line with the last number that was given.
KEY_OF_NUMBERS = digest("topic numbers")


class TopicNumbers(msgspec.Struct, frozen=True, kw_only=True, tag_field="kind", tag="topic-numbers"):
    """The last number that was given in the log of topics: a deleted entry's is no other's."""

    last: Annotated[int, msgspec.Meta(ge=1, lt=_NUMBERS_END)]


class SessionCorrection(msgspec.Struct, frozen=True, kw_only=True, tag_field="kind", tag="correction"):
    """What a person corrected of a session of their own; ``assertion`` is the JSON of it, as its file has it."""

    assertion: str

    def correction(self) -> Correction:
        """What the file says.

        Raises:
            InvalidAssertion, ValueError: It is none.
        """
        found = decode_assertion(self.assertion.encode(), path=Path(ASSERTIONS))
        if not isinstance(found, CORRECTIONS) or isinstance(found, OutcomeRevision):
            raise ValueError("it is no correction of a session")  # noqa: TRY004  (of what a server says)
        return found


#: What a line says of topics: one of several entries that are the same in all but their numbers, or the last number.
TopicLine = SharedEntry | TopicNumbers


class PrivateRecord(NamedTuple):
    """What a line says: a record, and which import brought it, if one did."""

    record: Record | TopicLine | SessionCorrection
    mark: ImportMark | None


class ShownToAll(NamedTuple):
    """What the server has for everybody of the log, which is no line, and what is others' anyway.

    ``insights`` and ``outcomes`` are this memory's own; insights ``of_others`` were harvested from others' sessions.
    """

    insights: Collection[str]
    of_others: Collection[str]
    outcomes: Sequence[SharedFeedback]


def key_of(record: Record | TopicNumbers | SessionCorrection) -> str:
    """Which record it is, whatever it says: an insight's is the same when it was forgotten."""
    if isinstance(record, SessionCorrection):
        return digest(f"correction {name_of(record.correction())}")
    if isinstance(record, Insight | ForgottenInsight):
        return key_of_insight(record.uid)
    if isinstance(record, TopicNumbers):
        return KEY_OF_NUMBERS
    kind = {InsightLink: "link", FeedbackEntry: "feedback", Injection: "injection"}[type(record)]
    return digest(f"{kind} {record.id}")


def is_key_of(record: Record | TopicLine | SessionCorrection, key: str) -> bool:
    """Whether a line with this key may say that; which of several entries it is does not follow from an entry."""
    return isinstance(record, SharedEntry) or key_of(record) == key


def key_of_insight(uid: str) -> str:
    """What a line that is about an insight has for a key, and one that names it among what it rests on."""
    return digest(f"insight {uid}")


def key_of_twin(name: str, number: int) -> str:
    """The key of the entry that is the second, third… of those with this digest."""
    return digest(f"entry {name} {number}")


def read_line(data: bytes, *, now: datetime) -> PrivateRecord:
    """What a line says, as it may be taken in.

    Raises:
        msgspec.MsgspecError, ValueError, InvalidArgument: It is none, or a part is out of its bounds.
    """
    if data.startswith(_TOPIC):
        return PrivateRecord(_topic_line(data, now=now), None)
    match [record_of(line, now=now) for line in map(bytes.decode, data.splitlines())]:
        case [record] if not isinstance(record, ImportMark):
            mark = None
        case [record, ImportMark() as mark] if not isinstance(record, ImportMark):
            pass
        case _:
            raise ValueError("it is neither a record nor a record with its mark")
    if mark and mark.id != _id_of(record):
        raise ValueError("its mark is that of another record")
    return PrivateRecord(record, mark)


def _topic_line(data: bytes, *, now: datetime) -> TopicLine | SessionCorrection:
    line: TopicLine | SessionCorrection = msgspec.json.decode(data, type=TopicLine | SessionCorrection)
    if isinstance(line, SharedEntry):
        checked_shared(data, now=now)
    return line


def uid_of(record: Record | TopicLine | SessionCorrection) -> str:
    """The insight that a record is, or was; nothing of what merely speaks of insights."""
    return record.uid if isinstance(record, Insight | ForgottenInsight) else ""


def take_lines_back(context: InsightContext, records: list[Record], lines: Iterable[PrivateRecord]) -> None:
    """Takes records and what lines say for this memory's own, but for what a line's mark says that a file brought."""
    given = list(lines)
    entries = as_list(one.record.id for one in given if isinstance(one.record, FeedbackEntry))
    with context.database.writing() as connection:
        # They came without their reasons, from the shared records alone.
        bare = [one.id for one in feedback.read_entries(connection, f"{feedback.COUNTED} AND id {ANY_OF}", entries)]
        for identity in bare:
            feedback.remove_entries(connection, identity)
    marks = [one.mark for one in given if one.mark]
    said = [one.record for one in given if not isinstance(one.record, TopicLine | SessionCorrection)]
    take_in(context, [*records, *said], marks=marks)


def sessions_of(lines: Iterable[PrivateRecord]) -> frozenset[str]:
    """The sessions that lines name, as themselves."""
    found: set[str | None] = set()
    for record, _ in lines:
        if isinstance(record, Insight | InsightLink | FeedbackEntry):
            found.add(record.episode)
        elif isinstance(record, Injection):
            found.add(record.session)
    return frozenset(one for one in found if one)


def entry_lines(entries: Iterable[SharedEntry], *, last: int) -> Iterator[PrivateLine]:
    """The lines of topics: of entries that are the same to others all but the first, and the last number given."""
    seen: Counter[str] = Counter()
    newest = 0
    for one in entries:
        name = record_digest(one)
        seen[name] += 1
        newest = max(newest, one.own.id if one.own else 0)
        if seen[name] > 1:
            yield PrivateLine(key=key_of_twin(name, seen[name]), rests_on=(), data=msgspec.json.encode(one))
    if newest < last < _NUMBERS_END:
        numbers = TopicNumbers(last=last)
        yield PrivateLine(key=key_of(numbers), rests_on=(), data=msgspec.json.encode(numbers))


def correction_lines(corrections: Mapping[str, Iterable[Correction]]) -> Iterator[PrivateLine]:
    """The lines of what a person corrected of sessions, by their episodes' ids; later evidence each memory finds."""
    for episode, found in corrections.items():
        for one in found:
            if not isinstance(one, OutcomeRevision):
                line = SessionCorrection(assertion=encode_assertion(one).decode())
                rests_on = (digest(episode.removeprefix(PREFIX)),)
                yield PrivateLine(key=key_of(line), rests_on=rests_on, data=msgspec.json.encode(line))


def private_lines(connection: sqlite3.Connection, to_all: ShownToAll) -> Iterator[PrivateLine]:
    """The lines of a memory's insights and their log."""
    named = {name: uid for name, uid in connection.execute("SELECT name, uid FROM insight")}  # noqa: C416  (pairs of a row)
    asked = "SELECT uid, name FROM insight WHERE slug IN (SELECT slug FROM insight GROUP BY slug HAVING count(*) > 1)"
    called = {uid: name for uid, name in connection.execute(asked)}  # noqa: C416  (pairs of a row)
    marks = {
        one: ImportMark(id=one, file=file, sha256=sha, ts=ts, name=called.get(one, ""))
        for one, file, sha, ts in connection.execute("SELECT id, file, sha256, ts FROM insight_import")
    }
    said = dict(_as_shared(connection, to_all.outcomes))
    for record in _records(connection, away=frozenset({*to_all.insights, *to_all.of_others})):
        identity = _id_of(record)
        mark = marks.get(identity)
        if mark and is_from_team(mark.file):
            continue
        if isinstance(record, FeedbackEntry) and said.get(identity) == msgspec.structs.replace(record, episode=None):
            continue
        lines = [line_of(record), *([line_of(mark)] if mark else ())]
        rests_on = tuple(sorted(set(_rests_on(record, named))))
        yield PrivateLine(key=key_of(record), rests_on=rests_on, data="\n".join(lines).encode())


def _records(connection: sqlite3.Connection, *, away: frozenset[str]) -> Iterator[Record]:
    """What may be a line: all but insights that are ``away``, with what a shared record says of their links."""
    for uid, ts in connection.execute("SELECT uid, ts FROM insight_forgotten WHERE ts <> ? ORDER BY uid", (NO_TIME,)):
        yield ForgottenInsight(uid, ts)
    for stored in rows.sound(connection):
        if stored.insight.uid not in away:
            yield stored.insight
    brought = {one for (one,) in connection.execute("SELECT id FROM insight_import")}
    for link in links_where(connection, "1 ORDER BY id"):
        if link.id in brought or link.insight not in away:
            yield link
    yield from feedback.read_entries(connection)
    yield from feedback.read_injections(connection)


def _as_shared(
    connection: sqlite3.Connection, outcomes: Iterable[SharedFeedback]
) -> Iterator[tuple[str, FeedbackEntry]]:
    """Outcomes as the shared records bring them back, by id; what is like that is no line."""
    slugs = {uid: slug for uid, slug in connection.execute("SELECT uid, slug FROM insight")}  # noqa: C416  (pairs of a row)
    for one in outcomes:
        entry = feedback_entry(one, [uid for uid in (*one.helped, *one.present) if uid in slugs], slugs)
        yield one.id, msgspec.structs.replace(entry, episode=None)


def _rests_on(record: Record, named: dict[str, str]) -> Iterator[str]:
    """The sessions and insights that a record names, as tombstones call them."""
    sessions: list[str | None] = []
    uids: list[str] = []
    if isinstance(record, Insight):
        sessions, uids = [record.episode], [record.uid]
    elif isinstance(record, InsightLink):
        sessions, uids = [record.episode], [record.insight, record.target]
    elif isinstance(record, FeedbackEntry):
        sessions, uids = [record.episode], [verdict.uid for verdict in record.verdicts]
        uids += [named[name] for name in record.names if name in named]
    elif isinstance(record, Injection):
        sessions = [record.session, record.task]
        names = (*record.shown, *(one.name for one in record.withheld), *record.passed_over)
        uids = [named[name] for name in names if name in named]
    yield from (digest(session.removeprefix(PREFIX)) for session in sessions if session)
    yield from (key_of_insight(uid) for uid in uids if uid)


def _id_of(record: Record) -> str:
    return record.uid if isinstance(record, Insight | ForgottenInsight) else record.id
