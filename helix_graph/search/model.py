"""What a search gives: results with their texts' hashes, and of each source whether it could answer."""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING, Literal, Protocol

import msgspec

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

#: By words and meaning, by words alone, by meaning alone.
Manner = Literal["both", "lexical", "semantic"]
#: ``absent``: there is nothing to search; ``left out``: it does not search in the manner that was asked for.
State = Literal["searched", "absent", "left out", "failed"]


class Found(msgspec.Struct, frozen=True, kw_only=True):
    """One result of one source. ``score`` is the source's own, whose scale ``scored_by`` names."""

    name: str
    content: str
    source: str
    score: float
    scored_by: str
    path: str | None = None


class Result(msgspec.Struct, frozen=True, kw_only=True):
    """One text that was found. ``score`` is the sum of reciprocal ranks; ``sha256`` is that of the content in UTF-8.

    ``also`` names the sources that had the same text, in which it is shown once.
    """

    name: str
    content: str
    source: str
    score: float
    path: str | None
    sha256: str
    source_score: float
    scored_by: str
    also: tuple[str, ...] = ()


class Searched(msgspec.Struct, frozen=True, kw_only=True):
    """What became of one source: ``found`` results, or the ``problem`` that kept it from answering.

    ``note`` says what it did not look at.
    """

    name: str
    state: State
    found: int = 0
    problem: str | None = None
    note: str | None = None


class Noted(list[Found]):
    """The results of a source that has not looked at everything; ``note`` says at what."""

    def __init__(self, found: Iterable[Found], *, note: str) -> None:
        super().__init__(found)
        self.note = note


class SearchAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """The best results first, and what became of every source."""

    results: tuple[Result, ...]
    sources: tuple[Searched, ...]


class Source(Protocol):
    """Something that can be searched."""

    @property
    def name(self) -> str:
        """As results name it."""
        ...

    @property
    def manners(self) -> frozenset[Manner]:
        """In which manners it can search."""
        ...

    def problem(self) -> str | None:
        """Why there is nothing to search, or None. Cheap."""
        ...

    def search(self, query: str, *, limit: int, manner: Manner) -> Sequence[Found]:
        """The best first, at most ``limit``; as `Noted` where something was passed by.

        Raises:
            HelixGraphError: It could not answer.
        """
        ...


def hash_of(content: str) -> str:
    """SHA-256 of a text in UTF-8, 64 hexadecimal digits in lower case.

    >>> hash_of("")[:8]
    'e3b0c442'
    """
    return sha256(content.encode(errors="replace")).hexdigest()
