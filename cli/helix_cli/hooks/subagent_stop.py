"""A sub-agent has ended: `helix_graph.plans` learns from its transcript, after the hook has answered.

An ending is known by the transcript, its length, and the agent's last words where the agent's program tells them: the
length alone is that of the second ending when that comes before the first one is learnt from. Several agents end within
one prompt and one turn, and one agent may be sent on and end again; but where plugin and settings both have this hook,
one ending is told twice.
"""

from __future__ import annotations

from pathlib import Path

from helix_cli.hooks.detached import in_turn
from helix_cli.hooks.given import Given
from helix_cli.hooks.log import note

TYPE_CHECKING = False
if TYPE_CHECKING:
    from helix_cli.hooks.call import Call

#: The plugin's agents are ``helix-graph:helix-builder``; another plugin's builder reports to nobody here.
_PREFIX = "helix-"


def answer(call: Call, root: Path, given: Given) -> str:  # noqa: ARG001  (every event is asked alike)
    """Nothing is said: whatever a stop is answered makes the agent go on."""
    if call.agent_type.rpartition(":")[2].startswith(_PREFIX):
        with in_turn(root):
            _learn_once(call, root)
    return ""


def _learn_once(call: Call, root: Path) -> None:
    """One process at a time works behind the hooks of a memory, so the first has learnt before the second looks."""
    transcript = Path(call.agent_transcript)
    if not call.agent_transcript:
        note(root, call.event, f"nothing names the transcript of {call.agent_type} {call.agent_id}")
        return
    given = Given(root, call.session or call.agent_transcript)
    if given.has(_ending(call, transcript)):
        return
    _learn(call, root, transcript)
    with given:
        given.remember([_ending(call, transcript)])


def _ending(call: Call, transcript: Path) -> str:
    return f"learnt {transcript} {transcript.stat().st_size if transcript.is_file() else None} {call.last_message}"


def _learn(call: Call, root: Path, transcript: Path) -> None:
    from helix_graph.memory import Memory  # noqa: PLC0415  (after the answer)

    learnt = Memory(root).plans.learn(transcript, agent_type=call.agent_type, agent_id=call.agent_id or None)
    for problem in learnt.problems:
        note(root, call.event, problem)
