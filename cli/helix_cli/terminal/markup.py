"""What lines are made of: plain text, words with a tone, branches of a tree.

A tone says what a word means, never more than the word itself says, so that nothing is lost where there are no colours.

>>> plain_of(("outcome: ", verdict("failure")))
'outcome: failure'
>>> verdict("failure").tone, verdict("too early").tone, verdict("told").tone
('bad', 'unsure', 'plain')
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterable


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
