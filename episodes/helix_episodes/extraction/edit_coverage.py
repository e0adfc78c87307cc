"""Which runs say something of a change, and which only come after it.

A run that fails says something of the changes to the place that it names. A linter or formatter complains of the file
that is wrong, whatever else was changed; a compiler may be led there by a change elsewhere. What names neither a place
nor a test may have any cause, so that it speaks of a change only where nothing else was changed.

A run that was given test files by name says nothing of a change to another test file.

A run that passes is no verdict on a change that it did not look at. It did not where a failure stood, the change was
made after it, and the run selected something else; nor where the runner took an earlier result because nothing had
changed (``(cached)``); nor where it lists every package that it tested and the change is to a test of another, which
needs a build tag that the run lacks. So did no check of another language (`helix_episodes.extraction.languages`).
The same command may have failed between the change and its pass: then a later change made it pass. What else a log does
not show is taken to have been looked at.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from helix_episodes.extraction.check_runs import does_not_compile, folder_of, touches
from helix_episodes.extraction.checks.compilers import COMPILE_FAMILIES
from helix_episodes.extraction.checks.model import looks_elsewhere, paths_of
from helix_episodes.extraction.fix_credit import named_files
from helix_episodes.extraction.languages import may_read
from helix_episodes.extraction.paths import file_name, is_test_file
from helix_episodes.extraction.timeline import POINTS_AT_PLACE

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from helix_episodes.extraction.check_runs import CheckRun
    from helix_episodes.extraction.timeline import Timeline
    from helix_episodes.model import Decision, Event

#: Kinds of check that judge a file by itself.
_OF_ONE_FILE = frozenset({"lint", "format"})
_BARE_WORD = re.compile(r"[\w-]+")
#: Options whose values are not run; the longest name of one has some thirty letters.
_LEAVES_OUT = re.compile(r"(?<!-)--[\w.-]{0,60}?(?:ignore|exclude|deselect)", re.IGNORECASE)

_TEST_OF_A_PACKAGE = "_test.go"
_SOURCE_OF_A_PACKAGE = ".go"


def blamed(timeline: Timeline, changes: Sequence[Decision], event: Event, run: CheckRun) -> Sequence[Decision]:
    """Of the changes before a run those that its verdict speaks of."""
    if event.type == "error" and run.call is None:
        return [one for one in changes if touches(one, event.path)]
    check, kind = run.verdict.check, run.verdict.kind
    read = [one for one in changes if may_read(check, _path(one), tests=kind == "test")]
    uncompiled = does_not_compile(event, kind) or event.family in COMPILE_FAMILIES
    if event.type != "error" or (event.path and kind not in POINTS_AT_PLACE and not uncompiled):
        return read
    if event.path is None:
        return read if event.tests or len({_path(one) or one.id for one in read}) == 1 else []
    named = [one for one in changes if touches(one, event.path)]
    if named or uncompiled or kind not in _OF_ONE_FILE:
        return named or read
    output = timeline.calls[run.call].output if run.call is not None else ""
    files = named_files(event, output, alone=len(run.events) == 1)
    return [one for one in read if not _path(one) or file_name(_path(one)) in files]


def _path(decision: Decision) -> str:
    return (decision.action.path if decision.action else None) or ""


def failed_since(timeline: Timeline, decision: Decision, run: CheckRun) -> bool:
    """Whether the command of a passing run failed after a change, under the name of another check."""
    command = _command(timeline, run) if run.passed else None
    if command is None:
        return False
    failing = timeline.failing_between(timeline.positions[decision.id], run.position)
    return any(other.verdict.check != run.verdict.check and _command(timeline, other) == command for other in failing)


def _command(timeline: Timeline, run: CheckRun) -> str | None:
    if run.call is None or run.verdict.segment is None:
        return None
    segments = timeline.calls[run.call].segments
    return segments[run.verdict.segment].text if run.verdict.segment < len(segments) else None


def passes_something_else(run: CheckRun, standing: CheckRun | None) -> bool:
    """Whether a run passes without having looked at what the run before it had failed."""
    if standing is None or standing.passed or not run.passed:
        return False
    failed = standing.ground._replace(findings=standing.verdict.findings)
    return looks_elsewhere(run.ground, failed)


def is_judged(timeline: Timeline, decision: Decision, run: CheckRun) -> bool:
    """Whether a run looked at what a decision changed, as far as its command and the output of a pass show."""
    path = _path(decision)
    if runs_other_files(timeline, decision, run):
        return False
    ran, cached = run.verdict.ran, run.verdict.cached
    if not run.passed or not (ran or cached):
        return True
    folder = folder_of(path)
    if folder and path.endswith(_SOURCE_OF_A_PACKAGE) and _has(cached, folder):
        return False
    if path.endswith(_TEST_OF_A_PACKAGE) and _knows_parents(ran + cached, folder):
        return _has(ran, folder) or is_cut(timeline, run)
    return bool(ran) or is_cut(timeline, run)


def runs_other_files(timeline: Timeline, decision: Decision, run: CheckRun) -> bool:
    """Whether a run was given test files by name, and the change is to a test file that it was not given.

    A bare word beside them is an option's value, unless it may select the changed file too.
    """
    path, verdict = _path(decision), run.verdict
    if verdict.kind != "test" or not is_test_file(path) or not any(map(is_test_file, verdict.scope)):
        return False
    if _LEAVES_OUT.search(_command(timeline, run) or "") or any(
        touches(decision, one.path) for one in verdict.findings
    ):
        return False
    places = paths_of(verdict)
    others = (is_test_file(one) or _BARE_WORD.fullmatch(one) for one in places)
    # A place may have a folder before the file's name, and behind it the test that was selected.
    return bool(places) and all(others) and not any(file_name(one.partition("::")[0]) in path for one in places)


def _has(packages: Iterable[str], folder: str) -> bool:
    """Whether a package is that of a folder; the module's name stands before it."""
    return any(one.endswith(f"/{folder}") for one in packages)


def _knows_parents(packages: Iterable[str], folder: str) -> bool:
    """Whether folders are packages as they are named: not where the module lies in a folder of the repository."""
    parts = folder.split("/")
    return any(_has(packages, "/".join(parts[:end])) for end in range(1, len(parts) + 1))


def is_cut(timeline: Timeline, run: CheckRun) -> bool:
    """Whether only a part of the output is in the log, so that packages may be missing from it."""
    if run.call is None or run.verdict.segment is None:
        return True
    after = timeline.calls[run.call].segments[run.verdict.segment + 1 :]
    return bool(after) and after[0].joiner == "|"
