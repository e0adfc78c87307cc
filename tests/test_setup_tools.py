"""Which MCP tools does setup ask the server for, and does it keep what was chosen once?"""

from __future__ import annotations

import json
import sys
import tomllib
from typing import TYPE_CHECKING, Any

import pytest

from helix_cli.app import run

if TYPE_CHECKING:
    from agents_home import AgentsHome


def arguments_of(home: AgentsHome, agent: str) -> list[str]:
    if agent == "codex":
        found: dict[str, Any] = tomllib.loads((home.codex / "config.toml").read_text())["mcp_servers"]
    else:
        found = json.loads((home.project / ".mcp.json").read_text())["mcpServers"]
    arguments: list[str] = found["helix"]["args"]
    return arguments


@pytest.mark.parametrize("agent", ["claude-code", "codex"])
def test_what_was_chosen_stays_until_something_else_is(agents_home: AgentsHome, agent: str) -> None:
    scope = ["--scope", "project"] if agent == "claude-code" else []
    before = agents_home.files
    for options, arguments in (
        ([], ["mcp"]),
        (["--tools", "all"], ["mcp", "--tools", "all"]),
        ([], ["mcp", "--tools", "all"]),
        (["--tools", "topics"], ["mcp", "--tools", "topics"]),
        (["--tools", "default"], ["mcp"]),
        (["--tools", "all"], ["mcp", "--tools", "all"]),
    ):
        assert run(["setup", agent, *scope, *options]) == 0
        assert arguments_of(agents_home, agent) == arguments
        assert run(["setup", agent, *scope, "--check"]) == 0
    assert run(["setup", agent, *scope, "--remove"]) == 0
    assert agents_home.files == before


def test_claude_codes_own_command_gets_them(agents_home: AgentsHome) -> None:
    agents_home.install("claude")
    assert run(["setup", "claude-code", "--tools", "all"]) == 0
    assert run(["setup", "claude-code"]) == 0
    assert len(agents_home.calls) == 1
    assert agents_home.calls[0].endswith("helix-graph mcp --tools all")
    assert run(["setup", "claude-code", "--tools", "default"]) == 0
    assert [call.split()[1] for call in agents_home.calls] == ["add", "remove", "add"]


def test_a_person_is_asked_the_first_time(
    agents_home: AgentsHome, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked: list[str] = []

    def answer(question: str, **_: object) -> str:
        asked.append(question)
        return "topics"

    monkeypatch.setattr("click.prompt", answer)
    assert run(["setup", "claude-code", "--scope", "project", "--dry-run"]) == 0
    for stream in (sys.stdin, sys.stdout):
        monkeypatch.setattr(stream, "isatty", lambda: True)
    for _ in range(2):
        assert run(["setup", "claude-code", "--scope", "project"]) == 0
    assert len(asked) == 1
    assert arguments_of(agents_home, "claude-code") == ["mcp", "--tools", "topics"]
    capsys.readouterr()


def test_a_server_with_settings_of_its_own_is_named_and_left_alone(
    agents_home: AgentsHome, capsys: pytest.CaptureFixture[str]
) -> None:
    theirs = {"command": "/opt/helix-graph", "args": ["mcp"], "env": {"HELIX_DIR": "x"}}
    path = agents_home.put(agents_home.project / ".mcp.json", json.dumps({"mcpServers": {"helix": theirs}}))
    before = path.read_text()
    assert run(["setup", "claude-code", "--scope", "project", "--tools", "all"]) == 0
    assert 'write "args": ["mcp", "--tools", "all"]' in capsys.readouterr().out.replace("\n", " ")
    assert path.read_text() == before


@pytest.mark.parametrize("agent", ["claude-code", "codex", "cursor", "copilot", "gemini", "opencode"])
def test_what_is_to_be_pasted_has_them(agents_home: AgentsHome, agent: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert agents_home.files is not None
    assert run(["setup", agent, "--print", "--json", "--tools", "all"]) == 0
    pasted = json.dumps([one["content"] for one in json.loads(capsys.readouterr().out)])
    assert '"mcp", "--tools", "all"' in pasted.replace('\\"', '"')


def test_the_skill_can_be_pasted_too(agents_home: AgentsHome, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["setup", "skill", "--print", "--json"]) == 0
    (pasted,) = json.loads(capsys.readouterr().out)
    assert pasted["file"] == "~/.agents/skills/helix-graph/SKILL.md"
    assert run(["setup", "skill"]) == 0
    assert (agents_home.root / ".agents/skills/helix-graph/SKILL.md").read_text() == pasted["content"]
