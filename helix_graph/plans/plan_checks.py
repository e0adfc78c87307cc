"""Plans as a planner passes them in: checked part by part and completed, and tasks that wait for each other.

A plan is refused as a whole, with the offending part named, rather than repaired: a plan whose dependency was misspelt
and dropped would run its tasks in the wrong order. So an unknown field of a task is refused as well.

>>> draft_of({"objective": "Sell", "tasks": [{"objective": "Build the cart"}]}).tasks[0].seq
'001'

A task is ready when all that it waits for is complete; a wave holds the tasks that wait for earlier waves only.

>>> tasks = [Task(seq="001", slug="a", objective="a"), Task(seq="002", slug="b", objective="b", depends="001")]
>>> waves_of(tasks)
(('001',), ('002',))
>>> [task.seq for task in ready_among(tasks)]
['001']
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from graphlib import CycleError, TopologicalSorter
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from helix_episodes.errors import InvalidArgument
from helix_graph.errors import NO_TEXT
from helix_graph.plans.git_tree import never_matches
from helix_graph.plans.handoff_files import is_file_name
from helix_graph.plans.model import (
    DEFAULT_BUDGET,
    NO_PARENTS,
    TASK_STATUSES,
    InvalidPlan,
    PlanStatus,
    Task,
    Unreachable,
    parents_in,
)
from helix_graph.validation import as_choice, as_int, as_line, as_text

if TYPE_CHECKING:
    from helix_graph.plans.model import PlanState


#: A builder of the seeds has 5 to 9 tool calls; other orchestrators give more, none gives a thousand.
MOST_CALLS = 999
_PLAN_FIELDS = ("objective", "framework", "idioms", "tasks")
_TASK_FIELDS = tuple(field.name for field in msgspec.structs.fields(Task))
#: A number is part of the task's id, which names files; it has no comma, which separates dependencies.
_LONGEST_SEQ = 32
_Part = TypeVar("_Part")
_NOT_IN_SLUG = re.compile(r"[^a-z0-9]+")
_LONGEST_SLUG = 50


class PlanDraft(msgspec.Struct, frozen=True, kw_only=True):
    """A plan that has no number yet."""

    objective: str
    framework: str | None = None
    idioms: dict[str, tuple[str, ...]] = msgspec.field(default_factory=dict)
    tasks: tuple[Task, ...] = ()


def draft_of(raw: Mapping[str, Any]) -> PlanDraft:
    """The plan that was handed in, without secrets.

    Raises:
        InvalidPlan: A part is missing, unknown, of the wrong kind, or tasks wait for each other in a circle.
    """
    _known(raw, _PLAN_FIELDS, where="the plan")
    raw_items = raw.get("tasks")
    if not isinstance(raw_items, list | tuple) or not raw_items:
        raise InvalidPlan("tasks", problem="there are none; give a list of at least one task")
    tasks = tuple(task_of(task, place) for place, task in enumerate(raw_items))
    check_dependencies(tasks)
    framework = raw.get("framework")
    return PlanDraft(
        objective=_part("objective", raw, as_line),
        framework=None if framework is None else _part("framework", raw, as_text),
        idioms=idioms_of(raw.get("idioms") or {}),
        tasks=tasks,
    )


def task_of(raw: Mapping[str, Any], place: int = 0) -> Task:
    """One task; ``place`` is where it is in its plan, from 0."""
    where = f"tasks[{place}]"
    _known(raw, _TASK_FIELDS, where=where)
    objective = _part("objective", raw, as_line, where=where)
    seq = _seq(raw.get("seq", f"{place + 1:03d}"), where)
    return Task(
        seq=seq,
        slug=_part("slug", raw, as_line, where=where) if raw.get("slug") else slug_of(objective) or f"task-{place + 1}",
        objective=objective,
        delta=_delta(raw.get("delta") or (), f"{where}.delta"),
        verify=_part("verify", raw, as_text, where=where) if raw.get("verify") else "",
        depends=_depends(raw.get("depends"), f"{where}.depends"),
        budget=DEFAULT_BUDGET
        if raw.get("budget") is None
        else _checked(lambda: as_int("budget", raw["budget"], lowest=1, highest=MOST_CALLS), f"{where}.budget"),
        status=_checked(lambda: as_choice("status", raw.get("status") or "pending", TASK_STATUSES), f"{where}.status"),
    )


def idioms_of(raw: object) -> dict[str, tuple[str, ...]]:
    """What is required and what is forbidden, as lists of sentences under those names.

    Raises:
        InvalidPlan: It is no object of lists.
    """
    if not isinstance(raw, dict):
        raise InvalidPlan("idioms", problem='must be an object such as {"required": [...], "forbidden": [...]}')
    return {_string(name, "idioms"): _texts(rules, f"idioms.{name}") for name, rules in raw.items()}


def slug_of(sentence: str) -> str:
    """A readable name for a sentence, perhaps empty.

    >>> slug_of("Implement JWT authentication!")
    'implement-jwt-authentication'
    """
    return _NOT_IN_SLUG.sub("-", sentence[:_LONGEST_SLUG].lower()).strip("-")


def _known(raw: object, fields: tuple[str, ...], *, where: str) -> None:
    if not isinstance(raw, dict):
        raise InvalidPlan(where, problem=f"must be an object, and is of type {type(raw).__name__}")
    unknown = sorted(str(key) for key in raw if key not in fields)
    if unknown:
        raise InvalidPlan(
            where, problem=f"{', '.join(map(repr, unknown))}: no such field; there are {', '.join(fields)}"
        )


def _part(name: str, raw: Mapping[str, Any], check: Callable[[str, str], str], *, where: str = "") -> str:
    place = f"{where}.{name}" if where else name
    if name not in raw:
        raise InvalidPlan(place, problem="is missing")
    return _checked(lambda: check(name, raw[name]), place)


def _checked(check: Callable[[], _Part], where: str) -> _Part:
    try:
        return check()
    except InvalidArgument as error:
        raise InvalidPlan(where, problem=str(error)) from error


def _seq(raw: object, where: str) -> str:
    seq = str(raw) if isinstance(raw, int) and not isinstance(raw, bool) else raw
    if not isinstance(seq, str) or not is_file_name(seq) or len(seq) > _LONGEST_SEQ or seq == NO_PARENTS:
        problem = f"{raw!r} is not a task number; use letters, digits, '.', '_' and '-', at most {_LONGEST_SEQ} of them"
        raise InvalidPlan(f"{where}.seq", problem=problem)
    return seq


def _depends(raw: object, where: str) -> str:
    parts = raw if isinstance(raw, list | tuple) else [raw]
    if not all(part is None or isinstance(part, str | int) for part in parts):
        raise InvalidPlan(where, problem="must be 'none' or task numbers with commas between them")
    parents = [seq for part in parts if part is not None for seq in parents_in(str(part))]
    return ",".join(dict.fromkeys(parents)) or NO_PARENTS


def _delta(raw: object, where: str) -> tuple[str, ...]:
    parts = _texts(raw, where, _path)
    for place, part in enumerate(parts):
        problem = never_matches(part)
        if problem:
            raise InvalidPlan(f"{where}[{place}]", problem=f"{part!r} {problem}")
    return parts


def _texts(raw: object, where: str, check: Callable[[str, str], str] = as_line) -> tuple[str, ...]:
    raw_items = [raw] if isinstance(raw, str) else raw
    if not isinstance(raw_items, list | tuple):
        raise InvalidPlan(where, problem=f"must be a list of texts, and is of type {type(raw).__name__}")
    return tuple(_string(one, where, check) for one in raw_items)


def _string(raw: Any, where: str, check: Callable[[str, str], str] = as_line) -> str:  # noqa: ANN401  (JSON, checked here)
    try:
        return check(where, raw)
    except InvalidArgument as error:
        raise InvalidPlan(where, problem=str(error).removeprefix(f"{where} ")) from error


def _path(option: str, value: str) -> str:
    """A file's name as it is, blanks and line breaks included.

    Raises:
        InvalidArgument: There is nothing in it.
    """
    path = as_text(option, value)
    if not path.strip():
        raise InvalidArgument(option, NO_TEXT)
    return path


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
    state: PlanState = "stuck" if counts["pending"] else "all_blocked"
    if counts["complete"] == len(tasks):
        state = "complete"
    elif ready or counts["active"]:
        state = "in_progress"
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
