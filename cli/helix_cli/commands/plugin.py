"""``plugin``: the memory as a plugin of Claude Code, to be installed from a folder."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from helix_cli.options import GivenPath, json_option
from helix_cli.output import say, show

if TYPE_CHECKING:
    from helix_cli.exporting import Exported


@click.group
def plugin() -> None:
    """Agents, skills, hooks and the server in one package."""


@plugin.command
@click.argument("folder", type=GivenPath(path_type=Path))
@json_option
def export(*, folder: Path, as_json: bool) -> None:
    """Write the plugin into FOLDER, which must be empty or hold an earlier export."""
    from helix_cli.exporting import export_plugin  # noqa: PLC0415  (imported when the command runs)

    show(export_plugin(folder), as_json=as_json, render=_render)


def _render(exported: Exported) -> None:
    say(f"{len(exported.files)} files in {exported.folder}.")
    say(f"Try it: claude --plugin-dir {exported.folder}")
