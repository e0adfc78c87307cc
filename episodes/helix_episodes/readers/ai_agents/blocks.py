"""Markdown as blocks with their lines: headings, items, rows of tables, paragraphs, code.

Only what these logs use is understood. Wrapped lines are joined to the block they continue; emphasis, check boxes and
the signs before a line are told apart from its words.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal

import msgspec

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

Kind = Literal["heading", "item", "row", "paragraph", "code", "rule"]

_HEADING = re.compile(r"^(#{1,6})\s+(.*?)\s*#*$")
_ITEM = re.compile(r"^(\s*)(?:[-*+]|\d+[.)])\s+(.*)$")
_BOX = re.compile(r"^\[([ xX]|N/A)\]\s*")
_FENCE = re.compile(r"^\s*(```|~~~)")
_RULE = re.compile(r"^\s*([-*_]\s*){3,}$")
_SEPARATOR = re.compile(r"^[\s|:-]+$")
_SIGNS = re.compile(r"^[\s\u2600-\u27bf\ufe0f\U0001f000-\U0001faff]+")
_LABEL = re.compile(r"^\*\*(?P<name>[^*]{1,80}?)\s*:?\s*\*\*\s*(?P<colon>:?)\s*(?P<rest>.*)$", re.DOTALL)
_PLAIN_LABEL = re.compile(r"^(?P<name>[A-Z][A-Za-z]+(?: [A-Za-z]+)?):\s+(?P<rest>\S.*)$", re.DOTALL)
_EMPHASIS = re.compile(r"\*\*|(?<![\w*])\*(?=\S)|(?<=\S)\*(?![\w*])|(?<!\w)_(?=\w)|(?<=[\w.])_(?!\w)")
_CODE = re.compile(r"(`[^`]*`)")
_LINK = re.compile(r"\[([^\]]+)\]\([^)]+\)")


class Block(msgspec.Struct, frozen=True, kw_only=True):
    """One block. ``level`` is a heading's level or an item's indent; ``cells`` and ``columns`` are a row's.

    ``box`` is what stands in an item's check box: None without one.
    """

    kind: Kind
    line: int
    last: int
    text: str = ""
    level: int = 0
    box: str | None = None
    cells: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()

    @property
    def lines(self) -> range:
        """The lines that it stands on."""
        return range(self.line, self.last + 1)

    @property
    def label(self) -> tuple[str, str] | None:
        """``**Name**: text`` or ``Name: text`` taken apart."""
        match = _LABEL.match(self.text) or _PLAIN_LABEL.match(self.text)
        return (match["name"].strip(" :"), plain(match["rest"])) if match else None


def plain(text: str) -> str:
    """Text without emphasis, targets of links and the signs before it.

    >>> plain("\u2705 **Use** [the hook](docs/hook.md)")
    'Use the hook'
    """
    parts = _CODE.split(_LINK.sub(r"\1", _SIGNS.sub("", text)))
    return "".join(part if part.startswith("`") else _EMPHASIS.sub("", part) for part in parts).strip()


def blocks_of(lines: Sequence[str]) -> list[Block]:
    """The blocks of a text in order."""
    return list(_joined(_single(lines)))


def _single(lines: Sequence[str]) -> Iterator[Block]:
    """A block a line, code fences as one; columns are those of the table's first row."""
    columns: tuple[str, ...] = ()
    fence = 0
    for number, raw in enumerate(lines, 1):
        line = raw.strip("\r\n").removeprefix("> ").rstrip()
        if _FENCE.match(line) or fence:
            fence = 0 if fence and _FENCE.match(line) else fence or number
            yield Block(kind="code", line=number, last=number, text=line)
        elif line.lstrip().startswith("|"):
            cells = _cells(line)
            if not columns:
                columns = cells
                yield Block(kind="rule", line=number, last=number)
            elif _SEPARATOR.match(line):
                yield Block(kind="rule", line=number, last=number)
            else:
                yield Block(kind="row", line=number, last=number, cells=cells, columns=columns)
        else:
            columns = ()
            yield _plain_block(line, number)


def _plain_block(line: str, number: int) -> Block:
    heading, item = _HEADING.match(line), _ITEM.match(line)
    if not line.strip() or _RULE.match(line):
        return Block(kind="rule", line=number, last=number)
    if heading:
        return Block(kind="heading", line=number, last=number, text=heading[2], level=len(heading[1]))
    if item:
        box = _BOX.match(item[2])
        text = item[2][box.end() :] if box else item[2]
        return Block(kind="item", line=number, last=number, text=text, level=len(item[1]), box=box[1] if box else None)
    indent = len(line) - len(line.lstrip())
    return Block(kind="paragraph", line=number, last=number, text=line.strip(), level=indent)


def _joined(blocks: Iterator[Block]) -> Iterator[Block]:
    """Lines that only continue the one before become part of it; a label begins a block of its own."""
    last: Block | None = None
    for block in blocks:
        if last is not None and _continues(last, block):
            between = "\n" if block.kind == "code" else " "
            last = msgspec.structs.replace(last, text=f"{last.text}{between}{block.text}", last=block.line)
            continue
        if last is not None:
            yield last
        last = block
    if last is not None:
        yield last


def _continues(last: Block, block: Block) -> bool:
    if block.kind == "code":
        return last.kind == "code" and last.last == block.line - 1
    return (
        block.kind == "paragraph"
        and last.kind in {"item", "paragraph"}
        and (_LABEL.match(block.text) is None)
        and not _SIGNS.match(block.text)
        and not (last.kind == "paragraph" and _is_bare_label(last.text))
    )


def _is_bare_label(text: str) -> bool:
    match = _LABEL.match(text)
    return match is not None and not match["rest"]


def _cells(line: str) -> tuple[str, ...]:
    return tuple(cell.strip() for cell in line.strip().strip("|").split("|"))
