"""Links from an insight to other insights and to nodes of the graph: made by hand, by label or by vector.

A link refers to uids; where an insight was merged into another, its links count as the other's. A link to a node
stores its anchor (the node's type, the raw text, the episode), who drew it and how sure they were; the node is looked
up at each question, and stands for all anchors that lead to it now. Each insight and each node is visited once, so
cycles end.

Anchors are proposed *by label*: a decision whose label the insight's text gets itself, or an error whose kind occurs
in the text, word for word once paths and numbers are masked; and *by vector*: the three errors whose labels are most
similar to the text, with a cosine of at least 0.60. Proposals are less trusted than what was extracted or drawn by
hand; where two say the same, the more trusted record counts. Vectors are used only where nothing else links an insight
to an error: labels of one check look alike to a model, whatever failed.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, TypedDict

import msgspec
from msgspec.structs import asdict

from helix_episodes.errors import InvalidArgument
from helix_episodes.light_imports import blake2b
from helix_episodes.msgspec_types import ready
from helix_episodes.redaction import for_disk
from helix_graph.database import ANY_OF, as_list, insert_row
from helix_graph.errors import NO_TEXT
from helix_graph.helix_db import stamp
from helix_graph.insights import rows
from helix_graph.insights.dedup import join_links
from helix_graph.insights.model import INSIGHT_RELATIONS, NODE_RELATIONS, InsightLink, LinkOrigin, StoredInsight
from helix_graph.insights.schema import said_by, seed_form
from helix_graph.validation import as_choice, as_fraction, as_int, as_str, as_text

if TYPE_CHECKING:
    import sqlite3

    from helix_graph.graph.anchors import AnchoredNode, NodeAnchor, NodeExample
    from helix_graph.insights.context import InsightContext
    from helix_graph.insights.vectors import Floats


_COLUMNS = InsightLink.__struct_fields__
#: Further than this everything is connected with everything.
_MOST_HOPS = 10
_MOST_SHOWN = 100


class RelateAnswer(TypedDict):
    """What became of a link between insights: added, exists (as it was), or rejected for a reason."""

    status: str
    from_name: str
    to_name: str
    rel_type: str
    weight: float
    reason: str


def relate(context: InsightContext, from_name: str, to_name: str, rel_type: str, weight: float = 1.0) -> RelateAnswer:
    """Links one insight to another: ``rel_type`` is similar, led_to, co_occurs, causes or solves.

    Raises:
        InvalidArgument: The relation is none of them. ``weight`` is not within 0 to 1.
    """
    relation = as_choice("rel_type", rel_type, INSIGHT_RELATIONS)
    score = as_fraction("weight", weight)
    answer = RelateAnswer(
        status="rejected", from_name=from_name, to_name=to_name, rel_type=relation, weight=score, reason=""
    )
    with context.database.writing() as connection:
        ends = {name: rows.by_name(connection, as_str("name", name)) for name in (from_name, to_name)}
        one, other = ends[from_name], ends[to_name]
        if one is None or other is None:
            answer["reason"] = f"memory not found: {from_name if one is None else to_name}"
            return answer
        if one.number == other.number:
            answer["reason"] = "an insight has no link to itself"
            return answer
        link = new_link(one.insight.uid, relation, target=other.insight.uid, score=score, at=stamp(context.now()))
        known = find_link(connection, link.id)
        if known is None:
            write_link(connection, link)
    answer["status"], answer["weight"] = ("exists", known.score) if known else ("added", score)
    return answer


def connected(context: InsightContext, name: str, max_hops: int = 2) -> list[dict[str, Any]]:
    """The insights and nodes that links lead to in either direction, the nearest first, each once.

    Each has ``_kind`` (insight or node), ``_hop`` (how many links away), ``_via`` (the name before it on the way)
    and ``_relation``. A node has its ``name`` (the label), ``node`` (the id) and ``type``; from a node one comes to
    every insight that is linked with it. ``_said_by`` says of an insight that no person here wrote, who did. Links
    below a score of 0.5 are not followed.

    Raises:
        InvalidArgument: ``max_hops`` is not within 1 to 10.
    """
    hops = as_int("max_hops", max_hops, lowest=1, highest=_MOST_HOPS)
    with context.database.reading() as connection:
        start = rows.named(connection, name)
        return list(LinkTraversal(connection, context).from_insight(start, hops=hops))


def neighbors(context: InsightContext, name: str, limit: int = 5) -> list[dict[str, Any]]:
    """What is next to an insight: those it is linked with, then those most like it.

    Each has ``_relation`` and ``_score``: a link's, or ``similar`` with the cosine (or relevance by words);
    ``_said_by`` says of one that no person here wrote, who did.

    Raises:
        InvalidArgument: ``limit`` is not within 0 to 100.
    """
    most = as_int("limit", limit, lowest=0, highest=_MOST_SHOWN)
    with context.database.reading() as connection:
        start = rows.named(connection, name)
        found = {
            stored.number: {**seed_form(stored), "_relation": link.relation, "_score": round(link.score, 3)}
            for link, stored in _beside(connection, start)
        }
        _, numbers = context.embed_one(start.insight.content)
        if numbers is None:
            similar = context.by_words(connection, start.insight.content)
        else:
            similar = context.by_meaning(connection, numbers, least=0.0)
        near = sorted(similar.items(), key=lambda pair: (-pair[1], pair[0]))
        # Not all need to be read: some were merged away or are silent, and as many more are certainly enough.
        ranked = dict(near[: 4 * _MOST_SHOWN])
        kept_by_number = {stored.number: stored for stored in rows.by_numbers(connection, ranked)}
        for number, score in ranked.items():
            stored = kept_by_number.get(number)
            if stored and stored.insight.state == "active" and number not in found and number != start.number:
                found[number] = {**seed_form(stored), "_relation": "similar", "_score": round(score, 3)}
        for number, said in said_by(connection, found).items():
            found[number]["_said_by"] = said
    return list(found.values())[:most]


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
) -> InsightLink:
    """A link to an insight's uid or to a node's type and text; its id follows from its ends."""
    node, episode = (for_disk(node[0]), for_disk(node[1])), for_disk(episode)
    ends = "\0".join((insight, relation, target, *node, episode))
    identity = blake2b(ends.encode(), digest_size=16).hexdigest()
    return InsightLink(
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


def write_link(connection: sqlite3.Connection, link: InsightLink) -> None:
    """Saves a link; of one that is there already the more trusted record counts."""
    known = find_link(connection, link.id)
    best = join_links(known, link) if known else link
    insert_row(connection, "insight_link", asdict(best), replace=True)


def find_link(connection: sqlite3.Connection, identity: str) -> InsightLink | None:
    """The link of that id."""
    return next(links_where(connection, "id = ?", identity), None)


def links_of(connection: sqlite3.Connection, uids: Iterable[str]) -> list[InsightLink]:
    """The links that begin or end at any of these insights, the strongest first."""
    wanted = as_list(uids)
    return list(links_where(connection, f"insight {ANY_OF} OR target {ANY_OF} ORDER BY score DESC, id", wanted, wanted))


def links_where(connection: sqlite3.Connection, condition: str, *values: str) -> Iterator[InsightLink]:
    """The links that meet a condition."""
    query = f"SELECT {', '.join(_COLUMNS)} FROM insight_link WHERE {condition}"  # noqa: S608  (constants)
    for row in connection.execute(query, values).fetchall():
        yield msgspec.convert(dict(zip(_COLUMNS, row, strict=True)), ready(InsightLink))


def _beside(connection: sqlite3.Connection, start: StoredInsight) -> Iterator[tuple[InsightLink, StoredInsight]]:
    """The insights at the other ends of an insight's links, the strongest link first."""
    own = rows.own_uids(connection, start.insight.uid)
    for link in links_of(connection, own):
        other = link.target if link.insight in own else link.insight
        found = rows.by_uid(connection, other) if other and other not in own else None
        if found is not None and (stored := rows.standing_for(connection, found)).insight.state == "active":
            yield link, stored


class _Step(NamedTuple):
    """One place on the way: an insight's row or a node's id, its name, how to show it, what led there, and its uid."""

    key: int | str
    name: str
    shown: dict[str, Any]
    relation: str
    uid: str = ""


class LinkTraversal:
    """A walk over the links of one state of the database, from the least score that the settings ask of a link."""

    def __init__(self, connection: sqlite3.Connection, context: InsightContext) -> None:
        self._connection = connection
        self._context = context

    def from_insight(self, start: StoredInsight, *, hops: int) -> Iterator[dict[str, Any]]:
        """Everything within so many links, the nearest first."""
        met: set[int | str] = {start.number}
        edge = [_Step(start.number, start.name, {}, "", start.insight.uid)]
        for hop in range(1, hops + 1):
            reached = []
            for here in edge:
                for step in self._beside(here):
                    if step.key not in met:
                        met.add(step.key)
                        reached.append(step)
                        yield {**step.shown, "_hop": hop, "_via": here.name, "_relation": step.relation}
            edge = reached

    def _beside(self, here: _Step) -> Iterator[_Step]:
        nodes, by_node = self._nodes_and_links
        own = rows.own_uids(self._connection, here.uid) if here.uid else frozenset()
        for link in links_of(self._connection, own) if here.uid else by_node.get(str(here.key), ()):
            if link.score < self._context.settings.least_link:
                continue
            if not (here.uid and link.node_type):
                yield from self._insight_step(link.target if link.insight in own else link.insight, link.relation)
            elif found := nodes.get(anchor_of(link)):
                shown = {"_kind": "node", "name": found.label, "node": found.node, "type": found.type}
                yield _Step(found.node, found.label, shown, link.relation)

    def _insight_step(self, uid: str, relation: str) -> Iterator[_Step]:
        found = rows.by_uid(self._connection, uid)
        stored = found and rows.standing_for(self._connection, found)
        if stored and stored.insight.state == "active":
            shown = {"_kind": "insight", **seed_form(stored)}
            if said := said_by(self._connection, [stored.number]):
                shown["_said_by"] = said[stored.number]
            yield _Step(stored.number, stored.name, shown, relation, stored.insight.uid)

    @cached_property
    def _nodes_and_links(self) -> tuple[dict[NodeAnchor, AnchoredNode], dict[str, list[InsightLink]]]:
        """Where every anchor leads, and the links that lead to each node, the strongest of an anchor first."""
        by_anchor: dict[NodeAnchor, list[InsightLink]] = defaultdict(list)
        for link in links_where(self._connection, "node_type != '' ORDER BY score DESC, id"):
            by_anchor[anchor_of(link)].append(link)
        ordered = sorted(by_anchor, key=lambda anchor: (anchor.type, anchor.text, anchor.episode))
        nodes = self._context.anchored(ordered)
        by_node: dict[str, list[InsightLink]] = defaultdict(list)
        for anchor, node in nodes.items():
            by_node[node.node] += by_anchor[anchor]
        return nodes, by_node


def anchor_of(link: InsightLink) -> NodeAnchor:
    """What a link to a node speaks of."""
    from helix_graph.graph.anchors import NodeAnchor

    return NodeAnchor(type=link.node_type, text=link.node_text, episode=link.episode)


#: An error whose kind is in a text together with its check is meant; without its check it most likely is.
_WITH_CHECK, _WITHOUT_CHECK = 1.0, 0.7
#: A kind of error of fewer letters than this is in texts by chance: "error", "no file".
_LEAST_LETTERS = 8
_MOST_BY_VECTOR = 3
_LETTERS = re.compile(r"[^\W\d_]")


class LinkAnswer(TypedDict):
    """A link to a node: added, or there already (exists). ``node`` and ``label`` are what it leads to now, or None."""

    status: str
    name: str
    relation: str
    type: str
    text: str
    episode: str
    origin: str
    score: float
    node: str | None
    label: str | None


def link(
    context: InsightContext, name: str, node_type: str, text: str, *, episode: str = "", relation: str = "addresses"
) -> LinkAnswer:
    """Links an insight to a node by hand.

    ``text`` is the raw text of a step of ``episode``, or the label of a node when no episode is named;
    ``relation`` is derived_from, addresses or prevents.

    Raises:
        InvalidArgument: Type or relation is none of those allowed. There is no text, and no whole episode is meant.
    """
    from helix_graph.graph.anchors import ANCHOR_TYPES

    kind = as_choice("node_type", node_type, ANCHOR_TYPES)
    meant = as_choice("relation", relation, NODE_RELATIONS)
    said = as_text("text", text).strip()
    if not said and kind != "episode":
        raise InvalidArgument("text", NO_TEXT)
    session = context.required_history.episodes.require(as_str("episode", episode)).id if episode else ""
    with context.database.reading() as connection:
        stored = rows.named(connection, name)
    link = new_link(stored.insight.uid, meant, at=stamp(context.now()), node=(kind, said), episode=session)
    return _keep(context, stored, [link])[0]


def match(context: InsightContext, name: str | None = None) -> list[LinkAnswer]:
    """Links insights (one, or all that can be recalled) to the nodes that their texts speak of.

    Raises:
        NoMemory: These insights belong to no memory with a graph.
    """
    errors, decisions = context.required_history.examples(("error",)), context.required_history.examples(("decision",))
    with context.database.reading() as connection:
        if name is None:
            chosen = list(rows.where(connection, "state = 'active' ORDER BY number"))
        else:
            chosen = [rows.named(connection, name)]
    vectors = [numbers for _, numbers in context.embed([one.label for one in errors])] if chosen else []
    answers: list[LinkAnswer] = []
    for stored in chosen:
        found = _by_label(stored.insight.content, errors, decisions)
        if not (found or _addresses_one(context, stored)):
            found = _by_vector(context, stored, errors, vectors)
        links = [
            new_link(
                stored.insight.uid,
                "addresses",
                at=stamp(context.now()),
                node=(one.anchor.type, one.anchor.text),
                episode=one.anchor.episode,
                score=score,
                origin=origin,
            )
            for one, (origin, score) in found.items()
        ]
        answers += _keep(context, stored, links)
    return answers


def unresolved(context: InsightContext) -> tuple[InsightLink, ...]:
    """The links whose node is not in the graph now; they are kept, since it may come (back)."""
    with context.database.reading() as connection:
        links = list(links_where(connection, "node_type != '' ORDER BY id"))
    known = context.anchored({anchor_of(link) for link in links})
    return tuple(link for link in links if anchor_of(link) not in known)


def _addresses_one(context: InsightContext, stored: StoredInsight) -> bool:
    with context.database.reading() as connection:
        own = rows.own_uids(connection, stored.insight.uid)
        return any(one.node_type == "error" and one.origin != "embedding" for one in links_of(connection, own))


def _by_vector(
    context: InsightContext, stored: StoredInsight, errors: list[NodeExample], vectors: list[Floats]
) -> dict[NodeExample, tuple[LinkOrigin, float]]:
    if not vectors:
        return {}
    own = context.embed([stored.insight.content])[0][1]
    scored = [(round(float(vector @ own), 3), one) for one, vector in zip(errors, vectors, strict=True)]
    close = sorted(
        (each for each in scored if each[0] >= context.settings.uptake), key=lambda each: (-each[0], each[1].label)
    )
    return {one: ("embedding", cosine) for cosine, one in close[:_MOST_BY_VECTOR]}


def _keep(context: InsightContext, stored: StoredInsight, links: list[InsightLink]) -> list[LinkAnswer]:
    """Writes links to nodes, and says of each whether it is new and where it leads."""
    with context.database.writing() as connection:
        there = {link.id for link in links if find_link(connection, link.id)}
        for link in links:
            write_link(connection, link)
    known = context.anchored(map(anchor_of, links))
    answers = []
    for link in links:
        found = known.get(anchor_of(link))
        answer = LinkAnswer(
            status="exists" if link.id in there else "added",
            name=stored.name,
            relation=link.relation,
            type=link.node_type,
            text=link.node_text,
            episode=link.episode,
            origin=link.origin,
            score=link.score,
            node=found.node if found else None,
            label=found.label if found else None,
        )
        answers.append(answer)
    return answers


def _by_label(
    content: str, errors: Iterable[NodeExample], decisions: Iterable[NodeExample]
) -> dict[NodeExample, tuple[LinkOrigin, float]]:
    """The nodes whose label the text has, and how sure that is."""
    from helix_episodes.model import Decision
    from helix_graph.graph.node_labels import decision_key

    said = decision_key(Decision(id="", timestamp=None, type="design", chosen=content))
    found: dict[NodeExample, tuple[LinkOrigin, float]] = {one: ("label", 1.0) for one in decisions if one.label == said}
    words = f" {_masked(content)} "
    for one in errors:
        check, _, family = one.label.partition(" fails: ")
        if len(_LETTERS.findall(family)) >= _LEAST_LETTERS and f" {_masked(family)} " in words:
            named = f" {_masked(check)} " in words
            found[one] = ("label", _WITH_CHECK if named else _WITHOUT_CHECK)
    return found


def _masked(text: str) -> str:
    """The words of a text, places and numbers masked, without the punctuation between them."""
    from helix_episodes.normalization import template

    return " ".join(re.findall(r"[\w<>.+#-]*[\w<>+#-]", template(text).casefold()))
