"""A session begins: a short briefing on what is known here. Nothing known, nothing said."""

from __future__ import annotations

import os
import time

from helix_cli.hooks.answering import noted
from helix_cli.hooks.detached import in_turn, leave
from helix_cli.hooks.pre_compact import point_of
from helix_cli.hooks.showing import shown_now
from helix_cli.hooks.text import Line, Section, block
from helix_graph.insights import quick
from helix_graph.plans.tables import has_active_plan
from helix_graph.prepared import is_prepared, prepare, prepared
from helix_graph.topics.quick import busiest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from helix_cli.hooks.call import Call
    from helix_cli.hooks.given import Given
    from helix_graph.prepared import AntiPattern

#: A briefing is read before anything is known of the task, so it holds little of each kind.
_INSIGHTS, _ANTI_PATTERNS, _TOPICS = 5, 3, 5
_HOT_SECONDS = 14 * 24 * 3600
#: What the agent had before it is gone from its context.
_EMPTIED = frozenset({"clear", "compact"})


def answer(call: Call, root: Path, given: Given) -> str:
    """The briefing."""
    if call.source in _EMPTIED:
        given.clear(point_of(call))
    if not is_prepared(root):
        leave(call.event, lambda: _prepare(root, call.event))
    return block(
        [
            Section("Proven in this project:", _proven(root, call, given)),
            Section("Kept failing in this project:", _anti_patterns(root, given)),
            Section("Open plan:", _plan(root, given)),
            Section("Topics with news (helix-graph topic brief NAME):", _topics(root, given)),
        ]
    )


def said(one: AntiPattern) -> str:
    """An anti-pattern in a sentence with its counts."""
    rate = "people noted it" if one.successes is None else f"succeeded {one.successes} of {one.occurrences} times"
    other = "" if one.others is None else f"; other answers {one.others:.0%} of {one.others_n}"
    return f"after '{one.trigger}': {one.action} ({rate}{other})"


def _prepare(root: Path, event: str) -> Iterator[bytes]:
    """Counts the anti-patterns, for the next beginning; first it says of which memory."""
    yield os.fsencode(root) + b"\n"
    with noted(root, event), in_turn(root):
        from helix_graph.memory import Memory  # noqa: PLC0415  (after the answer)

        prepare(root, Memory(root).causality)


def _proven(root: Path, call: Call, given: Given) -> list[Line]:
    return shown_now(root, quick.proven(root, _INSIGHTS), call=call, given=given, about=call.event)


def _anti_patterns(root: Path, given: Given) -> list[Line]:
    lines = {said(one): one for one in (prepared(root) or ())[:_ANTI_PATTERNS]}
    return [Line(line) for line in given.take(lines)]


def _plan(root: Path, given: Given) -> list[Line]:
    if not has_active_plan(root):
        return []
    from helix_graph.memory import Memory  # noqa: PLC0415  (most sessions begin without a plan)

    plans = Memory(root).plans
    plan, status = plans.load(), plans.status()
    if plan is None:  # it has ended since
        return []
    ready = ", ".join(f"{task.seq} {task.objective}" for task in plans.ready()[:_TOPICS])
    told = f"{plan.objective}: {status.complete} of {len(plan.tasks)} tasks complete, {status.blocked} blocked"
    return [Line(line) for line in given.take([f"{told}; ready: {ready}" if ready else told])]


def _topics(root: Path, given: Given) -> list[Line]:
    """The topics with the most entries of the last days."""
    hot = busiest(root, since=int(time.time()) - _HOT_SECONDS, limit=_TOPICS)
    return [Line(line) for line in given.take(f"{topic} ({entries})" for topic, entries in hot)]
