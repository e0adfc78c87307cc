"""Answer `path`: how one thing leads to another.

The edges of a path are between labels, and so are the counts and depths that the original schema has. What is shown is
finer. A path between labels is found there: of the shortest ones the one that most episodes contain whole, then the
firmest, then the first by its labels, so that the same graph always gives the same answer. Where an episode contains it
whole it is then *refined*: shown with the files, tests and commands of the episodes that do. A path from or to a place
or thing is looked for among places and things from the start. None goes along a *loose* link, of which the log shows
only that one thing followed another; where there is no other way, the hint says so.

If no episode contains the path whole, the shortest one that an episode does contain is shown instead, although it is
longer. Failing that, a path between kinds of step is *stitched* from several episodes, which is weaker: its links may
never have followed each other anywhere. It joins them where they have a thing in common, else a place; labels alone are
not enough. A path from or to a named file, test, symbol or rule is not: the edits of a file in two sessions are
seldom about the same, so the hint names its links one by one.

With a `resolution` everything happens there. At ``kind`` a text is looked for in labels, and where that finds no path
in the texts of mentions; a stitched path is shown with the shortest that a single episode contains.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from typing import TYPE_CHECKING, Any

import msgspec

from helix_episodes.errors import InvalidArgument
from helix_episodes.store import PREFIX
from helix_graph.errors import NO_WORDS
from helix_graph.graph.adjacency import FAILS, Adjacency, Edge, Frequency, Joint, MentionPlace
from helix_graph.graph.finer_adjacency import FinerAdjacency
from helix_graph.graph.label_lookup import (
    Match,
    TextReading,
    ends_at_kind,
    matches,
    most_telling,
    names_one,
    pairs,
)
from helix_graph.graph.path_answer import NO_NODE, AlikeSteps, FoundPath, PathAnswer, PathStep, Witness
from helix_graph.graph.shortest_paths import (
    Ends,
    PathChoice,
    RankedPath,
    RankedPaths,
    chains_of,
    holders,
    k_best_paths,
    shortest_layers,
    witnessed,
)

if TYPE_CHECKING:
    from helix_graph.graph.mentions import Resolution


#: What "leads to" means unless one asks for more: `prevents` and `correlates` lead nowhere.
LEADING = ("causes", "enables")
LOWEST_DEPTH, HIGHEST_DEPTH = 1, 10
#: Without a resolution, a path of one session is preferred among so many of the best.
_LOOKED_AT = 10
#: So many episodes are quoted for each step; all are named.
_QUOTED = 10


def _in_a_session(path: RankedPath) -> bool:
    """Whether a session contains it whole; an assertion, which may be a path of one edge, is none."""
    return any(one.startswith(PREFIX) for one in path.whole)


class _Asked(msgspec.Struct, frozen=True):
    """The options of the question that every search needs."""

    depth: int
    follow: Collection[str]
    strongest: bool
    count: int
    #: Of so many paths those that an episode contains whole come first.
    among: int

    def whole_first(self, paths: RankedPaths) -> RankedPaths:
        """As many as are asked for; of the strongest all that are alike in this, since they are ordered as shown."""
        if self.among == self.count:
            return RankedPaths(paths.found[: self.count], paths.complete)
        whole = tuple(filter(_in_a_session, paths.found))
        if self.strongest:
            return RankedPaths(whole or paths.found, paths.complete)
        others = (path for path in paths.found if path not in whole)
        return RankedPaths((*whole, *others)[: self.count], paths.complete)


def find_path(  # noqa: PLR0913  (the options of the question)
    graph: Adjacency,
    *,
    source: str,
    target: str,
    max_depth: int = 5,
    follow: Collection[str] = LEADING,
    strongest: bool = False,
    alternatives: int = 1,
    resolution: Resolution | None = None,
) -> PathAnswer:
    """The best path from what ``source`` stands for to what ``target`` stands for.

    Args:
        graph: The causal graph.
        source: A file, test, rule, symbol, command or label, or a part of one, in any case.
        target: The same for the other end.
        max_depth: The most edges it may have, 1 to 10.
        follow: The types of edges to go along.
        strongest: The path whose weakest edge is the firmest, instead of the one with the fewest edges.
        alternatives: How many different paths at most, the first included.
        resolution: Where to look; without one as fine as an episode contains the whole.

    Raises:
        InvalidArgument: One of the texts is empty.
    """
    for option, text in (("source", source), ("target", target)):
        if not text.strip():
            raise InvalidArgument(option, NO_WORDS)
    among = alternatives if resolution else max(alternatives, _LOOKED_AT)
    asked = _Asked(max_depth, follow, strongest, alternatives, among)
    if resolution == "kind":
        answer = _at_kind(graph, source, target, asked)
    elif resolution is not None:
        answer = _at(FinerAdjacency(graph.connection, resolution, firm=True), source, target, asked)
    else:
        answer = _finest(graph.firmly(), source, target, asked)
    apart = None
    if answer and resolution is None and (_names_one(graph, source) or _names_one(graph, target)):
        held = tuple(one for one in answer.alternatives if _is_held(one))
        answer = msgspec.structs.replace(answer, alternatives=held)
        answer, apart = (answer, None) if _is_held(answer) else (None, answer)
    if answer:
        return answer
    missing = [text for text in (source, target) if next(matches(graph, text), None) is None]
    if missing:
        return PathAnswer(found=False, path=(), error=f'Nothing matches "{missing[0].strip()}"', hint=NO_NODE)
    hint = resolution is None and _followed(graph, source, target, asked)
    if not hint and apart:
        links = (f'"{one.source}" to "{one.target}" in {one.frequency.k} of {one.frequency.n}' for one in apart.steps)
        hint = f"no session holds the whole; its links by sessions: {', '.join(links)}"
    hint = hint or _hint(graph, source, target, asked)
    return PathAnswer(found=False, path=(), error=f"No path found within depth {max_depth}", hint=hint)


def _names_one(graph: Adjacency, text: str) -> bool:
    """Whether a text is the name of a file, test, symbol or rule, and no kind of step."""
    first = next(matches(graph, text), None)
    name = text.partition(FAILS)[2] or text
    return first is not None and (first.how != "label" or names_one(graph, name))


def _is_held(answer: FoundPath) -> bool:
    """Whether a session holds a path, or a person has asserted a part of it."""
    return bool(not answer.steps or answer.whole or any(step.assertions for step in answer.steps))


NO_WAY = f"no path of up to {HIGHEST_DEPTH} links connects them"
_IS_BOTH = '"{}" has both names; `helix-graph effects` shows what followed it'
_BY_LABELS = (
    "no session leads from one to the other, nor do several by way of the same file, test, folder or rule; by labels"
    " alone there is one of depth {}, which `--resolution kind` shows"
)
_NO_DECIDER = "no event in these episodes decided that outcome, so no edge leads to it; see `helix-graph patterns`"


def _followed(graph: Adjacency, source: str, target: str, asked: _Asked) -> str | None:
    """What can be said where sessions have one after the other, and show no more than that."""
    loose = _finest(graph, source, target, asked)
    if loose is None or loose.stitched or not loose.steps:
        return None
    order = ", then ".join(f'"{step.target}"' for step in loose.steps)
    first, held = loose.steps[0], loose.steps[0].frequency
    counted = f"{held.k} of {held.n} sessions" if len(loose.steps) == 1 else f"{len(loose.whole)} of {held.n} sessions"
    return (
        f'in {counted}, "{first.source}" was followed by {order}, but the log does not show that one is about the other'
    )


def _hint(graph: Adjacency, source: str, target: str, asked: _Asked) -> str:
    ends = graph.labelled(target.strip())
    outcomes = {end for end in ends if graph.summary(end).type == "outcome"}
    if outcomes and outcomes == ends and not graph.edges(outcomes, at=1, types=LEADING):
        return _NO_DECIDER
    max_depth = asked.depth
    depths = [
        len(layers)
        for ends in ends_at_kind(graph, source, target)
        if (
            layers := shortest_layers(
                graph, ends.sources, ends.targets, depth=HIGHEST_DEPTH, types=asked.follow, within=ends.within
            )
        )
    ]
    if not depths:
        fine = FinerAdjacency(graph.connection, "thing")
        start, goal = (next(matches(graph, text), None) for text in (source, target))
        both = fine.summaries(fine.meant_by(start) & fine.meant_by(goal)) if start and goal else {}
        return _IS_BOTH.format(min(one.label for one in both.values())) if both else NO_WAY
    return f"there is one of depth {min(depths)}" if min(depths) > max_depth else _BY_LABELS.format(min(depths))


def _finest(graph: Adjacency, source: str, target: str, asked: _Asked) -> PathAnswer | None:
    """The path that an episode contains, refined; else the stitched one at the finest resolution that has one."""
    fine = FinerAdjacency(graph.connection, "thing", firm=graph.firm)
    stitched: tuple[Match, Match] | None = None
    for place, start, whole, goals in pairs(graph, source, target):
        if stitched and "text" in {start.how, whole.how}:
            break
        labels = start.how == whole.how == "label"
        base = graph if labels else fine
        for goal in goals:
            ends = Ends(start.nodes, goal.nodes, None) if labels else fine.ends(start, goal)
            paths = _search(base, ends, asked)
            if paths is None:
                continue
            first, *others = paths.found
            if place and not first.edges:
                continue  # what the texts stand for before all is not the same
            if first.edges and not _in_a_session(first):
                held = witnessed(base, ends, asked.depth, asked.follow)
                if held is None:
                    stitched = stitched or (start, goal)
                    continue
                others = [one for one in others if one.nodes != held.nodes]
                paths = msgspec.structs.replace(paths, found=(held, *others))
            return _answer(base, paths, ends, asked, fine)
        if labels and stitched:  # before names and texts are read, which no answer would be taken from
            break
    return _stitched(graph, *stitched, asked) if stitched else None


def _stitched(graph: Adjacency, start: Match, goal: Match, asked: _Asked) -> PathAnswer | None:
    """The path that no episode contains, joined at things or at places.

    One that is joined at labels alone would lead from the edit of one file to what followed the edit of another.
    """
    for resolution in ("thing", "place"):
        finer = FinerAdjacency(graph.connection, resolution, firm=graph.firm)
        ends = finer.ends(start, goal)
        if paths := _search(finer, ends, asked):
            return _answer(finer, paths, ends, asked)
    return None


def _at(finer: FinerAdjacency, source: str, target: str, asked: _Asked) -> PathAnswer | None:
    for _, start, _, goals in pairs(finer.by_kind, source, target):
        for goal in goals:
            ends = finer.ends(start, goal)
            if paths := _search(finer, ends, asked):
                return _answer(finer, paths, ends, asked)
    return None


def _at_kind(graph: Adjacency, source: str, target: str, asked: _Asked) -> PathAnswer | None:
    for ends in ends_at_kind(graph, source, target):
        if paths := _search(graph, ends, asked):
            answer = _answer(graph, paths, ends, asked)
            held = witnessed(graph, ends, asked.depth, asked.follow) if answer.stitched else None
            shown = FoundPath(**_shown(graph, held, ends)) if held else None
            return msgspec.structs.replace(answer, witnessed_path=shown)
    return None


def _search(graph: Adjacency, ends: Ends, asked: _Asked) -> RankedPaths | None:
    """The paths asked for, the best first; one without edges where something is at both ends; None without any."""
    both = graph.summaries(ends.sources & ends.targets)
    if both:
        same = min(both, key=lambda node: (both[node].label, both[node].type))
        return RankedPaths((RankedPath(same, (), ()),), complete=True)
    if asked.strongest:
        paths = k_best_paths(graph, ends, depth=asked.depth, types=asked.follow, strongest=True, count=asked.among)
        return asked.whole_first(paths) if paths.found else None
    depth, types = asked.depth, asked.follow
    layers = shortest_layers(graph, ends.sources, ends.targets, depth=depth, types=types, within=ends.within)
    if not layers:
        return None
    for goals in most_telling(graph, ends.targets):
        equal = shortest_layers(graph, ends.sources, goals, depth=len(layers), types=types, within=ends.within)
        if equal:
            layers, ends = equal, msgspec.structs.replace(ends, targets=goals)
            break
    route = PathChoice(graph, layers, ends.within).best()
    first = RankedPath(route.start, route.edges, tuple(sorted({episode for episode, _ in route.reached})))
    if asked.count == 1:
        return RankedPaths((first,), complete=True)
    paths = k_best_paths(graph, ends, depth=asked.depth, types=asked.follow, strongest=False, count=asked.among)
    others = tuple(path for path in paths.found if path.nodes != first.nodes)
    return asked.whole_first(RankedPaths((first, *others), paths.complete))


def _answer(
    graph: Adjacency, paths: RankedPaths, ends: Ends, asked: _Asked, fine: FinerAdjacency | None = None
) -> PathAnswer:
    shown = [_shown(graph, path, ends, fine) for path in paths.found]
    if asked.strongest:
        # A path is found by its labels and shown with files and tests, of which other sessions have other shares.
        shown.sort(key=_firmness_shown, reverse=True)
    first, *others = shown[: asked.count]
    rest = tuple(FoundPath(**one) for one in others)
    return PathAnswer(found=True, **first, alternatives=rest, complete=paths.complete)


def _firmness_shown(fields: dict[str, Any]) -> tuple[float, float, int]:
    weakest: Frequency | None = fields.get("weakest")
    low = weakest.low if weakest else 1.0
    return low, min((step.weight for step in fields.get("steps", ())), default=1.0), -fields["depth"]


def _shown(graph: Adjacency, path: RankedPath, ends: Ends, fine: FinerAdjacency | None = None) -> dict[str, Any]:
    """The fields of a path, refined with ``fine`` where episodes contain it whole."""
    if not path.edges:
        return {"path": (graph.summary(path.start),), "depth": 0, "resolution": graph.resolution}
    kinds = path.edges
    if isinstance(graph, FinerAdjacency):
        kinds = graph.kinds(path.edges)
    elif fine and path.whole:
        layers = tuple(fine.refined(edge, path.whole) for edge in path.edges)
        route = PathChoice(fine, layers, frozenset(path.whole)).best()
        graph, whole = fine, tuple(sorted({episode for episode, _ in route.reached}))
        path = RankedPath(route.start, route.edges, whole)
    chains = chains_of(graph, path.edges, path.whole[:_QUOTED])
    lines = {name: _quoted_places(graph, chain) for name, chain in chains.items()}
    steps = tuple(_step(graph, edge, place, lines, ends.within) for place, edge in enumerate(path.edges))
    return {
        "path": tuple(graph.summary(node) for node in path.nodes),
        "steps": steps,
        "depth": len(path.edges),
        "resolution": graph.resolution,
        "whole": path.whole,
        "stitched": not path.whole,
        "weakest": _weakest(step.frequency for step in steps),
        "alike": _alike(graph, kinds) if isinstance(graph, FinerAdjacency) else None,
    }


def _weakest(frequencies: Iterable[Frequency]) -> Frequency:
    return min(frequencies, key=lambda one: (one.low, one.k, -one.n))


def _alike(finer: FinerAdjacency, kinds: tuple[Edge, ...]) -> AlikeSteps:
    graph = finer.by_kind
    joints = graph.joints(kinds)
    weakest = _weakest(graph.edge_summary(edge).frequency for edge in kinds)
    return AlikeSteps(whole=holders([joints[edge] for edge in kinds], None), weakest=weakest)


#: The two ends of a step, and the lines of the edits that each is where it is several.
_EndPlaces = tuple[MentionPlace, MentionPlace, tuple[int, ...], tuple[int, ...]]


def _quoted_places(graph: Adjacency, chain: tuple[Joint, ...]) -> tuple[_EndPlaces, ...]:
    """Where the mentions of a chain are; of a change that several edits make up the one that answers the error."""
    places = {local: graph.place(episode, local) for episode, *ends in chain for local in ends}
    several: dict[tuple[str, str], tuple[int, ...]] = {}
    answers: set[str] = set()  # of these the edit that answers the error is shown, not the last before the pass
    for episode, source, target in chain:
        edit = graph.speaking_edit(episode, source, target)
        if edit and edit[0] not in answers:
            places[edit[0]] = msgspec.structs.replace(places[edit[0]], line=edit[1], quote=edit[2])
        if lines := graph.edit_lines(episode, source, target):
            several[source, target] = lines
        answers.add(target)
    ends = []
    for _, source, target in chain:
        lines = several.get((source, target), ())
        answered = target.startswith("d")  # from an error to its answer; else from a change to its verdict
        ends.append((places[source], places[target], () if answered else lines, lines if answered else ()))
    return tuple(ends)


def _step(
    graph: Adjacency, edge: Edge, place: int, chains: dict[str, tuple[_EndPlaces, ...]], within: frozenset[str] | None
) -> PathStep:
    return PathStep(
        source=graph.summary(edge[0]).label,
        target=graph.summary(edge[1]).label,
        type=edge[2],
        **msgspec.structs.asdict(graph.edge_summary(edge)),
        witnesses=tuple(_witnesses(graph, edge, {name: chain[place] for name, chain in chains.items()}, within)),
    )


def _witnesses(
    graph: Adjacency,
    edge: Edge,
    whole: dict[str, _EndPlaces],
    within: frozenset[str] | None,
) -> Iterator[Witness]:
    """The episodes that contain the path whole first, each with the mentions of its chain; then the others."""
    for name in sorted(whole):
        yield _witness(name, whole[name])
    firsts: dict[str, Joint] = {}
    for joint in sorted(graph.joints([edge])[edge]):
        firsts.setdefault(joint[0], joint)
    others = [name for name in sorted(firsts) if name not in whole and (within is None or name in within)]
    for name in others[: _QUOTED - len(whole)]:
        yield _witness(name, *_quoted_places(graph, (firsts[name],)))


def _witness(episode: str, ends: _EndPlaces) -> Witness:
    source, target, source_lines, target_lines = ends
    return Witness(episode=episode, source=source, target=target, source_lines=source_lines, target_lines=target_lines)


def path_by_words(graph: Adjacency, ask: Callable[..., PathAnswer], *, source: str, target: str) -> PathAnswer:
    """The path that ``ask`` finds for the texts, or for what their words may mean."""
    starts, goals = TextReading(graph, source), TextReading(graph, target)
    without: PathAnswer | None = None
    for start, begin in starts.texts:
        for goal, end in goals.texts:
            read = {asked: meant for asked, meant in ((source, start), (target, goal)) if meant}
            answer = ask(source=begin, target=end)
            answer = msgspec.structs.replace(answer, read_as=read) if read else answer
            if answer.found and (answer.steps or not read):
                return answer
            without = without or (None if answer.found else answer)
    unclear = next((one for one in (starts, goals) if not one.texts), None)
    answer = without or ask(source=source, target=target)
    if not answer.found:
        ends = ((source, starts), (target, goals))
        taken = {text: one.taken_for for text, one in ends if one.taken_for and text not in answer.read_as}
        answer = msgspec.structs.replace(answer, read_as={**answer.read_as, **taken})
    return msgspec.structs.replace(answer, nearest=unclear.nearest) if unclear else answer
