"""Lines, fields, tables and trees as a terminal shows them: nothing wider than it is, nothing cut.

What is too long goes on in the next line, under its own beginning. A table whose columns would be squeezed is set as a
card for each row instead. Columns in which no row has anything are left out. Texts come here clean.
"""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

from helix_cli.terminal.characters import escaped
from helix_cli.terminal.pieces import plain_of, quiet, text_of
from helix_cli.terminal.screen import columns, console, encoding, style_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from rich.table import Table
    from rich.text import Text
    from rich.tree import Tree

    from helix_cli.terminal.pieces import Branch, Part

    Row = Sequence[Part]

#: Blanks between columns: with one, numbers and words run together.
GAP = 2
#: A column of texts is not squeezed below this: words in single file are harder to read than a card.
_TEXT_AT_LEAST = 16
#: What is no longer than this stands beside others on a card; anything else has a line of its own.
_BESIDE = 16
#: In longer lines of prose the eye loses the next one.
_PROSE = 100
_NOTHING = frozenset(("", "-"))


def put_line(parts: Sequence[Part]) -> None:
    """One line, continued as far in as it begins."""
    text, room = plain_of(parts), min(columns(), _PROSE)
    if text.isascii() and len(text) <= room and all(isinstance(part, str) for part in parts):
        print(text)  # noqa: T201  (most lines need nothing of rich, which takes 100 ms to load)
        return
    indent = min(len(text) - len(text.lstrip(" ")), room // 2)
    console().print(_indented(_text(parts)[indent:], indent), width=room)


def put_fields(rows: Sequence[tuple[str, Part]]) -> None:
    """Names and what they stand for; where names would take more than a third, each value stands below its name."""
    screen = console()
    if 3 * max(len(name) for name, _ in rows) <= screen.width:
        screen.print(_pairs(rows))
        return
    for name, value in rows:
        screen.print(_text([quiet(name)]))
        screen.print(_indented(_text([value]), GAP + len(name) - len(name.lstrip())))


def put_table(names: Sequence[str], rows: Sequence[Row], *, numbers: Collection[str]) -> None:
    """Rows under their columns, or a card for each where they do not fit."""
    shown = [place for place in range(len(names)) if any(text_of(row[place]) not in _NOTHING for row in rows)]
    kept, cells = [names[place] for place in shown], [[row[place] for place in shown] for row in rows]
    widths = [max(map(_width, column)) for column in zip(kept, *cells, strict=True)]
    least = sum(wide if name in numbers else min(wide, _TEXT_AT_LEAST) for name, wide in zip(kept, widths, strict=True))
    if least + GAP * (len(kept) - 1) <= columns():
        _put_columns(kept or names, cells, numbers)
    else:
        _put_cards(kept, cells, beside={name for name, wide in zip(kept, widths, strict=True) if wide <= _BESIDE})


def put_tree(branch: Branch) -> None:
    """A line with its branches."""
    from rich.tree import Tree  # noqa: PLC0415  (only a terminal needs it)

    tree = Tree(_text(branch.line), guide_style=style_of(quiet("").tone))
    _grow(tree, branch.below)
    console().print(tree)


def _grow(tree: Tree, branches: Iterable[Branch]) -> None:
    for branch in branches:
        _grow(tree.add(_text(branch.line)), branch.below)


def _put_columns(names: Sequence[str], rows: Sequence[Row], numbers: Collection[str]) -> None:
    table = _table()
    for name in names:
        number = name in numbers
        table.add_column(name, overflow="fold", justify="right" if number else "left", no_wrap=number)
    for row in rows:
        table.add_row(*(_text([cell]) for cell in row))
    console().print(table)


def _put_cards(names: Sequence[str], rows: Sequence[Row], *, beside: Collection[str]) -> None:
    screen = console()
    for place, row in enumerate(rows):
        if place:
            screen.print()
        filled = [(name, cell) for name, cell in zip(names, row, strict=True) if text_of(cell) not in _NOTHING]
        short = [(name, cell) for name, cell in filled if name in beside]
        if short:
            screen.print(_text(list(_in_one_line(short))))
        put_fields([(f"  {name}", cell) for name, cell in filled if name not in beside])


def _in_one_line(cells: Sequence[tuple[str, Part]]) -> Iterable[Part]:
    gaps = chain([""], [" " * GAP] * len(cells))
    return chain.from_iterable((gap, quiet(f"{name} "), cell) for gap, (name, cell) in zip(gaps, cells, strict=False))


def _pairs(rows: Sequence[tuple[str, Part]]) -> Table:
    grid = _table(header=False)
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold")
    for name, value in rows:
        grid.add_row(_text([quiet(name)]), _text([value]))
    return grid


def _table(*, header: bool = True) -> Table:
    from rich.table import Table  # noqa: PLC0415  (as above)

    return Table(box=None, pad_edge=False, padding=(0, GAP, 0, 0), header_style="bold", show_header=header)


def _indented(text: Text, blanks: int) -> object:
    from rich.padding import Padding  # noqa: PLC0415  (as above)

    return Padding(text, (0, 0, 0, blanks))


def _text(parts: Iterable[Part]) -> Text:
    """Parts as rich has them: nothing in them is markup."""
    from rich.text import Text  # noqa: PLC0415  (as above)

    text = Text(overflow="fold")
    for part in parts:
        text.append(_shown(part), style=None if isinstance(part, str) else style_of(part.tone))
    return text


def _shown(part: Part) -> str:
    return escaped(text_of(part), encoding())


def _width(part: Part) -> int:
    from rich.cells import cell_len  # noqa: PLC0415  (as above)

    return cell_len(_shown(part))
