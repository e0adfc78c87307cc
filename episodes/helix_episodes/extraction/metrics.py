"""Metrics: counts over a session. What the log does not tell is None, never 0."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from helix_episodes.extraction.statements import is_report
from helix_episodes.model import Metrics

if TYPE_CHECKING:
    from collections.abc import Sequence

    from helix_episodes.extraction.account import Account
    from helix_episodes.extraction.acts import Act
    from helix_episodes.model import Fix
    from helix_episodes.session import Session

#: A longer silence is somebody's lunch or night, not work: sessions are left open and resumed for days.
PAUSE_MINUTES = 30


def metrics_of(session: Session, acts: Sequence[Act], account: Account, fixes: Sequence[Fix]) -> Metrics:
    """The counts of a session; its duration leaves out pauses of more than `PAUSE_MINUTES`."""
    recorded = not is_report(session)
    errors = [event for event in account.events if event.type == "error"]
    return Metrics(
        duration_minutes=_duration(session),
        tool_calls=len(acts) if recorded else None,
        errors=len(errors),
        recoveries=len({fix.error for fix in fixes if fix.verified_by}) if recorded else None,
        commits=len({event.commit for event in account.events if event.type == "commit"}),
        files_changed=len({act.path for act in acts if act.changes_files and act.path}) if recorded else None,
        tokens=session.tokens,
    )


def _duration(session: Session) -> float | None:
    moments = sorted(step.at for step in session.steps if step.at is not None)
    if len(moments) < 2:  # noqa: PLR2004  (a span has two ends)
        return None
    minutes = ((after - before).total_seconds() / 60 for before, after in pairwise(moments))
    return round(sum(gap for gap in minutes if gap <= PAUSE_MINUTES), 1)
