"""Markdown as blocks with their lines, and what headings and labels among them say.

Only what these reports use is parsed: headings, items, rows of tables, paragraphs, code. Wrapped lines are joined to
the block they continue; emphasis, check boxes and leading signs are separated from the words. A heading or label is
either a statement itself or only names what is below it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal

import msgspec

from helix_episodes.readers.ai_agents.words import is_cause, label_role, role_of, words_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from helix_episodes.readers.ai_agents.words import Role


BlockKind = Literal["heading", "item", "row", "paragraph", "code", "rule"]

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


class MarkdownBlock(msgspec.Struct, frozen=True, kw_only=True):
    """One block. ``level`` is a heading's level or an item's indent; ``cells`` and ``columns`` are a row's.

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


def blocks_of(lines: Sequence[str]) -> list[MarkdownBlock]:
    """The blocks of a text in order."""
    return list(_joined(_single(lines)))


def _single(lines: Sequence[str]) -> Iterator[MarkdownBlock]:
    """A block a line, code fences as one; columns are those of the table's first row."""
    columns: tuple[str, ...] = ()
    fence = 0
    for number, raw in enumerate(lines, 1):
        line = raw.strip("\r\n").removeprefix("> ").rstrip()
        if _FENCE.match(line) or fence:
            fence = 0 if fence and _FENCE.match(line) else fence or number
            yield MarkdownBlock(kind="code", line=number, last=number, text=line)
        elif line.lstrip().startswith("|"):
            cells = tuple(cell.strip() for cell in line.strip().strip("|").split("|"))
            if not columns:
                columns = cells
                yield MarkdownBlock(kind="rule", line=number, last=number)
            elif _SEPARATOR.match(line):
                yield MarkdownBlock(kind="rule", line=number, last=number)
            else:
                yield MarkdownBlock(kind="row", line=number, last=number, cells=cells, columns=columns)
        else:
            columns = ()
            yield _plain_block(line, number)


def _plain_block(line: str, number: int) -> MarkdownBlock:
    heading, item = _HEADING.match(line), _ITEM.match(line)
    if not line.strip() or _RULE.match(line):
        return MarkdownBlock(kind="rule", line=number, last=number)
    if heading:
        return MarkdownBlock(kind="heading", line=number, last=number, text=heading[2], level=len(heading[1]))
    if item:
        box = _BOX.match(item[2])
        text = item[2][box.end() :] if box else item[2]
        return MarkdownBlock(
            kind="item", line=number, last=number, text=text, level=len(item[1]), box=box[1] if box else None
        )
    indent = len(line) - len(line.lstrip())
    return MarkdownBlock(kind="paragraph", line=number, last=number, text=line.strip(), level=indent)


def _joined(blocks: Iterator[MarkdownBlock]) -> Iterator[MarkdownBlock]:
    """Lines that only continue the one before become part of it; a label begins a block of its own."""
    last: MarkdownBlock | None = None
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


def _continues(last: MarkdownBlock, block: MarkdownBlock) -> bool:
    if block.kind == "code":
        return last.kind == "code" and last.last == block.line - 1
    label = _LABEL.match(last.text) if last.kind == "paragraph" else None
    return (
        block.kind == "paragraph"
        and last.kind in {"item", "paragraph"}
        and (_LABEL.match(block.text) is None)
        and not _SIGNS.match(block.text)
        and not (label and not label["rest"])
    )


_TITLE = re.compile(r"^(?:decision|learning|lesson|issue|problem|challenge|l)?\s*#?\d*\s*[:.)-]?\s+", re.IGNORECASE)
_TURNS_DOWN = re.compile(
    r"\bnot (?:created|made|done|fixed|changed|implemented|included|adopted|taken|applied|pursued|"
    r"migrated|converted)\b|"
    r"^(?:deferred|declined|out[- ]of[- ]scope|won'?t[- ]fix|excluded|kept as[- ]is|left alone)\b",
    re.IGNORECASE,
)
_IS_VERDICT = re.compile(
    r"^\*{0,2}(?:APPROVED?|REJECT(?:ED)?|ACCEPT(?:ED)?|DEFER(?:RED)?|BLOCK(?:ED)?|ADOPT(?:ED)?|KEEP|DO NOT [A-Z]+)"
    r"\*{0,2}:?\*{0,2} +\w|"
    r"^\*{0,2}(?i:option|approach|alternative|variant) \w+\b.{0,80}"
    r"\((?i:recommended|chosen|selected|preferred|adopted)\)"
)
_JUSTIFIES = re.compile(
    r"^why .+ (?:is|are|was|were) (?:acceptable|enough|sufficient|preferred|chosen|kept|deferred|skipped|not needed|"
    r"unnecessary|safe|better)\b",
    re.IGNORECASE,
)
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
    return (
        role in {"decision", "lesson", "problem"} and re.search(r"^\W*[A-Za-z]+(?: \d+)?\s*:\s*\S", title) is not None
    )


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


def problem_words(title: str) -> list[str]:
    """The words of a heading without those that only say that there is a problem: "Problem Statement"."""
    words = words_of(head_words(title))
    return words[:-1] if words[1:] and words[-1] in {"statement", "description"} else words


def names_problems(title: str) -> bool:
    """Whether a heading names problems, not what was made of them ("Gap Analysis", "Issues Created")."""
    words = problem_words(title)
    last = words[-1:]
    return label_role(" ".join(words)) == "problem" or any(role_of(one) == "problem" or is_cause(one) for one in last)


def is_problem_finding(title: str) -> bool:
    """Whether a heading is a finding that names a problem: "Critical finding: unbounded cache leak (P0)".

    >>> is_problem_finding("Finding 2: Coverage gap (P1)"), is_problem_finding("Finding: All is well")
    (True, False)
    """
    head, colon, rest = title.partition(":")
    return bool(colon) and role_of(head_words(head)) == "found" and names_problems(rest)


def deals_with_problems(title: str) -> bool:
    """Whether a heading names what was done about problems: "Issues Addressed"."""
    return words_of(head_words(title))[-1:] in (["addressed"], ["handled"], ["mitigated"], ["remediated"])


def turns_down(title: str) -> bool:
    """Whether a heading says that what is below was left undone on purpose.

    >>> turns_down("Changes Not Made"), turns_down("Deferred Items (next release)"), turns_down("Not Started")
    (True, True, False)
    """
    return _TURNS_DOWN.search(head_words(title)) is not None


def is_verdict(text: str) -> bool:
    """Whether an item begins with the word of one who judges: "**REJECT** the second cache".

    >>> is_verdict("**DEFER** the migration"), is_verdict("Reject rate fell"), is_verdict("MERGE")
    (True, False, False)
    """
    return _IS_VERDICT.match(text) is not None


def justifies(title: str) -> bool:
    """Whether a heading says that what is below justifies a choice: "Why 80 % is enough".

    >>> justifies("Why one retry is enough"), justifies("Why it failed")
    (True, False)
    """
    return _JUSTIFIES.match(title) is not None
