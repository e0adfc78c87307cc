"""Does setup tell its own server from another that is called the same, wherever it stands?"""

from __future__ import annotations

import json
import tomllib
from typing import TYPE_CHECKING

import pytest

from helix_cli.app import run
from thoroughness import few, few_rows

if TYPE_CHECKING:
    from pathlib import Path

    from agents_home import AgentsHome

EDITOR = {"command": "helix-editor", "args": ["mcp"]}
OURS = {"type": "stdio", "command": "/opt/helix-graph", "args": ["mcp"], "env": {}}
SERVERS = json.dumps({"mcpServers": {"other": {"command": "x"}, "helix": EDITOR}}, indent=2)
TOML = '# mine\n[mcp_servers.helix]\ncommand = "helix-editor"\nargs = ["mcp"]\n'


def place_of(home: AgentsHome, scope: str) -> Path:
    return home.claude_servers if scope == "user" else home.project / ".mcp.json"


@pytest.mark.parametrize("scope", ["user", "project"])
@pytest.mark.parametrize("on_the_path", [True, False])
def test_another_server_is_named_and_nothing_written(
    agents_home: AgentsHome, *, scope: str, on_the_path: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    path = agents_home.put(place_of(agents_home, scope), SERVERS)
    if on_the_path:
        agents_home.install("claude")
    before = agents_home.files
    assert run(["setup", "claude-code", "--scope", scope]) == 1
    told = capsys.readouterr().err
    assert f"{path}, line 6: another server is called helix; nothing was written" in told
    assert agents_home.files == before
    assert agents_home.calls == []


@pytest.mark.parametrize("scope", ["user", "project"])
@pytest.mark.parametrize("on_the_path", [True, False])
def test_another_server_survives_removing(
    agents_home: AgentsHome, *, scope: str, on_the_path: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["setup", "claude-code", "--scope", scope]) == 0
    path = agents_home.put(place_of(agents_home, scope), SERVERS)
    if on_the_path:
        agents_home.install("claude")
    capsys.readouterr()
    assert run(["setup", "claude-code", "--scope", scope, "--remove"]) == 0
    assert f"{path}, line 6: another server is called helix; it is left alone" in capsys.readouterr().out
    assert path.read_text() == SERVERS
    assert agents_home.calls == []
    assert run(["setup", "claude-code", "--scope", scope, "--check"]) == 1


@pytest.mark.parametrize("agent", ["claude", "codex"])
def test_another_server_that_only_the_command_knows_stays(
    agents_home: AgentsHome, agent: str, capsys: pytest.CaptureFixture[str]
) -> None:
    name = {"claude": "claude-code"}.get(agent, agent)
    agents_home.install(agent, mute=True)
    agents_home.keep_unseen({"helix": ["helix-editor", "mcp"]})
    before = agents_home.files
    assert run(["setup", name]) == 1
    assert f"another server is called helix: `{agent} mcp get helix` shows it" in capsys.readouterr().err
    assert run(["setup", name, "--remove"]) == 0
    assert "left alone" in capsys.readouterr().out
    assert agents_home.files == before
    assert agents_home.calls == []


@pytest.mark.parametrize(
    ("command", "arguments", "ours"),
    few_rows(
        [
            ("/opt/helix-graph", "mcp", True),
            ("/opt/helix-graph", "mcp --root x", True),
            ("/opt/helix-graph", "doctor", False),
            ("/opt/helix-graph", "-", False),
            ("/opt/helix-editor", "mcp", False),
        ],
        2,
    ),
)
def test_what_the_command_tells_decides_even_where_setup_added_one(
    agents_home: AgentsHome, command: str, arguments: str, *, ours: bool
) -> None:
    agents_home.install("codex", mute=True)
    assert run(["setup", "codex"]) == 0
    told = f"helix\n  enabled: true\n  transport: stdio\n  command: {command}\n  args: {arguments}\n  env: -"
    removing = f"[ $2 = remove ] && echo removed >> {agents_home.root}/removed"
    script = f"#!/bin/sh\n[ $2 = get ] && echo '{told}'\n{removing}\ntrue\n"
    agents_home.put(agents_home.root / "bin" / "codex", script)
    assert run(["setup", "codex", "--check"]) == (0 if ours else 1)
    assert run(["setup", "codex"]) == (0 if ours else 1)
    assert run(["setup", "codex", "--remove"]) == 0
    assert (agents_home.root / "removed").exists() == ours


@pytest.mark.parametrize("agent", few(["claude", "codex"], 1))
def test_what_setup_added_by_a_mute_command_is_removed_by_it(agents_home: AgentsHome, agent: str) -> None:
    name = {"claude": "claude-code"}.get(agent, agent)
    agents_home.install(agent, mute=True)
    assert run(["setup", name]) == 0
    assert run(["setup", name]) == 0
    assert agents_home.unseen["helix"][1:] == ["mcp"]
    assert run(["setup", name, "--remove"]) == 0
    assert run(["setup", name, "--remove"]) == 0
    assert agents_home.unseen == {}
    assert [call.split()[1] for call in agents_home.calls] == ["add", "remove"]


@pytest.mark.parametrize("scope", ["user", "project"])
def test_ours_goes_by_the_agents_own_command(agents_home: AgentsHome, scope: str) -> None:
    agents_home.install("claude")
    theirs = {**OURS, "env": {"HELIX_DIR": "x"}}
    path = agents_home.put(place_of(agents_home, scope), json.dumps({"mcpServers": {"helix": theirs, "other": EDITOR}}))
    assert run(["setup", "claude-code", "--scope", scope]) == 0
    assert run(["setup", "claude-code", "--scope", scope, "--remove"]) == 0
    assert json.loads(path.read_text()) == {"mcpServers": {"other": EDITOR}}
    assert agents_home.calls == [f"mcp remove --scope {scope} helix"]


def test_a_server_of_another_scope_is_not_taken_for_this_ones(agents_home: AgentsHome) -> None:
    agents_home.install("claude")
    path = agents_home.put(agents_home.project / ".mcp.json", SERVERS)
    assert run(["setup", "claude-code"]) == 0
    assert json.loads(agents_home.claude_servers.read_text())["mcpServers"]["helix"]["args"] == ["mcp"]
    assert run(["setup", "claude-code", "--remove"]) == 0
    assert json.loads(agents_home.claude_servers.read_text())["mcpServers"] == {}
    assert path.read_text() == SERVERS


def test_a_file_that_we_edited_comes_back_by_the_edit_though_there_is_a_command_now(agents_home: AgentsHome) -> None:
    before = agents_home.files
    for agent in ("claude-code", "codex"):
        assert run(["setup", agent, "--scope", "project"]) == 0
    assert run(["setup", "codex"]) == 0
    agents_home.install("claude")
    agents_home.install("codex", mute=True)
    for agent in ("claude-code", "codex"):
        assert run(["setup", agent, "--scope", "project", "--remove"]) == 0
    assert run(["setup", "codex", "--remove"]) == 0
    assert agents_home.files == before
    assert agents_home.calls == []


@pytest.mark.parametrize("scope", ["user", "project"])
def test_codex_keeps_another_server_of_our_name(
    agents_home: AgentsHome, scope: str, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = agents_home.codex if scope == "user" else agents_home.project / ".codex"
    path = agents_home.put(folder / "config.toml", TOML)
    before = agents_home.files
    assert run(["setup", "codex", "--scope", scope]) == 1
    assert f"{path}, line 2: another server is called helix; nothing was written" in capsys.readouterr().err
    assert run(["setup", "codex", "--scope", scope, "--remove"]) == 0
    assert f"{path}, line 2: another server is called helix; it is left alone" in capsys.readouterr().out
    assert agents_home.files == before


def test_codex_is_asked_to_remove_only_what_its_file_says_is_ours(agents_home: AgentsHome) -> None:
    agents_home.install("codex", mute=True)
    agents_home.keep_unseen({"helix": ["helix-editor", "mcp"]})
    agents_home.put(agents_home.codex / "config.toml", TOML)
    assert run(["setup", "codex"]) == 1
    assert run(["setup", "codex", "--remove"]) == 0
    assert agents_home.calls == []


def test_an_older_server_of_ours_is_replaced(agents_home: AgentsHome) -> None:
    old = {"command": "/gone/helix-graph", "args": ["mcp"]}
    servers = agents_home.put(agents_home.project / ".mcp.json", json.dumps({"mcpServers": {"helix": old}}))
    config = agents_home.put(agents_home.codex / "config.toml", TOML.replace("helix-editor", "/gone/helix-graph"))
    assert run(["setup", "claude-code", "--scope", "project"]) == 0
    assert json.loads(servers.read_text())["mcpServers"]["helix"]["command"] == "helix-graph"
    assert run(["setup", "codex"]) == 0
    assert "/gone" not in config.read_text()
    assert config.read_text().startswith("# mine\n")
    assert tomllib.loads(config.read_text())["mcp_servers"]["helix"]["args"] == ["mcp"]


@pytest.mark.parametrize(("more", "replaced"), few_rows([({}, True), ({"env": {"HELIX_DIR": "x"}}, False)], 1))
def test_an_older_server_of_ours_is_replaced_by_the_agents_command(
    agents_home: AgentsHome, more: dict[str, object], *, replaced: bool
) -> None:
    agents_home.install("claude")
    servers = agents_home.put(agents_home.claude_servers, json.dumps({"mcpServers": {"helix": {**OURS, **more}}}))
    assert run(["setup", "claude-code"]) == 0
    assert (json.loads(servers.read_text())["mcpServers"]["helix"]["command"] != "/opt/helix-graph") == replaced
    assert [call.split()[1] for call in agents_home.calls] == ["remove", "add"] * replaced
    assert run(["setup", "claude-code"]) == 0
    assert len(agents_home.calls) == 2 * replaced
    assert run(["setup", "claude-code", "--remove"]) == 0
    assert json.loads(servers.read_text()) == {"mcpServers": {}}


def test_what_somebody_added_to_our_server_stays_and_is_still_ours(agents_home: AgentsHome) -> None:
    text = '[mcp_servers.helix]\ncommand = "/opt/helix-graph"\nargs = ["mcp"]\nenabled = true\n'
    more = '# below\n\n[mcp_servers.helix.env]\nHELIX_DIR = "x"\n\n# of y\n[y]\na = 1\n'
    config = agents_home.put(agents_home.codex / "config.toml", text + more)
    assert run(["setup", "codex"]) == 0
    assert config.read_text() == text + more
    assert run(["setup", "codex", "--remove"]) == 0
    assert tomllib.loads(config.read_text()) == {"y": {"a": 1}}
    assert config.read_text() == "# below\n\n\n# of y\n[y]\na = 1\n"


@pytest.mark.parametrize(
    "text",
    [
        '[mcp_servers.helix] # why\ncommand = "/opt/helix-graph"\nargs = ["mcp"]\n',
        '[mcp_servers.helix]\ncommand = "/opt/helix-graph" # why\nargs = ["mcp"]\n',
        '[mcp_servers.helix]\ncommand = "/opt/helix-graph"\nargs = [\n  "mcp", # why\n]\n',
        '[mcp_servers]\nhelix = { command = "/opt/helix-graph", args = ["mcp"] } # why\n',
    ],
)
def test_a_comment_stays_where_its_line_goes(agents_home: AgentsHome, text: str) -> None:
    path = agents_home.put(agents_home.codex / "config.toml", text)
    assert run(["setup", "codex", "--remove"]) == 0
    assert path.read_text().removeprefix("[mcp_servers]\n") == "# why\n"


@pytest.mark.parametrize("others", [', y = { command = "z" }', ""])
def test_what_cannot_be_cut_out_alone_is_left_to_a_person(
    agents_home: AgentsHome, others: str, capsys: pytest.CaptureFixture[str]
) -> None:
    text = f'mcp_servers = {{ helix = {{ command = "/opt/helix-graph", args = ["mcp"] }}{others} }}\n'
    path = agents_home.put(agents_home.codex / "config.toml", text)
    assert run(["setup", "codex", "--remove"]) == 1
    assert f"{path}: our entry is written in a form" in capsys.readouterr().err
    assert path.read_text() == text


def test_an_empty_table_of_servers_stays(agents_home: AgentsHome) -> None:
    config = agents_home.put(agents_home.codex / "config.toml", "[mcp_servers]\n")
    assert run(["setup", "codex"]) == 0
    config.write_text(config.read_text() + "\n[y]\n")
    assert run(["setup", "codex", "--remove"]) == 0
    assert config.read_text().split() == ["[mcp_servers]", "[y]"]


@pytest.mark.parametrize(
    "command",
    few(
        [
            "notify-send done; helix-graph hook stop",
            "cd /x && /opt/helix-graph hook stop",
            "echo /opt/helix-graph hook stop",
            "x;/opt/helix-graph hook stop",
            "timeout 9 helix-graph hook stop",
            "my-helix-graph hook stop",
            "helix-graph hook stop --loud",
            "helix-graph 'hook stop",
        ],
        3,
    ),
)
def test_a_hook_that_only_speaks_of_ours_is_anothers(agents_home: AgentsHome, command: str) -> None:
    text = json.dumps({"hooks": {"SessionEnd": [{"hooks": [{"type": "command", "command": command}]}]}})
    path = agents_home.put(agents_home.claude, text)
    assert run(["setup", "claude-code"]) == 0
    assert command in [
        hook["command"] for group in json.loads(path.read_text())["hooks"]["SessionEnd"] for hook in group["hooks"]
    ]
    path.write_text(path.read_text() + "\n")
    assert run(["setup", "claude-code", "--remove"]) == 0
    assert json.loads(path.read_text()) == json.loads(text)


@pytest.mark.parametrize("command", ["'/o p/helix-graph' hook stop", r"C:\bin\helix-graph.exe hook stop"])
def test_ours_is_known_by_whatever_path(agents_home: AgentsHome, command: str) -> None:
    text = json.dumps({"hooks": {"SessionEnd": [{"hooks": [{"type": "command", "command": command}]}]}})
    path = agents_home.put(agents_home.claude, text)
    assert run(["setup", "claude-code", "--remove"]) == 0
    assert json.loads(path.read_text()) == {}


def test_a_handler_that_somebody_added_to_our_group_stays(agents_home: AgentsHome) -> None:
    assert run(["setup", "claude-code"]) == 0
    told = json.loads(agents_home.claude.read_text())
    told["hooks"]["SessionEnd"][0]["hooks"].insert(0, {"type": "command", "command": "mine"})
    agents_home.claude.write_text(json.dumps(told))
    assert run(["setup", "claude-code", "--remove"]) == 0
    left = {"hooks": {"SessionEnd": [{"hooks": [{"type": "command", "command": "mine"}]}]}}
    assert json.loads(agents_home.claude.read_text()) == left


def test_a_command_that_fails_says_what_is_done(agents_home: AgentsHome, capsys: pytest.CaptureFixture[str]) -> None:
    agents_home.put(agents_home.root / "bin" / "claude", "#!/bin/sh\necho no luck >&2\nexit 1\n").chmod(0o755)
    assert run(["setup", "claude-code"]) == 1
    told = capsys.readouterr().err
    assert "no luck" in told
    assert "nothing was written" not in told
    assert run(["setup", "claude-code", "--check", "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["hooks"] is True


@pytest.mark.parametrize("words", [["claude-code", "--scope", "project"], ["codex"], ["codex", "--scope", "project"]])
def test_a_check_looks_at_the_server_too(
    agents_home: AgentsHome, words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["setup", *words]) == 0
    assert run(["setup", *words, "--check"]) == 0
    for name in (".mcp.json", ".codex/config.toml", "../.codex/config.toml"):
        (agents_home.project / name).unlink(missing_ok=True)
    assert run(["setup", *words, "--check"]) == 1
    assert "is not in place" in capsys.readouterr().out


@pytest.mark.parametrize("mute", few([True, False], 1))
def test_a_check_asks_the_agents_own_command(agents_home: AgentsHome, *, mute: bool) -> None:
    agents_home.install("claude", mute=mute)
    assert run(["setup", "claude-code"]) == 0
    assert run(["setup", "claude-code", "--check"]) == 0
    agents_home.claude_servers.unlink(missing_ok=True)
    agents_home.keep_unseen({})
    assert run(["setup", "claude-code", "--check"]) == 1
    agents_home.keep_unseen({"helix": ["helix-editor", "mcp"]})
    agents_home.put(agents_home.claude_servers, SERVERS)
    assert run(["setup", "claude-code", "--check"]) == 1


@pytest.mark.usefixtures("agents_home")
def test_what_nobody_can_tell_is_called_so(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["setup", "claude-code"]) == 0
    capsys.readouterr()
    assert run(["setup", "claude-code", "--check", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["installed"], told["hooks"], told["server"]) == (True, True, None)
