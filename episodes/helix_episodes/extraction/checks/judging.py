"""From a command, its output and its exit status to the verdict of each check in it.

There are two sources: the exit status, where it can be seen, and the text, read only by a runner's own grammar. With
exit status 0 everything that is visible passed, unless a test runner counts failures: whatever ran it let them be.
With another one exactly one visible part failed: the first whose grammar says so, else the first that is not known to
have passed; parts before it passed and parts after it never ran. A part whose exit status is hidden (``go test |
tail``) is judged by the text alone, and when the text holds nothing conclusive the verdict is ``None``.

``mise run lint`` and ``golangci-lint run`` are one check only when the task is known to run that program. Task runners
print the command of each task before it (cut to the width of a terminal) and the name of a task that failed after it.
"""

from __future__ import annotations

import re

from helix_episodes.extraction.checks import compilers, go, javascript, python, summaries
from helix_episodes.extraction.checks.command_failures import finding_of
from helix_episodes.extraction.checks.model import (
    QUOTE_LIMIT,
    CheckFinding,
    CommandOutput,
    Verdict,
    cleaned,
    joined,
    unspecified,
)
from helix_episodes.extraction.checks.named_tools import read_by_name
from helix_episodes.extraction.checks.silent_failures import echoed_status, read_listing
from helix_episodes.extraction.checks.summaries import is_script, read_summary
from helix_episodes.extraction.checks.task_runners import echoed_commands, failed_tasks, not_started
from helix_episodes.extraction.shell import programs as known
from helix_episodes.extraction.shell.commands import Segment, hides_exit
from helix_episodes.light_imports import Regex, Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from helix_episodes.extraction.shell.programs import CheckKind


_GRAMMARS = (go, python, javascript, compilers, summaries)
_READERS = tuple(read for grammar in _GRAMMARS for read in grammar.READERS)
#: Checks whose failure another grammar describes: what does not compile cannot be tested.
_ALSO: dict[str, frozenset[str]] = {
    **dict.fromkeys(("go test", "go vet", "gofmt", "goimports", "go fmt"), frozenset({"go build"})),
    "cargo test": frozenset({"cargo build", "cargo clippy"}),
    "cargo nextest": frozenset({"cargo build", "cargo test"}),
    **dict.fromkeys(("cargo check", "cargo clippy"), frozenset({"cargo build"})),
    "dotnet test": frozenset({"dotnet build"}),
    "mvn test": frozenset({"javac"}),
    "gradle test": frozenset({"javac", "mvn test"}),
    **dict.fromkeys(("ruff", "pylint"), frozenset({"flake8"})),
    "ruff format": frozenset({"black"}),
    "basedpyright": frozenset({"pyright"}),
    "cypress run": frozenset({"mocha"}),
    "rake test": frozenset({"rspec"}),
    "pest": frozenset({"phpunit"}),
    "vue-tsc": frozenset({"tsc"}),
    "biome format": frozenset({"biome"}),
    "dart test": frozenset({"flutter test"}),
    "dart analyze": frozenset({"flutter analyze"}),
}
#: Checks that have a grammar of their own here; their silence means that they did not fail.
_WITH_GRAMMAR = (
    {"golangci-lint", "go test", "go build", "go vet", "cargo test", "cargo build", "cargo check", "dotnet test"}
    | {"pytest", "unittest", "mypy", "pyright", "ruff", "black", "jest", "vitest", "mocha", "tsc", "eslint", "prettier"}
    | {"rspec", "phpunit", "pre-commit", "biome", "bun test", "playwright test", "flutter analyze"}
)
#: Those that print nothing when all is well.
_SILENT = {"go build", "go vet", "tsc"}
#: How any compiler or linter begins a complaint: a place in a file, or (Go) the package it is about.
_COMPLAINT = Regex(r"(?:\w+: )?[^\s:(]+\.\w{1,8}(?::\d+:|\(\d+,\d+\):)|# [\w.-]+(?:/[\w./-]+)?(?: \[\S+\])?$")
#: All that a formatter says of code that it refuses: it parses and knows of no names or types.
_PARSING = frozenset({"syntax error", "does not compile"})
_NO_FOLDER = Regex(r"(?:^|: ?)(?:cd|pushd):(?: |\d+: ).*(?:[Nn]o such file|[Nn]ot a directory)", re.MULTILINE)
#: Names of tasks that say nothing of what they check.
_OF_ANY_CHECK = frozenset({"check", "validate", "verify"})
#: What runs the hooks of git, which check.
_HOOKED = frozenset({"commit", "push", "merge"})
#: What the words of a check may be said by.
_JUDGING = frozenset({"check", "format"})
_NEVER_RAN = frozenset({"denied", "rejected", "interrupted", "cancelled"})


class _JudgedPart(Value):
    """A part of the command that checks (or formats), and what is known of it before judging."""

    place: int
    segment: Segment
    check: str
    kind: CheckKind
    task: str | None
    echoed: tuple[str, ...] | None
    hidden: bool
    cut: bool  # piped on, so that the text may not be the whole of it
    known: bool  # a program with a name, not a task whose content was not printed
    reading: Verdict | None = None
    stated: int | None = None  # its exit status, where the shell was asked to print it
    task_failed: str = ""  # the line in which a task runner says so

    @property
    def failed(self) -> bool:
        return bool(self.task_failed) or (self.reading is not None and self.reading.passed is False)

    @property
    def seen_passing(self) -> bool:
        return not self.failed and self.reading is not None and self.reading.passed is True


def read_verdicts(
    segments: tuple[Segment, ...], *, output: str, exit_code: int | None, status: str
) -> tuple[Verdict, ...]:
    r"""The verdict of each check that ran, in the order of the command.

    ``status`` is the step's (``ok``, ``error``, ``denied`` …); ``exit_code`` may be unknown. A call that was denied,
    rejected, interrupted or cancelled says nothing about any check. Never raises, whatever the text.

    >>> from helix_episodes.extraction.shell.commands import parse_command
    >>> command = parse_command("gofmt -w . && golangci-lint run 2>&1 | tail -3")
    >>> (verdict,) = read_verdicts(command, output="1 issues:\n* errcheck: 1", exit_code=0, status="ok")
    >>> verdict.check, verdict.passed, verdict.findings[0].family
    ('golangci-lint', False, 'errcheck')
    """
    if status in _NEVER_RAN:
        return ()
    if not any(part.purpose in _JUDGING for part in segments):
        # Most commands only look: nothing is read out of what they print.
        acting = _revealing(segments)
        return () if acting is None else _revealed(acting, _read(cleaned(output)))
    text = cleaned(output)
    code = text.exit_code if exit_code is None else exit_code
    if code is None:
        code = {"ok": 0, "error": 1}.get(status)  # 1 represents any failure when only the flag is known
    readings = _read(text)
    found = _runs(segments, text)
    # A formatter that was not asked to judge can only be to blame for a failure; else the words are the checks'.
    runs = _assigned(found if code else [run for run in found if run.segment.purpose == "check"], readings, text)
    if code is None:
        verdicts = tuple(_by_text(run, text) for run in runs)
    elif code == 0:
        # What follows ``||`` ran only when something failed before; without a word from it, it is left out.
        ran = (run for run in runs if run.segment.joiner != "||" or run.reading is not None)
        verdicts = tuple(_after_success(run, text) for run in ran)
    elif not readings and finding_of((), text, code).family == "shell syntax error":
        return ()  # the shell refused the text as a whole: nothing in it ran
    else:
        verdicts = _after_failure(segments, runs, text, code)
    return (*verdicts, *_of_others(segments, runs, readings, text))


def _of_others(
    segments: tuple[Segment, ...], runs: Sequence[_JudgedPart], readings: tuple[Verdict, ...], text: CommandOutput
) -> Iterator[Verdict]:
    """What nobody was asked for by name: the other tasks of a command that ran several, and hooks of git."""
    runner = next((run for run in runs if run.task is not None), None)
    several = sum(bool(stream.name) for stream in text.streams) > 1
    hooked = (at for at, part in enumerate(segments) if part.program == "git" and part.subcommand in _HOOKED)
    place = runner.place if runner and several else next(hooked, None)
    if place is None:
        return
    judged = {run.check for run in runs}
    for reading in readings:
        if reading.check not in judged and not any(reading is run.reading for run in runs):
            yield _named(reading)._replace(segment=place, task=runner.task if runner and several else None)


def verdicts_in(text: str) -> tuple[Verdict, ...]:
    """The failing verdicts in a text that someone shows, by the runners' own grammar; who ran them is not known."""
    return tuple(_named(reading) for reading in _read(CommandOutput(text)) if reading.passed is False)


#: How a linter closes that found no file to look at.
_OF_NOTHING = Regex(
    r"\b(?:Checked|Linting:?|Formatted|Scanned|Analy[sz]ed) 0 files?\b|\b0 source files\b|\b0 file\(s\)"
)


def _read(text: CommandOutput) -> tuple[Verdict, ...]:
    read = joined(
        reading
        for stream in text.streams
        for reading in (*(one(stream) for one in _READERS), *summaries.read_closings(stream))
        if reading
    )
    return tuple(
        reading._replace(passed=None) if reading.passed and _OF_NOTHING.search(reading.quote) else reading
        for reading in read
    )


def _runs(segments: tuple[Segment, ...], text: CommandOutput) -> tuple[_JudgedPart, ...]:
    echoed = echoed_commands(text)
    failed = failed_tasks(text)
    return tuple(
        _run(segments, index, text, echoed, failed)
        for index, segment in enumerate(segments)
        if segment.purpose in _JUDGING
    )


def _run(
    segments: tuple[Segment, ...],
    index: int,
    text: CommandOutput,
    echoed: dict[str, Segment],
    failed: dict[str, str],
) -> _JudgedPart:
    segment = segments[index]
    is_task = any(segment.program in one for one in (known.RUN_WORDS, known.BARE_RUNNERS, known.SESSION_RUNNERS))
    task = (segment.subcommand or "") if is_task else None
    inner = echoed.get(task) if task is not None else None
    # Bun and yarn print what a task runs without its name, so it is known of one task; nox names its session once, and
    # that may be cut.
    alone = segment.program in known.UNNAMING_RUNNERS and [one.program for one in segments].count(segment.program) == 1
    if inner is None and is_task and (alone or segment.program in known.SESSION_RUNNERS):
        inner = echoed.get("")
    named = inner if inner and (inner.check or inner.purpose == "format") else segment
    formatter = named.program if named.program in known.FORMATTERS else f"{named.program} {named.subcommand or ''}"
    # The line in which the runner says that the task failed; the default task goes by whatever name it has.
    task_failed = "" if task is None else failed.get(task) or failed.get("") or ""
    if task == "" and not task_failed:
        task_failed = next(iter(failed.values()), "")
    return _JudgedPart(
        place=index,
        segment=segment,
        check=named.check or formatter.strip(),
        kind=named.kind or segment.kind or "test",
        task=f"{segment.program} {task}" if task else None,
        echoed=inner.scope if inner else None,
        hidden=hides_exit(segments, index),
        cut=index + 1 < len(segments) and segments[index + 1].joiner == "|",
        known=task is None or named is inner,
        stated=echoed_status(segments, index, text),
        task_failed=task_failed,
    )


def _assigned(
    runs: Sequence[_JudgedPart], readings: tuple[Verdict, ...], text: CommandOutput
) -> tuple[_JudgedPart, ...]:
    """Each run with the reading that is its own; a reading is used once."""
    left = list(readings)
    found: list[_JudgedPart] = []
    for run in runs:
        # What another part of the command prints by its own name is no word of this one.
        others_own = {one.check for one in runs} - {run.check}
        own = [reading for reading in left if reading.check not in others_own and _belongs(run, reading)]
        if not own and len(readings) == 1 and run.task and run.segment.subcommand in _OF_ANY_CHECK and left:
            own = [reading for reading in left if reading.summed]
        others = [
            reading for reading in own if not any(_is_likelier(later, reading) for later in runs[len(found) + 1 :])
        ]
        reading = next((one for one in own if _is_likelier(run, one)), None) or next(iter(others), None)
        if reading in left:
            left.remove(reading)
        elif reading is None:
            reading = read_by_name(run.check, run.kind, text) or _left_over(run, text)
        # Of a task only the output may say what it ran.
        ran = reading if reading and not run.known and reading.check != "tests" else run
        found.append(run._replace(reading=reading, check=ran.check, kind=ran.kind))
    return tuple(found)


def _left_over(run: _JudgedPart, text: CommandOutput) -> Verdict | None:
    """What a run says that no grammar knows: as a task that did not start, in its last words, or as a list of files."""
    if not run.known:
        return not_started(text, check=run.check) or summaries.read_plain(text) or _summary(run, text)
    return read_listing(run.segment, text) if run.kind == "format" else _summary(run, text)


def _is_likelier(run: _JudgedPart, reading: Verdict) -> bool:
    """Whether a reading is of what a run checks, and not only of anything that a task may have run."""
    return _belongs(run, reading) and (run.check == reading.check or run.kind == reading.kind)


def _summary(run: _JudgedPart, text: CommandOutput) -> Verdict | None:
    """What is left of a tool's own words; of any tool's, when the run is a task or a script."""
    segment = run.segment
    program = segment.program if run.known and not is_script(segment.program, segment.subcommand) else None
    return read_summary(text, check=run.check, program=program, kind=run.kind)


def _belongs(run: _JudgedPart, reading: Verdict) -> bool:
    foreign = run.kind == "format" and reading.kind != "format" and reading.passed is False
    if foreign and not _PARSING.issuperset(found.family for found in reading.findings):
        return False  # what a formatter cannot complain of is for the compiler next to it
    if run.check == reading.check:
        return True
    if reading.check in _ALSO.get(run.check, ()):
        return reading.passed is False or run.check not in _WITH_GRAMMAR
    if run.known and run.check in _WITH_GRAMMAR:
        return False
    # A task or script of unknown content: a reading of its own kind, or any failure.
    return run.segment.purpose == "check" and (reading.kind == run.kind or reading.passed is False)


def _by_text(run: _JudgedPart, text: CommandOutput) -> Verdict:
    if run.stated:
        return _failed(run, finding_of((run.segment,), text, run.stated))
    if run.failed:
        return _failed(run, None)
    return _verdict(run, passed=True if run.stated == 0 or run.seen_passing or _silently_passed(run, text) else None)


def _silently_passed(run: _JudgedPart, text: CommandOutput) -> bool:
    """Whether silence means success: a compiler that says nothing, unless its words were cut or thrown away."""
    if run.check not in _SILENT or "/dev/null" in run.segment.text:
        return False
    if any(_COMPLAINT.match(line) for line in text.lines):
        return False  # someone complained, and it may have been this check
    return not text.text.strip() if run.cut else True


def _after_success(run: _JudgedPart, text: CommandOutput) -> Verdict:
    counted = run.failed and run.kind == "test"  # what ran the tests may end with 0 whatever they say
    if counted or run.hidden or (run.kind == "format" and run.failed):  # formatters may report and still end with 0
        return _by_text(run, text)
    # A run that found no tests or no files ends with 0 as well, and says nothing of the work.
    silent = run.reading is not None and run.reading.passed is None
    empty = run.reading is not None and silent and (run.kind == "test" or _OF_NOTHING.search(run.reading.quote))
    return _verdict(run, passed=None if empty else True)


def _after_failure(
    segments: tuple[Segment, ...], runs: tuple[_JudgedPart, ...], text: CommandOutput, code: int
) -> tuple[Verdict, ...]:
    culprit = _culprit(segments, runs, text)
    verdicts: list[Verdict] = []
    for run in runs:
        if run.place == culprit:
            verdicts.append(_failed(run, finding_of((run.segment,), text, code)))
        elif run.segment.purpose != "check" or (culprit is not None and run.place > culprit):
            continue
        elif run.hidden or culprit is None:
            verdicts.append(_by_text(run, text))
        else:
            verdicts.append(_verdict(run, passed=True))
    return tuple(verdicts)


def _culprit(segments: tuple[Segment, ...], runs: tuple[_JudgedPart, ...], text: CommandOutput) -> int | None:
    """The position of the part to which the exit status belongs; ``None`` when that is unknown."""
    by_index = {run.place: run for run in runs}
    visible = [index for index in range(len(segments)) if not hides_exit(segments, index)]
    for index in visible:
        if index in by_index and by_index[index].failed:
            return index
    moving = [index for index in visible if segments[index].program in {"cd", "pushd"}]
    if moving and _NO_FOLDER.search(text.text[:1000]):  # the shell complains at once
        return moving[0]
    suspects = [index for index in visible if not (index in by_index and by_index[index].seen_passing)]
    suspects = [index for index in suspects if segments[index].program not in known.SETTINGS] or suspects
    # A check that would have said so did not fail, as long as something else can have.
    silent = [index for index in suspects if index in by_index and _would_say_so(by_index[index])]
    others_left = [index for index in suspects if index not in silent]
    chosen = others_left or silent
    # What came last among the silent ones is the one that ended the chain; formatters before it went through.
    checks = [index for index in chosen if segments[index].purpose == "check"]
    return next(iter(checks or chosen), None)


#: Task runners that end with a line of their own when a task failed, and the options with which they leave it out.
_SPEAKING = frozenset({"make", "npm", "pnpm", "bun", "mise", "just", "task"})
_QUIET = frozenset({"-s", "--silent", "-q", "--quiet"})


def _would_say_so(run: _JudgedPart) -> bool:
    """Whether a check that failed would have said so in words that are known."""
    if run.check in _WITH_GRAMMAR:
        return True
    return run.task is not None and run.segment.program in _SPEAKING and _QUIET.isdisjoint(run.segment.arguments)


def _failed(run: _JudgedPart, fallback: CheckFinding | None) -> Verdict:
    """A failing verdict; it always has a finding, a generic one if nothing better is known."""
    findings = run.reading.findings if run.reading and run.reading.passed is not True else ()
    if not findings and fallback and not fallback.generic and not run.task_failed:
        findings = (fallback,)
    if not findings:
        shown = run.reading.quote.partition("\n")[0] if run.reading else ""
        message = run.task_failed or (fallback.message if fallback else "") or shown or f"{run.check} failed"
        findings = (unspecified(run.kind, message),)
    return _verdict(run, passed=False, findings=findings)


def _verdict(run: _JudgedPart, *, passed: bool | None, findings: tuple[CheckFinding, ...] = ()) -> Verdict:
    """What was read for a part of the command, as the verdict that its exit status allows."""
    # A reading that contradicts the exit status describes something else; only its words are dropped.
    reading = run.reading if run.reading and run.reading.passed in {passed, None} else None
    if reading is None:
        quote = findings[0].message[:QUOTE_LIMIT] if findings else ""
        reading = Verdict(check=run.check, kind=run.kind, passed=passed, quote=quote)
    elif run.kind == "test" and reading.kind != "test":
        reading = reading._replace(failed_count=None)  # what a compiler counts are no tests
    elif run.cut and reading.check == "go test":
        # Test by test counts are those of the lines that were left; a summary's are whole.
        reading = reading._replace(passed_count=None, skipped_count=None)
    return reading._replace(
        check=run.check,
        kind=run.kind,
        passed=passed,
        findings=findings,
        segment=run.place,
        scope=run.segment.scope,
        task=run.task,
        echoed=run.echoed,
    )


def _revealing(segments: tuple[Segment, ...]) -> int | None:
    """The part of a command that may run checks without being asked for one: a script, a commit with its hooks.

    None where the command prints what others wrote (``cat old.log``): then it is no run.
    """
    quoting = any(part.purpose == "look" and part.program in known.QUOTING and part.joiner != "|" for part in segments)
    acting = [index for index, part in enumerate(segments) if part.purpose == "change"]
    return acting[-1] if acting and not quoting else None


def _revealed(segment: int, readings: tuple[Verdict, ...]) -> tuple[Verdict, ...]:
    """Checks that only the output of a part shows."""
    shown = (reading for reading in readings if reading.summed and reading.kind != "build")
    return tuple(_named(reading)._replace(segment=segment) for reading in shown)


def _named(reading: Verdict) -> Verdict:
    """The verdict as read, with a finding where the runner only says that it failed."""
    unnamed = reading.passed is False and not reading.findings
    return reading._replace(findings=(unspecified(reading.kind, reading.quote),)) if unnamed else reading
