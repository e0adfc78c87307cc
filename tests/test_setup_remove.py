"""Does removing write only where something of ours is, and is told before what it does?"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from helix_cli.app import run
from thoroughness import few

if TYPE_CHECKING:
    from agents_home import AgentsHome

AGENTS = ("claude-code", "codex", "gemini", "opencode")
SCOPES = ("user", "project")
#: Both scopes are among the first four, which are asked every day.
EVERYWHERE = [[agent, "--scope", SCOPES[(turn + n) % 2]] for turn in range(2) for n, agent in enumerate(AGENTS)]


@pytest.mark.parametrize("words", few([*EVERYWHERE], 4))
@pytest.mark.parametrize("on_the_path", [True, False])
def test_where_nothing_is_nothing_is_written(
    agents_home: AgentsHome, *, words: list[str], on_the_path: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    if on_the_path:
        agents_home.install("claude")
        agents_home.install("codex", mute=True)
    before = agents_home.files
    assert run(["setup", *words, "--remove"]) == 0
    assert run(["setup", *words, "--remove"]) == 0
    assert capsys.readouterr().out == f"{words[0]}: nothing to change\n" * 2
    assert agents_home.files == before
    assert not (agents_home.root / ".local").exists()
    assert agents_home.calls == []


@pytest.mark.parametrize("words", few([*EVERYWHERE], 4))
def test_twice_removed_can_be_put_in_again(agents_home: AgentsHome, words: list[str]) -> None:
    before = agents_home.files
    for _ in range(2):
        assert run(["setup", *words]) == 0
        assert run(["setup", *words, "--check"]) == 0
        assert run(["setup", *words, "--remove"]) == 0
        assert run(["setup", *words, "--remove"]) == 0
        assert agents_home.files == before


@pytest.mark.parametrize("words", few([*EVERYWHERE], 1))
@pytest.mark.parametrize("change", [[], ["--remove"]])
@pytest.mark.parametrize("installed", [True, False])
@pytest.mark.parametrize("touched", [True, False])
def test_a_dry_run_tells_what_happens(
    agents_home: AgentsHome,
    *,
    words: list[str],
    change: list[str],
    installed: bool,
    touched: bool,
    capsys: pytest.CaptureFixture[str],
) -> None:
    if installed:
        run(["setup", *words])
    if touched:
        for path in [path for path in agents_home.root.rglob("*.json") if ".local" not in path.parts]:
            path.write_text(path.read_text() + "\n")
    before = agents_home.files
    capsys.readouterr()
    assert run(["setup", *words, *change, "--dry-run", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert agents_home.files == before
    assert run(["setup", *words, *change, "--json"]) == 0
    done = json.loads(capsys.readouterr().out)
    assert done | {"dry_run": True, "memory": None} == told
    after = agents_home.files
    changed = {name for name in before.keys() | after.keys() if before.get(name) != after.get(name)}
    assert {str(agents_home.root / name) for name in changed} == {*done["files"], *done["backups"]}


def test_an_empty_file_is_no_hindrance_and_comes_back(agents_home: AgentsHome) -> None:
    for path in (agents_home.claude, agents_home.project / ".mcp.json", agents_home.codex / "config.toml"):
        agents_home.put(path, "")
    before = agents_home.files
    everything = (["claude-code"], ["claude-code", "--scope", "project"], ["codex"])
    for words in everything:
        assert run(["setup", *words]) == 0
    for words in everything:
        assert run(["setup", *words, "--remove"]) == 0
    assert agents_home.files == before


def test_the_last_line_says_what_was_done(agents_home: AgentsHome, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["setup", "codex"]) == 0
    assert capsys.readouterr().out.startswith("codex: set up: ")
    assert run(["setup", "claude-code", "--scope", "project"]) == 0
    (agents_home.project / ".mcp.json").unlink()
    assert run(["setup", "claude-code", "--scope", "project"]) == 0
    assert capsys.readouterr().out.startswith("claude-code: set up: ")
    (agents_home.project / ".mcp.json").unlink()
    assert run(["setup", "claude-code", "--scope", "project", "--remove"]) == 0
    ended = "Sessions that begin from now on are without the memory.\n"
    assert capsys.readouterr().out.endswith(ended)
    assert agents_home.files == {
        name: content for name, content in agents_home.files.items() if name.startswith(".codex/")
    }


def test_what_an_upgrade_replaced_comes_out_to_the_byte(agents_home: AgentsHome) -> None:
    text = '{"model":"x",  "hooks":{ }}'
    path = agents_home.put(agents_home.claude, text)
    assert run(["setup", "claude-code"]) == 0
    moved = agents_home.put(agents_home.root / "bin" / "helix-graph", "#!/bin/sh\n")
    moved.chmod(0o755)
    assert run(["setup", "claude-code", "--check"]) == 1
    assert run(["setup", "claude-code"]) == 0
    assert path.read_text().count("hook session-start") == path.read_text().count(f"{moved} hook session-start") == 1
    assert run(["setup", "claude-code", "--remove"]) == 0
    assert path.read_text() == text


def test_what_was_replaced_in_a_touched_file_comes_out_with_what_it_needed(agents_home: AgentsHome) -> None:
    path = agents_home.put(agents_home.claude, '{"model":"x","hooks":{}}')
    assert run(["setup", "claude-code"]) == 0
    path.write_text(path.read_text().replace('"timeout": 5', '"timeout": 99'))
    assert run(["setup", "claude-code"]) == 0
    assert path.read_text().count("hook session-start") == 1
    assert run(["setup", "claude-code", "--remove"]) == 0
    assert json.loads(path.read_text()) == {"model": "x", "hooks": {}}


def test_a_link_to_nothing_stays_a_link_to_nothing(agents_home: AgentsHome) -> None:
    agents_home.claude.parent.mkdir()
    agents_home.claude.symlink_to(agents_home.root / "dotfiles.json")
    assert run(["setup", "claude-code"]) == 0
    assert (agents_home.root / "dotfiles.json").exists()
    assert run(["setup", "claude-code", "--remove"]) == 0
    assert agents_home.claude.is_symlink()
    assert not agents_home.claude.exists()
