"""Plans as a planner passes them in: checked part by part and completed; and deltas, the files that a task may change.

A plan is refused as a whole, with the offending part named, rather than repaired: a plan whose dependency was misspelt
and dropped would run its tasks in the wrong order. So an unknown field of a task is refused as well.

>>> draft_of({"objective": "Sell", "tasks": [{"objective": "Build the cart"}]}).tasks[0].seq
'001'

A delta names files, folders, or patterns, relative to the tree's root: ``src/auth.py``, ``tests``, ``src/**/*.py``. A
star stays within a folder; two of them reach into any depth. Brackets are literal, since file names have them.

>>> [within("src/**/*.py", path) for path in ("src/app.py", "src/a/b.py", "src/app.js", "lib/src/app.py")]
[True, True, False, False]
>>> [within("./src//auth/", path) for path in ("src/auth/app.py", "src2/auth/app.py")]
[True, False]
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from helix_graph.errors import EmptyText, GraphError
from helix_graph.plans.dag import check_dependencies
from helix_graph.plans.handoff_files import is_file_name
from helix_graph.plans.model import DEFAULT_BUDGET, NO_PARENTS, TASK_STATUSES, InvalidPlan, Task, parents_in
from helix_graph.validation import as_choice, as_int, as_line, as_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from helix_graph.plans.git_tree import TreeChange


_SPECIAL = re.compile(r"\*\*/|\*\*|\*|\?")
_MEANING = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
_ABSOLUTE = re.compile(r"[/\\]|[A-Za-z]:[/\\]")
_SLASHES = re.compile(r"[/\\]")


def outside(delta: Iterable[str], changes: Iterable[TreeChange]) -> tuple[str, ...]:
    """The changed files that no part of the delta names."""
    allowed = tuple(delta)
    return tuple(one.path for one in changes if not any(within(part, one.path) for part in allowed))


def within(part: str, path: str) -> bool:
    """Whether a part of a delta names a file, or a folder that it lies in."""
    return _expression(part).fullmatch(path) is not None


def never_matches(part: str) -> str:
    r"""Why a part of a delta can name no file of any working tree; empty when it can.

    >>> never_matches("src/auth.py"), never_matches("src/..auth.py")
    ('', '')
    >>> never_matches("C:\\shop")
    'is absolute; name files from the root of the working tree on'
    """
    if _ABSOLUTE.match(part):
        return "is absolute; name files from the root of the working tree on"
    if ".." in _SLASHES.split(part):
        return "has '..' in it; name files from the root of the working tree on"
    return ""


@lru_cache(maxsize=256)
def _expression(part: str) -> re.Pattern[str]:
    plain = "/".join(name for name in _SLASHES.split(part) if name not in {"", "."})
    if not plain:
        return re.compile(".*", re.DOTALL)
    pieces, at = [], 0
    for special in _SPECIAL.finditer(plain):
        pieces += [re.escape(plain[at : special.start()]), _MEANING[special[0]]]
        at = special.end()
    return re.compile("".join([*pieces, re.escape(plain[at:]), "(?:/.*)?"]), re.DOTALL)


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
    """One task; ``place`` is where it stands in its plan, from 0.

    Raises:
        InvalidPlan: A part is missing, unknown or of the wrong kind.
    """
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
        budget=_budget(raw.get("budget"), f"{where}.budget"),
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
    except GraphError as error:
        raise InvalidPlan(where, problem=str(error)) from error


def _seq(raw: object, where: str) -> str:
    seq = str(raw) if isinstance(raw, int) and not isinstance(raw, bool) else raw
    if not isinstance(seq, str) or not is_file_name(seq) or len(seq) > _LONGEST_SEQ or seq == NO_PARENTS:
        problem = f"{raw!r} is no task number; use letters, digits, '.', '_' and '-', at most {_LONGEST_SEQ} of them"
        raise InvalidPlan(f"{where}.seq", problem=problem)
    return seq


def _depends(raw: object, where: str) -> str:
    parts = raw if isinstance(raw, list | tuple) else [raw]
    if not all(part is None or isinstance(part, str | int) for part in parts):
        raise InvalidPlan(where, problem="must be 'none' or task numbers with commas between them")
    parents = [seq for part in parts if part is not None for seq in parents_in(str(part))]
    return ",".join(dict.fromkeys(parents)) or NO_PARENTS


def _budget(raw: object, where: str) -> int:
    if raw is None:
        return DEFAULT_BUDGET
    return _checked(lambda: as_int("budget", raw, lowest=1, highest=MOST_CALLS), where)  # type: ignore[arg-type]  # the check's work


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
    except GraphError as error:
        raise InvalidPlan(where, problem=str(error).removeprefix(f"{where} ")) from error


def _path(option: str, value: str) -> str:
    """A file's name as it is, blanks and line breaks included.

    Raises:
        EmptyText: There is nothing in it.
    """
    path = as_text(option, value)
    if not path.strip():
        raise EmptyText(option)
    return path
