"""What the logs claim, held against what happens: the status of asserted edges.

An edge says that in some sessions one thing was linked to another. Whether the two go together over all sessions is
another question, and its answer is the edge's *status*: ``supported`` when the second is met more often where the first
was, within the same kind of task and after the same earlier steps (less often, for an edge that prevents), and mostly
comes after it; ``contradicted`` when it is met less often; ``asserted`` when the sessions do not tell. A supported
claim is still a claim: what goes together need not bring about each other. Statuses are computed when asked for and
never stored on edges, because one more session changes every one of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import msgspec
import numpy as np

from helix_episodes.model import EdgeType
from helix_graph.causality.board import ABSENT, ENOUGH_TRIALS, LEAST_USES, Board
from helix_graph.causality.effects import effects_of
from helix_graph.causality.hypotheses import Hypothesis
from helix_graph.causality.model import Effect

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from helix_graph.causality.trials import Trial

Status = Literal["supported", "contradicted", "asserted"]
#: In the order in which they are worth reading.
STATUSES: tuple[Status, ...] = ("supported", "contradicted", "asserted")


class Claim(msgspec.Struct, frozen=True, kw_only=True):
    """An edge of the logs: how many ``episodes`` assert it, its status, and the comparison behind the status.

    ``effect.difference`` says how much more often (-1 to 1) the target is met with the source than without; ``effect``
    is ``None`` where there was not enough to compare.
    """

    source: str
    target: str
    type: EdgeType
    episodes: int
    status: Status
    effect: Effect | None


def claims_of(trials: Sequence[Trial]) -> tuple[Claim, ...]:
    """The asserted edges between labels that are frequent enough, with their status, the most telling first."""
    board = Board(trials)
    pairs = sorted({(cause, effect) for cause, effect, _ in board.claims if cause != effect})
    family = list(_family(board, pairs)) if len(trials) >= ENOUGH_TRIALS else []
    effects = {(one.trigger, one.action): one for one in effects_of(board, family)}
    found = [_claim(board, claim, count, effects) for claim, count in board.claims.items() if claim[0] != claim[1]]
    return tuple(sorted(found, key=_telling))


def _telling(one: Claim) -> tuple[int, int, str, str, str]:
    return STATUSES.index(one.status), -one.episodes, one.source, one.target, one.type


def _family(board: Board, pairs: Sequence[tuple[int, int]]) -> Iterator[Hypothesis]:
    everyone = np.arange(len(board.trials), dtype=np.int64)
    for cause, effect in pairs:
        exposed = board.first[cause] != ABSENT
        if LEAST_USES <= exposed.sum() <= len(everyone) - LEAST_USES:
            yield Hypothesis(
                kind="edge",
                trigger=board.labels[cause],
                action=board.labels[effect],
                step=board.labels[cause],
                labels=frozenset({board.labels[cause], board.labels[effect]}),
                units=everyone,
                exposed=exposed,
                places=board.first[cause],
                success=board.first[effect] != ABSENT,
                basis="met in the same session",
            )


def _claim(board: Board, claim: tuple[int, int, EdgeType], count: int, effects: dict[tuple[str, str], Effect]) -> Claim:
    cause, effect, kind = claim
    names = board.labels[cause], board.labels[effect]
    found = effects.get(names)
    return Claim(
        source=names[0],
        target=names[1],
        type=kind,
        episodes=count,
        status=_status(kind, found, follows=_follows(board, cause, effect)),
        effect=found,
    )


def _follows(board: Board, cause: int, effect: int) -> bool:
    """Whether the effect first comes after the cause in most sessions that have both."""
    both = (board.first[cause] != ABSENT) & (board.first[effect] != ABSENT)
    return bool(2 * (board.first[cause] < board.first[effect])[both].sum() > both.sum())


def _status(kind: EdgeType, effect: Effect | None, *, follows: bool) -> Status:
    if effect is None or effect.verdict != "associated":
        return "asserted"
    if effect.hurts != (kind == "prevents"):
        return "contradicted"
    # What is prevented is not met afterwards, so its order says nothing.
    return "supported" if follows or kind == "prevents" else "asserted"
