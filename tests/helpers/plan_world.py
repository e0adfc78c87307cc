"""A memory with plans in it, and insights that stand in for the real ones and note what they are told."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, cast

from helix_episodes.store import EpisodeStore
from helix_graph.insights.recall import RecallAnswer
from helix_graph.plans.api import Plans

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from helix_graph.insights.api import Insights

SHOES: dict[str, Any] = {
    "objective": "Sell shoes",
    "framework": "fastapi",
    "idioms": {"required": ["Use Depends() for auth"], "forbidden": ["Store passwords in plain text"]},
    "tasks": [
        {"seq": "001", "slug": "cart", "objective": "Build the cart", "delta": ["shop/cart.py"], "verify": "pytest -q"},
        {"seq": "002", "slug": "till", "objective": "Build the till", "delta": ["shop/till"], "depends": "none"},
        {"seq": "003", "slug": "shop", "objective": "Open the shop", "depends": "001, 002", "budget": 5},
    ],
}


class Handed(NamedTuple):
    shown: tuple[str, ...]


class NotedInsights:
    """Recalls what it holds in order, and notes stores and feedback; an id counts once, as with the real ones."""

    def __init__(self, *texts: tuple[str, str], tags: dict[str, list[str]] | None = None) -> None:
        self.rows = [
            {"name": name, "content": content, "tags": (tags or {}).get(name, []), "_effectiveness": 0.5}
            for name, content in texts
        ]
        self.stored: list[tuple[str, list[str]]] = []
        self.handed: list[tuple[tuple[str, ...], str, str, str]] = []
        self.held_back: set[str] = set()
        self.fed: dict[str, tuple[list[str], str, list[str] | None]] = {}
        self.told: dict[str, str] = {}

    def store(
        self,
        content: str,
        tags: Iterable[str] = (),
        *,
        origin: str = "told",  # noqa: ARG002  (the protocol's)
        episode: str = "",  # noqa: ARG002
    ) -> dict[str, Any]:
        self.stored.append((content, list(tags)))
        return {"status": "added", "name": f"insight-{len(self.stored)}", "reason": ""}

    def recall(
        self,
        query: str,
        limit: int = 5,
        min_effectiveness: float = 0.0,
        min_relevance: float | None = None,
        suppress_names: Iterable[str] = (),
    ) -> RecallAnswer:
        assert query.strip()
        assert min_effectiveness == 0.0
        assert min_relevance is None or 0 <= min_relevance <= 1
        hidden = set(suppress_names)
        return RecallAnswer([row for row in self.rows if row["name"] not in hidden][:limit])

    def known(self, names: Iterable[str]) -> list[str]:
        return [name for name in names if name in {row["name"] for row in self.rows}]

    def hand_over(
        self,
        names: Iterable[str],
        *,
        task: str = "",
        session: str = "",
        about: str = "",
        passed_over: Iterable[str] = (),  # noqa: ARG002
    ) -> Handed:
        self.handed.append((tuple(names), task, session, about))
        return Handed(tuple(name for name in self.handed[-1][0] if name not in self.held_back))

    def feedback(
        self,
        names: Iterable[str],
        outcome: str,
        causal_names: Iterable[str] | None = None,
        *,
        id: str = "",  # noqa: A002  (the insights' own word)
        episode: str | None = None,
        injection: str = "",
    ) -> dict[str, Any]:
        given = list(names)
        assert injection in {"", *(f"showing-{task}" for _, task, _, _ in self.handed)}
        self.told.setdefault(id, episode or "")
        repeated = id in self.fed
        causal = None if causal_names is None else list(causal_names)
        if not repeated:
            self.fed[id] = (given, outcome, causal)
        return {
            "updated": len(given),
            "outcome": outcome,
            "causal": len(given if causal is None else causal),
            "repeated": repeated,
        }

    def feedback_from_episode(self, episode: str, *, id: str = "") -> dict[str, Any]:  # noqa: A002  (as above)
        """Judges what was handed to the task that the episode's name tells of; all of it counts as causal."""
        shown = [name for names, task, _, _ in self.handed if task and task in episode for name in names]
        given = [name for name in shown if name not in self.held_back]
        return {"feedback": [self.feedback(given, "as it ended", id=id, episode=episode)] if given else []}

    def feedback_from_text(
        self,
        outcome_text: str,
        names: Iterable[str],
        outcome: str,
        *,
        id: str = "",  # noqa: A002  (as above)
        injection: str = "",
    ) -> dict[str, Any]:
        fed = self.feedback(names, outcome, id=id, injection=injection)
        self.told[id] = outcome_text
        return {"feedback": [fed]}

    def showing_of(self, task: str, names: Iterable[str]) -> str:
        given = set(names)
        return next((f"showing-{one}" for shown, one, _, _ in self.handed if one == task and given <= {*shown}), "")


def plans_in(root: Path, insights: NotedInsights | None = None) -> Plans:
    """The plans of a memory in ``root``."""
    substitute = cast("Insights", insights or NotedInsights())
    return Plans(root, insights=substitute, episodes=EpisodeStore(root / "episodes"))
