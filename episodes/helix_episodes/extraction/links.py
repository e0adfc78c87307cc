"""Links: what led to what within a session, each with the reason it was drawn for.

Order in time alone makes no link. Every rule here rests on something the log shows: a call and its result, the same
check, the same file, the same command. All links run forwards in time, so they cannot form a cycle; fixes, which run
backwards (a change removes an error that came before it), are kept apart in `helix_episodes.extraction.fixes`.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from helix_episodes.extraction.acts import Act, mentions_file
from helix_episodes.extraction.paths import file_name
from helix_episodes.extraction.runs import Run, runs_by_check
from helix_episodes.model import Decision, Event, Link

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from helix_episodes.extraction.account import Account

#: Programs whose commands change no file that a check looks at.
_NOT_ON_FILES = frozenset({"git", "gh", "mkdir", "curl", "kill", "docker", "open"})


class Linker:
    """Draws the links of one account. Holds nothing but what it was given, so that each rule is a short method."""

    def __init__(self, acts: Sequence[Act], account: Account) -> None:
        self.acts = acts
        self.account = account
        self.runs = runs_by_check(acts, account)

    def links(self) -> tuple[Link, ...]:
        """Every link once, by source, target and reason."""
        found = [*self.calls(), *self.handoffs(), *self.answers(), *self.edit_tests(), *self.commits()]
        return tuple(sorted(dict.fromkeys(found), key=lambda link: (link.source, link.target, link.reason)))

    def calls(self) -> Iterator[Link]:
        """A decision and what came of its calls."""
        for decision in self.account.decisions:
            for event in self._events(decision):
                if event.type != "handoff":
                    yield Link(source=decision.id, target=event.id, reason="call")

    def handoffs(self) -> Iterator[Link]:
        """A delegation, its hand-off, and what came back."""
        for decision in self.account.decisions:
            chain = [decision.id, *(event.id for event in self._events(decision) if event.type == "handoff")]
            for source, target in pairwise(chain):
                yield Link(source=source, target=target, reason="spawn")

    def answers(self) -> Iterator[Link]:
        """An error and the first later decision on the same check, command or named file."""
        for event in self.account.events:
            answer = self.answer_to(event) if event.type == "error" else None
            if answer is not None:
                yield Link(source=event.id, target=answer.id, reason="answer")

    def edit_tests(self) -> Iterator[Link]:
        """A change and the verdict of the next run of each check over it."""
        for runs in self.runs.values():
            previous: Run | None = None
            for run in runs:
                targets = self._news(run, previous)
                for decision in self.changes_between(
                    previous.position if previous else -1, run.position, kind=run.verdict.kind
                ):
                    for target in targets:
                        yield Link(source=decision.id, target=target, reason="edit-test")
                previous = run

    def commits(self) -> Iterator[Link]:
        """The edits since the last commit, and the commit that holds them."""
        since = -1
        for event in self.account.events:
            if event.type != "commit":
                continue
            position = self.account.positions[event.id]
            named = self._staged(since, position)
            for decision in self.account.decisions_between(since, position):
                path = decision.action.path if decision.action else None
                if (
                    path
                    and self.changes_files(decision)
                    and (not named or any(file_name(path) in part for part in named))
                ):
                    yield Link(source=decision.id, target=event.id, reason="commit", type="enables")
            since = position

    def answer_to(self, error: Event) -> Decision | None:
        """The decision that first deals with an error, or None when the log shows none."""
        act = self.acts[self.account.act_of[error.id]]
        if act.operation != "run":
            return self._first_on_file(error, act)
        if error.check in self.runs:
            return self._first_for_check(error)
        return self._first_alike(error, act)

    def _first_on_file(self, error: Event, act: Act) -> Decision | None:
        """For an error of a tool: the next decision about the same file, or with the same tool where there is none."""

        def fits(other: Act) -> bool:
            if act.path is None:
                return other.call.tool == act.call.tool and other.operation == act.operation
            return other.operation != "run" and mentions_file(other, act.path)

        return self._first(error, fits)

    def _first_for_check(self, error: Event) -> Decision | None:
        """For a failed check: a change to the file it names, else any change before it runs again, else that run."""
        position = self.account.positions[error.id]
        again = next((run for run in self.runs[error.check or ""] if run.position > position), None)
        kind = next(iter(self.runs[error.check or ""])).verdict.kind
        changes = self.changes_between(position, again.position if again else None, kind=kind)
        name = file_name(error.path) if error.path else None
        named = [
            one for one in changes if name and one.action and one.action.path and file_name(one.action.path) == name
        ]
        if named:
            return named[0]
        if again is None:
            return None
        rerun = self.account.decision_of.get(again.act)
        later = rerun is not None and self.account.positions[rerun] > position
        return next(iter(changes), self.account.decision(rerun) if rerun and later else None)

    def _first_alike(self, error: Event, act: Act) -> Decision | None:
        """For a failed command: the next one with the same program and subcommand."""
        segment = act.decisive
        if segment is None:
            return None

        def fits(other: Act) -> bool:
            twin = other.decisive
            return twin is not None and (twin.program, twin.subcommand) == (segment.program, segment.subcommand)

        return self._first(error, fits)

    def _first(self, error: Event, fits: Callable[[Act], bool]) -> Decision | None:
        after = self.account.decisions_between(self.account.positions[error.id])
        mine = (one for one in after if one.actor == error.actor)
        return next((one for one in mine if any(fits(self.acts[n]) for n in self.account.acts_of[one.id])), None)

    def changes_between(self, start: int, end: int | None, *, kind: str | None) -> list[Decision]:
        """The decisions between two positions that changed something a check of that kind looks at."""
        between = self.account.decisions_between(start, end)
        edits = [one for one in between if self.changes_files(one) and not self._beside(one, kind)]
        return edits or [one for one in between if self._command_changes_files(one)]

    def changes_files(self, decision: Decision) -> bool:
        """Whether one of its calls changed a file through a tool."""
        return any(self.acts[number].changes_files for number in self.account.acts_of[decision.id])

    def _command_changes_files(self, decision: Decision) -> bool:
        segments = [self.acts[number].decisive for number in self.account.acts_of[decision.id]]
        return any(
            one is not None and one.purpose in {"change", "format"} and one.program not in _NOT_ON_FILES
            for one in segments
        )

    @staticmethod
    def _beside(decision: Decision, kind: str | None) -> bool:
        """Whether an edit is of no concern to a check: prose, for anything that compiles or runs code."""
        return decision.action is not None and decision.action.role == "docs" and kind != "format"

    def _events(self, decision: Decision) -> Iterator[Event]:
        for number in self.account.acts_of[decision.id]:
            for name in self.account.events_of.get(number, ()):
                yield self.account.event(name)

    def _news(self, run: Run, previous: Run | None) -> list[str]:
        """The events of a run that a change before it may have brought about: not a failure that was there already."""
        known = previous.families if previous else frozenset()
        events = [self.account.event(name) for name in run.events]
        return [event.id for event in events if event.type != "error" or event.family not in known]

    def _staged(self, start: int, end: int) -> tuple[str, ...]:
        """The paths that ``git add`` named between two positions; empty when it took everything."""
        paths: list[str] = []
        for act in self.acts:
            if start < act.position <= end:
                adds = (one for one in act.segments if one.program == "git" and one.subcommand == "add")
                paths += [part for one in adds for part in one.arguments if not part.startswith("-") and part != "add"]
        return () if any(part in {".", "*", ":/"} for part in paths) else tuple(paths)
