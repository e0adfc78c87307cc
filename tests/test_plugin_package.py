"""Is the plugin what Claude Code takes, and does every command in it exist?"""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path
from typing import Any

import click
import pytest

from helix_cli.app import cli, run
from helix_cli.setup.definitions import claude_hooks
from helix_graph import __version__
from plan_world import SHOES, plans_in

ROOT = Path(__file__).parents[1]
PLUGIN = ROOT / "cli" / "helix_cli" / "plugin"
TEXTS = sorted(PLUGIN.rglob("*.md"))
COMMANDS = [
    (path.relative_to(PLUGIN).as_posix(), command)
    for path in TEXTS
    for command in re.findall(r"`(helix-graph [^`]+)`", path.read_text(encoding="utf-8"))
]
#: Every event that the hooks page of Claude Code lists and that takes a command.
EVENTS = {
    "SessionStart",
    "UserPromptSubmit",
    "PreToolUse",
    "PostToolUseFailure",
    "PostToolUse",
    "SubagentStop",
    "PreCompact",
    "SessionEnd",
}


def front(path: Path) -> dict[str, str]:
    found = re.match(r"---\n(.*?)\n---\n", path.read_text(encoding="utf-8"), re.DOTALL)
    assert found
    return dict(line.split(": ", 1) for line in found[1].splitlines())


def checked(command: click.Command, arguments: list[str], name: str) -> None:
    """Parses a command as click would, down to the part that does something, without running it."""
    with command.make_context(name, list(arguments)) as context:
        names_one = bool(arguments) and not arguments[0].startswith("-")  # a group may answer by itself
        if isinstance(command, click.Group) and (names_one or not command.invoke_without_command):
            below = command.get_command(context, arguments[0])
            assert below is not None, f"no command {name} {arguments[0]}"
            checked(below, arguments[1:], f"{name} {arguments[0]}")


@pytest.mark.parametrize(("where", "command"), COMMANDS)
def test_every_command_exists_and_parses(
    where: str, command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("plan.json", "findings.json"):
        (tmp_path / name).write_text("{}")
    checked(cli, shlex.split(command)[1:], where)


def test_commands_are_found_at_all() -> None:
    assert len(COMMANDS) > 30


def test_ids_of_tasks_are_shown_as_workspaces_name_them(tmp_path: Path) -> None:
    plans = plans_in(tmp_path)
    plans.save(SHOES)
    made = [plans.workspaces.create(seq).task_id for seq in ("001", "002")]
    shown = re.findall(r"--task-ids (\S+)", (PLUGIN / "skills" / "helix" / "SKILL.md").read_text())
    assert shown == [",".join(made)]


def test_the_manifest_has_what_it_needs() -> None:
    manifest = json.loads((PLUGIN / ".claude-plugin" / "plugin.json").read_text())
    assert re.fullmatch(r"[a-z][a-z0-9-]*", manifest["name"])
    assert manifest["version"] == __version__
    known = {"$schema", "name", "displayName", "version", "description", "author", "license", "keywords"}
    assert set(manifest) <= known
    assert not {"commands", "agents", "skills", "hooks"} & {path.name for path in (PLUGIN / ".claude-plugin").iterdir()}


def test_the_hooks_are_those_of_setup() -> None:
    told: dict[str, Any] = json.loads((PLUGIN / "hooks" / "hooks.json").read_text())
    assert set(told) == {"description", "hooks"}
    assert told["hooks"] == {event: [group] for event, group in claude_hooks("helix-graph").items()}
    assert set(told["hooks"]) == EVENTS
    for groups in told["hooks"].values():
        (hook,) = groups[0]["hooks"]
        checked(cli, shlex.split(hook["command"])[1:], "hooks.json")
        assert hook["type"] == "command"
        assert isinstance(hook["timeout"], int)


def test_the_matcher_of_agents_takes_ours_alone() -> None:
    matcher = claude_hooks("helix-graph")["SubagentStop"]["matcher"]
    assert all(re.search(matcher, name) for name in ("helix-builder", "helix-graph:helix-planner"))
    assert not re.search(matcher, "my-helix-like")
    assert not re.search(matcher, "general-purpose")


def test_the_server_is_ours() -> None:
    told = json.loads((PLUGIN / ".mcp.json").read_text())
    assert told == {"mcpServers": {"helix": {"command": "helix-graph", "args": ["mcp"]}}}


@pytest.mark.parametrize("path", sorted((PLUGIN / "agents").glob("*.md")), ids=lambda path: path.stem)
def test_an_agent_says_who_it_is(path: Path) -> None:
    told = front(path)
    assert told["name"] == path.stem
    assert told["description"]
    assert set(told) <= {"name", "description", "model", "effort", "maxTurns", "tools", "disallowedTools", "skills"}


def test_the_four_agents_and_four_skills_are_there() -> None:
    agents = {path.stem for path in (PLUGIN / "agents").glob("*.md")}
    assert agents == {"helix-explorer", "helix-planner", "helix-builder", "helix-observer"}
    skills = {path.parent.name for path in PLUGIN.glob("skills/*/SKILL.md")}
    assert skills == {"helix", "helix-query", "helix-stats", "retro"}


@pytest.mark.parametrize("path", sorted(PLUGIN.glob("skills/*/SKILL.md")), ids=lambda path: path.parent.name)
def test_a_skill_is_called_like_its_folder(path: Path) -> None:
    told = front(path)
    assert told["name"] == path.parent.name
    assert len(told["description"]) <= 1024


def test_an_export_is_the_package_and_goes_nowhere_else(tmp_path: Path) -> None:
    folder = tmp_path / "out"
    assert run(["plugin", "export", str(folder)]) == 0
    assert run(["plugin", "export", str(folder)]) == 0
    names = {path.relative_to(PLUGIN) for path in PLUGIN.rglob("*") if path.is_file()}
    assert {path.relative_to(folder) for path in folder.rglob("*") if path.is_file()} == names
    assert all((folder / name).read_bytes() == (PLUGIN / name).read_bytes() for name in names)


def test_a_folder_with_something_else_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    assert run(["plugin", "export", str(tmp_path)]) == 1
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


def test_registries_are_told_the_same_version() -> None:
    server = json.loads((ROOT / "server.json").read_text())
    bundle = json.loads((ROOT / "packaging" / "mcpb" / "manifest.json").read_text())
    assert {server["version"], server["packages"][0]["version"], bundle["version"]} == {__version__}
    assert [one["value"] for one in server["packages"][0]["packageArguments"]] == ["mcp"]
    for place, source in ((ROOT, "./cli/helix_cli/plugin"), (PLUGIN, "./")):
        marketplace = json.loads((place / ".claude-plugin" / "marketplace.json").read_text())
        [plugin] = marketplace["plugins"]
        assert (plugin["version"], plugin["source"]) == (__version__, source)
        assert (place / source / ".claude-plugin" / "plugin.json").is_file()


def test_the_registrys_description_keeps_its_limits() -> None:
    """Those of the schema that the file names; it was compared with the whole schema on 23 November 2026."""
    server = json.loads((ROOT / "server.json").read_text())
    assert set(server) == {"$schema", "name", "title", "description", "version", "packages"}
    assert re.fullmatch(r"[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+", server["name"])
    assert 1 <= len(server["description"]) <= 100
    [package] = server["packages"]
    assert {"registryType", "identifier", "transport"} <= set(package)
    assert package["transport"] == {"type": "stdio"}
    assert {one["type"] for one in package["packageArguments"]} <= {"positional", "named"}
    assert {one["format"] for one in package["environmentVariables"]} <= {"string", "number", "boolean", "filepath"}


def test_a_bundle_has_all_that_its_manifest_names(tmp_path: Path) -> None:
    wheel = tmp_path / f"helix_graph-{__version__}-py3-none-any.whl"
    wheel.write_bytes(b"a wheel")
    command = [sys.executable, str(ROOT / "packaging" / "bundle.py"), str(wheel), str(tmp_path / "dist")]
    path = subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()
    assert path == str(tmp_path / "dist" / f"helix-graph-{__version__}.mcpb")
    with zipfile.ZipFile(path) as archive:
        manifest = json.loads(archive.read("manifest.json"))
        assert {manifest["server"]["entry_point"], f"server/{wheel.name}"} <= set(archive.namelist())
        sources = tomllib.loads(archive.read("pyproject.toml").decode())["tool"]["uv"]["sources"]
        assert archive.read(sources["helix-graph"]["path"]) == b"a wheel"
    old = wheel.rename(tmp_path / "helix_graph-0.0.9-py3-none-any.whl")
    refused = subprocess.run([*command[:2], str(old), command[3]], check=False, capture_output=True, text=True)
    assert refused.returncode == 1
    assert "is not of version" in refused.stderr
