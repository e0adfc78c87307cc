"""A session has ended: its episode is extracted, the feedback closed, the graph compiled, all after the answer."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from helix_cli.hooks.detached import detach

if TYPE_CHECKING:
    from helix_cli.hooks.call import Call
    from helix_cli.hooks.given import Given
    from helix_graph.memory import Memory

#: What insights are told of a session's outcome; a partial or unknown one says nothing about them.
_OUTCOMES = {"success": "delivered", "failure": "blocked"}


def answer(call: Call, root: Path, given: Given) -> str:
    """Nothing is said: nobody is there to hear it."""
    detach(root, call.event, lambda: _remember(call, root))
    given.sweep()
    return ""


def _remember(call: Call, root: Path) -> None:
    from helix_graph.memory import Memory  # noqa: PLC0415  (after the answer)
    from helix_graph.prepared import is_prepared, prepare  # noqa: PLC0415  (as above)

    memory = Memory(root)
    if call.transcript and Path(call.transcript).is_file():
        report = memory.extract([Path(call.transcript)])
        for one in report.recorded:
            close_feedback(memory, one.session)
    memory.graph.compile()
    if not is_prepared(root):
        prepare(root, memory.causality)


def close_feedback(memory: Memory, session: str) -> None:
    """Tells the insights that were given to a session how it came out; told again, it counts once."""
    episode = memory.episodes.get(session)
    outcome = _OUTCOMES.get(episode.outcome) if episode else None
    if episode is None or not episode.injected or outcome is None:
        return
    from helix_graph.plans.causal import causal_by_relevance  # noqa: PLC0415  (few sessions come this far)

    insights = memory.insights
    told = "\n".join([episode.task, *episode.lessons])
    causal = causal_by_relevance(insights)(episode.injected, told)
    insights.feedback(episode.injected, outcome, causal, id=f"session-{episode.session}", episode=episode.id)
