"""Insights for prompts: which fit an objective, the record of who got what, and the prompt of a builder.

In a session no insight is given twice. Two processes that inject at once must not both give the same insight, so a
name is *taken* in one transaction that says whether another process was faster; then the next best is used. Where it
is known which tasks are still to come (the others of a batch, or the pending ones of the plan), what fits one of them
better is left for it: otherwise what was learnt from a blocked task would go to whichever task asks first.

A prompt has the seeds' fields in the seeds' order. What the memory adds (what parents delivered, insights, their names)
is between the marker lines of `helix_episodes.echo`, so that no later extraction takes it for something that was said
or done in this session. Every text is sanitized first: it stays on its line and cannot pose as a field or a report.

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

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
import orjson

from helix_episodes.echo import wrap
from helix_episodes.errors import InvalidArgument
from helix_episodes.redaction import for_disk
from helix_graph.helix_db import stamp, utc_now
from helix_graph.insights.recall import RecallAnswer
from helix_graph.insights.safe_quoting import own_or_quoted, sanitize_line
from helix_graph.plans.handoff_files import HandoffFiles, InjectionState, file_name
from helix_graph.plans.model import Remembered, Workspace
from helix_graph.plans.schema import PlanContext, database
from helix_graph.validation import as_int, as_line, as_str, as_tuple

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
    return f"[{percent}%] {own_or_quoted(one.content, said_by=one.said_by)}"


def injected_block(insights: Sequence[str], names: Sequence[str], deliveries: Sequence[str] = ()) -> str:
    """What the memory adds to a prompt, between its marks; without insights the seeds' line for a cold start."""
    blocks = [_list("PARENT_DELIVERIES:", deliveries)] if deliveries else []
    blocks.append(_list("INSIGHTS (from past experience):", insights) if insights else COLD_START)
    if names:
        blocks.append(f"INJECTED: {orjson.dumps([sanitize_line(name) for name in names]).decode()}")
    return wrap("\n\n".join(blocks), insights=names)


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


class InjectedNames:
    """The insights that were given: in a session, by whatever process; without a session, within one call."""

    def __init__(self, root: Path, session: str | None) -> None:
        self._database = database(root)
        self._session = None if session is None else for_disk(as_str("session", session))
        self._names: set[str] = set()

    def names(self) -> tuple[str, ...]:
        """All of them, sorted."""
        if self._session is None:
            return tuple(sorted(self._names))
        with self._database.reading() as connection:
            rows = connection.execute("SELECT name FROM injected WHERE session = ? ORDER BY name", (self._session,))
            return tuple(name for (name,) in rows)

    def take(self, names: Sequence[str]) -> tuple[str, ...]:
        """Those of the names that had not been given; from now on they have."""
        wanted = tuple(dict.fromkeys(names))
        if self._session is None:
            fresh = tuple(name for name in wanted if name not in self._names)
            self._names.update(fresh)
            return fresh
        insert, at = "INSERT OR IGNORE INTO injected VALUES (?, ?, ?)", stamp(utc_now())
        with self._database.writing() as connection:
            return tuple(name for name in wanted if connection.execute(insert, (self._session, name, at)).rowcount == 1)

    def reset(self) -> int:
        """Forgets what the session was given; returns how many insights that were."""
        with self._database.writing() as connection:
            return connection.execute("DELETE FROM injected WHERE session = ?", (self._session,)).rowcount


#: How many insights a task is given, as in the seeds.
DEFAULT_LIMIT = 5
MOST = 100


class PromptInjection(msgspec.Struct, frozen=True, kw_only=True):
    """What a prompt is given: the insights as lines, ``[72%] When X …``, and their names in the same order."""

    insights: tuple[str, ...] = ()
    names: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The whole block to put into a prompt, between the marks by which it is never learnt again."""
        return injected_block(self.insights, self.names)


class BatchInjection(msgspec.Struct, frozen=True, kw_only=True):
    """What the tasks of a wave are given, one after the other, and how many insights that are."""

    results: tuple[PromptInjection, ...] = ()
    total_unique: int = 0


def inject(  # noqa: PLR0913  (the method's options)
    context: PlanContext,
    objective: str,
    limit: int = DEFAULT_LIMIT,
    task_id: str | None = None,
    *,
    min_relevance: float | None = None,
    diversify: bool = True,
    session: str | None = None,
) -> PromptInjection:
    """The insights for the prompt of one task.

    Args:
        context: The plans of a memory.
        objective: What the task is to do.
        limit: How many insights at most, 0 to 100.
        task_id: Then ``injection-state/{task_id}.json`` says what the task was shown.
        min_relevance: As for recall.
        diversify: Leave out what the session was given already.
        session: The session's name; without one nothing outlives the call.

    Raises:
        InvalidArgument: There is nothing in the objective. The task's id could lead elsewhere. The limit is not within
            its range.
    """
    injected = InjectedNames(context.root, session) if diversify else None
    return _inject(
        context,
        as_line("objective", objective),
        injected,
        limit=_limit(limit),
        task_id="" if task_id is None else file_name("task_id", task_id),  # refused before anything is handed out
        session=session,
        min_relevance=min_relevance,
    )


def batch_inject(
    context: PlanContext,
    tasks: Sequence[str],
    limit: int = DEFAULT_LIMIT,
    task_ids: Sequence[str] = (),
    *,
    session: str | None = None,
    reset: bool = False,
) -> BatchInjection:
    """The insights for the prompts of a wave of tasks, none of them twice.

    Args:
        context: The plans of a memory.
        tasks: The objectives.
        limit: How many insights a task at most.
        task_ids: The tasks' ids in the same order; tasks beyond the last one leave no hand-off file.
        session: As for `inject`.
        reset: First let the session be given everything again: another wave.

    Raises:
        InvalidArgument: There is nothing in an objective. An id is empty or stands twice, or there are more than tasks;
            then nothing is injected. An id could lead elsewhere; the same holds.
    """
    objectives = [as_line("tasks", task) for task in as_tuple("tasks", tasks)]
    ids = _ids_of(as_tuple("task_ids", task_ids), tasks=len(objectives))
    injected, most = InjectedNames(context.root, session), _limit(limit)
    if reset and session is not None:
        injected.reset()
    fits = [_fits(context, [one], limit=most, injected=injected) for one in objectives[1:]]
    results = tuple(
        _inject(
            context,
            objective,
            injected,
            limit=most,
            task_id=task_id,
            session=session,
            left=_best_of(pair for one in fits[place:] for pair in one.items()),
        )
        for place, (objective, task_id) in enumerate(zip(objectives, ids, strict=True))
    )
    return BatchInjection(results=results, total_unique=len({name for one in results for name in one.names}))


def choose_for_workspace(
    context: PlanContext, objective: str, *, limit: int, session: str | None, to_come: Sequence[str]
) -> RecallAnswer:
    """The insights for a workspace, best first; they are shown once its task has an id.

    ``to_come`` are the objectives of other tasks that will be given theirs in the same session.
    """
    injected = InjectedNames(context.root, session) if session else None
    left = _fits(context, to_come, limit=limit, injected=injected) if injected else {}
    return _rows(context, objective, injected, limit=limit, left=left)


def show_to_task(
    context: PlanContext, chosen: RecallAnswer, *, about: str, task_id: str, session: str | None
) -> list[Mapping[str, Any]]:
    """Those of the chosen insights that the task is shown once some were withheld at random.

    A withheld one is not replaced by the next, or the two groups would differ in two insights.
    """
    names = [str(row["name"]) for row in chosen]
    handed = context.insights.hand_over(
        names, task=task_id, session=session or "", about=about, passed_over=chosen.passed_over
    )
    return [row for row in chosen if row["name"] in handed.shown]


def _inject(  # noqa: PLR0913  (for what, how many, and who gets them)
    context: PlanContext,
    objective: str,
    injected: InjectedNames | None,
    *,
    limit: int,
    task_id: str,
    session: str | None,
    min_relevance: float | None = None,
    left: Mapping[str, float] = {},
) -> PromptInjection:
    rows = _rows(context, objective, injected, limit=limit, left=left, min_relevance=min_relevance)
    found = [remembered(row) for row in show_to_task(context, rows, about=objective, task_id=task_id, session=session)]
    names = tuple(one.name for one in found)
    if task_id:
        state = InjectionState(task_id=task_id, query=objective, names=names, ts=stamp(utc_now()))
        HandoffFiles(context.root).write_state(state)
    return PromptInjection(insights=tuple(map(insight_line, found)), names=names)


def _fits(context: PlanContext, objectives: Sequence[str], *, limit: int, injected: InjectedNames) -> dict[str, float]:
    """Of each insight that one of these tasks would be given, how well it fits the one that it fits best."""
    known = injected.names()
    recalled = (context.insights.recall(one, limit=limit, suppress_names=known) for one in objectives)
    return _best_of((str(row["name"]), _relevance(row)) for rows in recalled for row in rows)


def _rows(
    context: PlanContext,
    objective: str,
    injected: InjectedNames | None,
    *,
    limit: int,
    left: Mapping[str, float],
    min_relevance: float | None = None,
) -> RecallAnswer:
    """The best that nobody else was given; what another process takes meanwhile is made up for by the next best.

    What fits another task better, as ``left`` has it, is left for that.
    """
    options: dict[str, Any] = {} if min_relevance is None else {"min_relevance": min_relevance}
    if injected is None:
        return context.insights.recall(objective, limit=limit, **options)
    chosen = RecallAnswer()
    elsewhere: set[str] = set()
    while len(chosen) < limit:
        known = (*injected.names(), *sorted(elsewhere))
        count = limit - len(chosen)
        rows = context.insights.recall(objective, limit=count, suppress_names=known, **options)
        chosen.passed_over = rows.passed_over
        fresh = {str(row["name"]): row for row in rows if row["name"] not in known}
        if not fresh:
            break
        better = {name for name, row in fresh.items() if left.get(name, 0.0) > _relevance(row)}
        elsewhere |= better
        chosen += [fresh[name] for name in injected.take([name for name in fresh if name not in better])]
    return chosen


def _wrong_ids(problem: str) -> InvalidArgument:
    """What to raise where an id would fall to the wrong task, or to none."""
    return InvalidArgument("task_ids", f"{problem}; give each task a distinct id, in the order of the tasks")


def _ids_of(ids: Sequence[str], *, tasks: int) -> list[str]:
    """An id for each task, empty for those beyond the last.

    Raises:
        InvalidArgument: One is empty or stands twice, or there are more than tasks. One could lead elsewhere.
    """
    for place, one in enumerate(ids):
        if one == "":
            raise _wrong_ids(f"is empty for task {place + 1}")
        if one in ids[:place]:
            raise _wrong_ids(f"names {one!r} twice")
    if len(ids) > tasks:
        raise _wrong_ids(f"has {len(ids)} ids for {tasks} task{'' if tasks == 1 else 's'}")
    return [*(file_name("task_ids", one) for one in ids), *[""] * (tasks - len(ids))]


def _best_of(fits: Iterable[tuple[str, float]]) -> dict[str, float]:
    return dict(sorted(fits, key=lambda one: one[1]))


def _relevance(row: Mapping[str, Any]) -> float:
    return float(row.get("_relevance", 0.0))


def remembered(row: Mapping[str, Any]) -> Remembered:
    """A recalled insight as a prompt shows it."""
    effectiveness = row.get("_effectiveness", row.get("effectiveness", 0.5))
    return Remembered(
        name=str(row["name"]),
        content=str(row["content"]),
        effectiveness=float(effectiveness),
        said_by=str(row.get("_said_by", "")),
    )


def _limit(limit: int) -> int:
    return as_int("limit", limit, lowest=0, highest=MOST)
