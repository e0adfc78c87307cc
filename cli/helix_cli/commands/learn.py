"""``learn``: take from a finished agent what it reports."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from helix_cli.memory import open_memory
from helix_cli.options import GivenPath, json_option
from helix_cli.output import complain, say, show

if TYPE_CHECKING:
    from helix_graph.plans.learning import Learnt


@click.command
@click.argument("transcript", type=GivenPath(path_type=Path))
@click.option(
    "--agent-type", default="builder", show_default=True, metavar="TYPE", help="builder, planner, explorer or observer."
)
@click.option("--agent-id", metavar="ID", help="The agent's id; else by the file's name.")
@json_option
def learn(*, transcript: Path, agent_type: str, agent_id: str | None, as_json: bool) -> int:
    """Learn from a finished agent by its TRANSCRIPT: how its task ended, what it teaches, and tell whoever waits."""
    learnt = open_memory().plans.learn(transcript, agent_type=agent_type, agent_id=agent_id)
    for problem in learnt.problems:
        complain(problem)
    show(learnt, as_json=as_json, render=_render)
    return 1 if learnt.problems else 0


def _render(learnt: Learnt) -> None:
    task = f" task {learnt.task_id}" if learnt.task_id else ""
    say(f"{learnt.agent_type} {learnt.agent_id}{task}: {learnt.outcome} {learnt.summary}".rstrip())
    if learnt.stored:
        say(f"insight {learnt.stored.get('status')}: {learnt.insight}")
    if learnt.feedback:
        say(f"feedback for {', '.join(learnt.injected)}")
