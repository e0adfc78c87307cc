r"""How answers are shown: JSON for programs, tables for people.

JSON goes to stdout and nothing else does. A terminal gets tables fitted to its width; a pipe gets the same rows as
plain aligned text, never shortened, so that ``grep`` finds what is there. Control characters of quoted logs are
replaced by blanks: an escape sequence that some program once printed must not act on the reader's terminal.

>>> for line in plain_table(["error", "met"], [["pytest fails: AssertionError", "3"], ["ruff fails: E501", "12"]]):
...     print(line)
error                         met
pytest fails: AssertionError  3
ruff fails: E501              12
"""

from __future__ import annotations

import sys
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    Progress = Callable[[int, int, Path], None]

Answer = TypeVar("Answer")
#: Where lines go instead of stdout while `rendered` collects them; each thread and task has its own.
_SHEET: ContextVar[list[str] | None] = ContextVar("sheet", default=None)


def show(answer: Answer, *, as_json: bool, render: Callable[[Answer], None]) -> None:
    """Print an answer as JSON, or through ``render``."""
    if as_json:
        emit_json(answer)
    else:
        render(answer)


def emit_json(answer: object) -> None:
    """Print an answer (a value of the library, or a sequence of them) as JSON."""
    import msgspec  # noqa: PLC0415  (--version does without)

    click.echo(msgspec.json.format(msgspec.json.encode(plain(answer)), indent=2))


def plain(answer: object) -> Any:  # noqa: ANN401  (what JSON can hold)
    """An answer as what JSON can hold."""
    import msgspec  # noqa: PLC0415  (as above)

    return msgspec.to_builtins(answer, enc_hook=_of_other_types, str_keys=True)


def _of_other_types(value: object) -> str:
    if isinstance(value, PurePath):
        return str(value)
    problem = f"an answer holds a {type(value).__name__}, which has no JSON form"
    raise TypeError(problem)


def rendered(answer: Answer, render: Callable[[Answer], None]) -> str:
    """What ``render`` would print of an answer into a pipe.

    >>> rendered("met before", say)
    'met before'
    """
    sheet: list[str] = []
    token = _SHEET.set(sheet)
    try:
        render(answer)
    finally:
        _SHEET.reset(token)
    return "\n".join(sheet)


def say(text: str = "") -> None:
    """Print one line on stdout."""
    _put(clean(text))


def _put(line: str) -> None:
    sheet = _SHEET.get()
    if sheet is None:
        click.echo(line)
    else:
        sheet.append(line)


def complain(text: str) -> None:
    """Print one line on stderr, where it does not mix with the answer."""
    click.echo(f"helix-graph: {clean(text)}", err=True)


def clean(text: str) -> str:
    r"""Replace every line break and control character by a blank.

    >>> clean("\x1b[31m2 failed\nin 0.3 s")
    ' [31m2 failed in 0.3 s'
    """
    return "".join(character if character.isprintable() else " " for character in text)


def table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print rows under their columns: fitted for a terminal, whole for a pipe."""
    cells = [[" ".join(clean(cell).split()) for cell in row] for row in rows]
    if _SHEET.get() is None and sys.stdout.isatty():
        _fitted_table(columns, cells)
        return
    for line in plain_table(columns, cells):
        _put(line)


def plain_table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Yield aligned lines; every cell is whole and the last column has no padding."""
    everything = [list(columns), *map(list, rows)]
    widths = [max(map(len, column)) for column in zip(*everything, strict=True)]
    for row in everything:
        yield "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()


def _fitted_table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    from rich.console import Console  # noqa: PLC0415  (80 ms that only a terminal needs)
    from rich.table import Table  # noqa: PLC0415  (as above)
    from rich.text import Text  # noqa: PLC0415  (as above)

    fitted = Table(box=None, pad_edge=False, header_style="bold")
    for column in columns:
        fitted.add_column(column, overflow="fold")
    for row in rows:
        fitted.add_row(*map(Text, row))  # Text, because "[lint]" in a log is not markup
    Console().print(fitted)


def fields(rows: Sequence[tuple[str, str]]) -> None:
    """Print names and what they stand for, one per line."""
    width = max(len(name) for name, _ in rows)
    for name, value in rows:
        say(f"{name.ljust(width)}  {value}")


@contextmanager
def progress(label: str) -> Iterator[Progress | None]:
    """Yield what to call with (done, total, file) to move a bar on stderr; ``None`` when no terminal watches."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console  # noqa: PLC0415  (as above)
    from rich.markup import escape  # noqa: PLC0415  (as above)
    from rich.progress import Progress as Bar  # noqa: PLC0415  (as above)

    with Bar(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(label, total=None)

        def advance(done: int, total: int, file: Path) -> None:
            bar.update(task, completed=done, total=total, description=f"{label} {escape(clean(file.name))}")

        yield advance


def percent(share: float | None) -> str:
    """A share between 0 and 1 for reading; ``-`` when it is not known.

    >>> percent(0.387), percent(None)
    ('39 %', '-')
    """
    return "-" if share is None else f"{share:.0%}".replace("%", " %")


def points(difference: float) -> str:
    """A difference of two shares (-1 to 1) in points of a hundred, with its sign.

    >>> points(-0.171), points(0.004)
    ('-17', '+0')
    """
    return f"{100 * difference:+.0f}"


def count(number: int, noun: str) -> str:
    """A number with its noun.

    >>> count(1, "episode"), count(3, "episode")
    ('1 episode', '3 episodes')
    """
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
