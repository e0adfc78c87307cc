"""Uptake: was what an insight recommends done after it was shown, and did that lead to the outcome?

Signs of uptake, in the order of how much they say: the insight's name is cited; the same full command is run; the same
file is changed in the same manner; a choice of design or implementation follows whose words are at least 0.60 alike; a
command that its text quotes is run, or a file that its text names is changed (which counts only for an insight that is
similar to the outcome as well). Running a check or looking at something is no sign, in whatever words: every
session runs the linter. Neither is a coarse node in common (``edit source``), nor a choice about another file than
those that the insight names. What happened before the insight was shown does not count, nor does what has no time, if
it is known when the insight was shown.

The path leads through the episode's own graph, from what was done to the outcome; ``prevents`` edges are not followed.
The nodes that an insight is linked with do not start a path: they are too coarse to say that it was followed.
"""

from __future__ import annotations

import math
from collections import defaultdict
from itertools import chain
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, NamedTuple

from helix_episodes.extraction.shell.commands import decisive, parse_command
from helix_episodes.light_imports import Regex
from helix_episodes.model import OUTCOME_ID, sortable_time
from helix_episodes.safe_files import LONGEST_COMMAND
from helix_graph.graph import MILLION
from helix_graph.graph.node_labels import NEGATIONS

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

    from helix_episodes.model import Decision, Episode
    from helix_graph.graph.model import AnchoredNode, EpisodeFacts


def path_strength(weights: Sequence[float]) -> float:
    """How firmly a chain of edges joins an insight's node to the outcome: 0 to 1; 0 for none, or over five hops.

    The geometric mean of the edges' weights (0 to 1), so that chains of different lengths compare, less 15 % for each
    hop after the first.

    >>> path_strength([0.9]), round(path_strength([0.9, 0.4]), 3), path_strength([])
    (0.9, 0.51, 0.0)
    """
    if not 0 < len(weights) <= MOST_HOPS:
        return 0.0
    hops = len(weights)
    return float(DECAY ** (hops - 1) * math.prod(weights) ** (1 / hops))


#: A longer chain says little, and every further hop less: 0.85 of the one before.
MOST_HOPS = 5
DECAY = 0.85


#: Nobody writes a shorter name without meaning the word.
_SHORTEST_CITED = 8
#: The decisions that an advice can be the reason of; the others answer an error or run a check.
_CHOICES = frozenset({"design", "implementation"})
#: What changes a file.
_CHANGES = frozenset({"edit", "create", "delete"})
#: A command as prose quotes it.
_QUOTED = Regex(r"`([^`\n]{2,400})`")
#: A file as prose names it: its ending is what distinguishes it from a number or an abbreviation.
_FILE = Regex(r"[\w./-]*\w\.[A-Za-z]\w{0,9}(?![\w/])")


class LinkedAdvice(NamedTuple):
    """An insight: its name, what it says, and the nodes that it is linked with."""

    name: str
    content: str
    nodes: Sequence[AnchoredNode] = ()


class Uptake(NamedTuple):
    """What was seen, as a sentence, and the decision where.

    ``named`` says that only the insight's text names what was used: the task may name it too.
    """

    seen: str
    decision: str
    named: bool = False


class OutcomePath(NamedTuple):
    """A path to the outcome: its strength (0 to 1), and the labels along it."""

    strength: float
    labels: tuple[str, ...]


def decisions_after(episode: Episode, since: str) -> list[Decision]:
    """What was decided after a moment; all of it, when the moment is not known."""
    start = sortable_time(since)
    return [one for one in episode.decisions if not start or sortable_time(one.timestamp) >= start]


def uptake_of(
    advice: LinkedAdvice, later: Sequence[Decision], *, alike: Callable[[Decision], float], least: float
) -> Uptake | None:
    """The most telling uptake among later decisions, or None; ``alike`` is the cosine of a decision's words."""
    choices = [one for one in later if _could_follow(advice, one)]
    seen = chain(
        _cited(advice.name, later),
        _commands(advice.nodes, later),
        _files(advice.nodes, later),
        _words(choices, alike, least),
        _named(advice.content, later),
    )
    return next(seen, None)


def path_to_outcome(facts: EpisodeFacts, starts: Collection[str]) -> OutcomePath:
    """The strongest path of at most five links from any of these mentions (local ids) to the outcome."""
    after: dict[str, list[tuple[str, float]]] = defaultdict(list)
    for claim in facts.claims:
        if claim.type != "prevents":
            after[claim.source_local].append((claim.target_local, claim.weight / MILLION))
    labels = {mention.local: mention.label for mention in facts.mentions}
    best: dict[str, tuple[tuple[float, ...], tuple[str, ...]]] = {one: ((), (one,)) for one in sorted(starts)}
    found = OutcomePath(0.0, ())
    for _ in range(MOST_HOPS):
        best = _one_further(best, after)
        if OUTCOME_ID in best:
            weights, way = best.pop(OUTCOME_ID)
            strength = path_strength(weights)
            if strength > found.strength:
                found = OutcomePath(strength, tuple(labels.get(one, one) for one in way))
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


_Paths = dict[str, tuple[tuple[float, ...], tuple[str, ...]]]


def _one_further(best: _Paths, after: dict[str, list[tuple[str, float]]]) -> _Paths:
    """The strongest way to each mention that is one link further; no way meets a mention twice."""
    further: _Paths = {}
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


def _commands(nodes: Sequence[AnchoredNode], later: Sequence[Decision]) -> Iterator[Uptake]:
    wanted = {one.command for one in nodes if one.command}
    for one in later:
        if one.action and one.action.command in wanted and not is_look(one):
            yield Uptake(f"the same command in {one.id}: {one.action.command}", one.id)


def _files(nodes: Sequence[AnchoredNode], later: Sequence[Decision]) -> Iterator[Uptake]:
    """The label begins with the verb, which is the manner."""
    wanted = {(one.path, one.label.partition(" ")[0]) for one in nodes if one.path and one.type == "decision"}
    for one in later:
        if one.action and (one.action.path, one.action.verb) in wanted:
            yield Uptake(f"the same file in the same manner in {one.id}: {one.action.verb} {one.action.path}", one.id)


def _named(content: str, later: Sequence[Decision]) -> Iterator[Uptake]:
    """What the text itself says to run (between backticks, unless it warns of something) or to change."""
    warns = not NEGATIONS.isdisjoint(content.casefold().split())
    commands = set() if warns else {match[1].strip() for match in _QUOTED.finditer(content)}
    for one in later:
        action = one.action
        if action and action.command and action.command.strip() in commands and not is_look(one):
            yield Uptake(f"the command that it names in {one.id}: {action.command}", one.id, named=True)
        elif action and action.path and action.verb in _CHANGES and _names_file(content, action.path):
            yield Uptake(f"a file that it names in {one.id}: {action.verb} {action.path}", one.id, named=True)


def _names_file(content: str, path: str, others: Iterable[str] = ()) -> bool:
    """Whether a text, or a list of files, names a file: prose may do so by the end of its path."""
    whole = PurePosixPath(path).parts
    ends = (PurePosixPath(one).parts for one in (*others, *(match[0] for match in _FILE.finditer(content))))
    return any(end and whole[-len(end) :] == end for end in ends)


def _could_follow(advice: LinkedAdvice, decision: Decision) -> bool:
    """Whether a choice could be made for this advice: no check, and no change to a file that it does not speak of."""
    if decision.type not in _CHOICES or is_look(decision):
        return False
    path = decision.action.path if decision.action else None
    linked = [one.path for one in advice.nodes if one.path]
    if not path or not (linked or _FILE.search(advice.content)):
        return True
    return _names_file(advice.content, path, linked)


def _words(later: Sequence[Decision], alike: Callable[[Decision], float], least: float) -> Iterator[Uptake]:
    scored = [(alike(one), one) for one in later]
    close = [each for each in scored if each[0] >= least]
    if close:
        cosine, one = max(close, key=lambda each: each[0])
        yield Uptake(f"a decision in the same words in {one.id}, cosine {cosine:.2f}", one.id)
