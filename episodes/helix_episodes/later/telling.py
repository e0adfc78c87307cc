"""What an episode tells about others: its commits, what it reverted, how its checks stood at its start and its end."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import msgspec

from helix_episodes.corrections import parts_of
from helix_episodes.extraction.acts import NEVER_RAN
from helix_episodes.extraction.commands import parse_command
from helix_episodes.model import Event, Outcome, OutcomeBasis

if TYPE_CHECKING:
    from collections.abc import Iterator

    from helix_episodes.model import Decision, Episode

#: Families that tell of the machine and not of the work: a missing program or package.
_OF_THE_MACHINE = NEVER_RAN | {"ModuleNotFoundError", "ImportError"}
_CHANGES = frozenset({"edit", "create", "delete", "delegate"})
_BEGINNING = datetime.min.replace(tzinfo=UTC)


class Committed(msgspec.Struct, frozen=True, kw_only=True):
    """A commit as its own output named it, and the command that made it."""

    sha: str
    subject: str
    command: str
    at: datetime
    event: Event


class Verdict(msgspec.Struct, frozen=True, kw_only=True):
    """One verdict of a check and the command that asked for it, empty when the episode does not say."""

    check: str
    command: str
    event: Event


class Telling(msgspec.Struct, frozen=True, kw_only=True):
    """One episode, as far as it can tell about others or be told about.

    ``early`` are the checks that failed before anything was changed, ``left_passing`` the last verdict of each check
    that passed. ``worked`` is true when it ran a check or changed something.
    """

    episode: str
    session: str
    project: str | None
    begin: datetime
    end: datetime
    outcome: Outcome
    basis: OutcomeBasis
    commits: tuple[Committed, ...]
    early: tuple[Verdict, ...]
    left_passing: tuple[Verdict, ...]
    changed: bool
    worked: bool


def telling_of(episode: Episode) -> Telling:
    """What an episode tells; times that it does not know are those of the session's beginning."""
    begin = moment(episode.timestamp) or _BEGINNING
    times = [at for part in parts_of(episode) if (at := moment(part.timestamp))]
    first_change = min(_changing_lines(episode), default=None)
    verdicts = list(_verdicts(episode))
    return Telling(
        episode=episode.id,
        session=episode.session,
        project=episode.project,
        begin=begin,
        end=max(times, default=begin),
        outcome=episode.outcome,
        basis=episode.outcome_basis,
        commits=tuple(_commits(episode, begin)),
        early=tuple(one for one in verdicts if _failed_before(one, first_change)),
        left_passing=tuple(one for one in _last_of_each(verdicts) if one.event.type == "test"),
        changed=first_change is not None,
        worked=first_change is not None or bool(verdicts),
    )


def moment(timestamp: str | None) -> datetime | None:
    """A timestamp as a moment, UTC when it names no zone; None when it is no time."""
    try:
        at = datetime.fromisoformat(timestamp or "")
        return (at if at.tzinfo else at.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def _commits(episode: Episode, begin: datetime) -> Iterator[Committed]:
    for event in episode.events:
        if event.type == "commit" and event.commit:
            at = moment(event.timestamp) or begin
            command = _command_of(event, episode)
            yield Committed(sha=event.commit, subject=event.content, command=command, at=at, event=event)


def _verdicts(episode: Episode) -> Iterator[Verdict]:
    """The verdicts in the session's own log, in order; those of helpers' logs have lines of their own."""
    for event in episode.events:
        if event.check and not event.tool and event.type in {"test", "error"} and _line(event) is not None:
            yield Verdict(check=event.check, command=_command_of(event, episode), event=event)


def _command_of(event: Event, episode: Episode) -> str:
    causes = {each.id: each for each in episode.decisions if each.id in event.caused_by}
    actions = (causes[name].action for name in event.caused_by if name in causes)
    return next((action.command for action in actions if action and action.command), "")


def _last_of_each(verdicts: list[Verdict]) -> list[Verdict]:
    """The verdict on which each check ended."""
    last: dict[str, Verdict] = {}
    for one in verdicts:
        last[one.check] = one
    return list(last.values())


def _failed_before(one: Verdict, change: int | None) -> bool:
    line = _line(one.event)
    early = line is not None and (change is None or line < change)
    return early and one.event.type == "error" and one.event.family not in _OF_THE_MACHINE


def _changing_lines(episode: Episode) -> Iterator[int]:
    """The lines of what changed something: edits, delegations, commands that are neither look nor check."""
    for decision in episode.decisions:
        line = _line(decision)
        if line is not None and _changes(decision):
            yield line


def _changes(decision: Decision) -> bool:
    action = decision.action
    if action is None or action.verb in _CHANGES:
        return action is not None
    return action.verb == "run" and any(
        part.purpose not in {"look", "check"} for part in parse_command(action.command or "")
    )


def _line(part: Decision | Event) -> int | None:
    return part.evidence.line if part.evidence and part.evidence.file is None else None
