"""What an episode tells about others: its commits, what it reverted, how its checks stood at its start and its end."""

from __future__ import annotations

from datetime import UTC, datetime
from operator import itemgetter
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
_EDITS = frozenset({"edit", "create", "delete", "delegate"})
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
    that passed. ``changed``: it edited files or had them edited. ``worked``: it did or decided anything.
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
        early=tuple(_early(episode, verdicts)),
        left_passing=tuple(one for one in _last_of_each(verdicts) if one.event.type == "test"),
        changed=any(one.action and one.action.verb in _EDITS for one in episode.decisions),
        worked=bool(verdicts or episode.decisions),
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


def _early(episode: Episode, verdicts: list[Verdict]) -> Iterator[Verdict]:
    """The failures that came before the first change."""
    failures = [one for one in verdicts if one.event.type == "error" and one.event.family not in _OF_THE_MACHINE]
    last = max((_line(one.event) or 0 for one in failures), default=0)
    # Only what came before a failure can have caused it, and the first change ends the search: reading a command costs
    # more than all else here.
    before = [(line, one) for one in episode.decisions if (line := _line(one)) is not None and line < last]
    first = next((line for line, one in sorted(before, key=itemgetter(0)) if _changes(one)), last + 1)
    yield from (one for one in failures if (_line(one.event) or 0) < first)


def _changes(decision: Decision) -> bool:
    """Whether it may have changed something: an edit, a delegation, a command that is neither look nor check."""
    action = decision.action
    if action is None or action.verb in _EDITS:
        return action is not None
    parts = parse_command(action.command or "") if action.verb == "run" else ()
    return any(part.purpose not in {"look", "check"} for part in parts)


def _line(part: Decision | Event) -> int | None:
    return part.evidence.line if part.evidence and part.evidence.file is None else None
