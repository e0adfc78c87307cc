"""``share``: what a team shares through git, from a candidate to what a pull request has accepted."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from helix_cli.app import open_memory
from helix_cli.output import count, prints, say, table, warn
from helix_graph.errors import NoMemory
from helix_graph.project import memory_folder

if TYPE_CHECKING:
    from helix_graph.sharing.model import ShareAdded, ShareList, ShareMerged
    from helix_graph.sharing.records import ShareProblem


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
    once its file is in the work tree, accepted once the default branch holds it.
    """
    return open_memory().sharing.list()


def _render_added(added: ShareAdded) -> None:
    for name in added.written:
        say(f"new      {name}")
    for name in added.removed:
        say(f"removed  {name}")
    say(f"{count(len(added.staged), 'file')} staged. Next: git commit, and open a pull request")


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
    return open_memory().sharing.add(names, topics=topics, assertions=assertions, episodes=episodes)


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
