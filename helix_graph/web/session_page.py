"""One session on a page: its steps in order, what leads to what, the suspects, and a session to compare it with."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from helix_episodes.model import Decision
from helix_graph.graph.facts import facts_of
from helix_graph.graph.observations import in_order
from helix_graph.web.page_model import PageBeside, PageParting, PageStep, PageSuspect, PageTimeline, copied

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from helix_episodes.model import Episode, Event
    from helix_graph.causality.contrast import Contrast
    from helix_graph.causality.fault_localization import Explanation
    from helix_graph.graph.model import Claim


#: The step at the other end, the type of the edge, and the reason for it.
_Link = tuple[str, str, str]


def build_timeline(
    episode: Episode, *, explanation: Explanation, contrast: Contrast, places: Mapping[str, int]
) -> PageTimeline:
    """The timeline of a session. ``places`` has the place of each node on the page by its id."""
    evidence = episode.outcome_evidence
    return PageTimeline(
        episode=episode.id,
        task=episode.task,
        outcome=episode.outcome,
        basis=episode.outcome_basis,
        rule=evidence.rule if evidence else "",
        quote=evidence.quote if evidence else "",
        compared=explanation.basis,
        agent=episode.agent.name if episode.agent else "",
        project=episode.project or "",
        time=episode.timestamp or "",
        log=episode.provenance.log if episode.provenance else "",
        sentence=explanation.in_short,
        steps=tuple(_Steps(episode, explanation, places).all()),
        lessons=episode.lessons,
        beside=_beside(contrast),
    )


class _Steps:
    """Makes the steps of one session."""

    def __init__(self, episode: Episode, explanation: Explanation, places: Mapping[str, int]) -> None:
        self._episode = episode
        facts = facts_of(episode)
        self._place = {one.local: places.get(one.node) for one in facts.mentions}
        self._leads_to, self._led_by = _links(facts.claims)
        self._suspects = {
            one.decision: copied(PageSuspect, one, rank=rank) for rank, one in enumerate(explanation.suspects, 1)
        }
        self._log = episode.provenance.log if episode.provenance else ""

    def all(self) -> Iterable[PageStep]:
        return (self._step(one) for one in in_order(self._episode))

    def _step(self, one: Decision | Event) -> PageStep:
        place = one.evidence
        how: str
        if isinstance(one, Decision):
            kind, how = "decision", one.outcome
            words = {"text": one.chosen, "why": one.rationale, "situation": one.context, "message": ""}
        else:
            kind, how = "event", one.status
            words = {"text": one.content, "why": "", "situation": "", "message": one.message or ""}
        return PageStep(
            **words,
            kind=kind,
            how=how,
            id=one.id,
            type=one.type,
            node=self._place.get(one.id),
            line=place.line if place else None,
            log=(place.file or self._log) if place else self._log,
            quote=place.quote if place else "",
            time=one.timestamp or "",
            leads_to=tuple(self._leads_to[one.id]),
            led_by=tuple(self._led_by[one.id]),
            suspect=self._suspects.get(one.id),
        )


def _links(claims: Iterable[Claim]) -> tuple[defaultdict[str, list[_Link]], defaultdict[str, list[_Link]]]:
    """What each step leads to and is led to by, each link once."""
    leads_to, led_by = defaultdict[str, list[_Link]](list), defaultdict[str, list[_Link]](list)
    for claim in sorted(claims, key=lambda one: (one.source_local, one.target_local, one.type, one.reason)):
        leads_to[claim.source_local].append((claim.target_local, claim.type, claim.reason))
        led_by[claim.target_local].append((claim.source_local, claim.type, claim.reason))
    return leads_to, led_by


def _beside(contrast: Contrast) -> PageBeside:
    partings = tuple(copied(PageParting, one, after=one.after or "") for one in contrast.partings)
    return copied(PageBeside, contrast, other=contrast.other or "", partings=partings)
