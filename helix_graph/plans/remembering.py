"""What plans need of the insights, and nothing more: so that a test can stand in for them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from helix_graph.plans.model import AgentOutcome

#: Which of the insights that were injected (by name) bear on how the work ended, as told in a text.
CausalFilter = Callable[[Sequence[str], str], Iterable[str]]


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
    ) -> Mapping[str, Any]:
        """Tells how work ended that these insights were given to; the same ``id`` again counts once."""
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
