"""A session begins: a short briefing on what is known here. Nothing known, nothing said."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from helix_cli.hooks.detached import detach
from helix_cli.hooks.showing import shown_now
from helix_cli.hooks.text import Line, Section, block
from helix_graph.memory import Memory
from helix_graph.prepared import is_prepared, prepare, prepared

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from helix_cli.hooks.call import Call
    from helix_cli.hooks.given import Given
    from helix_graph.prepared import AntiPattern

#: A briefing is read before anything is known of the task, so it holds little of each kind.
_INSIGHTS, _ANTI_PATTERNS, _TOPICS = 5, 3, 5
_HOT_DAYS = 14
#: What the agent had before it is gone from its context.
_EMPTIED = frozenset({"clear", "compact"})


def answer(call: Call, root: Path, given: Given) -> str:
    """The briefing."""
    if call.source in _EMPTIED:
        given.clear()
    if not is_prepared(root):
        detach(root, call.event, lambda: _prepare(root))
    memory = Memory(root)
    return block(
        [
            Section("Proven in this project:", _proven(memory, call, given)),
            Section("Kept failing in this project:", _anti_patterns(root, given)),
            Section("Open plan:", _plan(memory, given)),
            Section("Topics with news (helix-graph topic brief NAME):", _topics(root, given)),
        ]
    )


def said(one: AntiPattern) -> str:
    """An anti-pattern in a sentence with its counts."""
    rate = "people noted it" if one.successes is None else f"succeeded {one.successes} of {one.occurrences} times"
    other = "" if one.others is None else f"; other answers {one.others:.0%} of {one.others_n}"
    return f"after '{one.trigger}': {one.action} ({rate}{other})"


def _prepare(root: Path) -> None:
    prepare(root, Memory(root).causality)


def _proven(memory: Memory, call: Call, given: Given) -> list[Line]:
    found = memory.insights.proven(_INSIGHTS)
    return shown_now(memory.insights, found, call=call, given=given, about=call.event)


def _anti_patterns(root: Path, given: Given) -> list[Line]:
    lines = {said(one): one for one in (prepared(root) or ())[:_ANTI_PATTERNS]}
    return [Line(line) for line in given.take(lines)]


def _plan(memory: Memory, given: Given) -> list[Line]:
    plan = memory.plans.load()
    if plan is None:
        return []
    status = memory.plans.status()
    ready = ", ".join(f"{task.seq} {task.objective}" for task in memory.plans.ready()[:_TOPICS])
    told = f"{plan.objective}: {status.complete} of {len(plan.tasks)} tasks complete, {status.blocked} blocked"
    return [Line(line) for line in given.take([f"{told}; ready: {ready}" if ready else told])]


def _topics(root: Path, given: Given) -> list[Line]:
    return [Line(line) for line in given.take(_hot(root))]


def _hot(root: Path) -> Iterator[str]:
    """The topics with the most entries of the last days."""
    from helix_graph.helix_db import HelixDatabase, database_path  # noqa: PLC0415  (only where there is a memory)
    from helix_graph.topics.catalogue import recent  # noqa: PLC0415  (the door loads every action)
    from helix_graph.topics.tables import TABLES  # noqa: PLC0415  (as above)

    since = datetime.now(UTC) - timedelta(days=_HOT_DAYS)
    with HelixDatabase(database_path(root), TABLES).reading() as connection:
        for one in recent(connection, int(since.timestamp())).topics[:_TOPICS]:
            yield f"{one.topic} ({one.entries})"
