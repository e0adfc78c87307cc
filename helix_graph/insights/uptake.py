"""Uptake: was what an insight speaks of done after it was handed over, and did that lead to the outcome?

Done means, in this order of how much it says: its name is cited; the same full command is run; the same file is changed
in the same manner; a choice of design or implementation follows whose words are at least 0.60 alike. To run a check or
to look is none, in whatever words: every session runs the linter. Neither is a coarse node in common (``edit source``),
nor a change to another file than those that the insight names. What came before the insight was handed over does not
count, and neither does what cannot be placed in time, when it is known when the insight was.

The path leads through the episode's own graph, from what was done to the outcome; ``prevents`` is no way there. The
nodes that an insight is linked with are no beginning: they are too coarse to say that it was followed.
"""

from __future__ import annotations

from collections import defaultdict
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, NamedTuple

from helix_episodes.extraction.commands import decisive, parse_command
from helix_episodes.limits import LONGEST_COMMAND
from helix_episodes.regex import Regex
from helix_graph.graph.model import OUTCOME_ID, moment
from helix_graph.graph.weights import MILLION
from helix_graph.insights.attribution import MOST_HOPS, path_strength

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence

    from helix_episodes.model import Decision, Episode
    from helix_graph.graph.anchors import Anchored
    from helix_graph.graph.model import EpisodeFacts

#: Nobody writes a shorter name without meaning the word.
_SHORTEST_CITED = 8
#: The decisions that an advice can be the reason of; the others answer an error or run a check.
_CHOICES = frozenset({"design", "implementation"})
#: A file as prose names it: its ending is what tells it from a number or an abbreviation.
_FILE = Regex(r"[\w./-]*\w\.[A-Za-z]\w{0,9}(?![\w/])")


class Advice(NamedTuple):
    """An insight: its name, what it says, and the nodes that it is linked with."""

    name: str
    content: str
    nodes: Sequence[Anchored] = ()


class Uptake(NamedTuple):
    """What was seen, as a sentence, and the decision where."""

    seen: str
    decision: str


class Way(NamedTuple):
    """A path to the outcome: its strength (0 to 1), and the labels along it."""

    strength: float
    labels: tuple[str, ...]


def decisions_after(episode: Episode, since: str) -> list[Decision]:
    """What was decided after a moment; all of it, when the moment is not known."""
    start = moment(since)
    return [one for one in episode.decisions if not start or moment(one.timestamp) >= start]


def uptake_of(
    advice: Advice, later: Sequence[Decision], *, alike: Callable[[Decision], float], least: float
) -> Uptake | None:
    """The most telling uptake among later decisions, or None; ``alike`` is the cosine of a decision's words."""
    choices = [one for one in later if _could_follow(advice, one)]
    for seen in (
        _cited(advice.name, later),
        _commands(advice.nodes, later),
        _files(advice.nodes, later),
        _words(choices, alike, least),
    ):
        first = next(seen, None)
        if first is not None:
            return first
    return None


def way_to_outcome(facts: EpisodeFacts, starts: Collection[str]) -> Way:
    """The strongest path of at most five links from any of these mentions (local ids) to the outcome."""
    after: dict[str, list[tuple[str, float]]] = defaultdict(list)
    for claim in facts.claims:
        if claim.type != "prevents":
            after[claim.source_local].append((claim.target_local, claim.weight / MILLION))
    labels = {mention.local: mention.label for mention in facts.mentions}
    best: dict[str, tuple[tuple[float, ...], tuple[str, ...]]] = {one: ((), (one,)) for one in sorted(starts)}
    found = Way(0.0, ())
    for _ in range(MOST_HOPS):
        best = _one_further(best, after)
        if OUTCOME_ID in best:
            weights, way = best.pop(OUTCOME_ID)
            strength = path_strength(weights)
            if strength > found.strength:
                found = Way(strength, tuple(labels.get(one, one) for one in way))
    return found


def is_look(decision: Decision) -> bool:
    """Whether a decision only runs a check or looks at something, which no advice is needed for.

    >>> from helix_episodes.model import Action, Decision
    >>> run = lambda command: Decision(
    ...     id="d1", timestamp=None, type="implementation", chosen="", action=Action(verb="run", command=command)
    ... )
    >>> is_look(run("golangci-lint run ./...")), is_look(run("cat NOTES.md")), is_look(run("make migrate"))
    (True, True, False)
    """
    command = decision.action.command if decision.action else None
    if not command:
        return decision.type == "test"
    part = decisive(parse_command(command[:LONGEST_COMMAND]))
    return part is None or part.purpose != "change"


_Ways = dict[str, tuple[tuple[float, ...], tuple[str, ...]]]


def _one_further(best: _Ways, after: dict[str, list[tuple[str, float]]]) -> _Ways:
    """The strongest way to each mention that is one link further; no way meets a mention twice."""
    further: _Ways = {}
    for here, (weights, way) in best.items():
        for there, weight in after.get(here, ()):
            if there in way:
                continue
            longer = (*weights, weight)
            known = further.get(there)
            if known is None or path_strength(longer) > path_strength(known[0]):
                further[there] = (longer, (*way, there))
    return further


def _cited(name: str, later: Sequence[Decision]) -> Iterator[Uptake]:
    if len(name) < _SHORTEST_CITED:
        return
    for one in later:
        said = (one.chosen, one.rationale, one.context, (one.action and one.action.command) or "")
        if any(name in text for text in said):
            yield Uptake(f"its name is cited in {one.id}", one.id)


def _commands(nodes: Sequence[Anchored], later: Sequence[Decision]) -> Iterator[Uptake]:
    wanted = {one.command for one in nodes if one.command}
    for one in later:
        if one.action and one.action.command in wanted and not is_look(one):
            yield Uptake(f"the same command in {one.id}: {one.action.command}", one.id)


def _files(nodes: Sequence[Anchored], later: Sequence[Decision]) -> Iterator[Uptake]:
    """The label begins with the verb, which is the manner."""
    wanted = {(one.path, one.label.partition(" ")[0]) for one in nodes if one.path and one.type == "decision"}
    for one in later:
        if one.action and (one.action.path, one.action.verb) in wanted:
            yield Uptake(f"the same file in the same manner in {one.id}: {one.action.verb} {one.action.path}", one.id)


def _could_follow(advice: Advice, decision: Decision) -> bool:
    """Whether a choice could be made for this advice: no check, and no change to a file that it does not speak of."""
    if decision.type not in _CHOICES or is_look(decision):
        return False
    path = decision.action.path if decision.action else None
    named = {one.path for one in advice.nodes if one.path} | {match[0] for match in _FILE.finditer(advice.content)}
    return not (path and named) or any(_is_same_file(path, one) for one in named)


def _is_same_file(path: str, named: str) -> bool:
    """Whether prose means that file: all of its path, or the end of it."""
    whole, end = PurePosixPath(path).parts, PurePosixPath(named).parts
    return bool(end) and whole[-len(end) :] == end


def _words(later: Sequence[Decision], alike: Callable[[Decision], float], least: float) -> Iterator[Uptake]:
    scored = [(alike(one), one) for one in later]
    close = [each for each in scored if each[0] >= least]
    if close:
        cosine, one = max(close, key=lambda each: each[0])
        yield Uptake(f"a decision in the same words in {one.id}, cosine {cosine:.2f}", one.id)
