"""The label that a tool call will have in the graph, worked out before the call is made.

It uses the same code as the decisions of an episode, so a call about to be made and one that was made get one label.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from helix_episodes.extraction.actions import action_of
from helix_episodes.extraction.calls import parse_calls
from helix_episodes.model import Decision
from helix_episodes.readers.claude_code.records import translate_call
from helix_episodes.session import Session, Source, Step
from helix_graph.graph.labels import decision_key

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


_NOWHERE = Source(line=1)


def labels_of_call(tool: str, arguments: Mapping[str, Any], *, root: Path) -> frozenset[str]:
    """The labels of a call in Claude Code's or Codex's words: one, or one for each kind of file that it changes.

    >>> from pathlib import Path
    >>> sorted(labels_of_call("Edit", {"file_path": "/work/shop/test_cart.py"}, root=Path("/work")))
    ['edit test (.py)']
    """
    steps = tuple(
        Step(kind="call", source=_NOWHERE, tool=tool, operation=one.operation, arguments=dict(one.arguments))
        for one in translate_call(tool, arguments)
    )
    acts = parse_calls(Session(id="", agent="", reader="", steps=steps, root=str(root)))
    actions = (action_of(act) for act in acts)
    return frozenset(
        decision_key(Decision(id="", timestamp=None, type="implementation", chosen="", action=action))
        for action in actions
    )
