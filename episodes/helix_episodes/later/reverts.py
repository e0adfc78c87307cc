"""Reverts: a later session took back what an earlier one had committed.

A commit is known to be a revert by what made it: ``git revert <sha>``, or a message that says "This reverts commit
<sha>". Where neither names a commit, git's own subject (``Revert "…"``) names that of the latest earlier commit of the
project so called. A revert that was itself reverted later counts for nothing.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import msgspec

from helix_episodes.corrections import OutcomeRevision
from helix_episodes.later.telling import Committed, Telling

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from helix_episodes.model import Outcome

_COMMAND = re.compile(r"\bgit\b(?:\s+-[\w-]+(?:[= ]\S+)?)*\s+revert\b([^\n;|&]*)")
_SHA = re.compile(r"(?<![\w-])[0-9a-f]{7,40}(?![\w-])")
_MESSAGE = re.compile(r"\bThis reverts commit ([0-9a-f]{7,40})")
_SUBJECT = re.compile(r'(?P<again>Reapply|Revert) "(?P<subject>.+)"')


class _Revert(msgspec.Struct, frozen=True, kw_only=True):
    """One reverting commit: the commits that it names, or the subject that it does."""

    by: Telling
    commit: Committed
    names: tuple[str, ...]
    subject: str | None


def reverts(told: Sequence[Telling]) -> Iterator[OutcomeRevision]:
    """The revisions that follow from reverts; ``told`` is in the order in which the sessions began."""
    found = [revert for one in told for commit in one.commits if (revert := _revert(one, commit))]
    standing = _standing(found)
    for one in told:
        hit = {commit.sha: revert for commit in one.commits if (revert := _taken_back(one, commit, standing, told))}
        if hit and one.basis != "rewarded":
            latest = max(hit.values(), key=_when)
            outcome: Outcome = "failure" if len(hit) == len({commit.sha for commit in one.commits}) else "partial"
            if one.outcome not in {"failure", outcome}:
                yield _revision(one, latest, outcome)


def _revert(one: Telling, commit: Committed) -> _Revert | None:
    """The commit as a revert; None when it is none. Its subject must say so, for a command may make several commits."""
    said = _SUBJECT.match(commit.subject)
    names = [*_MESSAGE.findall(commit.command)]
    for arguments in _COMMAND.findall(commit.command):
        names += _SHA.findall(arguments)
    if not said and not (names and _MESSAGE.search(commit.command)):
        return None
    subject = None if said is None else said["subject"] if said["again"] == "Revert" else f'Revert "{said["subject"]}"'
    return _Revert(by=one, commit=commit, names=tuple(names), subject=subject)


def _standing(found: Sequence[_Revert]) -> list[_Revert]:
    """Those that no later one took back, from the last to the first."""
    standing: list[_Revert] = []
    for revert in sorted(found, key=_when, reverse=True):
        if not any(_names(other, revert.commit) for other in standing):
            standing.append(revert)
    return standing


def _taken_back(
    one: Telling, commit: Committed, standing: Sequence[_Revert], told: Sequence[Telling]
) -> _Revert | None:
    """The revert of a later session that took a commit back."""
    for revert in standing:
        others = revert.by.session != one.session and revert.by.project == one.project
        if others and revert.commit.at > commit.at and _names(revert, commit) and _is_meant(revert, commit, told):
            return revert
    return None


def _names(revert: _Revert, commit: Committed) -> bool:
    """By sha, either possibly abbreviated; by subject only when no sha is named."""
    if revert.commit.at <= commit.at:
        return False
    if revert.names:
        return any(commit.sha.startswith(name) or name.startswith(commit.sha) for name in revert.names)
    return revert.subject == commit.subject


def _is_meant(revert: _Revert, commit: Committed, told: Sequence[Telling]) -> bool:
    """Of several commits with one subject, the latest before the revert."""
    if revert.names:
        return True
    alike = (
        other
        for one in told
        if one.project == revert.by.project
        for other in one.commits
        if other.subject == commit.subject and other.at < revert.commit.at
    )
    return max(alike, key=lambda other: (other.at, other.sha)).sha == commit.sha


def _when(revert: _Revert) -> tuple[object, ...]:
    line = revert.commit.event.evidence.line if revert.commit.event.evidence else 0
    return (revert.commit.at, revert.by.session, line, revert.commit.sha)


def _revision(one: Telling, revert: _Revert, outcome: Outcome) -> OutcomeRevision:
    event = revert.commit.event
    return OutcomeRevision(
        episode=one.episode,
        outcome=outcome,
        because=event.evidence.quote if event.evidence else event.content,
        rule="revert",
        by=revert.by.session,
        line=event.evidence.line if event.evidence else None,
        asserted_at=revert.commit.at.isoformat().replace("+00:00", "Z"),
    )
