"""What a team's server is asked: one project, one object after the other, with retries.

Every question may be asked again after a lost connection, since asking twice changes nothing.

Answers are checked as if anybody had written them: their types, lengths and hashes. Every object is read with others
of at most `MOST_BYTES` together.
"""

from __future__ import annotations

import itertools
import time
from hashlib import sha256
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self, TypeVar

import msgspec

from helix_graph.errors import TeamServerFailed
from helix_graph.shared_authors import author_name
from helix_graph.sharing.answers import rows_of
from helix_graph.sharing.connection import (
    CONNECTING,
    SILENCE,
    asked,
    check_address,
    check_project,
    connect,
    name_of,
)
from helix_graph.sharing.server_schema import CLIENT, LARGEST_OBJECT, NEEDED

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from types import TracebackType

    import psycopg

    from helix_graph.sharing.private_lines import PrivateLine

_Row = TypeVar("_Row", bound=msgspec.Struct)
_Item = TypeVar("_Item")
_Listed = TypeVar("_Listed", "ServerEntry", "ServerLine")
#: A condition on a row.
_OF_SUBJECTS = "subject = ANY(%(subjects)s::text[])"
ObjectKind = Literal["episode", "record"]
#: What is sent or read at a time, unless one object is larger.
MOST_BYTES, MOST_OBJECTS = 8 << 20, 200
#: How long to wait before each further try: a server that is restarted comes back within this time.
_PAUSES = (0.2, 0.5, 1.0, 2.0, 4.0, 8.0)
#: From these versions of the tables on a member deletes by a function, and there are lines for their author alone.
_FORGETS, _HAS_PRIVATE = 3, 4
#: Longer than any name that PostgreSQL allows.
LONGEST_NAME = 200

_Subject = Annotated[str, msgspec.Meta(pattern=r"^[0-9a-f]{32}\Z")]
_Hash = Annotated[str, msgspec.Meta(pattern=r"^[0-9a-f]{64}\Z")]
_Author = Annotated[str, msgspec.Meta(min_length=1, max_length=LONGEST_NAME)]
_Number = Annotated[int, msgspec.Meta(ge=0, le=2**63 - 1)]


class ServerStanding(msgspec.Struct, frozen=True, array_like=True):
    """What a server is, and what this connection's role may do there in the project."""

    version: int
    least_client: int
    server: Annotated[str, msgspec.Meta(max_length=36)]
    role: _Author
    is_member: bool
    may_write: bool
    newest: _Number


class ServerObject(msgspec.Struct, frozen=True, kw_only=True):
    """Something to share: ``subject`` is what it is about, as a hash; ``hash`` is the SHA-256 of ``data``."""

    subject: str
    kind: ObjectKind
    data: bytes

    @property
    def hash(self) -> str:
        """The content's address."""
        return sha256(self.data).hexdigest()


class ServerEntry(msgspec.Struct, frozen=True, array_like=True):
    """What the server has or had: an object, or, of kind ``gone``, that its author or an administrator deleted it."""

    at: _Number
    author: _Author
    subject: _Subject
    kind: Literal["episode", "record", "gone"]
    hash: Annotated[str, msgspec.Meta(pattern=r"^([0-9a-f]{64})?\Z")]
    size: _Number


class ServerLine(msgspec.Struct, frozen=True, array_like=True):
    """A line that the server has for this role alone; see `helix_graph.sharing.private_lines.PrivateLine`."""

    at: _Number
    subject: _Subject
    key: _Subject
    rests_on: tuple[_Subject, ...]
    hash: _Hash
    size: _Number


class _Content(msgspec.Struct, frozen=True, array_like=True):
    at: _Number
    data: Annotated[bytes, msgspec.Meta(max_length=LARGEST_OBJECT)] | None


class _Known(msgspec.Struct, frozen=True, array_like=True):
    subject: _Subject
    hash: _Hash


class _Subjects(msgspec.Struct, frozen=True, array_like=True):
    subject: _Subject


class _Version(msgspec.Struct, frozen=True, array_like=True):
    version: int


class OwnTombstone(msgspec.Struct, frozen=True, array_like=True):
    """That an object of this role was deleted; whether by this role itself, or by somebody who administers."""

    subject: _Subject
    is_by_author: bool


class ServerTrace(msgspec.Struct, frozen=True, array_like=True):
    """How many of some subjects the server still has of this role, and how many of their tombstones."""

    objects: _Number
    tombstones: _Number


class ServerAuthor(msgspec.Struct, frozen=True, array_like=True):
    """Whoever has some of the objects that were asked for, and how many."""

    author: _Author
    objects: _Number


class TeamServer:
    """One project on the team's server, for one thread.

    A lost connection is made again, for some seconds; with a ``budget``, in seconds, it is not, and no question is
    waited for after its end. Connecting takes up to two seconds all the same.
    """

    def __init__(self, address: str, project: str, *, budget: float | None = None) -> None:
        self._address = check_address(address)
        self.project = check_project(project)
        self._end = None if budget is None else time.monotonic() + budget
        self._connection: psycopg.Connection[Any] | None = None
        self._pauses: tuple[float, ...] = _PAUSES[:2]  # as long as it never answered, its address may be wrong

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Ends the connection; the next question makes another."""
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()

    def standing(self) -> ServerStanding:
        """What the server is and what this role may do.

        Raises:
            TeamServerFailed: It is away or refuses, it has no team memory, or it and this program do not fit.
        """
        (found,) = self._ask(
            "SELECT version, least_client, server::text, session_user::text,"
            " %(project)s IN (SELECT helix_team.my_projects()),"
            " pg_catalog.has_column_privilege('helix_team.object', 'data', 'INSERT') AND coalesce((SELECT"
            " pg_catalog.to_jsonb(one) ->> 'role' FROM helix_team.member one"  # the first version has no such column
            " WHERE project = %(project)s AND member = session_user), 'member') <> 'reader',"
            " greatest((SELECT coalesce(max(at), 0) FROM helix_team.object WHERE project = %(project)s),"
            " (SELECT coalesce(max(at), 0) FROM helix_team.tombstone WHERE project = %(project)s))"
            " FROM helix_team.meta",
            {"project": self.project}, ServerStanding, most=1, least=1,
        )  # fmt: skip
        name = name_of(self._address)
        if found.version < NEEDED:
            sentence = f"{name} is of an older version; an administrator runs `helix-graph team setup`"
            raise TeamServerFailed(sentence, reason="refused")
        if found.least_client > CLIENT:
            raise TeamServerFailed(f"{name} is of a newer version; update helix-graph", reason="refused")
        if not found.is_member:
            role = author_name(found.role)
            sentence = f"{role} is no member of the project {self.project} on {name}; an administrator runs"
            raise TeamServerFailed(f"{sentence} `helix-graph team add {self.project} {role}`", reason="project")
        return found

    def own(self) -> dict[str, str]:
        """The hash of every object of this role, by its subject."""
        sql = "SELECT subject, hash FROM helix_team.object WHERE project = %s AND author = session_user"
        return {one.subject: one.hash for one in self._ask(sql, (self.project,), _Known)}

    def own_entries(self) -> list[ServerEntry]:
        """Every object of this role, without contents."""
        sql = (
            "SELECT at, author, subject, kind, hash, octet_length(data)::bigint FROM helix_team.object"
            " WHERE project = %s AND author = session_user ORDER BY at"
        )
        return self._ask(sql, (self.project,), ServerEntry)

    def own_tombstones(self) -> list[OwnTombstone]:
        """Which objects of this role were deleted, from whichever machine."""
        sql = (
            "SELECT subject, removed_by = session_user FROM helix_team.tombstone"
            " WHERE project = %s AND author = session_user AND at > 0"
        )
        return self._ask(sql, (self.project,), OwnTombstone)

    def push(self, objects: Sequence[ServerObject]) -> int:
        """As `store`, whatever was there; how many were new or changed."""
        return len(self.store(objects))

    def store(self, objects: Sequence[ServerObject], *, replacing: Iterable[str] | None = None) -> set[str]:
        """Stores objects, in one transaction; the subjects of those that were new or changed.

        What was forgotten is not stored again. With ``replacing``, the hashes of what was there, nothing else is
        replaced: another machine may push at the same time.
        """
        ordered = sorted(objects, key=lambda one: one.subject)
        columns = [[getattr(one, name) for one in ordered] for name in ("subject", "kind", "hash", "data")]
        known = None if replacing is None else sorted(replacing)
        stored = self._ask(
            "INSERT INTO helix_team.object (project, subject, kind, hash, data)"
            " SELECT %s, * FROM unnest(%s::text[], %s::text[], %s::text[], %s::bytea[])"
            " ON CONFLICT (project, author, subject) DO UPDATE"
            " SET kind = excluded.kind, hash = excluded.hash, data = excluded.data"
            " WHERE object.hash <> excluded.hash AND (%s::text[] IS NULL OR object.hash = ANY(%s::text[]))"
            " RETURNING subject",
            (self.project, *columns, known, known), _Subjects, most=len(ordered),
        )  # fmt: skip
        return {one.subject for one in stored}

    def delete(self, subjects: Iterable[str]) -> int:
        """Deletes objects of this role, whoever else has some of the same subject; how many there were."""
        sql = "SELECT helix_team.forget(%s, %s::text[])"
        if self._version() < _FORGETS:
            sql = (
                "DELETE FROM helix_team.object WHERE project = %s AND author = session_user"
                " AND subject = ANY(%s::text[]) RETURNING subject"
            )
        return len(self._ask(sql, (self.project, sorted(subjects)), _Subjects))

    def trace(self, subjects: Iterable[str], *, rests_on: Iterable[str]) -> ServerTrace:
        """What the server has left of these subjects of this role, and of lines that rest on any of the others."""
        count, private, tombstones = (
            f"(SELECT count(*) FROM helix_team.{table} WHERE project = %(project)s AND author = session_user"  # noqa: S608  (constants)
            f" AND {condition})"
            for table, condition in (
                ("object", _OF_SUBJECTS),
                ("private", f"({_OF_SUBJECTS} OR rests_on && %(rests_on)s::text[])"),
                ("tombstone", _OF_SUBJECTS),
            )
        )
        objects = f"{count} + {private}" if self.has_private() else count
        values = {"project": self.project, "subjects": sorted(subjects), "rests_on": sorted(rests_on)}
        (found,) = self._ask(f"SELECT {objects}, {tombstones}", values, ServerTrace, most=1, least=1)
        return found

    def other_authors(self, subjects: Iterable[str]) -> list[ServerAuthor]:
        """Who else has objects of these subjects, and how many: only they and administrators can delete them."""
        sql = (
            "SELECT author, count(*) FROM helix_team.object WHERE project = %s AND author <> session_user"
            " AND subject = ANY(%s::text[]) GROUP BY author ORDER BY author"
        )
        return self._ask(sql, (self.project, sorted(subjects)), ServerAuthor)

    def has_private(self) -> bool:
        """Whether the server has a place for what is its author's alone."""
        return self._version() >= _HAS_PRIVATE

    def _version(self) -> int:
        """That of the tables now: somebody may bring them up to date meanwhile."""
        (found,) = self._ask("SELECT version FROM helix_team.meta", (), _Version, most=1, least=1)
        return found.version

    def private(self) -> list[ServerLine]:
        """The lines of this role, the oldest first, without contents."""
        if not self.has_private():
            return []
        sql = (
            "SELECT at, subject, key, rests_on, hash, octet_length(data)::bigint FROM helix_team.private"
            " WHERE project = %s AND author = session_user ORDER BY at"
        )
        return self._ask(sql, (self.project,), ServerLine)

    def push_private(self, lines: Sequence[PrivateLine]) -> set[str]:
        """Stores lines, in one transaction; the subjects of those that were new.

        What was forgotten is not stored again.
        """
        sql = (
            "INSERT INTO helix_team.private (project, subject, key, rests_on, hash, data)"
            " SELECT %s, subject, key, string_to_array(rests_on, ','), hash, data"  # of an empty text no element
            " FROM unnest(%s::text[], %s::text[], %s::text[], %s::text[], %s::bytea[])"
            " one (subject, key, rests_on, hash, data) ON CONFLICT DO NOTHING RETURNING subject"
        )
        ordered = sorted(lines, key=lambda one: one.subject)
        rests_on = [",".join(one.rests_on) for one in ordered]  # arrays of arrays have one length
        columns = [[getattr(one, name) for one in ordered] for name in ("subject", "key", "hash", "data")]
        columns.insert(2, rests_on)
        stored = self._ask(sql, (self.project, *columns), _Subjects, most=len(ordered))
        return {one.subject for one in stored}

    def deleted(self, subjects: Iterable[str]) -> set[str]:
        """Those of these that this role has deleted, from whichever machine."""
        wanted = sorted(subjects)
        sql = (
            "SELECT DISTINCT subject FROM helix_team.tombstone"
            " WHERE project = %s AND author = session_user AND subject = ANY(%s::text[])"
        )
        found = self._ask(sql, (self.project, wanted), _Subjects, most=len(wanted)) if wanted else []
        return {one.subject for one in found}

    def since(self, number: int) -> list[ServerEntry]:
        """What was stored and deleted after this number, in order: the next `MOST_OBJECTS`, without contents."""
        found = self._ask(
            "SELECT at, author, subject, kind, hash, octet_length(data)::bigint FROM helix_team.object"
            " WHERE project = %(project)s AND at > %(number)s"
            " UNION ALL SELECT at, author, subject, 'gone', '', 0 FROM helix_team.tombstone"
            " WHERE project = %(project)s AND at > %(number)s ORDER BY 1 LIMIT %(most)s",
            {"project": self.project, "number": number, "most": MOST_OBJECTS}, ServerEntry, most=MOST_OBJECTS,
        )  # fmt: skip
        if any(later <= earlier for earlier, later in itertools.pairwise([number, *(one.at for one in found)])):
            raise self.nonsense()  # a server that says the same again would be asked forever
        return found

    def contents(self, entries: Iterable[_Listed]) -> Iterator[tuple[_Listed, bytes]]:
        """The objects or lines of these entries in their order, as far as they are still there.

        Raises:
            TeamServerFailed: An object is not what its hash says, or larger than it may be.
        """
        for part in batches(entries, size=lambda one: one.size):
            wanted = {one.at: one for one in part}
            table = "private" if isinstance(part[0], ServerLine) else "object"
            found = self._ask(
                f"SELECT at, CASE WHEN octet_length(data) <= %s THEN data END FROM helix_team.{table}"  # noqa: S608  (constants)
                " WHERE project = %s AND at = ANY(%s::bigint[]) ORDER BY at",
                (LARGEST_OBJECT, self.project, sorted(wanted)), _Content, most=len(wanted),
            )  # fmt: skip
            for one in found:
                entry = wanted.get(one.at)
                if entry is None or one.data is None or sha256(one.data).hexdigest() != entry.hash:
                    raise self.nonsense()
                yield entry, one.data

    def _ask(
        self, sql: str, values: object, kind: type[_Row], *, most: int | None = None, least: int = 0
    ) -> list[_Row]:
        """The rows of an answer, each of which is checked; asked again while the server may come back.

        One that was silent for as long as a question may take is not asked again.
        """
        began = time.monotonic()
        for attempt in itertools.count():
            try:
                rows = self._once(sql, values, kind, least=least, most=most)
            except TeamServerFailed as error:
                self.close()
                is_last = attempt >= len(self._pauses) or self._end is not None or time.monotonic() - began >= SILENCE
                if is_last or not error.again:
                    raise
                time.sleep(self._pauses[attempt])
            else:
                self._pauses = _PAUSES
                return rows
        raise AssertionError("the last try returns or raises")

    def _once(
        self,
        sql: str,
        values: Any,  # noqa: ANN401  (what the driver adapts)
        kind: type[_Row],
        *,
        least: int,
        most: int | None,
    ) -> list[_Row]:
        left = SILENCE if self._end is None else max(0.1, self._end - time.monotonic())
        # Taken from here until there is an answer: what has not ended in time may not be closed.
        connection, self._connection = self._connection, None
        if connection is None:
            connection = connect(self._address, seconds=min(CONNECTING, left))
        query = connection.execute
        rows = asked(
            connection,
            lambda: rows_of(query(sql.encode(), values, binary=True), kind, least=least, most=most),
            address=self._address,
            seconds=left,
        )
        self._connection = connection
        return rows

    def nonsense(self) -> TeamServerFailed:
        """What to raise of an answer that makes no sense."""
        return TeamServerFailed(f"{name_of(self._address)} gave an answer that makes no sense", reason="answer")


def batches(items: Iterable[_Item], *, size: Callable[[_Item], int]) -> Iterator[list[_Item]]:
    """The items in their order, in parts of at most `MOST_OBJECTS` and `MOST_BYTES`, or one that is larger."""
    part: list[_Item] = []
    left = MOST_BYTES
    for one in items:
        if part and (len(part) == MOST_OBJECTS or size(one) > left):
            yield part
            part, left = [], MOST_BYTES
        part.append(one)
        left -= size(one)
    if part:
        yield part
