"""What docs/reference/cli.md says of each command from its own help: how it is called, what it does, its options.

The page keeps this between two marks in each section; what is beyond them is written by hand. `tests/test_docs.py`
compares the two, and run as a program writes them.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from collections.abc import Iterator

BEGIN, END = "<!-- from the help -->", "<!-- end -->"
#: Options that every command has, and one that every command of `insight` has: the page explains them once.
_EVERYWHERE = frozenset({"--json", "--help"})
_OF_INSIGHT = "--verbose"


def reference(name: str, command: click.Command) -> str:
    """The part of a command's section that its help gives, marks included."""
    context = click.Context(command, info_name=f"helix-graph {name}")
    usage = command.collect_usage_pieces(context)
    parts = [BEGIN, f"`{context.info_name} {' '.join(usage)}`", *_paragraphs(command.help or "")]
    rows = [row for one in command.params if isinstance(one, click.Option) and (row := _row(one, context))]
    if rows:
        parts.append("\n".join(["| option | what it does |", "|---|---|", *rows]))
    return "\n\n".join([*parts, END])


def with_reference(page: str, name: str, command: click.Command) -> str:
    """The page with this part in the command's section as the help is now; without the marks it stays as it is."""
    heading = f"## `helix-graph {name}`\n\n{BEGIN}"
    before, found, after = page.partition(heading)
    if not found:
        return page
    _, _, rest = after.partition(END)
    return f"{before}{found.removesuffix(BEGIN)}{reference(name, command)}{rest}"


def _paragraphs(text: str) -> Iterator[str]:
    for paragraph in re.split(r"\n\s*\n", text.strip()):
        if paragraph.startswith("\b"):
            lines = [line.rstrip() for line in paragraph.lstrip("\b\n").splitlines()]
            yield "```text\n" + "\n".join(lines) + "\n```"
        else:
            yield " ".join(paragraph.split()).replace("<", "&lt;")


def _row(option: click.Option, context: click.Context) -> str:
    if (
        option.hidden
        or _EVERYWHERE & set(option.opts)
        or (option.opts == [_OF_INSIGHT] and " insight " in (context.info_name or ""))
    ):
        return ""
    names = [*option.opts, *option.secondary_opts]
    kind = option.type
    metavar = "" if option.is_flag or isinstance(kind, click.Choice) else _value_name(option, context)
    shown = ", ".join(f"`{name} {metavar}`" if metavar else f"`{name}`" for name in names)
    details = [(option.help or "").strip()]
    if isinstance(kind, click.Choice):
        details.append(f"One of {', '.join(f'`{one}`' for one in kind.choices)}.")
    details += _bounds(option, context)
    return f"| {shown} | {' '.join(details)} |".replace("<", "&lt;")


def _value_name(option: click.Option, context: click.Context) -> str:
    name = option.make_metavar(context).replace("|", " or ")
    return {"INTEGER": "N", "INTEGER RANGE": "N", "FLOAT": "X", "FLOAT RANGE": "X", "FILENAME": "FILE"}.get(name, name)


def _bounds(option: click.Option, context: click.Context) -> Iterator[str]:
    if option.required:
        yield "Required."
    default = option.get_default(context)
    if option.show_default and default is not None and not option.is_flag:
        yield f"Default: {default}."
    kind = option.type
    if isinstance(kind, click.IntRange | click.FloatRange) and kind.min is not None and kind.max is not None:
        yield f"Between {kind.min} and {kind.max}." if kind.min_open else f"From {kind.min} to {kind.max}."
