"""Does the help of each everyday command fit a screen of 24 rows and 80 columns, with no line cut?

The list of all commands is longer: it is read once, and by sections.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from helix_cli.app import EVERYDAY, run

if TYPE_CHECKING:
    from collections.abc import Iterator

ROWS, COLUMNS = 24, 80
PARTS = {"sessions": ("list", "show", "explain", "compare"), "insight": ("store", "recall"), "topic": ("store", "read")}


def commands() -> Iterator[str]:
    for section in EVERYDAY.values():
        for name in section:
            yield name
            yield from (f"{name} {part}" for part in PARTS.get(name, ()))


@pytest.fixture(autouse=True)
def narrow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(COLUMNS))


@pytest.mark.parametrize("command", list(commands()))
def test_the_help_fits_a_screen(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run([*command.split(), "--help"]) == 0
    rows = capsys.readouterr().out.splitlines()
    assert f"helix-graph {command}" in rows[0]
    assert len(rows) <= ROWS, len(rows)
    assert max(map(len, rows)) <= COLUMNS
    assert not any(row.endswith("...") for row in rows[1:])


def test_the_list_of_commands_is_not_cut_and_names_how_to_see_the_rest(capsys: pytest.CaptureFixture[str]) -> None:
    for asked, rest in (
        (["--help"], "helix-graph help --all"),
        (["insight", "--help"], "helix-graph help insight --all"),
    ):
        assert run(asked) == 0
        shown = capsys.readouterr().out
        assert rest in " ".join(shown.split())
        assert not any(row.endswith("...") for row in shown.splitlines()[1:])
    assert run(["help", "insight", "--all"]) == 0
    assert "consolidate" in capsys.readouterr().out


def test_the_list_of_everyday_commands_has_at_most_40_rows(capsys: pytest.CaptureFixture[str]) -> None:
    run(["--help"])
    listed = capsys.readouterr().out.splitlines()
    assert len(listed) <= 40
    run(["help", "--all"])
    assert any("--version" in row for row in capsys.readouterr().out.splitlines())
