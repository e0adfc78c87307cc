"""How a session is shown step by step: what was done and met, what led to what, which steps to look at first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from helix_cli.output import fields, say, tree
from helix_cli.terminal.pieces import Branch, Word, leaf, quiet, strong, verdict

if TYPE_CHECKING:
    from collections.abc import Iterator

    from helix_cli.terminal.pieces import Part
    from helix_graph.view.model import PageStep, PageTimeline


def render_steps(found: PageTimeline) -> None:
    """Print the session, then a branch for each step, in the order of the log, with what it led to below it."""
    outcome = f"{found.outcome} ({found.rule})" if found.rule else found.outcome
    fields([("episode", found.episode), ("outcome", Word(outcome, verdict(found.outcome).tone))])
    say()
    tree(Branch((strong(found.task),), tuple(map(_step, found.steps))))
    say()
    say(found.sentence or "A suspect is a place to look, no verdict.")


def _step(step: PageStep) -> Branch:
    links = (leaf("-> ", target, quiet(f" ({kind}, {reason})")) for target, kind, reason in step.leads_to)
    return Branch((f"{step.id}  ", strong(step.text), "  ", *_marks(step)), tuple(links), indent=6)


def _marks(step: PageStep) -> Iterator[Part]:
    place = f"line {step.line}; " if step.line else ""
    yield from (quiet(f"({place}"), verdict(step.how), quiet(")"))
    if step.suspect:
        yield Word(f"  suspect {step.suspect.rank}", "bad")
