"""Insights shown to a session: none twice, each noted, so that what followed can be held against it.

Handing over may hold some back by lot, where a person has switched that on: they are not shown, and that is noted too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from helix_cli.hooks.text import Line

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from helix_cli.hooks.call import Call
    from helix_cli.hooks.given import Given
    from helix_graph.insights.door import Insights

_PREFIX = "insight "


def shown_now(
    insights: Insights, found: Sequence[Mapping[str, Any]], *, call: Call, given: Given, about: str
) -> list[Line]:
    """The insights that the session has not been given yet, as lines, with their effectiveness."""
    by_name = {str(one["name"]): one for one in found}
    fresh = [item.removeprefix(_PREFIX) for item in given.take(_PREFIX + name for name in by_name)]
    shown = insights.hand_over(fresh, session=call.session, about=about).shown if fresh else ()
    return [_line(by_name[name]) for name in shown]


def _line(one: Mapping[str, Any]) -> Line:
    did = one.get("_effectiveness", one["effectiveness"])
    return Line(f"[{did:.0%}] {one['content']}", str(one["name"]))
