"""``setup`` and ``plugin``: connect agents to the memory, through their settings or as a plugin of Claude Code."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click
import msgspec

from helix_cli.options import any_path
from helix_cli.output import count, emit_json, json_option, say, show, verbatim

if TYPE_CHECKING:
    from helix_cli.setup.definitions import Scope
    from helix_cli.setup.installers import Done, ExportedPlugin


_AGENTS = ("claude-code", "codex", "cursor", "copilot", "gemini", "opencode")
_EDITED = ("claude-code", "codex")


@click.command
@click.argument("agent", type=click.Choice(_AGENTS), metavar="AGENT")
@click.option(
    "--scope", type=click.Choice(["user", "project"]), default="user", show_default=True, help="Whose settings."
)
@click.option("--check", is_flag=True, help="Only say what is in place: exit code 1 when something is missing.")
@click.option("--remove", is_flag=True, help="Take out what was put in.")
@click.option("--dry-run", is_flag=True, help="Only show what would change.")
@click.option("--print", "printed", is_flag=True, help="Only show what to paste, and where.")
@json_option
def setup(  # noqa: PLR0913  (the options)
    *, agent: str, scope: str, check: bool, remove: bool, dry_run: bool, printed: bool, as_json: bool
) -> int:
    """Connect an agent: add hooks and server to its settings.

    AGENT is claude-code or codex. Claude Code also gets the plugin's agents and skills, unless it is for a project. No
    other entry changes, byte for byte; running it again changes nothing. Cursor, Copilot, Gemini and OpenCode are set
    up by hand: `--print` shows what to paste.
    """
    if sum((check, remove, printed)) > 1:
        raise click.UsageError("--check, --remove and --print exclude each other")
    if printed:
        return _print(agent, as_json=as_json)
    if agent not in _EDITED:
        raise click.UsageError(f"{agent} is set up by hand: `helix-graph setup {agent} --print` shows what to paste")
    from helix_cli.setup.installers import ClaudeCode, Codex, carry_out
    from helix_graph.project import project_folder

    whose: Scope = "project" if scope == "project" else "user"
    project = project_folder(Path.cwd()) or Path.cwd()
    installer = ClaudeCode(whose, project) if agent == "claude-code" else Codex(whose, project)
    if check:
        found = installer.installed()
        answer = {"agent": agent, "scope": scope, "installed": found.is_whole, **msgspec.structs.asdict(found)}
        show(answer, as_json=as_json, render=_render_check)
        return 0 if found.is_whole else 1
    plan = installer.remove() if remove else installer.install()
    show(carry_out(agent, plan, removing=remove, dry_run=dry_run), as_json=as_json, render=_render_setup)
    return 0


def _print(agent: str, *, as_json: bool) -> int:
    from helix_cli.setup.definitions import snippets

    found = snippets(agent)
    if as_json:
        emit_json([{"file": where, "content": what} for where, what in found])
        return 0
    for where, what in found:
        say(f"Into {where}:")
        for line in (what if isinstance(what, str) else json.dumps(what, indent=2, ensure_ascii=False)).splitlines():
            verbatim(line)
        say()
    return 0


def _render_check(answer: dict[str, object]) -> None:
    whose = f"of {answer['agent']} ({answer['scope']})"
    say(f"The hooks {whose} are {'in place' if answer['hooks'] else 'not in place'}.")
    if answer["server"] is None:
        say(f"Whether the server {whose} is in place only `claude mcp get helix` can tell; claude is not on the PATH.")
    else:
        say(f"The server {whose} is {'in place' if answer['server'] else 'not in place'}.")
    if answer["plugin"] is not None:
        say(f"The plugin's files {whose} are {'in place' if answer['plugin'] else 'not all in place'}.")


def _render_setup(done: Done) -> None:
    for line in done.diff.splitlines():
        verbatim(line)
    for path in done.plugin:
        say(f"The plugin's own file: {path}")
    begin = "Would run" if done.dry_run else "Ran"
    for command in done.commands:
        say(f"{begin}: {' '.join(command)}")
    for backup in done.backups:
        say(f"{'Would keep' if done.dry_run else 'Kept'} what stood there before: {backup}")
    for note in done.notes:
        say(note)
    if not done.files and not done.commands:
        say("Nothing to change.")
    elif not done.dry_run:
        changed = f"{count(len(done.files), 'file')} changed. " if done.files else ""
        without = f"Sessions of {done.agent} that begin from now on are without the memory."
        say(changed + (without if done.removed else f"Begin a new session of {done.agent} to use it."))


@click.group
def plugin() -> None:
    """Write agents, skills, hooks and server as one plugin."""


@plugin.command
@click.argument("folder", type=any_path)
@json_option
def export(*, folder: Path, as_json: bool) -> None:
    """Write the plugin into a folder.

    FOLDER must be empty or contain an earlier export.
    """
    from helix_cli.setup.installers import export_plugin

    show(export_plugin(folder), as_json=as_json, render=_render_export)


def _render_export(exported: ExportedPlugin) -> None:
    say(f"{len(exported.files)} files in {exported.folder}.")
    say(f"Try it: claude --plugin-dir {exported.folder}")
