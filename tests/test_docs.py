"""Is the documentation true: every command and option in it, every example as printed, every link leading somewhere?

Run as a program, this file writes what the examples print now into the pages.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import click
import pytest

from helix_cli.app import cli

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[1]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
MARKER = "<!-- runs on the demo memory -->"
#: A marked block: what stands before its commands, and the commands with what they print.
EXAMPLES = re.compile(rf"({MARKER}\n```console\n)(.*?)```", re.DOTALL)


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


@pytest.mark.parametrize("name", sorted(COMMANDS.keys() - {"mcp", "hook"}))  # which speak protocols of their own
def test_every_command_answers_programs(name: str) -> None:
    assert any("--json" in parameter.opts for parameter in COMMANDS[name].params)


def test_no_section_describes_a_command_that_is_gone() -> None:
    page = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")
    assert re.findall(r"^## `helix-graph (.+)`$", page, re.MULTILINE) == list(COMMANDS)


def test_the_readme_has_exactly_two_set_up_commands() -> None:
    page = (ROOT / "README.md").read_text(encoding="utf-8")
    found = [line for line in page.splitlines() if "venv" in line]
    assert [line.rpartition("/")[2] for line in found] == ["helix-graph demo", "pytest -q -n 2"]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_between_pages_lead_somewhere(page: Path) -> None:
    links = re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8"))
    assert [link for link in links if not (page.parent / link).exists()] == []


def test_some_examples_run() -> None:
    assert sum(len(EXAMPLES.findall(page.read_text(encoding="utf-8"))) for page in PAGES) >= 5


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_examples_print_what_the_page_says(page: Path, demo_memory: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert refreshed(text, demo_memory) == text, "the output has changed: if rightly so, run python tests/test_docs.py"


@pytest.fixture(scope="module")
def demo_memory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_demo_memory(tmp_path_factory.mktemp("demo"))


def make_demo_memory(folder: Path) -> Path:
    told("demo", "--keep", str(folder))
    return folder / ".helix"


def told(*arguments: str, **environment: str) -> str:
    """What the command prints."""
    command = [sys.executable, "-m", "helix_cli", *arguments]
    return subprocess.run(command, capture_output=True, check=True, text=True, env={**os.environ, **environment}).stdout


def refreshed(text: str, memory: Path) -> str:
    """A page with what its examples print now."""
    return EXAMPLES.sub(lambda found: f"{found[1]}{''.join(transcript(found[2], memory))}```", text)


def transcript(block: str, memory: Path) -> Iterator[str]:
    for command in re.findall(r"^\$ (.*)$", block, re.MULTILINE):
        program, *arguments = shlex.split(command)
        assert program == "helix-graph"
        yield f"$ {command}\n{told(*arguments, HELIX_DIR=str(memory)).rstrip()}\n"


def write_examples() -> None:
    """Bring the examples of all pages up to date."""
    with tempfile.TemporaryDirectory() as folder:
        memory = make_demo_memory(Path(folder))
        for page in PAGES:
            before = page.read_text(encoding="utf-8")
            after = refreshed(before, memory)
            if after != before:
                page.write_text(after, encoding="utf-8")


if __name__ == "__main__":
    write_examples()
