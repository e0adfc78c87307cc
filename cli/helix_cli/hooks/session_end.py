"""A session has ended: its episode is extracted, the feedback closed, the graph compiled, all after the answer."""

from __future__ import annotations

from pathlib import Path

from helix_cli.hooks.detached import in_turn

TYPE_CHECKING = False
if TYPE_CHECKING:
    from helix_cli.hooks.call import Call
    from helix_cli.hooks.given import Given


def answer(call: Call, root: Path, given: Given) -> str:
    """Nothing is said: nobody is there to hear it."""
    with in_turn(root):
        _remember(call, root)
    given.sweep()
    return ""


def _remember(call: Call, root: Path) -> None:
    from helix_graph.memory import Memory  # noqa: PLC0415  (after the answer)
    from helix_graph.prepared import is_prepared, prepare  # noqa: PLC0415  (as above)

    memory = Memory(root)
    recorded = memory.extract([Path(call.transcript)]).recorded if Path(call.transcript).is_file() else ()
    memory.graph.compile()
    for one in recorded:
        memory.insights.feedback_from_episode(one.session)
    if not is_prepared(root):
        prepare(root, memory.causality)
