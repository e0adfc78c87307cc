"""What an administrator of a team's server does: make the tables, and say who is a member of which project.

Making them again brings them up to date and changes nothing else, also while clients are connected.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import msgspec

from helix_episodes.errors import InvalidArgument
from helix_graph.errors import TeamServerFailed
from helix_graph.shared_authors import author_name
from helix_graph.sharing.answers import rows_of
from helix_graph.sharing.connection import PROJECT_NAME, asked, check_project, connect, reporting
from helix_graph.sharing.server import LONGEST_NAME
from helix_graph.sharing.server_schema import BEGIN, STEPS, TEAM_ROLES, VERSION, TeamRole
from helix_graph.validation import as_str

#: How long all statements of one command may take, in seconds; the server gives each of them fifteen.
_LONGEST = 30.0
#: More than a server of a company has; one that sends more without end is left.
_MOST_MEMBERS = 1_000_000

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import psycopg

_Done = TypeVar("_Done")
_Row = TypeVar("_Row", bound=msgspec.Struct)


class _Version(msgspec.Struct, frozen=True, array_like=True):
    version: Annotated[int, msgspec.Meta(ge=0)]


class _Count(msgspec.Struct, frozen=True, array_like=True):
    count: int


class _YesOrNo(msgspec.Struct, frozen=True, array_like=True):
    is_so: bool


class _Membership(msgspec.Struct, frozen=True, array_like=True):
    project: Annotated[str, msgspec.Meta(pattern=PROJECT_NAME)]
    member: Annotated[str, msgspec.Meta(min_length=1, max_length=LONGEST_NAME)]
    role: TeamRole
    sees_all: bool


class TeamSetUp(msgspec.Struct, frozen=True, kw_only=True):
    """The version of the tables before and after; 0 is none."""

    before: int
    version: int


class TeamMember(msgspec.Struct, frozen=True, kw_only=True):
    """Who is a member of which project now and in which ``role``, or is none any more."""

    project: str
    member: str
    is_member: bool
    role: TeamRole | None = None


class ListedMember(msgspec.Struct, frozen=True, kw_only=True):
    """A member of a project, and what it may do there."""

    project: str
    member: str
    role: TeamRole


class TeamMembers(msgspec.Struct, frozen=True, kw_only=True):
    """The members that a role sees. In ``partial`` projects, of which it is no administrator, that is itself alone."""

    members: tuple[ListedMember, ...]
    partial: tuple[str, ...] = ()


def set_up(address: str) -> TeamSetUp:
    """Makes the tables and roles of a team's memory in a database, or brings them up to date, in one transaction.

    The role needs CREATE on the database, and CREATEROLE the first time.

    Raises:
        TeamServerFailed: The server is away or refuses, or its tables are of a newer version.
    """
    lacking = (
        "does not let this role make tables; a role with CREATE on the database, and CREATEROLE the first time, runs"
        " `helix-graph team setup`"
    )

    def make(connection: psycopg.Connection[Any]) -> int:
        connection.execute("SELECT pg_catalog.pg_advisory_xact_lock(pg_catalog.hashtext('helix_team set_up'))")
        _run(connection, BEGIN)
        before = _version(connection)
        if before > VERSION:
            raise TeamServerFailed("the team's server is of a newer version; update helix-graph", reason="refused")
        for step in STEPS[before:]:
            _run(connection, step)
        connection.execute("UPDATE helix_team.meta SET version = %s", (VERSION,))
        return before

    return TeamSetUp(before=_transaction(address, make, lacking=lacking), version=VERSION)


def add_member(address: str, project: str, member: str, *, role: TeamRole = "member") -> TeamMember:
    """Makes a role of the server a member of a project, and says what it may do there; elsewhere nothing changes.

    Raises:
        MissingExtra, TeamServerFailed: As `set_up`; or there is no such role on the server.
    """
    if role not in TEAM_ROLES:
        raise InvalidArgument("role", f"is {role!r}; it must be one of {', '.join(TEAM_ROLES)}")
    project, name = check_project(project), as_str("member", member)

    def add(connection: psycopg.Connection[Any]) -> None:
        _check_version(connection)
        known = _row(connection, _Count, "SELECT count(*) FROM pg_catalog.pg_roles WHERE rolname = %s", (name,))
        if not known.count:
            raise InvalidArgument("member", f"{name!r} is no role of the server; make it first: CREATE ROLE … LOGIN")
        with reporting(address, lacking=f"lets only an administrator of {project} add members to it"):
            connection.execute(
                "INSERT INTO helix_team.member (project, member, role) VALUES (%s, %s, %s)"
                " ON CONFLICT (project, member) DO UPDATE SET role = excluded.role",
                (project, name, role),
            )
        lacking = f"lets only a role with CREATEROLE open the tables to {name}, who is no {role} of any project yet"
        with reporting(address, lacking=lacking):
            _open_tables(connection, name, role)

    _transaction(address, add)
    return TeamMember(project=project, member=name, is_member=True, role=role)


def remove_member(address: str, project: str, member: str) -> TeamMember:
    """Ends a membership with all its rights, an administrator's too; what the member has pushed stays."""
    project, name = check_project(project), as_str("member", member)

    def remove(connection: psycopg.Connection[Any]) -> None:
        _check_version(connection)
        may = _row(
            connection,
            _YesOrNo,
            "SELECT NOT pg_catalog.row_security_active('helix_team.member')"
            " OR %s IN (SELECT helix_team.my_projects_as('{admin}'))",
            (project,),
        )
        if not may.is_so:  # it would see nobody else, and delete nothing
            sentence = f"this role is no administrator of {project}; {name} is what it was"
            raise TeamServerFailed(sentence, reason="refused")
        connection.execute("DELETE FROM helix_team.member WHERE project = %s AND member = %s", (project, name))

    _transaction(address, remove)
    return TeamMember(project=project, member=name, is_member=False)


def list_members(address: str, project: str | None = None) -> TeamMembers:
    """The members of one project, or of all, as far as row-level security shows them to this role.

    Raises:
        TeamServerFailed: As `set_up`; or the role sees no member of the project.
    """
    wanted = "" if project is None else check_project(project)

    def members(connection: psycopg.Connection[Any]) -> list[_Membership]:
        _check_version(connection)
        query = (
            "SELECT project, member, role, NOT pg_catalog.row_security_active('helix_team.member')"
            " OR project IN (SELECT helix_team.my_projects_as('{admin}'))"
            " FROM helix_team.member WHERE %s::text IN ('', project) ORDER BY project, member"
        )
        return rows_of(connection.execute(query, (wanted,), binary=True), _Membership, most=_MOST_MEMBERS)

    found = _transaction(address, members)
    if wanted and not found:
        sentence = f"this role sees no member of {wanted}; `helix-graph team list` shows the projects that it sees"
        raise TeamServerFailed(sentence, reason="project")
    listed = [ListedMember(project=one.project, member=author_name(one.member), role=one.role) for one in found]
    partial = {one.project for one in found if not one.sees_all}
    return TeamMembers(members=tuple(listed), partial=tuple(sorted(partial)))


def _transaction(address: str, work: Callable[[psycopg.Connection[Any]], _Done], *, lacking: str = "") -> _Done:
    """What ``work`` does in one transaction on a connection of its own, which is closed after it."""
    connection = connect(address)

    def do() -> _Done:
        with connection, connection.transaction():
            return work(connection)

    return asked(connection, do, address=address, seconds=_LONGEST, lacking=lacking)


def _check_version(connection: psycopg.Connection[Any]) -> None:
    """Raises where the tables are older than what says who may do what: what would be said of a member was not so."""
    if _version(connection) < VERSION:
        sentence = (
            "the tables of the team's server are of an older version; whoever made them runs `helix-graph team setup`"
        )
        raise TeamServerFailed(sentence, reason="refused")


def _open_tables(connection: psycopg.Connection[Any], name: str, role: TeamRole) -> None:
    """Grants the group that reaches the tables, where the role has it not yet; an administrator may be unable to.

    It is never revoked: groups are those of all databases of the server, and alone they open no project.
    """
    from psycopg import sql

    group = f"helix_{role}"
    has = _row(connection, _YesOrNo, "SELECT pg_catalog.pg_has_role(%s::name, %s::name, 'MEMBER')", (name, group))
    if not has.is_so:
        connection.execute(sql.SQL("GRANT {} TO {}").format(sql.Identifier(group), sql.Identifier(name)))


def _version(connection: psycopg.Connection[Any]) -> int:
    return _row(connection, _Version, "SELECT version FROM helix_team.meta").version


def _row(connection: psycopg.Connection[Any], kind: type[_Row], query: str, values: Sequence[str] = ()) -> _Row:
    """The one row that a question has.

    Raises:
        AnswerRefused: The answer is none to it.
    """
    (found,) = rows_of(connection.execute(query.encode(), values, binary=True), kind, least=1, most=1)
    return found


def _run(connection: psycopg.Connection[Any], statements: str) -> None:
    connection.execute(statements.encode())
