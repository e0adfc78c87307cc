"""The timeline of a session: its numbered decisions and events, the runs of each check, and what answers an error.

The stages that find decisions and events draft them independently. `Timeline` sorts the drafts by time, numbers them
(``d001`` …, ``e001`` …), and answers what links, fixes and the outcome ask. A check runs again and again over a
session, now on everything, now on one test. Which run shows that an earlier failure is repaired depends on what each
run looked at: `helix_episodes.extraction.checks.covers` compares that.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import defaultdict
from functools import lru_cache
from operator import attrgetter
from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from helix_episodes.extraction.calls import UNDONE, goes_on, is_code, places_in, subjects_of, written_by
from helix_episodes.extraction.checks import CheckFinding, Verdict, covers
from helix_episodes.extraction.paths import file_name, role_of
from helix_episodes.extraction.shell.programs import INTERPRETERS, SHELLS

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from helix_episodes.extraction.calls import CallSubject, ParsedCall
    from helix_episodes.extraction.drafts import DraftDecision, DraftEvent
    from helix_episodes.extraction.shell.commands import Segment
    from helix_episodes.model import Decision, Event

#: Kinds of check that list everything they find, so that a family missing from the next run is a family repaired. A
#: compiler or a test run stops early and proves nothing by silence.
_COMPLETE = frozenset({"lint"})
#: Families after which a linter could not look further; what it then leaves out is not repaired.
_CUTS_SHORT = re.compile(r"compile|syntax|undefined|type mismatch|missing method|redeclared|unused (import|variable)")
#: What ``git stash`` does besides setting aside: bringing back, and looking.
_UNSTASHING = frozenset({"pop", "apply", "drop", "clear", "branch"})
_LOOKING = frozenset({"list", "show"})
_GIT_CHANGES = frozenset({
    "apply", "checkout", "cherry-pick", "merge", "mv", "pull", "rebase", "reset", "restore", "revert", "rm", "stash",
    "stash apply", "stash pop", "stash push",
})  # fmt: skip
#: Commands that change the files a check looks at as surely as an edit does; None means any subcommand.
_CHANGES_FILES: dict[str, frozenset[str] | None] = {
    **dict.fromkeys(("rm", "mv", "cp", "sed", "perl", "patch", "ln", "cat", "tee", "echo", "printf")),
    **dict.fromkeys(("pip", "npm", "yarn", "pnpm", "uv", "poetry", "bundle")),
    "git": _GIT_CHANGES,
    "go": frozenset(["get", "generate", "mod"]),
    "cargo": frozenset(["add", "update", "remove"]),
}
#: Kinds of check whose message points at the line that is wrong; a test's points at the test.
POINTS_AT_PLACE = frozenset({"lint", "typecheck", "build", "format"})
#: Where people try things out; what is done there changes nothing of the project.
_TEMPORARY = ("/tmp", "/private/tmp", "/var/", "$TMP")  # noqa: S108  (read, not used)
_SCRATCH = (*_TEMPORARY, "~")
#: Flags with which a checker rewrites what it finds.
_REWRITES = frozenset({"--fix", "--write", "--update-snapshots", "--unsafe-fixes", "-u"})
#: How tasks are called that rewrite what a linter complains of: ``lint:fix``, ``fix-lint``, ``eslint-fix``.
_REWRITING_TASK = frozenset({"fix", "autofix", "write"})
#: Kinds of check whose complaints a tool can repair by itself.
_REPAIRABLE = frozenset({"lint", "format"})
#: Languages in which whatever tests, lints or builds a package has compiled it.
_COMPILED = frozenset({"go", "rs", "java", "kt", "cs", "swift", "c", "cc", "cpp", "scala", "fs"})
#: Languages in which only the type check and the build look at types.
_TYPED = frozenset({"ts", "tsx", "mts", "cts", "vue", "svelte", "py"})
_MERGES = frozenset({"merge", "rebase", "pull", "cherry-pick"})
_GOES_ON = frozenset({"--continue", "--skip", "--abort", "--quit"})


class CheckRun(msgspec.Struct, frozen=True, kw_only=True):
    """One verdict of one check. ``events`` are the ids of the events it became, ``families`` those it complained of.

    ``ground`` is the part of the verdict that says what was checked. ``call`` is None where no one ran it in this
    session: a failure that only words report.
    """

    call: int | None
    position: int
    verdict: Verdict
    ground: Verdict
    events: tuple[str, ...]
    families: frozenset[str]

    @property
    def passed(self) -> bool:
        """Whether the check passed."""
        return self.verdict.passed is True


_position = attrgetter("position")


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
        self._settled: dict[tuple[Verdict, str | None, bool, str | None], list[CheckRun]] = {}
        #: The place, among the runs of its check, of the run that each of their events came of.
        self.run_of = {
            name: place for runs in self.runs.values() for place, run in enumerate(runs) for name in run.events
        }
        self._about: dict[CallSubject, list[Decision]] = defaultdict(list)
        for decision in self.decisions:
            for subject in {one for call in self.calls_of(decision) for one in subjects_of(call)}:
                self._about[subject].append(decision)
        self._wrong: dict[str, bool] = {}
        self._repairs: dict[tuple[str, Verdict, str], list[int]] = {}

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
            before, stashed = stashed, _is_stashed(call, before=stashed)
            for verdict in () if call.outside else call.verdicts:
                if verdict.passed is None or _is_put_back(call, verdict) or _is_trial(call, verdict):
                    continue
                events = [event for event in self.events_of_call(number) if event.check == verdict.check]
                position = call.position if call.result_position is None else call.result_position
                run = _run(verdict, events, call=number, position=position)
                if _after_stashing(call.segments[: verdict.segment], before=before):
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
                yield _run(verdict, [self.event(name) for name in names], call=None, position=position)

    def next_repair(self, check: str, place: int, family: str) -> int | None:
        """The place of the first run after ``place`` that shows that its failure of that family is gone.

        Worked out once for all failures that looked at the same things; a long session has thousands.
        """
        runs, failure = self.runs[check], self.runs[check][place]
        key = (check, failure.ground, family)
        if key not in self._repairs:
            self._repairs[key] = [at for at, run in enumerate(runs) if _repaired(run, failure, family)]
        found = self._repairs[key]
        after = bisect_right(found, place)
        return found[after] if after < len(found) else None

    def settled_elsewhere(self, failure: CheckRun, error: Event) -> CheckRun | None:
        """The first later run that shows a failure to be gone though it is no run of the same check in the same way.

        It ran the same task (a script's checker has a name only where it complains), or the one that rewrites what that
        complains of, or it must have compiled the same code.
        """
        found = self._settling(failure, error)
        after = bisect_right(found, failure.position, key=_position)
        return found[after] if after < len(found) else None

    def last_clear_of(self, failure: CheckRun, error: Event) -> int:
        """The position of the last run before a failing one, of any other check, that would have shown the failure."""
        found, check = self._settling(failure, error), failure.verdict.check
        before = range(bisect_left(found, failure.position, key=_position) - 1, -1, -1)
        return next((found[place].position for place in before if found[place].verdict.check != check), -1)

    def _settling(self, failure: CheckRun, error: Event) -> list[CheckRun]:
        """The passing runs that would show a failure, in order; worked out once for all failures that are alike."""
        uncompiled = does_not_compile(error, failure.verdict.kind)
        key = (failure.ground, failure.verdict.task, uncompiled, error.path if uncompiled else None)
        if key not in self._settled:
            self._settled[key] = [run for run in self._passing if _settles(run, failure, error)]
        return self._settled[key]

    def committed_after(self, failure: CheckRun) -> Event | None:
        """The next commit, where it was a commit whose hooks failed: they ran again and let it through."""
        refused = self.calls[failure.call] if failure.call is not None else None
        part = refused.decisive if refused is not None else None
        if part is None or part.program != "git" or part.subcommand != "commit":
            return None
        commits = (event for event in self.events if event.type == "commit")
        return next((event for event in commits if self.positions[event.id] > failure.position), None)

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
        errors = any(event.type == "error" for event in self.events_of_call(number))
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
            if (self.changes_files(one) and (touches(one, named) or not _is_unrelated(one, kind)))
            or any(changes_repository(segment) or _repairs(segment, kind) for segment in self._segments(one))
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
        if reported is not None and reported.verdict is None:
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


def _is_stashed(call: ParsedCall, *, before: bool) -> bool:
    """Whether the changes are set aside after a call; of one that failed, the parts before its last verdict ran."""
    if call.operation != "run" or call.status in UNDONE:
        return before
    ran = len(call.segments)
    if call.status == "error":
        ran = max((verdict.segment for verdict in call.verdicts if verdict.segment is not None), default=0)
    return _after_stashing(call.segments[:ran], before=before)


def _after_stashing(segments: Sequence[Segment], *, before: bool) -> bool:
    """Whether the changes are set aside after these parts of a command."""
    for segment in segments:
        if segment.program == "git" and (segment.subcommand or "").partition(" ")[0] == "stash":
            words = {*(segment.subcommand or "").split(), *segment.arguments[:2]}
            before = not words & _UNSTASHING and (before or not words & _LOOKING)
    return before


#: The words with which git brings a file back to what it was before.
_RESTORING = frozenset({"checkout", "restore", "apply", "reset"})


def _is_put_back(call: ParsedCall, verdict: Verdict) -> bool:
    """Whether a command changed the tree before a check and put it back after: code broken to see a test fail."""
    if verdict.segment is None:
        return False
    before, after = call.segments[: verdict.segment], call.segments[verdict.segment + 1 :]
    changed = any(part.program != "git" and (changes_repository(part) or part.target) for part in before)
    return changed and any(_puts_back(part, before) for part in after)


def _is_trial(call: ParsedCall, verdict: Verdict) -> bool:
    """Whether a check ran on nothing but scratch files, which are no part of the project."""
    if verdict.segment is None or verdict.segment >= len(call.segments):
        return False
    part = call.segments[verdict.segment]
    operands = [word for word in part.arguments if not word.startswith("-")]
    scripted = part.program in INTERPRETERS | SHELLS
    paths = operands[:1] if scripted else [word for word in part.scope if not word.startswith("-")]
    return bool(paths) and all(word.startswith(_TEMPORARY) for word in paths)


def _puts_back(part: Segment, before: Sequence[Segment]) -> bool:
    if part.program == "git":
        return part.subcommand in _RESTORING
    if part.program in {"cp", "mv"}:
        copied = {word for one in before if one.program in {"cp", "mv"} for word in one.arguments}
        return bool(copied.intersection(part.arguments))
    # The same edit again, backwards, is the same program on the same file.
    edited = {one.arguments[-1] for one in before if one.program in {"sed", "perl"} and one.arguments}
    return part.program in {"sed", "perl"} and bool(part.arguments) and part.arguments[-1] in edited


def _run(verdict: Verdict, events: Sequence[Event], *, call: int | None, position: int) -> CheckRun:
    named = tuple(CheckFinding(family="", message="", tests=found.tests) for found in verdict.findings)
    ground = Verdict(
        check=verdict.check,
        kind=verdict.kind,
        passed=None,
        scope=verdict.scope,
        task=verdict.task,
        echoed=verdict.echoed,
        findings=named,
    )
    return CheckRun(
        call=call,
        position=position,
        verdict=verdict,
        ground=ground,
        events=tuple(event.id for event in events),
        families=frozenset(event.family for event in events if event.family),
    )


#: A long session compares every failure with every later run, and nearly all of them look at the same few things.
_covers = lru_cache(maxsize=4096)(covers)


def looked_on(run: CheckRun) -> bool:
    """Whether a run got as far as judging: what does not compile was not linted or tested."""
    return not any(_CUTS_SHORT.search(name) for name in run.families)


def _repaired(run: CheckRun, failure: CheckRun, family: str) -> bool:
    """Whether ``run`` shows that a failure of that family is gone."""
    if not _covers(run.ground, failure.ground):
        return False
    if run.passed:
        return not run.verdict.only_cached  # what did not run shows nothing
    return run.verdict.kind in _COMPLETE and looked_on(run) and family not in run.families


def does_not_compile(error: Event, kind: str | None) -> bool:
    """Whether an error keeps code from being compiled, or from passing the type check."""
    return kind in {"build", "typecheck"} or bool(_CUTS_SHORT.search(error.family or ""))


def _settles(run: CheckRun, failure: CheckRun, error: Event) -> bool:
    """Whether a run of another check shows that a failure is gone."""
    if not run.passed or run.call is None:
        return False
    task, failed = run.verdict.task, failure.verdict.task
    if task is not None and task == failed:
        return _covers(run.ground._replace(check=failure.ground.check), failure.ground)
    # What a rewriting task could not repair, it would have reported.
    related = task is not None and failed is not None and _is_of_task(task, failed)
    return related or (does_not_compile(error, failure.verdict.kind) and _compiled(run, error.path))


def _compiled(run: CheckRun, path: str | None) -> bool:
    """Whether a run that passed must have compiled a file, or checked its types."""
    language = file_name(path or "").rpartition(".")[2].lower()
    if path is None or language not in _COMPILED | _TYPED:
        return False
    if run.verdict.kind == "build" and role_of(path) == "test":
        return False  # a build leaves the tests out
    if run.verdict.kind not in {"build", "typecheck"} and (language in _TYPED or run.verdict.kind == "format"):
        return False
    folder = folder_of(path)
    scope = [word.removeprefix("./").removesuffix("...").rstrip("/") for word in run.verdict.scope if word[:1] != "-"]
    return not scope or any(f"{folder}/".startswith(f"{part}/") or part in {"", "."} for part in scope)


def folder_of(path: str) -> str:
    """The folder of a file, as a check names it.

    >>> folder_of("./api/cart.go"), folder_of("main.go")
    ('api', '')
    """
    return path.removeprefix("./").rpartition("/")[0]


def _is_of_task(task: str, failed: str) -> bool:
    """Whether two tasks are one, or one rewrites what the other complains of: ``bun lint:fix`` and ``bun lint``."""
    if task == failed:
        return True
    longer, shorter = (task, failed) if len(task) > len(failed) else (failed, task)
    rest = re.split(r"[^a-z]+", longer.removeprefix(shorter))
    return longer.startswith(shorter) and not _REWRITING_TASK.isdisjoint(rest)


def rewrites(segment: Segment) -> bool:
    """Whether a command rewrites what it complains of: by a flag, or by the name of the task."""
    task = re.split(r"[^a-z]+", (segment.subcommand or "").lower())
    return bool(
        _REWRITES.intersection(segment.flags) or (segment.purpose == "check" and _REWRITING_TASK.intersection(task))
    )


def _repairs(segment: Segment, kind: str | None) -> bool:
    """Whether a command is there to repair what a check of that kind complains of."""
    return kind in _REPAIRABLE and (rewrites(segment) or (kind == "format" and segment.purpose == "format"))


def touches(decision: Decision, path: str | None) -> bool:
    """Whether a decision is about the file that ``path`` ends in; tools and checks give different parts of a path."""
    own = decision.action.path if decision.action else None
    return bool(own and path) and file_name(own or "") == file_name(path or "")


def _is_unrelated(decision: Decision, kind: str | None) -> bool:
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
