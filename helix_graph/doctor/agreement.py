"""Do the links of an episode hold together: existing ends, both directions agreeing, forwards in time, no cycles?

Where an episode has ``links``, they are the truth, and ``effects``, ``caused_by`` and ``leads_to`` are the same links
seen from either end. Episodes of the original schema have only the ends; there the truth is what any of them says.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from msgspec.structs import replace

from helix_graph.graph.model import moment

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from helix_episodes.model import Decision, Episode, Event, Fix, OutcomeEvidence

_Pair = tuple[str, str]


def agreed(episode: Episode) -> tuple[Episode, tuple[str, ...]]:
    """The episode with its links in order, and what was wrong with them."""
    ids = {one.id for one in episode.decisions} | {one.id for one in episode.events}
    pairs, problems = _sound(episode, ids)
    effects, causes = defaultdict(set), defaultdict(set)
    for source, target in pairs:
        effects[source].add(target)
        causes[target].add(source)
    fixed = replace(
        episode,
        decisions=tuple(_decision(one, effects[one.id], causes[one.id]) for one in episode.decisions),
        events=tuple(_event(one, effects[one.id], causes[one.id]) for one in episode.events),
        links=tuple(link for link in episode.links if link.reason == "fix" or (link.source, link.target) in pairs),
        fixes=tuple(kept for fix in episode.fixes if (kept := _fix(fix, ids))),
        outcome_evidence=_decider(episode, ids),
    )
    return fixed, (*problems, *_differences(episode, fixed))


def unsound_links(episode: Episode) -> tuple[str, ...]:
    """The links that cannot stand, each with the reason: an end that is not there, backwards in time, a circle."""
    return _sound(episode, {one.id for one in episode.decisions} | {one.id for one in episode.events})[1]


def _sound(episode: Episode, ids: set[str]) -> tuple[set[_Pair], tuple[str, ...]]:
    """The links that can stand, and why each of the others cannot."""
    times = {one.id: moment(one.timestamp) for one in episode.decisions}
    times |= {one.id: moment(one.timestamp) for one in episode.events}
    kept: dict[str, set[str]] = defaultdict(set)
    problems: list[str] = []
    for source, target in dict.fromkeys(_truth(episode)):
        problem = _problem(source, target, ids, times, kept)
        if problem:
            problems.append(f"{source} -> {target} {problem}")
        else:
            kept[source].add(target)
    return {(source, target) for source, targets in kept.items() for target in targets}, tuple(problems)


def _truth(episode: Episode) -> Iterator[_Pair]:
    links = [(link.source, link.target) for link in episode.links if link.reason != "fix"]
    yield from links or _ends(episode)


def _ends(episode: Episode) -> Iterator[_Pair]:
    """The links that the ends of the original schema name."""
    for decision in episode.decisions:
        yield from ((decision.id, effect) for effect in decision.effects)
        yield from ((cause, decision.id) for cause in decision.caused_by)
    for event in episode.events:
        yield from ((cause, event.id) for cause in event.caused_by)
        yield from ((event.id, effect) for effect in event.leads_to)


def _problem(source: str, target: str, ids: set[str], times: dict[str, str], kept: dict[str, set[str]]) -> str | None:
    missing = [end for end in (source, target) if end not in ids]
    if missing:
        return f"names {' and '.join(missing)}, which do not exist"
    if times[source] and times[target] and times[source] > times[target]:
        return "runs backwards in time"
    return "closes a circle" if _leads(target, source, kept) else None


def _leads(source: str, target: str, kept: dict[str, set[str]]) -> bool:
    seen, waiting = {source}, [source]
    while waiting:
        node = waiting.pop()
        if node == target:
            return True
        fresh = kept.get(node, set()) - seen
        seen |= fresh
        waiting += fresh
    return False


def _decision(one: Decision, effects: set[str], causes: set[str]) -> Decision:
    return replace(one, effects=_ordered(one.effects, effects), caused_by=_ordered(one.caused_by, causes))


def _event(one: Event, effects: set[str], causes: set[str]) -> Event:
    return replace(one, leads_to=_ordered(one.leads_to, effects), caused_by=_ordered(one.caused_by, causes))


def _ordered(stated: Iterable[str], wanted: set[str]) -> tuple[str, ...]:
    """The ids wanted, in the order stated where they were, the others behind them."""
    kept = [name for name in dict.fromkeys(stated) if name in wanted]
    return (*kept, *sorted(wanted - set(kept)))


def _fix(fix: Fix, ids: set[str]) -> Fix | None:
    changes = tuple(change for change in fix.changes if change in ids)
    if fix.error not in ids or not changes:
        return None
    share = fix.share if len(changes) == len(fix.changes) else 1 / len(changes)
    return replace(fix, changes=changes, share=share, verified_by=fix.verified_by if fix.verified_by in ids else None)


def _decider(episode: Episode, ids: set[str]) -> OutcomeEvidence | None:
    evidence = episode.outcome_evidence
    return replace(evidence, source=None) if evidence and evidence.source and evidence.source not in ids else evidence


def _differences(before: Episode, after: Episode) -> Iterator[str]:
    """What the ends said differently from the links."""
    changed = [new.id for old, new in zip(before.decisions, after.decisions, strict=True) if old != new]
    changed += [new.id for old, new in zip(before.events, after.events, strict=True) if old != new]
    yield from (f"{name} does not agree with the links" for name in changed)
    if before.fixes != after.fixes:
        yield "a fix names what does not exist"
    if before.outcome_evidence != after.outcome_evidence:
        yield "the outcome rests on an event that does not exist"
