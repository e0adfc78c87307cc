"""Is the documentation true: every command and option in it, every example as printed, every link leading somewhere?

Run as a program, this file writes what the examples print now, and the help of the commands, into the pages.
"""

from __future__ import annotations

import io
import re
import shlex
import tempfile
from contextlib import redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING

import click
import pytest
from click.testing import CliRunner

from command_reference import reference, with_reference
from demo_logs import demo_memory_in
from helix_cli.app import cli, run

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
    if path and command.invoke_without_command:
        yield path, command
    context = click.Context(command)
    for name in command.list_commands(context):
        below = command.get_command(context, name)
        assert below is not None
        yield from leaves(below, f"{path} {name}".strip())


def once(found: Iterator[tuple[str, click.Command]]) -> dict[str, click.Command]:
    """Commands under the first of their names."""
    known: dict[int, str] = {}
    return {name: command for name, command in found if known.setdefault(id(command), name) == name}


COMMANDS = once(leaves(cli))


def section(name: str) -> str:
    """What docs/reference/cli.md says about a command: from its heading to the next."""
    page = (ROOT / "docs" / "reference" / "cli.md").read_text(encoding="utf-8")
    found = re.search(rf"^## `helix-graph {re.escape(name)}`\n(.*?)(?=^## |\Z)", page, re.DOTALL | re.MULTILINE)
    return found[1] if found else ""


def test_every_command_has_a_section_with_its_help() -> None:
    assert [name for name in COMMANDS if not section(name)] == [], "docs/reference/cli.md has no section for them"
    assert [name for name, command in COMMANDS.items() if reference(name, command) not in section(name)] == [], (
        "their help has changed: run python tests/test_docs.py"
    )


def test_every_command_and_option_has_help() -> None:
    assert [name for name, command in COMMANDS.items() if not command.help] == []
    options = [
        (name, one) for name, command in COMMANDS.items() for one in command.params if isinstance(one, click.Option)
    ]
    assert options
    assert [(name, option.name) for name, option in options if not option.help] == []


def test_help_lines_fit_80_columns() -> None:
    shown = [
        CliRunner().invoke(cli, ["help", *name.split()], terminal_width=80).output for name in ("--all", "insight")
    ]
    assert "sync" in shown[0]
    assert [
        line
        for text in shown
        for line in text.splitlines()
        if len(line) > 78 or (line.endswith("...") and "Usage" not in line)
    ] == []


def test_every_command_answers_programs() -> None:
    others = COMMANDS.keys() - {"mcp", "hook", "help"}  # which speak protocols of their own, or to people only
    assert others
    assert [one for one in others if not any("--json" in parameter.opts for parameter in COMMANDS[one].params)] == []


def test_no_section_describes_a_command_that_is_gone() -> None:
    page = (ROOT / "docs" / "reference" / "cli.md").read_text(encoding="utf-8")
    assert sorted(re.findall(r"^## `helix-graph (.+)`$", page, re.MULTILINE)) == sorted(COMMANDS)


def test_the_readme_has_exactly_two_set_up_commands() -> None:
    page = (ROOT / "README.md").read_text(encoding="utf-8")
    found = [line for line in page.splitlines() if "venv" in line]
    assert [line.rpartition("/")[2] for line in found] == ["helix-graph demo", "pytest -q -n 2"]


def test_links_between_pages_lead_somewhere() -> None:
    links = [
        (page, link)
        for page in PAGES
        for link in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8"))
    ]
    assert links
    assert [(page.name, link) for page, link in links if not (page.parent / link).exists()] == []


SHOWING = [page for page in PAGES if EXAMPLES.search(page.read_text(encoding="utf-8"))]


def test_tests_that_a_page_names_are_there() -> None:
    files = {path.name: path.read_text(encoding="utf-8") for path in ROOT.glob("tests/**/test_*.py")}
    missing = []
    for page in PAGES:
        named = re.findall(r"`(?:tests/(?:\w+/)?)?(test_\w+\.py|…)(?:::(test_\w+))?", page.read_text(encoding="utf-8"))
        for file, name in named:
            places = files.values() if file == "…" else [files.get(file, "")]
            if not any((f"def {name}(" if name else "\n") in text for text in places):
                missing.append((page.name, file, name))
    assert missing == []


def test_some_examples_run() -> None:
    assert sum(len(EXAMPLES.findall(page.read_text(encoding="utf-8"))) for page in SHOWING) >= 5


@pytest.mark.slow
@pytest.mark.parametrize("page", SHOWING, ids=lambda page: str(page.relative_to(ROOT)))
def test_examples_print_what_the_page_says(page: Path, demo_memory: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert refreshed(text, demo_memory) == text, "the output has changed: if rightly so, run python tests/test_docs.py"


@pytest.fixture(scope="module")
def demo_memory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_demo_memory(tmp_path_factory.mktemp("demo"))


def make_demo_memory(folder: Path) -> Path:
    return demo_memory_in(folder / ".helix").root


def told(*arguments: str, **environment: str) -> str:
    """What the command prints."""
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(io.StringIO()) as printed:
        for name, value in environment.items():
            patch.setenv(name, value)
        assert run(arguments) == 0, arguments
    return printed.getvalue()


def refreshed(text: str, memory: Path) -> str:
    """A page with what its examples print now."""
    return EXAMPLES.sub(lambda found: f"{found[1]}{''.join(transcript(found[2], memory))}```", text)


def transcript(block: str, memory: Path) -> Iterator[str]:
    for command in re.findall(r"^\$ (.*)$", block, re.MULTILINE):
        program, *arguments = shlex.split(command)
        assert program == "helix-graph"
        yield f"$ {command}\n{told(*arguments, HELIX_DIR=str(memory)).rstrip()}\n"


def write_reference() -> None:
    """Bring what the page of commands has from their help up to date."""
    page = ROOT / "docs" / "reference" / "cli.md"
    text = page.read_text(encoding="utf-8")
    for name, command in COMMANDS.items():
        text = with_reference(text, name, command)
    page.write_text(text, encoding="utf-8")


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
    write_reference()
    write_examples()
