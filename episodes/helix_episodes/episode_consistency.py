"""Consistency of one episode: valid times, unique ids, and links that agree.

`repair_parts` checks decisions and events one by one: an invalid time becomes unknown (the episode's own becomes the
earliest of its parts), a second part with the same id gets the next free one, and an exact duplicate is dropped.
`repair_links` checks what joins them: both ends exist, both directions agree, time runs forwards, nothing is circular.

Where an episode has ``links``, they are the truth, and ``effects``, ``caused_by`` and ``leads_to`` are the same links
seen from either end. Episodes in the original schema have only the ends; there any end that names a link counts.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from typing import TypeVar

from msgspec.structs import replace

from helix_episodes.corrections import parts_of, told_id, with_ends
from helix_episodes.light_imports import Regex
from helix_episodes.model import OUTCOME_ID, Decision, Episode, Event, Fix, sortable_time

_Part = TypeVar("_Part", "Decision", "Event")


def repair_parts(episode: Episode) -> tuple[Episode, tuple[str, ...]]:
    """The episode with real times and one thing to an id, and what was wrong."""
    taken = {OUTCOME_ID}
    began = _valid_time(episode.timestamp)
    if began is None and episode.timestamp is not None:
        times = (one.timestamp for one in parts_of(episode) if sortable_time(one.timestamp))
        began = min(times, key=sortable_time, default=None)
    fixed = replace(
        episode,
        timestamp=began,
        decisions=tuple(_with_unique_ids(episode.decisions, "d", taken)),
        events=tuple(_with_unique_ids(episode.events, "e", taken)),
    )
    return fixed, tuple(_problems_of_parts(episode))


def _valid_time(timestamp: str | None) -> str | None:
    return timestamp if sortable_time(timestamp) else None


def _with_unique_ids(parts: Iterable[_Part], letter: str, taken: set[str]) -> Iterator[_Part]:
    """Each part once, with a real time and an id of its own; ``taken`` grows by their ids."""
    each: list[_Part] = []
    seen: dict[str, list[_Part]] = {}
    for part in parts:
        one = replace(part, timestamp=_valid_time(part.timestamp))
        if one not in seen.setdefault(one.id, []):
            seen[one.id].append(one)
            each.append(one)
    names = taken | {one.id for one in each}
    for one in each:
        name = one.id if one.id not in taken else free_id(letter, names)
        names.add(name)
        taken.add(name)
        yield one if name == one.id else replace(one, id=name)


def free_id(letter: str, names: Iterable[str]) -> str:
    """The next id of a decision (``d``) or an event (``e``).

    >>> free_id("d", {"d001", "e007"})
    'd002'
    """
    numbers = [int(name[1:]) for name in names if name[:1] == letter and name[1:].isdecimal()]
    return f"{letter}{max(numbers, default=0) + 1:03}"


#: A longer one may be a sentence.
_WORD = Regex(r"[\w:.+-]{1,14}")


def _problems_of_parts(episode: Episode) -> Iterator[str]:
    for name, at in [(episode.id, episode.timestamp), *((one.id, one.timestamp) for one in parts_of(episode))]:
        if at is not None and not sortable_time(at):
            whose = "the session" if name == episode.id else told_id(name)
            yield f"the time of {whose} is {repr(at) if _WORD.fullmatch(at) else 'a text'}, which is none"
    counts = Counter([OUTCOME_ID, *(one.id for one in parts_of(episode))])
    yield from (f"{count} things are called {told_id(name)}" for name, count in sorted(counts.items()) if count > 1)


_Pair = tuple[str, str]


def repair_links(episode: Episode) -> tuple[Episode, tuple[str, ...]]:
    """The episode with its links in order, and what was wrong with them."""
    ids = {one.id for one in parts_of(episode)}
    pairs, problems = _sound_pairs(episode)
    effects, causes = defaultdict(set), defaultdict(set)
    for source, target in pairs:
        effects[source].add(target)
        causes[target].add(source)
    evidence = episode.outcome_evidence
    if evidence and evidence.source and evidence.source not in ids:
        evidence = replace(evidence, source=None)
    fixed = replace(
        with_ends(
            episode,
            lambda own, stated: _ordered(stated, effects[own]),
            lambda own, stated: _ordered(stated, causes[own]),
        ),
        links=tuple(link for link in episode.links if link.reason == "fix" or (link.source, link.target) in pairs),
        fixes=tuple(sound for fix in episode.fixes if (sound := _repaired_fix(fix, ids))),
        outcome_evidence=evidence,
    )
    return fixed, (*problems, *_differences(episode, fixed))


def unsound_links(episode: Episode) -> tuple[str, ...]:
    """The links that are not valid, each with the reason: an end that is not there, backwards in time, a circle."""
    return _sound_pairs(episode)[1]


def _sound_pairs(episode: Episode) -> tuple[set[_Pair], tuple[str, ...]]:
    """The links that are valid, and why each of the others cannot."""
    links = [(link.source, link.target) for link in episode.links if link.reason != "fix"]
    times = times_of(parts_of(episode))
    if episode.outcome != "unknown":  # what led to it may be stated; it comes last, whenever that was
        times[OUTCOME_ID] = ""
    return sound_pairs(links or _pairs_of_ends(episode), times)


def times_of(parts: Iterable[Decision | Event]) -> dict[str, str]:
    """The ids of decisions and events, each with its time in a form that sorts."""
    return {one.id: sortable_time(one.timestamp) for one in parts}


def sound_pairs(pairs: Iterable[_Pair], times: dict[str, str]) -> tuple[set[_Pair], tuple[str, ...]]:
    """Those pairs of cause and effect among the ids in ``times`` that are valid, and why each of the others is not."""
    sound: dict[str, set[str]] = defaultdict(set)
    problems: list[str] = []
    for source, target in dict.fromkeys(pairs):
        problem = _problem(source, target, times, sound)
        if problem:
            problems.append(f"{told_id(source)} -> {told_id(target)} {problem}")
        else:
            sound[source].add(target)
    return {(source, target) for source, targets in sound.items() for target in targets}, tuple(problems)


def _pairs_of_ends(episode: Episode) -> Iterator[_Pair]:
    """The links that the ends of the original schema name."""
    for decision in episode.decisions:
        yield from ((decision.id, effect) for effect in decision.effects)
        yield from ((cause, decision.id) for cause in decision.caused_by)
    for event in episode.events:
        yield from ((cause, event.id) for cause in event.caused_by)
        yield from ((event.id, effect) for effect in event.leads_to)


def _problem(source: str, target: str, times: dict[str, str], sound: dict[str, set[str]]) -> str | None:
    missing = [end for end in (source, target) if end not in times]
    if missing:
        return f"names {' and '.join(map(told_id, missing))}, which do not exist"
    if times[source] and times[target] and times[source] > times[target]:
        return "runs backwards in time"
    return "closes a circle" if _reaches(target, source, sound) else None


def _reaches(source: str, target: str, sound: dict[str, set[str]]) -> bool:
    seen, waiting = {source}, [source]
    while waiting:
        node = waiting.pop()
        if node == target:
            return True
        fresh = sound.get(node, set()) - seen
        seen |= fresh
        waiting += fresh
    return False


def _ordered(stated: Iterable[str], wanted: set[str]) -> tuple[str, ...]:
    """The ids wanted, in the order stated where they were, the others behind them."""
    sound = [name for name in dict.fromkeys(stated) if name in wanted]
    return (*sound, *sorted(wanted - set(sound)))


def _repaired_fix(fix: Fix, ids: set[str]) -> Fix | None:
    changes = tuple(change for change in fix.changes if change in ids)
    if fix.error not in ids or not changes:
        return None
    share = fix.share if len(changes) == len(fix.changes) else 1 / len(changes)
    edits = tuple(one for one in fix.edits if one.change in ids)
    verified_by = fix.verified_by if fix.verified_by in ids else None
    return replace(fix, changes=changes, share=share, verified_by=verified_by, edits=edits)


def _differences(before: Episode, after: Episode) -> Iterator[str]:
    """What the ends stated differently from the links."""
    parts = zip(parts_of(before), parts_of(after), strict=True)
    yield from (f"{told_id(new.id)} does not agree with the links" for old, new in parts if old != new)
    if before.fixes != after.fixes:
        yield "a fix names what does not exist"
    if before.outcome_evidence != after.outcome_evidence:
        yield "the outcome rests on an event that does not exist"
