"""The page of a graph: an excerpt with places, groups, the status of its edges and the words around it."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from helix_graph.graph.weights import rate
from helix_graph.statistics.intervals import wilson_interval
from helix_graph.view.layout import columns_of, spots_of
from helix_graph.view.model import Comparison, Page, PageEdge, PageGroup, PageNode, PagePath, PageSession
from helix_graph.view.overview import OVERVIEW_FROM, groups_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from helix_graph.causality.claims import Claim, ClaimReport
    from helix_graph.graph.excerpt import Excerpt, ExcerptEdge, ExcerptNode, Session
    from helix_graph.graph.paths import PathAnswer
    from helix_graph.view.layout import Edge, Spot
    from helix_graph.view.model import PageTimeline

#: "2026-03-01" of "2026-03-01T10:00:00Z".
_DAY = 10


def page_of(
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
        edges=_edges(excerpt, claims),
        groups=groups,
        sessions=tuple(_session(one, projects.get(one.id, "")) for one in excerpt.sessions),
        sightings=excerpt.sightings,
        focus=excerpt.marked,
        path=_path(excerpt, excerpt.path) if excerpt.path else None,
        timeline=timeline,
    )


def _node(node: ExcerptNode, spot: Spot, group: int) -> PageNode:
    interval = wilson_interval(node.successes, node.measured)
    return PageNode(
        id=node.id,
        type=node.type,
        label=node.label,
        frequency=node.frequency,
        episodes=node.episodes,
        measured=node.measured,
        successes=node.successes,
        rate=rate(node.successes, node.measured),
        low=round(interval.low, 4),
        high=round(interval.high, 4),
        wordings=node.wordings,
        wordings_left=node.wordings_left,
        sightings=node.sightings,
        sessions=node.sessions,
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
    groups = tuple(
        PageGroup(type=g.type, label=g.label, members=g.members, column=place_of[place][0], row=place_of[place][1])
        for place, g in enumerate(found)
    )
    return groups, group_of


def _edges(excerpt: Excerpt, claims: ClaimReport) -> tuple[PageEdge, ...]:
    told: dict[tuple[str, str, str], Claim] = {
        (claim.source, claim.target, claim.type): claim for claim in claims.claims
    }
    labels = [node.label for node in excerpt.nodes]
    return tuple(_edge(edge, told.get((labels[edge.source], labels[edge.target], edge.type))) for edge in excerpt.edges)


def _edge(edge: ExcerptEdge, claim: Claim | None) -> PageEdge:
    return PageEdge(
        source=edge.source,
        target=edge.target,
        type=edge.type,
        status=claim.status if claim else "asserted",
        weight=edge.weight,
        evidence=edge.evidence_count,
        reasons=edge.reasons,
        joints=edge.joints,
        sessions=edge.sessions,
        comparison=_comparison(claim) if claim else None,
    )


def _comparison(claim: Claim) -> Comparison | None:
    if claim.effect is None:
        return None
    effect = claim.effect
    return Comparison(
        difference=effect.difference,
        low=effect.interval.low,
        high=effect.interval.high,
        q=effect.q,
        uses=effect.uses,
        successes=effect.successes,
        others=effect.others,
        successes_of_others=effect.successes_of_others,
    )


def _session(one: Session, project: str) -> PageSession:
    return PageSession(
        id=one.id,
        task=one.task,
        outcome=one.outcome,
        basis=one.basis,
        day=(one.timestamp or "")[:_DAY],
        project=project,
        log=one.log or "",
        asserted=one.asserted,
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
        notes.append(f"Too early to hold edges against the sessions: {claims.too_early}. All are as the logs say.")
    else:
        notes.append(
            f"{claims.tested} edges were held against {claims.sessions} sessions; the others are as the logs say."
        )
    return notes
