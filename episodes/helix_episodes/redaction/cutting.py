"""The cutting itself: what all rooms find, without overlaps, replaced by marks, until nothing is left to find."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import msgspec

from helix_episodes.redaction.connections import CONNECTIONS
from helix_episodes.redaction.homes import KIND as HOME
from helix_episodes.redaction.homes import home_folders
from helix_episodes.redaction.names import named_secrets
from helix_episodes.redaction.rules import Cut, cuts_by
from helix_episodes.redaction.shapes import SHAPES, key_blocks
from helix_episodes.redaction.sieve import Sieve

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

# Of two that begin at one place the more telling comes first: a shape says more than a place, a place than a name.
_RULES = (*SHAPES, *CONNECTIONS)
_SIEVE = Sieve(_RULES)
#: Texts up to this length are remembered, so that what is remembered stays below 20 MB.
_SHORT = 5000


class Redacted(msgspec.Struct, frozen=True, kw_only=True):
    """A text that may be written, and what was cut from it, in order."""

    text: str
    cuts: tuple[Cut, ...] = ()


def redact(text: str) -> Redacted:
    """The text with each secret replaced by ``[redacted:<kind>]`` and each home folder by ``~``.

    >>> redact("AKIAQ3EGRV7ZT5NPLMWB").cuts
    (Cut(kind='aws-key', start=0, length=20),)
    """
    return _cut(text, _found)


def without_secrets(text: str) -> str:
    """The text without its secrets, home folders left in: those are needed as they are to tell where a file lies."""
    return _cut(text, _secrets_in).text


def _cut(text: str, find: Callable[[str], Iterable[Cut]]) -> Redacted:
    cuts: list[Cut] = []
    # Cutting one thing can lay the beginning of another bare; each round leaves less of the original, so this ends.
    while found := _without_overlaps(find(text)):
        cuts += found
        text = "".join(_pieces(text, found))
    return Redacted(text=text, cuts=tuple(cuts))


def redact_text(text: str) -> str:
    """The text alone, as :func:`redact` leaves it."""
    return redact(text).text


def _found(text: str) -> Iterator[Cut]:
    yield from _secrets_in(text)
    yield from home_folders(text)


def _secrets_in(text: str) -> Iterable[Cut]:
    return _secrets_in_short(text) if len(text) <= _SHORT else _secrets(text)


# A text is cut when its session is read, when it is quoted, and again in the finished episode.
@lru_cache(maxsize=4096)
def _secrets_in_short(text: str) -> tuple[Cut, ...]:
    return tuple(_secrets(text))


def _secrets(text: str) -> Iterator[Cut]:
    lowered = text.lower()
    for number in _SIEVE.passed_by(text, lowered=lowered):
        yield from cuts_by(_RULES[number], text)
    yield from named_secrets(text, lowered=lowered)
    yield from key_blocks(text)


def _without_overlaps(cuts: Iterable[Cut]) -> list[Cut]:
    """In order of place; of two that overlap the one that begins first, then the one of the more telling rule."""
    kept: list[Cut] = []
    end = 0
    # sorted() is stable, so that at one place the rule named first stays first.
    for cut in sorted(cuts, key=lambda cut: cut.start):
        if cut.start >= end:
            kept.append(cut)
            end = cut.start + cut.length
    return kept


def _pieces(text: str, cuts: list[Cut]) -> Iterator[str]:
    position = 0
    for cut in cuts:
        yield text[position : cut.start]
        yield "~" if cut.kind == HOME else f"[redacted:{cut.kind}]"
        position = cut.start + cut.length
    yield text[position:]
