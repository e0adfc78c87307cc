"""Two records of one insight become one: the same whichever comes first, and however often.

Stores that say the same, the merging of insights, and imports all go through `join`, which is why an import in any
order, once or twice, gives the same memory. Of two texts the one a person set last counts, and among texts nobody
edited the fuller one; tags are united unless a person has set them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from helix_graph.insights.model import LINK_ORIGINS, ORIGINS

if TYPE_CHECKING:
    from helix_graph.insights.model import Insight, Link


def join(one: Insight, other: Insight) -> Insight:
    """Both as one, under the uid of ``one``; associative, commutative and idempotent for records of the same uid."""
    text = max(one, other, key=_text_rank)
    state = max(one, other, key=lambda record: (record.state_at, record.state, record.merged_into, record.reason))
    first = min(one, other, key=lambda record: (record.created_at, record.slug))
    return replace(
        one,
        slug=first.slug,
        created_at=first.created_at,
        content=text.content,
        edited_at=text.edited_at,
        tags=_tags(one, other),
        tagged_at=max(one.tagged_at, other.tagged_at),
        state=state.state,
        state_at=state.state_at,
        merged_into=state.merged_into,
        reason=state.reason,
        origin=min(one.origin, other.origin, key=ORIGINS.index),
        initial=max(one.initial, other.initial),
        episode=_first_word(one.episode, other.episode),
        source=_first_word(one.source, other.source),
        told=max(one.told, other.told, key=lambda told: sorted(told.items())),
    )


def absorb(one: Insight, other: Insight) -> Insight:
    """What ``one`` becomes when ``other``, which says the same in other words, goes into it.

    The fuller text is kept and tags are united. What a person wrote keeps its words, and its name and date stay its
    own.
    """
    longer = not one.edited_at and len(other.content) > len(one.content)
    return replace(
        one,
        content=other.content if longer else one.content,
        tags=tuple(sorted({*one.tags, *other.tags})),
        origin=min(one.origin, other.origin, key=ORIGINS.index),
    )


def join_links(one: Link, other: Link) -> Link:
    """Two records of one link as one: the more trusted origin with its score, the earlier date."""
    best = min(one, other, key=lambda link: (LINK_ORIGINS.index(link.origin), -link.score))
    return replace(best, created_at=min(one.created_at, other.created_at))


def _text_rank(record: Insight) -> tuple[str, int, str]:
    return record.edited_at, len(record.content), record.content


def _tags(one: Insight, other: Insight) -> tuple[str, ...]:
    if one.tagged_at != other.tagged_at:
        return max(one, other, key=lambda record: record.tagged_at).tags
    return tuple(sorted({*one.tags, *other.tags}))


def _first_word(one: str, other: str) -> str:
    """The one there is; of two the first in the alphabet."""
    return min(one, other) if one and other else one or other
