"""Tasks that wait for each other: what is wrong with them, which are ready, in which waves they run, what is stuck.

>>> tasks = [Task(seq="001", slug="a", objective="a"), Task(seq="002", slug="b", objective="b", depends="001")]
>>> waves_of(tasks)
(('001',), ('002',))
>>> [task.seq for task in ready_among(tasks)]
['001']
"""

from __future__ import annotations

from collections import Counter
from graphlib import CycleError, TopologicalSorter
from typing import TYPE_CHECKING

from helix_graph.plans.model import InvalidPlan, PlanStatus, Task, Unreachable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from helix_graph.plans.model import PlanState


def check_dependencies(tasks: Sequence[Task]) -> None:
    """Refuses tasks that can never all be done.

    Raises:
        InvalidPlan: Two tasks have one number, a task waits for one that there is not, or tasks wait for each other.
    """
    places: dict[str, int] = {}
    for place, task in enumerate(tasks):
        if task.seq in places:
            problem = f"{task.seq!r} is the number of tasks[{places[task.seq]}] already"
            raise InvalidPlan(f"tasks[{place}].seq", problem=problem)
        places[task.seq] = place
    for place, task in enumerate(tasks):
        unknown = [parent for parent in task.parents if parent not in places]
        if unknown:
            problem = f"task {task.seq} waits for {', '.join(map(repr, unknown))}, which the plan does not have"
            raise InvalidPlan(f"tasks[{place}].depends", problem=problem)
    try:
        TopologicalSorter({task.seq: task.parents for task in tasks}).prepare()
    except CycleError as error:
        circle = error.args[1]
        raise InvalidPlan("tasks", problem=f"Cycle detected: {' -> '.join(circle)}") from error


def ready_among(tasks: Sequence[Task]) -> tuple[Task, ...]:
    """The pending tasks whose parents are all complete, in the plan's order."""
    done = {task.seq for task in tasks if task.status == "complete"}
    return tuple(task for task in tasks if task.status == "pending" and done.issuperset(task.parents))


def waves_of(tasks: Sequence[Task]) -> tuple[tuple[str, ...], ...]:
    """The numbers of all tasks in generations: each wave waits only for those before it. In the plan's order."""
    order = {task.seq: place for place, task in enumerate(tasks)}
    sorter = TopologicalSorter({task.seq: task.parents for task in tasks})
    sorter.prepare()
    waves = []
    while sorter.is_active():
        wave = sorter.get_ready()
        sorter.done(*wave)
        waves.append(tuple(sorted(wave, key=order.__getitem__)))
    return tuple(waves)


def status_of(tasks: Sequence[Task]) -> PlanStatus:
    """How far the tasks are, and what keeps the rest from being done."""
    counts: Counter[str] = Counter(task.status for task in tasks)
    ready = ready_among(tasks)
    unreachable = _unreachable(tasks)
    state = _state(counts, ready=len(ready), total=len(tasks))
    stalled = state in {"stuck", "all_blocked"}
    return PlanStatus(
        state=state,
        ready=len(ready),
        active=counts["active"],
        complete=counts["complete"],
        blocked=counts["blocked"],
        pending=counts["pending"],
        unreachable=unreachable,
        stalled=stalled,
        reason=_reason(tasks, unreachable) if stalled else "",
    )


def _state(counts: Counter[str], *, ready: int, total: int) -> PlanState:
    if counts["complete"] == total:
        return "complete"
    if ready or counts["active"]:
        return "in_progress"
    return "stuck" if counts["pending"] else "all_blocked"


def _unreachable(tasks: Sequence[Task]) -> tuple[Unreachable, ...]:
    """The pending tasks behind a blocked one. Parents come before their children in the waves."""
    by_seq = {task.seq: task for task in tasks}
    behind: dict[str, tuple[str, ...]] = {}
    for seq in (seq for wave in waves_of(tasks) for seq in wave):
        blockers: dict[str, None] = {}
        for parent in by_seq[seq].parents:
            blockers.update(dict.fromkeys((parent,) if by_seq[parent].status == "blocked" else behind[parent]))
        behind[seq] = tuple(blockers) if by_seq[seq].status == "pending" else ()
    return tuple(Unreachable(seq=task.seq, blocked_by=behind[task.seq]) for task in tasks if behind[task.seq])


def _reason(tasks: Sequence[Task], unreachable: tuple[Unreachable, ...]) -> str:
    blocked = [
        f"{task.seq} ({task.blocked_reason})" if task.blocked_reason else task.seq
        for task in tasks
        if task.status == "blocked"
    ]
    waiting = f"; {', '.join(one.seq for one in unreachable)} wait for them" if unreachable else ""
    return f"blocked: {', '.join(blocked)}{waiting}"
