"""Is the documentation true: every command and option in it, every example as printed, every link leading somewhere?"""

from __future__ import annotations

import doctest
import re
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import click
import pytest

from helix_cli.app import cli, run

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[1]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
MARKER = "<!-- runs on the demo memory -->"
EXAMPLE = re.compile(re.escape(MARKER) + r"\n```console\n(.*?)```", re.DOTALL)
OUTPUT = doctest.OutputChecker()


def leaves(command: click.Command, path: str = "") -> Iterator[tuple[str, click.Command]]:
    """Every command that does something, with its name as typed."""
    if not isinstance(command, click.Group):
        yield path, command
        return
    context = click.Context(command)
    for name in command.list_commands(context):
        below = command.get_command(context, name)
        assert below is not None
        yield from leaves(below, f"{path} {name}".strip())


COMMANDS = dict(leaves(cli))


def section(name: str) -> str:
    """What docs/cli.md says about a command: from its heading to the next."""
    page = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")
    found = re.search(rf"^## `helix-graph {re.escape(name)}`\n(.*?)(?=^## |\Z)", page, re.DOTALL | re.MULTILINE)
    return found[1] if found else ""


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_and_option_is_documented(name: str) -> None:
    text = section(name)
    assert text, f"docs/cli.md has no section for {name}"
    shared = {"--json", "--help"}
    for parameter in COMMANDS[name].params:
        if isinstance(parameter, click.Option):
            missing = [option for option in parameter.opts if option not in shared and f"`{option}" not in text]
            assert missing == []
        else:
            assert f"`{parameter.make_metavar(click.Context(COMMANDS[name])).strip('[].')}" in text


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_and_option_has_help(name: str) -> None:
    assert COMMANDS[name].help
    options = [parameter for parameter in COMMANDS[name].params if isinstance(parameter, click.Option)]
    assert [option.name for option in options if not option.help] == []


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_answers_programs(name: str) -> None:
    assert any("--json" in parameter.opts for parameter in COMMANDS[name].params)


def test_no_section_describes_a_command_that_is_gone() -> None:
    page = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")
    assert re.findall(r"^## `helix-graph (.+)`$", page, re.MULTILINE) == list(COMMANDS)


def test_the_readme_has_exactly_two_set_up_commands() -> None:
    page = (ROOT / "README.md").read_text(encoding="utf-8")
    found = [line for line in page.splitlines() if "venv" in line]
    assert [line.rpartition("/")[2] for line in found] == ["helix-graph demo", "pytest -q"]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_between_pages_lead_somewhere(page: Path) -> None:
    links = re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8"))
    assert [link for link in links if not (page.parent / link).exists()] == []


def examples() -> Iterator[tuple[str, str, str]]:
    """Each command in a marked block, with its page and what the page says it prints."""
    for page in PAGES:
        for block in EXAMPLE.findall(page.read_text(encoding="utf-8")):
            for example in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
                command, _, printed = example.partition("\n")
                yield page.name, command, printed.rstrip("\n")


def test_there_are_examples_to_run() -> None:
    assert len(list(examples())) >= 5


@pytest.fixture(scope="module")
def demo_memory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("demo")
    assert run(["demo", "--keep", str(folder), "--json"]) == 0
    return folder / ".helix"


@pytest.mark.parametrize(("page", "command", "printed"), examples())
def test_examples_print_what_the_page_says(
    page: str,
    command: str,
    printed: str,
    demo_memory: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("HELIX_DIR", str(demo_memory))
    program, *arguments = shlex.split(command)
    assert program == "helix-graph", page
    assert run(arguments) == 0
    got = capsys.readouterr().out.rstrip("\n")
    assert OUTPUT.check_output(f"{printed}\n", f"{got}\n", doctest.ELLIPSIS), got
