"""``seen``: have we met this before, and what fixed it?"""

from __future__ import annotations

import click

from helix_cli.memory import open_memory
from helix_cli.options import json_option
from helix_cli.output import show


@click.command
@click.argument("text", required=False, default="")
@click.option("--limit", type=click.IntRange(1, 100), default=5, show_default=True, help="At most so many precedents.")
@json_option
def seen(*, text: str, limit: int, as_json: bool) -> None:
    """Look up an error that was met before, and what fixed it.

    TEXT is an error line or the whole output of a command; - reads it from stdin. Without TEXT, the newest errors.
    """
    if text == "-":
        text = click.get_text_stream("stdin", errors="replace").read()
    show(open_memory().graph.seen(text, limit=limit), as_json=as_json, render=render_seen)
