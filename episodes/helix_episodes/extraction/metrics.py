"""Metrics: counts over a session. What the log does not say is None, never 0."""

from __future__ import annotations

from itertools import pairwise
from posixpath import join, normpath
from typing import TYPE_CHECKING

from helix_episodes.extraction.calls import UNDONE, written
from helix_episodes.extraction.paths import is_outside, relative
from helix_episodes.extraction.reports.statements import is_report
from helix_episodes.extraction.timeline import changes_repository
from helix_episodes.model import Metrics

if TYPE_CHECKING:
    from collections.abc import Sequence

    from helix_episodes.extraction.calls import ParsedCall
    from helix_episodes.extraction.timeline import Timeline
    from helix_episodes.model import Fix
    from helix_episodes.session import Session


#: A longer silence is somebody's lunch or night, not work: sessions are left open and resumed for days.
PAUSE_MINUTES = 30


def metrics_of(session: Session, timeline: Timeline, fixes: Sequence[Fix]) -> Metrics:
    """The counts of a session; its duration leaves out pauses of more than `PAUSE_MINUTES`."""
    recorded = not is_report(session)
    # The same failure again before its repair is repaired once.
    verified = [fix for fix in fixes if fix.verified_by]
    repaired = {(timeline.event(fix.error).content, fix.check, fix.verified_by) for fix in verified}
    errors = [event for event in timeline.events if event.type == "error"]
    return Metrics(
        duration_minutes=_duration(session),
        tool_calls=len(timeline.calls) if recorded else None,
        errors=len(errors),
        recoveries=len(repaired) if recorded else None,
        commits=len({event.commit for event in timeline.events if event.type == "commit"}),
        files_changed=_files_changed(timeline.calls, root=session.root) if recorded else None,
        tokens=session.tokens,
    )


def _files_changed(calls: Sequence[ParsedCall], *, root: str | None) -> int | None:
    """How many files of the project were changed; None where some change does not say of which."""
    paths: set[str] = set()
    for call in calls:
        changed = _changed_by(call, root=root)
        if changed is None:
            return None
        paths |= changed
    return len(paths)


def _changed_by(call: ParsedCall, *, root: str | None) -> set[str] | None:
    if call.operation != "run":
        return set() if not call.changes_files else {call.path} if call.path else None
    changing = [segment for segment in call.segments if changes_repository(segment)]
    if call.outside or call.status in {*UNDONE, "error"} or not changing:
        return set()
    several = [written(segment) for segment in changing]
    found = {path for paths in several if paths is not None for path in paths}
    # As seen from the project's root, though the command went to a folder first.
    folder = next((one.arguments[0] for one in call.segments if one.program == "cd" and one.arguments), "")
    seen = (path if path.startswith("~") else normpath(join(folder, path)) for path in found)
    placed = {relative(path, root=root) for path in seen}
    return None if None in several else {path for path in placed if not is_outside(path)}


def _duration(session: Session) -> float | None:
    moments = sorted(step.at for step in session.steps if step.at is not None)
    if len(moments) < 2:  # noqa: PLR2004  (a span has two ends)
        return None
    minutes = ((after - before).total_seconds() / 60 for before, after in pairwise(moments))
    return round(sum(gap for gap in minutes if gap <= PAUSE_MINUTES), 1)
