"""The timeline of a session: the runs of each check, the changes between them, and what answers an error.

Links, fixes and the outcome ask the same few questions; `Timeline` works the answers out once. A check runs again and
again over a session, now on everything, now on one test. Which run shows that an earlier failure is repaired depends
on what each run looked at: `helix_episodes.extraction.checks.covers` compares that.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from functools import lru_cache
from typing import TYPE_CHECKING

import msgspec

from helix_episodes.extraction.calls import UNDONE, goes_on, is_code, places_in, subjects_of, written_by
from helix_episodes.extraction.checks import CheckFinding, CheckVerdict, covers
from helix_episodes.extraction.paths import file_name

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from helix_episodes.extraction.calls import CallSubject, ParsedCall
    from helix_episodes.extraction.drafts import NumberedEpisode
    from helix_episodes.extraction.shell.commands import Segment
    from helix_episodes.model import Decision, Event


#: Kinds of check that list everything they find, so that a family missing from the next run is a family repaired. A
#: compiler or a test run stops early and proves nothing by silence.
_COMPLETE = frozenset({"lint"})
#: Families after which a linter could not look further; what it then leaves out is not repaired.
_CUTS_SHORT = re.compile(r"compile|syntax|undefined|type mismatch|missing method|redeclared|unused (import|variable)")


#: What ``git stash`` does besides putting aside: bringing back, and looking.
_UNSTASHING = frozenset({"pop", "apply", "drop", "clear", "branch"})
_LOOKING = frozenset({"list", "show"})


class CheckRun(msgspec.Struct, frozen=True, kw_only=True):
    """One verdict of one check. ``events`` are the ids of the events it became, ``families`` those it complained of.

    ``ground`` is as much of the verdict as says what was looked at. ``call`` is None where nobody ran it in this
    session: a failure that only words report.
    """

    call: int | None
    position: int
    verdict: CheckVerdict
    ground: CheckVerdict
    events: tuple[str, ...]
    families: frozenset[str]

    @property
    def passed(self) -> bool:
        """Whether the check was content."""
        return self.verdict.passed is True


def runs_by_check(
    calls: Sequence[ParsedCall], numbered: NumberedEpisode
) -> tuple[dict[str, list[CheckRun]], tuple[CheckRun, ...]]:
    """The runs of each check that gave a verdict, in order; and apart those made while the changes were put aside.

    ``git stash`` takes the work away until ``git stash pop``: what a check says in between is about the tree without
    it.
    """
    runs: dict[str, list[CheckRun]] = {}
    aside: list[CheckRun] = []
    for run in sorted([*_made(calls, numbered, aside), *_reported_runs(numbered)], key=lambda run: run.position):
        runs.setdefault(run.verdict.check, []).append(run)
    return runs, tuple(aside)


def _made(calls: Sequence[ParsedCall], numbered: NumberedEpisode, aside: list[CheckRun]) -> Iterator[CheckRun]:
    stashed = False
    for number, call in enumerate(calls):
        before, stashed = stashed, _is_stashed(call, before=stashed)
        for verdict in () if call.outside else call.verdicts:
            if verdict.passed is None:
                continue
            run = _run(number, call, verdict, numbered)
            if before or stashed:
                aside.append(run)
            else:
                yield run


def _is_stashed(call: ParsedCall, *, before: bool) -> bool:
    """Whether the changes are put aside after a call."""
    if call.operation != "run" or call.status in {*UNDONE, "error"}:
        return before
    for segment in call.segments:
        if segment.program == "git" and (segment.subcommand or "").partition(" ")[0] == "stash":
            words = {*(segment.subcommand or "").split(), *segment.arguments[:2]}
            before = not words & _UNSTASHING and (before or not words & _LOOKING)
    return before


def _run(number: int, call: ParsedCall, verdict: CheckVerdict, numbered: NumberedEpisode) -> CheckRun:
    events = [numbered.event(name) for name in numbered.events_of.get(number, ())]
    mine = [event for event in events if event.check == verdict.check]
    position = call.position if call.result_position is None else call.result_position
    return _of(verdict, mine, call=number, position=position)


def _reported_runs(numbered: NumberedEpisode) -> Iterator[CheckRun]:
    """Failures of a check that a person shows or an editor sends along, as the runs they tell of."""
    together: dict[tuple[int, str], list[str]] = {}
    for name, reported in numbered.reported.items():
        if reported.verdict is not None:
            together.setdefault((numbered.positions[name], reported.verdict.check), []).append(name)
    for (position, _), names in together.items():
        verdict = numbered.reported[names[0]].verdict
        if verdict is not None:
            yield _of(verdict, [numbered.event(name) for name in names], call=None, position=position)


def _of(verdict: CheckVerdict, mine: Sequence[Event], *, call: int | None, position: int) -> CheckRun:
    return CheckRun(
        call=call,
        position=position,
        verdict=verdict,
        ground=_ground(verdict),
        events=tuple(event.id for event in mine),
        families=frozenset(event.family for event in mine if event.family),
    )


def _ground(verdict: CheckVerdict) -> CheckVerdict:
    named = tuple(CheckFinding(family="", message="", tests=found.tests) for found in verdict.findings)
    return CheckVerdict(
        check=verdict.check,
        kind=verdict.kind,
        passed=None,
        scope=verdict.scope,
        task=verdict.task,
        echoed=verdict.echoed,
        findings=named,
    )


#: A long session compares every failure with every later run, and nearly all of them look at the same few things.
_covers = lru_cache(maxsize=4096)(covers)


def looked_on(run: CheckRun) -> bool:
    """Whether a run got as far as judging: what does not compile was not linted or tested."""
    return not any(_CUTS_SHORT.search(name) for name in run.families)


def repaired(run: CheckRun, failure: CheckRun, family: str) -> bool:
    """Whether ``run`` shows that a failure of that family is gone."""
    if not _covers(run.ground, failure.ground):
        return False
    if run.passed:
        return True
    complete = run.verdict.kind in _COMPLETE and looked_on(run)
    return complete and family not in run.families


#: Commands that change the files a check looks at as surely as an edit does; None stands for any subcommand.
_CHANGES_FILES: dict[str, frozenset[str] | None] = {
    **dict.fromkeys(("rm", "mv", "cp", "sed", "perl", "patch", "ln", "cat", "tee", "echo", "printf")),
    **dict.fromkeys(("pip", "npm", "yarn", "pnpm", "uv", "poetry", "bundle")),
    "git": frozenset(
        [
            "apply",
            "checkout",
            "cherry-pick",
            "merge",
            "mv",
            "pull",
            "rebase",
            "reset",
            "restore",
            "revert",
            "rm",
            "stash",
            "stash apply",
            "stash pop",
            "stash push",
        ]
    ),
    "go": frozenset(["get", "generate", "mod"]),
    "cargo": frozenset(["add", "update", "remove"]),
}
#: Kinds of check whose message points at the line that is wrong; a test's points at the test.
_POINTS_AT_PLACE = frozenset({"lint", "typecheck", "build", "format"})
#: Where people try things out; what is done there changes nothing of the project.
_SCRATCH = ("/tmp", "/private/tmp", "/var/", "$TMP", "~")  # noqa: S108  (read, not used)
#: Flags with which a checker rewrites what it finds.
_REWRITES = frozenset({"--fix", "--write", "--update-snapshots", "--unsafe-fixes", "-u"})


class Timeline:
    """The calls and the numbered decisions and events of one session, with the runs of its checks."""

    def __init__(self, calls: Sequence[ParsedCall], numbered: NumberedEpisode) -> None:
        self.calls = calls
        self.numbered = numbered
        self.runs, self.aside = runs_by_check(calls, numbered)
        #: The place, among the runs of its check, of the run that each of their events came of.
        self.run_of = {
            name: place for runs in self.runs.values() for place, run in enumerate(runs) for name in run.events
        }
        self._about = self._by_subject()
        self._wrong: dict[str, bool] = {}
        self._repairs: dict[tuple[str, CheckVerdict, str], list[int]] = {}

    def call_of(self, event: Event) -> ParsedCall:
        """The call that an event came of."""
        return self.calls[self.numbered.call_of[event.id]]

    def calls_of(self, decision: Decision) -> list[ParsedCall]:
        """The calls that carried a decision out."""
        return [self.calls[number] for number in self.numbered.calls_of[decision.id]]

    def events_of(self, decision: Decision) -> Iterator[Event]:
        """What came of a decision's calls."""
        for number in self.numbered.calls_of[decision.id]:
            for name in self.numbered.events_of.get(number, ()):
                yield self.numbered.event(name)

    def went_wrong(self, decision: Decision) -> bool:
        """Whether none of its calls went through: each failed, was refused or never ran."""
        if decision.id not in self._wrong:
            numbers = self.numbered.calls_of[decision.id]
            self._wrong[decision.id] = bool(numbers) and all(self._failed(number) for number in numbers)
        return self._wrong[decision.id]

    def _failed(self, number: int) -> bool:
        """Whether a call failed by its own status or by an error of its own: a check that complains did run."""
        call = self.calls[number]
        if call.status in UNDONE:
            return True
        events = (self.numbered.event(name) for name in self.numbered.events_of.get(number, ()))
        return not call.verdicts and (call.status == "error" or any(event.type == "error" for event in events))

    def changes_files(self, decision: Decision) -> bool:
        """Whether one of its calls changed a file through a tool of the agent."""
        return any(call.changes_files for call in self.calls_of(decision))

    def changes_between(
        self, start: int, end: int | None, *, kind: str | None, named: str | None = None
    ) -> list[Decision]:
        """The decisions between two positions that changed what a check of that kind looks at, or the ``named`` file.

        A formatter, or a checker asked to rewrite, counts only where nothing else changed anything: it runs before
        every check and is rarely why one passes.
        """
        between = [one for one in self.numbered.decisions_between(start, end) if not self.went_wrong(one)]
        sure = [
            one
            for one in between
            if (self.changes_files(one) and (touches(one, named) or not _beside(one, kind))) or self._moves_files(one)
        ]
        return sure or [one for one in between if self._may_change_files(one)]

    def removals_between(self, start: int, end: int) -> list[Decision]:
        """The decisions between two positions that took something away by a command, wherever it lay."""
        between = [one for one in self.numbered.decisions_between(start, end) if not self.went_wrong(one)]
        return [one for one in between if any(part.program == "rm" for part in self._commands(one))]

    def answer_to(self, error: Event) -> Decision | None:
        """The decision that first deals with an error, or None when the log shows none."""
        reported = self.numbered.reported.get(error.id)
        if reported is not None and reported.verdict is None:
            after = self.numbered.decisions_between(self.numbered.positions[error.id], reported.until)
            return next((one for one in after if one.actor == "agent" and self.calls_of(one)), None)
        if error.check in self.runs:
            return self._answer_to_check(error)
        return self._answer_to_call(error) if error.id in self.numbered.call_of else None

    def _answer_to_call(self, error: Event) -> Decision | None:
        """The next attempt at the same, or a change before it to a file that a failed command points at."""
        again = next(iter(self.attempts_after(error)), None)
        positions = self.numbered.positions
        changes = self.changes_to(
            places_in(self.call_of(error)), positions[error.id], positions[again.id] if again else None
        )
        return next(iter(changes), again)

    def changes_to(self, names: Collection[str], start: int, end: int | None) -> list[Decision]:
        """The decisions between two positions that wrote a file of one of these names, wherever it lies."""
        between = self.numbered.decisions_between(start, end) if names else []
        return [one for one in between if not self.went_wrong(one) and not self._written(one).isdisjoint(names)]

    def _written(self, decision: Decision) -> set[str]:
        paths = (written_by(call) or () for call in self.calls_of(decision))
        return {file_name(path) for several in paths for path in several}

    def attempts_after(self, error: Event) -> list[Decision]:
        """The later decisions on the same file, for an error of a tool; with the same command, for one of a command.

        Code handed to a terminal counts as the same only where it goes on with the same work, whoever wrote it: members
        of a group take turns there.
        """
        subject = next(subjects_of(self.call_of(error)), None)
        about = self._about.get(subject, []) if subject else []
        after = bisect_right(about, self.numbered.positions[error.id], key=lambda one: self.numbered.positions[one.id])
        failed = self.call_of(error)
        if is_code(failed):
            return [one for one in about[after:] if any(goes_on(failed, call) for call in self.calls_of(one))]
        return [one for one in about[after:] if one.actor == error.actor]

    def next_repair(self, check: str, place: int, family: str) -> int | None:
        """The place of the first run after ``place`` that shows that its failure of that family is gone.

        Worked out once for all failures that looked at the same things; a long session has thousands.
        """
        runs, failure = self.runs[check], self.runs[check][place]
        key = (check, failure.ground, family)
        if key not in self._repairs:
            self._repairs[key] = [at for at, run in enumerate(runs) if repaired(run, failure, family)]
        found = self._repairs[key]
        after = bisect_right(found, place)
        return found[after] if after < len(found) else None

    def passed_as(self, command: str, start: int) -> CheckRun | None:
        """The first run after a position in which every check of a command, word for word the same, passed."""
        for number, call in enumerate(self.calls):
            same = call.position > start and any(part.text == command for part in call.segments)
            if same and call.verdicts and all(verdict.passed for verdict in call.verdicts):
                return next((run for runs in self.runs.values() for run in runs if run.call == number), None)
        return None

    def last_run_before(self, check: str, position: int) -> CheckRun | None:
        """The last run of a check before a position."""
        before = bisect_left(self.runs[check], position, key=_position)
        return self.runs[check][before - 1] if before else None

    def families_next(self, check: str, position: int) -> frozenset[str]:
        """What the next run of a check after a position complains of; nothing when it passes or there is none."""
        runs = self.runs[check]
        after = bisect_right(runs, position, key=_position)
        return runs[after].families if after < len(runs) and not runs[after].passed else frozenset()

    def _by_subject(self) -> dict[CallSubject, list[Decision]]:
        """The decisions by what their calls are about, each once."""
        about: dict[CallSubject, list[Decision]] = {}
        for decision in self.numbered.decisions:
            for subject in {one for call in self.calls_of(decision) for one in subjects_of(call)}:
                about.setdefault(subject, []).append(decision)
        return about

    def _answer_to_check(self, error: Event) -> Decision | None:
        """A change to the file that the failure names, else any change before the check runs again, else that run."""
        runs, position = self.runs[error.check or ""], self.numbered.positions[error.id]
        after = bisect_right(runs, position, key=_position)
        again = runs[after] if after < len(runs) else None
        end = again.position if again else None
        changes = self.changes_between(position, end, kind=runs[0].verdict.kind, named=error.path)
        named = [one for one in changes if touches(one, error.path)]
        if named or again is None:
            return next(iter(named), None)
        return next(iter(changes), None) or self._rerun(again.call, position)

    def _rerun(self, call: int | None, position: int) -> Decision | None:
        """The decision to run a check again, unless it is the one that failed, merely repeated."""
        name = None if call is None else self.numbered.decision_of.get(call)
        later = name is not None and self.numbered.positions[name] > position
        return self.numbered.decision(name) if name and later else None

    def _moves_files(self, decision: Decision) -> bool:
        """Whether it is a command that is known to change files of the repository."""
        return any(changes_repository(segment) for segment in self._segments(decision))

    def _may_change_files(self, decision: Decision) -> bool:
        """Whether it is a formatter or a checker that rewrites."""
        return any(one.purpose == "format" or _REWRITES.intersection(one.flags) for one in self._segments(decision))

    def _segments(self, decision: Decision) -> list[Segment]:
        """What its commands were run for."""
        inside = (call for call in self.calls_of(decision) if not call.outside)
        return [call.decisive for call in inside if call.decisive is not None]

    def _commands(self, decision: Decision) -> list[Segment]:
        return [segment for call in self.calls_of(decision) for segment in call.segments]


def _position(run: CheckRun) -> int:
    return run.position


def touches(decision: Decision, path: str | None) -> bool:
    """Whether a decision is about the file that ``path`` ends in; tools and checks give different parts of a path."""
    own = decision.action.path if decision.action else None
    return bool(own and path) and file_name(own or "") == file_name(path or "")


def pointed_at(changes: Sequence[Decision], event: Event, *, kind: str | None) -> Sequence[Decision]:
    """Of several changes those to the file that an error names, where its check points at the place; else all."""
    if event.type != "error" or event.path is None or kind not in _POINTS_AT_PLACE:
        return changes
    return [one for one in changes if touches(one, event.path)] or changes


def _beside(decision: Decision, kind: str | None) -> bool:
    """Whether an edit is of no concern to a check: prose to anything but a formatter, tests to a mere build."""
    role = decision.action.role if decision.action else None
    return (role == "docs" and kind != "format") or (role == "test" and kind == "build")


def changes_repository(segment: Segment) -> bool:
    """Whether a command is known to change files of the repository."""
    subcommands = _CHANGES_FILES.get(segment.program, frozenset())
    if segment.purpose != "change" or (subcommands is not None and segment.subcommand not in subcommands):
        return False
    if "--abort" in segment.arguments:
        return False
    paths = [segment.target] if segment.target else [part for part in segment.arguments if not part.startswith("-")]
    return not paths or not all(part.startswith(_SCRATCH) for part in paths)
