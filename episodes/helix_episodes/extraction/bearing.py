"""Whether the log shows that a verdict is about a change, or only that it came after it.

A link says what followed what under rules that do not look at the result, because rates are computed from links. Who
reads a path wants more: that the run looked at the file, that the complaint is of what the change wrote, that the
change answers the complaint. Where the log does not show this the link is *loose*.

- A run that passes bears on a change if it read files of that kind, its command or output takes in the file, the file
  was not changed again before, and since the change nothing that reads it failed, nor did the check pass in a run that
  took it in; or if it verifies a fix of the change's. A run that itself repairs what it finds passes no change.
- A run that fails bears on a change if the complaint quotes or names what the change wrote; or if it names the file or
  a test of it, and nothing else was changed there since the run before; as it is if a check names no place.
- A change bears on a failure if it is the only one of its fix, or one of its edits speaks of the failure; and the check
  did not run again before the change, and next passes.
"""

from __future__ import annotations

import re
from itertools import takewhile
from typing import TYPE_CHECKING

from msgspec.structs import replace

from helix_episodes.extraction.calls import command_of
from helix_episodes.extraction.check_runs import RunComplaint, cuts_short, looked_on, rewrites
from helix_episodes.extraction.checks import covers
from helix_episodes.extraction.checks.compilers import COMPILE_FAMILIES
from helix_episodes.extraction.checks.model import names_selected
from helix_episodes.extraction.edit_coverage import is_cut, is_named, looks_at, may_read, output_of, stem_of
from helix_episodes.extraction.fix_credit import (
    changes_code,
    has_word,
    named_files,
    named_symbols,
    quoted_lines,
    texts_of,
)
from helix_episodes.extraction.paths import file_name, is_test_file

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from helix_episodes.extraction.calls import ParsedCall
    from helix_episodes.extraction.check_runs import CheckRun
    from helix_episodes.extraction.timeline import Timeline
    from helix_episodes.model import Decision, Event, Fix

#: Kinds of check that judge every file by itself.
_OF_EACH_FILE = frozenset({"lint", "format"})
#: Kinds of check that name every place where a rule is broken.
_OF_ALL_PLACES = frozenset({"lint", "format", "typecheck"})
#: What stands for white space in what a formatter would have printed, and what marks the lines that it would change.
_MARKS = re.compile(r"[\s→·]")
_REMOVED = re.compile(r"^[\s\d│|]*-(?!-)")
_SHORTEST_LINE = 8
#: The arrow before a marked line, and the rule above the next complaint.
_ARROW = re.compile(r"^\s*>\s*\d+\s*[│|]")
_RULED = re.compile(r"━━━")
#: What a checker that may rewrite says where it had nothing to rewrite.
_NOTHING_REPAIRED = "No fixes applied"


def shows_pass(timeline: Timeline, change: Decision, run: CheckRun, fixes: Sequence[Fix]) -> bool:
    """Whether a passing run is about a change."""
    check = run.verdict.check
    failing = timeline.failing_between(timeline.positions[change.id], run.position)
    if any(one.verdict.check == check for one in failing) or _repaired_itself(timeline, run):
        return False
    path = (change.action.path if change.action else None) or ""
    if not path or any(_may_blame(timeline, one, path) for one in failing) or _is_written_over(timeline, change, run):
        return False
    fixed = any(
        fix.check == check and fix.verified_by in run.events and change.id in fix.changes and change.id not in fix.loose
        for fix in fixes
    )
    if run.verdict.kind not in _OF_EACH_FILE and not changes_code(timeline, change):
        return False
    texts = _texts(timeline, change)
    nearer = timeline.runs_of_kind(run.verdict.kind, timeline.positions[change.id], run.position)
    if any(one.passed and not _is_elsewhere(timeline, one, path, texts) for one in nearer):
        return False
    return (fixed or looks_at(timeline, run, path, texts)) and _decides(timeline, run, path, texts)


def _is_elsewhere(timeline: Timeline, run: CheckRun, path: str, texts: str) -> bool:
    """Whether a run shows that it did not look at a file: it lists other packages, or selects other names."""
    return bool(run.verdict.ran or names_selected(run.verdict)) and not looks_at(timeline, run, path, texts)


def _decides(timeline: Timeline, run: CheckRun, path: str, texts: str) -> bool:
    """Whether no other file can be why a run passes: what is judged file by file, or nothing else was changed.

    Changes count since the check last failed, or last passed with a look at the file. A linter that had not failed says
    of every file that it is well.
    """
    check, kind = run.verdict.check, run.verdict.kind
    before = _verdict_before(timeline, run, path, texts)
    if kind in _OF_EACH_FILE and (before is None or before.passed):
        return True
    start, failing = _failing_since(timeline, before, path)
    if is_test_file(path) and any(" passed" in timeline.event(name).content for one in failing for name in one.events):
        return False  # which of its tests an edit turned, and which passed before, is not shown
    changes = timeline.changes_between(start, run.position, kind=kind)
    others = [one for one in changes if _path_of(one) != path and may_read(check, _path_of(one) or "", tests=True)]
    return not any(
        (kind in _OF_EACH_FILE or changes_code(timeline, one)) and _may_matter(timeline, one, run) for one in others
    )


def _may_matter(timeline: Timeline, change: Decision, run: CheckRun) -> bool:
    """Whether a change may be why a run passes; of tests only those that it ran."""
    path = _path_of(change) or ""
    return not is_test_file(path) or looks_at(timeline, run, path, _texts(timeline, change))


def _verdict_before(timeline: Timeline, run: CheckRun, path: str, texts: str) -> CheckRun | None:
    """The last run before of a check of that kind, that failed or that looked at a file and passed."""
    earlier = timeline.runs_of_kind(run.verdict.kind, -1, run.position)
    reading = (one for one in earlier if may_read(one.verdict.check, path, tests=True))
    return next((one for one in reading if not one.passed or looks_at(timeline, one, path, texts)), None)


def edits_passed(timeline: Timeline, change: Decision, run: CheckRun) -> list[ParsedCall]:
    """The edits of a change's file of which a run is the first that passes."""
    path = _path_of(change) or ""
    start, _ = _failing_since(timeline, _verdict_before(timeline, run, path, _texts(timeline, change)), path)
    calls = [one for one in timeline.calls_on(path) if start < one.position < run.position]
    met = [one for one in calls if one.changes_files]
    whole = [number for number, one in enumerate(met) if _is_whole(one, path) and number]
    return met[whole[-1] :] if whole else met


def _failing_since(timeline: Timeline, before: CheckRun | None, path: str) -> tuple[int, tuple[CheckRun, ...]]:
    """Since when changes of a file count for a pass, and the runs that failed in the same way, the last first.

    Where a check goes on failing although a file is changed, no single attempt is known to be the one that helped.
    """
    if before is None:
        return -1, ()
    runs = [one for one in timeline.runs[before.verdict.check] if one.position <= before.position]
    alike = takewhile(lambda one: one is before or _fail_alike(timeline, one, before), reversed(runs))
    failing = () if before.passed else tuple(alike)
    first = failing[-1].position if failing else before.position
    edits = (one for one in timeline.calls_on(path) if one.changes_files)
    tried = any(first < one.position < before.position for one in edits)
    return (first, failing) if tried else (before.position, ())


def _fail_alike(timeline: Timeline, one: CheckRun, other: CheckRun) -> bool:
    """Whether two runs fail in the same tests, or in the same way in the same files."""
    first, second = ([timeline.event(name) for name in run.events] for run in (one, other))
    tests, others = ({test for event in events for test in event.tests} for events in (first, second))
    places, known = ({(event.family, event.path) for event in events} for events in (first, second))
    return not one.passed and not (tests.isdisjoint(others) if tests and others else places.isdisjoint(known))


def _path_of(change: Decision) -> str | None:
    return change.action.path if change.action else None


def _repaired_itself(timeline: Timeline, run: CheckRun) -> bool:
    """Whether a run may have rewritten what it found, so that what passes is not the change as it was made."""
    if run.call is None or run.verdict.segment is None:
        return False
    segments = timeline.calls[run.call].segments[run.verdict.segment : run.verdict.segment + 1]
    return any(map(rewrites, segments)) and _NOTHING_REPAIRED not in output_of(timeline, run)


def _may_blame(timeline: Timeline, failed: CheckRun, path: str) -> bool:
    """Whether a failing run may be about a file. Linters and formatters name the files that they complain of."""
    kind = failed.verdict.kind
    named = kind in {"lint", "format"} and any(timeline.event(one).path for one in failed.events)
    if named and COMPILE_FAMILIES.isdisjoint(failed.families):
        return is_named(path, output_of(timeline, failed))
    return may_read(failed.verdict.check, path, tests=kind == "test")


def _is_written_over(timeline: Timeline, change: Decision, run: CheckRun) -> bool:
    """Whether the whole file was written again before a run, or a command may have: that met the verdict."""
    path = _path_of(change) or ""
    last = max(one.position for one in timeline.calls_of(change))
    return any(
        last < one.position < run.position and one.status != "error" and (_is_whole(one, path) or _writes(one, path))
        for one in timeline.calls
    )


def _is_whole(call: ParsedCall, path: str) -> bool:
    """Whether a call wrote all of a file, so that nothing is left of edits before."""
    return call.changes_files and call.path == path and "old" not in call.step.arguments


def _writes(call: ParsedCall, path: str) -> bool:
    """Whether a command may have written a file that it names; git's only record it."""
    writing = any(part.purpose == "change" and part.program != "git" for part in call.segments)
    return writing and is_named(path, command_of(call))


def _texts(timeline: Timeline, change: Decision) -> str:
    return "\n".join(text for call in timeline.calls_of(change) for text in texts_of(call))


def wrote_what_fails(
    timeline: Timeline, change: Decision, event: Event, run: CheckRun, *, alone: bool
) -> ParsedCall | None:
    """The edit of a change that a complaint is about; None where the log shows none.

    ``alone`` is true when there was a run before, and since then no other change to the file that is complained of;
    where none touches that file, no other change at all.
    """
    edits = [one for one in timeline.calls_of(change) if one.changes_files]
    if not edits or not _names_its_file(timeline, event, run):
        return None
    path = _path_of(change) or ""
    own = bool(event.path) and file_name(event.path or "") == file_name(path)
    compiled = event.family in COMPILE_FAMILIES
    quoted = lines_quoted(output_of(timeline, run), event) if own else frozenset()
    for one in reversed(edits):
        if quoted & lines_introduced(one):
            return one
    if quoted and not compiled:
        return None
    words = [*event.tests, *named_symbols(event)]
    for one in reversed(edits) if own or compiled or event.tests else ():
        if any(
            _brought(word, one) if compiled else any(has_word(word.rpartition(".")[2], line) for line in _changed(one))
            for word in words
        ):
            return one
    tested = bool(event.path) and stem_of(event.path or "") == stem_of(path)
    unplaced = not event.path and run.verdict.kind != "test"
    return edits[0] if alone and len(edits) == 1 and (own or tested or unplaced) else None


def _names_its_file(timeline: Timeline, event: Event, run: CheckRun) -> bool:
    """Whether what is judged file by file is of one file: of several a label says once what is wrong."""
    if run.verdict.kind not in _OF_EACH_FILE:
        return True
    rule = replace(
        event, family=(event.family or "").rpartition(" ")[2]
    )  # "gosec G306" is printed as "G306: … (gosec)"
    files = named_files(rule, output_of(timeline, run), alone=len(run.events) == 1)
    return bool(event.path) and event.family != "not formatted" and len(files) <= 1


def lines_quoted(output: str, event: Event) -> frozenset[str]:
    """The lines of source that a complaint quotes, without white space; of a formatter those that it would change."""
    if event.family == "not formatted":
        lines = frozenset(_REMOVED.sub("", line) for line in output.splitlines() if _REMOVED.match(line))
    else:
        # Of the lines of source below a complaint those that an arrow marks.
        _, found, below = output.partition(event.message or "\0")
        block = takewhile(lambda line: not _RULED.search(line), below.splitlines()[1:]) if found else ()
        marked = frozenset(_ARROW.sub("", line) for line in block if _ARROW.match(line))
        lines = marked or quoted_lines(output, event)
    return frozenset(plain for line in lines if len(plain := _plain(line)) >= _SHORTEST_LINE)


def _plain(line: str) -> str:
    return _MARKS.sub("", line)


def _brought(word: str, edit: ParsedCall) -> bool:
    """Whether a name stands more or less often after an edit: it was used, or what it was used for is gone."""
    name = word.rpartition(".")[2]
    texts = texts_of(edit)
    if not any(name in text for text in texts):
        return False
    old, new = (len(re.findall(rf"\b{re.escape(name)}\b", text)) for text in texts)
    return old != new


def lines_introduced(edit: ParsedCall) -> frozenset[str]:
    """The lines that an edit wrote and that were not there before, without white space."""
    old, new = texts_of(edit)
    return _long_lines(new) - _long_lines(old)


def lines_replaced(edit: ParsedCall) -> frozenset[str]:
    """The lines that an edit took away, without white space; of a line that is only laid out anew the old form."""
    old, new = texts_of(edit)
    return frozenset(_plain(line) for line in {*old.splitlines()} - {*new.splitlines()})


def _long_lines(text: str) -> frozenset[str]:
    """The lines of a text without white space, but for those that are in any file."""
    return frozenset(plain for line in text.splitlines() if len(plain := _plain(line)) >= _SHORTEST_LINE)


def _changed(edit: ParsedCall) -> Collection[str]:
    old, new = texts_of(edit)
    return set(new.splitlines()) ^ set(old.splitlines())


def loose_changes(timeline: Timeline, fix: Fix, error: Event, speaking: Collection[str]) -> tuple[str, ...]:
    """Of the changes of a fix those of which the log does not show that they answer the error."""
    if error.id not in timeline.run_of:
        return ()
    failure = timeline.runs[error.check or ""][timeline.run_of[error.id]]
    others = [name for name in fix.changes if not _is_of_another_test(timeline.decision(name), error)]
    several = len({_path_of(timeline.decision(name)) or name for name in others}) > 1
    if not _names_its_file(timeline, error, failure) if failure.verdict.kind in _OF_EACH_FILE else several:
        return fix.changes  # which of several files answers a failure, or how much of it, the log does not show
    # Later runs of the check that failed in the same way, whatever they said.
    later = timeline.runs[error.check or ""][timeline.run_of[error.id] + 1 :]
    again = (run.position for run in later if not run.passed and error.family in run.families)
    shown_again = min(again, default=None)
    loose = []
    for name in fix.changes:
        position = timeline.positions[name]
        after = timeline.next_run(error.check or "", position)
        good = after is None or (after.passed and _is_verified_by(timeline, fix, error, after))
        answers = name in speaking or (others == [name] and not _is_mixed(timeline, name, failure))
        if not good or not answers or (shown_again is not None and shown_again < position):
            loose.append(name)
    return tuple(loose)


def _is_mixed(timeline: Timeline, name: str, failure: CheckRun) -> bool:
    """Whether a change has several edits, each of which may be about another of the things that a linter found."""
    edits = [one for one in timeline.calls_of(timeline.decision(name)) if one.changes_files]
    return len(edits) > 1 and len(failure.events) > 1 and failure.verdict.kind in _OF_EACH_FILE


def _is_of_another_test(change: Decision, error: Event) -> bool:
    """Whether a change to a test file cannot be why the test of another file passes."""
    path = (change.action.path if change.action else None) or ""
    return bool(error.tests and error.path) and is_test_file(path) and file_name(path) != file_name(error.path or "")


def _is_verified_by(timeline: Timeline, fix: Fix, error: Event, run: CheckRun) -> bool:
    if fix.verified_by is None or fix.verified_by in run.events:
        return fix.verified_by is not None
    return fix.verified_by.startswith("d") or timeline.event(fix.verified_by).check != error.check


# What a later run still complains of.


def shows(timeline: Timeline, run: CheckRun, error: Event) -> bool:
    """Whether a run complains of the same: the same rule or exception; for tests, one of the tests that failed."""
    same = [event for name in run.events if (event := timeline.event(name)).family == error.family]
    if error.tests:
        return any(set(event.tests) & set(error.tests) for event in same)
    return bool(same) and not (error.family or "").endswith("failed")  # "test failed" says nothing of which


def complains_elsewhere(timeline: Timeline, run: CheckRun, error: Event, failure: CheckRun) -> bool:
    """Whether a check that complains of the same rule again does so of another place, so that the first is repaired.

    That is another file, or other lines of source; not those that were written since, to which the complaint moved.
    """
    if run.verdict.kind not in _OF_ALL_PLACES or cuts_short(error.family or "") or not looked_on(run):
        return False
    if is_cut(timeline, run) or not covers(run.ground, failure.ground):
        return False
    before, after = (_complaint(timeline, one, error) for one in (failure, run))
    if before.files and after.files and not (before.named_by(after.output) or after.named_by(before.output)):
        return True
    if not after.lines or not before.lines.isdisjoint(after.lines):
        return False
    made = [one for one in timeline.calls if failure.position < one.position < run.position and one.changes_files]
    replaced = any(not before.lines.isdisjoint(lines_replaced(one)) for one in made)
    moved = any(not after.lines.isdisjoint(lines_introduced(one)) for one in made)
    return replaced and not moved


def repaired_in_part(timeline: Timeline, error: Event, one: CheckRun, later: CheckRun) -> list[Decision]:
    """The changes between two runs that show a failure of what the second no longer complains of.

    That is a file or a line of source that the first named, or one of its tests; the second has to look at as much.
    """
    if is_cut(timeline, later) or not covers(later.ground, one.ground):
        return []
    changes = timeline.changes_between(one.position, later.position, kind=one.verdict.kind, named=error.path)
    before, after = (_complaint(timeline, run, error) for run in (one, later))
    if before.tests - after.tests:
        return changes
    files, lines = before.files - before.named_by(after.output), before.lines - after.lines
    return [
        change
        for change in changes
        if any(
            call.changes_files and (file_name(call.path or "") in files or lines & lines_replaced(call))
            for call in timeline.calls_of(change)
        )
    ]


def _complaint(timeline: Timeline, run: CheckRun, error: Event) -> RunComplaint:
    """What a run names of a failure: worked out once, for each later run compares it with each before."""
    (name,) = [name for name in run.events if timeline.event(name).family == error.family][:1]
    if name not in timeline.complaints:
        event, output = timeline.event(name), output_of(timeline, run)
        timeline.complaints[name] = RunComplaint(
            files=named_files(event, output, alone=len(run.events) == 1),
            lines=lines_quoted(output, event),
            tests=frozenset(event.tests),
            output=output,
        )
    return timeline.complaints[name]
