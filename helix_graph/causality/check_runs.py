"""The fresh runs of checks after a change, each with the situations it was in: the unit of everyday rates.

Few sessions fail, but many runs of checks do, so what a change is followed by is counted in runs. Only *fresh* runs
count: a check's first run in a session, and those after a run that passed. A run after one that failed mostly repeats
the failure, and would make every repair look like a cause. Failures that were announced, and runs before which nothing
was changed, say nothing of a change.

A *situation* is one thing that the changes before a run have in common with those before others: the folder or the
file, the kind of file, the size of the largest change, and the number of files or of edits since the last run. Where
a linter names some of the changed files, its failure is one of these and says nothing of the others.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import TYPE_CHECKING, Literal, NamedTuple

import msgspec

from helix_episodes.extraction.paths import role_of
from helix_episodes.extraction.shell.commands import parse_command
from helix_episodes.model import sortable_time

if TYPE_CHECKING:
    from helix_graph.graph.observations import Trial, TrialRun

Dimension = Literal["folder", "file", "kind", "lines", "files", "edits"]
#: Kinds of run that judge the work. A formatter repairs what it finds; what else fails is no check.
JUDGING = frozenset({"test", "lint", "build", "typecheck"})
#: From so many lines on, edits and files on, a change is large; from the second of each, very large.
LINES, FILES, EDITS = (11, 51), (2, 3), (2, 5)


class Situation(NamedTuple):
    """What a run has in common with others. ``describe`` puts it in words."""

    dimension: Dimension
    value: str

    def describe(self) -> str:
        """The situation as the end of "after …".

        >>> Situation("folder", "shop").describe(), Situation("edits", "5 or more").describe()
        ('a change in shop/', '5 or more edits')
        """
        one = self.dimension in {"files", "edits"} and self.value == "1"
        return (_ONE if one else _WORDS)[self.dimension].format(self.value)


#: The same files are changed again and again.
_role_of = lru_cache(maxsize=16384)(role_of)
_WORDS: dict[Dimension, str] = {
    "folder": "a change in {}/",
    "file": "a change of {}",
    "kind": "a change of {} files",
    "lines": "a change of {} lines in one file",
    "files": "changes in {} files",
    "edits": "{} edits",
}
_ONE: dict[Dimension, str] = {"files": "changes in one file", "edits": "a single edit"}


class CheckTrial(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One fresh run of a check after a change; ``place`` is among the session's runs, ``changed`` has paths."""

    check: str
    kind: str
    failed: bool
    episode: str
    moment: str
    line: int | None
    log: str | None
    event: str
    place: int
    changed: frozenset[str]
    situations: frozenset[Situation]


def in_time_order(trials: Iterable[Trial]) -> list[Trial]:
    """The sessions by when they began; those without a time come first."""
    return sorted(trials, key=lambda one: (sortable_time(one.timestamp), one.episode))


def check_trials(trials: Iterable[Trial], names: CheckNames | None = None) -> list[CheckTrial]:
    """Every fresh run after a change, by session in time order."""
    sessions = in_time_order(trials)
    named = names or CheckNames(sessions)
    found = []
    for session in sessions:
        for place, run in enumerate(session.runs):
            check = named.of(run)
            if check in named.passing and tries_a_change(run):
                found.append(
                    CheckTrial(
                        check=check,
                        kind=run.kind,
                        failed=run.passed is False,
                        episode=session.episode,
                        moment=sortable_time(session.timestamp),
                        line=run.line,
                        log=session.log,
                        event=run.event,
                        place=place,
                        changed=frozenset(path for path, _ in run.changed),
                        situations=frozenset(situations_of(run)),
                    )
                )
    return found


def tries_a_change(run: TrialRun) -> bool:
    """Whether a run says something of the changes before it: fresh, after a change, and not meant to fail."""
    return is_judged(run) and run.fresh and bool(run.changed) and not run.deliberate


@lru_cache(maxsize=4096)
def head_of(command: str | None) -> str:
    """What a command runs, without what it runs it on: its words up to the subcommand or task.

    >>> head_of("npm run check -- tests/a.ts"), head_of("GOOS=windows go build ./cmd"), head_of("cargo test -q store")
    ('npm run check', 'go build', 'cargo test')
    """
    part = next(iter(parse_command(command or "")), None)
    if part is None:
        return ""
    words = [word for word in part.text.split() if "=" not in word or word.startswith("-")]
    last = (part.subcommand or part.program).split()[-1]
    at = next((place for place, word in enumerate(words) if word.rpartition("/")[2] == last or word == last), 0)
    return " ".join(words[: at + 1])


def typical_command(commands: Iterable[str]) -> str:
    """The commonest of some commands, where it is common and short; else what most of them begin with."""
    every = Counter(commands)
    command, times = every.most_common(1)[0] if every else ("", 0)
    if times >= _TYPICAL * every.total() and len(command) <= _SHORT:
        return command
    return Counter(head_of(one) for one in every.elements()).most_common(1)[0][0] if every else ""


#: A command stands for others when it is so much of them, and as short.
_TYPICAL, _SHORT = 0.3, 60


class CheckNames:
    """The one name of each run's check.

    A task's command may print its linter's name as long as it fails, and nothing when it passes: then the task's own
    name is taken. A run that rewrites what it complains of (``--fix``) is another check than one that only complains.
    """

    def __init__(self, trials: Iterable[Trial]) -> None:
        by_head: dict[str, set[str]] = defaultdict(set)
        judged = [run for trial in trials for run in trial.runs if is_judged(run)]
        for run in judged:
            by_head[head_of(run.command)].add(run.check)
        self._of_task = {
            head: task for head, names in by_head.items() for task in names if len(names) > 1 and is_task(task, head)
        }
        #: Checks that have passed at all: one of which only failures are known has no rate.
        self.passing = {self.of(run) for run in judged if run.passed}

    def of(self, run: TrialRun) -> str:
        """The name of a run's check."""
        name = self._of_task.get(head_of(run.command), run.check)
        return f"{name} --fix" if rewrites(run.command) and "fix" not in name else name


def rewrites(command: str | None) -> bool:
    """Whether a command rewrites what it complains of."""
    return bool(_REWRITES.search(command or ""))


_REWRITES = re.compile(r"\s--(?:fix|write)\b|[:-](?:auto)?fix\b")


def is_judged(run: TrialRun) -> bool:
    """Whether a run judged the work, and how is known."""
    return run.kind in JUDGING and run.passed is not None


def is_task(check: str, head: str) -> bool:
    """Whether a check has the name of the task that a command asks for: ``npm check`` of ``npm run check``."""
    words = head.split()
    return len(words) > 1 and check == f"{words[0]} {words[-1]}" and "run" in words[1:-1]


def situations_of(run: TrialRun) -> Iterator[Situation]:
    """The situations that a run was in; one may come more than once."""
    for path, _ in run.changed:
        yield Situation("kind", _role_of(path) or "other")
        if run.charged and path not in run.charged:
            continue
        yield Situation("file", path)
        parts = path.split("/")[:-1]
        for depth in range(1, len(parts) + 1):
            yield Situation("folder", "/".join(parts[:depth]))
    sizes = [lines for _, lines in run.changed if lines is not None]
    if sizes:
        yield Situation("lines", _bucket(max(sizes), LINES))
    yield Situation("files", _bucket(run.files, FILES))
    yield Situation("edits", _bucket(run.edits, EDITS))


def _bucket(number: int, bounds: tuple[int, int]) -> str:
    """The range that a number is in, in words.

    >>> _bucket(1, (2, 5)), _bucket(3, (2, 5)), _bucket(9, (2, 5))
    ('1', '2 to 4', '5 or more')
    """
    low, high = bounds
    if number >= high:
        return f"{high} or more"
    if number >= low:
        return f"{low} to {high - 1}" if high - low > 1 else str(low)
    return f"up to {low - 1}" if low > 2 else "1"  # noqa: PLR2004
