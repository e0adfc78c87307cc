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

    ``ground`` is as much of the verdict as says what was looked at. ``act`` is None where nobody ran it in this
    session: a failure that only words report.
    """

    act: int | None
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
    acts: Sequence[ParsedCall], account: NumberedEpisode
) -> tuple[dict[str, list[CheckRun]], tuple[CheckRun, ...]]:
    """The runs of each check that gave a verdict, in order; and apart those made while the changes were put aside.

    ``git stash`` takes the work away until ``git stash pop``: what a check says in between is about the tree without
    it.
    """
    runs: dict[str, list[CheckRun]] = {}
    aside: list[CheckRun] = []
    for run in sorted([*_made(acts, account, aside), *_reported_runs(account)], key=lambda run: run.position):
        runs.setdefault(run.verdict.check, []).append(run)
    return runs, tuple(aside)


def _made(acts: Sequence[ParsedCall], account: NumberedEpisode, aside: list[CheckRun]) -> Iterator[CheckRun]:
    stashed = False
    for number, act in enumerate(acts):
        before, stashed = stashed, _is_stashed(act, before=stashed)
        for verdict in () if act.outside else act.verdicts:
            if verdict.passed is None:
                continue
            run = _run(number, act, verdict, account)
            if before or stashed:
                aside.append(run)
            else:
                yield run


def _is_stashed(act: ParsedCall, *, before: bool) -> bool:
    """Whether the changes are put aside after a call."""
    if act.operation != "run" or act.status in {*UNDONE, "error"}:
        return before
    for segment in act.segments:
        if segment.program == "git" and (segment.subcommand or "").partition(" ")[0] == "stash":
            words = {*(segment.subcommand or "").split(), *segment.arguments[:2]}
            before = not words & _UNSTASHING and (before or not words & _LOOKING)
    return before


def _run(number: int, act: ParsedCall, verdict: CheckVerdict, account: NumberedEpisode) -> CheckRun:
    events = [account.event(name) for name in account.events_of.get(number, ())]
    mine = [event for event in events if event.check == verdict.check]
    position = act.position if act.result_position is None else act.result_position
    return _of(verdict, mine, act=number, position=position)


def _reported_runs(account: NumberedEpisode) -> Iterator[CheckRun]:
    """Failures of a check that a person shows or an editor sends along, as the runs they tell of."""
    together: dict[tuple[int, str], list[str]] = {}
    for name, told in account.told.items():
        if told.verdict is not None:
            together.setdefault((account.positions[name], told.verdict.check), []).append(name)
    for (position, _), names in together.items():
        verdict = account.told[names[0]].verdict
        if verdict is not None:
            yield _of(verdict, [account.event(name) for name in names], act=None, position=position)


def _of(verdict: CheckVerdict, mine: Sequence[Event], *, act: int | None, position: int) -> CheckRun:
    return CheckRun(
        act=act,
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
    """The calls and the numbered account of one session, with the runs of its checks."""

    def __init__(self, acts: Sequence[ParsedCall], account: NumberedEpisode) -> None:
        self.acts = acts
        self.account = account
        self.runs, self.aside = runs_by_check(acts, account)
        #: The place, among the runs of its check, of the run that each of their events came of.
        self.run_of = {
            name: place for runs in self.runs.values() for place, run in enumerate(runs) for name in run.events
        }
        self._about = self._by_subject()
        self._wrong: dict[str, bool] = {}
        self._repairs: dict[tuple[str, CheckVerdict, str], list[int]] = {}

    def act_of(self, event: Event) -> ParsedCall:
        """The call that an event came of."""
        return self.acts[self.account.act_of[event.id]]

    def acts_of(self, decision: Decision) -> list[ParsedCall]:
        """The calls that carried a decision out."""
        return [self.acts[number] for number in self.account.acts_of[decision.id]]

    def events_of(self, decision: Decision) -> Iterator[Event]:
        """What came of a decision's calls."""
        for number in self.account.acts_of[decision.id]:
            for name in self.account.events_of.get(number, ()):
                yield self.account.event(name)

    def went_wrong(self, decision: Decision) -> bool:
        """Whether none of its calls went through: each failed, was refused or never ran."""
        if decision.id not in self._wrong:
            numbers = self.account.acts_of[decision.id]
            self._wrong[decision.id] = bool(numbers) and all(self._failed(number) for number in numbers)
        return self._wrong[decision.id]

    def _failed(self, number: int) -> bool:
        """Whether a call failed by its own status or by an error of its own: a check that complains did run."""
        act = self.acts[number]
        if act.status in UNDONE:
            return True
        events = (self.account.event(name) for name in self.account.events_of.get(number, ()))
        return not act.verdicts and (act.status == "error" or any(event.type == "error" for event in events))

    def changes_files(self, decision: Decision) -> bool:
        """Whether one of its calls changed a file through a tool of the agent."""
        return any(act.changes_files for act in self.acts_of(decision))

    def changes_between(
        self, start: int, end: int | None, *, kind: str | None, named: str | None = None
    ) -> list[Decision]:
        """The decisions between two positions that changed what a check of that kind looks at, or the ``named`` file.

        A formatter, or a checker asked to rewrite, counts only where nothing else changed anything: it runs before
        every check and is rarely why one passes.
        """
        between = [one for one in self.account.decisions_between(start, end) if not self.went_wrong(one)]
        sure = [
            one
            for one in between
            if (self.changes_files(one) and (touches(one, named) or not _beside(one, kind))) or self._moves_files(one)
        ]
        return sure or [one for one in between if self._may_change_files(one)]

    def removals_between(self, start: int, end: int) -> list[Decision]:
        """The decisions between two positions that took something away by a command, wherever it lay."""
        between = [one for one in self.account.decisions_between(start, end) if not self.went_wrong(one)]
        return [one for one in between if any(part.program == "rm" for part in self._commands(one))]

    def answer_to(self, error: Event) -> Decision | None:
        """The decision that first deals with an error, or None when the log shows none."""
        told = self.account.told.get(error.id)
        if told is not None and told.verdict is None:
            after = self.account.decisions_between(self.account.positions[error.id], told.until)
            return next((one for one in after if one.actor == "agent" and self.acts_of(one)), None)
        if error.check in self.runs:
            return self._answer_to_check(error)
        return self._answer_to_call(error) if error.id in self.account.act_of else None

    def _answer_to_call(self, error: Event) -> Decision | None:
        """The next attempt at the same, or a change before it to a file that a failed command points at."""
        again = next(iter(self.attempts_after(error)), None)
        positions = self.account.positions
        changes = self.changes_to(
            places_in(self.act_of(error)), positions[error.id], positions[again.id] if again else None
        )
        return next(iter(changes), again)

    def changes_to(self, names: Collection[str], start: int, end: int | None) -> list[Decision]:
        """The decisions between two positions that wrote a file of one of these names, wherever it lies."""
        between = self.account.decisions_between(start, end) if names else []
        return [one for one in between if not self.went_wrong(one) and not self._written(one).isdisjoint(names)]

    def _written(self, decision: Decision) -> set[str]:
        paths = (written_by(act) or () for act in self.acts_of(decision))
        return {file_name(path) for several in paths for path in several}

    def attempts_after(self, error: Event) -> list[Decision]:
        """The later decisions on the same file, for an error of a tool; with the same command, for one of a command.

        Code handed to a terminal counts as the same only where it goes on with the same work, whoever wrote it: members
        of a group take turns there.
        """
        subject = next(subjects_of(self.act_of(error)), None)
        about = self._about.get(subject, []) if subject else []
        after = bisect_right(about, self.account.positions[error.id], key=lambda one: self.account.positions[one.id])
        failed = self.act_of(error)
        if is_code(failed):
            return [one for one in about[after:] if any(goes_on(failed, act) for act in self.acts_of(one))]
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
        for number, act in enumerate(self.acts):
            same = act.position > start and any(part.text == command for part in act.segments)
            if same and act.verdicts and all(verdict.passed for verdict in act.verdicts):
                return next((run for runs in self.runs.values() for run in runs if run.act == number), None)
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
        for decision in self.account.decisions:
            for subject in {one for act in self.acts_of(decision) for one in subjects_of(act)}:
                about.setdefault(subject, []).append(decision)
        return about

    def _answer_to_check(self, error: Event) -> Decision | None:
        """A change to the file that the failure names, else any change before the check runs again, else that run."""
        runs, position = self.runs[error.check or ""], self.account.positions[error.id]
        after = bisect_right(runs, position, key=_position)
        again = runs[after] if after < len(runs) else None
        end = again.position if again else None
        changes = self.changes_between(position, end, kind=runs[0].verdict.kind, named=error.path)
        named = [one for one in changes if touches(one, error.path)]
        if named or again is None:
            return next(iter(named), None)
        return next(iter(changes), None) or self._rerun(again.act, position)

    def _rerun(self, act: int | None, position: int) -> Decision | None:
        """The decision to run a check again, unless it is the one that failed, merely repeated."""
        name = None if act is None else self.account.decision_of.get(act)
        later = name is not None and self.account.positions[name] > position
        return self.account.decision(name) if name and later else None

    def _moves_files(self, decision: Decision) -> bool:
        """Whether it is a command that is known to change files of the repository."""
        return any(changes_repository(segment) for segment in self._segments(decision))

    def _may_change_files(self, decision: Decision) -> bool:
        """Whether it is a formatter or a checker that rewrites."""
        return any(one.purpose == "format" or _REWRITES.intersection(one.flags) for one in self._segments(decision))

    def _segments(self, decision: Decision) -> list[Segment]:
        """What its commands were run for."""
        inside = (act for act in self.acts_of(decision) if not act.outside)
        return [act.decisive for act in inside if act.decisive is not None]

    def _commands(self, decision: Decision) -> list[Segment]:
        return [segment for act in self.acts_of(decision) for segment in act.segments]


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
