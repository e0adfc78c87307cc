"""The context is about to be compacted: what the session was given goes with it, and may be given again."""

from __future__ import annotations

from pathlib import Path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from helix_cli.hooks.call import Call
    from helix_cli.hooks.given import Given


def answer(call: Call, root: Path, given: Given) -> str:  # noqa: ARG001  (every event is asked alike)
    """Nothing is said: the event takes no context."""
    given.clear(point_of(call))
    return ""


def point_of(call: Call) -> str:
    """How far the session has come: the size of its transcript, which every program that tells of one event sees."""
    transcript = Path(call.transcript)
    return str(transcript.stat().st_size) if call.transcript and transcript.is_file() else ""
