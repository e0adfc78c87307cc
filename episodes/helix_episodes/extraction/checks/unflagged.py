"""Trouble in commands that ended with 0 all the same.

A pipe shows the exit status of its last part, ``;`` that of the last command: what failed before can only be told by
its own words. Only words that stand in their speaker's own form are taken: the shell's refusal, the report with which
an interpreter ends a program, an error that the program itself prints at the margin.
"""

from __future__ import annotations

from itertools import pairwise

from helix_episodes.extraction.checks.model import Finding, Output
from helix_episodes.extraction.checks.python import raised_exception
from helix_episodes.extraction.checks.summaries import is_script, summed_failure
from helix_episodes.extraction.checks.troubles import ENDS, known_finding, template
from helix_episodes.extraction.commands import Segment, hides_exit
from helix_episodes.regex import Regex

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

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


def unflagged_finding(segments: tuple[Segment, ...], *, output: str) -> Finding | None:
    """The trouble in a command that ended with 0 all the same, in the words of whoever met it.

    The shell refused a part of it (and something after it succeeded), a merge left conflicts behind ``|| true``, a
    program died at the head of a pipe. ``None`` when there is no such word. What stands before ``||`` was expected.

    >>> from helix_episodes.extraction.commands import parse_command
    >>> unflagged_finding(parse_command("ls *.json | head"), output="(eval):1: no matches found: *.json").family
    'no glob match'
    """
    text = Output(output)
    lines = [line for line in text.lines if line.strip()][:ENDS]
    if any(part.program == "git" and part.subcommand in _MERGING for part in segments):
        conflict = next((line for line in lines if line.startswith("CONFLICT ")), None)
        if conflict:
            return Finding(family="merge conflict", message=conflict)
    refused = _refusal(lines, segments) or _refusal_of_script(lines, segments)
    if refused:
        return known_finding([refused]) or Finding(family=template(refused), message=refused.strip())
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


def _ended(text: Output) -> Finding | None:
    """The report with which an interpreter or a runtime ends a program."""
    if raised := raised_exception(text):
        return raised
    if text.has("panic: ") and text.has("\ngoroutine "):
        panic = next((line for line in text.lines if line.startswith("panic: ")), None)
        return Finding(family="panic", message=panic) if panic else None
    if text.has("\n    at ") and text.has("node:internal", "Node.js v"):
        thrown = next((found for line in text.lines if (found := _THROWN.match(line))), None)
        return Finding(family=thrown[1], message=thrown.string.strip()) if thrown else None
    return None


def _gave_up(lines: Sequence[str], hidden: Sequence[Segment]) -> Finding | None:
    """The line in which one of those programs says, in its own name or at the margin, that it gives up."""
    own = tuple(f"{part.program}: " for part in hidden)
    given = next((line for line in lines if _GIVES_UP.match(line)), None)
    named = next((line for line in lines if line.startswith(own) and known_finding([line])), None)
    line = given or named
    if line is None:
        return None
    return known_finding([line]) or Finding(family=template(line), message=line.strip())


def _summed(text: Output, hidden: Sequence[Segment]) -> Finding | None:
    """The line with which one of those programs, or what a script runs, sums up that it failed."""
    runs = (None if is_script(part.program, part.subcommand) else part.program for part in hidden)
    return next((found for program in runs if (found := summed_failure(text, program=program))), None)
