"""``workspace``, ``inject``, ``batch-inject``, ``wait``: give tasks to agents, with advice, and wait for them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

import click

from helix_cli.app import open_memory
from helix_cli.options import RegularFile, any_path, json_object, names, parse_time, positional_names
from helix_cli.output import count, emit_json, fields, json_option, prints, say, show, verbatim

if TYPE_CHECKING:
    from helix_graph.plans.insight_injection import BatchInjection, PromptInjection
    from helix_graph.plans.model import EndedWorkspace, ScopeCheck, Workspace
    from helix_graph.plans.waiting import BuildersWait, ExplorersWait


_session = click.option(
    "--session",
    envvar=["HELIX_SESSION", "CLAUDE_CODE_SESSION_ID"],
    metavar="NAME",
    help="No insight is shown twice in this session.",
)
_utilized = click.option(
    "--utilized", type=names, metavar="NAMES", help="The injected insights that helped: a JSON list, or with commas."
)
_verified = click.option(
    "--verified/--not-verified", default=None, help="The verify command was run, and passed or did not."
)
_builders_tree = click.option(
    "--tree", type=any_path, metavar="DIR", help="Another work tree of the repository, where the builder worked."
)


@click.group
def workspace() -> None:
    """Give a task to a builder, check its limits, end it."""


def _render_workspace(found: Workspace) -> None:
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


@workspace.command("create")
@click.argument("seq", required=False)
@click.option("--plan", "number", type=int, metavar="N", help="The plan's number; else the active one.")
@click.option("--data", type=RegularFile(encoding="utf-8"), help="The task as JSON; - reads it from stdin.")
@_session
@click.option("--tree", type=any_path, default=".", show_default=True, help="The working tree of the task.")
@prints(_render_workspace)
def create(*, seq: str | None, number: int | None, data: TextIO | None, session: str | None, tree: Path) -> Workspace:
    """Make a workspace for a task of the plan.

    It has the task SEQ, its limits and the insights about it.
    """
    if (seq is None) == (data is None):
        raise click.UsageError("say which task: SEQ or --data FILE")
    task = seq if data is None else json_object(data, hint="--data")
    return open_memory().plans.workspaces.create(task or "", plan=number, session=session, tree=tree)


@workspace.command("get")
@click.argument("workspace_id", metavar="ID", type=int)
@prints(_render_workspace)
def get(*, workspace_id: int) -> Workspace:
    """Show a workspace."""
    return open_memory().plans.workspaces.get(workspace_id)


@workspace.command("prompt")
@click.argument("workspace_id", metavar="ID", type=int)
@json_option
def prompt(*, workspace_id: int, as_json: bool) -> None:
    """Print the prompt for a workspace's builder."""
    text = open_memory().plans.workspaces.prompt(workspace_id)
    if as_json:
        emit_json({"prompt": text})
    else:
        _print_lines(text)


def _print_lines(text: str) -> None:
    for line in text.splitlines():
        verbatim(line)


def _render_ended(ended: EndedWorkspace) -> None:
    say(f"workspace {ended.workspace_id} {ended.status}; episode {ended.episode}")
    if ended.feedback:
        say(f"feedback: {ended.feedback.get('causal', 0)} causal of {ended.feedback.get('updated', 0)} insights")
        if ended.feedback.get("missing"):
            say(f"not among the injected insights: {', '.join(ended.feedback['missing'])}")


@workspace.command("complete")
@click.argument("workspace_id", metavar="ID", type=int)
@click.option("--delivered", required=True, metavar="TEXT", help="What was delivered.")
@_utilized
@_verified
@_builders_tree
@prints(_render_ended)
def complete(*, workspace_id: int, delivered: str, **options: Any) -> EndedWorkspace:
    """End a workspace with success.

    Running it again changes nothing.
    """
    return open_memory().plans.workspaces.complete(workspace_id, delivered, **options)


@workspace.command("block")
@click.argument("workspace_id", metavar="ID", type=int)
@click.option("--reason", required=True, metavar="TEXT", help="Why it cannot go on.")
@_utilized
@_verified
@_builders_tree
@prints(_render_ended)
def block(*, workspace_id: int, reason: str, **options: Any) -> EndedWorkspace:
    """End a workspace that cannot go on.

    Running it again changes nothing.
    """
    return open_memory().plans.workspaces.block(workspace_id, reason, **options)


def _render_check(found: ScopeCheck) -> None:
    for path in found.changed:
        say(f"{'outside' if path in found.outside else 'within '}  {path}")
    say("Nothing is outside the delta." if found.within_delta else f"The delta is {', '.join(found.delta) or 'empty'}.")
    used = "calls not counted" if found.used is None else f"{found.used} calls"
    over = "" if found.within_budget is not False else ", over it"
    say(f"{used}, budget {found.budget}{over}.")


@workspace.command("check")
@click.argument("workspace_id", metavar="ID", type=int)
@click.option(
    "--tree", type=any_path, metavar="DIR", help="Another work tree of the repository, where the builder works."
)
@click.option("--calls", type=int, metavar="N", help="Number of tool calls of the builder.")
@click.option("--transcript", type=any_path, metavar="FILE", help="The builder's log, to count its calls in.")
@prints(_render_check, failed=lambda found: not found.ok)
def check(*, workspace_id: int, tree: Path | None, calls: int | None, transcript: Path | None) -> ScopeCheck:
    """Compare a workspace's changes with its limits.

    Its delta names the files; its budget, the number of tool calls.

    Ends with 0 when nothing is known to be out of bounds, with 1 otherwise.
    """
    workspaces = open_memory().plans.workspaces
    return workspaces.check(workspace_id, tree=tree, tool_calls=calls, transcript=transcript)


_limit = click.option(
    "--limit", type=int, default=5, show_default=True, metavar="N", help="Maximum number of insights per task."
)
_reset = click.option("--reset", is_flag=True, help="Forget first what the session was shown.")


@click.command
@click.argument("objective")
@_limit
@click.option("--task-id", metavar="ID", help="Note in injection-state/ID.json what the task was shown.")
@click.option("--min-relevance", type=float, metavar="SHARE", help="Minimum relevance, 0 to 1.")
@click.option("--repeat", is_flag=True, help="Include what the session was shown before.")
@_session
@prints(lambda injection: _print_lines(injection.text))
def inject(*, objective: str, repeat: bool, **options: Any) -> PromptInjection:
    """Print the insights for a task as a block for its prompt."""
    return open_memory().plans.inject(objective, diversify=not repeat, **options)


def _render_injections(found: BatchInjection) -> None:
    for one in found.results:
        _print_lines(one.text)


@click.command("batch-inject")
@click.argument("objectives", nargs=-1, required=True)
@_limit
@click.option(
    "--task-ids",
    type=positional_names,
    default=(),
    metavar="IDS",
    help="The tasks' ids in the same order, with commas.",
)
@_session
@_reset
@prints(_render_injections)
def batch_inject(*, objectives: tuple[str, ...], **options: Any) -> BatchInjection:
    """Print the insights for several tasks, none of them twice."""
    return open_memory().plans.batch_inject(objectives, **options)


#: With --strict; 1 and 2 are the command's own.
EXIT_TIMED_OUT, EXIT_WAVE_FAILED = 3, 4

_timeout = click.option(
    "--timeout", type=float, default=300.0, show_default=True, metavar="SECONDS", help="Seconds to wait; 0: check once."
)
_poll = click.option(
    "--poll-interval", type=float, default=2.0, show_default=True, metavar="SECONDS", help="Seconds between two checks."
)
_since = click.option(
    "--since", type=parse_time, metavar="TIME", help="Only what ended at this time or later (ISO 8601)."
)
_strict = click.option("--strict", is_flag=True, help="Exit with 3 after a timeout, with 4 when an agent failed.")


@click.group
def wait() -> None:
    """Wait for background agents."""


@wait.command("builders")
@click.option("--task-ids", type=names, required=True, metavar="IDS", help="The tasks' ids, with commas between them.")
@_timeout
@_poll
@_since
@_strict
@json_option
def builders(*, task_ids: tuple[str, ...], strict: bool, as_json: bool, **options: Any) -> int:
    """Wait until each of these tasks has ended."""
    found = open_memory().plans.wait_builders(task_ids, **options)
    show(found, as_json=as_json, render=_render_builders)
    return _code(found) if strict else 0


def _render_builders(found: BuildersWait) -> None:
    if found.timed_out:
        say(f"timed out; missing: {', '.join(found.missing or ())}")
        return
    for outcome in ("delivered", "blocked", "plan_complete", "crashed", "unknown"):
        for entry in getattr(found, outcome) or ():
            say(f"{outcome}  {entry.get('task_id')}  {entry.get('summary', '')}")


@wait.command("explorers")
@click.option("--count", "number", type=int, required=True, metavar="N", help="Number of explorers.")
@click.option("--agent-ids", type=names, default=(), metavar="IDS", help="Only the results of these.")
@_timeout
@_poll
@_since
@_strict
@json_option
def explorers(*, number: int, strict: bool, as_json: bool, **options: Any) -> int:
    """Wait until the explorers have left their results."""
    found = open_memory().plans.wait_explorers(number, **options)
    show(found, as_json=as_json, render=_render_explorers)
    return _code(found) if strict else 0


def _render_explorers(found: ExplorersWait) -> None:
    say(f"{'timed out; ' if found.timed_out else ''}{found.count} of {count(found.expected, 'explorer')}")
    for one in found.findings:
        say(f"finding: {one}")
    for error in found.errors or ():
        say(f"error: {error}")


def _code(found: BuildersWait | ExplorersWait) -> int:
    if found.timed_out:
        return EXIT_TIMED_OUT
    return 0 if found.succeeded else EXIT_WAVE_FAILED
