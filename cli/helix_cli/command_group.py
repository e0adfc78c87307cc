"""Commands as click sees them: imported when named, listed in sections, suggested when mistyped.

`LazyGroup` is a group whose commands' files are imported one by one. `TextCommand` takes texts that begin with dashes,
as error lines do: ``seen "--- FAIL: TestX"``; `joined_words` finds texts that were typed without quotation marks.

The command ``help`` shows what `LazyGroup` knows: the help of a command, or the list of every command.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from importlib import import_module
from typing import Any

import click

#: Locations of commands by name, below the heading under which the help lists them.
Sections = Mapping[str, Mapping[str, str]]
#: In ``context.meta``: list the commands of every section.
EVERY_COMMAND = "helix_cli.every_command"


class ForgivingGroup(click.Group):
    """A group that understands what people type in the place of a command, or says the command that they mean.

    An id that fits ``ids`` is shown: ``issues 8bc22edf``. ``meant`` has the whole command for other words, with
    ``*`` for all words that are like no command.
    """

    def __init__(self, *, ids: str = "", meant: Mapping[str, str] | None = None, **settings: object) -> None:
        super().__init__(**settings)  # type: ignore[arg-type]  # passed through to click unread
        self._ids, self._meant = ids, meant or {}

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that is named first, and the arguments for it.

        Raises:
            click.UsageError: There is no such command; the sentence names what may be meant.
        """
        if args and self.get_command(ctx, args[0]) is None and not args[0].startswith("-"):
            if not self._ids or not re.fullmatch(self._ids, args[0]):
                ctx.fail(f"No such command {args[0]!r}.{self._suggested(ctx, args)}")
            args = ["show", *args]
        return super().resolve_command(ctx, args)

    def _suggested(self, ctx: click.Context, args: Sequence[str]) -> str:
        """What may be meant, in a sentence with a blank before it."""
        near = get_close_matches(args[0], self.known_names(ctx), n=3, cutoff=0.6)
        if args[0] not in self._meant and near:
            return f" Did you mean {' or '.join(map(repr, near))}?"
        command = self._meant.get(args[0], self._meant.get("*"))
        return f" Use: {ctx.find_root().info_name} {command.format(shlex.join(args))}" if command else ""

    def known_names(self, ctx: click.Context) -> list[str]:
        """The names that a mistyped one is compared with."""
        return self.list_commands(ctx)


class LazyGroup(ForgivingGroup):
    """A group that imports a command's file when the command is named.

    The help lists ``sections``; those in ``rare`` only when asked for all. ``aliases`` are further names. Without a
    command ``beginning`` is called, where there is one.
    """

    def __init__(
        self,
        *,
        sections: Sections,
        rare: Sections | None = None,
        aliases: Mapping[str, str] | None = None,
        beginning: str | None = None,
        **settings: object,
    ) -> None:
        super().__init__(**settings, invoke_without_command=bool(beginning))  # type: ignore[arg-type]  # ids, meant, and click's
        self._beginning = beginning
        self.sections, self.rare, self.aliases = sections, rare or {}, aliases or {}
        self.locations = {
            name: place for group in (self.sections, self.rare) for one in group.values() for name, place in one.items()
        }

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002  (click's signature)
        """The commands in the order of the help."""
        return list(self.locations)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002  (as above)
        """The command of that name or alias, imported now; ``None`` when there is none."""
        location = self.locations.get(self.aliases.get(cmd_name, cmd_name))
        if location is None:
            return None
        command = _found_at(location)
        return command if isinstance(command, click.Command) else None

    def invoke(self, ctx: click.Context) -> Any:  # noqa: ANN401  (click's signature)
        """Runs the command that is named, or the beginning."""
        if self._beginning and not ctx._protected_args and not ctx.args:  # noqa: SLF001  (as click's own groups do)
            return _found_at(self._beginning)(ctx)
        return super().invoke(ctx)

    def known_names(self, ctx: click.Context) -> list[str]:  # noqa: ARG002  (as above)
        """The names that a mistyped one is compared with, the aliases too."""
        return [*self.locations, *self.aliases]

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The options, then the commands; the everyday ones stand alone, so that they fit a screen."""
        if ctx.parent is None and not ctx.meta.get(EVERY_COMMAND, False):
            self.format_commands(ctx, formatter)
        else:
            super().format_options(ctx, formatter)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The commands in their sections, one line each."""
        every = ctx.meta.get(EVERY_COMMAND, False)
        wide = max(map(len, self.locations))
        for title, names in (*self.sections.items(), *(self.rare.items() if every else ())):
            with formatter.section(title):
                commands = [(name.ljust(wide), self.get_command(ctx, name)) for name in names]
                limit = formatted_width(ctx)
                formatter.write_dl(
                    [(name, one.get_short_help_str(limit=limit) if one else "") for name, one in commands]
                )
        if self.rare and not every:
            hidden = sum(map(len, self.rare.values()))
            formatter.write_paragraph()
            named = " ".join(("help", *ctx.command_path.split()[1:]))
            formatter.write_text(f"`{ctx.find_root().info_name} {named} --all` lists {hidden} more commands.")


def _found_at(location: str) -> Any:  # noqa: ANN401  (what a module holds)
    file, name = location.split(":")
    return getattr(import_module(f"helix_cli.{file}"), name)


def formatted_width(ctx: click.Context) -> int:
    """How wide a help line may be before click shortens it with dots; lines are written to fit 80 columns."""
    return ctx.max_content_width or 80


class TextCommand(click.Command):
    """A command whose positional texts may begin with dashes, when they hold a blank or begin with three dashes."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """The arguments, with such texts moved behind ``--``."""
        if "--" in args:
            return super().parse_args(ctx, args)
        texts = list(self._texts(ctx, args))
        options = [one for place, one in enumerate(args) if place not in texts]
        return super().parse_args(ctx, [*options, *(["--"] if texts else []), *(args[place] for place in texts)])

    def _texts(self, ctx: click.Context, args: Sequence[str]) -> Iterator[int]:
        """The places of texts that begin like an option, and are neither an option nor an option's value."""
        takes_value = {
            name
            for one in self.get_params(ctx)
            if isinstance(one, click.Option) and not (one.is_flag or one.count)
            for name in one.opts
        }
        for place, one in enumerate(args):
            is_value = place > 0 and args[place - 1] in takes_value
            if one.startswith("-") and not is_value and (one.startswith("---") or any(map(str.isspace, one))):
                name = one.partition("=")[0]
                if name not in takes_value:
                    yield place


def joined_words(_: click.Context, __: click.Parameter, words: tuple[str, ...]) -> str | None:
    """The words of a text that was typed without quotation marks; None for any other command line."""
    return " ".join(words) if words else None


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
