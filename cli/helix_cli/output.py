"""How answers are shown: JSON for programs, tables for people.

JSON goes to stdout and nothing else does. A terminal gets lines, tables and trees fitted to its width
(`helix_cli.terminal`); a pipe gets the same as plain aligned text, never shortened, so that ``grep`` finds everything.
Control characters in quoted logs become blanks: an escape sequence that a program once printed must not act on the
reader's terminal.

>>> for line in plain_table(["error", "met"], [["pytest fails: AssertionError", "3"], ["ruff fails: E501", "12"]]):
...     print(line)
error                         met
pytest fails: AssertionError  3
ruff fails: E501              12
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import wraps
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any, TypeVar

import click

from helix_cli.terminal import (
    NOTHING,
    Branch,
    StyledWord,
    clean,
    is_terminal,
    plain_of,
    put_fields,
    put_line,
    put_table,
    put_tree,
    quiet,
    text_of,
    width,
)
from helix_graph.project import OFF_ENVIRONMENT

if TYPE_CHECKING:
    from helix_cli.terminal import Part

    Progress = Callable[[int, int, Path], None]


Answer = TypeVar("Answer")
json_option = click.option("--json", "as_json", is_flag=True, help="Print the answer as JSON.")
#: Where lines go instead of stdout while `rendered` collects them; each thread and task has its own.
_COLLECTED: ContextVar[list[str] | None] = ContextVar("sheet", default=None)


def prints(
    render: Callable[[Any], object], *, failed: Callable[[Any], object] | None = None
) -> Callable[[Callable[..., object]], Callable[..., int]]:
    """Give a command the option ``--json``, and print what its function returns: as JSON, or through ``render``.

    The command ends with 1 where ``failed`` says so of the answer, else with 0.
    """

    def decorate(work: Callable[..., object]) -> Callable[..., int]:
        @wraps(work)
        def run(*, as_json: bool, **options: object) -> int:
            answer = work(**options)
            show(answer, as_json=as_json, render=render)
            return 1 if failed and failed(answer) else 0

        return json_option(run)

    return decorate


def show(answer: Answer, *, as_json: bool, render: Callable[[Answer], object]) -> None:
    """Print an answer as JSON, or through ``render`` with the words of others as quotations.

    JSON is for programs and has each text as it was recorded, in quotation marks of its own.
    """
    if as_json:
        emit_json(answer)
        return
    from helix_graph.quoted_answers import NOTICE, quoted_answer

    shown, quotes = quoted_answer(answer)
    if quotes and '"' in _collected(shown, render):  # what is shown of it may be nobody else's words
        say(quiet(NOTICE))
    render(shown)


def emit_json(answer: object) -> None:
    """Print an answer (a value of the library, or a sequence of them) as JSON."""
    import msgspec

    from helix_graph.insights.safe_quoting import harmless_json

    click.echo(harmless_json(msgspec.json.format(msgspec.json.encode(plain(answer)), indent=2).decode()))


def emit_text(text: str) -> None:
    """Print what another program takes as a file: JSON, or a format that has no character a terminal obeys."""
    from helix_graph.insights.safe_quoting import harmless_json

    click.echo(harmless_json(text), nl=False)


def plain(answer: object) -> Any:  # noqa: ANN401  (what JSON can hold)
    """An answer as what JSON can hold."""
    import msgspec

    return msgspec.to_builtins(answer, enc_hook=_of_other_types, str_keys=True)


def _of_other_types(value: object) -> str:
    if isinstance(value, PurePath):
        return str(value)
    raise TypeError(f"an answer holds a {type(value).__name__}, which has no JSON form")


def rendered(answer: Answer, render: Callable[[Answer], object]) -> str:
    """What ``render`` would print of an answer into a pipe, with the words of others as quotations.

    >>> rendered("met before", say)
    'met before'
    """
    from helix_graph.quoted_answers import quoted_answer

    return _collected(quoted_answer(answer).answer, render)


def _collected(answer: Answer, render: Callable[[Answer], object]) -> str:
    sheet: list[str] = []
    token = _COLLECTED.set(sheet)
    try:
        render(answer)
    finally:
        _COLLECTED.reset(token)
    return "\n".join(sheet)


def say(*parts: Part) -> None:
    """Print one line on stdout, made of texts and words with a tone."""
    cleaned = [_clean(part) for part in parts]
    if writes_to_terminal():
        put_line(cleaned)
    else:
        _put(plain_of(cleaned))


def verbatim(line: str) -> None:
    """Print one line that is there to be copied: a terminal may wrap it, we do not."""
    _put(clean(line))


def tree(branch: Branch) -> None:
    """Print a line and what belongs to it: with guides on a terminal, further in on a pipe."""
    cleaned = _clean_branch(branch)
    if writes_to_terminal():
        put_tree(cleaned)
        return
    for line in _plain_tree(cleaned, 0):
        _put(line)


def table(
    columns: Sequence[str], rows: Sequence[Sequence[Part]], *, numbers: Collection[str] = (), empty: str = ""
) -> None:
    """Print rows under their columns: fitted for a terminal, whole for a pipe.

    A column that says nothing in any row is left out. ``numbers`` names the columns that a terminal sets to the right
    and never breaks. Without rows only the sentence ``empty`` is printed, if there is one.
    """
    if not rows:
        if empty:
            say(empty)
        return
    filled = [at for at in range(len(columns)) if any(text_of(row[at]) not in NOTHING for row in rows)]
    columns, rows = [columns[at] for at in filled], [[row[at] for at in filled] for row in rows]
    cells = []
    for row in rows:  # a line break or a run of blanks would look like the end of a column
        texts = (" ".join(clean(text_of(cell)).split()) for cell in row)
        pairs = zip(row, texts, strict=True)
        cells.append([text if isinstance(cell, str) else StyledWord(text, cell.tone) for cell, text in pairs])
    if writes_to_terminal():
        put_table(columns, cells, numbers=numbers)
        return
    for line in plain_table(columns, [list(map(text_of, row)) for row in cells]):
        _put(line)


def plain_table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Yield aligned lines; every cell is whole and the last column has no padding."""
    everything = [list(columns), *map(list, rows)]
    widths = [max(map(width, column)) for column in zip(*everything, strict=True)]
    for row in everything:
        yield "  ".join(cell + " " * (wide - width(cell)) for cell, wide in zip(row, widths, strict=True)).rstrip()


def fields(rows: Sequence[tuple[str, Part]]) -> None:
    """Print names with their values, one per line."""
    cleaned = [(clean(name), _clean(value)) for name, value in rows]
    if writes_to_terminal():
        put_fields(cleaned)
        return
    wide = max(len(name) for name, _ in cleaned)
    for name, value in cleaned:
        _put(f"{name.ljust(wide)}  {text_of(value)}")


def with_note(render: Callable[[Answer], object], note: str) -> Callable[[Answer], object]:
    """The same print, with a sentence below it where there is one."""

    def both(answer: Answer) -> None:
        render(answer)
        if note:
            say()
            say(note)

    return both


def warn(text: str) -> None:
    """Print one line on stderr, apart from the answer; nothing is printed while answers are only collected."""
    if _COLLECTED.get() is None:
        click.echo(f"helix-graph: {clean(text)}", err=True)


def warn_of_more(left: int, noun: str, *, advice: str = "--json has all") -> None:
    """Say on stderr how many rows were not shown, if any, and how to see them."""
    if left > 0:
        warn(f"{count(left, f'more {noun}')}; {advice}")


def writes_to_terminal() -> bool:
    """Whether what is said now is shown on a terminal."""
    return _COLLECTED.get() is None and is_terminal()


def _put(line: str) -> None:
    sheet = _COLLECTED.get()
    if sheet is None:
        click.echo(line)
    else:
        sheet.append(line)


def _plain_tree(branch: Branch, indent: int) -> Iterator[str]:
    yield " " * indent + plain_of(branch.line)
    for below in branch.below:
        yield from _plain_tree(below, indent + branch.indent)


def _clean(part: Part) -> Part:
    return clean(part) if isinstance(part, str) else StyledWord(clean(part.text), part.tone)


def _clean_branch(branch: Branch) -> Branch:
    return Branch(tuple(map(_clean, branch.line)), tuple(map(_clean_branch, branch.below)), branch.indent)


@contextmanager
def progress(label: str) -> Iterator[Progress | None]:
    """Yield what to call with (done, total, file) to move a bar on stderr; ``None`` when no terminal watches."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.markup import escape
    from rich.progress import Progress as Bar

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


#: The beginning of a random id identifies it; an id that begins with its time needs more.
_UUID = re.compile(r"([0-9a-f]{8})-[0-9a-f]{4}-([0-9a-f])[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}")
_TIMED = 13


def short_id(session: str) -> str:
    """The beginning of a session's id, by which commands know it; whole where it is no UUID.

    >>> short_id("454660fe-39ff-4d26-8b12-1f2e3d4c5b6a"), short_id("morning")
    ('454660fe', 'morning')
    """
    name = session.removeprefix("episode-")
    found = _UUID.fullmatch(name)
    if found is None:
        return name
    return name[:_TIMED] if found[2] == "7" else found[1]


def count(number: int, noun: str, plural: str = "") -> str:
    """A number with its noun.

    >>> count(1, "episode"), count(3, "episode"), count(2, "entry"), count(2, "leaf", "leaves")
    ('1 episode', '3 episodes', '2 entries', '2 leaves')
    """
    regular = f"{noun[:-1]}ies" if noun.endswith("y") and noun[-2] not in "aeou" else f"{noun}s"
    return f"{number} {noun}" if number == 1 else f"{number} {plural or regular}"


def paused_sentence(reason: str) -> str:
    """That hooks and background jobs are paused, and what ends it.

    >>> paused_sentence("Paused for this project")
    'Paused for this project. Undo: helix-graph resume'
    """
    undo = f"unset {OFF_ENVIRONMENT}" if OFF_ENVIRONMENT in reason else "helix-graph resume"
    return f"{reason}. Undo: {undo}"
