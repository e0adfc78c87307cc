"""What checks reported: verdicts from a command's output, and families of whatever went wrong.

A check is anything that judges the work: tests, linters, compilers, type checkers. Its verdict is read from the exit
status where that can be seen and from the runner's own grammar where it cannot, never from words such as "error"
that may be in any text. Every failure has a *family*, the name under which the same trouble is met again in
another session: a linter's rule, an exception type, a compiler's complaint in one of a few plain words.
``docs/explanation/checks.md`` lists the runners that are understood and the signs they are known by.
"""

from __future__ import annotations

from helix_episodes.extraction.checks.command_failures import (
    NO_SUCH_TOOL,
    NOT_FETCHED,
    command_finding,
    tool_finding,
    tools_own_finding,
)
from helix_episodes.extraction.checks.judging import read_verdicts, verdicts_in
from helix_episodes.extraction.checks.model import CheckFinding, CommandOutput, Verdict, covers
from helix_episodes.extraction.checks.python import exception_at_end
from helix_episodes.extraction.checks.silent_failures import silent_failure
from helix_episodes.extraction.checks.task_runners import echoed_commands

__all__ = [
    "NOT_FETCHED",
    "NO_SUCH_TOOL",
    "CheckFinding",
    "Verdict",
    "check_name_from_output",
    "command_finding",
    "covers",
    "exception_at_end",
    "read_verdicts",
    "silent_failure",
    "tool_finding",
    "tools_own_finding",
    "verdicts_in",
]


def check_name_from_output(output: str) -> dict[str, str]:
    r"""The check (else the program) that each task of a task runner ran, as far as the runner printed it.

    >>> check_name_from_output("[lint] $ golangci-lint run ./...\n0 issues.")
    {'lint': 'golangci-lint'}
    """
    return {task: part.check or part.program for task, part in echoed_commands(CommandOutput(output)).items()}
