"""``plan``: an objective taken apart into tasks, and how far they are."""

from __future__ import annotations

from typing import TYPE_CHECKING, TextIO

import click

from helix_cli.given_json import json_object, names
from helix_cli.memory import open_memory
from helix_cli.options import json_option
from helix_cli.output import count, say, show, table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from helix_graph.plans.model import CompletedPlan, Plan, PlanStatus, SavedPlan, Task, UpdatedTask

_plan_option = click.option("--plan", "number", type=int, metavar="N", help="The plan's number; else the active one.")


@click.group
def plan() -> None:
    """Save a plan, see which tasks are ready, follow how far it is."""


@plan.command("save")
@click.argument("file", type=click.File(encoding="utf-8"), default="-")
@json_option
def save(*, file: TextIO, as_json: bool) -> None:
    """Keep the plan in FILE (JSON; - is stdin); from now on it is the active one."""
    found = json_object(file, hint="FILE")
    show(open_memory().plans.save(found), as_json=as_json, render=_render_saved)


def _render_saved(answer: SavedPlan) -> None:
    say(f"plan {answer.id} saved, {count(answer.task_count, 'task')}")


@plan.command("load")
@_plan_option
@json_option
def load(*, number: int | None, as_json: bool) -> None:
    """Show a plan with its tasks."""
    show(open_memory().plans.load(number), as_json=as_json, render=_render)


def _render(found: Plan | None) -> None:
    if found is None:
        say("No plan is active.")
        return
    say(f"plan {found.id} ({found.status}): {found.objective}")
    _render_tasks(found.tasks)


def _render_tasks(tasks: Sequence[Task]) -> None:
    if not tasks:
        say("No task.")
        return
    rows = [(one.seq, one.status, one.depends, str(one.budget), ", ".join(one.delta), one.objective) for one in tasks]
    table(("seq", "status", "depends", "budget", "delta", "objective"), rows, numbers=("budget",))


@plan.command("ready")
@_plan_option
@json_option
def ready(*, number: int | None, as_json: bool) -> None:
    """List the tasks that can begin now."""
    show(open_memory().plans.ready(number), as_json=as_json, render=_render_tasks)


@plan.command("waves")
@_plan_option
@json_option
def waves(*, number: int | None, as_json: bool) -> None:
    """List the tasks in waves: those of one wave can be done at once."""
    show(open_memory().plans.waves(number), as_json=as_json, render=_render_waves)


def _render_waves(found: Sequence[Sequence[str]]) -> None:
    for place, wave in enumerate(found, 1):
        say(f"{place}: {', '.join(wave)}")
    if not found:
        say("No plan is active.")


@plan.command("status")
@_plan_option
@json_option
def status(*, number: int | None, as_json: bool) -> None:
    """Say how far a plan is, and what keeps the rest from being done."""
    show(open_memory().plans.status(number), as_json=as_json, render=_render_status)


def _render_status(found: PlanStatus) -> None:
    counts = ("ready", "active", "complete", "blocked", "pending")
    say(f"{found.state}: {', '.join(f'{getattr(found, name)} {name}' for name in counts)}")
    for one in found.unreachable:
        say(f"{one.seq} can never begin: {', '.join(one.blocked_by)} blocked")
    if found.stalled:
        say(f"stalled: {found.reason}")


@plan.command("update")
@click.argument("seq")
@_plan_option
@click.option("--status", metavar="STATUS", help="pending, active, complete or blocked.")
@click.option("--delivered", metavar="TEXT", help="What the task delivered.")
@click.option("--reason", "blocked_reason", metavar="TEXT", help="Why it is blocked.")
@click.option("--utilized", "utilized_memories", type=names, metavar="NAMES", help="The insights that helped.")
@json_option
def update(  # noqa: PLR0913  (what there is to update)
    *,
    seq: str,
    number: int | None,
    status: str | None,
    delivered: str | None,
    blocked_reason: str | None,
    utilized_memories: tuple[str, ...] | None,
    as_json: bool,
) -> None:
    """Set what is given of the task SEQ, by hand; `workspace complete` and `block` do it themselves."""
    answer = open_memory().plans.update(
        seq,
        plan=number,
        status=status,
        delivered=delivered,
        blocked_reason=blocked_reason,
        utilized_memories=utilized_memories,
    )
    show(answer, as_json=as_json, render=_render_updated)


def _render_updated(answer: UpdatedTask) -> None:
    say(f"task {answer.task_seq} updated")


@plan.command("complete")
@_plan_option
@json_option
def complete(*, number: int | None, as_json: bool) -> None:
    """Close a plan, whatever is left of it."""
    show(open_memory().plans.complete(number), as_json=as_json, render=_render_completed)


def _render_completed(answer: CompletedPlan) -> None:
    left = f"; left undone: {', '.join(answer.unfinished)}" if answer.unfinished else ""
    say(f"plan {answer.plan_id} complete{left}")
