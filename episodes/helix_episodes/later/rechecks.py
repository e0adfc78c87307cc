"""Rechecks: the check that a session left passing fails at the start of the next, before anything was changed.

Only what can be compared counts: the next session of the same project that worked at all, begun after the earlier one
had ended, running the same command or one that looks at no more than the passing run had looked at. A missing program
or package tells of the machine. A success that a person or a reward stated stands.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from helix_episodes.corrections import OutcomeRevision
from helix_episodes.extraction.checks import Finding, covers
from helix_episodes.extraction.checks import Verdict as Ground
from helix_episodes.extraction.commands import parse_command
from helix_episodes.later.telling import Telling, Verdict, moment

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

#: A command that was cut when it was quoted cannot be compared.
_CUT = "…"


def rechecks(told: Sequence[Telling]) -> Iterator[OutcomeRevision]:
    """The revisions that follow from early failures; ``told`` is in the order in which the sessions began."""
    for place, one in enumerate(told):
        if one.outcome == "success" and one.basis in {"measured", "declared"} and one.changed and one.project:
            after = _next(one, told[place + 1 :])
            failure = next(_contradicting(one, after), None) if after else None
            if after and failure:
                yield _revision(one, after, failure)


def _next(one: Telling, following: Sequence[Telling]) -> Telling | None:
    """The next session of the project that worked; None when it began while this one was under way."""
    after = next((other for other in following if other.project == one.project and other.worked), None)
    return after if after and after.begin > one.end else None


def _contradicting(one: Telling, after: Telling) -> Iterator[Verdict]:
    """The failures with which the next session began, of a check that this one had left passing."""
    for failure in after.early:
        for passed in one.left_passing:
            if passed.check == failure.check and _looks_at_no_more(failure, passed):
                yield failure


def _looks_at_no_more(failure: Verdict, passed: Verdict) -> bool:
    if not failure.command or not passed.command or failure.command.endswith(_CUT) or passed.command.endswith(_CUT):
        return False
    if failure.command == passed.command:
        return True
    narrow, wide = _ground(failure), _ground(passed)
    return narrow is not None and wide is not None and covers(wide, narrow)


def _ground(one: Verdict) -> Ground | None:
    """What the run looked at; None when the command does not show it (a task runner's task)."""
    part = next((part for part in parse_command(one.command) if part.check == one.check and part.kind), None)
    if part is None or part.kind is None:
        return None
    findings = (Finding(family="", message="", tests=one.event.tests),) if one.event.tests else ()
    return Ground(check=one.check, kind=part.kind, passed=None, scope=part.scope, findings=findings)


def _revision(one: Telling, after: Telling, failure: Verdict) -> OutcomeRevision:
    event = failure.event
    at = moment(event.timestamp) or after.begin
    return OutcomeRevision(
        episode=one.episode,
        outcome="failure",
        because=event.evidence.quote if event.evidence else event.content,
        rule="recheck",
        by=after.session,
        line=event.evidence.line if event.evidence else None,
        asserted_at=at.isoformat().replace("+00:00", "Z"),
    )
