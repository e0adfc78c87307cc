"""A search: the query that is allowed, the results of sources, and one ranking made of theirs.

A query is 1 to 500 of the characters that the seed allows, letters and digits of every script among them, and not only
blanks. Rankings are merged by the sum of
reciprocal ranks, which needs no common scale (Cormack, Clarke, Büttcher 2009). A text that several sources have is one
result, and counts with each of its ranks. Results of equal score are ordered by source, then by name.

>>> checked("pytest fails: no module named shop"), checked("连接池")
('pytest fails: no module named shop', '连接池')
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from hashlib import sha256
from typing import Any, Literal, Protocol
from unicodedata import category

import msgspec
from msgspec.structs import asdict

from helix_episodes.errors import InvalidArgument
from helix_graph.validation import as_str

LONGEST = 500
_REFUSED = "Cannot validate argument on parameter 'Query'"
#: The seed's safe punctuation, beside white space, letters and digits. It spells out those of ASCII; a phrase of any
#: language is to be found, so the others are taken too.
_PUNCTUATION = frozenset("-.,_()&:")
#: The first letters of Unicode's categories of letters, of the marks that belong to them, and of digits.
_ALPHANUMERIC = frozenset("LMN")
_INSTEAD = (
    "it takes letters, digits, blanks and - . , _ ( ) & : only; "
    "leave it out, or ask `insight recall`, `topic search` or `similar`, which take other signs"
)


def checked(query: str) -> str:
    """The query, if it is one.

    Raises:
        InvalidArgument: It is empty, too long, or holds another character.
    """
    if not as_str("query", query).strip():
        raise InvalidArgument(None, f"{_REFUSED}: it is empty")
    if len(query) > LONGEST:
        raise InvalidArgument(None, f"{_REFUSED}: it has {len(query)} characters, and {LONGEST} are allowed")
    for place, sign in enumerate(query, start=1):
        if not (sign in _PUNCTUATION or sign.isspace() or category(sign)[0] in _ALPHANUMERIC):
            raise InvalidArgument(None, f"{_REFUSED}: character {place} is {sign!r}; {_INSTEAD}")
    return query


#: By words and meaning, by words alone, by meaning alone.
SearchMode = Literal["both", "lexical", "semantic"]
#: ``absent``: there is nothing to search; ``left out``: it does not search in the manner that was asked for.
SourceState = Literal["searched", "absent", "left out", "failed"]


class SourceResult(msgspec.Struct, frozen=True, kw_only=True):
    """One result of one source. ``score`` is the source's own, whose scale ``scored_by`` names.

    ``foreign`` text is another program's answer: nothing is known of who wrote it. ``said_by`` says whose words the
    content is, where it is not a person's insight.
    """

    name: str
    content: str
    source: str
    score: float
    scored_by: str
    path: str | None = None
    foreign: bool = False
    said_by: str = ""


class SearchResult(msgspec.Struct, frozen=True, kw_only=True):
    """One text that was found. ``score`` is the sum of reciprocal ranks; ``sha256`` is that of the content in UTF-8.

    ``also`` names the sources that had the same text, in which it is shown once. ``foreign`` text is another program's
    answer.
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
    foreign: bool = False
    said_by: str = ""


class SourceStatus(msgspec.Struct, frozen=True, kw_only=True):
    """What became of one source: ``found`` results, or the ``problem`` that kept it from answering.

    ``note`` says what it did not look at.
    """

    name: str
    state: SourceState
    found: int = 0
    problem: str | None = None
    note: str | None = None


class PartialResults(list[SourceResult]):
    """The results of a source that has not looked at everything; ``note`` says at what."""

    def __init__(self, found: Iterable[SourceResult], *, note: str) -> None:
        super().__init__(found)
        self.note = note


class MemorySearchAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """The best results first, and what became of every source."""

    results: tuple[SearchResult, ...]
    sources: tuple[SourceStatus, ...]


class SearchSource(Protocol):
    """Something that can be searched."""

    @property
    def name(self) -> str:
        """As results name it."""
        ...

    @property
    def manners(self) -> frozenset[SearchMode]:
        """In which manners it can search."""
        ...

    def problem(self) -> str | None:
        """Why there is nothing to search, or None. Cheap."""
        ...

    def search(self, query: str, *, limit: int, manner: SearchMode) -> Sequence[SourceResult]:
        """The best first, at most ``limit``; as `PartialResults` where something was left out."""
        ...


def hash_of(content: str) -> str:
    """SHA-256 of a text in UTF-8, 64 hexadecimal digits in lower case.

    >>> hash_of("")[:8]
    'e3b0c442'
    """
    return sha256(content.encode(errors="replace")).hexdigest()


#: The paper's constant: how much less the tenth rank counts than the first.
_DAMPING = 60


def merged(rankings: Iterable[Sequence[SourceResult]], *, limit: int) -> tuple[SearchResult, ...]:
    """The best results of all rankings, each of which has its best first.

    >>> one = SourceResult(name="a", content="read the log", source="Topics", score=3.0, scored_by="BM25")
    >>> other = SourceResult(name="b", content="read the log", source="Serena", score=50.0, scored_by="percentage")
    >>> [(result.name, result.also) for result in merged([[one], [other]], limit=5)]
    [('a', ('Serena',))]
    """
    groups: dict[str, list[tuple[float, SourceResult]]] = {}
    for ranking in rankings:
        for rank, found in enumerate(ranking, start=1):
            groups.setdefault(hash_of(found.content), []).append((1 / (_DAMPING + rank), found))
    results = [_result(digest, group) for digest, group in groups.items()]
    return tuple(sorted(results, key=lambda result: -result.score)[:limit])


def _result(digest: str, group: Sequence[tuple[float, SourceResult]]) -> SearchResult:
    first = group[0][1]
    own: dict[str, Any] = {
        "score": round(sum(share for share, _ in group), 6),
        "sha256": digest,
        "source_score": first.score,
        "also": tuple(dict.fromkeys(found.source for _, found in group if found.source != first.source)),
    }
    return SearchResult(**{**asdict(first), **own})
