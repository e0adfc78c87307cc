r"""What lines are made of: harmless text, words with a tone, branches of a tree.

A tone says what a word means, never more than the word itself says, so that nothing is lost where there are no colours.
Some characters a terminal obeys instead of showing them, some are two columns wide, some it cannot show.

>>> plain_of(("outcome: ", verdict("failure")))
'outcome: failure'
>>> verdict("failure").tone, verdict("too early").tone, verdict("told").tone
('bad', 'unsure', 'plain')
>>> clean("\x1b[31m2 failed\nin 0.3 s")
' [31m2 failed in 0.3 s'
>>> width("naïve"), width("価格"), width("e\u0301")
(5, 4, 1)
>>> escaped("a → b", "ascii")
'a \\u2192 b'
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterable


#: What a terminal may obey and JSON lets stand: DEL, the one-byte controls, marks that turn the direction of writing.
_OBEYED_IN_JSON = "[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]"
_WIDE = frozenset("WF")
_OVER_THE_LAST = frozenset(("Mn", "Me"))


def clean(text: str) -> str:
    """Replace every line break, control character and invisible mark by a blank."""
    return text if text.isprintable() else "".join(each if each.isprintable() else " " for each in text)


def clean_lines(text: str) -> str:
    """The same line by line, for a text that has several of its own."""
    return "\n".join(map(clean, text.split("\n")))


def harmless_json(encoded: str) -> str:
    r"""JSON with each character that a terminal could obey written as its escape; the value stays the same.

    >>> harmless_json('"\x9b2J"')
    '"\\u009b2J"'
    """
    return re.sub(_OBEYED_IN_JSON, lambda found: f"\\u{ord(found[0]):04x}", encoded)


def width(text: str) -> int:
    """How many columns a clean text takes: two for East Asian wide characters, none for marks over the last one."""
    if text.isascii():
        return len(text)
    return sum(map(_columns, text))


def _columns(character: str) -> int:
    import unicodedata

    if unicodedata.category(character) in _OVER_THE_LAST:
        return 0
    return 2 if unicodedata.east_asian_width(character) in _WIDE else 1


def escaped(text: str, encoding: str) -> str:
    """A text as a stream of that encoding shows it: what it lacks as an escape, so that widths are counted right."""
    if text.isascii():
        return text
    return text.encode(encoding, "backslashreplace").decode(encoding)


#: What a word means to the reader.
Tone: TypeAlias = Literal["plain", "strong", "quiet", "good", "bad", "unsure"]


class StyledWord(NamedTuple):
    """A text with a tone."""

    text: str
    tone: Tone


Part: TypeAlias = str | StyledWord
#: What our own vocabulary means; anything else stands as it is.
_VERDICTS: dict[str, Tone] = {
    "success": "good",
    "ok": "good",
    "supported": "good",
    "verified": "good",
    "available": "good",
    "failure": "bad",
    "error": "bad",
    "contradicted": "bad",
    "partial": "unsure",
    "unknown": "unsure",
    "too early": "unsure",
    "not verified": "unsure",
    "not measured": "unsure",
    "associated": "strong",
}


class Branch(NamedTuple):
    """A line and what belongs to it. In a pipe what is below stands ``indent`` blanks further in."""

    line: tuple[Part, ...]
    below: tuple[Branch, ...] = ()
    indent: int = 2


def strong(text: str) -> StyledWord:
    """What the eye should find first: a label, a heading."""
    return StyledWord(text, "strong")


def quiet(text: str) -> StyledWord:
    """What is there for who looks closer: places, names of fields."""
    return StyledWord(text, "quiet")


def verdict(text: str) -> StyledWord:
    """A word of our vocabulary in the tone that it has there."""
    return StyledWord(text, _VERDICTS.get(text, "plain"))


def leaf(*parts: Part) -> Branch:
    """A line by itself."""
    return Branch(parts)


def text_of(part: Part) -> str:
    """The text of a part."""
    return part if isinstance(part, str) else part.text


def plain_of(parts: Iterable[Part]) -> str:
    """A line as a pipe gets it."""
    return "".join(map(text_of, parts))
