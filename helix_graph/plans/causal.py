"""Which injected insights bear on how the work ended: those that recall finds for the ending itself.

The seed's rule is a cosine of 0.40 or more between the insight and what was asked and reported. Recall knows the
relevance of every insight to a text, by meaning where there is a model and by words otherwise, so it is asked. This is
no proof that an insight was used; whoever knows more (from a graph, say) hands in another filter.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from helix_graph.plans.remembering import CausalFilter, Insights

#: The seed's threshold between an insight and an outcome.
CAUSAL_RELEVANCE = 0.40
#: As many as recall gives at once.
_AT_ONCE = 100


def causal_by_relevance(insights: Insights) -> CausalFilter:
    """The filter that asks recall."""

    def causal(names: Sequence[str], told: str) -> list[str]:
        wanted, seen = set(names), set[str]()
        while told.strip() and not wanted <= seen:
            rows = insights.recall(told, limit=_AT_ONCE, min_relevance=CAUSAL_RELEVANCE, suppress_names=sorted(seen))
            fresh = {str(row["name"]) for row in rows} - seen
            if not fresh:
                break
            seen |= fresh
        return [name for name in names if name in seen]

    return causal
