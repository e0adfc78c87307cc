"""What the page says of rules: how far each is followed, what changed when it came, and which rules are missing.

All figures are those of `helix-graph rules` and `helix-graph advise`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from helix_graph.rules.model import NOTHING_TO_SHOW, BeforeAfter, Proposal, State, not_read
from helix_graph.web.timeline import copied

if TYPE_CHECKING:
    from collections.abc import Mapping

    from helix_graph.rules.model import Advice, RuleList, RuleRecord


class PageRule(msgspec.Struct, frozen=True, kw_only=True):
    """A rule with what sessions show of it; ``change`` is None where there is no before.

    ``missed`` has the place of the session, the line and what was done there, of each of the newest misses.
    """

    id: str
    text: str
    file: str
    since: str
    state: State
    followed: int
    opportunities: int
    instead: int
    sessions: int
    change: BeforeAfter | None
    missed: tuple[tuple[int, int | None, str], ...]


class PageRules(msgspec.Struct, frozen=True, kw_only=True):
    """The rules that sessions show something of, and those that are missing; ``into`` is the file for them."""

    rules: tuple[PageRule, ...]
    unobservable: int
    nothing: str
    unread: str
    note: str
    proposals: tuple[Proposal, ...]
    proposals_note: str
    into: str


def page_rules(found: RuleList, advice: Advice, *, place_of: Mapping[str, int]) -> PageRules:
    """The rules of a project as the page has them; ``place_of`` are the places of sessions by episode."""
    return PageRules(
        rules=tuple(_rule(one, place_of) for one in found.rules),
        unobservable=found.unobservable,
        nothing=not_read(found.unread) or NOTHING_TO_SHOW,
        unread=not_read(found.unread),
        note=found.note,
        proposals=advice.proposals,
        proposals_note=advice.note,
        into=advice.into,
    )


def _rule(one: RuleRecord, place_of: Mapping[str, int]) -> PageRule:
    rule = one.rule
    missed = tuple(
        (place_of[it.episode], it.line, f"{it.what}: {it.why}" if it.why else it.what)
        for it in one.missed
        if it.episode in place_of
    )
    return copied(PageRule, one, id=rule.id, text=rule.text, since=rule.since, missed=missed)
