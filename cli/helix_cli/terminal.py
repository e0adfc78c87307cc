r"""Lines for a terminal: what they are made of, and how they are fitted to its width.

Commands build lines from harmless text, words with a tone and branches of a tree, and print them through
`helix_cli.output`. A pipe gets their plain text. A terminal gets the same words in colour, never wider than it is and
never cut; rich, which draws them, loads only then: programs and agents that read pipes never pay for it. A tone says
what a word means, never more than the word itself says, so that nothing is lost where there are no colours.

Long text continues on the next line under its own beginning. A table whose columns would become too narrow is shown as
one card per row. Columns that are empty in every row are left out.

====================  =================================================================================
`NO_COLOR`            set to anything: no colours, no bold, not one escape sequence
`TERM=dumb`           the same
`COLUMNS`             the width, where the terminal's own is not to be taken
====================  =================================================================================

>>> plain_of(("outcome: ", verdict("failure")))
'outcome: failure'
>>> verdict("failure").tone, verdict("too early").tone, verdict("told").tone
('bad', 'unsure', 'plain')
>>> clean("\x1b[31m2 failed\nin 0.3 s")
' [31m2 failed in 0.3 s'
>>> width("naïve"), width("価格"), width("e\u0301")
(5, 4, 1)
>>> escaped("a → b", "ascii")
'a \\u2192 b'
"""

from __future__ import annotations

import os
import sys
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions
    from rich.padding import Padding
    from rich.table import Table
    from rich.text import Text
    from rich.tree import Tree

    Row: TypeAlias = "Sequence[Part]"


_WIDE = frozenset("WF")
_OVER_THE_LAST = frozenset(("Mn", "Me"))


def clean(text: str) -> str:
    """Replace every line break, control character and invisible mark by a blank."""
    return text if text.isprintable() else "".join(each if each.isprintable() else " " for each in text)


def clean_lines(text: str) -> str:
    """The same line by line, for a text that has several of its own."""
    return "\n".join(map(clean, text.split("\n")))


def width(text: str) -> int:
    """How many columns a clean text takes: two for East Asian wide characters, none for marks over the last one."""
    if text.isascii():
        return len(text)
    return sum(map(_columns_of, text))


def _columns_of(character: str) -> int:
    import unicodedata

    if unicodedata.category(character) in _OVER_THE_LAST:
        return 0
    return 2 if unicodedata.east_asian_width(character) in _WIDE else 1


def escaped(text: str, encoding: str) -> str:
    """A text as a stream of that encoding shows it: what it lacks as an escape, so that widths are counted right."""
    if text.isascii():
        return text
    return text.encode(encoding, "backslashreplace").decode(encoding)


#: What a word means to the reader.
Tone: TypeAlias = Literal["plain", "strong", "quiet", "good", "bad", "unsure"]


class StyledWord(NamedTuple):
    """A text with a tone."""

    text: str
    tone: Tone


Part: TypeAlias = str | StyledWord
#: What our own vocabulary means; anything else stays as it is.
_WORDS_OF: dict[Tone, tuple[str, ...]] = {
    "good": ("success", "ok", "supported", "verified", "available"),
    "bad": ("failure", "error", "contradicted"),
    "unsure": ("partial", "unknown", "too early", "not verified", "not measured", "provisional", "comes last"),
    "strong": ("associated",),
}
_VERDICTS: dict[str, Tone] = {word: tone for tone, words in _WORDS_OF.items() for word in words}


class Branch(NamedTuple):
    """A line and what belongs to it. In a pipe what is below is indented by ``indent`` blanks."""

    line: tuple[Part, ...]
    below: tuple[Branch, ...] = ()
    indent: int = 2


def strong(text: str) -> StyledWord:
    """What the eye should find first: a label, a heading."""
    return StyledWord(text, "strong")


def quiet(text: str) -> StyledWord:
    """What is there for who looks closer: places, names of fields."""
    return StyledWord(text, "quiet")


def verdict(text: str) -> StyledWord:
    """A word of our vocabulary in the tone that it has there."""
    return StyledWord(text, _VERDICTS.get(text, "plain"))


def leaf(*parts: Part) -> Branch:
    """A line by itself."""
    return Branch(parts)


def text_of(part: Part) -> str:
    """The text of a part."""
    return part if isinstance(part, str) else part.text


def plain_of(parts: Iterable[Part]) -> str:
    """A line as a pipe gets it."""
    return "".join(map(text_of, parts))


#: Okabe and Ito's blue, vermilion and purple, made for the colour-blind. The first two are visible (3 : 1 and more) on
#: black as well as on white, so the terminal's own background need not be known; the purple is darkened until it does.
STYLES: dict[Tone, str] = {
    "plain": "",
    "strong": "bold",
    "quiet": "dim",
    "good": "#0072b2",
    "bad": "bold #d55e00",
    "unsure": "italic #b0628f",
}
#: Narrower than this nothing can be set; lines then run over, as they do everywhere else.
_NARROWEST = 20
#: Where a terminal does not say how wide it is.
_COMMON = (80, 24)


def is_terminal() -> bool:
    """Whether stdout is a terminal."""
    return sys.stdout is not None and sys.stdout.isatty()


def columns() -> int:
    """How many columns there are: `COLUMNS`, else what the terminal says."""
    import shutil

    return max(_NARROWEST, shutil.get_terminal_size(_COMMON).columns)


def encoding() -> str:
    """How stdout writes characters."""
    return sys.stdout.encoding or "utf-8"


def console() -> Console:
    """What draws on this terminal, as wide as it is."""
    from rich.console import Console

    has_colours = not os.environ.get("NO_COLOR") and os.environ.get("TERM") not in ("dumb", "unknown")
    return Console(
        file=sys.stdout,
        width=columns(),
        height=_COMMON[1],  # without it rich takes a dumb terminal for 80 columns wide
        force_terminal=True,
        color_system="auto" if has_colours else None,
        highlight=False,
        markup=False,
        emoji=False,
    )


#: Blanks between columns: with one, numbers and words run together.
GAP = 2
#: A column of texts is not squeezed below this: words in single file are harder to read than a card.
_TEXT_AT_LEAST = 16
#: Nor broken within a word, unless that is longer than a session's name, as paths are.
_WORD_AT_MOST = 36
#: Numbers, and texts no longer than this, share a line of a card; anything else has a line of its own.
_BESIDE = 13
#: In longer lines of prose the eye loses the next one.
_PROSE = 100
#: What a cell holds that says nothing.
NOTHING = frozenset(("", "-"))


def put_line(parts: Sequence[Part]) -> None:
    """One line, continued as far in as it begins."""
    text, room = plain_of(parts), min(columns(), _PROSE)
    if text.isascii() and len(text) <= room and all(isinstance(part, str) for part in parts):
        print(text)  # noqa: T201  (most lines need nothing of rich, which takes 100 ms to load)
        return
    indent = min(len(text) - len(text.lstrip(" ")), room // 2)
    console().print(_indented(_Line(_text(parts)[indent:]), indent), width=room)


def put_fields(rows: Sequence[tuple[str, Part]]) -> None:
    """Names with their values; where names would take more than half, each value is below its name."""
    screen = console()
    if 2 * max(len(name) for name, _ in rows) <= screen.width:
        screen.print(_pairs(rows))
        return
    for name, value in rows:
        screen.print(_text([quiet(name)]))
        screen.print(_indented(_text([value]), GAP + len(name) - len(name.lstrip())))


def put_table(names: Sequence[str], rows: Sequence[Row], *, numbers: Collection[str]) -> None:
    """Rows under their columns, or a card for each where they do not fit."""
    columns_of = [
        _Column(name, [row[place] for row in rows], number=name in numbers) for place, name in enumerate(names)
    ]
    if sum(column.least for column in columns_of) + GAP * (len(columns_of) - 1) <= columns():
        _put_columns(columns_of)
    else:
        _put_cards(columns_of)


class _Column:
    """A column: how wide it is by itself, and the least that it can be read at."""

    def __init__(self, name: str, cells: Sequence[Part], *, number: bool) -> None:
        self.name = name
        self.cells = cells
        self.number = number
        self.width = max(map(_width, (name, *cells)))
        words = chain.from_iterable(text_of(cell).split() for cell in (name, *cells))
        longest = min(max(map(_width, words), default=0), _WORD_AT_MOST)
        self.least = self.width if number else max(longest, min(self.width, _TEXT_AT_LEAST))
        self.is_short = number or self.width <= _BESIDE


def put_tree(branch: Branch) -> None:
    """A line with its branches."""
    from rich.tree import Tree

    tree = Tree(_Line(_text(branch.line)), guide_style=STYLES["quiet"])
    _grow(tree, branch.below)
    console().print(tree)


def _grow(tree: Tree, branches: Iterable[Branch]) -> None:
    for branch in branches:
        _grow(tree.add(_Line(_text(branch.line))), branch.below)


class _Line:
    """A line that, where it is too long, ends at one of its double blanks first: what is between them is one thing.

    It is a renderable of rich, which asks for it in the width that guides and indents leave.
    """

    def __init__(self, text: Text) -> None:
        self._text = text

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Text]:
        things = self._text.split("  ")
        line = things[0]
        for thing in things[1:]:
            if line.cell_len + GAP + thing.cell_len > options.max_width:
                yield line
                line = thing
            else:
                line = line.append("  ").append_text(thing)
        yield line


def _put_columns(shown: Sequence[_Column]) -> None:
    table = _table()
    for one in shown:
        table.add_column(
            one.name,
            overflow="fold",
            justify="right" if one.number else "left",
            no_wrap=one.number,
            min_width=one.least,
        )
    for row in zip(*(one.cells for one in shown), strict=True):
        table.add_row(*(_text([cell]) for cell in row))
    console().print(table)


def _put_cards(shown: Sequence[_Column]) -> None:
    screen = console()
    for place, row in enumerate(zip(*(one.cells for one in shown), strict=True)):
        if place:
            screen.print()
        filled = [(one, cell) for one, cell in zip(shown, row, strict=True) if text_of(cell) not in NOTHING]
        short = [(one.name, cell) for one, cell in filled if one.is_short]
        for line in _lines(short, screen.width):
            screen.print(_text(line))
        if rest := [(f"  {one.name}", cell) for one, cell in filled if not one.is_short]:
            put_fields(rest)


def _lines(cells: Iterable[tuple[str, Part]], room: int) -> Iterator[list[Part]]:
    """Short cells behind their names, as many on a line as fit."""
    line: list[Part] = []
    for name, cell in cells:
        piece: list[Part] = [quiet(f"{name} "), cell]
        if line and sum(map(_width, line)) + GAP + sum(map(_width, piece)) > room:
            yield line
            line = []
        line += [" " * GAP, *piece] if line else piece
    if line:
        yield line


def _pairs(rows: Sequence[tuple[str, Part]]) -> Table:
    grid = _table(header=False)
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold")
    for name, value in rows:
        grid.add_row(_text([quiet(name)]), _text([value]))
    return grid


def _table(*, header: bool = True) -> Table:
    from rich.table import Table

    return Table(box=None, pad_edge=False, padding=(0, GAP, 0, 0), header_style="bold", show_header=header)


def _indented(text: Text | _Line, blanks: int) -> Padding:
    from rich.padding import Padding

    return Padding(text, (0, 0, 0, blanks), expand=False)


def _text(parts: Iterable[Part]) -> Text:
    """Parts as rich has them: nothing in them is markup."""
    from rich.text import Text

    text = Text(overflow="fold")
    for part in parts:
        text.append(_shown(part), style=None if isinstance(part, str) else STYLES[part.tone])
    return text


def _shown(part: Part) -> str:
    return escaped(text_of(part), encoding())


def _width(part: Part) -> int:
    from rich.cells import cell_len

    return cell_len(_shown(part))
