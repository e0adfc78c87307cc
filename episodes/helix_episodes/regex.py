"""Regular expressions that are compiled when they are first used.

Reading what dozens of test runners, linters and compilers print takes some two hundred expressions, of which one text
needs a handful. Compiling all of them when a module is loaded took 80 ms of every question that reads an output; this
way a question pays for those it uses.
"""

from __future__ import annotations

import re
from functools import cached_property

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any


class Regex:
    r"""Stands for ``re.compile(text, flags)`` and has the methods that are used of it.

    >>> Regex(r"(\d+) failed").search("3 failed")[1]
    '3'
    """

    def __init__(self, text: str, flags: int = 0) -> None:
        self.text = text
        self.flags = flags

    @cached_property
    def compiled(self) -> re.Pattern[str]:
        """The compiled expression."""
        return re.compile(self.text, self.flags)

    def search(self, text: str, start: int = 0) -> re.Match[str] | None:
        """The first match anywhere after ``start``."""
        return self.compiled.search(text, start)

    def match(self, text: str, start: int = 0) -> re.Match[str] | None:
        """The match that begins at ``start``."""
        return self.compiled.match(text, start)

    def fullmatch(self, text: str) -> re.Match[str] | None:
        """The match of the whole text."""
        return self.compiled.fullmatch(text)

    def finditer(self, text: str) -> Iterator[re.Match[str]]:
        """Every match, in order."""
        return self.compiled.finditer(text)

    def findall(self, text: str) -> list[Any]:
        """What every match captured."""
        return self.compiled.findall(text)

    def sub(self, replacement: str | Callable[[re.Match[str]], str], text: str) -> str:
        """``text`` with every match replaced."""
        return self.compiled.sub(replacement, text)

    def split(self, text: str) -> list[str | Any]:
        """The parts of ``text`` between matches."""
        return self.compiled.split(text)
