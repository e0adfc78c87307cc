"""Which known words may somebody have meant by a word that nothing has?

Two words are near when one becomes the other by one change, or by two from eight letters on: a letter too many, too few
or another one, or two neighbours in each other's place. Of four letters two may only have changed places. The first
letter must agree: it is seldom mistyped. Words that differ in the last letter alone are forms, or of two languages.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection

#: A word of so many letters has too many neighbours by other letters, and a shorter one by their order.
_SWAPPED = 4
#: From so many letters on two changes are allowed.
_LONG = 8


def near_words(word: str, known: Collection[str]) -> tuple[str, ...]:
    """The known words nearest to one that is not known, in order; none for a short word or one with digits.

    >>> near_words("lokfile", {"lockfile", "profile", "lock"})
    ('lockfile',)
    >>> near_words("gorelaeser", {"goreleaser"}), near_words("fial", {"fail", "file"}), near_words("teat", {"test"})
    (('goreleaser',), ('fail',), ())
    >>> near_words("falla", {"falls"})
    ()
    """
    if len(word) == _SWAPPED:
        known = [other for other in known if sorted(other) == sorted(word)]
    if len(word) < _SWAPPED or not word.isalpha():
        return ()
    most = 2 if len(word) >= _LONG else 1
    found: dict[str, int] = {}
    for other in known:
        if other[:1] == word[:1] and abs(len(other) - len(word)) <= most and other[:-1] != word[:-1]:
            changes = _changes(word, other)
            if changes <= most:
                found[other] = changes
    least = min(found.values(), default=0)
    return tuple(sorted(other for other, changes in found.items() if changes == least))


def _changes(one: str, other: str) -> int:
    """How many changes make one word the other (optimal string alignment)."""
    before: list[int] = []
    row = list(range(len(other) + 1))
    for place, letter in enumerate(one, 1):
        earlier, before, row = before, row, [place]
        for at, theirs in enumerate(other, 1):
            least = min(before[at] + 1, row[at - 1] + 1, before[at - 1] + (letter != theirs))
            if place > 1 and at > 1 and letter == other[at - 2] and one[place - 2] == theirs:
                least = min(least, earlier[at - 2] + 1)
            row.append(least)
    return row[-1]
