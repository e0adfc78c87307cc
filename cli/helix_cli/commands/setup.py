"""``setup`` and ``plugin``: connect agents to the memory, through their settings or as a plugin of Claude Code.

In a project, ``setup`` begins its memory, reads its logs, and says the best of it.
"""

from __future__ import annotations

import json
import os
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click
import msgspec

from helix_cli import TOOL_SETS
from helix_cli.options import BeginningOf, any_path
from helix_cli.output import count, emit_json, json_option, say, show, verbatim, warn

if TYPE_CHECKING:
    from helix_cli.setup.agent_servers import Done
    from helix_cli.setup.definitions import Scope
    from helix_cli.setup.own_files import ExportedPlugin
    from helix_graph.first_look import PreparedMemory


_AGENTS = ("claude-code", "codex", "cursor", "copilot", "gemini", "opencode", "qwen", "skill")
_QUESTION = (
    "Which MCP tools? Many agents send their declarations with every request: 5 of every day, 7 for topics, or all"
)


@click.command
@click.argument("agent", type=BeginningOf(_AGENTS), metavar="[AGENT]", required=False)
@click.option(
    "--scope",
    type=click.Choice(["user", "project"]),
    default="user",
    show_default=True,
    help="Your own settings, or those of the project.",
)
@click.option("--check", is_flag=True, help="Only report what is missing; then the exit code is 1.")
@click.option("--remove", is_flag=True, help="Remove what setup added.")
@click.option("--dry-run", is_flag=True, help="Only show what would change.")
@click.option("--print", "printed", is_flag=True, help="Only show what to paste, and where.")
@click.option("--tools", type=click.Choice(TOOL_SETS), help="Which MCP tools to offer (default: as before, else five).")
@json_option
def setup(  # noqa: PLR0913  (the options)
    *,
    agent: str | None,
    scope: str,
    check: bool,
    remove: bool,
    dry_run: bool,
    printed: bool,
    tools: str | None,
    as_json: bool,
) -> int:
    """Connect agents: add hooks and server to their settings.

    Without AGENT, every agent on this machine. AGENT is claude-code, codex, cursor, copilot, gemini, opencode or
    qwen; skill is a skill for all others. Every other entry stays as it is, byte for byte; running it again changes
    nothing. In a project, its memory is created and its logs are read.
    """
    if sum((check, remove, printed)) > 1:
        raise click.UsageError("--check, --remove and --print exclude each other")
    if printed and agent is None:
        raise click.UsageError("--print needs the name of an agent")
    if printed and agent is not None:
        return _print(agent, tools=tools, as_json=as_json)
    from helix_cli.setup.agent_servers import carry_out
    from helix_cli.setup.installers import agents_here, installer_for
    from helix_cli.setup.settings import require_inside
    from helix_graph.project import project_folder

    whose: Scope = "project" if scope == "project" else "user"
    here = project_folder(Path.cwd())
    names, project = [agent] if agent else agents_here(), here or Path.cwd()
    installers = {one: installer_for(one, whose, project, tools=tools) for one in names}
    if not installers:
        raise click.UsageError(f"no agent is on this machine; name one: {', '.join(_AGENTS)}")
    asks = sys.stdin.isatty() and sys.stdout.isatty() and not (check or remove or dry_run or as_json)
    if asks and any(one.tools is None for one in installers.values()):
        chosen = click.prompt(_QUESTION, type=click.Choice(TOOL_SETS), default="default")
        installers = {
            name: installer_for(name, whose, project, tools=chosen) if one.tools is None else one
            for name, one in installers.items()
        }
    if check:
        states = {name: one.installed() for name, one in installers.items()}
        found = [
            {"agent": name, "scope": scope, "installed": one.is_whole, **msgspec.structs.asdict(one)}
            for name, one in states.items()
        ]
        show(found[0] if agent else found, as_json=as_json, render=lambda _: _render_checks(found))
        return 0 if all(one["installed"] for one in found) else 1
    if whose == "project":
        require_inside(project, (path for one in installers.values() for path in one.paths))
    plans = {name: one.remove() if remove else one.install() for name, one in installers.items()}
    done = [carry_out(name, plan, removing=remove, dry_run=dry_run) for name, plan in plans.items()]
    memory = None
    if here is not None and not (remove or dry_run):
        from helix_graph.first_look import prepared_memory

        memory = prepared_memory(here)
    answer = [{**msgspec.structs.asdict(one), "memory": memory} for one in done]
    show(answer[0] if agent else answer, as_json=as_json, render=lambda _: _render_setup(done, memory))
    return 0


def _print(agent: str, *, tools: str | None, as_json: bool) -> int:
    from helix_cli.setup.definitions import snippets
    from helix_cli.setup.installers import SKILL_FOLDER
    from helix_cli.setup.own_files import skill_contents

    if agent == "skill":
        found = [(f"~/{(SKILL_FOLDER / path).as_posix()}", text) for path, text in skill_contents().items()]
    else:
        found = snippets(agent, tools=tools)
    if as_json:
        emit_json([{"file": where, "content": what} for where, what in found])
        return 0
    for where, what in found:
        say(f"Into {where}:")
        for line in (what if isinstance(what, str) else json.dumps(what, indent=2, ensure_ascii=False)).splitlines():
            verbatim(line)
        say()
    return 0


def _render_checks(found: Sequence[dict[str, object]]) -> None:
    for answer in found:
        whose = f"of {answer['agent']} ({answer['scope']})"
        if answer["agent"] == "skill":
            say(f"The skill {whose} is {'in place' if answer['plugin'] else 'not in place'}.")
            continue
        say(f"The hooks {whose} are {'in place' if answer['hooks'] else 'not in place'}.")
        if answer["server"] is None:
            say(f"The server {whose} could not be checked: claude is not on the PATH; ask `claude mcp get helix`.")
        else:
            say(f"The server {whose} is {'in place' if answer['server'] else 'not in place'}.")
        if answer["plugin"] is not None:
            say(f"The plugin's files {whose} are {'in place' if answer['plugin'] else 'not all in place'}.")


def _render_setup(done: Sequence[Done], memory: PreparedMemory | None) -> None:
    for one in done:
        if one.dry_run:
            _render_planned(one)
            continue
        say(f"{one.agent}: {_summary(one)}")
        for note in one.notes:
            say(f"  {note}")
    if memory is not None:
        _render_memory(memory)


def _render_planned(done: Done) -> None:
    for line in done.diff.splitlines():
        verbatim(line)
    for path in done.plugin:
        say(f"The plugin's own file: {path}")
    for command in done.commands:
        say(f"Would run: {' '.join(command)}")
    for backup in done.backups:
        say(f"Would save the previous version: {backup}")
    for note in done.notes:
        say(note)
    if not done.files and not done.commands:
        say(f"{done.agent}: nothing to change.")


def _summary(done: Done) -> str:
    """What was done, in a line."""
    if not done.files and not done.commands:
        return "nothing to change"
    shared = [path for path in done.files if path not in done.plugin]
    parts = [", ".join(map(str, shared))] if shared else []
    parts += (
        [count(len(done.plugin), "file") + f" in {Path(os.path.commonpath([one.parent for one in done.plugin]))}"]
        if done.plugin
        else []
    )
    parts += [f"ran {shlex.join(command)}" for command in done.commands]
    kept = f" (kept: {', '.join(one.name for one in done.backups)})" if done.backups else ""
    begin, now = ("taken out of", "without") if done.removed else ("set up:", "with")
    return f"{begin} {'; '.join(parts)}{kept}. Sessions that begin from now on are {now} the memory."


def _render_memory(look: PreparedMemory) -> None:
    if look.problem:
        warn(look.problem)
        return
    begun = "begun" if look.begun else "there already"
    say(f"This project's memory ({look.root}): {begun}; {count(look.read, 'session')} read, {look.sessions} known.")
    if look.error:
        met = f"In {count(look.met, 'session')} an agent ran into"
        say(f"{met} {look.error}")
        say(f"  repaired by {look.change} ({look.verified_by})")
    elif not look.sessions:
        say("  It learns when a session ends; from the next session on your agents get what it knows.")


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
    from helix_cli.setup.own_files import export_plugin

    show(export_plugin(folder), as_json=as_json, render=_render_export)


def _render_export(exported: ExportedPlugin) -> None:
    say(f"{len(exported.files)} files in {exported.folder}.")
    say(f"Try it: claude --plugin-dir {exported.folder}")
