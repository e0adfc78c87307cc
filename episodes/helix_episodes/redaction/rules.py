"""What every room of redaction is written in: a cut, and the rule that finds it.

A rule first names plain strings of which one must occur, because looking for those is a hundred times faster than
trying an expression, and most texts hold none. Every expression is bounded: no part of it may run over more than a few
hundred characters (a token's own length apart), so that its time grows with the length of the text and not faster.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

import msgspec

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

#: A token may follow any sign, even another secret's last hyphen, but not the letters of a word.
START = r"(?<![A-Za-z0-9])"


class Cut(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that was cut: its kind, and where it began and how long it was in the text given.

    What only came to light by an earlier cut is counted in the text as that cut left it.
    """

    kind: str
    start: int
    length: int


class Hint(NamedTuple):
    """Where no plain string is telling enough: a sign, and an expression for what stands around it."""

    sign: str
    around: str


class Rule(NamedTuple):
    """A kind of secret: plain strings or hints of which one must occur, the pattern, its group to cut, and a last look.

    With ``folded`` the plain strings are given in small letters and meant in any case.
    """

    kind: str
    needles: tuple[str, ...]
    pattern: str
    group: int = 0
    accept: Callable[[re.Match[str]], bool] = lambda _: True
    hints: tuple[Hint, ...] = ()
    folded: bool = False


def cuts_by(rule: Rule, text: str, *, start: int = 0, end: int | None = None) -> Iterator[Cut]:
    """What the rule finds in a text (or between two places of it), whether or not its needles were looked for."""
    for match in compiled(rule.pattern).finditer(text, start, len(text) if end is None else end):
        if rule.accept(match):
            yield cut(rule.kind, *match.span(rule.group))


def cut(kind: str, start: int, end: int) -> Cut:
    """A cut from its two ends."""
    return Cut(kind=kind, start=start, length=end - start)


def mentions(text: str, needles: tuple[str, ...]) -> bool:
    """Whether any of the plain strings occurs."""
    # A plain loop: any() with a generator costs five times as much, and this runs forty times per text.
    for needle in needles:  # noqa: SIM110  (see above)
        if needle in text:
            return True
    return False


@cache
def compiled(pattern: str) -> re.Pattern[str]:
    """Compiled when first needed: all of them at once cost 30 ms, and most texts need none."""
    return re.compile(pattern)
