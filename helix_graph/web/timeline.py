"""The timeline of one session on its page: its steps in order, what leads to what, the suspects, and a like session.

Texts are as the logs have them; `helix_graph.web.rendering` keeps them from ending their element.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, TypeVar

import msgspec

from helix_episodes.model import Decision, Episode
from helix_graph.graph.episode_facts import facts_of
from helix_graph.graph.observations import in_order

if TYPE_CHECKING:
    from helix_graph.causality.contrast import Contrast
    from helix_graph.causality.fault_localization import Explanation
    from helix_graph.graph.model import Claim


Copy = TypeVar("Copy", bound=msgspec.Struct)


def copied(kind: type[Copy], source: object, **others: object) -> Copy:
    """A value of ``kind`` with the fields of ``source`` that have the same names, and ``others``."""
    same = (name for name in kind.__struct_fields__ if name not in others)
    return kind(**{name: getattr(source, name) for name in same}, **others)


class PageSuspect(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """Why a step is worth a look: its rank, counted from 1, the reasons, and sessions for and against it."""

    rank: int
    clear: bool
    reasons: tuple[str, ...]
    supporting: tuple[str, ...]
    contrary: tuple[str, ...]
    failed_with: int
    succeeded_with: int


class PageStep(msgspec.Struct, frozen=True, kw_only=True):
    """One decision or event of a session; ``links`` name the step, the edge and the reason, away from or to this one.

    ``node`` is the place of its label among the nodes, None when it is not on the page. ``how`` is how it came out;
    ``why`` and ``situation`` are of decisions, ``message`` is of events.
    """

    id: str
    kind: str
    type: str
    text: str
    why: str
    situation: str
    message: str
    how: str
    node: int | None
    line: int | None
    log: str
    quote: str
    time: str
    leads_to: tuple[tuple[str, str, str], ...]
    led_by: tuple[tuple[str, str, str], ...]
    suspect: PageSuspect | None


class PageParting(msgspec.Struct, frozen=True, kw_only=True):
    """A place where the session and the compared one differ: after what, and what each did there."""

    after: str
    here: tuple[str, ...]
    there: tuple[str, ...]
    here_ids: tuple[str, ...]


class PageBeside(msgspec.Struct, frozen=True, kw_only=True):
    """The most alike session that succeeded; ``other`` is empty where there is none, and ``why`` says so."""

    other: str
    why: str
    likeness: float
    partings: tuple[PageParting, ...]
    only_here: tuple[str, ...]
    only_there: tuple[str, ...]


class PageTimeline(msgspec.Struct, frozen=True, kw_only=True):
    """One session, step by step. ``sentence`` says what the list of suspects comes to."""

    episode: str
    task: str
    outcome: str
    basis: str
    rule: str
    quote: str
    compared: str
    agent: str
    project: str
    time: str
    log: str
    sentence: str
    steps: tuple[PageStep, ...]
    lessons: tuple[str, ...]
    beside: PageBeside


#: The step at the other end, the type of the edge, and the reason for it.
_Link = tuple[str, str, str]


def build_timeline(
    episode: Episode, *, explanation: Explanation, contrast: Contrast, places: Mapping[str, int]
) -> PageTimeline:
    """The timeline of a session. ``places`` has the place of each node on the page by its id."""
    evidence = episode.outcome_evidence
    return copied(
        PageTimeline,
        episode,
        episode=episode.id,
        basis=episode.outcome_basis,
        rule=evidence.rule if evidence else "",
        quote=evidence.quote if evidence else "",
        compared=explanation.basis,
        agent=episode.agent.name if episode.agent else "",
        project=episode.project or "",
        time=episode.timestamp or "",
        log=episode.provenance.log if episode.provenance else "",
        sentence=explanation.in_short,
        steps=tuple(_steps(episode, explanation, places)),
        beside=_beside(contrast),
    )


def _steps(episode: Episode, explanation: Explanation, places: Mapping[str, int]) -> Iterator[PageStep]:
    facts = facts_of(episode)
    node_of = {one.local: places.get(one.node) for one in facts.mentions}
    leads_to, led_by = _links(facts.claims)
    suspects = {one.decision: copied(PageSuspect, one, rank=rank) for rank, one in enumerate(explanation.suspects, 1)}
    log = episode.provenance.log if episode.provenance else ""
    for one in in_order(episode):
        place = one.evidence
        words: dict[str, str]
        if isinstance(one, Decision):
            words = {
                "text": one.chosen,
                "why": one.rationale,
                "situation": one.context,
                "message": "",
                "how": one.outcome,
            }
        else:
            words = {"text": one.content, "why": "", "situation": "", "message": one.message or "", "how": one.status}
        yield PageStep(
            **words,
            kind="decision" if isinstance(one, Decision) else "event",
            id=one.id,
            type=one.type,
            node=node_of.get(one.id),
            line=place.line if place else None,
            log=(place.file or log) if place else log,
            quote=place.quote if place else "",
            time=one.timestamp or "",
            leads_to=tuple(leads_to[one.id]),
            led_by=tuple(led_by[one.id]),
            suspect=suspects.get(one.id),
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
