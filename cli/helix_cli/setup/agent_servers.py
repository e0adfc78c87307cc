"""What setup does to an agent: edits of files, and the agent's own commands, which know its servers best.

The memory's server is listed in a file of servers, or only the agent's own command knows it. Another program's server
under our name is never replaced or removed.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec

from helix_cli.setup.definitions import SERVER, Scope, is_our_program, is_our_server
from helix_cli.setup.entries import JSON_SERVERS, TOML_SERVERS, line_of_toml_server, server_in
from helix_cli.setup.json_edit import NotEditable, line_at, parse
from helix_cli.setup.settings import SettingsChange, apply, read_text, read_toml, records
from helix_episodes.errors import ProgramFailed
from helix_episodes.safe_files import remove_file

#: An agent's own command answers within a second or two; one that waits for input is stopped.
_SECONDS = 60


class Command(msgspec.Struct, frozen=True, kw_only=True):
    """One of the agent's own commands, which ``adds`` a server or removes it; the records call it ``server``.

    ``file`` is the project's file that it puts the server into, where it may have to make one.
    """

    line: tuple[str, ...]
    cwd: Path
    server: str
    adds: bool
    file: Path | None = None


def run_agent(line: tuple[str, ...], cwd: Path) -> str:
    """What one of the agent's own commands prints."""
    try:
        done = subprocess.run(  # noqa: S603  (the agent's own command, found on the PATH; no shell)
            line, cwd=cwd, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, timeout=_SECONDS
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise _failed(line, str(error)) from error
    if done.returncode != 0:
        raise _failed(line, (done.stderr or done.stdout).strip()[-300:] or "no reason given")
    return done.stdout


def _failed(line: tuple[str, ...], problem: str) -> ProgramFailed:
    """Files that setup changed before stay changed."""
    return ProgramFailed(
        f"`{' '.join(line)}` failed: {problem}; the hooks are done, the server is not: run it yourself"
    )


_COMMAND = re.compile(r"^\s*command:[ \t]*(.+?)\s*$", re.IGNORECASE | re.MULTILINE)
_ARGUMENTS = re.compile(r"^\s*args:[ \t]*(.*?)\s*$", re.IGNORECASE | re.MULTILINE)
#: What `claude mcp add` writes in addition to the command.
_ADDED_BY_CLAUDE: tuple[tuple[str, object], ...] = (("type", "stdio"), ("env", {}))
_SCOPE = re.compile(r"^\s*scope:[ \t]*(\w+)", re.IGNORECASE | re.MULTILINE)


class SetupPlan(msgspec.Struct, frozen=True, kw_only=True):
    """What is to be done. ``notes`` are for a person to read."""

    changes: tuple[SettingsChange, ...] = ()
    commands: tuple[Command, ...] = ()
    notes: tuple[str, ...] = ()

    def joined(self, other: SetupPlan) -> SetupPlan:
        """This, and then another."""
        changes, commands = self.changes + other.changes, self.commands + other.commands
        return SetupPlan(changes=changes, commands=commands, notes=self.notes + other.notes)


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


def carry_out(agent: str, plan: SetupPlan, *, removing: bool, dry_run: bool) -> Done:
    """Does it, the files first: every edit has been worked out and checked by now.

    Raises:
        NotEditable: A file changed meanwhile; nothing is done then.
        ProgramFailed: The agent's own command failed; files done by then stay done.
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


def _run(command: Command) -> None:
    """Runs one of the agent's own commands, and records which server it added and whether it made the file for it."""
    is_new = command.adds and command.file is not None and not command.file.exists()
    run_agent(command.line, command.cwd)
    found, name = records(), str(command.file)
    servers = {*found.servers, command.server} if command.adds else {*found.servers} - {command.server}
    made = {*found.made, name} if is_new else {*found.made}
    if not command.adds and name in made:
        made.remove(name)
        if command.file is not None and (text := read_text(command.file)) is not None:
            with suppress(NotEditable):
                if parse(text) == {JSON_SERVERS: {}}:  # no server is left, and nothing else was there
                    remove_file(command.file)
    msgspec.structs.replace(found, servers=tuple(sorted(servers)), made=tuple(sorted(made))).save()


class ServerState(msgspec.Struct, frozen=True, kw_only=True):
    """An entry under our name in the file of an agent's servers."""

    entry: Any
    path: Path
    line: int | None = None

    @property
    def is_ours(self) -> bool:
        """Whether it starts our server."""
        return is_our_server(self.entry)

    @property
    def is_customized(self) -> bool:
        """Whether somebody has added settings of their own to it."""
        return {name for name, one in self.entry.items() if (name, one) not in _ADDED_BY_CLAUDE} != {"command", "args"}

    def is_older(self, entry: Mapping[str, Any]) -> bool:
        """Whether it is ours as setup once had it added, but says something else than it would now."""
        return not self.is_customized and any(self.entry[name] != one for name, one in entry.items())

    @property
    def note(self) -> str:
        """What removing says of another's."""
        where = f"{self.path}, line {self.line}" if self.line else str(self.path)
        return f"{where}: another server is called {SERVER}; it is left alone"


def server_state_in_json(path: Path) -> ServerState | None:
    """The entry under our name in a file of JSON; None where it has none, or is not what it should be.

    Such a file stays as it is: the agent's command says what is wrong with it, or the edit that it would need.
    """
    try:
        text = read_text(path) or ""
        entry = server_in(json.loads(text.removeprefix("\ufeff")), JSON_SERVERS)
    except (NotEditable, ValueError, RecursionError):
        return None
    return None if entry is None else ServerState(entry=entry, path=path, line=line_at(text, (JSON_SERVERS, SERVER)))


def server_state_in_toml(path: Path) -> ServerState | None:
    """The entry under our name in a file of TOML; None where it has none.

    Raises:
        NotEditable: It is no TOML.
    """
    entry, text = server_in(read_toml(path), TOML_SERVERS), read_text(path) or ""
    return None if entry is None else ServerState(entry=entry, path=path, line=line_of_toml_server(text))


class AgentServers(msgspec.Struct, frozen=True, kw_only=True):
    """An agent's own command, asked about one scope from a project's folder; ``flags`` name the scope to it.

    ``made`` is the project's file that it may make.
    """

    program: str
    scope: Scope
    project: Path
    flags: tuple[str, ...] = ()
    made: Path | None = None

    @property
    def is_there(self) -> bool:
        """Whether the command is on the PATH."""
        return shutil.which(self.program) is not None

    def has_server(self) -> bool:
        """Whether the agent knows our server."""
        answer = self._answer()
        return answer is not None and self._is_ours(answer)

    def adding(self, entry: Mapping[str, Any]) -> tuple[Command, ...]:
        """What adds our server where no file has one of its name; nothing when the agent has it already.

        Raises:
            NotEditable: The agent knows another server of that name.
        """
        answer = self._answer()
        if answer is None:
            return (self._add(entry),)
        if not self._is_ours(answer):
            problem = f"another server is called {SERVER}: `{' '.join(self._get)}` shows it"
            raise NotEditable(problem, advice="give it another name, or paste what `--print` shows under another one")
        return ()

    def replacing(self, entry: Mapping[str, Any]) -> tuple[Command, ...]:
        """What puts our server in the place of an older one of ours."""
        return (*self.removing(), self._add(entry))

    def removing(self) -> tuple[Command, ...]:
        """What removes our server, for which the file has to say that it is ours."""
        return (self._command(("mcp", "remove", *self.flags, SERVER), adds=False),)

    def removing_unseen(self) -> SetupPlan:
        """What removes a server that no file shows, if it is ours, and a note about another's."""
        answer = self._answer()
        if answer is None:
            return SetupPlan()
        if self._is_ours(answer):
            return SetupPlan(commands=self.removing())
        return SetupPlan(notes=(f"`{' '.join(self._get)}`: another server is called {SERVER}; it is left alone",))

    @property
    def _get(self) -> tuple[str, ...]:
        return (self.program, "mcp", "get", SERVER)

    @property
    def _name(self) -> str:
        """What the records call the server of this agent and scope."""
        return " ".join([self.program, self.scope, *([str(self.project)] if self.scope == "project" else [])])

    def _add(self, entry: Mapping[str, Any]) -> Command:
        words = ("mcp", "add", *self.flags, SERVER, "--", entry["command"], *entry["args"])
        return self._command(words, adds=True)

    def _command(self, words: tuple[str, ...], *, adds: bool) -> Command:
        return Command(line=(self.program, *words), cwd=self.project, server=self._name, adds=adds, file=self.made)

    def _answer(self) -> str | None:
        """What the agent's command prints about a server of our name in this scope; None without one."""
        try:
            answer = run_agent(self._get, self.project)
        except ProgramFailed:
            return None
        scope = _SCOPE.search(answer)
        return None if scope is not None and scope[1].lower() != self.scope else answer

    def _is_ours(self, answer: str) -> bool:
        command, arguments = _COMMAND.search(answer), _ARGUMENTS.search(answer)
        if command is None:
            return self._name in records().servers
        return is_our_program(command[1]) and arguments is not None and arguments[1].split()[:1] == ["mcp"]
