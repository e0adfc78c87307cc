"""What was decided before in such a situation, and how did it come out?

The words of a text are held against the words of every earlier decision; `helix_graph.graph.decided` ranks them. That
compares words, not meanings: a decision in other words is not found, and one in the same words may be about something
else. Nor does an outcome say that the decision brought it about: it is the session's, with what it rests on beside it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from helix_graph.graph.decided import Decided

if TYPE_CHECKING:
    from collections.abc import Sequence

COMPARES = "words are compared, not meanings; an outcome is the session's, which had more in it than this decision"


class Similar(msgspec.Struct, frozen=True, kw_only=True):
    """The earlier decisions most alike to a text, the most alike first.

    ``looked_for`` are the words of the text that were compared, ``not_met`` those that none of the ``decisions`` has.
    ``sessions`` counts all sessions with a decision that has one of the words. ``compares`` says what was compared.
    """

    looked_for: tuple[str, ...]
    not_met: tuple[str, ...]
    sessions: int
    decisions: tuple[Decided, ...]
    compares: str


def similar_of(words: tuple[str, ...], decisions: Sequence[Decided], sessions: int) -> Similar:
    """The answer, from what was found for these words."""
    met = {word for one in decisions for word in one.words}
    return Similar(
        looked_for=words,
        not_met=tuple(word for word in words if word not in met),
        sessions=sessions,
        decisions=tuple(decisions),
        compares=COMPARES,
    )
