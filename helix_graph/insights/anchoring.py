"""Anchoring: links between insights and the nodes of the graph, by hand, by label and by vector.

What is kept of a link is its anchor (the node's type, the raw text, the episode), who drew it and how sure they were;
the node is looked up at each question. *By label*: a decision whose label the insight's text gets itself, or an error
whose kind stands in the text, word for word once places and numbers are masked. *By vector*: an error whose label the
text is at least 0.60 alike, the three best. Matches are proposals and less trusted than what was extracted or drawn by
hand; where two say the same, the more trusted record counts. Vectors are asked only where nothing else ties an insight
to an error: labels of one check look alike to a model, whatever failed.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, TypedDict

from helix_episodes.errors import EpisodeNotFound
from helix_graph.errors import EmptyText
from helix_graph.given import one_of, prose, query
from helix_graph.insights import rows
from helix_graph.insights.clock import stamp
from helix_graph.insights.links import find_link, links_of, links_where, new_link, write_link
from helix_graph.insights.model import NODE_RELATIONS
from helix_graph.insights.room import Room
from helix_graph.insights.walking import anchor_of

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable

    from helix_graph.graph.anchors import Anchored, Example
    from helix_graph.insights.model import Kept, Link, LinkOrigin
    from helix_graph.insights.vectors import Floats

#: An error whose kind stands in a text together with its check is meant; without its check it most likely is.
_WITH_CHECK, _WITHOUT_CHECK = 1.0, 0.7
#: A kind of error of fewer letters than this stands in texts by chance: "error", "no file".
_LEAST_LETTERS = 8
_MOST_BY_VECTOR = 3
_LETTERS = re.compile(r"[^\W\d_]")


class Linked(TypedDict):
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


class Anchoring(Room):
    """The part of `Insights` that ties insights to nodes of the graph."""

    def link(self, name: str, node_type: str, text: str, *, episode: str = "", relation: str = "addresses") -> Linked:
        """Links an insight to a node by hand.

        ``text`` is the raw text of a step of ``episode``, or the label of a node when no episode is named;
        ``relation`` is derived_from, addresses or prevents.

        Raises:
            InsightNotFound: There is no insight of that name.
            EpisodeNotFound: There is no such episode.
            NotOneOf: Type or relation is none of those allowed.
            EmptyText: There is no text, and no whole episode is meant.
        """
        from helix_graph.graph.anchors import ANCHOR_TYPES  # noqa: PLC0415  (recall does without the graph's grammar: 40 ms to load)

        kind = one_of("node_type", node_type, ANCHOR_TYPES)
        meant = one_of("relation", relation, NODE_RELATIONS)
        said = prose("text", text).strip()
        if not said and kind != "episode":
            option = "text"
            raise EmptyText(option)
        session = self._episode_id(episode)
        with self._database.writing() as connection:
            kept = self._named(connection, query("name", name))
            at = stamp(self._clock())
            link = new_link(kept.insight.uid, meant, at=at, node=(kind, said), episode=session)
            known = find_link(connection, link.id)
            write_link(connection, link)
        return self._shown(kept, [link], ["exists" if known else "added"])[0]

    def match(self, name: str | None = None) -> list[Linked]:
        """Links insights (one, or all that can be recalled) to the nodes that their texts speak of.

        Raises:
            InsightNotFound: There is no insight of that name.
            NoMemory: These insights belong to no memory with a graph.
        """
        errors, decisions = self._past.examples(("error",)), self._past.examples(("decision",))
        with self._database.reading() as connection:
            chosen = self._chosen(connection, name)
        vectors = [numbers for _, numbers in self._embed([one.label for one in errors])] if chosen else []
        answers: list[Linked] = []
        for kept in chosen:
            found = _by_label(kept.insight.content, errors, decisions)
            if not (found or self._addresses_one(kept)):
                found = self._by_vector(kept, errors, vectors)
            answers += self._keep(kept, found)
        return answers

    def unresolved(self) -> tuple[Link, ...]:
        """The links whose node is not in the graph now; they are kept, since it may come (back)."""
        with self._database.reading() as connection:
            links = list(links_where(connection, "node_type != '' ORDER BY id"))
        known = self._experience.anchored({anchor_of(link) for link in links}) if self._experience else {}
        return tuple(link for link in links if anchor_of(link) not in known)

    def _episode_id(self, episode: str) -> str:
        if not episode:
            return ""
        found = self._past.episodes.get(query("episode", episode))
        if found is None:
            raise EpisodeNotFound(episode)
        return found.id

    def _chosen(self, connection: sqlite3.Connection, name: str | None) -> list[Kept]:
        if name is not None:
            return [self._named(connection, query("name", name))]
        return list(rows.where(connection, "state = 'active' ORDER BY number"))

    def _addresses_one(self, kept: Kept) -> bool:
        with self._database.reading() as connection:
            own = rows.own_uids(connection, kept.insight.uid)
            return any(one.node_type == "error" and one.origin != "embedding" for one in links_of(connection, own))

    def _by_vector(
        self, kept: Kept, errors: list[Example], vectors: list[Floats]
    ) -> dict[Example, tuple[LinkOrigin, float]]:
        if not vectors:
            return {}
        own = self._embed([kept.insight.content])[0][1]
        scored = [(round(float(vector @ own), 3), one) for one, vector in zip(errors, vectors, strict=True)]
        close = sorted(
            (each for each in scored if each[0] >= self.settings.uptake), key=lambda each: (-each[0], each[1].label)
        )
        return {one: ("embedding", cosine) for cosine, one in close[:_MOST_BY_VECTOR]}

    def _keep(self, kept: Kept, found: dict[Example, tuple[LinkOrigin, float]]) -> list[Linked]:
        links, statuses = [], []
        with self._database.writing() as connection:
            at = stamp(self._clock())
            for one, (origin, score) in found.items():
                node, session = (one.anchor.type, one.anchor.text), one.anchor.episode
                link = new_link(
                    kept.insight.uid, "addresses", at=at, node=node, episode=session, score=score, origin=origin
                )
                statuses.append("exists" if find_link(connection, link.id) else "added")
                write_link(connection, link)
                links.append(link)
        return self._shown(kept, links, statuses)

    def _shown(self, kept: Kept, links: list[Link], statuses: Iterable[str]) -> list[Linked]:
        known = self._experience.anchored(map(anchor_of, links)) if self._experience else {}
        return [
            _answer(kept.name, link, status, known.get(anchor_of(link)))
            for link, status in zip(links, statuses, strict=True)
        ]


def _by_label(
    content: str, errors: Iterable[Example], decisions: Iterable[Example]
) -> dict[Example, tuple[LinkOrigin, float]]:
    """The nodes whose label the text has, and how sure that is."""
    from helix_episodes.model import Decision  # noqa: PLC0415  (as above)
    from helix_graph.graph.labels import decision_key  # noqa: PLC0415  (as above)

    said = decision_key(Decision(id="", timestamp=None, type="design", chosen=content))
    found: dict[Example, tuple[LinkOrigin, float]] = {one: ("label", 1.0) for one in decisions if one.label == said}
    words = f" {_masked(content)} "
    for one in errors:
        check, _, family = one.label.partition(" fails: ")
        if len(_LETTERS.findall(family)) >= _LEAST_LETTERS and f" {_masked(family)} " in words:
            named = f" {_masked(check)} " in words
            found[one] = ("label", _WITH_CHECK if named else _WITHOUT_CHECK)
    return found


def _masked(text: str) -> str:
    """The words of a text, places and numbers masked, without the punctuation between them."""
    from helix_graph.graph.masking import template  # noqa: PLC0415  (as above)

    return " ".join(re.findall(r"[\w<>.+#-]*[\w<>+#-]", template(text).casefold()))


def _answer(name: str, link: Link, status: str, found: Anchored | None) -> Linked:
    return Linked(
        status=status,
        name=name,
        relation=link.relation,
        type=link.node_type,
        text=link.node_text,
        episode=link.episode,
        origin=link.origin,
        score=link.score,
        node=found.node if found else None,
        label=found.label if found else None,
    )
