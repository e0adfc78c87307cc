"""``init``: begin a memory."""

from __future__ import annotations

import click

from helix_cli.options import json_option
from helix_cli.output import say, show


@click.command
@click.option("--share", is_flag=True, help="Let git keep the episodes, for a team; they quote people's prompts.")
@json_option
def init(*, share: bool, as_json: bool) -> None:
    """Begin a memory for this project.

    It is a folder .helix at the root of the git repository, or here when this is none; HELIX_DIR names another.
    """
    from helix_graph import Memory  # noqa: PLC0415  (imported when the command runs)

    memory = Memory.init(share=share)
    show({"root": memory.root, "shared": share}, as_json=as_json, render=_render)


def _render(answer: dict[str, object]) -> None:
    say(f"This project's memory is {answer['root']}.")
    say("Next: helix-graph episode extract <logs>, for example a folder under ~/.claude/projects")
