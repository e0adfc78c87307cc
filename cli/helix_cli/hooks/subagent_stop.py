"""A sub-agent has ended: `helix_graph.plans` learns from its transcript, after the hook has answered."""

from __future__ import annotations

from pathlib import Path

from helix_cli.hooks.detached import detach
from helix_cli.hooks.log import note

TYPE_CHECKING = False
if TYPE_CHECKING:
    from helix_cli.hooks.call import Call
    from helix_cli.hooks.given import Given

#: The plugin's agents are ``helix-graph:helix-builder``; another plugin's builder reports to nobody here.
_PREFIX = "helix-"


def answer(call: Call, root: Path, given: Given) -> str:  # noqa: ARG001  (every event is asked alike)
    """Nothing is said: whatever a stop is answered makes the agent go on."""
    if call.transcript and call.agent_type.rpartition(":")[2].startswith(_PREFIX):
        detach(root, call.event, lambda: _learn(call, root))
    return ""


def _learn(call: Call, root: Path) -> None:
    from helix_graph.memory import Memory  # noqa: PLC0415  (after the answer)

    transcript = Path(call.transcript)
    learnt = Memory(root).plans.learn(transcript, agent_type=call.agent_type, agent_id=call.agent_id or None)
    for problem in learnt.problems:
        note(root, call.event, problem)
