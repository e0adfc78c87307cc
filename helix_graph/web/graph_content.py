"""The page of the graph: its content as one frozen value, which the scripts in ``static`` read as JSON.

A part of the graph with positions, groups of nodes, the status of edges and explaining notes; of one session also its
timeline. Nodes, edges, groups, sessions and sightings refer to each other by their positions in their lists. Texts are
as the logs have them: the page shows them as text only, and `helix_graph.web.rendering` keeps them from ending their
element.

Labels are sentences of a closed grammar (`helix_graph.graph.node_labels`): similar ones begin alike ("run pytest", "run
go test", "golangci-lint fails: …"). So nodes are grouped by type and first words, a group that is too large by one more
word, and the remaining ones with the others of their type.

>>> [(one.label, one.members) for one in groups_of([("error", "ruff fails: E501"), ("error", "ruff fails: F401")])]
[('ruff fails', (0, 1))]
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from helix_graph.graph.model import rate
from helix_graph.graph.subgraph import Excerpt, ExcerptNode, Occurrence
from helix_graph.stats.intervals import wilson_interval
from helix_graph.web.layout import Edge, Spot, columns_of, spots_of
from helix_graph.web.timeline import PageTimeline, copied

if TYPE_CHECKING:
    from helix_graph.causality.edge_support import ClaimReport, ClaimVerdict
    from helix_graph.graph.paths import PathAnswer


class PageNode(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A label. Of ``measured`` sessions ``successes`` came out well: within ``low`` to ``high`` at 95 %.

    ``rate`` (0 to 1) is None where nobody but the agent judged a session. ``x`` and ``y`` are its place.
    """

    id: str
    type: str
    label: str
    frequency: int
    episodes: int
    measured: int
    successes: int
    rate: float | None
    low: float
    high: float
    wordings: tuple[tuple[str, int], ...]
    wordings_left: int
    sightings: tuple[int, ...]
    sessions: tuple[int, ...]
    group: int
    x: int
    y: int


class Comparison(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """What the sessions say of an edge: how much more often (-1 to 1) its target occurs with its source."""

    difference: float
    low: float
    high: float
    q: float
    uses: int
    successes: int
    others: int
    successes_of_others: int


class PageEdge(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """An edge. ``status`` is asserted, supported or contradicted; ``joints`` are pairs of sightings."""

    source: int
    target: int
    type: str
    status: str
    weight: float
    evidence: int
    reasons: tuple[str, ...]
    joints: tuple[tuple[int, int], ...]
    sessions: tuple[int, ...]
    comparison: Comparison | None


class PageGroup(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A group of the overview: its members, and its column and row."""

    type: str
    label: str
    members: tuple[int, ...]
    column: int = 0
    row: int = 0


class PageSession(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A session, or an assertion made by hand; ``day`` is its date in UTC, empty when it has none."""

    id: str
    task: str
    outcome: str
    basis: str
    day: str
    project: str
    log: str
    asserted: bool


class PagePath(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The answer to "how does one lead to the other": places of its nodes and edges, and the answer in words."""

    found: bool
    nodes: tuple[int, ...]
    edges: tuple[int, ...]
    sentence: str


class Page(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that a page shows.

    ``part`` says in words what is on it; ``notes`` what is not, and why. ``overview`` says whether it opens with
    groups. ``focus`` are the nodes that were asked for.
    """

    title: str
    part: str
    notes: tuple[str, ...]
    updated: str
    nodes_in_all: int
    edges_in_all: int
    overview: bool
    nodes: tuple[PageNode, ...]
    edges: tuple[PageEdge, ...]
    groups: tuple[PageGroup, ...]
    sessions: tuple[PageSession, ...]
    sightings: tuple[Occurrence, ...]
    focus: tuple[int, ...]
    path: PagePath | None
    timeline: PageTimeline | None


#: A page of this many nodes or more opens with groups: about as many labels as are still read on one screen.
OVERVIEW_FROM = 150
#: More members than this are parted by one word more.
_LARGE = 40
#: Fewer members are no group of their own.
_FEWEST = 2
#: After this many words everything is a sentence of its own.
_MOST_WORDS = 3
#: The largest groups of a type are shown by themselves: an overview of a hundred groups is none.
_GROUPS_OF_A_TYPE = 14
#: A colon later than this is within a sentence.
_LONGEST_SUBJECT = 40


def groups_of(nodes: Sequence[tuple[str, str]]) -> tuple[PageGroup, ...]:
    """The groups of nodes (pairs of type and label): by type, the largest first; every node is in exactly one."""
    by_type: defaultdict[str, list[int]] = defaultdict(list)
    for place, (kind, _) in enumerate(nodes):
        by_type[kind].append(place)
    return tuple(
        PageGroup(type=kind, label=label, members=tuple(sorted(members)))
        for kind in sorted(by_type)
        for label, members in _of_a_type(kind, by_type[kind], [label for _, label in nodes])
    )


def _of_a_type(kind: str, places: list[int], labels: Sequence[str]) -> Iterable[tuple[str, list[int]]]:
    parted = _parted(places, labels, words=1)
    ranked = sorted(parted.items(), key=lambda item: (-len(item[1]), item[0]))
    own = [(head, members) for head, members in ranked if len(members) >= _FEWEST][:_GROUPS_OF_A_TYPE]
    named = []
    for head, members in own:
        is_whole = all(labels[place].startswith(f"{head}: ") for place in members)
        named.append((head if is_whole else f"{head} …", members))
    kept = {head for head, _ in own}
    rest = [place for head, members in ranked if head not in kept for place in members]
    if len(rest) == 1:
        return [*named, (labels[rest[0]], rest)]
    return [*named, (f"other {kind}s" if own else f"{kind}s", rest)] if rest else named


def _parted(places: Iterable[int], labels: Sequence[str], *, words: int) -> dict[str, list[int]]:
    heads: defaultdict[str, list[int]] = defaultdict(list)
    for place in places:
        label = labels[place]
        subject, colon, _ = label.partition(": ")  # an error goes by what failed, with how as the detail
        is_subject = colon and len(subject) <= _LONGEST_SUBJECT
        heads[subject if is_subject else " ".join(label.split()[:words]) or label].append(place)
    parted: dict[str, list[int]] = {}
    for head, members in heads.items():
        if len(members) > _LARGE and words < _MOST_WORDS:
            finer = _parted(members, labels, words=words + 1)
            small = [place for part in finer.values() if len(part) < _FEWEST for place in part]
            parted.update({name: part for name, part in finer.items() if len(part) >= _FEWEST})
            if small:
                parted[head] = [*parted.get(head, ()), *small]
        else:
            parted[head] = [*parted.get(head, ()), *members]
    return parted


#: "2026-03-01" of "2026-03-01T10:00:00Z".
_DAY = 10


def build_graph_page(
    excerpt: Excerpt,
    *,
    claims: ClaimReport,
    projects: Mapping[str, str],
    title: str,
    part: str,
    timeline: PageTimeline | None = None,
) -> Page:
    """The page of an excerpt. ``projects`` are those of episodes, ``part`` says in words what the excerpt is."""
    ties = [(edge.source, edge.target, edge.weight * edge.evidence_count) for edge in excerpt.edges]
    spots = spots_of(len(excerpt.nodes), ties)
    groups, group_of = _groups(excerpt.nodes, ties)
    return Page(
        title=title,
        part=part,
        notes=tuple(_notes(excerpt, claims, alone=timeline is not None)),
        updated=(excerpt.updated or "")[:_DAY],
        nodes_in_all=excerpt.nodes_in_all,
        edges_in_all=excerpt.edges_in_all,
        overview=len(excerpt.nodes) >= OVERVIEW_FROM,
        nodes=tuple(_node(node, spot, group) for node, spot, group in zip(excerpt.nodes, spots, group_of, strict=True)),
        edges=tuple(_edges(excerpt, claims)),
        groups=groups,
        sessions=tuple(
            copied(
                PageSession, one, day=(one.timestamp or "")[:_DAY], project=projects.get(one.id, ""), log=one.log or ""
            )
            for one in excerpt.sessions
        ),
        sightings=excerpt.sightings,
        focus=excerpt.marked,
        path=_path(excerpt, excerpt.path) if excerpt.path else None,
        timeline=timeline,
    )


def _node(node: ExcerptNode, spot: Spot, group: int) -> PageNode:
    interval = wilson_interval(node.successes, node.measured)
    return copied(
        PageNode,
        node,
        rate=rate(node.successes, node.measured),
        low=round(interval.low, 4),
        high=round(interval.high, 4),
        group=group,
        x=spot.x,
        y=spot.y,
    )


def _groups(nodes: Sequence[ExcerptNode], ties: Sequence[Edge]) -> tuple[tuple[PageGroup, ...], list[int]]:
    """The groups with their places, and the group of each node."""
    found = groups_of([(node.type, node.label) for node in nodes])
    group_of = [0] * len(nodes)
    for place, group in enumerate(found):
        for member in group.members:
            group_of[member] = place
    weights: defaultdict[tuple[int, int], float] = defaultdict(float)
    for source, target, weight in ties:
        weights[group_of[source], group_of[target]] += weight
    columns = columns_of(len(found), [(*pair, weight) for pair, weight in sorted(weights.items())])
    place_of = {group: (at, row) for at, column in enumerate(columns) for row, group in enumerate(column)}
    placed = (replace(one, column=place_of[place][0], row=place_of[place][1]) for place, one in enumerate(found))
    return tuple(placed), group_of


def _edges(excerpt: Excerpt, claims: ClaimReport) -> Iterator[PageEdge]:
    by_edge: dict[tuple[str, str, str], ClaimVerdict] = {
        (claim.source, claim.target, claim.type): claim for row in claims.claims for claim in (row, *row.also)
    }
    labels = [node.label for node in excerpt.nodes]
    for edge in excerpt.edges:
        claim = by_edge.get((labels[edge.source], labels[edge.target], edge.type))
        effect = claim.effect if claim else None
        yield copied(
            PageEdge,
            edge,
            status=claim.status if claim else "asserted",
            evidence=edge.evidence_count,
            comparison=copied(Comparison, effect, low=effect.interval.low, high=effect.interval.high)
            if effect
            else None,
        )


def _path(excerpt: Excerpt, answer: PathAnswer) -> PagePath:
    place = {node.id: place for place, node in enumerate(excerpt.nodes)}
    nodes = tuple(place[node.id] for node in answer.path if node.id in place)
    edge_place = {(edge.source, edge.target, edge.type): at for at, edge in enumerate(excerpt.edges)}
    pairs = zip(nodes, nodes[1:], answer.steps, strict=False)
    edges = tuple(edge_place[source, target, step.type] for source, target, step in pairs)
    return PagePath(found=answer.found, nodes=nodes, edges=edges, sentence=_sentence(answer))


def _sentence(answer: PathAnswer) -> str:
    if not answer.found:
        return f"{answer.error}{f': {answer.hint}' if answer.hint else ''}."
    if not answer.steps:
        return "Both texts name the same thing."
    if answer.whole:
        shown, more = ", ".join(answer.whole[:3]), len(answer.whole) - 3
        sessions = "session" if len(answer.whole) == 1 else "sessions"
        return f"Held whole by {len(answer.whole)} {sessions}: {shown}{f' and {more} more' if more > 0 else ''}."
    return "Stitched from several sessions: no single one holds this chain, and its links may never have met."


def _notes(excerpt: Excerpt, claims: ClaimReport, *, alone: bool) -> list[str]:
    notes = []
    left = excerpt.nodes_in_all - len(excerpt.nodes)
    if left and not alone:
        notes.append(
            f"{left:,} of {excerpt.nodes_in_all:,} labels are not on this page; --focus shows what is around one."
        )
    if claims.too_early:
        notes.append(f"Edges are not yet checked against outcomes: {claims.too_early}. All are as the logs say.")
    else:
        notes.append(
            f"{claims.tested} edges were held against {claims.sessions} sessions; the others are as the logs say."
        )
    return notes
