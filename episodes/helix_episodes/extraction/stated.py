"""Stated decisions: those that the log spells out, taken whole.

An approved plan and an answered question come from the reader as ``decision`` steps. In messages a decision is taken
only where the writer says that it is one: after ``Decision:`` or as an item under a heading such as "Decisions made".
Words like "chose" in running prose make none.
"""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING

from helix_episodes.extraction.choices import reason_in
from helix_episodes.extraction.evidence import evidence_of, timestamp_of
from helix_episodes.extraction.marked import marked_items
from helix_episodes.extraction.words import line
from helix_episodes.model import Action, Decision

if TYPE_CHECKING:
    from collections.abc import Iterator

    from helix_episodes.session import Step

#: A message that marks more than this is a listing, not a set of decisions.
_MOST = 50
_LABELLED = re.compile(r"^\s*(?:[-*+]\s+)?(?:\*\*|__)?decision(?:\*\*|__)?\s*:\s*(?:\*\*|__)?\s*(.+)$", re.IGNORECASE)
_HEADING = re.compile(
    r"^\s*(?:#{1,6}\s+|\*\*)(?:key |design |technical |main )?decisions?(?: made| taken)?\s*:?\s*(?:\*\*)?\s*:?\s*$",
    re.IGNORECASE,
)
_REASON = re.compile(r"\s+(?:because|since|so that|\u2014|-)\s+", re.IGNORECASE)


def stated_in(step: Step, *, context: str) -> Iterator[Decision]:
    """The decisions that a message or a ``decision`` step states."""
    if step.kind == "decision":
        yield _from_step(step, context=context)
    else:
        marked = marked_items(step.text, label=_LABELLED, heading=_HEADING) if "ecision" in step.text else iter(())
        for chosen in islice(marked, _MOST):
            yield _from_words(step, chosen, context=context)


def _from_step(step: Step, *, context: str) -> Decision:
    given = step.arguments
    rationale, options = reasons_of(step)
    return Decision(
        id="",
        timestamp=timestamp_of(step),
        type="design",
        context=line(str(given.get("context") or context)),
        chosen=line(step.text),
        rationale=line(rationale),
        options=tuple(line(option) for option in options),
        outcome=given.get("outcome") or "unknown",
        stated=True,
        action=Action(verb="choose", object=line(step.text, limit=80)),
        actor=step.actor,
        evidence=evidence_of(step, step.text),
    )


def reasons_of(step: Step) -> tuple[str, tuple[str, ...]]:
    """Why a stated decision was taken, and over what: as the log keeps it, else as the decision's own words say."""
    rationale = str(step.arguments.get("rationale") or "")
    options = tuple(str(option) for option in step.arguments.get("options") or ())
    spelled = reason_in(step.text) if not rationale else None
    return (spelled.rationale, options or spelled.options) if spelled else (rationale, options)


def _from_words(step: Step, words: str, *, context: str) -> Decision:
    chosen, _, reason = _split(re.sub(r"[*`_]{1,3}", "", words))
    return Decision(
        id="",
        timestamp=timestamp_of(step),
        type="design",
        context=context,
        chosen=line(chosen),
        rationale=line(reason),
        stated=True,
        action=Action(verb="choose", object=line(chosen, limit=80)),
        actor=step.actor,
        evidence=evidence_of(step, words),
    )


def _split(words: str) -> tuple[str, str, str]:
    match = _REASON.search(words)
    return (words[: match.start()], match.group(), words[match.end() :]) if match else (words, "", "")
