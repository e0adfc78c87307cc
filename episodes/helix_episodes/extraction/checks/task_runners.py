"""Task runners: what they say they are running, and which task failed.

``mise run lint`` and ``golangci-lint run`` are one check only when the task is known to run that program. Task runners
print the command of each task before it (cut to the width of a terminal) and the name of a task that failed after it.
"""

from __future__ import annotations

from helix_episodes.extraction.checks.model import CheckFinding, CheckReading, CommandOutput, quoted
from helix_episodes.extraction.shell.commands import Segment, decisive, parse_command
from helix_episodes.lightweight import Regex

_MISE = Regex(r"\[([\w:./-]+)\] \$ (.+)$")
_NPM_TITLE = Regex(r"> (?:@?[\w./-]+@\S+ )?([\w:.-]+)(?: \S*)?$")
_NPM = Regex(r"> (.+)$")
_YARN = Regex(r"\$ (.+)$")
#: The runner itself could not start the task: nothing was checked.
_NOT_STARTED = (
    Regex(r"mise ERROR (?:no tasks? |unknown task).*"),
    Regex(r"npm (?:ERR!|error) Missing script.*"),
    Regex(r"(?:g?make)(?:\[\d+\])?: \*\*\* No rule to make target.*"),
    Regex(r"error: Justfile does not contain recipe.*"),
    Regex(r"error Command \".*\" not found\."),
    Regex(r"task: Task \".*\" does not exist"),
)
#: Runners that say only that what they ran failed.
_FAILED_UNNAMED = (
    Regex(r"npm (?:ERR!|error) (?:code ELIFECYCLE|Lifecycle script .* failed)"),
    Regex(r"\s*(?:\u2009?ELIFECYCLE\u2009?|ERR_PNPM_\w+) .*"),
    Regex(r"error Command failed with exit code \d+"),
    Regex(r"error: script \".*\" exited with code \d+"),
)
_FAILED_SIGNS = (
    "ELIFECYCLE",
    "Lifecycle script",
    "error Command failed",
    'error: script "',
    "ERR_PNPM",
    "] ERROR task failed",
    ": *** [",
    "error: Recipe `",
    "Failed to run task",
)
_FAILED = (
    Regex(r"\[([\w:./-]+)\] ERROR task failed"),
    Regex(r"(?:g?make)(?:\[\d+\])?: \*\*\* \[(?:[^\]:]*:\d+: )?([\w./-]+)\] Error \d+"),
    Regex(r"error: Recipe `([\w-]+)` failed"),
    Regex(r"task: Failed to run task \"([\w:-]+)\""),
)


def echoed_commands(output: CommandOutput) -> dict[str, Segment]:
    """The command that each task ran, as far as the runner printed it: task name → its decisive part.

    >>> echoed_commands(CommandOutput("[lint] $ golangci-lint run ./..."))["lint"].check
    'golangci-lint'
    """
    if not output.has("] $ ", "> ", "$ "):
        return {}
    echoed: dict[str, Segment] = {}
    title = ""
    for line in output.lines:
        if found := _MISE.match(line):
            _note(echoed, found[1], found[2])
        elif line.startswith("> "):
            name = _NPM_TITLE.match(line)
            if name and "@" in line:
                title = name[1]
            elif title and (command := _NPM.match(line)):
                _note(echoed, title, command[1])
                title = ""
        elif command := _YARN.match(line):
            _note(echoed, "", command[1])
    return echoed


def _note(echoed: dict[str, Segment], task: str, command: str) -> None:
    if task in echoed:
        return
    part = decisive(parse_command(command))
    if part is not None:
        echoed[task] = part


def failed_tasks(output: CommandOutput) -> dict[str, str]:
    """The tasks that a runner says failed, each with the line that says so; under no name when it gives none."""
    if not output.has(*_FAILED_SIGNS):
        return {}
    lines = [line for line in output.lines if any(sign in line for sign in _FAILED_SIGNS)]
    said = next((line for line in lines if any(pattern.match(line) for pattern in _FAILED_UNNAMED)), None)
    unnamed = {"": said} if said else {}
    return unnamed | {found[1]: line for line in lines for pattern in _FAILED if (found := pattern.match(line))}


def not_started(output: CommandOutput, *, check: str) -> CheckReading | None:
    """That the runner knows no such task, in its own words."""
    if not output.has(
        "mise ERROR", "Missing script", "No rule to make", "not contain recipe", "not found.", "not exist"
    ):
        return None
    line = next((line for line in output.lines if any(pattern.match(line) for pattern in _NOT_STARTED)), None)
    if line is None:
        return None
    found = CheckFinding(family="unknown task", message=line.strip())
    return CheckReading(check=check, kind="build", passed=False, findings=(found,), quote=quoted(line))
