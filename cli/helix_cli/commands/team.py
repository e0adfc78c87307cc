"""``team``: what an administrator of a team's server does."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from helix_cli.output import emit_text, prints, say

if TYPE_CHECKING:
    from helix_graph.sharing.administration import TeamMember, TeamSetUp
    from helix_graph.sharing.server_schema import TeamRole

_server = click.option("--to", metavar="URL", default="", help="The server (default HELIX_DATABASE).")
_PROJECT = click.argument("project")
_MEMBER = click.argument("member")


@click.group
def team() -> None:
    """Administer a team's memory on PostgreSQL.

    `setup` makes its tables, `add` and `remove` say who is a member of which project. Members use `sync --to`.
    """


def _render_set_up(done: TeamSetUp) -> None:
    if done.before == done.version:
        say(f"The tables are of version {done.version} already.")
    else:
        say(f"The tables are of version {done.version} now (before: {done.before or 'none'}).")


@team.command("setup")
@_server
@prints(_render_set_up)
def team_setup(*, to: str) -> TeamSetUp:
    """Make the tables and roles in a database, or update them.

    It needs a role with CREATE on the database, and CREATEROLE the first time. Clients may be connected. Running it
    again changes nothing.
    """
    from helix_graph.sharing.administration import set_up

    return set_up(_address(to))


@team.command("script")
@prints(emit_text)
def team_script() -> str:
    """Print what `setup` does, as SQL for psql."""
    from helix_graph.sharing.server_schema import script

    return script()


def _render_member(done: TeamMember) -> None:
    say(f"{done.member} is {'a' if done.is_member else 'no'} member of {done.project}.")


@team.command("add")
@_PROJECT
@_MEMBER
@click.option(
    "--role", type=click.Choice(("reader", "member", "admin")), default="member", help="What the member may do."
)
@_server
@prints(_render_member)
def team_add(*, project: str, member: str, role: TeamRole, to: str) -> TeamMember:
    """Make a role of the server a member of a project.

    MEMBER is a role that can log in. A reader reads the project; a member also writes, and deletes what is its own; an
    admin also says who is a member, and may delete anything. In other projects nothing changes.
    """
    from helix_graph.sharing.administration import add_member

    return add_member(_address(to), project, member, role=role)


@team.command("remove")
@_PROJECT
@_MEMBER
@_server
@prints(_render_member)
def team_remove(*, project: str, member: str, to: str) -> TeamMember:
    """End a membership with its rights.

    An admin's rights end too. What the member has pushed stays.
    """
    from helix_graph.sharing.administration import remove_member

    return remove_member(_address(to), project, member)


def _address(to: str) -> str:
    from helix_graph.sharing.team import address_of

    return address_of(to)
