r"""Failures behind exit status 0: formatters that only report, and commands whose status hides a failure.

A formatter asked to check may print a list of files or a diff and end with 0. A pipe shows the exit status of its last
part, ``;`` that of the last command: what failed before shows only in its own words. Only words in their speaker's own
form are taken: the shell's refusal, the report with which an interpreter ends a program, an error that the program
prints at the margin.

>>> from helix_episodes.extraction.shell.commands import parse_command
>>> read_listing(parse_command("gofmt -l .")[0], CommandOutput("cmd/a.go\ncmd/b.go")).findings[0].times
2
"""

from __future__ import annotations

from itertools import pairwise

from helix_episodes.extraction.checks.families import ENDS, known_finding, template
from helix_episodes.extraction.checks.model import (
    CheckFinding,
    CheckReading,
    CommandOutput,
    ReportedLine,
    grouped,
    quoted,
)
from helix_episodes.extraction.checks.python import raised_exception
from helix_episodes.extraction.checks.summaries import is_script, summary_failure
from helix_episodes.extraction.shell.commands import Segment, hides_exit
from helix_episodes.lightweight import Regex

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


_LISTS = frozenset({"-l", "--list", "--list-different", "-n", "--dry-run", "--files-with-diff"})
_DIFFS = frozenset({"-d", "--diff", "-diff"})
_FILE = Regex(r"(?:\./)?[\w@.+-]+(?:/[\w@.+ -]+)*\.\w{1,8}$")
#: Every file's diff names it twice or more; this line is in all of them, and once.
_DIFF = Regex(r"\+\+\+ (?:b/)?(\S+)")
_DIFF_CUT = Regex(r"diff .*?(?:b/)?(\S+)$")
_CLANG = Regex(r"([^\s:]+):\d+:\d+: (?:warning|error): code should be clang-formatted")


def read_listing(segment: Segment, output: CommandOutput) -> CheckReading | None:
    """What a formatter lists or shows as a diff; None when it was not asked to, or its words are not alone."""
    asked = {*segment.arguments}
    reports = [_report(found.string, found[1]) for line in output.lines if (found := _CLANG.match(line))]
    if not reports and asked & _DIFFS:
        reports = _diffs(output, _DIFF) or _diffs(output, _DIFF_CUT)
    lines = [line.strip() for line in output.lines if line.strip()]
    if not reports and asked & _LISTS and lines and all(_FILE.match(line) for line in lines):
        reports = [_report(line, line) for line in lines]
    if not reports:
        return None
    return CheckReading(
        check=segment.check or segment.program,
        kind="format",
        passed=False,
        failed_count=len({report.path for report in reports}),
        findings=grouped(reports),
        quote=quoted(*(report.message for report in reports[:3])),
    )


def _diffs(output: CommandOutput, heading: Regex) -> list[ReportedLine]:
    return [_report(line, found[1]) for line in output.lines if (found := heading.match(line))]


def _report(message: str, path: str) -> ReportedLine:
    return ReportedLine(family="not formatted", message=message, path=path)


_SHELL = r"(?:\(eval\)|-?(?:/bin/|/usr/bin/)?(?:ba|z|da|k)?sh)(?::(?: line)? ?\d+)?: "
_REFUSED = Regex(rf"{_SHELL}.+")
#: In the middle of an output only a refusal that no program would print about something else.
_REFUSED_LATER = Regex(
    rf"{_SHELL}(?:(?:command not found|no matches found|parse error|bad substitution|syntax error)\b.*|"
    r"\S+: (?:command not found|not found|No such file or directory|Permission denied))$"
)
_SCRIPT_REFUSED = Regex(
    r"([^\s:]+): line \d+: (?:syntax error\b.*|unexpected EOF\b.*|.*: bad substitution|\S+: command not found)$"
)
_MERGING = {"merge", "rebase", "pull", "cherry-pick", "revert", "am", "stash pop", "stash apply"}
#: How programs begin the line in which they give up.
_GIVES_UP = Regex(r"(?:npm (?:ERR!|error) |ERROR: |(?:\u2502 )?[Ee]rror: |Error from server |fatal: |FATAL: |E: )\S")
#: What looks only, and works so much out for it that it can fail at that.
_WORKING_OUT = {"terraform": {"plan"}, "tofu": {"plan"}, "helm": {"template"}, "pulumi": {"preview"}, "cdk": {"synth"}}
_THROWN = Regex(r"(?:Uncaught )?((?:[A-Z]\w*)?Error)(?: \[\w+\])?: ")


def silent_failure(segments: tuple[Segment, ...], *, output: str) -> CheckFinding | None:
    """The trouble in a command that ended with 0 all the same, in the words of whoever met it.

    The shell refused a part of it (and something after it succeeded), a merge left conflicts behind ``|| true``, a
    program died at the head of a pipe. ``None`` when there is no such word. What stands before ``||`` was expected.

    >>> from helix_episodes.extraction.shell.commands import parse_command
    >>> silent_failure(parse_command("ls *.json | head"), output="(eval):1: no matches found: *.json").family
    'no glob match'
    """
    text = CommandOutput(output)
    lines = [line for line in text.lines if line.strip()][:ENDS]
    if any(part.program == "git" and part.subcommand in _MERGING for part in segments):
        conflict = next((line for line in lines if line.startswith("CONFLICT ")), None)
        if conflict:
            return CheckFinding(family="merge conflict", message=conflict)
    refused = _refusal(lines, segments) or _refusal_of_script(lines, segments)
    if refused:
        return known_finding([refused]) or CheckFinding(family=template(refused), message=refused.strip())
    hidden = _hidden(segments)
    return _ended(text) or _gave_up(lines, hidden) or _summed(text, hidden) if hidden else None


def _refusal(lines: Sequence[str], segments: tuple[Segment, ...]) -> str | None:
    """The line in which the shell, or git at the head of a pipe, refuses."""
    if not lines:
        return None
    if _REFUSED.match(lines[0]) or (_git_piped_on(segments) and lines[0].startswith("fatal: ")):
        return lines[0]
    return next((line for line in lines if _REFUSED_LATER.match(line)), None)


def _refusal_of_script(lines: Sequence[str], segments: tuple[Segment, ...]) -> str | None:
    """The line in which the shell refuses a line of a script that the command runs: under the script's name."""
    names = {part.subcommand or part.program for part in segments if is_script(part.program, part.subcommand)}
    refusals = (found for line in lines if names and (found := _SCRIPT_REFUSED.match(line)))
    return next((found.string for found in refusals if found[1].rpartition("/")[2] in names), None)


def _git_piped_on(segments: tuple[Segment, ...]) -> bool:
    return any(part.program == "git" and following.joiner == "|" for part, following in pairwise(segments))


def _hidden(segments: tuple[Segment, ...]) -> list[Segment]:
    """The parts that change something and whose failure nobody would see, other than on purpose."""
    return [
        part
        for number, part in enumerate(segments)
        if _can_fail(part) and hides_exit(segments, number) and not _is_forgiven(segments, number)
    ]


def _can_fail(part: Segment) -> bool:
    return part.purpose == "change" or part.subcommand in _WORKING_OUT.get(part.program, ())


def _is_forgiven(segments: tuple[Segment, ...], number: int) -> bool:
    return number + 1 < len(segments) and segments[number + 1].joiner == "||"


def _ended(text: CommandOutput) -> CheckFinding | None:
    """The report with which an interpreter or a runtime ends a program."""
    if raised := raised_exception(text):
        return raised
    if text.has("panic: ") and text.has("\ngoroutine "):
        panic = next((line for line in text.lines if line.startswith("panic: ")), None)
        return CheckFinding(family="panic", message=panic) if panic else None
    if text.has("\n    at ") and text.has("node:internal", "Node.js v"):
        thrown = next((found for line in text.lines if (found := _THROWN.match(line))), None)
        return CheckFinding(family=thrown[1], message=thrown.string.strip()) if thrown else None
    return None


def _gave_up(lines: Sequence[str], hidden: Sequence[Segment]) -> CheckFinding | None:
    """The line in which one of those programs says, in its own name or at the margin, that it gives up."""
    own = tuple(f"{part.program}: " for part in hidden)
    given = next((line for line in lines if _GIVES_UP.match(line)), None)
    named = next((line for line in lines if line.startswith(own) and known_finding([line])), None)
    line = given or named
    if line is None:
        return None
    return known_finding([line]) or CheckFinding(family=template(line), message=line.strip())


def _summed(text: CommandOutput, hidden: Sequence[Segment]) -> CheckFinding | None:
    """The line with which one of those programs, or what a script runs, sums up that it failed."""
    runs = (None if is_script(part.program, part.subcommand) else part.program for part in hidden)
    return next((found for program in runs if (found := summary_failure(text, program=program))), None)
