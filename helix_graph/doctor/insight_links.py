"""What the doctor is told of insights: links to steps that the graph does not have now."""

from __future__ import annotations

from typing import TYPE_CHECKING

from helix_graph.doctor.model import fixable

if TYPE_CHECKING:
    from helix_graph.doctor.model import FixableFinding
    from helix_graph.insights.api import Insights


def link_troubles(insights: Insights) -> list[FixableFinding]:
    """A note that counts the links whose node is not there; none when all are."""
    lost = insights.unresolved()
    if not lost:
        return []
    some = "1 link of an insight leads" if len(lost) == 1 else f"{len(lost)} links of insights lead"
    remedy = "compile, or extract the sessions again; until then the links are kept and lead nowhere"
    return [fixable("unresolved link", insights.path.name, f"{some} to no node of the graph", remedy, severity="note")]
