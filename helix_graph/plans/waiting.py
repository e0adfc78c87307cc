"""Waiting for agents by their files, so that whoever waits reads none of what they wrote.

Only this wave counts: of builders the lines since their tasks last got insights (the hand-off file says when), of
explorers the files since the last exploration was saved; ``since`` and ids override that. A file that is no JSON may be
half written: it is read again until the timeout, and then named.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import orjson

from helix_episodes.errors import InvalidArgument
from helix_episodes.safe_files import read_regular
from helix_graph.errors import NO_TEXT
from helix_graph.helix_db import parse_stamp
from helix_graph.plans.handoff_files import HandoffFiles, file_name
from helix_graph.plans.store import Explorations
from helix_graph.validation import as_datetime, as_float, as_int, as_tuple

if TYPE_CHECKING:
    from helix_graph.plans.schema import PlanContext

#: How long agents are waited for, and the time between two looks, in seconds: the seeds' own.
TIMEOUT, POLL_INTERVAL = 300.0, 2.0
_LONGEST, _SHORTEST_POLL = 86_400.0, 0.01
_MOST_EXPLORERS = 10_000

#: A file's time is the kernel's clock, which stands still between two of its ticks: up to 10 ms (at 100 Hz).
_TICK = timedelta(milliseconds=10)

_KNOWN_OUTCOMES = ("delivered", "blocked", "plan_complete", "crashed")

Entry = dict[str, Any]


class BuildersWait(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How a wave of builders came out, in the seeds' form; of a wait that timed out only who is missing."""

    completed: bool
    timed_out: bool = False
    count: int | None = None
    delivered: list[Entry] | None = None
    blocked: list[Entry] | None = None
    plan_complete: list[Entry] | None = None
    crashed: list[Entry] | None = None
    unknown: list[Entry] | None = None
    all_delivered: bool | None = None
    insights_emitted: int | None = None
    found: list[str] | None = None
    missing: list[str] | None = None
    expected: list[str] | None = None

    @property
    def succeeded(self) -> bool:
        """Whether everybody delivered, or completed the plan."""
        return self.completed and not (self.blocked or self.crashed or self.unknown)


class ExplorersWait(msgspec.Struct, frozen=True, kw_only=True):
    """What a wave of explorers found, in the seeds' form.

    ``count`` are the explorers that are done: a file that is no JSON is not counted. ``errors`` names files that hold
    no result, after a timeout also those that are no JSON yet.
    """

    completed: bool
    timed_out: bool = False
    count: int
    expected: int
    findings: list[Any]
    errors: list[str] | None

    @property
    def succeeded(self) -> bool:
        """Whether all are there, and each of them holds a result."""
        return self.completed and not self.errors


def wait_builders(
    context: PlanContext,
    task_ids: Sequence[str],
    *,
    timeout: float = TIMEOUT,
    poll_interval: float = POLL_INTERVAL,
    since: date | None = None,
) -> BuildersWait:
    """Waits until each of these tasks has ended, however.

    Args:
        context: The plans of a memory.
        task_ids: What the tasks' prompts call them.
        timeout: In seconds; 0 looks once.
        poll_interval: Seconds from one look to the next.
        since: Only what ended from then on; when not given, for each task since it was given insights.

    Raises:
        InvalidArgument: There is no id. A number of seconds is not within a day.
    """
    files = HandoffFiles(context.root)
    expected = _ids(task_ids)
    start = as_datetime("since", since)
    found: dict[str, Entry] = {}

    def look() -> bool:
        found.clear()
        found.update(_ended(files, expected, start))
        return len(found) == len(expected)

    if not _poll(look, timeout=timeout, poll_interval=poll_interval):
        return BuildersWait(
            completed=False,
            timed_out=True,
            found=[one for one in expected if one in found],
            missing=[one for one in expected if one not in found],
            expected=expected,
        )
    return _came_out([found[one] for one in expected])


def wait_explorers(
    context: PlanContext,
    count: int,
    *,
    timeout: float = TIMEOUT,
    poll_interval: float = POLL_INTERVAL,
    since: date | None = None,
    agent_ids: Sequence[str] = (),
) -> ExplorersWait:
    """Waits until so many explorers have left their results.

    Args:
        context: The plans of a memory.
        count: How many.
        timeout: In seconds; 0 looks once.
        poll_interval: Seconds from one look to the next.
        since: Only results from then on; when not given, since the last exploration was saved.
        agent_ids: Only the results of these.

    Raises:
        InvalidArgument: The count is not positive, or a number of seconds not within a day. An agent's id could lead
            elsewhere.
    """
    number = as_int("count", count, lowest=1, highest=_MOST_EXPLORERS)
    names = {f"{file_name('agent_ids', one)}.json" for one in as_tuple("agent_ids", agent_ids)}
    saved = Explorations(context.root).last_saved()
    last_saved = parse_stamp(saved) if saved else None
    wave = _Wave(HandoffFiles(context.root), since=as_datetime("since", since) or last_saved, names=names)
    completed = _poll(lambda: wave.look() >= number, timeout=timeout, poll_interval=poll_interval)
    return ExplorersWait(
        completed=completed,
        timed_out=not completed,
        count=wave.done,
        expected=number,
        findings=wave.findings(),
        errors=wave.errors(late=not completed) or None,
    )


class _Wave:
    """The results of one wave of explorers, looked at again and again."""

    def __init__(self, files: HandoffFiles, *, since: datetime | None, names: set[str]) -> None:
        self._files = files
        self._since = since
        self._names = names
        self._results: dict[str, Entry] = {}
        self._broken: dict[str, str] = {}
        self._half: dict[str, str] = {}

    def look(self) -> int:
        """How many explorers are done by now."""
        self._results, self._broken, self._half = {}, {}, {}
        for path in self._files.result_files():
            if self._counts(path):
                self._take(path)
        return self.done

    @property
    def done(self) -> int:
        """How many were done when last looked at, whatever they left."""
        return len(self._results) + len(self._broken)

    def errors(self, *, late: bool) -> list[str]:
        """The files that held no result when last looked at, and why; ``late``: also those that may be half written."""
        found = {**self._broken, **self._half} if late else self._broken
        return [f"{name}: {problem}" for name, problem in sorted(found.items())]

    def findings(self) -> list[Any]:
        """What was found, by file and place, each ``file`` once, other findings by what they say."""
        first: dict[str, Any] = {}
        for result in self._results.values():
            listed = result.get("findings")
            for one in listed if isinstance(listed, list) else ():
                first.setdefault(str(one.get("file") or one) if isinstance(one, dict) else str(one), one)
        return list(first.values())

    def _counts(self, path: Path) -> bool:
        if self._names and path.name not in self._names:
            return False
        if self._since is None:
            return True
        try:
            return datetime.fromtimestamp(path.stat().st_mtime, tz=UTC) + _TICK >= self._since
        except OSError:
            return False

    def _take(self, path: Path) -> None:
        try:
            result = orjson.loads(read_regular(path))
        except orjson.JSONDecodeError as error:
            self._half[path.name] = f"no JSON, or not yet ({error})"
        except OSError as error:
            self._broken[path.name] = error.strerror or str(error)
        else:
            if isinstance(result, dict):
                self._results[path.name] = result
            else:
                self._broken[path.name] = "no JSON object"


def _poll(look: Callable[[], bool], *, timeout: float, poll_interval: float) -> bool:
    """Looks until there is what is waited for or the time is over, once at least; whether it is there."""
    seconds = as_float("timeout", timeout, lowest=0, highest=_LONGEST)
    pause = as_float("poll_interval", poll_interval, lowest=_SHORTEST_POLL, highest=_LONGEST)
    end = time.monotonic() + seconds
    while not look():
        left = end - time.monotonic()
        if left <= 0:
            return False
        time.sleep(min(pause, left))
    return True


def _ended(files: HandoffFiles, expected: list[str], start: datetime | None) -> dict[str, Entry]:
    """The last line of each task that ended since its start."""
    states = {one: files.read_state(one) for one in expected}
    starts = {one: start or (_moment(state.ts) if state else None) for one, state in states.items()}
    ended: dict[str, Entry] = {}
    for entry in files.status_lines():
        name, at = str(entry.get("task_id")), _moment(entry.get("ts"))
        begun = starts.get(name)
        if name in starts and (begun is None or (at is not None and at >= begun)):
            ended[name] = entry
    return ended


def _came_out(entries: list[Entry]) -> BuildersWait:
    ended: dict[str, Any] = {
        one: [entry for entry in entries if entry.get("outcome") == one] for one in _KNOWN_OUTCOMES
    }
    return BuildersWait(
        completed=True,
        count=len(entries),
        **ended,
        unknown=[entry for entry in entries if entry.get("outcome") not in _KNOWN_OUTCOMES],
        all_delivered=len(ended["delivered"]) == len(entries),
        insights_emitted=sum(bool(entry.get("insight")) for entry in entries),
    )


def _moment(value: object) -> datetime | None:
    """A time that some other program may have written; None when it is none, or beyond the calendar."""
    try:
        return parse_stamp(value) if isinstance(value, str) else None
    except OverflowError:
        return None


def _ids(task_ids: Sequence[str]) -> list[str]:
    """The ids that are waited for, each once; an empty one would never come.

    Raises:
        InvalidArgument: No id is left.
    """
    ids = [str(one).strip() for one in as_tuple("task_ids", task_ids)]
    named = [one for one in dict.fromkeys(ids) if one]
    if not named:
        raise InvalidArgument("task_ids", NO_TEXT)
    return named
