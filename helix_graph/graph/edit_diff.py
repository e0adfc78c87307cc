"""What an edit changed, line by line, from what an episode keeps of it: what it wrote and what it replaced."""

from __future__ import annotations

from difflib import SequenceMatcher

#: How a text ends that was cut.
_CUT = "\u2026"
#: What a line ends with that opens a block, and how far that is indented.
_OPENING, _STEP = (":", "{", "(", "["), 4


def edit_diff(*, replaced: str, wrote: str) -> tuple[str, ...]:
    r"""The lines of an edit: ``-`` before those that went, ``+`` before those that came, a blank before the others.

    Indentation makes no difference, since the first line of a quotation has none; the others lose what they have in
    common, but for a step where the first line opens a block. Of a text that was cut nothing is said of what lay behind
    the cut.

    >>> edit_diff(replaced="total = sum(prices)", wrote="total = round(sum(prices), 2)")
    ('-total = sum(prices)', '+total = round(sum(prices), 2)')
    >>> edit_diff(replaced="x = 1\nprint(x)\nreturn x", wrote="x = 1\nreturn x")
    (' x = 1', '-print(x)', ' return x')
    """
    before, after = _aligned(replaced), _aligned(wrote)
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


def _aligned(text: str) -> list[str]:
    r"""The lines of a quotation, whose first has lost its indentation, with the others moved to it.

    >>> _aligned("if paid:\n            return\n        send()")
    ['if paid:', '        return', '    send()']
    """
    lines = text.expandtabs(_STEP).splitlines()
    common = min((len(line) - len(line.lstrip()) for line in lines[1:] if line.strip()), default=0)
    opens = bool(lines) and lines[0].rstrip().endswith(_OPENING)
    return [*lines[:1], *(line[max(0, common - _STEP * opens) :] for line in lines[1:])]
