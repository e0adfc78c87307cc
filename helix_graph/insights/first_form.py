"""The older form of insights: triggers with resolutions, scored by how often they helped.

It is one adapter over the same insights, so that neither form's words mean two things. What is stored here is an
insight whose text is "When TRIGGER: RESOLUTION", tagged with its type; what helped is a causal hit, what did not a use
without one. The scoring is the profile ``v1``: 0.5 relevance, 0.3 effectiveness (helped of all), 0.2 recency (seven
days), and no gate.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypedDict

from helix_graph.given import one_of, several
from helix_graph.insights.foreign import first_form
from helix_graph.insights.settings import V1
from helix_graph.insights.store import Draft, clean_content, clean_source, rejected

if TYPE_CHECKING:
    from collections.abc import Iterable

    from helix_graph.insights.door import Insights
    from helix_graph.insights.store import Stored

TYPES = ("failure", "pattern")
_SHORTEST_TRIGGER = 10


class Helped(TypedDict):
    """How many of the injected helped, how many did not, and which are not known."""

    helped: int
    unhelpful: int
    missing: list[str]


class FirstForm:
    """``store``, ``recall`` and ``feedback`` with the signatures of the older seed."""

    def __init__(self, insights: Insights) -> None:
        self._insights = insights
        self._scored = insights.scored_by(V1)

    def store(self, trigger: str, resolution: str, type: str = "failure", source: str = "") -> Stored:  # noqa: A002  (the seed's name)
        """Remembers what to do (``resolution``) in a situation (``trigger``); ``type`` is failure or pattern.

        Rejected are triggers of fewer than 10 characters, empty resolutions and other types.
        """
        if type not in TYPES:
            return rejected("type must be failure or pattern")
        told = {"trigger": clean_content(trigger), "resolution": clean_content(resolution), "type": type}
        if len(told["trigger"]) < _SHORTEST_TRIGGER:
            return rejected("trigger too short")
        if not told["resolution"]:
            return rejected("resolution empty")
        content = first_form(told["trigger"], told["resolution"])
        return self._insights.put(Draft(content=content, tags=(type,), source=clean_source(source), told=told))

    def recall(
        self,
        query: str,
        type: str | None = None,  # noqa: A002  (the seed's name)
        limit: int = 5,
        min_effectiveness: float = 0.0,
    ) -> list[dict[str, Any]]:
        """The memories that bear on a query, the best first, of one type if given.

        Raises:
            EmptyQuery: There is nothing in the query.
            NotOneOf: There is no such type.
            OutOfRange: ``limit`` is not within 0 to 100, or ``min_effectiveness`` not within 0 to 1.
        """
        tag = "" if type is None else one_of("type", type, TYPES)
        return [_as_memory(hit) for hit in self._scored.recall(query, limit, min_effectiveness, tag=tag)]

    def feedback(self, utilized: Iterable[str], injected: Iterable[str]) -> Helped:
        """Says which of the injected memories were of use; the others count as unhelpful."""
        shown = several("injected", injected)
        answer = self._insights.feedback(shown, "delivered", several("utilized", utilized), policy="v1")
        return Helped(helped=answer["causal"], unhelpful=answer["eroded"], missing=answer["missing"])


def _as_memory(hit: dict[str, Any]) -> dict[str, Any]:
    """A hit with the keys of the older form; an insight told in another form is a pattern without a trigger."""
    told = hit.pop("_told")
    helped, uses = hit.pop("causal_hits"), hit.pop("use_count")
    return {
        **hit,
        "type": told.get("type", "pattern"),
        "trigger": told.get("trigger", hit["content"]),
        "resolution": told.get("resolution", ""),
        "helped": helped,
        "failed": uses - helped,
    }
