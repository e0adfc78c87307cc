"""What setting up would do, before it does it: changes of files, the agent's commands, what is left to a person."""

from __future__ import annotations

import subprocess
from pathlib import Path

import msgspec

from helix_cli.errors import AgentCommandFailed
from helix_cli.setup.editing import Change, apply
from helix_cli.setup.records import Records

#: An agent's own command answers within a second or two; one that waits for somebody to type is given up.
_SECONDS = 60


class Command(msgspec.Struct, frozen=True, kw_only=True):
    """One of the agent's own commands, which ``adds`` a server or removes it; the records call it ``server``."""

    line: tuple[str, ...]
    cwd: Path
    server: str
    adds: bool


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """What is to be done. ``notes`` are for a person to read."""

    changes: tuple[Change, ...] = ()
    commands: tuple[Command, ...] = ()
    notes: tuple[str, ...] = ()

    def joined(self, other: Plan) -> Plan:
        """This, and then another."""
        changes, commands = self.changes + other.changes, self.commands + other.commands
        return Plan(changes=changes, commands=commands, notes=self.notes + other.notes)


class Installed(msgspec.Struct, frozen=True, kw_only=True):
    """What of the memory is in an agent's settings.

    ``server`` is None where only the agent's absent command knows, ``plugin`` where there is none to put in.
    """

    hooks: bool
    server: bool | None
    plugin: bool | None

    @property
    def is_whole(self) -> bool:
        """Whether nothing is known to be missing."""
        return self.hooks and self.server is not False and self.plugin is not False


class Done(msgspec.Struct, frozen=True, kw_only=True):
    """What was done, or would be.

    The diff of each shared file, where its bytes of before are kept, the ``plugin``'s files that come or go as a
    whole, the commands, and what is left to a person.
    """

    agent: str
    removed: bool
    files: tuple[Path, ...] = ()
    backups: tuple[Path, ...] = ()
    plugin: tuple[Path, ...] = ()
    diff: str = ""
    commands: tuple[tuple[str, ...], ...] = ()
    notes: tuple[str, ...] = ()
    dry_run: bool = False


def carry_out(agent: str, plan: Plan, *, removing: bool, dry_run: bool) -> Done:
    """Does it, the files first: every edit has been worked out and checked by now.

    Raises:
        NotEditable: A file changed meanwhile; nothing is done then.
        AgentCommandFailed: The agent's own command failed; files done by then stay done.
        WriteFailed: A file cannot be written; files done by then stay done.
    """
    changes = [change for change in plan.changes if not change.is_none]
    if not dry_run:
        apply(changes)
        for command in plan.commands:
            _run(command)
    return Done(
        agent=agent,
        removed=removing,
        files=tuple(change.path for change in changes),
        backups=tuple(change.backup for change in changes if change.backup is not None),
        plugin=tuple(change.path for change in changes if change.within is not None),
        diff="".join(change.diff for change in changes if change.within is None),
        commands=tuple(command.line for command in plan.commands),
        notes=plan.notes,
        dry_run=dry_run,
    )


def answer_of(line: tuple[str, ...], cwd: Path) -> str | None:
    """What one of the agent's own commands prints; None when it does not succeed."""
    try:
        done = _called(line, cwd)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout if done.returncode == 0 else None


def _run(command: Command) -> None:
    try:
        done = _called(command.line, command.cwd)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise AgentCommandFailed(command.line, str(error)) from error
    if done.returncode != 0:
        raise AgentCommandFailed(command.line, (done.stderr or done.stdout).strip()[-300:] or "no reason given")
    Records().note_server(command.server, added=command.adds)


def _called(line: tuple[str, ...], cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(  # noqa: S603  (the agent's own command, found on the PATH; no shell)
        line, cwd=cwd, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, timeout=_SECONDS
    )
