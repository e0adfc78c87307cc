"""Does every command that is given a name which nothing has say so in one way: one sentence on stderr, and a 1?"""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

import click
import pytest

from demo_logs import demo_memory_in
from helix_cli.app import cli, run
from helix_graph import Memory
from own_memory import accepted
from thoroughness import few

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

#: Commands, what each takes a name for, and everything that it needs.
COMMANDS = [
    ("topic read", "TOPIC", "zzqq"),
    ("episode decisions", "EPISODE", "zzqq"),
    ("pack", "[MEMORY]...", "zzqq --output sums"),
    ("workspace get", "ID", "4711"),
    ("share add", "[NAME]...", "zzqq"),
    ("issues show", "ID", "zzqq"),
    *((f"{group} show", "EPISODE", "zzqq") for group in ("sessions", "episode")),
    *((one, "EPISODE", "zzqq") for one in ("sessions explain", "sessions compare", "explain", "contrast")),
    *((f"{group} outcome", "EPISODE", "zzqq --success --because x") for group in ("sessions", "episode")),
    *((f"{group} correct", "EPISODE", "zzqq --decision d001 --chosen x") for group in ("sessions", "episode")),
    *((f"{group} correct", "--decision", "last --decision zzqq --chosen x") for group in ("sessions", "episode")),
    ("episode export", "EPISODE", "zzqq"),
    *((f"issues {verb}", "ID", "zzqq") for verb in ("mute", "resolve", "unmute")),
    ("rules show", "ID", "zzqq"),
    ("advise", "--accept", "--accept zzqq --trial 0.5"),
    ("view", "--episode", "--episode zzqq"),
    ("graph export", "--episode", "--format dot --episode zzqq"),
    *((f"insight {verb}", "NAME", "zzqq") for verb in ("get", "why", "mute", "reject", "promote", "neighbors")),
    ("insight connected", "NAME", "zzqq"),
    ("insight match", "[NAME]", "zzqq"),
    ("insight edit", "NAME", "zzqq --content 'a text that is long enough'"),
    ("insight forget", "[NAMES]...", "zzqq"),
    ("insight feedback", "--episode", "--episode zzqq"),
    ("insight harvest", "--episode", "--episode zzqq"),
    ("insight link", "NAME", "zzqq --node-type episode --episode last"),
    ("insight link", "--episode", "knives-sharpened-fridays --node-type episode --episode zzqq"),
    ("topic edit", "TOPIC", "delete zzqq --index 0"),
    ("topic edit", "--into", "merge knives --into zzqq"),
    ("share add", "--topic", "--topic zzqq"),
    ("forget", "[ID]...", "zzqq"),
    ("forget", "--session", "--session zzqq"),
    *((one, "--project", "--project zzqq") for one in ("forget", "sync")),
    ("workspace block", "ID", "4711 --reason x"),
    ("workspace complete", "ID", "4711 --delivered x"),
    *((f"workspace {verb}", "ID", "4711") for verb in ("check", "prompt")),
    ("workspace create", "[SEQ]", "4711"),
    ("plan update", "SEQ", "4711 --status complete"),
    ("fold", "[FOLDER]...", "zzqq --output sums"),
]
#: What commands call an argument or the value of an option that names something which is there.
NAMES = {"EPISODE", "ID", "NAME", "[NAME]", "TOPIC", "SEQ", "[SEQ]", "FROM_NAME", "TO_NAME"}
NAMES |= {"[ID]...", "[NAME]...", "[NAMES]...", "[MEMORY]...", "[FOLDER]..."}
#: Names of what need not be there, and why.
OTHERS = {
    **dict.fromkeys(("topic store TOPIC", "topic edit --new-name", "episode new --session", "sync --as"), "it is made"),
    **dict.fromkeys(("inject --task-id", "learn --agent-id"), "a name that the caller chooses"),
    **dict.fromkeys(("inject --session", "batch-inject --session", "workspace create --session"), "so is this"),
    "node add --episode": "the seed takes the id of any episode",
    **dict.fromkeys(("insight relate FROM_NAME", "insight relate TO_NAME"), "the seed's answer: `rejected`, and a 1"),
}


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder: Path = tmp_path_factory.mktemp("project")
    memory = demo_memory_in(folder)
    memory.insights.store("Knives are sharpened on Fridays")
    memory.topics.store("knives", "They are in the drawer")
    return folder


@pytest.mark.parametrize("command", few([f"{path} {rest}" for path, _, rest in COMMANDS], 6))
def test_a_name_that_nothing_has_is_a_sentence_and_a_1(
    project: Path, command: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(project)
    monkeypatch.setenv("HELIX_DIR", str(accepted(project / ".helix")))
    assert run(shlex.split(command)) == 1
    out, err = capsys.readouterr()
    assert out == ""
    said = err.splitlines()[-1]
    assert said.startswith("helix-graph: ")
    assert "no " in said
    assert "; " in said, "what to do"


def names_of(command: click.Command, path: str) -> Iterator[str]:
    """The parameters of a command and of those below it that name something."""
    context = click.Context(command)
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            below = command.get_command(context, name)
            if below is not None:
                yield from names_of(below, f"{path} {name}".strip())
        return
    for one in command.params:
        if isinstance(one, click.Argument) and one.make_metavar(context) in NAMES:
            yield f"{path} {one.make_metavar(context)}"
        elif isinstance(one, click.Option) and one.metavar in NAMES:
            yield f"{path} {one.opts[0]}"


def test_every_command_that_takes_a_name_is_asked() -> None:
    asked = {f"{path} {what}" for path, what, _ in COMMANDS}
    assert asked <= set(names_of(cli, "")), "what there is no such command or name for"
    assert set(names_of(cli, "")) - asked == set(OTHERS)


@pytest.mark.parametrize("words", [["nonsense"], ["topic", "read"], ["view", "--nonsense"], ["workspace", "get", "x"]])
def test_an_error_of_usage_begins_as_all_do(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(words) == 2
    err = capsys.readouterr().err
    assert "\nhelix-graph: " in f"\n{err}"
    assert "\nError: " not in f"\n{err}"


def test_a_folder_without_logs_is_a_project_and_one_that_is_not_there_is_none(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(project)
    monkeypatch.setenv("HELIX_DIR", str(accepted(project / ".helix")))
    for words in (["sync"], ["episode", "extract", "--all"]):
        assert run([*words, "--project", str(tmp_path)]) == 0
        assert run([*words, "--project", str(tmp_path / "gone")]) == 1
        assert "no folder and no log has that name" in capsys.readouterr().err


def test_a_name_that_begins_with_a_dash_goes_after_two(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["topic", "read", "-b--t"]) == 2
    assert "goes after --: helix-graph topic read -- TOPIC" in capsys.readouterr().err


def test_what_is_not_proven_is_not_promoted_and_ends_with_a_1(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(project)
    monkeypatch.setenv("HELIX_DIR", str(accepted(project / ".helix")))
    (name,) = (one["name"] for one in Memory(project / ".helix").insights.newest())
    assert run(["insight", "promote", name]) == 1
    out, err = capsys.readouterr()
    assert (out, "is not promoted: it is not proven" in err) == ("", True)
