"""Episodes from which something can be learnt, and the memory that holds them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from helix_episodes.model import Action, Decision, Episode, Event, Evidence, Fix, Link, OutcomeEvidence
from helix_episodes.store import EpisodeStore
from helix_graph import Memory

if TYPE_CHECKING:
    from pathlib import Path

    from helix_episodes.model import Outcome

LESSON = "Start the test database before the suite, or every cart test hangs"


def repaired(
    session: str,
    *,
    day: int = 1,
    path: str = "shop/cart.py",
    line: int = 12,
    outcome: Outcome = "success",
    lessons: tuple[str, ...] = (),
) -> Episode:
    """A session in which pytest fails with a KeyError, a file is edited, and pytest passes; and so it succeeds."""
    at = f"2026-11-{day:02}T10"
    return Episode(
        id=f"episode-{session}",
        session=session,
        timestamp=f"{at}:00:00Z",
        outcome=outcome,
        outcome_basis="measured",
        outcome_evidence=OutcomeEvidence(rule="tests", quote="3 passed", source="e2"),
        task="Mend the discount of the cart",
        decisions=(
            Decision(
                id="d0",
                timestamp=f"{at}:03:00Z",
                type="test",
                chosen="Run pytest -q tests/cart",
                action=Action(verb="run", program="pytest", flags=("-q",), command="pytest -q tests/cart"),
            ),
            Decision(
                id="d1",
                timestamp=f"{at}:05:00Z",
                type="recovery",
                chosen=f"Edit {path}",
                rationale=f"Guard the lookup of session {session}",
                action=Action(verb="edit", role="source", path=path),
                evidence=Evidence(line=5, quote="return prices.get('discount', 0)"),
            ),
            Decision(
                id="d2",
                timestamp=f"{at}:06:00Z",
                type="test",
                chosen="Run pytest -q tests/cart",
                action=Action(verb="run", program="pytest", flags=("-q",), command="pytest -q tests/cart"),
            ),
        ),
        events=(
            Event(
                id="e1",
                timestamp=f"{at}:04:00Z",
                type="test",
                status="error",
                content="pytest: 1 failed",
                check="pytest",
                family="KeyError",
                message=f"KeyError: 'discount' in cart.py:{line}",
            ),
            Event(
                id="e2",
                timestamp=f"{at}:07:00Z",
                type="test",
                status="ok",
                content="3 passed",
                check="pytest",
                evidence=Evidence(line=7, quote="3 passed"),
            ),
        ),
        links=(
            Link(source="d0", target="e1", reason="call"),
            Link(source="d1", target="d2", reason="edit-test"),
            Link(source="d2", target="e2", reason="call"),
        ),
        fixes=(Fix(error="e1", changes=("d1",), check="pytest", verified_by="e2"),),
        lessons=lessons,
    )


def remember(folder: Path, *episodes: Episode) -> Memory:
    """A memory of these episodes, compiled."""
    memory = Memory.init(folder)
    store = EpisodeStore(memory.root / "episodes")
    for episode in episodes:
        store.save(episode)
    memory.graph.compile()
    return memory
