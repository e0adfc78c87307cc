r"""The prompt of a builder: the seeds' fields in the seeds' order, and what the memory adds between marks of its own.

What the memory adds (what parents delivered, insights, their names) stands between the marker lines of
`helix_episodes.echo`, so that no later extraction takes it for something that was said or done in this session. Every
text is made `harmless` first: it stays on its line and cannot pose as a field or a report.

>>> print(builder_prompt({"task_id": "001-w1", "objective": "Sell shoes"}))
TASK_ID: 001-w1
TASK: Sell shoes
OBJECTIVE: Sell shoes
<BLANKLINE>
<helix-graph-memory>
NO_PRIOR_MEMORY: Novel domain. Your INSIGHT output is especially valuable.
</helix-graph-memory>
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import orjson

from helix_episodes.echo import wrap
from helix_graph.insights.sanitizer import sanitize_line

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from helix_graph.plans.model import Remembered, Workspace

COLD_START = "NO_PRIOR_MEMORY: Novel domain. Your INSIGHT output is especially valuable."
#: What of a task goes where; what it lacks has no line.
_HEAD = ("task_id", "task", "objective", "verify")
_BOUNDS = ("delta", "budget", "framework", "required", "forbidden")
#: Effectiveness is given with three digits behind the point; a half of a percent is rounded up.
_THOUSAND, _HALF, _TEN = 1000, 5, 10


def insight_line(one: Remembered) -> str:
    """An insight as it is shown: its effectiveness in percent, rounded, and its text on one line.

    >>> from helix_graph.plans.model import Remembered
    >>> [insight_line(Remembered(name="x", content="c", effectiveness=e)) for e in (0.29, 0.57, 0.995)]
    ['[29%] c', '[57%] c', '[100%] c']
    """
    percent = (round(one.effectiveness * _THOUSAND) + _HALF) // _TEN
    return f"[{percent}%] {sanitize_line(one.content)}"


def injected_block(insights: Sequence[str], names: Sequence[str], deliveries: Sequence[str] = ()) -> str:
    """What the memory adds to a prompt, between its marks; without insights the seeds' line for a cold start."""
    told = [_list("PARENT_DELIVERIES:", deliveries)] if deliveries else []
    told.append(_list("INSIGHTS (from past experience):", insights) if insights else COLD_START)
    if names:
        told.append(f"INJECTED: {orjson.dumps([sanitize_line(name) for name in names]).decode()}")
    return wrap("\n\n".join(told), insights=names)


def builder_prompt(task: Mapping[str, Any], insights: Sequence[str] = (), names: Sequence[str] = ()) -> str:
    """The prompt for a task: its fields, then what the memory adds.

    ``task`` has ``task_id``, ``task``, ``objective``, ``verify``, ``warning`` and ``parent_deliveries`` (a text or a
    list), as in the seeds, and may have ``delta``, ``budget``, ``framework``, ``required`` and ``forbidden``. A task
    without an objective is its own. ``insights`` are lines of `insight_line`, ``names`` the insights' names.
    """
    objective = task.get("objective") or task.get("task") or ""
    known = {**task, "objective": objective, "task": task.get("task") or objective}
    blocks = ["\n".join(_fields(known, (*_HEAD, *_BOUNDS)))]
    if known.get("warning"):
        blocks.append("\n".join(_fields(known, ("warning",))))
    deliveries = [sanitize_line(one) for one in _listed(known.get("parent_deliveries"))]
    return "\n\n".join([*blocks, injected_block(insights, names, deliveries)])


def workspace_prompt(workspace: Workspace) -> str:
    """The prompt for the builder of a workspace."""
    remembered = (*workspace.failures, *workspace.patterns)
    task = {
        "task_id": workspace.task_id,
        "task": workspace.task_slug,
        "objective": workspace.objective,
        "verify": workspace.verify,
        "delta": ", ".join(workspace.delta),
        "budget": str(workspace.budget),
        "framework": workspace.framework,
        "required": "; ".join(workspace.idioms.get("required", ())),
        "forbidden": "; ".join(workspace.idioms.get("forbidden", ())),
        "parent_deliveries": [f"[{one.seq}] {one.delivered}" for one in workspace.lineage.parents],
    }
    return builder_prompt(task, [insight_line(one) for one in remembered], [one.name for one in remembered])


def _fields(task: Mapping[str, Any], names: Sequence[str]) -> Iterator[str]:
    for name in names:
        if task.get(name):
            yield f"{name.upper()}: {sanitize_line(str(task[name]))}"


def _list(heading: str, items: Sequence[str]) -> str:
    return "\n".join([heading, *(f"  - {item}" for item in items)])


def _listed(value: object) -> list[str]:
    if isinstance(value, str):
        return [line for line in value.splitlines() if line.strip()]
    return [str(one) for one in value] if isinstance(value, list | tuple) else []
