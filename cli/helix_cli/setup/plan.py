"""What setting up would do, before it does it: changes of files, the agent's commands, what is left to a person."""

from __future__ import annotations

import subprocess
from pathlib import Path

import msgspec

from helix_cli.errors import NotEditable
from helix_cli.setup.editing import Change, apply

#: An agent's own command answers within a second or two; one that waits for somebody to type is given up.
_SECONDS = 60


class Command(msgspec.Struct, frozen=True, kw_only=True):
    """One of the agent's own commands, to be run ``unless`` or ``only_if`` another succeeds."""

    line: tuple[str, ...]
    cwd: Path
    unless: tuple[str, ...] = ()
    only_if: tuple[str, ...] = ()

    def is_due(self) -> bool:
        """Whether it is to be run."""
        if self.unless:
            return not _succeeds(self.unless, self.cwd)
        return not self.only_if or _succeeds(self.only_if, self.cwd)


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """What is to be done. ``notes`` are for a person to read."""

    changes: tuple[Change, ...] = ()
    commands: tuple[Command, ...] = ()
    notes: tuple[str, ...] = ()


class Done(msgspec.Struct, frozen=True, kw_only=True):
    """What was done, or would be: the diff of each file, the commands, what is left to a person."""

    agent: str
    files: tuple[Path, ...] = ()
    diff: str = ""
    commands: tuple[tuple[str, ...], ...] = ()
    notes: tuple[str, ...] = ()
    dry_run: bool = False


def carry_out(agent: str, plan: Plan, *, dry_run: bool) -> Done:
    """Does it, the files first: every edit has been worked out and checked by now.

    Raises:
        NotEditable: A file changed meanwhile, or the agent's own command failed; files done by then stay done.
        WriteFailed: A file cannot be written.
    """
    changes = [change for change in plan.changes if not change.is_none]
    commands = [command for command in plan.commands if command.is_due()]
    if not dry_run:
        for change in changes:
            apply(change)
        for command in commands:
            _run(command)
    return Done(
        agent=agent,
        files=tuple(change.path for change in changes),
        diff="".join(change.diff for change in changes),
        commands=tuple(command.line for command in commands),
        notes=plan.notes,
        dry_run=dry_run,
    )


def _run(command: Command) -> None:
    problem = _problem(command.line, command.cwd)
    if problem is not None:
        raise NotEditable(f"`{' '.join(command.line)}` failed: {problem}")


def _succeeds(line: tuple[str, ...], cwd: Path) -> bool:
    return _problem(line, cwd) is None


def _problem(line: tuple[str, ...], cwd: Path) -> str | None:
    try:
        done = subprocess.run(  # noqa: S603  (the agent's own command, found on the PATH; no shell)
            line, cwd=cwd, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, timeout=_SECONDS
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    return None if done.returncode == 0 else (done.stderr or done.stdout).strip()[-300:] or "no reason given"
