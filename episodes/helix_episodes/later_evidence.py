"""Later evidence: what a session shows about how an earlier one really came out.

Two things count. A session's commit is *reverted* in a later one: by ``git revert <sha>``, by a message that says
"This reverts commit <sha>", or, where neither names a commit, by git's own subject (``Revert "…"``), which names the
latest earlier commit of the project with that subject. A revert that was itself reverted later does not count.
And what a session had repaired *fails again* at the start of the project's next session, before anything was changed:
the same check complains of a test or a finding that it had complained of before that session left it passing. That the
check fails over something else says nothing, for others may have changed the project in between. Either gives a
revision of the earlier outcome, dated as the later evidence is, so that a person's newer correction wins.

Revisions are computed from all episodes, as they were extracted (`helix_graph.graph.assertions.revise`). So the order
in which sessions were read does not matter, and without the later session there is no revision to take back.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from operator import itemgetter
from typing import Literal

import msgspec

from helix_episodes.corrections import OutcomeRevision, parts_of
from helix_episodes.extraction.checks import CheckFinding, covers
from helix_episodes.extraction.checks import Verdict as Ground
from helix_episodes.extraction.checks.command_failures import NEVER_RAN
from helix_episodes.extraction.shell.commands import parse_command
from helix_episodes.model import Action, Decision, Episode, Event, Outcome, OutcomeBasis, parse_timestamp

#: Families that tell of the machine and not of the work: a missing program or package.
_ENVIRONMENT_FAMILIES = NEVER_RAN | {"ModuleNotFoundError", "ImportError"}
_EDITS = frozenset({"edit", "create", "delete", "delegate"})
_UNKNOWN_BEGINNING = datetime.min.replace(tzinfo=UTC)


class CommitRecord(msgspec.Struct, frozen=True, kw_only=True):
    """A commit as its own output named it, and the command that made it."""

    sha: str
    subject: str
    command: str
    at: datetime
    event: Event


class CheckVerdict(msgspec.Struct, frozen=True, kw_only=True):
    """One verdict of a check and the command that asked for it, empty when the episode does not say."""

    check: str
    command: str
    event: Event


class EpisodeSignals(msgspec.Struct, frozen=True, kw_only=True):
    """One episode, as far as it matters for other episodes.

    ``early`` are the checks that failed before anything was changed. ``left_passing`` are the last verdict of each
    check that passed, ``repaired`` is what any check had complained of; both are empty where nothing that fails later
    could revise the outcome: it has to be a success and to have changed files. ``worked``: it did or decided anything.
    """

    episode: str
    session: str
    project: str | None
    begin: datetime
    end: datetime
    outcome: Outcome
    basis: OutcomeBasis
    commits: tuple[CommitRecord, ...]
    early: tuple[CheckVerdict, ...]
    left_passing: tuple[CheckVerdict, ...]
    repaired: frozenset[str]
    worked: bool

    @property
    def may_be_contradicted(self) -> bool:
        """Whether what the next session of the project finds failing can revise its outcome."""
        return bool(self.left_passing and self.repaired)

    @property
    def reverts(self) -> bool:
        """Whether a commit of it takes another back."""
        return any(_revert(self, commit) for commit in self.commits)


def signals_of(episode: Episode) -> EpisodeSignals:
    """What an episode shows; times that it does not know are those of the session's beginning."""
    begin = parse_timestamp(episode.timestamp) or _UNKNOWN_BEGINNING
    times = filter(None, map(parse_timestamp, {part.timestamp for part in parts_of(episode)}))
    actions = {each.id: each.action for each in episode.decisions}
    commits = tuple(
        CommitRecord(
            sha=event.commit,
            subject=event.content,
            command=_command_of(event, actions),
            at=parse_timestamp(event.timestamp) or begin,
            event=event,
        )
        for event in episode.events
        if event.type == "commit" and event.commit
    )
    # In the session's own log, in order; those of helpers' logs have lines of their own.
    of_checks = [
        (event.check, event)
        for event in episode.events
        if event.check and not event.tool and event.type in {"test", "error"} and _own_line(event) is not None
    ]
    verdicts: list[CheckVerdict] = []
    if episode.project:  # else there is no session before it and none after it
        verdicts = [CheckVerdict(check=name, command=_command_of(one, actions), event=one) for name, one in of_checks]
    changed = any(one.action and one.action.verb in _EDITS for one in episode.decisions)
    may_be_revised = changed and episode.outcome == "success" and episode.outcome_basis in {"measured", "declared"}
    compared = verdicts if may_be_revised else []
    last_of_each = {one.check: one for one in compared}
    return EpisodeSignals(
        episode=episode.id,
        session=episode.session,
        project=episode.project,
        begin=begin,
        end=max(times, default=begin),
        outcome=episode.outcome,
        basis=episode.outcome_basis,
        commits=commits,
        early=tuple(_early(episode, verdicts)) if verdicts else (),
        left_passing=tuple(one for one in last_of_each.values() if one.event.type == "test"),
        repaired=frozenset(key for one in compared if one.event.type == "error" for key in _complaints(one.event)),
        worked=bool(of_checks or episode.decisions),
    )


def _complaints(event: Event) -> Iterator[str]:
    """What a failing check complained of: each test by name, else the family and the file."""
    if event.tests:
        yield from (f"{event.check} {test}" for test in event.tests)
    else:
        yield f"{event.check} {event.family} {event.path or ''}"


def _command_of(event: Event, actions: Mapping[str, Action | None]) -> str:
    if not event.caused_by:
        return ""
    causes = (actions.get(name) for name in event.caused_by)
    return next((action.command for action in causes if action and action.command), "")


def _early(episode: Episode, verdicts: list[CheckVerdict]) -> Iterator[CheckVerdict]:
    """The failures that came before the first change."""
    failures = [one for one in verdicts if one.event.type == "error" and one.event.family not in _ENVIRONMENT_FAMILIES]
    last = max((_own_line(one.event) or 0 for one in failures), default=0)
    # Only what came before a failure can have caused it, and the first change ends the search: reading a command costs
    # more than all else here.
    before = [(line, one) for one in episode.decisions if (line := _own_line(one)) is not None and line < last]
    first = next((line for line, one in sorted(before, key=itemgetter(0)) if _changes(one)), last + 1)
    yield from (one for one in failures if (_own_line(one.event) or 0) < first)


def _changes(decision: Decision) -> bool:
    """Whether it may have changed something: an edit, a delegation, a command that is neither look nor check."""
    action = decision.action
    if action is None or action.verb in _EDITS:
        return action is not None
    parts = parse_command(action.command or "") if action.verb == "run" else ()
    return any(part.purpose not in {"look", "check"} for part in parts)


def _own_line(part: Decision | Event) -> int | None:
    return part.evidence.line if part.evidence and part.evidence.file is None else None


#: With at most so many options of git before it: the message of a commit stands in the command, and may have any words.
_REVERT_COMMAND = re.compile(r"\bgit\b(?:\s+-[\w-]+(?:[= ](?!-)\S+)?){0,12}\s+revert\b([^\n;|&]*)")
_SHA = re.compile(r"(?<![\w-])[0-9a-f]{7,40}(?![\w-])")
_REVERT_MESSAGE = re.compile(r"\bThis reverts commit ([0-9a-f]{7,40})")
_REVERT_SUBJECT = re.compile(r'(?P<again>Reapply|Revert) "(?P<subject>.+)"')


class _Revert(msgspec.Struct, frozen=True, kw_only=True):
    """One reverting commit: the commits that it names, or the subject that it does."""

    by: EpisodeSignals
    commit: CommitRecord
    names: tuple[str, ...]
    subject: str | None


def revert_revisions(sessions: Sequence[EpisodeSignals]) -> Iterator[OutcomeRevision]:
    """The revisions that follow from reverts; ``sessions`` is in the order in which the sessions began."""
    found = [revert for one in sessions for commit in one.commits if (revert := _revert(one, commit))]
    standing = _effective_reverts(found)
    for one in sessions:
        hit = {commit.sha: revert for commit in one.commits if (revert := _revert_of(one, commit, standing, sessions))}
        if hit and one.basis != "rewarded":
            latest = max(hit.values(), key=_when)
            outcome: Outcome = "failure" if len(hit) == len({commit.sha for commit in one.commits}) else "partial"
            if one.outcome not in {"failure", outcome}:
                yield _revision(
                    one, latest.by, latest.commit.event, rule="revert", outcome=outcome, at=latest.commit.at
                )


def _revert(one: EpisodeSignals, commit: CommitRecord) -> _Revert | None:
    """The commit as a revert; None when it is none. Its subject must say so, for a command may make several commits."""
    matched = _REVERT_SUBJECT.match(commit.subject)
    names = [*_REVERT_MESSAGE.findall(commit.command)]
    for arguments in _REVERT_COMMAND.findall(commit.command):
        names += _SHA.findall(arguments)
    if not matched and not (names and _REVERT_MESSAGE.search(commit.command)):
        return None
    subject = matched["subject"] if matched else None
    if matched and matched["again"] != "Revert":
        subject = f'Revert "{subject}"'
    return _Revert(by=one, commit=commit, names=tuple(names), subject=subject)


def _effective_reverts(found: Sequence[_Revert]) -> list[_Revert]:
    """Those that no later one took back, from the last to the first."""
    standing: list[_Revert] = []
    for revert in sorted(found, key=_when, reverse=True):
        if not any(_names(other, revert.commit) for other in standing):
            standing.append(revert)
    return standing


def _revert_of(
    one: EpisodeSignals, commit: CommitRecord, standing: Sequence[_Revert], sessions: Sequence[EpisodeSignals]
) -> _Revert | None:
    """The revert of a later session that took a commit back."""
    for revert in standing:
        others = revert.by.session != one.session and revert.by.project == one.project
        if others and revert.commit.at > commit.at and _names(revert, commit) and _is_meant(revert, commit, sessions):
            return revert
    return None


def _names(revert: _Revert, commit: CommitRecord) -> bool:
    """By sha, either possibly abbreviated; by subject only when no sha is named."""
    if revert.commit.at <= commit.at:
        return False
    if revert.names:
        return any(commit.sha.startswith(name) or name.startswith(commit.sha) for name in revert.names)
    return revert.subject == commit.subject


def _is_meant(revert: _Revert, commit: CommitRecord, sessions: Sequence[EpisodeSignals]) -> bool:
    """Of several commits with one subject, the latest before the revert."""
    if revert.names:
        return True
    alike = (
        other
        for one in sessions
        if one.project == revert.by.project
        for other in one.commits
        if other.subject == commit.subject and other.at < revert.commit.at
    )
    return max(alike, key=lambda other: (other.at, other.sha)).sha == commit.sha


def _when(revert: _Revert) -> tuple[object, ...]:
    line = revert.commit.event.evidence.line if revert.commit.event.evidence else 0
    return (revert.commit.at, revert.by.session, line, revert.commit.sha)


def _revision(
    one: EpisodeSignals,
    by: EpisodeSignals,
    event: Event,
    *,
    rule: Literal["revert", "recheck"],
    outcome: Outcome,
    at: datetime,
) -> OutcomeRevision:
    """The revision of one episode's outcome that an event of a later session gives."""
    return OutcomeRevision(
        episode=one.episode,
        outcome=outcome,
        because=event.evidence.quote if event.evidence else event.content,
        rule=rule,
        by=by.session,
        line=event.evidence.line if event.evidence else None,
        asserted_at=at.isoformat().replace("+00:00", "Z"),
    )


#: A command that was cut when it was quoted cannot be compared.
_QUOTE_CUT = "…"


def contradiction(one: EpisodeSignals, after: EpisodeSignals) -> OutcomeRevision | None:
    """The revision of a session's outcome that early failures of the project's next session give."""
    if not one.may_be_contradicted or after.begin <= one.end:  # the next one began while this one was under way
        return None
    contradicting = (
        failure
        for failure in after.early
        for passed in one.left_passing
        if passed.check == failure.check
        and _looks_at_no_more(failure, passed)
        and not one.repaired.isdisjoint(_complaints(failure.event))
    )
    if failure := next(contradicting, None):
        at = parse_timestamp(failure.event.timestamp) or after.begin
        return _revision(one, after, failure.event, rule="recheck", outcome="failure", at=at)
    return None


def _looks_at_no_more(failure: CheckVerdict, passed: CheckVerdict) -> bool:
    if any(not command or command.endswith(_QUOTE_CUT) for command in (failure.command, passed.command)):
        return False
    if failure.command == passed.command:
        return True
    narrow, wide = _ground(failure), _ground(passed)
    return narrow is not None and wide is not None and covers(wide, narrow)


def _ground(one: CheckVerdict) -> Ground | None:
    """What the run looked at; None when the command does not show it (a task runner's task)."""
    part = next((part for part in parse_command(one.command) if part.check == one.check and part.kind), None)
    if part is None or part.kind is None:
        return None
    findings = (CheckFinding(family="", message="", tests=one.event.tests),) if one.event.tests else ()
    return Ground(check=one.check, kind=part.kind, passed=None, scope=part.scope, findings=findings)
