"""Which injected insights count as causal when nobody names them? Those that recall finds for the ending."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from helix_graph import Memory
from helix_graph.plans.causal import causal_by_relevance
from plan_world import SHOES, NotedInsights

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path


def test_an_insight_that_fits_the_ending_counts_and_another_does_not(tmp_path: Path) -> None:
    memory = Memory(tmp_path / ".helix")
    fits = memory.insights.store("Build the cart with a limit on what it holds")["name"]
    other = memory.insights.store("Rotate the signing keys every quarter")["name"]
    causal = causal_by_relevance(memory.insights)
    assert list(causal([other, fits], "Build the cart\nthe cart has a limit now")) == [fits]
    assert list(causal([other, fits], "  ")) == []


def test_more_insights_than_recall_shows_at_once_are_all_looked_at() -> None:
    class Graded(NotedInsights):
        """The last 50 are not relevant enough."""

        def recall(
            self,
            query: str,
            limit: int = 5,
            min_effectiveness: float = 0.0,
            min_relevance: float | None = None,
            suppress_names: Iterable[str] = (),
        ) -> list[dict[str, Any]]:
            assert min_relevance == 0.40
            found = super().recall(query, 1000, min_effectiveness, min_relevance, suppress_names)
            return [row for row in found if int(row["name"]) < 250][:limit]

    insights = Graded(*((str(number), f"text {number}") for number in range(300)))
    assert list(causal_by_relevance(insights)(["3", "249", "250", "gone"], "told")) == ["3", "249"]


def test_the_memory_asks_it_when_nobody_says_what_helped(tmp_path: Path) -> None:
    memory = Memory(tmp_path / ".helix")
    name = memory.insights.store("Build the cart with a limit on what it holds")["name"]
    memory.plans.save(SHOES)
    memory.plans.workspaces.create("001")
    ended = memory.plans.workspaces.complete(1, "a cart with a limit")
    assert ended.feedback is not None
    assert (ended.feedback["names"], ended.feedback["causal"]) == ([name], 1)
