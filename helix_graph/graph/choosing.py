"""Which nodes an excerpt of the graph has: all, those around a label, a path with its surroundings, or one session's.

Where there are more than are wanted, the most frequent stay: what recurs is what can be learnt from. Around a label or
a path nearness comes first: nodes one edge away before those two away.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, get_args

import msgspec

from helix_episodes.errors import EpisodeNotFound
from helix_episodes.model import EdgeType
from helix_graph.database import ANY_OF, as_list
from helix_graph.errors import EmptyQuery, LabelNotMet
from helix_graph.graph.neighbours import FileNeighbours
from helix_graph.graph.nodes import find_node
from helix_graph.graph.paths import PathAnswer, find_path

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Collection, Iterable

#: How many edges away from a label, or from a path, is still shown: two show causes of causes, and a path is its own
#: context.
AROUND_A_LABEL = 2
AROUND_A_PATH = 1
_EVERY_TYPE: tuple[str, ...] = get_args(EdgeType)


class Wanted(msgspec.Struct, frozen=True, kw_only=True):
    """What is to be looked at: at most one of ``focus``, ``source`` with ``target``, and ``episode``; else all."""

    focus: str | None = None
    source: str | None = None
    target: str | None = None
    episode: str | None = None
    max_nodes: int


class Chosen(msgspec.Struct, frozen=True, kw_only=True):
    """Numbers of nodes, the most frequent first; ``episode`` is the number of the only one looked at, if so."""

    nodes: tuple[int, ...]
    marked: tuple[int, ...] = ()
    path: PathAnswer | None = None
    episode: int | None = None


def choose(connection: sqlite3.Connection, wanted: Wanted) -> Chosen:
    """The nodes that are wanted of an open graph.db.

    Raises:
        EmptyQuery: A label to look for is empty.
        LabelNotMet: No label or text contains what is looked for.
        EpisodeNotFound: The graph has no such episode.
    """
    if wanted.episode is not None:
        return _of_episode(connection, wanted.episode, wanted.max_nodes)
    if wanted.focus is not None:
        return _around_label(connection, wanted.focus, wanted.max_nodes)
    if wanted.source is not None and wanted.target is not None:
        return _around_path(connection, wanted.source, wanted.target, wanted.max_nodes)
    rows = connection.execute(f"SELECT number FROM node {_MOST_FREQUENT} LIMIT ?", (wanted.max_nodes,))  # noqa: S608  (a constant)
    return Chosen(nodes=tuple(number for (number,) in rows))


_MOST_FREQUENT = "ORDER BY mentions DESC, type, label"


def _of_episode(connection: sqlite3.Connection, name: str, limit: int) -> Chosen:
    row = connection.execute(
        "SELECT number FROM episode WHERE origin = 'episode' AND (id = ? OR session = ?) ORDER BY id = ? DESC LIMIT 1",
        (name, name, name),
    ).fetchone()
    if row is None:
        raise EpisodeNotFound(name)
    within = "number IN (SELECT node FROM mention WHERE episode = ?)"
    rows = connection.execute(
        f"SELECT number FROM node WHERE {within} {_MOST_FREQUENT} LIMIT ?",  # noqa: S608  (constants)
        (row[0], limit),
    )
    return Chosen(nodes=tuple(number for (number,) in rows), episode=row[0])


def _around_label(connection: sqlite3.Connection, label: str, limit: int) -> Chosen:
    wanted = label.strip()
    if not wanted:
        raise EmptyQuery("focus")
    graph = FileNeighbours(connection)
    seeds = graph.labelled(wanted) or frozenset(graph.mentioning(wanted))
    if not seeds:
        raise LabelNotMet(wanted, alike=())
    marked = _ordered(connection, seeds)[:limit]
    return Chosen(nodes=_grown(connection, graph, marked, AROUND_A_LABEL, limit), marked=marked)


def _around_path(connection: sqlite3.Connection, source: str, target: str, limit: int) -> Chosen:
    """The path and what is next to it; of a path that there is not, both ends with what is next to them."""
    graph = FileNeighbours(connection)
    answer = find_path(graph, source=source, target=target)
    if answer.found:
        ids = [node.id for node in answer.path]
        rows = connection.execute(f"SELECT number, id FROM node WHERE id {ANY_OF}", (as_list(ids),))  # noqa: S608  (a constant)
        numbers = {name: number for number, name in rows}
        marked = tuple(numbers[name] for name in ids)
        answer = msgspec.structs.replace(answer, path=tuple(find_node(connection, name) for name in ids))
    else:
        marked = _ordered(connection, graph.labelled(source.strip()) | graph.labelled(target.strip()))[:limit]
    if not marked:
        raise LabelNotMet(source.strip(), alike=())
    return Chosen(nodes=_grown(connection, graph, marked, AROUND_A_PATH, limit), marked=marked, path=answer)


def _grown(
    connection: sqlite3.Connection, graph: FileNeighbours, seeds: Iterable[int], steps: int, limit: int
) -> tuple[int, ...]:
    """The seeds and what is around them, as many as are wanted, the nearest first and then the most frequent."""
    kept = dict.fromkeys(seeds)
    edge = list(kept)
    for _ in range(steps):
        near = {end for pair in graph.edges_from(edge, types=_EVERY_TYPE) for end in pair[:2]}
        near |= {end for pair in graph.edges_to(edge, types=_EVERY_TYPE) for end in pair[:2]}
        edge = list(_ordered(connection, near - kept.keys()))[: max(0, limit - len(kept))]
        kept.update(dict.fromkeys(edge))
    return _ordered(connection, kept)


def _ordered(connection: sqlite3.Connection, nodes: Collection[int]) -> tuple[int, ...]:
    rows = connection.execute(f"SELECT number FROM node WHERE number {ANY_OF} {_MOST_FREQUENT}", (as_list(nodes),))  # noqa: S608  (constants)
    return tuple(number for (number,) in rows)
