"""Insights shown to a session: none twice, each noted, so that what followed can be held against it.

Handing over may hold some back by lot, where a person has switched that on: they are not shown, and that is noted too.
"""

from __future__ import annotations

from helix_cli.hooks.text import Line
from helix_graph.insights.quick import note_shown
from helix_graph.insights.showings import Showing
from helix_graph.project import CONFIGURATION

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path
    from typing import Any

    from helix_cli.hooks.call import Call
    from helix_cli.hooks.given import Given

_PREFIX = "insight "


def shown_now(root: Path, found: Sequence[Mapping[str, Any]], *, call: Call, given: Given, about: str) -> list[Line]:
    """The insights that the session has not been given yet, as lines, with their effectiveness."""
    by_name = {str(one["name"]): one for one in found}
    fresh = [item.removeprefix(_PREFIX) for item in given.take(_PREFIX + name for name in by_name)]
    shown = _handed_over(root, fresh, Showing(session=call.session, about=about)) if fresh else ()
    return [_line(by_name[name]) for name in shown]


def _handed_over(root: Path, names: Sequence[str], showing: Showing) -> Sequence[str]:
    """Those that are not held back. Where nobody has set anything nothing is, and the door stays closed: 60 ms less."""
    if not (root / CONFIGURATION).exists():
        note_shown(root, names, showing)
        return names
    from helix_graph.memory import Memory  # noqa: PLC0415  (as it says)

    return Memory(root).insights.hand_over(names, session=showing.session, about=showing.about).shown


def _line(one: Mapping[str, Any]) -> Line:
    did = one.get("_effectiveness", one["effectiveness"])
    return Line(f"[{did:.0%}] {one['content']}", str(one["name"]))
