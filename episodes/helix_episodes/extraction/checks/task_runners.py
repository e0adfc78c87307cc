r"""What task runners print themselves: the commands of their tasks, and which of them failed or never began.

``mise run lint`` and ``golangci-lint run`` are one check only when the task is known to run that program. Most runners
print the command of a task before its output (some cut it to the width of a terminal) and the task's name after a
failure. A task is known by its own name and, where runners put a package before it, by the last part of the name.

>>> {task: part.check for task, part in echoed_commands(CommandOutput("> shop@1.0.0 test\n> vitest run")).items()}
{'test': 'vitest'}
>>> failed_tasks(CommandOutput("[lint] ERROR task failed"))
{'lint': '[lint] ERROR task failed'}
"""

from __future__ import annotations

import re

from helix_episodes.extraction.checks.model import CheckFinding, CommandOutput, Verdict, quoted
from helix_episodes.extraction.shell.commands import decisive, parse_command
from helix_episodes.light_imports import Regex

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from helix_episodes.extraction.shell.commands import Segment


#: A task's name before its command: mise, go-task, nox, tox, Deno, Poe, hatch.
_NAMED = (
    Regex(r"\[(?P<task>[\w:./-]+)\] \$ (?P<command>.+)$"),
    Regex(r"task: \[(?P<task>[\w:./-]+)\] (?P<command>.+)$"),
    Regex(r"(?P<task>[\w.-]+): commands(?:_pre|_post)?\[\d+\](?:>| \|) (?P<command>.+)$"),
    Regex(r"Task (?P<task>[\w:./-]+) (?P<command>\S.+)$"),
    Regex(r"(?:Poe => |cmd \[\d+\] \| |##\[group\]Run )(?P<task>)(?P<command>.+)$"),
    Regex(r"nox > (?P<task>)(?!Running |Session |Creating |Re-using |Ran |Command |Deleting )(?P<command>\w.+)$"),
)
_NAMED_SIGNS = ("] $ ", "task: [", ": commands", "Task ", "Poe => ", "] | ", "##[group]Run ", "nox > ")
_NPM_TITLE = Regex(r"> (?:@?[\w./-]+@\S+ )?([\w:.-]+)(?: \S*)?$")
_NX_TITLE = Regex(r"> nx run (?:[\w@./-]+):([\w.-]+)(?::\S+)?$")
_NOX_TITLE = Regex(r"nox > Running session ([\w.:]+(?:-[A-Za-z_][\w.:]*)*)")  # without the version of ``lint-3.12``
_NPM = Regex(r"> (.+)$")
_PROMPT = Regex(r"\$ (.+)$")
#: The runner itself could not start the task: nothing was checked.
_NOT_STARTED = (
    Regex(r"mise ERROR (?:no tasks? |unknown task).*"),
    Regex(r"npm (?:ERR!|error) Missing script.*"),
    Regex(r"(?:g?make)(?:\[\d+\])?: \*\*\* No rule to make target.*"),
    Regex(r"error: Justfile does not contain recipe.*"),
    Regex(r"error Command \".*\" not found\."),
    Regex(r"task: Task \".*\" does not exist"),
    Regex(r"error: Script not found \".*\""),
    Regex(r"(?:  x |.*\b)?[Cc]ould not find task `.*` in project"),
    Regex(r"nox > Error while collecting sessions.*"),
)
_NOT_STARTED_SIGNS = (
    "mise ERROR", "Missing script", "No rule to make", "not contain recipe", "not found", "not exist", "not find task",
    "collecting sessions",
)  # fmt: skip
#: Runners that say only that what they ran failed.
_FAILED_UNNAMED = (
    Regex(r"npm (?:ERR!|error) (?:code ELIFECYCLE|Lifecycle script .* failed)"),
    Regex(r"\s*(?:\u2009?ELIFECYCLE\u2009?|ERR_PNPM_\w+) .*"),
    Regex(r"error Command failed with exit code \d+"),
    Regex(r"(?:Error: )?Process completed with exit code [1-9]\d*\."),
    Regex(r"nox > (?:Command .+ failed with exit code \d+|Session .+ failed\.)"),
    Regex(r"ERROR: command finished with error: .*|ERROR task failed|\s*ERROR +command .+ exited \(\d+\)"),
    Regex(r"\s*NX\s+(?:Running|Ran) target .+ failed$"),
    Regex(r"(?:(?:npm|pnpm|yarn|bun|npx|node) .+|[\w.-]+-\d+) exited with code [1-9]\d*$"),
)
_FAILED_SIGNS = (
    "ELIFECYCLE", "Lifecycle script", "error Command failed", 'error: script "', "ERR_PNPM", "ERROR task failed",
    ": *** [", "error: Recipe `", "Failed to run task", "with exit code ", "exited with code ", "finished with error",
    "ERROR  command",
    "lerna ERR! ", " NX ", "FAIL code ", "> nx run", "  nx run ", "Session ",
)  # fmt: skip
_FAILED = (
    Regex(r"\[([\w:./-]+)\] ERROR task failed"),
    Regex(r"(?:g?make)(?:\[\d+\])?: \*\*\* \[(?:[^\]:]*:\d+: )?([\w./-]+)\] Error \d+"),
    Regex(r"error: Recipe `([\w-]+)` failed"),
    Regex(r"error: script \"([^\"]*)\" exited with code \d+"),
    Regex(r"task: Failed to run task \"([\w:-]+)\""),
    Regex(r"lerna ERR! \S+ run ([\w:.-]+) exited \d+ in "),
    Regex(r"\s*[✖✗×]\s+nx run [\w@./-]+:([\w.-]+)"),  # noqa: RUF001  (signs as printed)
    Regex(r"\s*([\w.-]+): FAIL code \d+"),
)


def _any_of(*patterns: Regex) -> Regex:
    """Asked of each line first: one expression finds sooner than ten that a line is none of theirs."""
    return Regex(
        "|".join(f"(?:{pattern.text})".replace("(?P<task>", "(").replace("(?P<command>", "(") for pattern in patterns)
    )


#: How a runner of several tasks closes one of them.
_EXITED = Regex(r".+ exited with code [1-9]\d*$")
_ANY_NAMED = _any_of(*_NAMED)
_ANY_FAILED = _any_of(*_FAILED, *_FAILED_UNNAMED, _EXITED)


def echoed_commands(output: CommandOutput) -> dict[str, Segment]:
    """The command that each task ran, as far as the runner printed it: task name → its decisive part.

    >>> echoed_commands(CommandOutput("[lint] $ golangci-lint run ./..."))["lint"].check
    'golangci-lint'
    """
    echoed: dict[str, Segment] = {}
    unclear: set[str] = set()
    for stream in output.streams:
        if not stream.has("> ", "$ ", *_NAMED_SIGNS):
            continue
        own: dict[str, Segment] = {}
        for task, command in _echoes(stream):
            if part := decisive(parse_command(command)):
                own = dict.fromkeys(_names(task or stream.name), part) | own
        # A task of several packages is one command only where all of them run the same program.
        unclear |= {name for name, part in own.items() if echoed.setdefault(name, part).program != part.program}
    return {name: part for name, part in echoed.items() if name not in unclear}


def other_tasks(output: str, command: Segment | None) -> tuple[str, ...]:
    """The tasks that a runner of them says it runs, where the command asks for another one.

    >>> part = decisive(parse_command("mise run format"))
    >>> other_tasks("[lint-fix] $ xtasks/lint-fix.sh", part), other_tasks("[format] $ gofmt -w .", part)
    (('lint-fix',), ())
    """
    if command is None or command.program not in {"mise", "task"} or "] " not in output:
        return ()
    started = (found for text in output.splitlines() for one in _NAMED[:2] if (found := one.match(text)))
    tasks = tuple(dict.fromkeys(found["task"] for found in started))
    return () if command.subcommand in tasks else tasks


def _echoes(stream: CommandOutput) -> Iterator[tuple[str, str]]:
    """The commands that one task's output shows, each with the task that it names."""
    title = ""
    for line in stream.lines:
        if line.startswith("> "):
            nx, npm = _NX_TITLE.match(line), _NPM_TITLE.match(line)
            if nx or (npm and "@" in line):
                title = nx[1] if nx else npm[1] if npm else ""
            elif (title or stream.name) and (command := _NPM.match(line)):
                yield title, command[1]
                title = ""
        elif command := _PROMPT.match(line):
            yield title, command[1]
        elif session := _NOX_TITLE.match(line):
            title = session[1]
        elif _ANY_NAMED.match(line):
            named = next(found for pattern in _NAMED if (found := pattern.match(line)))
            yield named["task"] or title, named["command"]


def _names(task: str) -> tuple[str, ...]:
    """A task's name, and without the package before it."""
    return (task, last) if (last := re.split(r"[:# ]", task)[-1]) != task else (task,)


def failed_tasks(output: CommandOutput) -> dict[str, str]:
    """The tasks that a runner says failed, each with the line that says so; under no name when it gives none."""
    found: dict[str, str] = {}
    for stream in output.streams:
        if not stream.has(*_FAILED_SIGNS):
            continue
        for line in stream.lines:
            if not _ANY_FAILED.match(line):
                continue
            named = next((match[1] for pattern in _FAILED if (match := pattern.match(line))), None)
            unnamed = any(pattern.match(line) for pattern in _FAILED_UNNAMED)
            if named is None and (unnamed or (stream.name and _EXITED.match(line))):
                named = stream.name
            if named is not None:
                for name in _names(named):
                    found.setdefault(name, line)
    return found


def not_started(output: CommandOutput, *, check: str) -> Verdict | None:
    """That the runner knows no such task, in its own words."""
    if not output.has(*_NOT_STARTED_SIGNS):
        return None
    line = next((line for line in output.lines if any(pattern.match(line) for pattern in _NOT_STARTED)), None)
    if line is None:
        return None
    found = CheckFinding(family="unknown task", message=line.strip())
    return Verdict(check=check, kind="build", passed=False, findings=(found,), quote=quoted(line))
