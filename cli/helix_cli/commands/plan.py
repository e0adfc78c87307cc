"""``exploration``, ``plan``, ``assess``, ``learn``: from what explorers found, through tasks, to what was learnt."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

import click

from helix_cli.app import open_memory
from helix_cli.options import RegularFile, any_path, json_object, names
from helix_cli.output import count, prints, say, table, warn

if TYPE_CHECKING:
    from helix_graph.plans.agent_results import LearnAnswer
    from helix_graph.plans.attempt_assessment import Assessment
    from helix_graph.plans.model import CompletedPlan, Exploration, PlanStatus, SavedPlan, Task, TaskPlan, UpdatedTask
    from helix_graph.plans.store import ClearedExplorations


_plan_option = click.option("--plan", "number", type=int, metavar="N", help="The plan's number; else the active one.")


@click.group
def plan() -> None:
    """Save a plan and follow its tasks."""


@plan.command("save")
@click.argument("file", type=RegularFile(encoding="utf-8"), default="-")
@prints(lambda answer: say(f"plan {answer.id} saved, {count(answer.task_count, 'task')}"))
def save(*, file: TextIO) -> SavedPlan:
    """Save a plan and make it the active one.

    FILE is JSON; - is stdin.
    """
    found = json_object(file, hint="FILE")
    return open_memory().plans.save(found)


def _render_plan(found: TaskPlan | None) -> None:
    if found is None:
        say("No plan is active.")
        return
    say(f"plan {found.id} ({found.status}): {found.objective}")
    _render_tasks(found.tasks)


@plan.command("load")
@_plan_option
@prints(_render_plan)
def load(*, number: int | None) -> TaskPlan | None:
    """Show a plan with its tasks."""
    return open_memory().plans.load(number)


def _render_tasks(tasks: Sequence[Task]) -> None:
    rows = [(one.seq, one.status, one.depends, str(one.budget), ", ".join(one.delta), one.objective) for one in tasks]
    table(("seq", "status", "depends", "budget", "delta", "objective"), rows, numbers=("budget",), empty="No task.")


@plan.command("ready")
@_plan_option
@prints(_render_tasks)
def ready(*, number: int | None) -> Sequence[Task]:
    """List the tasks that can begin now."""
    return open_memory().plans.ready(number)


def _render_waves(found: Sequence[Sequence[str]]) -> None:
    for place, wave in enumerate(found, 1):
        say(f"{place}: {', '.join(wave)}")
    if not found:
        say("No plan is active.")


@plan.command("waves")
@_plan_option
@prints(_render_waves)
def waves(*, number: int | None) -> Sequence[Sequence[str]]:
    """List the tasks in waves that can run in parallel."""
    return open_memory().plans.waves(number)


def _render_status(found: PlanStatus) -> None:
    counts = ("ready", "active", "complete", "blocked", "pending")
    say(f"{found.state}: {', '.join(f'{getattr(found, name)} {name}' for name in counts)}")
    for one in found.unreachable:
        say(f"{one.seq} can never begin: {', '.join(one.blocked_by)} blocked")
    if found.stalled:
        say(f"stalled: {found.reason}")


@plan.command("status")
@_plan_option
@prints(_render_status)
def status(*, number: int | None) -> PlanStatus:
    """Show the progress of a plan and what blocks the rest."""
    return open_memory().plans.status(number)


@plan.command("update")
@click.argument("seq")
@_plan_option
@click.option("--status", metavar="STATUS", help="pending, active, complete or blocked.")
@click.option("--delivered", metavar="TEXT", help="What the task delivered.")
@click.option("--reason", "blocked_reason", metavar="TEXT", help="Why it is blocked.")
@click.option("--utilized", "utilized_memories", type=names, metavar="NAMES", help="The insights that helped.")
@prints(lambda updated: say(f"task {updated.task_seq} updated"))
def update(*, seq: str, number: int | None, **options: Any) -> UpdatedTask:
    """Change a task of the plan.

    SEQ is its number. `workspace complete` and `block` do this by themselves.
    """
    return open_memory().plans.update(seq, plan=number, **options)


def _render_completed(answer: CompletedPlan) -> None:
    left = f"; left undone: {', '.join(answer.unfinished)}" if answer.unfinished else ""
    say(f"plan {answer.plan_id} complete{left}")


@plan.command("complete")
@_plan_option
@prints(_render_completed)
def complete(*, number: int | None) -> CompletedPlan:
    """Close a plan, whatever is left of it."""
    return open_memory().plans.complete(number)


@click.group
def exploration() -> None:
    """Save what explorers found, for the planner."""


@exploration.command("save")
@click.argument("file", type=RegularFile(encoding="utf-8"), default="-")
@click.option("--objective", metavar="TEXT", help="What it is for; else the objective in FILE.")
@prints(lambda saved: say(f"exploration {saved.id} saved"))
def save_exploration(*, file: TextIO, objective: str | None) -> object:
    """Save an exploration.

    FILE is a JSON object; - is stdin. The newest one counts.
    """
    found = json_object(file, hint="FILE")
    return open_memory().plans.explorations.save(found, objective=objective)


def _render_exploration(found: Exploration | None) -> None:
    if found is None:
        say("No exploration has been saved.")
        return
    say(f"exploration {found.id}, {found.created_at}: {found.objective}")
    for name, value in found.data.items():
        say(f"{name}: {value}")


@exploration.command("load")
@prints(_render_exploration)
def load_exploration() -> Exploration | None:
    """Show the newest exploration."""
    return open_memory().plans.explorations.load()


def _render_cleared(answer: ClearedExplorations) -> None:
    say(f"{count(answer.explorations, 'exploration')} and {count(answer.results, 'result')} of explorers removed")


@exploration.command("clear")
@prints(_render_cleared)
def clear_exploration() -> ClearedExplorations:
    """Delete all explorations and the results of explorers."""
    return open_memory().plans.explorations.clear()


def _render_assessment(found: Assessment) -> None:
    say(f"{found.recommendation} ({count(found.attempts, 'attempt')}): {found.reason}")
    if found.suggested_pivot:
        say(f"instead: {found.suggested_pivot}")


@click.command
@click.argument("objective")
@click.option("--approach", required=True, metavar="TEXT", help="The way that is about to be tried.")
@prints(_render_assessment)
def assess(*, objective: str, approach: str) -> Assessment:
    """Count an attempt: continue, pivot or escalate?"""
    return open_memory().plans.assess(objective, approach)


#: Of what a transcript says as much as is read at a glance.
_LONGEST_SAID = 300


def _render_learnt(learnt: LearnAnswer) -> None:
    from helix_graph.insights.safe_quoting import logged_name_or_quoted, quoted

    task = f" task {logged_name_or_quoted(learnt.task_id)}" if learnt.task_id else ""
    agent, summary = logged_name_or_quoted(learnt.agent_id), quoted(learnt.summary, longest=_LONGEST_SAID)
    say(f"{learnt.agent_type} {agent}{task}: {learnt.outcome} {summary}".rstrip())
    if learnt.stored:
        say(f"insight {learnt.stored.get('status')}: {quoted(learnt.insight or '', longest=_LONGEST_SAID)}")
    if learnt.feedback:
        say(f"feedback for {', '.join(map(logged_name_or_quoted, learnt.injected))}")


@click.command
@click.argument("transcript", type=any_path)
@click.option(
    "--agent-type", default="builder", show_default=True, metavar="TYPE", help="builder, planner, explorer or observer."
)
@click.option("--agent-id", metavar="ID", help="The agent's id; else by the file's name.")
@prints(_render_learnt, failed=lambda learnt: learnt.problems)
def learn(*, transcript: Path, agent_type: str, agent_id: str | None) -> LearnAnswer:
    """Learn from the transcript of a finished agent.

    Records how its task ended and what it teaches, and notifies `wait`.
    """
    learnt = open_memory().plans.learn(transcript, agent_type=agent_type, agent_id=agent_id)
    for problem in learnt.problems:
        warn(problem)
    return learnt
