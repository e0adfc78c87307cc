"""What plans need of the insights, and nothing more: so that a test can stand in for them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from helix_graph.plans.model import AgentOutcome


class Insights(Protocol):
    """The insights of a memory."""

    def store(self, content: str, tags: Iterable[str] = ()) -> Mapping[str, Any]:
        """Keeps an insight; the answer has ``status``, ``name`` and ``reason``."""
        ...

    def recall(
        self,
        query: str,
        limit: int = 5,
        min_effectiveness: float = 0.0,
        min_relevance: float | None = None,
        suppress_names: Iterable[str] = (),
    ) -> Sequence[Mapping[str, Any]]:
        """The insights that fit, best first, with ``name``, ``content``, ``tags`` and ``_effectiveness``."""
        ...

    def feedback(
        self,
        names: Iterable[str],
        outcome: AgentOutcome,
        causal_names: Iterable[str] | None = None,
        *,
        id: str = "",  # noqa: A002  (the insights' own word)
        episode: str | None = None,
        injection: str = "",
    ) -> Mapping[str, Any]:
        """Tells how work ended that these insights were given to; the same ``id`` again counts once."""
        ...

    def feedback_from_episode(self, episode: str, *, id: str = "") -> Mapping[str, Any]:  # noqa: A002  (as above)
        """Judges what was shown in an episode by what was done there; ``feedback`` of the answer has one a showing."""
        ...

    def feedback_from_text(
        self,
        outcome_text: str,
        names: Iterable[str],
        outcome: AgentOutcome,
        *,
        id: str = "",  # noqa: A002  (as above)
        injection: str = "",
    ) -> Mapping[str, Any]:
        """Judges these insights by an account of the outcome alone; the answer is as for an episode."""
        ...

    def showing_of(self, task: str, names: Iterable[str]) -> str:
        """The id of the last showing of these insights to a task, perhaps empty."""
        ...

    def hand_over(self, names: Iterable[str], *, task: str = "", session: str = "", about: str = "") -> HandedOver:
        """Notes who is shown these insights; which of them are shown, and which are held back by lot."""
        ...


class HandedOver(Protocol):
    """What becomes of insights that were chosen."""

    @property
    def shown(self) -> tuple[str, ...]:
        """Those that are shown, in the order given."""
        ...
