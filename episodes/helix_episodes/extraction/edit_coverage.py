"""Which passing runs say something of a change, and which only come after it.

A run that passes is no verdict on a change that it did not look at. It did not where a failure stood, the change was
made after it, and the run selected something else; nor where the runner took an earlier result because nothing had
changed (``(cached)``); nor where it lists every package that it tested and the change is to a test of another, which
needs a build tag that the run lacks. What a log does not show is taken to have been looked at.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from helix_episodes.extraction.checks.model import looks_elsewhere
from helix_episodes.extraction.timeline import folder_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from helix_episodes.extraction.timeline import CheckRun, Timeline
    from helix_episodes.model import Decision

_TEST_OF_A_PACKAGE = "_test.go"
_SOURCE_OF_A_PACKAGE = ".go"


def passes_something_else(run: CheckRun, standing: CheckRun | None) -> bool:
    """Whether a run passes without having looked at what the run before it had failed."""
    if standing is None or standing.passed or not run.passed:
        return False
    failed = standing.ground._replace(findings=standing.verdict.findings)
    return looks_elsewhere(run.ground, failed)


def is_judged(timeline: Timeline, decision: Decision, run: CheckRun) -> bool:
    """Whether a passing run looked at what a decision changed, as far as its output shows."""
    path = (decision.action.path if decision.action else None) or ""
    ran, cached = run.verdict.ran, run.verdict.cached
    if not run.passed or not (ran or cached):
        return True
    folder = folder_of(path)
    if folder and path.endswith(_SOURCE_OF_A_PACKAGE) and _has(cached, folder):
        return False
    if path.endswith(_TEST_OF_A_PACKAGE) and _knows_parents(ran + cached, folder):
        return _has(ran, folder) or _is_cut(timeline, run)
    return bool(ran) or _is_cut(timeline, run)


def _has(packages: Iterable[str], folder: str) -> bool:
    """Whether a package is that of a folder; the module's name stands before it."""
    return any(one.endswith(f"/{folder}") for one in packages)


def _knows_parents(packages: Iterable[str], folder: str) -> bool:
    """Whether folders are packages as they are named: not where the module lies in a folder of the repository."""
    parts = folder.split("/")
    return any(_has(packages, "/".join(parts[:end])) for end in range(1, len(parts) + 1))


def _is_cut(timeline: Timeline, run: CheckRun) -> bool:
    """Whether only a part of the output is in the log, so that packages may be missing from it."""
    if run.call is None or run.verdict.segment is None:
        return True
    after = timeline.calls[run.call].segments[run.verdict.segment + 1 :]
    return bool(after) and after[0].joiner == "|"
