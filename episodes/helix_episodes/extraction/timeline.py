"""The timeline of a session: its numbered decisions and events, the runs of each check, and what answers an error.

The stages that find decisions and events draft them independently. `Timeline` sorts the drafts by time, numbers them
(``d001`` …, ``e001`` …), and answers what links, fixes and the outcome ask. A check runs again and again over a
session, now on everything, now on one test. Which run shows that an earlier failure is repaired depends on what each
run looked at: `helix_episodes.extraction.checks.covers` compares that.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from operator import attrgetter
from typing import TYPE_CHECKING

from msgspec.structs import replace

from helix_episodes.extraction.calls import UNDONE, goes_on, is_code, places_in, subjects_of, written_by
from helix_episodes.extraction.check_runs import (
    CheckRun,
    RunComplaint,
    changes_repository,
    does_not_compile,
    folder_of,
    is_put_back,
    is_stashed,
    is_stashed_after,
    is_there_to_repair,
    is_trial,
    is_unrelated,
    rewrites,
    run_of,
    settles,
    shows_repaired,
    touches,
)
from helix_episodes.extraction.checks.ci import CI
from helix_episodes.extraction.paths import file_name

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

    from helix_episodes.extraction.calls import CallSubject, ParsedCall
    from helix_episodes.extraction.checks import Verdict
    from helix_episodes.extraction.drafts import DraftDecision, DraftEvent
    from helix_episodes.extraction.shell.commands import Segment
    from helix_episodes.model import Decision, Event

#: Kinds of check whose message points at the line that is wrong; a test's points at the test.
POINTS_AT_PLACE = frozenset({"lint", "typecheck", "build", "format"})
_MERGES = frozenset({"merge", "rebase", "pull", "cherry-pick"})
_GOES_ON = frozenset({"--continue", "--skip", "--abort", "--quit"})


_position = attrgetter("position")


def _from_the_end(run: CheckRun) -> int:
    return -run.position


class _Search:
    """Looks for places below ``count`` at which something holds, and at each at most once.

    It looks no further than it was asked: a failing run is mostly repaired by one that follows soon.

    >>> asked = []
    >>> search = _Search(1000, lambda at: asked.append(at) or at % 10 == 0)
    >>> search.first_from(8), search.first_from(9), search.first_from(995), asked
    (10, 10, None, [8, 9, 10, 995, 996, 997, 998, 999])
    """

    def __init__(self, count: int, holds: Callable[[int], bool]) -> None:
        self._count = count
        self._holds = holds
        self._known: dict[int, bool] = {}
        self._next: dict[int, int | None] = {}

    def holds(self, place: int) -> bool:
        """Whether it holds at a place."""
        if place not in self._known:
            self._known[place] = self._holds(place)
        return self._known[place]

    def first_from(self, start: int) -> int | None:
        """The first such place from ``start`` on."""
        passed = []
        found: int | None = start
        while found is not None and (found >= self._count or not self.holds(found)):
            passed.append(found)
            found = None if found >= self._count else self._next.get(found, found + 1)
        self._next.update(dict.fromkeys(passed, found))
        return found


class Timeline:
    """The calls of one session, its numbered decisions and events, and the runs of its checks.

    ``positions`` has the place among the steps of every id, ``marked`` the id of every mark (a decision without one
    has ``d`` and its position), ``reported`` what is known of the failures that only words report. ``aside`` are the
    runs made while the changes were set aside: ``git stash`` takes the work away until ``git stash pop``.
    """

    def __init__(
        self, calls: Sequence[ParsedCall], decisions: Iterable[DraftDecision], events: Iterable[DraftEvent]
    ) -> None:
        """Puts drafts in order of time and numbers them from 1."""
        chosen = [(f"d{n:03}", draft) for n, draft in enumerate(sorted(decisions, key=_position), 1)]
        happened = [(f"e{n:03}", draft) for n, draft in enumerate(sorted(events, key=_position), 1)]
        self.calls = calls
        self.decisions = tuple(replace(draft.decision, id=name) for name, draft in chosen)
        self.events = tuple(replace(draft.event, id=name) for name, draft in happened)
        self.positions = {name: draft.position for name, draft in chosen}
        self.positions |= {name: draft.position for name, draft in happened}
        self.marked = {draft.mark: name for name, draft in happened if draft.mark}
        self.marked |= {draft.mark or f"d{draft.position}": name for name, draft in chosen}
        self.reported = {name: draft.reported for name, draft in happened if draft.reported is not None}
        self.call_numbers = {name: draft.call for name, draft in happened if draft.call is not None}
        self._carried_out = {name: draft.calls for name, draft in chosen}
        self._decision_of = {call: name for name, draft in chosen for call in draft.calls}
        self._events_of: dict[int, list[str]] = defaultdict(list)
        for name, number in self.call_numbers.items():
            self._events_of[number].append(name)
        self.runs: dict[str, list[CheckRun]] = {}
        self.aside: list[CheckRun] = []
        self._runs_of_call: dict[int, list[CheckRun]] = defaultdict(list)
        for run in sorted([*self._made_runs(), *self._reported_runs()], key=_position):
            self.runs.setdefault(run.verdict.check, []).append(run)
            if run.call is not None:
                self._runs_of_call[run.call].append(run)
        runs = sorted((run for runs in self.runs.values() for run in runs), key=_position)
        self._passing = [run for run in runs if run.passed]
        self._failing = [run for run in runs if not run.passed]
        self._settled: dict[tuple[Verdict, str | None, bool, str | None], _Search] = {}
        #: The place, among the runs of its check, of the run that each of their events came of.
        self.run_of = {
            name: place for runs in self.runs.values() for place, run in enumerate(runs) for name in run.events
        }
        self._about: dict[CallSubject, list[Decision]] = defaultdict(list)
        for decision in self.decisions:
            for subject in {one for call in self.calls_of(decision) for one in subjects_of(call)}:
                self._about[subject].append(decision)
        self._on_path: dict[str, list[ParsedCall]] = defaultdict(list)
        for call in calls:
            if call.path is not None:
                self._on_path[call.path].append(call)
        self._wrong: dict[str, bool] = {}
        self._repairs: dict[tuple[str, Verdict, str], _Search] = {}
        self._of_kind: dict[str | None, list[CheckRun]] = {}
        #: What the runs that failed name, by event, as far as `helix_episodes.extraction.fixes` has asked.
        self.complaints: dict[str, RunComplaint] = {}

    def decision(self, identity: str) -> Decision:
        """The decision of an id."""
        return self.decisions[int(identity[1:]) - 1]

    def event(self, identity: str) -> Event:
        """The event of an id."""
        return self.events[int(identity[1:]) - 1]

    def call_of(self, event: Event) -> ParsedCall:
        """The call that an event came of."""
        return self.calls[self.call_numbers[event.id]]

    def calls_of(self, decision: Decision) -> list[ParsedCall]:
        """The calls that carried a decision out."""
        return [self.calls[number] for number in self._carried_out[decision.id]]

    def calls_on(self, path: str) -> list[ParsedCall]:
        """The calls that name a file as theirs, in order."""
        return self._on_path.get(path, [])

    def events_of(self, decision: Decision) -> Iterator[Event]:
        """What came of a decision's calls."""
        for number in self._carried_out[decision.id]:
            yield from self.events_of_call(number)

    def runs_of_call(self, number: int) -> list[CheckRun]:
        """The runs of checks on the session's own tree that a call made."""
        return self._runs_of_call.get(number, [])

    def events_of_call(self, number: int) -> list[Event]:
        """What came of a call."""
        return [self.event(name) for name in self._events_of.get(number, ())]

    def decision_of(self, number: int) -> Decision | None:
        """The decision that a call carried out, if it was one."""
        name = self._decision_of.get(number)
        return self.decision(name) if name is not None else None

    def merges_again(self, decision: Decision) -> bool:
        """Whether it begins a merge of its own."""
        segments = (part for call in self.calls_of(decision) for part in call.segments if part.program == "git")
        return any(part.subcommand in _MERGES and _GOES_ON.isdisjoint(part.arguments) for part in segments)

    def decisions_between(self, start: int, end: int | None = None) -> list[Decision]:
        """The decisions taken after position ``start`` and before ``end``, in order."""
        first = bisect_right(self.decisions, start, key=self._taken_at)
        last = len(self.decisions) if end is None else bisect_left(self.decisions, end, key=self._taken_at)
        return list(self.decisions[first:last])

    def _taken_at(self, decision: Decision) -> int:
        return self.positions[decision.id]

    # Runs of checks.

    def _made_runs(self) -> Iterator[CheckRun]:
        """Every verdict of a check that a call ran; those of a tree without the session's changes go aside."""
        stashed = False
        for number, call in enumerate(self.calls):
            before, stashed = stashed, is_stashed(call, before=stashed)
            for verdict in () if call.outside else call.verdicts:
                if verdict.passed is None or is_put_back(call, verdict) or is_trial(call, verdict):
                    continue
                events = [event for event in self.events_of_call(number) if event.check == verdict.check]
                position = call.position if call.result_position is None else call.result_position
                run = run_of(verdict, events, call=number, position=position)
                if is_stashed_after(call.segments[: verdict.segment], before=before):
                    self.aside.append(run)
                else:
                    yield run

    def _reported_runs(self) -> Iterator[CheckRun]:
        """Failures of a check that a person shows or an editor sends along, as the runs they report."""
        together: dict[tuple[int, str], list[str]] = {}
        for name, reported in self.reported.items():
            if reported.verdict is not None:
                together.setdefault((self.positions[name], reported.verdict.check), []).append(name)
        for (position, _), names in together.items():
            verdict = self.reported[names[0]].verdict
            if verdict is not None:
                yield run_of(verdict, [self.event(name) for name in names], call=None, position=position)

    def next_repair(self, check: str, place: int, family: str) -> int | None:
        """The place of the first run after ``place`` that shows that its failure of that family is gone.

        Worked out once for all failures that looked at the same things; a long session has thousands.
        """
        runs, failure = self.runs[check], self.runs[check][place]
        key = (check, failure.ground, family)
        if key not in self._repairs:
            self._repairs[key] = _Search(len(runs), lambda at: shows_repaired(runs[at], failure, family))
        return self._repairs[key].first_from(place + 1)

    def settled_elsewhere(self, failure: CheckRun, error: Event) -> CheckRun | None:
        """The first later run that shows a failure to be gone though it is no run of the same check in the same way.

        It ran the same task (a script's checker has a name only where it complains), or the one that rewrites what that
        complains of, or it must have compiled the same code.
        """
        after = bisect_right(self._passing, failure.position, key=_position)
        found = self._settling(failure, error).first_from(after)
        return None if found is None else self._passing[found]

    def last_clear_of(self, failure: CheckRun, error: Event) -> int:
        """The position of the last run before a failing one, of any other check, that would have shown the failure."""
        settling, check = self._settling(failure, error), failure.verdict.check
        for place in range(bisect_left(self._passing, failure.position, key=_position) - 1, -1, -1):
            run = self._passing[place]
            if run.verdict.check != check and settling.holds(place):
                return run.position
        return -1

    def _settling(self, failure: CheckRun, error: Event) -> _Search:
        """The passing runs that would show a failure, by their places; one search for all failures that are alike."""
        uncompiled = does_not_compile(error, failure.verdict.kind)
        key = (failure.ground, failure.verdict.task, uncompiled, error.path if uncompiled else None)
        if key not in self._settled:
            may_settle = uncompiled or failure.verdict.task is not None  # else nothing does, which is soon said
            self._settled[key] = _Search(
                len(self._passing) if may_settle else 0,
                lambda at: may_settle and settles(self._passing[at], failure, error),
            )
        return self._settled[key]

    def runs_of_kind(self, kind: str | None, start: int, end: int) -> Iterator[CheckRun]:
        """The runs of all checks of a kind between two positions, the last first; those of one call in their order."""
        if kind not in self._of_kind:
            runs = (run for runs in self.runs.values() for run in runs if run.verdict.kind == kind)
            self._of_kind[kind] = sorted(runs, key=_from_the_end)
        found = self._of_kind[kind]
        first, last = bisect_right(found, -end, key=_from_the_end), bisect_left(found, -start, key=_from_the_end)
        return (found[place] for place in range(first, last))

    def committed_after(self, failure: CheckRun) -> Event | None:
        """The next commit, where it was a commit whose hooks failed: they ran again and let it through.

        A commit that was told to go without its hooks shows nothing.
        """
        refused = self.calls[failure.call] if failure.call is not None else None
        part = refused.decisive if refused is not None else None
        if part is None or part.program != "git" or part.subcommand != "commit":
            return None
        after = (one for one in self.events if one.type == "commit" and self.positions[one.id] > failure.position)
        commit = next(after, None)
        number = self.call_numbers.get(commit.id) if commit is not None else None
        made_by = self.calls[number].segments if number is not None else ()
        return None if any("--no-verify" in part.flags for part in made_by) else commit

    def failing_between(self, start: int, end: int) -> list[CheckRun]:
        """The failing runs of any check between two positions."""
        first = bisect_right(self._failing, start, key=_position)
        return self._failing[first : bisect_left(self._failing, end, key=_position)]

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

    def next_run(self, check: str, position: int) -> CheckRun | None:
        """The first run of a check after a position."""
        runs = self.runs[check]
        after = bisect_right(runs, position, key=_position)
        return runs[after] if after < len(runs) else None

    # Changes.

    def went_wrong(self, decision: Decision) -> bool:
        """Whether none of its calls went through: each failed, was refused or never ran."""
        if decision.id not in self._wrong:
            numbers = self._carried_out[decision.id]
            self._wrong[decision.id] = bool(numbers) and all(self.call_failed(number) for number in numbers)
        return self._wrong[decision.id]

    def call_failed(self, number: int) -> bool:
        """Whether a call failed by its own status or by an error of its own: a check that complains did run."""
        call = self.calls[number]
        if call.status in UNDONE:
            return True
        # A look at CI that shows a failure went well.
        errors = any(event.type == "error" and event.check != CI for event in self.events_of_call(number))
        return not call.verdicts and (call.status == "error" or errors)

    def changes_files(self, decision: Decision) -> bool:
        """Whether one of its calls changed a file through a tool of the agent."""
        return any(call.changes_files for call in self.calls_of(decision))

    def changes_between(
        self, start: int, end: int | None, *, kind: str | None, named: str | None = None
    ) -> list[Decision]:
        """The decisions between two positions that changed what a check of that kind looks at, or the ``named`` file.

        A formatter, or a checker asked to rewrite, counts only where it can repair what that kind of check complains
        of, or where nothing else changed anything: it runs before every check and is rarely why one passes.
        """
        between = self._effective_between(start, end)
        sure = [
            one
            for one in between
            if (self.changes_files(one) and (touches(one, named) or not is_unrelated(one, kind)))
            or any(changes_repository(segment) or is_there_to_repair(segment, kind) for segment in self._segments(one))
        ]
        return sure or [
            one for one in between if any(part.purpose == "format" or rewrites(part) for part in self._segments(one))
        ]

    def removals_between(self, start: int, end: int) -> list[Decision]:
        """The decisions between two positions that took something away by a command, wherever it lay."""
        return [
            one
            for one in self._effective_between(start, end)
            if any(part.program == "rm" for call in self.calls_of(one) for part in call.segments)
        ]

    def changes_to(self, names: Collection[str], start: int, end: int | None) -> list[Decision]:
        """The decisions between two positions that wrote a file of one of these names, wherever it lies."""
        found = []
        for one in self._effective_between(start, end) if names else ():
            written = {file_name(path) for call in self.calls_of(one) for path in written_by(call) or ()}
            if not written.isdisjoint(names):
                found.append(one)
        return found

    def _effective_between(self, start: int, end: int | None) -> list[Decision]:
        return [one for one in self.decisions_between(start, end) if not self.went_wrong(one)]

    def _segments(self, decision: Decision) -> list[Segment]:
        """What its commands were run for."""
        inside = (call for call in self.calls_of(decision) if not call.outside)
        return [call.decisive for call in inside if call.decisive is not None]

    # Answers.

    def answer_to(self, error: Event) -> Decision | None:
        """The decision that first deals with an error, or None when the log shows none."""
        reported = self.reported.get(error.id)
        if reported is not None and reported.verdict is None and error.id not in self.call_numbers:
            after = self.decisions_between(self.positions[error.id], reported.until)
            return next((one for one in after if one.actor == "agent" and self.calls_of(one)), None)
        if error.check in self.runs:
            return self._answer_to_check(error)
        if error.id not in self.call_numbers:
            return None
        # The next attempt at the same, or a change before it to a file that a failed command points at.
        again = next(iter(self.attempts_after(error)), None)
        end = self.positions[again.id] if again else None
        changes = self.changes_to(places_in(self.call_of(error)), self.positions[error.id], end)
        return next(iter(changes), again)

    def attempts_after(self, error: Event) -> list[Decision]:
        """The later decisions on the same file, for an error of a tool; with the same command, for one of a command.

        Code handed to a terminal counts as the same only where it goes on with the same work, whoever wrote it: members
        of a group take turns there.
        """
        failed = self.call_of(error)
        subject = next(subjects_of(failed), None)
        about = self._about.get(subject, []) if subject else []
        after = bisect_right(about, self.positions[error.id], key=self._taken_at)
        if is_code(failed):
            return [one for one in about[after:] if any(goes_on(failed, call) for call in self.calls_of(one))]
        return [one for one in about[after:] if one.actor == error.actor]

    def _answer_to_check(self, error: Event) -> Decision | None:
        """A change to the file that the failure names, else any change before the check runs again, else that run."""
        check, position = error.check or "", self.positions[error.id]
        again = self.next_run(check, position)
        end = again.position if again else None
        kind = self.runs[check][0].verdict.kind
        changes = self.changes_between(position, end, kind=kind, named=error.path)
        named = [one for one in changes if touches(one, error.path)]
        if named or again is None:
            return next(iter(named), None)
        if error.path is not None and kind in POINTS_AT_PLACE:
            changes = [one for one in changes if self._may_answer(one, error, kind)]
        if changes:
            return changes[0]
        # The decision to run the check again, unless it is the one that failed, merely repeated.
        name = None if again.call is None else self._decision_of.get(again.call)
        return self.decision(name) if name and self.positions[name] > position else None

    def _may_answer(self, change: Decision, error: Event, kind: str) -> bool:
        """Whether a change elsewhere may answer a complaint of a place.

        It does where the output names its file too, and in the same package where something does not compile.
        """
        path = (change.action.path if change.action else None) or ""
        output = self.call_of(error).output if error.id in self.call_numbers else ""
        together = does_not_compile(error, kind) and folder_of(path) == folder_of(error.path or "")
        return not path or together or file_name(path) in output
