"""``help``: the help of a command, or the list of every command."""

from __future__ import annotations

import click

from helix_cli.command_group import EVERY_COMMAND


@click.command("help")
@click.argument("command", nargs=-1)
@click.option("--all", "every", is_flag=True, help="List every command.")
def help_command(*, command: tuple[str, ...], every: bool) -> None:
    """Show the help of a command, or of every command."""
    context = click.get_current_context().find_root()
    found: click.Command = context.command
    for name in command:
        if not isinstance(found, click.Group):
            raise click.UsageError(f"{context.info_name} has no commands of its own")
        _, below, _ = found.resolve_command(context, [name])
        if below is None:
            raise click.UsageError(f"No such command {name!r}.")
        context = click.Context(below, info_name=name, parent=context)
        found = below
    context.meta[EVERY_COMMAND] = every
    click.echo(found.get_help(context))
