"""A tool is about to be called: a warning when that kept failing in the situation that the session is in.

The situation is an error that the session has met (`tool_failure`); the call is labelled by the grammar that episodes
are labelled with, which loads only when an anti-pattern of that situation is known.
"""

from __future__ import annotations

from helix_cli.hooks.given import SITUATION
from helix_graph.prepared import prepared

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path

    from helix_cli.hooks.call import Call
    from helix_cli.hooks.given import Given
    from helix_graph.prepared import AntiPattern


def answer(call: Call, root: Path, given: Given) -> str:
    """The warning, once a session."""
    known = [one for one in prepared(root) or () if _is_met(one, given)]
    if not known:
        return ""
    from helix_cli.hooks.session_start import said  # noqa: PLC0415  (few calls come this far)
    from helix_cli.hooks.text import Line, Section, block  # noqa: PLC0415  (as above)
    from helix_graph.graph.calls import labels_of_call  # noqa: PLC0415  (as above)

    labels = labels_of_call(call.tool, call.arguments, root=root.parent)
    lines = given.take(said(one) for one in known if one.action in labels)
    return block([Section("What is about to be done kept failing here:", [Line(line) for line in lines])])


def _is_met(one: AntiPattern, given: Given) -> bool:
    """Whether the session has met the error; an output may tell its family without the check."""
    family = one.trigger.partition(" fails: ")[2]
    return given.has(SITUATION + one.trigger) or (bool(family) and given.has(SITUATION + family))
