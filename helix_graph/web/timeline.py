"""A session step by step: what leads to what, the suspects, and a like session that succeeded.

`build_timeline` is the answer of ``explain --steps``; `trace_of` is what the page has of a session. Texts are as the
logs have them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, TypeVar

import msgspec

from helix_episodes.model import Decision, Episode, Event
from helix_graph.causality.lookups import lookups_in
from helix_graph.graph.episode_facts import facts_of
from helix_graph.graph.observations import in_order
from helix_graph.issues.remedies import edit_diff
from helix_graph.web.page_graph import fine_id

if TYPE_CHECKING:
    from helix_graph.causality.contrast import Contrast
    from helix_graph.causality.fault_localization import Explanation, Suspect
    from helix_graph.graph.model import Claim, EpisodeFacts


Copy = TypeVar("Copy", bound=msgspec.Struct)


def copied(kind: type[Copy], source: object, **others: object) -> Copy:
    """A value of ``kind`` with the fields of ``source`` that have the same names, and ``others``."""
    same = (name for name in kind.__struct_fields__ if name not in others)
    return kind(**{name: getattr(source, name) for name in same}, **others)


class PageSuspect(msgspec.Struct, frozen=True, kw_only=True, gc=False, omit_defaults=True):
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

    ``how`` is how it came out; ``why`` and ``situation`` are of decisions, ``message`` is of events. ``diff`` are the
    lines that an edit changed (`helix_graph.issues.remedies`).
    """

    id: str
    kind: str
    type: str
    text: str
    why: str
    situation: str
    message: str
    how: str
    line: int | None
    log: str
    quote: str
    time: str
    leads_to: tuple[tuple[str, str, str], ...]
    led_by: tuple[tuple[str, str, str], ...]
    suspect: PageSuspect | None
    diff: tuple[str, ...] = ()


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


class TraceStep(PageStep, frozen=True, kw_only=True, omit_defaults=True):
    """A step on the page. ``label`` is what sessions have in common, ``node`` its id in the page's graph.

    ``issue`` is the failure's fingerprint, ``repaired_by`` the steps that repaired it, ``shown_by`` the one that showed
    it. ``looked`` is a look-up that found nothing. ``minutes`` and ``tokens`` are what a failure took. ``also`` are the
    other lines of a step that was done several times.
    """

    label: str
    node: str
    issue: str = ""
    deliberate: bool = False
    looked: bool = False
    repaired_by: tuple[str, ...] = ()
    shown_by: str = ""
    minutes: float | None = None
    tokens: int | None = None
    also: tuple[int, ...] = ()


class PageReading(msgspec.Struct, frozen=True, kw_only=True, gc=False, omit_defaults=True):
    """A place to read (`helix_graph.causality.reading_order.ReadingPlace`), by its steps and its lines in the log."""

    line: int
    last_line: int
    file: str | None
    speaker: str
    quote: str
    steps: tuple[str, ...] = ()
    reasons: tuple[str, ...] = ()
    trouble: str = ""


#: So many places to read are on the page; `explain --json` has all.
_READ_FIRST = 5


class SessionTrace(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A session on the page. ``order`` are the suspects by their step, ``reading`` the places to read first.

    Both rest on this session alone: comparing it with all others takes seconds for each. ``from_log`` says whether its
    log was read, or what the episode kept of it. ``source`` is the step that the outcome rests on, ``why_unknown`` says
    why none is known. ``shown`` are the insights that the memory had put into it.
    """

    task: str
    rule: str
    quote: str
    log: str
    sentence: str
    steps: tuple[TraceStep, ...]
    order: tuple[str, ...]
    reading: tuple[PageReading, ...] = ()
    from_log: bool = False
    source: str = ""
    why_unknown: str = ""
    lessons: tuple[str, ...] = ()
    shown: tuple[str, ...] = ()


#: The step at the other end, the type of the edge, and the reason for it.
_Link = tuple[str, str, str]


def build_timeline(episode: Episode, *, explanation: Explanation, contrast: Contrast) -> PageTimeline:
    """The timeline of a session."""
    evidence = episode.outcome_evidence
    partings = tuple(copied(PageParting, one, after=one.after or "") for one in contrast.partings)
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
        steps=tuple(_steps(episode, facts_of(episode), explanation.suspects)),
        beside=copied(PageBeside, contrast, other=contrast.other or "", partings=partings),
    )


def trace_of(episode: Episode, *, explanation: Explanation, shown: Sequence[str] = ()) -> SessionTrace:
    """The trace of a session; ``shown`` are the insights that it was given, in words."""
    suspects = explanation.suspects
    facts, evidence = facts_of(episode), episode.outcome_evidence
    labels = {
        one.local: (one.label, fine_id(one.type, one.label, one.thing or one.place or "")) for one in facts.mentions
    }
    events = {one.id: one for one in episode.events}
    fixes = {fix.error: fix for fix in episode.fixes}
    looked = lookups_in(episode) - fixes.keys()
    lines = {one.id: one.evidence.also for one in episode.decisions if one.evidence}
    steps = []
    for step in _steps(episode, facts, suspects):
        label, node = labels.get(step.id, ("", ""))
        event, fix = events.get(step.id), fixes.get(step.id)
        cost = event.cost if event else None
        steps.append(
            copied(
                TraceStep,
                step,
                label=label,
                node=node,
                issue=(event.fingerprint or "") if event else "",
                deliberate=event is not None and event.deliberate,
                looked=step.id in looked,
                repaired_by=fix.changes if fix else (),
                shown_by=(fix.verified_by or "") if fix else "",
                minutes=None if cost is None or cost.seconds is None else round(cost.seconds / 60, 2),
                tokens=cost.tokens if cost else None,
                also=lines.get(step.id, ()),
            )
        )
    return SessionTrace(
        task=episode.task,
        rule=evidence.rule if evidence else "",
        quote=evidence.quote if evidence else "",
        log=episode.provenance.log if episode.provenance else "",
        sentence=explanation.in_short,
        steps=tuple(steps),
        order=tuple(one.decision for one in suspects),
        reading=tuple(copied(PageReading, one) for one in explanation.reading[:_READ_FIRST]),
        from_log=explanation.read_from == "the log",
        source=(evidence.source or "") if evidence else "",
        why_unknown=explanation.why_unknown,
        lessons=episode.lessons,
        shown=tuple(shown),
    )


def _steps(episode: Episode, facts: EpisodeFacts, found: Iterable[Suspect]) -> Iterator[PageStep]:
    leads_to, led_by = _links(facts.claims)
    suspects = {one.decision: copied(PageSuspect, one, rank=rank) for rank, one in enumerate(found, 1)}
    log = episode.provenance.log if episode.provenance else ""
    for one in in_order(episode):
        place = one.evidence
        if isinstance(one, Decision):
            words = {"text": one.chosen, "why": one.rationale, "situation": one.context, "message": ""}
            words["how"] = one.outcome
        else:
            words = {"text": one.content, "why": "", "situation": "", "message": one.message or "", "how": one.status}
        yield PageStep(
            **words,
            kind="decision" if isinstance(one, Decision) else "event",
            id=one.id,
            type=one.type,
            line=place.line if place else None,
            log=(place.file or log) if place else log,
            quote=place.quote if place else "",
            diff=_diff_of(one),
            time=one.timestamp or "",
            leads_to=tuple(leads_to[one.id]),
            led_by=tuple(led_by[one.id]),
            suspect=suspects.get(one.id),
        )


def _diff_of(one: Decision | Event) -> tuple[str, ...]:
    """What an edit changed; of anything else nothing."""
    if isinstance(one, Event) or one.action is None or one.action.verb not in {"edit", "create"} or not one.evidence:
        return ()
    return edit_diff(replaced=one.evidence.replaced, wrote=one.evidence.quote)


def _links(claims: Iterable[Claim]) -> tuple[defaultdict[str, list[_Link]], defaultdict[str, list[_Link]]]:
    """What each step leads to and is led to by, each link once."""
    leads_to, led_by = defaultdict[str, list[_Link]](list), defaultdict[str, list[_Link]](list)
    for claim in claims:
        leads_to[claim.source_local].append((claim.target_local, claim.type, claim.reason))
        led_by[claim.target_local].append((claim.source_local, claim.type, claim.reason))
    return leads_to, led_by
