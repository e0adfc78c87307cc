"""The sieve: which rules can find anything in a text at all, told by a few passes over it instead of one for each rule.

Each rule names plain strings of which one must occur (its needles). Looking for a hundred of them one by one is most of
what redaction costs, so they are put together by a *sign* that they hold: an underscore, a hyphen, a capital. Python
leaps from one such sign to the next as fast as it looks for one needle, and only there asks what stands around it.
Needles of small letters alone have no such sign and are looked for by themselves.
"""

from __future__ import annotations

import re
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from helix_episodes.redaction.rules import Rule

#: Signs by which needles are put together, those that the fewest texts of episodes hold first: one in a hundred has
#: ``~``, one in seven ``_``, one in two ``-``.
_SIGNS = ("~", "=", "_", ":", "-", ".", "A", "S")


class Sieve:
    """Knows what to look for of a fixed list of rules."""

    def __init__(self, rules: Sequence[Rule]) -> None:
        self._groups = _groups((number, rule) for number, rule in enumerate(rules) if not rule.folded)
        self._folded = _groups((number, rule) for number, rule in enumerate(rules) if rule.folded)

    def passed_by(self, text: str, *, lowered: str) -> list[int]:
        """The numbers of the rules that may find something in ``text``, in order.

        ``lowered`` is the text in small letters.
        """
        met = [(group, text) for group in self._groups if group.sign in text and group.any.search(text)]
        met += [(group, lowered) for group in self._folded if group.sign in lowered]
        return sorted({number for group, where in met for number in group.near(where)}) if met else []


class _Around(NamedTuple):
    """What stands around a sign where a needle occurs: the letters before it, and an expression for what follows."""

    before: str
    after: str


class _Group:
    """The rules whose needles hold one sign, each with what must stand around it."""

    def __init__(self, sign: str, around: dict[int, list[_Around]]) -> None:
        self.sign = sign
        self._around = around

    def near(self, text: str) -> Iterator[int]:
        """The rules of which a needle occurs."""
        return (number for number, one in self._each if one.search(text))

    # Compiled when first needed: most texts hold but a few of the signs.
    @cached_property
    def any(self) -> re.Pattern[str]:
        """Matches wherever a needle occurs; most often that is nowhere, which one pass tells."""
        return _expression(self.sign, (one for several in self._around.values() for one in several))

    @cached_property
    def _each(self) -> tuple[tuple[int, re.Pattern[str]], ...]:
        return tuple((number, _expression(self.sign, around)) for number, around in self._around.items())


def _groups(rules: Iterable[tuple[int, Rule]]) -> tuple[_Group, ...]:
    groups: dict[str, dict[int, list[_Around]]] = {}
    for number, rule in rules:
        hinted = ((hint.sign, _Around("", hint.around)) for hint in rule.hints)
        for sign, around in (*map(_parted, rule.needles), *hinted):
            groups.setdefault(sign, {}).setdefault(number, []).append(around)
    return tuple(_Group(sign, around) for sign, around in groups.items())


def _parted(needle: str) -> tuple[str, _Around]:
    """A needle's sign and what stands around it; one without a sign is its own."""
    sign = next((sign for sign in _SIGNS if sign in needle), needle)
    before, _, after = needle.partition(sign)
    return sign, _Around(before, re.escape(after))


def _expression(sign: str, around: Iterable[_Around]) -> re.Pattern[str]:
    """An expression that begins with the sign itself, so that the search can leap from one to the next.

    What is looked for before the sign is asked for all at once where it has one length: each question of its own costs
    as much as all of them.
    """
    alike: dict[tuple[int, str], dict[str, None]] = {}
    for before, after in around:
        alike.setdefault((len(before), after), {})[before] = None
    parts = (_behind(sign, befores) + after for (_, after), befores in alike.items())
    return re.compile(f"{re.escape(sign)}(?:{'|'.join(parts)})")


def _behind(sign: str, befores: Iterable[str]) -> str:
    wanted = [re.escape(before + sign) for before in befores if before]
    return f"(?<={'|'.join(wanted)})" if wanted else ""
