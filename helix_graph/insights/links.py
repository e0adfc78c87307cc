"""Links: what belongs together, and walking along it.

A link leads from an insight to another, or to an anchor in the graph (see `helix_graph.insights.model.Link`). It
speaks of uids; where an insight was merged into another, its links count as the other's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypedDict

import msgspec

from helix_graph.database import ANY_OF, as_list
from helix_graph.given import one_of, query, share, whole
from helix_graph.insights import rows
from helix_graph.insights.clock import stamp
from helix_graph.insights.joining import join_links
from helix_graph.insights.model import INSIGHT_RELATIONS, Link
from helix_graph.insights.room import Room
from helix_graph.insights.seed_form import public

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Iterator, Mapping

    from helix_graph.insights.model import Kept, LinkOrigin

_COLUMNS = ("id", "insight", "relation", "target", "node_type", "node_text", "episode", "origin", "score", "created_at")
#: Further than this everything is connected with everything.
_MOST_HOPS = 10
_MOST_SHOWN = 100


class Related(TypedDict):
    """What became of a link between insights: added, exists (as it was), or rejected for a reason."""

    status: str
    from_name: str
    to_name: str
    rel_type: str
    weight: float
    reason: str


class Linked(Room):
    """The part of `Insights` that ties insights together."""

    def relate(self, from_name: str, to_name: str, rel_type: str, weight: float = 1.0) -> Related:
        """Links one insight to another: ``rel_type`` is similar, led_to, co_occurs, causes or solves.

        Raises:
            NotOneOf: The relation is none of them.
            OutOfRange: ``weight`` is not within 0 to 1.
        """
        relation = one_of("rel_type", rel_type, INSIGHT_RELATIONS)
        score = share("weight", weight)
        with self._database.writing() as connection:
            ends = {name: rows.by_name(connection, query("name", name)) for name in (from_name, to_name)}
            one, other = ends[from_name], ends[to_name]
            if one is None or other is None:
                missing = from_name if one is None else to_name
                return _related(from_name, to_name, relation, score, "rejected", f"memory not found: {missing}")
            if one.number == other.number:
                return _related(from_name, to_name, relation, score, "rejected", "an insight has no link to itself")
            link = new_link(one.insight.uid, relation, target=other.insight.uid, score=score, at=stamp(self._clock()))
            known = find_link(connection, link.id)
            if known:
                return _related(from_name, to_name, relation, known.score, "exists")
            write_link(connection, link)
            return _related(from_name, to_name, relation, score, "added")

    def connected(self, name: str, max_hops: int = 2) -> list[dict[str, Any]]:
        """The insights and nodes that links lead to in either direction, the nearest first, each once.

        Each has ``_kind`` (insight or node), ``_hop`` (how many links away), ``_via`` (the name before it on the way)
        and ``_relation``. A node has its ``name`` (the label), ``node`` (the id) and ``type``; from a node one comes to
        every insight that is linked with it. Links below a score of 0.5 are not followed.

        Raises:
            InsightNotFound: There is no insight of that name.
            OutOfRange: ``max_hops`` is not within 1 to 10.
        """
        from helix_graph.insights.walking import Walk  # noqa: PLC0415  (nothing else walks)

        hops = whole("max_hops", max_hops, lowest=1, highest=_MOST_HOPS)
        with self._database.reading() as connection:
            start = self._named(connection, name)
            walk = Walk(connection, self._experience, least=self.settings.least_link)
            return list(walk.from_insight(start, hops=hops))

    def neighbors(self, name: str, limit: int = 5) -> list[dict[str, Any]]:
        """What stands next to an insight: those it is linked with, then those most like it.

        Each has ``_relation`` and ``_score``: a link's, or ``similar`` with the cosine (or relevance by words).

        Raises:
            InsightNotFound: There is no insight of that name.
            OutOfRange: ``limit`` is not within 0 to 100.
        """
        most = whole("limit", limit, lowest=0, highest=_MOST_SHOWN)
        with self._database.reading() as connection:
            start = self._named(connection, name)
            found = {
                kept.number: {**public(kept), "_relation": link.relation, "_score": round(link.score, 3)}
                for link, kept in _beside(connection, start)
            }
            near = sorted(self._alike(connection, start).items(), key=lambda pair: (-pair[1], pair[0]))
            # Not all need to be read: some were merged away or are silent, and as many more are certainly enough.
            ranked = dict(near[: 4 * _MOST_SHOWN])
            kept_by_number = {kept.number: kept for kept in rows.by_numbers(connection, ranked)}
        for number, score in ranked.items():
            kept = kept_by_number.get(number)
            if kept and kept.insight.state == "active" and number not in found and number != start.number:
                found[number] = {**public(kept), "_relation": "similar", "_score": round(score, 3)}
        return list(found.values())[:most]

    def _alike(self, connection: sqlite3.Connection, start: Kept) -> Mapping[int, float]:
        vectors = self._embed([start.insight.content])
        if not vectors:
            return self._by_words(connection, start.insight.content)
        return self._meaning(connection, vectors[0][1], least=0.0)


def new_link(  # noqa: PLR0913  (what a link is)
    insight: str,
    relation: str,
    *,
    at: str,
    target: str = "",
    node: tuple[str, str] = ("", ""),
    episode: str = "",
    score: float = 1.0,
    origin: LinkOrigin = "hand",
) -> Link:
    """A link to an insight's uid or to a node's type and text; its id follows from its ends."""
    import hashlib  # noqa: PLC0415  (4 ms that a question does without)

    ends = "\0".join((insight, relation, target, *node, episode))
    identity = hashlib.blake2b(ends.encode(), digest_size=16).hexdigest()
    return Link(
        id=identity,
        insight=insight,
        relation=relation,
        created_at=at,
        target=target,
        node_type=node[0],
        node_text=node[1],
        episode=episode,
        origin=origin,
        score=score,
    )


def write_link(connection: sqlite3.Connection, link: Link) -> None:
    """Keeps a link; of one that is there already the more trusted record counts."""
    known = find_link(connection, link.id)
    best = join_links(known, link) if known else link
    values = msgspec.to_builtins(best) | {column: getattr(best, column) for column in _COLUMNS}
    marks = ", ".join("?" * len(_COLUMNS))
    connection.execute(
        f"INSERT OR REPLACE INTO insight_link ({', '.join(_COLUMNS)}) VALUES ({marks})",  # noqa: S608  (constants)
        [values[column] for column in _COLUMNS],
    )


def find_link(connection: sqlite3.Connection, identity: str) -> Link | None:
    """The link of that id."""
    return next(links_where(connection, "id = ?", identity), None)


def links_of(connection: sqlite3.Connection, uids: Iterable[str]) -> list[Link]:
    """The links that begin or end at any of these insights, the strongest first."""
    wanted = as_list(uids)
    return list(links_where(connection, f"insight {ANY_OF} OR target {ANY_OF} ORDER BY score DESC, id", wanted, wanted))


def links_where(connection: sqlite3.Connection, condition: str, *values: str) -> Iterator[Link]:
    """The links that meet a condition."""
    query = f"SELECT {', '.join(_COLUMNS)} FROM insight_link WHERE {condition}"  # noqa: S608  (constants)
    for row in connection.execute(query, values).fetchall():
        yield msgspec.convert(dict(zip(_COLUMNS, row, strict=True)), Link)


def _beside(connection: sqlite3.Connection, start: Kept) -> Iterator[tuple[Link, Kept]]:
    """The insights at the other ends of an insight's links, the strongest link first."""
    own = rows.own_uids(connection, start.insight.uid)
    for link in links_of(connection, own):
        other = link.target if link.insight in own else link.insight
        found = rows.by_uid(connection, other) if other and other not in own else None
        if found is not None and (kept := rows.standing_for(connection, found)).insight.state == "active":
            yield link, kept


def _related(from_name: str, to_name: str, relation: str, weight: float, status: str, reason: str = "") -> Related:
    return Related(status=status, from_name=from_name, to_name=to_name, rel_type=relation, weight=weight, reason=reason)
