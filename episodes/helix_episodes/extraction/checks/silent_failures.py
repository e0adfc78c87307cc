r"""Failures that the exit status does not show, in the words of whoever reports them.

A pipe shows the exit status of its last part, ``;`` that of the last command: what failed before shows only in its own
words. Only words in their speaker's own form are taken: the shell's refusal, the report with which an interpreter ends
a program, an error that the program prints at the margin. A formatter asked to check may print a list of files or a
diff and end with 0.

>>> from helix_episodes.extraction.shell.commands import parse_command
>>> read_listing(parse_command("gofmt -l .")[0], CommandOutput("cmd/a.go\ncmd/b.go")).findings[0].times
2
"""

from __future__ import annotations

import re
from itertools import pairwise, takewhile

from helix_episodes.extraction.checks.command_failures import ENDS, known_finding, template
from helix_episodes.extraction.checks.model import (
    CheckFinding,
    CommandOutput,
    ReportedLine,
    Verdict,
    cleaned,
    failing,
)
from helix_episodes.extraction.checks.python import raised_exception
from helix_episodes.extraction.checks.summaries import is_script, summary_failure
from helix_episodes.extraction.shell.commands import hides_exit
from helix_episodes.light_imports import Regex

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from helix_episodes.extraction.shell.commands import Segment


def echoed_status(segments: tuple[Segment, ...], index: int, output: CommandOutput) -> int | None:
    r"""The exit status of a part that hides it, where the shell was asked right behind it to print it.

    >>> from helix_episodes.extraction.shell.commands import parse_command
    >>> echoed_status(parse_command('pytest -q; echo "exit: $?"'), 0, CommandOutput("1 failed\nexit: 1"))
    1
    """
    following = segments[index + 1 :]
    asking = next((part for part in following if part.joiner != "|"), None)
    if asking is None or asking.joiner != ";" or asking.program not in {"echo", "printf"}:
        return None
    words = " ".join(asking.arguments)
    piped = following[0].joiner == "|"
    # Behind a pipe `$?` is the status of its last part.
    variable = next((one for one in ("${PIPESTATUS[0]}", "" if piped else "$?") if one and one in words), None)
    if variable is None:
        return None
    before, _, after = words.partition(variable)
    if not before.strip() and asking is not segments[-1]:
        return None  # a bare number among the lines of others
    printed = Regex(rf"{re.escape(before.strip())}\s*(\d{{1,3}})\s*{re.escape(after.strip())}\s*")
    lines = [line for line in output.lines if line.strip()]
    return next((int(found[1]) for line in reversed(lines) if (found := printed.fullmatch(line.strip()))), None)


_LISTS = frozenset({"-l", "--list", "--list-different", "-n", "--dry-run", "--files-with-diff"})
_DIFFS = frozenset({"-d", "--diff", "-diff"})
_FILE = Regex(r"(?:\./)?[\w@.+-]+(?:/[\w@.+ -]+)*\.\w{1,8}$")
#: Every file's diff names it twice or more; this line is in all of them, and once.
_DIFF = Regex(r"\+\+\+ (?:b/)?(\S+)")
_DIFF_CUT = Regex(r"diff .*?(?:b/)?(\S+)$")
_CLANG = Regex(r"([^\s:]+):\d+:\d+: (?:warning|error): code should be clang-formatted")


def read_listing(segment: Segment, output: CommandOutput) -> Verdict | None:
    """What a formatter lists or shows as a diff; None when it was not asked to, or its words are not alone."""
    asked = {*segment.arguments}
    found = output.matches(_CLANG)
    if not found and asked & _DIFFS:
        found = output.matches(_DIFF) or output.matches(_DIFF_CUT)
    files = [(one.string, one[1]) for one in found]
    lines = [line.strip() for line in output.lines if line.strip()]
    if not files and asked & _LISTS and all(_FILE.match(line) for line in lines):
        files = [(line, line) for line in lines]
    if not files:
        return None
    reports = [ReportedLine(family="not formatted", message=line, path=path) for line, path in files]
    return failing(segment.check or segment.program, "format", reports, count=len({path for _, path in files}))


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
#: The programs that scripts are made of, where one says in its own name that a file of the script's is not there.
_SCRIPT_MISSES = Regex(
    r"(?:cat|sed|grep|awk|cp|mv|head|tail|diff|tar|source|ln|chmod|sort|wc): .*"
    r"(?:No such file or directory|Permission denied)$"
)
#: A program at the head of a pipe that was called with an option it does not have; then it prints how to call it.
_MISCALLED = Regex(r"(?:\S*/)?([\w.-]+): (?:illegal|invalid|unrecognized) option\b")
#: What the API of GitHub answers in place of what was asked for; ``curl`` ends well all the same.
_API_ERROR = Regex(
    r"\s*\{\s*\"message\":\s*\"([^\"\n]{1,200})\",\s*\"documentation_url\":\s*\"[^\"]*\",\s*\"status\":\s*\"([45]\d\d)\""
)
#: The same in the words of programs in Rust, of which nothing else is printed.
_USAGE = Regex(r"error: (?:unexpected argument|unrecognized subcommand|invalid value|the following required arg)")
_MERGING = {"merge", "rebase", "pull", "cherry-pick", "revert", "am", "stash pop", "stash apply"}
#: How programs begin the line in which they give up.
_GIVES_UP = Regex(r"(?:npm (?:ERR!|error) |ERROR: |(?:\u2502 )?[Ee]rror: |Error from server |fatal: |FATAL: |E: )\S")
#: What looks only, and works so much out for it that it can fail at that.
_WORKING_OUT = {"terraform": {"plan"}, "tofu": {"plan"}, "helm": {"template"}, "pulumi": {"preview"}, "cdk": {"synth"}}
#: How PowerShell names its commands, and who speaks at the margin: one of them, or the shell itself.
_CMDLET = Regex(r"[A-Z][a-z]+-[A-Z]\w+")
_CMDLET_ERROR = Regex(r"([A-Z]\w*(?:-[A-Z]\w+)?) ?:(?: (.*)|$)")
_RAISED_BY_SHELL = Regex(r"(?:\w*(?:Error|Exception)|Invalid\w+|\w+NotFound)")
_THROWN = Regex(r"(?:Uncaught )?((?:[A-Z]\w*)?Error)(?: \[\w+\])?: ")


def silent_failure(segments: tuple[Segment, ...], *, output: str) -> CheckFinding | None:
    """The failure in a command that ended with 0 all the same, in the words of whoever reports it.

    The shell refused a part of it (and something after it succeeded), a merge left conflicts behind ``|| true``, a
    program died at the head of a pipe. ``None`` when there is no such word. A failure before ``||`` was expected.

    >>> from helix_episodes.extraction.shell.commands import parse_command
    >>> silent_failure(parse_command("ls *.json | head"), output="(eval):1: no matches found: *.json").family
    'no glob match'
    """
    text = cleaned(output)
    lines = [line for line in text.lines if line.strip()][:ENDS]
    if any(part.program == "git" and part.subcommand in _MERGING for part in segments):
        conflict = next((line for line in lines if line.startswith("CONFLICT ")), None)
        if conflict:
            return CheckFinding(family="merge conflict", message=conflict)
    refused = _refusal(lines, segments)
    if refused:
        return _in_words(refused)
    asked = any((part.program, part.subcommand) in {("curl", None), ("gh", "api")} for part in segments)
    answer = _API_ERROR.match(output) if asked else None
    if answer:
        return CheckFinding(family=f"HTTP {answer[2]}", message=f"{answer[1]} (HTTP {answer[2]})")
    if reported := _powershell_error(text.lines, segments):
        return reported
    # The parts whose failure no one would see, other than on purpose, and those of them that change something.
    joiners = [*(part.joiner for part in segments[1:]), ""]
    unseen = [part for number, part in enumerate(segments) if hides_exit(segments, number) and joiners[number] != "||"]
    hidden = [
        part for part in unseen if part.purpose == "change" or part.subcommand in _WORKING_OUT.get(part.program, ())
    ]
    missed = next((line for line in lines if any(_finds_nothing(part, line) for part in unseen)), None)
    if not hidden or missed is not None:
        return _in_words(missed) if missed is not None else None
    # The line with which one of them, or what a script runs, sums up that it failed.
    runs = (None if is_script(part.program, part.subcommand) else part.program for part in hidden)
    summed = (summary_failure(text, program=program) for program in runs)
    return _ended(text) or _gave_up(lines, hidden) or next(filter(None, summed), None)


def _powershell_error(lines: Sequence[str], segments: tuple[Segment, ...]) -> CheckFinding | None:
    """The report of PowerShell, which goes on after most errors and ends with 0, by the name of the cmdlet.

    Of a script it shows the line before it says what is wrong; its older form names the category below.
    """
    cmdlets = {word for part in segments for word in (part.program, *part.arguments) if _CMDLET.fullmatch(word)}
    if not cmdlets:
        return None
    for at, line in enumerate(lines):
        found = _CMDLET_ERROR.match(line)
        if found is None or not (found[1] in cmdlets or _RAISED_BY_SHELL.fullmatch(found[1])):
            continue
        block = list(takewhile(lambda one: one[:1].isspace() or one == "Line |", lines[at + 1 :]))
        shown = [one.partition("|")[2].strip(" ~") for one in block if one.lstrip().startswith("| ")]
        said = found[2].strip() or next((one for one in reversed(shown) if one), "")
        if said and (block[:1] == ["Line |"] or found[1] in cmdlets):
            return known_finding([said]) or CheckFinding(family=template(said), message=said)
    return None


def _finds_nothing(part: Segment, line: str) -> bool:
    """Whether it is the line in which a command says, in its own name, that what it was to look at is not there."""
    return (
        part.purpose == "look"
        and line.startswith(f"{part.program}: ")
        and any(word in line for word in part.arguments if len(word) > 1 and not word.startswith("-"))
        and known_finding([line]) is not None
    )


def _in_words(line: str) -> CheckFinding:
    """A line as a finding: by its known wording, else by its template."""
    return known_finding([line]) or CheckFinding(family=template(line), message=line.strip())


def _refusal(lines: Sequence[str], segments: tuple[Segment, ...]) -> str | None:
    """The line in which the shell refuses, or git at the head of a pipe, or the shell in a script that was run."""
    if not lines:
        return None
    git_piped_on = any(part.program == "git" and following.joiner == "|" for part, following in pairwise(segments))
    if _REFUSED.match(lines[0]) or (git_piped_on and lines[0].startswith("fatal: ")):
        return lines[0]
    if _USAGE.match(lines[0]) and any(line.startswith("Usage: ") for line in lines):
        return lines[0]
    miscalled = _MISCALLED.match(lines[0])
    piped_on = {part.program for part, following in pairwise(segments) if following.joiner == "|"}
    if miscalled and miscalled[1] in piped_on:
        return lines[0]
    refused = next((line for line in lines if _REFUSED_LATER.match(line)), None)
    names = {part.subcommand or part.program for part in segments if is_script(part.program, part.subcommand)}
    if refused or not names:
        return refused
    in_script = (found for line in lines if (found := _SCRIPT_REFUSED.match(line)))
    refused = next((found.string for found in in_script if found[1].rpartition("/")[2] in names), None)
    return refused or next((line for line in lines if _SCRIPT_MISSES.match(line)), None)


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
    at_margin = next((line for line in lines if _GIVES_UP.match(line)), None)
    named = next((line for line in lines if line.startswith(own) and known_finding([line])), None)
    line = at_margin or named
    return _in_words(line) if line else None
