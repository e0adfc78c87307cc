"""Sessions of several people: ``share`` through git, ``team`` by a server, ``pack`` and ``fold`` for a company.

``team`` is what an administrator of a server uses; everybody else's `sync` exchanges with it. ``pack`` writes the facts
of episodes as shards, ``fold`` sums these up.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from helix_cli.app import open_memory
from helix_cli.options import OutputPath, any_path, parse_time, since_option, workers_option
from helix_cli.output import count, emit_text, json_option, prints, progress, say, show, table, warn
from helix_graph.errors import NoMemory
from helix_graph.insights.safe_quoting import logged_name_or_quoted
from helix_graph.project import memory_folder

if TYPE_CHECKING:
    from datetime import datetime

    from helix_graph.shards.pack import PackReport
    from helix_graph.sharing.administration import TeamMember, TeamMembers, TeamSetUp
    from helix_graph.sharing.model import ShareAdded, ShareList, ShareMerged
    from helix_graph.sharing.records import ShareProblem
    from helix_graph.sharing.server_schema import TeamRole


@click.group
def share() -> None:
    """Share insights and corrections with a team, by git.

    `list` shows what could be shared, `add` writes and stages files for a pull request, `check` looks for secrets in
    them, and `merge` takes in what the default branch has accepted.
    """


def _render_list(found: ShareList) -> None:
    if not found.insights:
        say("This memory has no insights of its own yet.")
    else:
        cells = [(one.state, str(one.sessions), one.name, one.content) for one in found.insights]
        table(("state", "sessions", "name", "content"), cells, numbers=("sessions",))
    say(f"{count(found.accepted, 'shared file')} accepted.")
    for problem in found.problems:
        warn(str(problem))


@share.command("list")
@prints(_render_list)
def share_list() -> ShareList:
    """Show what could be shared, and what is.

    An insight is a candidate until two independent sessions succeeded with its help, then corroborated; proposed
    once its file is in the work tree, accepted once the default branch holds it. One that you changed since is changed,
    until `add` writes it again.
    """
    return open_memory().sharing.list()


def _render_added(added: ShareAdded) -> None:
    for name in added.written:
        say(f"new      {name}")
    for name in added.removed:
        say(f"removed  {name}")
    if added.staged:
        say(f"{count(len(added.staged), 'file')} staged. Next: git commit, and open a pull request")
    elif added.shared:
        say("Nothing is staged: git has all of it already.")
    else:
        say("Nothing is staged: no insight is corroborated yet. Name one that `helix-graph share list` shows.")


@share.command("add")
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option("--topic", "topics", multiple=True, metavar="TOPIC", help="Share the entries of a topic (repeatable).")
@click.option("--assertions", is_flag=True, help="Share what people added and corrected by hand.")
@click.option("--episodes", is_flag=True, help="Share the sessions' episodes; they quote prompts.")
@prints(_render_added)
def share_add(*, names: tuple[str, ...], topics: tuple[str, ...], assertions: bool, episodes: bool) -> ShareAdded:
    """Write files for a pull request and stage them in git.

    NAME is an insight; without a name, all corroborated insights. Edits, outcomes and deletions of what was shared
    before are included. A file with something like a secret is refused, and nothing is written.
    """
    sharing = open_memory().sharing
    added = sharing.add(names, topics=topics, assertions=assertions, episodes=episodes)
    for problem in sharing.own.damaged():
        warn(str(problem))
    return added


def _render_check(problems: tuple[ShareProblem, ...]) -> None:
    for problem in problems:
        say(str(problem))
    say("Nothing found." if not problems else f"{count(len(problems), 'problem')} found.")


@share.command("check")
@prints(_render_check, failed=bool)
def share_check() -> tuple[ShareProblem, ...]:
    """Look for secrets in the files of the memory that git tracks.

    Prints FILE:LINE and exits with 1 when it finds any: for CI, and before a commit. It reads these files only, so the
    memory need not be trusted.
    """
    from helix_graph.sharing.shared_files import check_shared

    root = memory_folder(Path.cwd())
    if root is None or not root.is_dir():
        raise NoMemory(start=Path.cwd(), expected=root)
    return check_shared(root)


def _render_merged(merged: ShareMerged) -> None:
    came = (
        count(merged.insights, "insight"),
        count(merged.feedback, "outcome"),
        count(merged.entries, "entry", "entries"),
    )
    say(f"{', '.join(came)} taken in; {merged.forgotten} removed because others forgot them.")
    for name in merged.removed:
        say(f"removed  {name}")
    for problem in merged.problems:
        warn(f"{problem}; left out")


@share.command("merge")
@prints(_render_merged, failed=lambda merged: merged.problems)
def share_merge() -> ShareMerged:
    """Take in what the default branch has accepted.

    Shared things are shown with their author, as quotations, and count for nothing until your own sessions agree.
    Running it again changes nothing.
    """
    return open_memory().sharing.merge()


_server = click.option("--to", metavar="URL", default="", help="The server (default HELIX_DATABASE).")
_PROJECT = click.argument("project")
_MEMBER = click.argument("member")


@click.group
def team() -> None:
    """Administer a team's memory on PostgreSQL.

    `setup` makes its tables, `add` and `remove` say who is a member of which project, and `list` shows it. Members use
    `sync --to`.
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
    what = {"reader": "a reader", "member": "a member", "admin": "an admin", None: "no member"}[done.role]
    say(f"{done.member} is {what} of {done.project}.")


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


def _render_members(found: TeamMembers) -> None:
    rows = [(one.project, logged_name_or_quoted(one.member), one.role) for one in found.members]
    if rows:
        table(("project", "member", "role"), rows)
    else:
        say("No project has members yet. `helix-graph team add PROJECT MEMBER` adds one.")
    for project in found.partial:
        say(f"Of {project} you see yourself alone: only an administrator of a project sees its members.")


@team.command("list")
@click.argument("project", required=False)
@_server
@prints(_render_members)
def team_list(*, project: str | None, to: str) -> TeamMembers:
    """List the members of PROJECT, or of all projects.

    An administrator of a project sees all its members, everybody else only themselves.
    """
    from helix_graph.sharing.administration import list_members

    return list_members(_address(to), project)


def _address(to: str) -> str:
    from helix_graph.sharing.team import address_of

    return address_of(to)


_output = click.option(
    "--output", required=True, type=OutputPath(path_type=Path, file_okay=False), metavar="DIR", help="Folder to write."
)


@click.command
@click.argument("memories", nargs=-1, metavar="[MEMORY]...", type=any_path)
@_output
@workers_option
@json_option
def pack(*, memories: tuple[Path, ...], output: Path, workers: int | None, as_json: bool) -> int:
    """Write the facts of all episodes as Parquet shards.

    One shard for each day and project, written again only when its episodes change; running it again finishes what was
    cut short. MEMORY is another .helix folder whose episodes go there too. The exit code is 1 when an episode could not
    be read.
    """
    with progress("Packing shards") as advance:
        report = open_memory().pack(output, memories=memories, workers=workers, progress=advance)
    for skipped in report.skipped:
        warn(f"{logged_name_or_quoted(str(skipped.path))}: left out: {skipped.problem}")
    show(report, as_json=as_json, render=_render_packed)
    return 1 if report.skipped else 0


def _render_packed(report: PackReport) -> None:
    say(
        f"{count(report.written, 'shard')} written ({count(report.episodes, 'episode')}, {count(report.rows, 'row')}), "
        f"{report.unchanged} unchanged, {report.removed} removed."
    )
    say(f"Next: helix-graph fold {report.folder} --output sums")


@click.command
@click.argument("folders", nargs=-1, metavar="[FOLDER]...", type=any_path)
@_output
@click.option(
    "--engine",
    type=click.Choice(("duckdb", "spark", "local")),
    default="duckdb",
    show_default=True,
    help="DuckDB, Spark, or this memory's own graph.",
)
@since_option
@click.option("--until", type=parse_time, metavar="TIME", help="Only before this day.")
@click.option("--master", metavar="URL", help="Where Spark runs (default: local[*]).")
@click.option("--memory-limit", metavar="SIZE", help="The most memory DuckDB or a Spark process takes, such as 4GB.")
@click.option(
    "--serving",
    type=OutputPath(path_type=Path, file_okay=False),
    metavar="DIR",
    help="Also write tables to look up in.",
)
@json_option
def fold(  # noqa: PLR0913  (its options)
    *,
    folders: tuple[Path, ...],
    output: Path,
    engine: str,
    since: datetime | None,
    until: datetime | None,
    master: str | None,
    memory_limit: str | None,
    serving: Path | None,
    as_json: bool,
) -> None:
    """Sum up what pack has written, with DuckDB or Spark.

    The sums have labels, edges, checks, issues and remedies. FOLDER is one that pack has written, or an earlier fold:
    sums add up in any order. With --engine local the same tables come from this memory's graph, without a FOLDER.
    Every engine writes the same bytes.
    """
    if serving is not None:  # before hours of folding
        from helix_graph.shards.serving import check_serving

        check_serving(serving, sums=output)
    if engine == "local":
        if folders or since or until:
            raise click.UsageError("--engine local sums up this memory's graph; leave out folders and days")
        report = open_memory().fold(output)
    else:
        from helix_graph.shards.engines import LOCAL_MASTER
        from helix_graph.shards.fold import fold as fold_shards

        if not folders:
            raise click.UsageError("name a folder of shards; helix-graph pack --output DIR writes one")
        report = fold_shards(
            folders,
            output,
            engine=engine,
            since=since,
            until=until,
            master=master or LOCAL_MASTER,
            memory_limit=memory_limit or "",
        )
    if serving is not None:
        from helix_graph.shards.serving import serve

        serve(report.folder, serving)
    show(
        report,
        as_json=as_json,
        render=lambda one: say(f"{', '.join(f'{rows} {name}' for name, rows in one.rows.items())} in {one.folder}"),
    )
    if serving is not None and not as_json:
        say(f"Tables to look up in: {serving}. For PostgreSQL, run psql -f load.sql there.")
