"""The runs of checks, formatters and failed commands in a session, each with what was changed before it.

A rate of a check ("fails after edits in this folder 3 of 10 times") counts its *fresh* runs: the first of a session and
those after a run that passed. A run after one that failed mostly repeats the failure, and would make every repair look
like a cause. What only reports (an editor's diagnostics that nobody asked for), ran on a tree without the session's
changes or on scratch files is no run here.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from typing import TYPE_CHECKING, NamedTuple

from msgspec.structs import replace

from helix_episodes.extraction.calls import CHANGES, UNDONE
from helix_episodes.extraction.checks.task_runners import other_tasks
from helix_episodes.extraction.delivery import went_well
from helix_episodes.extraction.drafts import iso, line
from helix_episodes.extraction.edit_coverage import MOST_TEXT, is_named
from helix_episodes.extraction.events import failed_segment
from helix_episodes.extraction.excuses import is_stopped
from helix_episodes.extraction.paths import is_outside, relative, role_of
from helix_episodes.extraction.task_and_metrics import changed_by
from helix_episodes.model import MOST_FILES, CommandRun, Evidence, FileChange

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from helix_episodes.extraction.calls import ParsedCall
    from helix_episodes.extraction.shell.commands import Segment
    from helix_episodes.extraction.timeline import Timeline
    from helix_episodes.model import ChangeKind, RunKind
    from helix_episodes.session import Session


class _Change(NamedTuple):
    position: int
    file: FileChange


class _Draft(NamedTuple):
    """A run and the call it came of; ``judges`` is true when the run gave a verdict of its check.

    ``task`` is the task that it was the only check of: its output may name the check only as long as that complains.
    """

    call: ParsedCall
    run: CommandRun
    judges: bool
    task: str | None = None


def command_runs(session: Session, timeline: Timeline, *, meant: Collection[str]) -> tuple[CommandRun, ...]:
    """Every run, in the order of the log; ``meant`` are the errors that the agent said were to come."""
    drafts = [draft for number in range(len(timeline.calls)) for draft in _runs_of(session, timeline, number, meant)]
    drafts.sort(key=lambda draft: (draft.call.position, draft.run.check))
    changes = [_Change(call.position, one) for call in timeline.calls for one in _changes_of(call, root=session.root)]
    last: dict[str, _Draft] = {}
    found = []
    for draft in drafts:
        names = [name for name in (draft.run.check, draft.task) if name]
        before = max((last[name] for name in names if name in last), key=lambda one: one.call.position, default=None)
        first = bisect_right(changes, (before.call.position if before else -1), key=lambda one: one.position)
        since = changes[first : bisect_left(changes, draft.call.position, key=lambda one: one.position)]
        files = _by_file(since)
        fresh = draft.judges and (before is None or before.run.passed is True)
        found.append(
            replace(
                draft.run,
                fresh=fresh,
                changed=files[:MOST_FILES],
                files=len(files),
                edits=len(since),
                charged=_charged(draft, files[:MOST_FILES]),
            )
            if draft.run.kind != "command"
            else draft.run
        )
        if draft.judges:
            last |= dict.fromkeys(names, draft)
    return _with_tests_first(found)


def _runs_of(session: Session, timeline: Timeline, number: int, meant: Collection[str]) -> Iterator[_Draft]:
    call = timeline.calls[number]
    if call.result is None or call.outside or call.status in UNDONE:
        return
    judged = timeline.runs_of_call(number)
    for run in judged:
        at, verdict = run.verdict.segment, run.verdict
        part = call.segments[at] if at is not None and at < len(call.segments) else call.decisive
        stopped = is_stopped(run, call)
        yield _Draft(
            call,
            replace(
                _run_of(session, call, part, verdict.check, verdict.kind),
                passed=None if stopped else run.passed,
                events=run.events,
                deliberate=any(name in meant for name in run.events),
            ),
            judges=not stopped,
            task=verdict.task if len(judged) == 1 else None,
        )
    names = {name for run in judged for name in run.events}
    failed = [one for one in timeline.events_of_call(number) if one.type == "error" and one.id not in names]
    if call.operation == "run" and failed:
        part = failed_segment(call, failed[0].message or "")
        kind = part.kind if part else None
        bare = _run_of(session, call, part, failed[0].check or "", kind or "command")
        passed = None if kind else False  # a check that did not run says nothing of the work
        yield _Draft(call, replace(bare, passed=passed, events=tuple(one.id for one in failed)), judges=False)
    elif call.operation == "run" and not judged:
        for at, part in enumerate(call.segments):
            if part.kind is not None and part.purpose in {"check", "format"}:
                name = part.check or " ".join(filter(None, (part.program, part.subcommand)))
                well = True if part.purpose == "format" and went_well(call, at) else None
                bare = _run_of(session, call, part, name, part.kind)
                yield _Draft(call, replace(bare, passed=well), judges=well is not None)


def _run_of(session: Session, call: ParsedCall, part: Segment | None, check: str, kind: RunKind) -> CommandRun:
    """A run as far as every run of a command is described alike."""
    result = call.result or call.step
    first = next((one for one in call.segments if one.program in {"cd", "pushd"} and one.arguments), None)
    folder = relative(first.arguments[0].rstrip("/"), root=session.root) if first else ""
    # Where only one part of the command does any work, the time is that part's.
    working = [one for one in call.segments if one.purpose != "look" and one.program not in {"cd", "pushd"}]
    seconds = None
    if len(working) == 1 and call.step.at and result.at and not call.step.arguments.get("background"):
        took = (result.at - call.step.at).total_seconds()
        seconds = round(took, 1) if took >= 0 else None
    return CommandRun(
        check=check,
        kind=kind,
        command=line(part.text) if part else None,
        directory=folder if folder and not is_outside(folder) else None,
        timestamp=iso(result.at),
        seconds=seconds,
        tasks=other_tasks(result.text, part),
        evidence=Evidence(line=result.source.line, file=result.source.file),
    )


def _charged(draft: _Draft, files: Sequence[FileChange]) -> tuple[str, ...]:
    """The changed files that a failing linter complains of: it looks at each file by itself, and names it."""
    if draft.run.kind != "lint" or draft.run.passed is not False:
        return ()
    output = draft.call.output[:MOST_TEXT]
    return tuple(one.path for one in files if is_named(one.path, output))


# Changes.


def _changes_of(call: ParsedCall, *, root: str | None) -> Iterator[FileChange]:
    """The files of the project that a call changed, with the number of lines that it touched."""
    for path in sorted(changed_by(call, root=root) or ()):
        if is_outside(path):
            continue
        if call.operation not in CHANGES:
            removed = all(part.program == "rm" for part in call.segments if part.purpose == "change")
            yield FileChange(path=path, kind="delete" if removed else "edit")
            continue
        old, new = (str(call.step.arguments.get(name) or "") for name in ("old", "new"))
        kind: ChangeKind = "edit"
        if call.operation in {"create", "delete"}:
            kind = "create" if call.operation == "create" else "delete"
        yield FileChange(path=path, kind=kind, lines=touched_lines(old, new))


def touched_lines(old: str, new: str) -> int:
    r"""How many lines an edit changes: the longer side of what its two texts do not begin and end with alike.

    >>> touched_lines("def f():\n    x = 1\n    return x", "def f():\n    x = 2\n    y = 3\n    return x")
    2
    """
    before, after = (text.splitlines() for text in (old, new))
    shorter = min(len(before), len(after))
    start = next((n for n in range(shorter) if before[n] != after[n]), shorter)
    rest = shorter - start
    end = next((n for n in range(rest) if before[-1 - n] != after[-1 - n]), rest)
    return max(len(before), len(after)) - start - end


def _by_file(changes: Sequence[_Change]) -> tuple[FileChange, ...]:
    """Each file once, in the order of its first change, with all its lines; new if made, gone if deleted last."""
    files: dict[str, FileChange] = {}
    for _, one in changes:
        before = files.setdefault(one.path, one)
        if before is not one:
            kind = one.kind if one.kind == "delete" else before.kind
            known = [number for number in (before.lines, one.lines) if number is not None]
            files[one.path] = FileChange(path=one.path, kind=kind, lines=sum(known) if known else None)
    return tuple(files.values())


def _with_tests_first(runs: Sequence[CommandRun]) -> tuple[CommandRun, ...]:
    """The runs, those marked as deliberate that failed since a test was written before what it tests."""
    following: dict[str, CommandRun] = {}
    found = []
    for run in reversed(runs):
        later = following.get(run.check)
        first = run.kind == "test" and run.fresh and run.passed is False and later is not None and later.passed
        meant = first and later is not None and _only(run, test=True) and _only(later, test=False)
        found.append(replace(run, deliberate=True) if meant else run)
        if run.passed is not None:
            following[run.check] = run
    return tuple(reversed(found))


def _only(run: CommandRun, *, test: bool) -> bool:
    """Whether only tests, or only what is no test, were changed before a run; something was."""
    return bool(run.changed) and all((role_of(one.path) == "test") is test for one in run.changed)
