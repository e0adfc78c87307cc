"""``off`` and ``on``: whether the memory does anything by itself."""

from __future__ import annotations

import click

from helix_cli.memory import open_memory
from helix_cli.options import json_option
from helix_cli.output import say, show


@click.command
@json_option
def off(*, as_json: bool) -> None:
    """Silence the memory: what works by itself rests until ``on``.

    Commands that are called by hand go on working.
    """
    memory = open_memory()
    memory.off()
    show({"silenced": memory.silenced}, as_json=as_json, render=_render)


@click.command
@json_option
def on(*, as_json: bool) -> None:
    """Let the memory work by itself again."""
    memory = open_memory()
    memory.on()
    show({"silenced": memory.silenced}, as_json=as_json, render=_render)


def _render(answer: dict[str, str | None]) -> None:
    reason = answer["silenced"]
    say(f"The memory is off: {reason}. Commands by hand still work." if reason else "The memory is on.")
