"""Does setup leave other people's settings alone: put in once, taken out to the byte, refused where it would guess?"""

from __future__ import annotations

import json
import os
import tomllib
from typing import TYPE_CHECKING

import pytest

from helix_cli.app import run
from helix_cli.setup.json_edit import parse
from thoroughness import few

if TYPE_CHECKING:
    from pathlib import Path

FOREIGN = """{
    "model": "opus",\t
    "hooks": {
        "SessionStart": [
            {"hooks": [{"type": "command", "command": "echo hi"}]}\x20

        ],
        "SessionEnd": [],
        "Stop": []
    },
    "permissions": {"allow": ["Bash(ls:*)"]}
}
"""
SETTINGS = [
    FOREIGN,
    FOREIGN.replace("\n", "\r\n"),
    "\ufeff{}\n",
    "{}",
    '{"hooks": {}}',
    '{"hooks": {"SessionEnd": [ ], "PreCompact": [\n\n]} }',
    "",
    " \n",
    '{"hooks":{"SessionStart":[],"PreToolUse":[{"matcher":"Bash","hooks":[]}]}}',
    '{\n\t"$schema": "x",\n\t"hooks": {\n\t}\n}',
    json.dumps({"a": {"hooks": [1, 2]}, "hooks": {"SessionEnd": [{"hooks": []}]}}, indent=4),
]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    project = tmp_path / "project"
    (project / ".git").mkdir(parents=True)
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "XDG_STATE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.chdir(project)
    return tmp_path


def settings_of(home: Path, text: str) -> Path:
    path = home / ".claude" / "settings.json"
    path.parent.mkdir()
    path.write_bytes(text.encode())
    return path


@pytest.mark.parametrize("text", few([*SETTINGS], 2))
def test_what_was_put_in_is_taken_out_to_the_byte(home: Path, text: str) -> None:
    path = settings_of(home, text)
    path.chmod(0o640)
    assert run(["setup", "claude-code"]) == 0
    once = path.read_bytes()
    assert run(["setup", "claude-code", "--check"]) == 0
    assert run(["setup", "claude-code"]) == 0
    assert path.read_bytes() == once
    assert path.stat().st_mode & 0o777 == 0o640
    assert run(["setup", "claude-code", "--remove"]) == 0
    assert path.read_bytes() == text.encode()
    assert run(["setup", "claude-code", "--check"]) == 1


@pytest.mark.parametrize("text", few([*SETTINGS], 5))
def test_nothing_else_is_said_by_the_file(home: Path, text: str) -> None:
    path = settings_of(home, text)
    before = parse(text) if text.strip() else {}
    run(["setup", "claude-code"])
    after = parse(path.read_bytes().decode())
    for event, groups in after.pop("hooks").items():
        foreign = [one for one in groups if "helix-graph" not in json.dumps(one)]
        assert foreign == before.get("hooks", {}).get(event, [])
    before.pop("hooks", None)
    assert after == before


def test_what_somebody_wrote_meanwhile_stays(home: Path) -> None:
    path = settings_of(home, FOREIGN)
    run(["setup", "claude-code"])
    later = path.read_bytes().decode().replace('"opus"', '"sonnet"')
    path.write_bytes(later.encode())
    assert run(["setup", "claude-code", "--remove"]) == 0
    assert path.read_bytes().decode() == FOREIGN.replace('"opus"', '"sonnet"')


def test_a_file_that_we_made_goes_again(home: Path) -> None:
    assert run(["setup", "claude-code", "--scope", "project"]) == 0
    project = home / "project"
    assert json.loads((project / ".mcp.json").read_text())["mcpServers"]["helix"]["args"] == ["mcp"]
    command = json.loads((project / ".claude" / "settings.json").read_text())["hooks"]["SessionEnd"][0]["hooks"][0]
    assert command["command"] == "helix-graph hook session-end"
    assert run(["setup", "claude-code", "--scope", "project", "--remove"]) == 0
    assert not (project / ".mcp.json").exists()
    assert not (project / ".claude" / "settings.json").exists()


def test_an_older_entry_of_ours_is_replaced(home: Path) -> None:
    path = settings_of(home, "{}")
    run(["setup", "claude-code"])
    path.write_text(path.read_text().replace('"timeout": 5', '"timeout": 99'))
    assert run(["setup", "claude-code"]) == 0
    assert run(["setup", "claude-code", "--check"]) == 0
    assert path.read_text().count("hook session-start") == 1


def test_a_dry_run_shows_and_writes_nothing(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = settings_of(home, FOREIGN)
    assert run(["setup", "claude-code", "--dry-run"]) == 0
    assert path.read_bytes() == FOREIGN.encode()
    assert "+" in capsys.readouterr().out
    assert not (home / ".local").exists()


@pytest.mark.parametrize(
    "text",
    [
        '{"hooks": []}',
        '{"hooks": {"SessionStart": {}}}',
        '{"hooks": {}, "hooks": {}}',
        '{"hooks": ',
        "[]",
        "nonsense",
        '{"a": 1} x',
        "[" * 100_000,
    ],
)
def test_what_would_be_a_guess_is_refused(home: Path, text: str, capsys: pytest.CaptureFixture[str]) -> None:
    path = settings_of(home, text)
    assert run(["setup", "claude-code"]) == 1
    assert path.read_bytes() == text.encode()
    assert str(path) in capsys.readouterr().err


def test_a_link_stays_a_link(home: Path) -> None:
    real = home / "dotfiles.json"
    real.write_text("{}\n")
    (home / ".claude").mkdir()
    path = home / ".claude" / "settings.json"
    path.symlink_to(real)
    run(["setup", "claude-code"])
    assert path.is_symlink()
    assert "helix-graph" in real.read_text()


def test_codex_keeps_every_comment(home: Path) -> None:
    folder = home / ".codex"
    folder.mkdir()
    config = folder / "config.toml"
    text = '# mine\nmodel = "x" # why\n\n[mcp_servers.other]\ncommand = "y"\n# the end'
    config.write_text(text)
    assert run(["setup", "codex"]) == 0
    assert run(["setup", "codex"]) == 0
    assert tomllib.loads(config.read_text())["mcp_servers"]["helix"]["args"] == ["mcp"]
    assert "PostToolUse" in json.loads((folder / "hooks.json").read_text())["hooks"]
    config.write_text(config.read_text() + "\n[tools]\nweb = true\n")
    assert run(["setup", "codex", "--remove"]) == 0
    assert "helix" not in config.read_text()
    assert config.read_text() == f"{text}\n[tools]\nweb = true\n"
    assert not (folder / "hooks.json").exists()


@pytest.mark.parametrize(
    ("below", "left"),
    [
        ("startup_timeout_sec = 20 # slow here\n", "# slow here\n"),
        ('\n[mcp_servers.helix.env]\n  # mine\nB = "2" # x\n[y]\na = 1 # y\n', "\n  # mine\n# x\n[y]\na = 1 # y\n"),
        ('list = [\n  "a#b",\n  "c", # the first\n] # end\n', "# the first\n# end\n"),
        ('text = """\n# no comment\n"""\nline = "a\u2028# none"\n', ""),
    ],
)
def test_what_is_written_below_our_table_does_not_keep_it_there(home: Path, below: str, left: str) -> None:
    """In TOML it is a part of the table. Comments stay, on whatever line they are."""
    (home / ".codex").mkdir()
    config = home / ".codex" / "config.toml"
    text = '# mine\nmodel = "x" # why\n\n[profiles.a]\nb = 1\n'
    config.write_text(text)
    assert run(["setup", "codex"]) == 0
    config.write_bytes(config.read_bytes() + below.encode())
    assert run(["setup", "codex", "--remove"]) == 0
    assert config.read_bytes().decode() == f"{text}{left}"


@pytest.mark.parametrize("text", ["mcp_servers = {}\n", '[mcp_servers.helix]\ncommand = "z"\n', "[", "[hooks]\n"])
def test_codex_is_not_guessed_at_either(home: Path, text: str) -> None:
    (home / ".codex").mkdir()
    config = home / ".codex" / "config.toml"
    config.write_text(text)
    assert run(["setup", "codex"]) == 1
    assert config.read_text() == text
    assert not (home / ".codex" / "hooks.json").exists()


def test_the_agents_own_command_is_asked_first(home: Path) -> None:
    (home / "bin").mkdir()
    program = home / "bin" / "claude"
    program.write_text(f'#!/bin/sh\necho "$*" >> {home}/calls\n[ "$2" != get ]\n')
    program.chmod(0o755)
    assert run(["setup", "claude-code", "--scope", "project"]) == 0
    assert (home / "calls").read_text().splitlines()[-1] == "mcp add --scope project helix -- helix-graph mcp"
    assert not (home / "project" / ".mcp.json").exists()


@pytest.mark.parametrize("agent", ["claude-code", "codex", "skill"])
def test_nobody_else_may_add_to_the_folders_that_it_makes(home: Path, agent: str) -> None:
    before = os.umask(0)
    try:
        there = set(home.rglob("*"))
        assert run(["setup", agent]) == 0
    finally:
        os.umask(before)
    made = [path for path in home.rglob("*") if path not in there and not path.is_symlink()]
    assert any(path.is_dir() for path in made)
    assert [path for path in made if path.stat().st_mode & 0o022] == []


@pytest.mark.parametrize("agent", ["cursor", "copilot", "gemini", "opencode", "claude-code", "codex"])
def test_what_is_pasted_is_shown(home: Path, agent: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["setup", agent, "--print"]) == 0
    assert "helix" in capsys.readouterr().out
    assert sorted(path.name for path in home.iterdir()) == ["project"]


def test_gemini_is_told_of_prompts_too(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["setup", "gemini", "--print", "--json"]) == 0
    (pasted,) = json.loads(capsys.readouterr().out)
    (group,) = pasted["content"]["hooks"]["BeforeAgent"]
    assert group["hooks"][0]["command"].endswith("helix-graph hook user-prompt")
    assert not (home / ".gemini").exists()


def test_what_a_killed_setup_left_behind_goes_with_the_next(home: Path) -> None:
    path = settings_of(home, "{}")
    left, others = path.with_name(".settings.json.0123456789ab.tmp"), path.with_name(".settings.json.other.tmp")
    for one in (left, others):
        one.write_text("{")
        os.utime(one, (0, 0))
    being_written = path.with_name(".settings.json.ba9876543210.tmp")
    being_written.write_text("{")
    assert run(["setup", "claude-code"]) == 0
    assert [one.exists() for one in (left, others, being_written)] == [False, True, True]
