"""``workspace``: one attempt at one task, from what its builder is given to how it ended."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, TextIO

import click

from helix_cli.given_json import json_object, names
from helix_cli.memory import open_memory
from helix_cli.options import GivenPath, json_option
from helix_cli.output import fields, say, show, verbatim

if TYPE_CHECKING:
    from helix_graph.plans.model import EndedWorkspace, ScopeCheck, Workspace

_path = GivenPath(path_type=Path)
_utilized = click.option(
    "--utilized", type=names, metavar="NAMES", help="The injected insights that helped: a JSON list, or with commas."
)
_verified = click.option(
    "--verified/--not-verified", default=None, help="The verify command was run, and passed or did not."
)
_builders_tree = click.option(
    "--tree", type=_path, metavar="DIR", help="Another work tree of the repository, where the builder worked."
)


@click.group
def workspace() -> None:
    """Give a task to a builder, watch its bounds, end it."""


@workspace.command("create")
@click.argument("seq", required=False)
@click.option("--plan", "number", type=int, metavar="N", help="The plan's number; else the active one.")
@click.option("--data", type=click.File(encoding="utf-8"), help="A task of its own, as JSON; - is stdin.")
@click.option(
    "--session",
    envvar=["HELIX_SESSION", "CLAUDE_CODE_SESSION_ID"],
    metavar="NAME",
    help="No insight is given out twice in this session.",
)
@click.option("--tree", type=_path, default=".", show_default=True, help="The working tree in which the task is done.")
@json_option
def create(
    *, seq: str | None, number: int | None, data: TextIO | None, session: str | None, tree: Path, as_json: bool
) -> None:
    """Make a workspace for the task SEQ of the plan: what to do, within which bounds, and what memory knows of it."""
    if (seq is None) == (data is None):
        problem = "say which task: SEQ or --data FILE"
        raise click.UsageError(problem)
    task = seq if data is None else json_object(data, hint="--data")
    made = open_memory().plans.workspaces.create(task or "", plan=number, session=session, tree=tree)
    show(made, as_json=as_json, render=_render)


@workspace.command("get")
@click.argument("workspace_id", metavar="ID", type=int)
@json_option
def get(*, workspace_id: int, as_json: bool) -> None:
    """Show a workspace."""
    show(open_memory().plans.workspaces.get(workspace_id), as_json=as_json, render=_render)


def _render(found: Workspace) -> None:
    rows = [
        ("workspace", f"{found.id} ({found.status})"),
        ("task", f"{found.task_seq} {found.task_slug}"),
        ("task id", found.task_id),
        ("objective", found.objective),
        ("delta", ", ".join(found.delta) or "-"),
        ("verify", found.verify or "-"),
        ("budget", str(found.budget)),
        ("failures", ", ".join(one.name for one in found.failures) or "-"),
        ("patterns", ", ".join(one.name for one in found.patterns) or "-"),
        *((f"from {one.seq}", one.delivered) for one in found.lineage.parents),
        ("delivered", found.delivered or "-"),
    ]
    fields(rows)


@workspace.command("prompt")
@click.argument("workspace_id", metavar="ID", type=int)
@json_option
def prompt(*, workspace_id: int, as_json: bool) -> None:
    """Print the prompt for a workspace's builder."""
    text = open_memory().plans.workspaces.prompt(workspace_id)
    show({"prompt": text} if as_json else text, as_json=as_json, render=_render_prompt)


def _render_prompt(text: object) -> None:
    for line in str(text).splitlines():
        verbatim(line)


@workspace.command("complete")
@click.argument("workspace_id", metavar="ID", type=int)
@click.option("--delivered", required=True, metavar="TEXT", help="What was delivered.")
@_utilized
@_verified
@_builders_tree
@json_option
def complete(
    *,
    workspace_id: int,
    delivered: str,
    utilized: tuple[str, ...] | None,
    verified: bool | None,
    tree: Path | None,
    as_json: bool,
) -> None:
    """End a workspace with success; said again it changes nothing."""
    workspaces = open_memory().plans.workspaces
    ended = workspaces.complete(workspace_id, delivered, utilized, verified=verified, tree=tree)
    show(ended, as_json=as_json, render=_render_ended)


@workspace.command("block")
@click.argument("workspace_id", metavar="ID", type=int)
@click.option("--reason", required=True, metavar="TEXT", help="Why it cannot go on.")
@_utilized
@_verified
@_builders_tree
@json_option
def block(
    *,
    workspace_id: int,
    reason: str,
    utilized: tuple[str, ...] | None,
    verified: bool | None,
    tree: Path | None,
    as_json: bool,
) -> None:
    """End a workspace that cannot go on; said again it changes nothing."""
    workspaces = open_memory().plans.workspaces
    ended = workspaces.block(workspace_id, reason, utilized, verified=verified, tree=tree)
    show(ended, as_json=as_json, render=_render_ended)


def _render_ended(ended: EndedWorkspace) -> None:
    say(f"workspace {ended.workspace_id} {ended.status}; episode {ended.episode}")
    if ended.feedback:
        say(f"feedback: {ended.feedback.get('causal', 0)} causal of {ended.feedback.get('updated', 0)} insights")


@workspace.command("check")
@click.argument("workspace_id", metavar="ID", type=int)
@click.option("--tree", type=_path, metavar="DIR", help="Another work tree of the repository, where the builder works.")
@click.option("--calls", type=int, metavar="N", help="How many tool calls the builder has made.")
@click.option("--transcript", type=_path, metavar="FILE", help="The builder's log, to count its calls in.")
@json_option
def check(*, workspace_id: int, tree: Path | None, calls: int | None, transcript: Path | None, as_json: bool) -> int:
    """Compare what has changed since the workspace was made with its delta, and calls with its budget.

    Ends with 0 when nothing is known to be out of bounds, with 1 otherwise.
    """
    workspaces = open_memory().plans.workspaces
    found = workspaces.check(workspace_id, tree=tree, tool_calls=calls, transcript=transcript)
    show(found, as_json=as_json, render=_render_check)
    return 0 if found.ok else 1


def _render_check(found: ScopeCheck) -> None:
    for path in found.changed:
        say(f"{'outside' if path in found.outside else 'within '}  {path}")
    say(
        "Nothing lies outside the delta."
        if found.within_delta
        else f"The delta is {', '.join(found.delta) or 'empty'}."
    )
    used = "calls not counted" if found.used is None else f"{found.used} calls"
    over = "" if found.within_budget is not False else ", over it"
    say(f"{used}, budget {found.budget}{over}.")
