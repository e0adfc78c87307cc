"""What insights do, and how the memory itself does."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from helix_graph.report.model import Advice, Damage, Health, Learnt

if TYPE_CHECKING:
    from collections.abc import Iterable

    from helix_graph.causality.door import Skipped, Survey
    from helix_graph.graph.status import Status
    from helix_graph.insights.door import Insights
    from helix_graph.insights.uplift import Uplift

#: As many insights as are read.
MOST_ADVICE = 8
#: It tells of the last hour, and a report is the same at any hour.
_OF_THE_HOUR = "recent_feedback"


def learnt_of(insights: Insights) -> Learnt:
    """What insights do, as far as a lot decided who got them: the firmest estimates first, then the most shown."""
    found = insights.uplift()
    ranked = sorted(found.insights, key=_firmest)
    return Learnt(
        measured=found.measured,
        pooled=found.pooled,
        shown=tuple(Advice(content=_content(insights, one), uplift=one) for one in ranked[:MOST_ADVICE]),
        of=len(ranked),
    )


def _firmest(one: Uplift) -> tuple[bool, float, int, str]:
    low = one.interval.low if one.interval else 0.0
    return one.interval is None, -low, -(one.given.n + one.withheld.n), one.insight or ""


def _content(insights: Insights, one: Uplift) -> str:
    """Its words; an insight that was forgotten since has only its name."""
    kept = insights.get(one.insight or "")
    return str(kept["content"]) if kept else ""


def health_of(
    root: Path, *, status: Status, survey: Survey, skipped: Iterable[Skipped], insights: dict[str, Any]
) -> Health:
    """How the memory does."""
    return Health(
        sessions=survey.episodes,
        outcomes=survey.outcomes,
        damaged=_damage(root, (*skipped, *survey.skipped)),
        nodes=status.nodes,
        edges=status.edges,
        pending=status.pending,
        shared=status.shared_mentions,
        compared=survey.compared,
        comparisons=survey.tested,
        too_early=survey.too_early,
        insights={name: value for name, value in insights.items() if name != _OF_THE_HOUR},
    )


def _damage(root: Path, skipped: Iterable[Skipped]) -> tuple[Damage, ...]:
    """Each file once; where it lies within the memory, no more is said of the place."""
    problems = {one.path: one.problem for one in skipped}
    return tuple(Damage(file=_within(root, path), problem=problems[path]) for path in sorted(problems))


def _within(root: Path, path: str) -> str:
    place = Path(path)
    return str(place.relative_to(root)) if place.is_relative_to(root) else place.name
