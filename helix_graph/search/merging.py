"""Many rankings into one: the sum of reciprocal ranks, which needs no common scale (Cormack, Clarke, Büttcher 2009).

A text that several sources have is one result, and counts with each of its ranks. Results of equal score stand in the
order of the sources, then of their names, so that the same memory answers the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from helix_graph.search.model import Found, Result, hash_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

#: The paper's constant: how much less the tenth rank counts than the first.
_DAMPING = 60


def merged(rankings: Iterable[Sequence[Found]], *, limit: int) -> tuple[Result, ...]:
    """The best results of all rankings, each of which has its best first.

    >>> one = Found(name="a", content="read the log", source="Topics", score=3.0, scored_by="BM25")
    >>> other = Found(name="b", content="read the log", source="Serena", score=50.0, scored_by="percentage")
    >>> [(result.name, result.also) for result in merged([[one], [other]], limit=5)]
    [('a', ('Serena',))]
    """
    groups: dict[str, list[tuple[float, Found]]] = {}
    for ranking in rankings:
        for rank, found in enumerate(ranking, start=1):
            groups.setdefault(hash_of(found.content), []).append((1 / (_DAMPING + rank), found))
    results = [_result(digest, group) for digest, group in groups.items()]
    return tuple(sorted(results, key=lambda result: -result.score)[:limit])


def _result(digest: str, group: Sequence[tuple[float, Found]]) -> Result:
    first = group[0][1]
    also = dict.fromkeys(found.source for _, found in group if found.source != first.source)
    return Result(
        name=first.name,
        content=first.content,
        source=first.source,
        score=round(sum(share for share, _ in group), 6),
        path=first.path,
        sha256=digest,
        source_score=first.score,
        scored_by=first.scored_by,
        also=tuple(also),
    )
