"""Links from a statement to its evidence: on the page of the session where there is one, else in the list below."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import quote

from helix_graph.report.markup import Markup, element, joined, short
from helix_graph.report.words import day

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from helix_graph.report.model import Evidence

_LONGEST_TASK = 90


class Links:
    """The evidence of a report by its numbers; ``pages`` are the addresses of sessions' pages by episode."""

    def __init__(self, evidence: Sequence[Evidence], pages: Mapping[str, str]) -> None:
        self._evidence = {one.number: one for one in evidence}
        self._pages = pages

    def to(self, numbers: Sequence[int]) -> Markup:
        """A line of links; nothing for no evidence."""
        if not numbers:
            return Markup()
        links = [self.link(self._evidence[number]) for number in numbers]
        return element("p", "Evidence: ", joined(links, " "), class_="evidence-links")

    def named(self, numbers: Mapping[str, int | None]) -> Markup:
        """A line of links that say what each piece is."""
        found = {name: self._evidence[number] for name, number in numbers.items() if number}
        links = [self._link(one, f"{name}{_line(one)}") for name, one in found.items()]
        return element("p", "Evidence: ", joined(links, " "), class_="evidence-links") if links else Markup()

    def link(self, one: Evidence) -> Markup:
        """The link to one piece, by its date and line."""
        return self._link(one, f"{day(one.date)}{_line(one)}")

    def _link(self, one: Evidence, text: str) -> Markup:
        """With the session's task for those who cannot see where it leads."""
        name = f"{text}: evidence {one.number}, {short(one.task, _LONGEST_TASK)}"
        return element("a", text, href=self.address(one), aria_label=name)

    def address(self, one: Evidence) -> str:
        """Where a piece of evidence is shown."""
        page = self.page(one)
        return f"{page}#step-{quote(one.step, safe='')}" if page else f"#e{one.number}"

    def page(self, one: Evidence) -> str:
        """The address of its session's page; empty when there is none."""
        return self._pages.get(one.episode, "")


def _line(one: Evidence) -> str:
    return f", line {one.line}" if one.line else ""
