"""Insights shown to a session: none twice, each noted, so that what followed can be held against it."""

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
    return [_line(by_name[name]) for name in _handed_over(insights, fresh, call=call, about=about)]


def _handed_over(insights: Insights, names: list[str], *, call: Call, about: str) -> Sequence[str]:
    """The names that may be shown, which the log of injections then has."""
    hand_over = getattr(insights, "hand_over", None)  # of the room that measures uplift
    if hand_over is None or not names:
        return names
    shown: Sequence[str] = hand_over(names, session=call.session, about=about).shown
    return shown


def _line(one: Mapping[str, Any]) -> Line:
    return Line(f"[{one['_effectiveness']:.0%}] {one['content']}", str(one["name"]))
