"""Is every agent set up with the same words, in its own files, and is nothing left when it is taken out?"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from helix_cli.app import run
from helix_graph import Memory
from session_script import Script

if TYPE_CHECKING:
    from pathlib import Path

    from agents_home import AgentsHome

#: The files of each agent below a home, with the place of the server and of the hooks in them.
USER = {
    "cursor": (".cursor/mcp.json", ".cursor/hooks.json"),
    "copilot": (".copilot/mcp-config.json", ".copilot/hooks/helix-graph.json"),
    "gemini": (".gemini/settings.json", ".gemini/settings.json"),
    "qwen": (".qwen/settings.json", ".qwen/settings.json"),
}
PROJECT = {
    "cursor": (".cursor/mcp.json", ".cursor/hooks.json"),
    "copilot": (".github/mcp.json", ".github/hooks/helix-graph.json"),
    "gemini": (".gemini/settings.json", ".gemini/settings.json"),
    "qwen": (".qwen/settings.json", ".qwen/settings.json"),
}


def read(path: Path) -> Any:  # noqa: ANN401  (JSON)
    return json.loads(path.read_text())


@pytest.mark.parametrize("agent", USER)
@pytest.mark.parametrize("scope", ["user", "project"])
def test_hooks_and_server_come_and_go_without_a_trace(agents_home: AgentsHome, agent: str, scope: str) -> None:
    before = sorted(agents_home.root.rglob("*"))
    folder = agents_home.root if scope == "user" else agents_home.project
    servers, hooks = (folder / one for one in (USER if scope == "user" else PROJECT)[agent])
    assert run(["setup", agent, "--scope", scope]) == 0
    assert read(servers)["mcpServers"]["helix"]["args"] == ["mcp"]
    events = {command.rpartition(" ")[2] for command in commands(read(hooks)["hooks"])}
    assert {"session-start", "post-tool", "session-end"} <= events
    assert run(["setup", agent, "--scope", scope, "--check"]) == 0
    once = agents_home.files
    assert run(["setup", agent, "--scope", scope]) == 0
    assert agents_home.files == once
    assert run(["setup", agent, "--scope", scope, "--remove"]) == 0
    left = {path for path in agents_home.root.rglob("*") if not {".helix", ".local"} & {*path.parts}}
    assert sorted(left) == before
    assert run(["setup", agent, "--scope", scope, "--check"]) == 1


def commands(value: object) -> list[str]:
    if isinstance(value, dict):
        found = [value["command"]] if "command" in value else []
        return found + [one for part in value.values() for one in commands(part)]
    return [one for part in value for one in commands(part)] if isinstance(value, list) else []


GEMINI = """{
  // mine
  "theme": "dark", /* both */
  "mcpServers": {
    "other": {"command": "x"} // theirs
  }
}
"""


def test_comments_stay_where_an_agent_reads_them(agents_home: AgentsHome) -> None:
    path = agents_home.put(agents_home.root / ".gemini" / "settings.json", GEMINI)
    assert run(["setup", "gemini"]) == 0
    text = path.read_text()
    for kept in ("// mine", "/* both */", "// theirs", '"other": {"command": "x"}'):
        assert kept in text
    assert '"helix"' in text
    assert run(["setup", "gemini", "--check"]) == 0
    path.write_text(text.replace("dark", "light"))  # so that the backup does not count
    assert run(["setup", "gemini", "--remove"]) == 0
    assert path.read_text() == GEMINI.replace("dark", "light")


def test_comments_are_refused_where_the_agent_would_skip_the_file(
    agents_home: AgentsHome, capsys: pytest.CaptureFixture[str]
) -> None:
    path = agents_home.put(agents_home.root / ".cursor" / "mcp.json", GEMINI)
    assert run(["setup", "cursor"]) == 1
    assert f"{path}, line 2" in capsys.readouterr().err
    assert path.read_text() == GEMINI


@pytest.mark.parametrize("form", [{"mcp": {"other": {"type": "local"}}}, {"mcp": {"servers": {"other": {}}}}])
def test_opencode_keeps_the_form_that_its_file_has(agents_home: AgentsHome, form: dict[str, Any]) -> None:
    written = json.dumps(form)[:-1] + ", } // mine"
    path = agents_home.put(agents_home.root / ".config" / "opencode" / "opencode.jsonc", written)
    assert run(["setup", "opencode"]) == 0
    assert path.read_text().endswith("} // mine")
    servers = json.loads(path.read_text().removesuffix(", } // mine") + "}")["mcp"]
    servers = servers.get("servers", servers)
    assert servers["helix"]["command"][1:] == ["mcp"]
    assert "other" in servers
    skill = agents_home.root / ".config" / "opencode" / "skills" / "helix-graph" / "SKILL.md"
    assert "name: helix-graph" in skill.read_text()
    plugin = agents_home.root / ".config" / "opencode" / "plugins" / "helix-graph.js"
    assert f'const PROGRAM = "{servers["helix"]["command"][0]}"' in plugin.read_text()
    assert run(["setup", "opencode", "--check"]) == 0
    assert run(["setup", "opencode", "--remove"]) == 0
    assert path.read_text() == written
    assert not skill.parent.parent.exists()
    assert not plugin.parent.exists()


def test_another_server_of_our_name_is_left_alone(agents_home: AgentsHome, capsys: pytest.CaptureFixture[str]) -> None:
    theirs = json.dumps({"mcpServers": {"helix": {"command": "helix-editor", "args": ["mcp"]}}})
    path = agents_home.put(agents_home.root / ".gemini" / "settings.json", theirs)
    assert run(["setup", "gemini"]) == 1
    assert "another server is called helix" in capsys.readouterr().err
    assert path.read_text() == theirs


def test_the_skill_for_all_others(agents_home: AgentsHome) -> None:
    assert run(["setup", "skill"]) == 0
    skill = agents_home.root / ".agents" / "skills" / "helix-graph" / "SKILL.md"
    assert "name: helix-graph" in skill.read_text()
    assert run(["setup", "skill", "--remove"]) == 0
    assert not (agents_home.root / ".agents").exists()


def test_without_a_name_every_agent_that_is_here_is_set_up(
    agents_home: AgentsHome, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in (".gemini", ".copilot"):
        (agents_home.root / name).mkdir()
    assert run(["setup"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.partition(":")[0] for line in lines[:2]] == ["copilot", "gemini"]
    assert (agents_home.root / ".gemini" / "settings.json").exists()
    assert run(["setup", "--remove"]) == 0
    assert not (agents_home.root / ".gemini" / "settings.json").exists()


@pytest.mark.parametrize("agent", ["claude-code", "codex", "opencode", *USER])
def test_every_agent_is_set_up_with_the_same_words(
    agents_home: AgentsHome, agent: str, capsys: pytest.CaptureFixture[str]
) -> None:
    before = agents_home.files
    assert run(["setup", agent, "--dry-run"]) == 0
    shown = capsys.readouterr().out
    assert "+++ " in shown
    assert "helix-graph" in shown
    assert agents_home.files == before
    assert not (agents_home.project / ".helix").exists()
    assert run(["setup", agent]) == 0
    first, *_ = capsys.readouterr().out.splitlines()
    assert first.startswith(f"{agent}: set up: ")
    assert first.endswith("Sessions that begin from now on are with the memory.")
    assert run(["setup", agent, "--remove"]) == 0
    assert agents_home.files == before


def test_a_project_is_read_at_once_and_its_best_find_is_told(
    agents_home: AgentsHome, capsys: pytest.CaptureFixture[str]
) -> None:
    error = "TypeError: unsupported operand type(s) for *: 'decimal.Decimal' and 'float'"
    failed = f"E       {error}\nFAILED tests/test_cart.py::test_a - TypeErr...\n1 failed in 0.1s"
    for name in ("first", "second"):
        script = (
            Script(name, root=str(agents_home.project)).prompt("Make the cart work").run("pytest -q", failed, code=1)
        )
        script.edit("shop/cart.py", "price * rate", "price * Decimal(str(rate))").run("pytest -q", "2 passed in 0.1s")
        script.save(agents_home.root / ".claude" / "projects" / "shop")
    assert run(["setup", "claude-code"]) == 0
    said = capsys.readouterr().out
    assert "begun; 2 sessions read, 2 known" in said
    assert f"In 2 sessions an agent ran into {error}" in said
    assert "shop/cart.py: price * Decimal(str(rate))" in said
    memory = Memory.open(agents_home.project)
    assert memory.insights.recall("Decimal times float in the cart", semantic=False)
    assert run(["setup", "claude-code"]) == 0
    assert "there already; 0 sessions read, 2 known" in capsys.readouterr().out
    assert run(["setup", "claude-code", "--dry-run"]) == 0
    assert "sessions read" not in capsys.readouterr().out
