"""What an edit changed, line by line, from what an episode keeps of it: what it wrote and what it replaced."""

from __future__ import annotations

from difflib import SequenceMatcher

#: How a text ends that was cut.
_CUT = "\u2026"


def edit_diff(*, replaced: str, wrote: str) -> tuple[str, ...]:
    r"""The lines of an edit: ``-`` before those that went, ``+`` before those that came, a blank before the others.

    Indentation makes no difference, since the first line of a quotation has none. Of a text that was cut nothing is
    said of what lay behind the cut.

    >>> edit_diff(replaced="total = sum(prices)", wrote="total = round(sum(prices), 2)")
    ('-total = sum(prices)', '+total = round(sum(prices), 2)')
    >>> edit_diff(replaced="x = 1\nprint(x)\nreturn x", wrote="x = 1\nreturn x")
    (' x = 1', '-print(x)', ' return x')
    """
    before, after = replaced.splitlines(), wrote.splitlines()
    matcher = SequenceMatcher(None, [one.strip() for one in before], [one.strip() for one in after], autojunk=False)
    parts = matcher.get_opcodes()
    cut = replaced.endswith(_CUT) or wrote.endswith(_CUT)
    if cut and len(parts) > 1 and parts[-1][0] != "equal":
        parts = parts[:-1]
    found: list[str] = []
    for kind, start, end, first, last in parts:
        if kind == "equal":
            found += [f" {line}" for line in after[first:last]]
        else:
            found += [f"-{line}" for line in before[start:end]]
            found += [f"+{line}" for line in after[first:last]]
    return tuple(found)
