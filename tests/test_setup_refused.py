"""Does setup refuse, with file and line, what an agent would not read or what it would have to guess at?"""

from __future__ import annotations

import json
import os
import tomllib
from typing import TYPE_CHECKING

import pytest

from helix_cli.app import run
from helix_cli.setup.json_edit import parse

if TYPE_CHECKING:
    from pathlib import Path

    from agents_home import AgentsHome

LENIENT = [
    ('{\n  "model": "x", // mine\n  "hooks": {}\n}\n', 2, "a comment"),
    ('{\n  "model": "x"\n  /* mine,\n  of two lines */\n}\n', 3, "a comment"),
    ('{\n  "permissions": {"allow": [\n    "a",\n  ]}\n}\n', None, "a comma too many"),
    ('\ufeff{\r\n  "a": 1,\r\n}\r\n', None, "a comma too many"),
]


def strict_files(home: AgentsHome) -> dict[str, tuple[list[str], Path]]:
    return {
        "user": (["claude-code"], home.claude),
        "project": (["claude-code", "--scope", "project"], home.project / ".claude" / "settings.json"),
        "servers": (["claude-code", "--scope", "project"], home.project / ".mcp.json"),
        "codex": (["codex"], home.codex / "hooks.json"),
        "codex project": (["codex", "--scope", "project"], home.project / ".codex" / "hooks.json"),
    }


@pytest.mark.parametrize(("text", "line", "what"), LENIENT)
@pytest.mark.parametrize("name", ["user", "project", "servers", "codex", "codex project"])
def test_what_is_no_strict_json_is_refused_where_it_stands(
    agents_home: AgentsHome, name: str, text: str, line: int | None, what: str, capsys: pytest.CaptureFixture[str]
) -> None:
    words, path = strict_files(agents_home)[name]
    agents_home.put(path, text)
    before = agents_home.files
    assert run(["setup", *words]) == 1
    told = capsys.readouterr().err
    assert f"{path}, line {line or ''}" in told
    assert f"there is {what} here" in told
    assert "nothing was written" in told
    assert agents_home.files == before


def test_that_hooks_stand_in_a_file_that_is_skipped_is_not_called_in_place(
    agents_home: AgentsHome, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["setup", "claude-code"]) == 0
    path = agents_home.put(agents_home.claude, "// mine\n" + agents_home.claude.read_text())
    assert run(["setup", "claude-code", "--check"]) == 1
    assert f"{path}, line 1: there is a comment" in capsys.readouterr().err
    assert run(["setup", "claude-code"]) == 1


@pytest.mark.parametrize("begin", ['"SessionEnd"', '"model"'])
def test_what_somebody_commented_since_is_left_alone(
    agents_home: AgentsHome, begin: str, capsys: pytest.CaptureFixture[str]
) -> None:
    agents_home.put(agents_home.claude, '{\n  "model": "x"\n}\n')
    assert run(["setup", "claude-code"]) == 0
    text = agents_home.claude.read_text().replace(begin, f"// mine\n    {begin}")
    agents_home.put(agents_home.claude, text)
    line = text[: text.index("// mine")].count("\n") + 1
    assert run(["setup", "claude-code", "--remove"]) == 1
    assert f"line {line}: there is a comment here" in capsys.readouterr().err
    assert agents_home.claude.read_text() == text


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("{", 1),
        ('{\n"a": 1,\n"a": 2}', 3),
        ('{\n"hooks": []}', 2),
        ('{"hooks": {\n"SessionStart": {}}}', 2),
        ('{"hooks":\nnull}', 2),
        ("[]", 1),
    ],
)
def test_the_line_is_told(agents_home: AgentsHome, text: str, line: int, capsys: pytest.CaptureFixture[str]) -> None:
    path = agents_home.put(agents_home.claude, text)
    assert run(["setup", "claude-code"]) == 1
    assert f"{path}, line {line}: " in capsys.readouterr().err
    assert path.read_text() == text


@pytest.mark.parametrize("servers", ["[]", "null", '"helix"', "3"])
def test_servers_of_a_strange_type_are_refused(agents_home: AgentsHome, servers: str) -> None:
    path = agents_home.put(agents_home.project / ".mcp.json", f'{{"mcpServers": {servers}}}')
    assert run(["setup", "claude-code", "--scope", "project"]) == 1
    assert run(["setup", "claude-code", "--scope", "project", "--remove"]) == 0
    assert path.read_text() == f'{{"mcpServers": {servers}}}'
    assert not (agents_home.project / ".claude").exists()


@pytest.mark.parametrize(
    ("text", "line", "what"),
    [
        ("a = 1\nmcp_servers = {}\n", 2, "mcp_servers is an inline table"),
        ('mcp_servers = { other = { command = "x" } }\n', 1, "mcp_servers is an inline table"),
        ("mcp_servers = 3\n", 1, "mcp_servers is no table"),
        ('\nmcp_servers = "helix"\n', 2, "mcp_servers is no table"),
        ("[[mcp_servers]]\n", None, "mcp_servers is no table"),
        ("a = 1\na = 2\n", None, "it is not TOML"),
        ('[mcp_servers]\nhelix = "x"\n', 2, "another server is called helix"),
        ('[mcp_servers."helix"]\nurl = "http://x"\n', 1, "another server is called helix"),
    ],
)
def test_toml_that_cannot_be_added_to_is_refused_for_what_it_is(
    agents_home: AgentsHome, text: str, line: int | None, what: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = agents_home.put(agents_home.codex / "config.toml", text)
    assert run(["setup", "codex"]) == 1
    told = capsys.readouterr().err
    where = f", line {line}" if line else ""
    assert f"{path}{where}: {what}" in told
    assert ("not TOML" in told) == (what == "it is not TOML")
    assert path.read_text() == text
    assert not (agents_home.codex / "hooks.json").exists()


@pytest.mark.parametrize(
    "text",
    [
        '\ufeff# mine\nmodel = "x"\n',
        "\ufeff",
        "",
        'model = "x"\r\n\r\n[mcp_servers.other]\r\ncommand = "y"\r\n',
        'mcp_servers.other.command = "y"',
        "[mcp_servers]\n[mcp_servers.other]\ncommand = 'y' # the end",
    ],
)
def test_toml_that_is_right_is_added_to_in_its_own_form(agents_home: AgentsHome, text: str) -> None:
    path = agents_home.put(agents_home.codex / "config.toml", text)
    assert run(["setup", "codex"]) == 0
    once = path.read_bytes().decode()
    assert run(["setup", "codex"]) == 0
    assert path.read_bytes().decode() == once
    assert once.startswith(text)
    assert tomllib.loads(once.removeprefix("\ufeff"))["mcp_servers"]["helix"]["args"] == ["mcp"]
    assert ("\n" in once.replace("\r\n", "")) == ("\r\n" not in text)
    assert once.endswith("\n") == (text.endswith("\n") or not text.strip("\ufeff"))
    assert run(["setup", "codex", "--remove"]) == 0
    assert path.read_bytes().decode() == text


def test_a_path_of_strange_letters_is_written_as_it_is(
    agents_home: AgentsHome, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = agents_home.root / 'o "p" \U0001f600'
    agents_home.put(folder / "helix-graph", "#!/bin/sh\n").chmod(0o755)
    monkeypatch.setenv("PATH", str(folder))
    assert run(["setup", "codex"]) == 0
    found = tomllib.loads((agents_home.codex / "config.toml").read_text())["mcp_servers"]["helix"]
    assert found["command"] == str(folder / "helix-graph")
    assert run(["setup", "codex", "--check"]) == 0
    capsys.readouterr()
    assert run(["setup", "codex", "--print"]) == 0
    pasted = capsys.readouterr().out.partition("[mcp_servers.helix]")[2]
    assert tomllib.loads(pasted) == found
    assert run(["setup", "codex", "--remove"]) == 0
    assert not agents_home.codex.joinpath("config.toml").exists()


def test_a_pipe_in_a_settings_place_is_named_and_not_waited_for(
    agents_home: AgentsHome, capsys: pytest.CaptureFixture[str]
) -> None:
    agents_home.claude.parent.mkdir()
    os.mkfifo(agents_home.claude)
    assert run(["setup", "claude-code"]) == 1
    assert f"{agents_home.claude}: it is a named pipe" in capsys.readouterr().err


def test_lists_and_objects_that_others_made_stay_though_they_are_empty(agents_home: AgentsHome) -> None:
    text = '{\n  "model": "x",\n  "hooks": {\n    "SessionEnd": [],\n    "Stop": []\n  }\n}\n'
    agents_home.put(agents_home.claude, text)
    assert run(["setup", "claude-code"]) == 0
    agents_home.put(agents_home.claude, agents_home.claude.read_text().replace('"x"', '"y"'))
    assert run(["setup", "claude-code", "--remove"]) == 0
    assert parse(agents_home.claude.read_text()) == json.loads(text) | {"model": "y"}


@pytest.mark.parametrize("change", [[], ["--remove"]])
def test_a_file_that_changes_meanwhile_is_left_and_so_are_the_others(
    agents_home: AgentsHome, change: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    if change:
        assert run(["setup", "codex"]) == 0
        agents_home.codex.joinpath("config.toml").unlink()
    hooks = agents_home.codex / "hooks.json"
    program = f'#!/bin/sh\necho "{{}}" > {hooks}\n[ "$2" = get ] && exit 1\nexit 0\n'
    agents_home.codex.mkdir(exist_ok=True)
    agents_home.put(agents_home.root / "bin" / "codex", program).chmod(0o755)
    assert run(["setup", "codex", *change]) == 1
    assert f"{hooks}: somebody is changing it at this moment" in capsys.readouterr().err
    assert agents_home.files == {".codex/hooks.json": b"{}\n"}


def test_a_project_is_not_written_to_without_being_named(agents_home: AgentsHome) -> None:
    for agent in ("claude-code", "codex"):
        assert run(["setup", agent]) == 0
        assert run(["setup", agent, "--remove"]) == 0
    assert not [name for name in agents_home.files if name.startswith("project/")]
    assert {path.name for path in agents_home.project.iterdir()} <= {".git", ".helix"}


@pytest.mark.parametrize(
    ("agent", "link", "target"),
    [
        ("claude-code", ".claude", ".claude"),
        ("claude-code", ".mcp.json", "servers.json"),
        ("codex", ".codex", ".codex"),
        ("cursor", ".cursor", ".cursor"),
        ("copilot", ".github", ".copilot"),
        ("gemini", ".gemini", ".gemini"),
        ("qwen", ".qwen", ".qwen"),
        ("opencode", "opencode.json", "not/there.json"),
        ("opencode", ".opencode", ".opencode"),
        ("skill", ".agents", ".agents"),
        ("skill", ".agents/skills/helix-graph/SKILL.md", "project/README.md"),
    ],
)
@pytest.mark.parametrize("words", [[], ["--remove"]], ids=["install", "remove"])
def test_a_project_does_not_lead_setup_out_of_it(
    agents_home: AgentsHome, agent: str, link: str, target: str, words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    agents_home.put(agents_home.root / "servers.json", "{}\n")
    for folder in (".claude", ".codex", ".cursor", ".copilot", ".gemini", ".qwen", ".opencode", ".agents"):
        (agents_home.root / folder).mkdir(exist_ok=True)
    place = agents_home.project / link
    place.parent.mkdir(parents=True, exist_ok=True)
    place.symlink_to(agents_home.root / target)
    before = agents_home.files
    assert run(["setup", agent, "--scope", "project", *words]) == 1
    told = capsys.readouterr().err
    assert f"a link in this project leads to {agents_home.root}" in told
    assert "nothing was written" in told
    assert agents_home.files == before
