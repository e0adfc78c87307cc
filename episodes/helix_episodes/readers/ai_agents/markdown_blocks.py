"""Markdown as blocks with their lines, and what headings and labels among them say.

markdown-it-py parses the text; of its tokens, headings, items, rows of tables, paragraphs and code become blocks.
Wrapped lines are joined; emphasis, check boxes and leading signs are separated from the words. A heading or label is
either a statement itself or only names what is below it.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Literal

import msgspec

from helix_episodes.readers.ai_agents.words import is_cause, label_role, role_of, words_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from markdown_it import MarkdownIt
    from markdown_it.token import Token

    from helix_episodes.readers.ai_agents.words import Role


BlockKind = Literal["heading", "item", "row", "paragraph", "code"]

_BOX = re.compile(r"^\[([ xX]|N/A)\]\s*")
_SIGNS = re.compile(r"^[\s\u2600-\u27bf\ufe0f\U0001f000-\U0001faff]+")
_LABEL = re.compile(r"^\*\*(?P<name>[^*]{1,80}?)\s*(?::\s*)?\*\*\s*(?P<colon>:?)\s*(?P<rest>.*)$", re.DOTALL)
_PLAIN_LABEL = re.compile(r"^(?P<name>[A-Z][A-Za-z]+(?: [A-Za-z]+)?):\s+(?P<rest>\S.*)$", re.DOTALL)
_EMPHASIS = re.compile(r"\*\*|(?<![\w*])\*(?=\S)|(?<=\S)\*(?![\w*])|(?<!\w)_(?=\w)|(?<=[\w.])_(?!\w)")
_CODE = re.compile(r"(`[^`]*`)")
_LINK = re.compile(r"\[([^\]]+)\]\([^)]+\)")


class MarkdownBlock(msgspec.Struct, frozen=True, kw_only=True):
    """One block. ``level`` is a heading's level or how deep lists are nested; ``cells`` and ``columns`` are a row's.

    ``box`` is what is in an item's check box: None without one.
    """

    kind: BlockKind
    line: int
    last: int
    text: str = ""
    level: int = 0
    box: str | None = None
    cells: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()

    @property
    def lines(self) -> range:
        """Its lines."""
        return range(self.line, self.last + 1)

    @property
    def label(self) -> tuple[str, str] | None:
        """``**Name**: text`` or ``Name: text`` as its two parts."""
        match = _LABEL.match(self.text) or _PLAIN_LABEL.match(self.text)
        return (match["name"].strip(" :"), plain_text(match["rest"])) if match else None


def plain_text(text: str) -> str:
    """Text without emphasis, targets of links and the signs before it.

    >>> plain_text("\u2705 **Use** [the hook](docs/hook.md)")
    'Use the hook'
    """
    parts = _CODE.split(_LINK.sub(r"\1", _SIGNS.sub("", text)))
    return "".join(part if part.startswith("`") else _EMPHASIS.sub("", part) for part in parts).strip()


def blocks_of(text: str) -> Iterator[MarkdownBlock]:
    r"""The blocks of a text in order.

    >>> [(one.kind, one.level, one.text) for one in blocks_of("# Log\n- one\n  - two\n    more")]
    [('heading', 1, 'Log'), ('item', 0, 'one'), ('item', 1, 'two more')]
    >>> [(one.columns, one.cells) for one in blocks_of("| Step | Done |\n|---|---|\n| Lint | yes |")]
    [(('Step', 'Done'), ('Lint', 'yes'))]
    """
    depth, opened, row = -1, "", 0
    columns: tuple[str, ...] = ()
    cells: list[str] = []
    for token in _parser().parse(text):
        start, end = token.map or (0, 0)
        if token.type.endswith(("list_open", "list_close")):
            depth += token.nesting
        elif token.type == "tr_close" and columns:
            yield MarkdownBlock(kind="row", line=row, last=row, cells=tuple(cells), columns=columns)
        elif token.type in {"thead_close", "table_close"}:
            columns = tuple(cells) if token.type == "thead_close" else ()
        elif token.type == "tr_open":
            cells, row = [], start + 1
        elif token.type in {"fence", "code_block"}:
            yield MarkdownBlock(kind="code", line=start + 1, last=end, text=token.content)
        elif token.type == "inline" and opened in {"th_open", "td_open"}:
            cells.append(token.content)
        elif token.type == "inline" and opened.startswith("h"):
            yield MarkdownBlock(kind="heading", line=start + 1, last=end, text=token.content, level=int(opened[1]))
        elif token.type == "inline":
            yield from _statements(token.content, line=start + 1, depth=depth, opens_item=opened == "list_item_open")
        opened = _opened(token, opened)


def _opened(token: Token, before: str) -> str:
    """What the next text belongs to: a heading by its tag, a cell, an item whose first paragraph it is, or nothing."""
    if token.type == "paragraph_open":
        return before
    return token.tag if token.type == "heading_open" else token.type if token.nesting > 0 else ""


@cache
def _parser() -> MarkdownIt:
    """CommonMark with tables; a line of dashes below a text is a rule here, and what is indented is no code."""
    from markdown_it import MarkdownIt  # noqa: PLC0415  (only who reads a report in Markdown waits for it)

    return MarkdownIt("commonmark", {"html": False}).enable("table").disable(["lheading", "code", "inline"])


def _statements(content: str, *, line: int, depth: int, opens_item: bool) -> Iterator[MarkdownBlock]:
    """An item or a paragraph: a line that begins with a label or a sign, or follows a lone label, is one of its own."""
    last: MarkdownBlock | None = None
    for number, text in enumerate(map(str.strip, content.split("\n")), line):
        label = _LABEL.match(last.text) if last and last.kind == "paragraph" else None
        alone = label is not None and not label["rest"]
        if last is not None and not (alone or _LABEL.match(text) or _SIGNS.match(text)):
            last = msgspec.structs.replace(last, text=f"{last.text} {text}", last=number)
            continue
        if last is not None:
            yield last
        box = _BOX.match(text) if opens_item and last is None else None
        last = MarkdownBlock(
            kind="item" if opens_item and last is None else "paragraph",
            line=number,
            last=number,
            text=text[box.end() :] if box else text,
            level=depth if opens_item and last is None else depth + 1,
            box=box[1] if box else None,
        )
    if last is not None:
        yield last


_JUSTIFIES = re.compile(
    r"^why (.+ (?:is|are|was|were) (?:acceptable|enough)\b.*)",
    re.IGNORECASE,
)
_TITLE = re.compile(r"^(?:decision|learning|lesson|issue|problem|challenge|l)?\s*#?\d*\s*[:.)-]?\s+", re.IGNORECASE)
#: "MUST Failures Identified in This Session"; what is longer is a sentence.
_TITLE_WORDS = 6


def is_checked(status: str) -> bool | None:
    """Whether a cell of a checklist says yes; None when it says nothing, or that the step does not apply."""
    if not status.strip() or "[N/A]" in status:
        return None
    return bool(re.search(r"\[x\]|pass|complete|verified|remediated|\u2705", status, re.IGNORECASE))


def head_words(title: str) -> str:
    """What names a section: without remarks in brackets, and before a colon; a sentence names none."""
    words = re.sub(r"\([^)]*\)", "", title).partition(":")[0]
    return words if len(words.split()) <= _TITLE_WORDS else ""


def is_item(title: str, role: Role | None) -> bool:
    """Whether a heading is itself the statement: "Decision 2: keep both", "Issue: the cache is stale"."""
    if role not in {"decision", "lesson", "problem"}:
        return False
    return re.search(r"^\W*[A-Za-z]+(?: \d+)?\s*:\s*\S", title) is not None


def without_number(title: str) -> str:
    """A title without "Decision 2:" or "L1:" before it."""
    return _TITLE.sub("", title, count=1) or title


def is_none(text: str) -> bool:
    """Whether a text under a heading of problems says that there were none."""
    return (
        re.match(
            r"^\W*(none|no (known )?(issues|problems|blockers|challenges|failures)\w*|n/?a|0)\b.{0,20}$",
            text,
            re.IGNORECASE,
        )
        is not None
    )


def asks(block: MarkdownBlock) -> bool:
    """Whether a label with a colon under a heading of decisions names something else: QUESTION:, TIMELINE:."""
    label = block.label
    if label is None or not re.match(r"\*\*[^*]+(?::\*\*|\*\*\s*:)", block.text):
        return False
    return label[0].isupper() or label_role(label[0]) not in {None, "decision"}


def names_problems(title: str) -> bool:
    """Whether a heading names problems, not what was made of them ("Gap Analysis", "Issues Created")."""
    words = words_of(head_words(title))
    last = words[-1:]
    return label_role(" ".join(words)) == "problem" or any(role_of(one) == "problem" or is_cause(one) for one in last)


def justified(title: str) -> str:
    """What a heading says was settled for, where what is below justifies it; empty for any other heading.

    >>> justified("Why 80 % is enough"), justified("Why it failed")
    ('80 % is enough', '')
    """
    found = _JUSTIFIES.match(title)
    return found[1] if found else ""
