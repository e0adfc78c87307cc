"""What the logs claim, held against what happens: the status of asserted edges.

An edge says that in some sessions one thing was linked to another. Whether the two go together over all sessions is
another question, and its answer is the edge's *status*: ``supported`` when the second is met more often where the first
was, within the same kind of task and after the same earlier steps (less often, for an edge that prevents), and mostly
comes after it; ``contradicted`` when it occurs less often; ``asserted`` when the sessions do not tell. A supported
claim is still a claim: correlation is not causation. Statuses are computed when asked for and
never stored on edges, because one more session changes every one of them.

A change that fixed an error is said to prevent it. Where the error mostly comes first, whole sessions cannot tell: all
who answer an error have met it. Such an edge is asserted and takes no part in the comparisons.

That logs say one thing prevents another in some sessions, and causes it in others, is one row: the more frequent claim,
with the other inside. A check that was run is no cause of what it answered (`helix_graph.graph.observations`).

Edges from or to a passing check are not looked at, since passing is what comparisons ask about; nor are labels too rare
to be compared. The answer counts both.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Literal

import msgspec
import numpy as np

from helix_episodes.model import EdgeType
from helix_graph.causality.effects import effects_of
from helix_graph.causality.hypotheses import ABSENT, LEAST_USES, Hypothesis, TrialMatrix
from helix_graph.graph.patterns import Effect

if TYPE_CHECKING:
    from helix_graph.graph.observations import Trial, TrialStep

Status = Literal["supported", "contradicted", "asserted"]
#: In the order in which they are worth reading.
STATUSES: tuple[Status, ...] = ("supported", "contradicted", "asserted")


class ClaimVerdict(msgspec.Struct, frozen=True, kw_only=True):
    """An edge of the logs: how many ``episodes`` assert it, its status, and the comparison behind the status.

    ``effect.difference`` says how much more often (-1 to 1) the target is met with the source than without; ``effect``
    is ``None`` where there was not enough to compare. ``also`` has the other edges that logs assert between the two, of
    another type or the other way round, in fewer episodes.
    """

    source: str
    target: str
    type: EdgeType
    episodes: int
    status: Status
    effect: Effect | None
    also: tuple[ClaimVerdict, ...] = ()


class ClaimReport(msgspec.Struct, frozen=True, kw_only=True):
    """The asserted edges that were looked at, one row for two labels, the most telling first, and what was not.

    ``tested`` edges were compared over ``sessions``. ``left_out`` counts the edges that were not looked at, by the
    reason in words. ``too_early`` says in words why none was compared, if so.
    """

    claims: tuple[ClaimVerdict, ...]
    sessions: int
    tested: int
    left_out: dict[str, int]
    too_early: str = ""


def claims_of(trials: Sequence[Trial]) -> ClaimReport:
    """The asserted edges between labels that are frequent enough, with their status, the most telling first."""
    matrix = TrialMatrix(trials)
    least = matrix.least + LEAST_USES
    early = f"{len(trials)} sessions; an edge needs {least}" if len(trials) < least else ""
    family = [] if early else list(_family(matrix))
    effects = {(one.trigger, one.action): one for one in effects_of(matrix, family)}
    found = [_claim(matrix, claim, count, effects) for claim, count in matrix.claims.items() if claim[0] != claim[1]]
    rows = sorted(
        _one_a_pair(found),
        key=lambda one: (STATUSES.index(one.status), -one.episodes, one.source, one.target, one.type),
    )
    return ClaimReport(
        claims=tuple(rows),
        sessions=len(trials),
        tested=len(effects),
        left_out=_left_out(matrix),
        too_early=early,
    )


def _one_a_pair(found: Iterable[ClaimVerdict]) -> Iterator[ClaimVerdict]:
    """What is said most often between two labels, with the rest inside."""
    pairs: dict[tuple[str, str], list[ClaimVerdict]] = defaultdict(list)
    for one in sorted(found, key=lambda one: (-one.episodes, one.source, one.target, one.type)):
        pairs[min(one.source, one.target), max(one.source, one.target)].append(one)
    for first, *others in pairs.values():
        yield msgspec.structs.replace(first, also=tuple(others))


def _left_out(matrix: TrialMatrix) -> dict[str, int]:
    """How many different edges of the logs are not looked at, by the reason."""
    reasons: dict[tuple[str, str, EdgeType], str] = {}
    for trial in matrix.trials:
        for cause, effect, kind in trial.claims:
            source, target = trial.steps[cause], trial.steps[effect]
            if reason := _why_not(matrix, source, target):
                reasons[source.label, target.label, kind] = reason
    return dict(sorted(Counter(reasons.values()).items()))


def _why_not(matrix: TrialMatrix, source: TrialStep, target: TrialStep) -> str:
    if source.label == target.label:
        return "from a label to itself"
    unknown = [step for step in (source, target) if step.label not in matrix.row]
    if any(step.kind == "check" for step in unknown):
        return "from or to a passing check"
    return f"with a label of fewer than {matrix.least} sessions" if unknown else ""


def _family(matrix: TrialMatrix) -> Iterator[Hypothesis]:
    everyone = np.arange(len(matrix.trials), dtype=np.int64)
    told_by_sessions = (claim for claim in matrix.claims if claim[0] != claim[1] and not _answers(matrix, claim))
    for cause, effect in sorted({(cause, effect) for cause, effect, _ in told_by_sessions}):
        exposed = matrix.first[cause] != ABSENT
        if LEAST_USES <= exposed.sum() <= len(everyone) - LEAST_USES:
            yield Hypothesis(
                kind="edge",
                trigger=matrix.labels[cause],
                action=matrix.labels[effect],
                step=matrix.labels[cause],
                labels=frozenset({matrix.labels[cause], matrix.labels[effect]}),
                units=everyone,
                exposed=exposed,
                places=matrix.first[cause],
                success=matrix.first[effect] != ABSENT,
                basis="met in the same session",
            )


def _claim(
    matrix: TrialMatrix, claim: tuple[int, int, EdgeType], count: int, effects: dict[tuple[str, str], Effect]
) -> ClaimVerdict:
    cause, effect, kind = claim
    names = matrix.labels[cause], matrix.labels[effect]
    found = None if _answers(matrix, claim) else effects.get(names)
    return ClaimVerdict(
        source=names[0],
        target=names[1],
        type=kind,
        episodes=count,
        status=_status(kind, found, follows=_follows(matrix, cause, effect)),
        effect=found,
    )


def _answers(matrix: TrialMatrix, claim: tuple[int, int, EdgeType]) -> bool:
    """Whether what is said to be prevented comes first in most sessions that have both."""
    cause, effect, kind = claim
    return kind == "prevents" and _follows(matrix, effect, cause)


def _follows(matrix: TrialMatrix, cause: int, effect: int) -> bool:
    """Whether the effect first comes after the cause in most sessions that have both."""
    both = (matrix.first[cause] != ABSENT) & (matrix.first[effect] != ABSENT)
    return bool(2 * (matrix.first[cause] < matrix.first[effect])[both].sum() > both.sum())


def _status(kind: EdgeType, effect: Effect | None, *, follows: bool) -> Status:
    if effect is None or effect.verdict != "associated":
        return "asserted"
    if effect.hurts != (kind == "prevents"):
        return "contradicted"
    # What is prevented is not met afterwards, so its order says nothing.
    return "supported" if follows or kind == "prevents" else "asserted"
