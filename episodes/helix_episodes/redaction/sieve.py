"""The sieve: which rules can find anything in a text at all, told by a few passes over it instead of one for each rule.

Each rule names plain strings of which one must occur (its needles). Looking for a hundred of them one by one is most of
what redaction costs, so they are put together by a *sign* that they hold: an underscore, a hyphen, a capital. Python
leaps from one such sign to the next as fast as it looks for one needle, and only there asks what stands around it.
Needles of small letters alone have no such sign and are looked for by themselves.
"""

from __future__ import annotations

import re
from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from helix_episodes.redaction.rules import Rule

#: Signs by which needles are put together, those that the fewest texts of episodes hold first: one in a hundred has
#: ``~``, one in seven ``_``, one in two ``-``.
_SIGNS = ("~", "=", "_", ":", "-", ".", "A", "S")


class Sieve:
    """Knows what to look for of a fixed list of rules."""

    def __init__(self, rules: Sequence[Rule]) -> None:
        self._groups = tuple(_groups(rules, folded=False))
        self._folded = tuple(_groups(rules, folded=True))

    def passed_by(self, text: str, *, lowered: str) -> list[int]:
        """The numbers of the rules that may find something in ``text``, in order; ``lowered`` is it in small letters."""
        near = {number for group in self._groups if group.sign in text for number in group.near(text)}
        near.update(number for group in self._folded if group.sign in lowered for number in group.near(lowered))
        return sorted(near)


class _Group:
    """The rules whose needles hold one sign, with what must stand around it for each."""

    def __init__(self, sign: str, around: dict[int, list[str]]) -> None:
        self.sign = sign
        self._around = around

    def near(self, text: str) -> Iterator[int]:
        """The rules of which a needle occurs; most often that is none, which one pass tells."""
        if self._any.search(text):
            yield from (number for number, one in self._each if one.search(text))

    # Compiled when first needed: most texts hold but a few of the signs.
    @cached_property
    def _any(self) -> re.Pattern[str]:
        return self._compiled(part for parts in self._around.values() for part in parts)

    @cached_property
    def _each(self) -> tuple[tuple[int, re.Pattern[str]], ...]:
        return tuple((number, self._compiled(parts)) for number, parts in self._around.items())

    def _compiled(self, around: Iterable[str]) -> re.Pattern[str]:
        """An expression that begins with the sign itself, so that the search can leap from one to the next."""
        return re.compile(f"{re.escape(self.sign)}(?:{'|'.join(dict.fromkeys(around))})")


def _groups(rules: Sequence[Rule], *, folded: bool) -> Iterator[_Group]:
    groups: dict[str, dict[int, list[str]]] = {}
    for number, rule in enumerate(rules):
        if rule.folded is folded:
            for sign, around in map(_parted, rule.needles):
                groups.setdefault(sign, {}).setdefault(number, []).append(around)
        for hint in rule.hints if not folded else ():
            groups.setdefault(hint.sign, {}).setdefault(number, []).append(hint.around)
    return (_Group(sign, around) for sign, around in groups.items())


def _parted(needle: str) -> tuple[str, str]:
    """A needle's sign, and the expression for what stands around it; one without a sign is its own."""
    sign = next((sign for sign in _SIGNS if sign in needle), needle)
    before, _, after = needle.partition(sign)
    behind = f"(?<={re.escape(before + sign)})" if before else ""
    return sign, behind + re.escape(after)
