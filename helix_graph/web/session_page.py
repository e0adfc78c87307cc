"""One session on a page: its steps in order, what leads to what, the suspects, and a session to compare it with."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from helix_episodes.model import Decision
from helix_graph.graph.facts import facts_of
from helix_graph.graph.observations import in_order
from helix_graph.web.page_model import PageBeside, PageParting, PageStep, PageSuspect, PageTimeline

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from helix_episodes.model import Episode, Event
    from helix_graph.causality.contrast import Contrast
    from helix_graph.causality.fault_localization import Explanation, Suspect
    from helix_graph.graph.model import Claim


#: The step at the other end, the type of the edge, and the reason for it.
_Link = tuple[str, str, str]


def build_timeline(
    episode: Episode, *, explanation: Explanation, contrast: Contrast, places: Mapping[str, int]
) -> PageTimeline:
    """The timeline of a session. ``places`` has the place of each node on the page by its id."""
    told = episode.outcome_evidence
    return PageTimeline(
        episode=episode.id,
        task=episode.task,
        outcome=episode.outcome,
        basis=episode.outcome_basis,
        rule=told.rule if told else "",
        quote=told.quote if told else "",
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
        self._suspects = {one.decision: _suspect(rank, one) for rank, one in enumerate(explanation.suspects, 1)}
        self._log = episode.provenance.log if episode.provenance else ""

    def all(self) -> Iterable[PageStep]:
        return (self._step(one) for one in in_order(self._episode))

    def _step(self, one: Decision | Event) -> PageStep:
        place = one.evidence
        return PageStep(
            **_of_decision(one) if isinstance(one, Decision) else _of_event(one),
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


def _of_decision(one: Decision) -> dict[str, str]:
    words = {"text": one.chosen, "why": one.rationale, "situation": one.context, "message": ""}
    return {"kind": "decision", "how": one.outcome, **words}


def _of_event(one: Event) -> dict[str, str]:
    words = {"text": one.content, "why": "", "situation": "", "message": one.message or ""}
    return {"kind": "event", "how": one.status, **words}


def _links(claims: Iterable[Claim]) -> tuple[defaultdict[str, list[_Link]], defaultdict[str, list[_Link]]]:
    """What each step leads to and is led to by, each link once."""
    leads_to, led_by = defaultdict[str, list[_Link]](list), defaultdict[str, list[_Link]](list)
    for claim in sorted(claims, key=lambda one: (one.source_local, one.target_local, one.type, one.reason)):
        leads_to[claim.source_local].append((claim.target_local, claim.type, claim.reason))
        led_by[claim.target_local].append((claim.source_local, claim.type, claim.reason))
    return leads_to, led_by


def _suspect(rank: int, one: Suspect) -> PageSuspect:
    return PageSuspect(
        rank=rank,
        clear=one.clear,
        reasons=one.reasons,
        supporting=one.supporting,
        contrary=one.contrary,
        failed_with=one.failed_with,
        succeeded_with=one.succeeded_with,
    )


def _beside(contrast: Contrast) -> PageBeside:
    return PageBeside(
        other=contrast.other or "",
        why=contrast.why,
        likeness=contrast.likeness,
        partings=tuple(
            PageParting(after=one.after or "", here=one.here, there=one.there, here_ids=one.here_ids)
            for one in contrast.partings
        ),
        only_here=contrast.only_here,
        only_there=contrast.only_there,
    )
