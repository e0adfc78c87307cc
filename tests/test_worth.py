"""Would the memory have paid: what was at hand when a failure came, and was it what repaired it later?"""

from __future__ import annotations

import json
import os
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from helix_cli.app import cli
from helix_episodes.errors import InvalidArgument
from helix_graph import Memory
from session_script import BEGIN, Script

if TYPE_CHECKING:
    from pathlib import Path

    from helix_graph.worth import WayResult, WorthReport

UNFORMATTED = "src/cart.ts format ━━━\n\n  Formatter would have printed the following content:\n\nFound 1 error."
FORMATTED = "Checked 3 files in 5ms. No fixes applied."


def failing(number: int, *, fix: str) -> Script:
    log = Script(f"s{number:02}", begin=BEGIN + timedelta(days=number)).prompt("Add totals").edit("api/cart.ts")
    return log.run("biome check src", UNFORMATTED, code=1).run(fix, FORMATTED).run("biome check src", FORMATTED)


def replayed(folder: Path, fixes: list[str]) -> WorthReport:
    memory = Memory.init(folder)
    for number, fix in enumerate(fixes):
        failing(number, fix=fix).save(folder / "logs")
    memory.extract(sorted((folder / "logs").glob("*")))
    memory.graph.compile()
    return memory.worth([folder / "logs"] if fixes else [])


def way(found: WorthReport, name: str) -> WayResult:
    (one,) = [each for each in found.ways if each.way == name]
    return one


def test_only_earlier_sessions_count_and_the_later_remedy_is_recognised(tmp_path: Path) -> None:
    found = replayed(tmp_path, ["bun run lint:fix"] * 5)
    memory = way(found, "this memory")
    assert (found.sessions, found.failures, found.repaired) == (5, 5, 5)
    assert (memory.shown, memory.same, memory.other) == (4, 4, 0)
    assert memory.steps > 0
    assert memory.minutes == 8  # four times from the failing run to the passing one
    assert (way(found, "nothing").shown, way(found, "placebo").shown) == (0, 0)


def test_a_remedy_that_was_not_the_later_one_is_counted_against_it(tmp_path: Path) -> None:
    Memory.init(tmp_path)
    other = (
        Script("other", begin=BEGIN + timedelta(days=2))
        .prompt("Add totals")
        .run("biome check src", UNFORMATTED, code=1)
    )
    other.edit("biome.json").run("biome check src", FORMATTED).save(tmp_path / "logs")
    memory = way(replayed(tmp_path, ["bun run lint:fix"]), "this memory")
    assert (memory.shown, memory.same, memory.other) == (1, 0, 1)
    assert (memory.steps, memory.minutes) == (0, 0)


def test_what_the_tool_repairs_itself_is_the_same_by_another_name(tmp_path: Path) -> None:
    memory = way(replayed(tmp_path, ["bun run lint:fix", "npx biome check --write src"]), "this memory")
    assert (memory.shown, memory.same, memory.alike, memory.by_tool, memory.other) == (1, 0, 1, 1, 0)


def test_leaving_out_the_word_that_failed_is_the_same_with_another_task(tmp_path: Path) -> None:
    memory = Memory.init(tmp_path)
    for number, task in enumerate(["test", "typecheck"]):
        log = Script(f"s{number}", begin=BEGIN + timedelta(days=number)).prompt("Check it").edit("api/cart.ts")
        log = log.run(f"rtk bun run {task}", "error: unrecognized subcommand 'bun'\n\nUsage: rtk [OPTIONS]", code=2)
        memory.extract([log.run(f"bun run {task}", "ok").save(tmp_path / "logs")])
    found = way(memory.worth([tmp_path / "logs"]), "this memory")
    assert (found.shown, found.same, found.other) == (1, 1, 0)


def test_rules_of_the_earlier_half_are_held_against_the_later_half(tmp_path: Path) -> None:
    rules = replayed(tmp_path, ["bun run lint:fix"] * 8).rules
    assert rules.rules == ("Run `bun run lint:fix` after you change files.",)
    assert (rules.covered, rules.failures) == (4, 4)
    assert rules.steps > 0


@pytest.mark.slow
def test_a_rule_that_was_there_already_was_not_to_be_learnt(tmp_path: Path) -> None:
    (tmp_path / "AGENTS.md").write_text("- Run `bun run lint:fix` after you change files.\n")
    os.utime(tmp_path / "AGENTS.md", (BEGIN.timestamp(), BEGIN.timestamp()))
    assert replayed(tmp_path, ["bun run lint:fix"] * 8).rules.rules == ()


def test_logs_that_are_not_there_are_an_error(tmp_path: Path) -> None:
    with pytest.raises(InvalidArgument, match="gone does not exist"):
        Memory.init(tmp_path).worth([tmp_path / "gone"])


@pytest.mark.slow
def test_the_command_says_that_it_is_an_upper_bound(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    replayed(tmp_path, ["bun run lint:fix"] * 3)
    monkeypatch.chdir(tmp_path)
    shown = CliRunner().invoke(cli, ["worth", "--logs", "logs"]).output
    assert "3 failures in 3 sessions" in shown
    assert "upper bound" in shown
    answer = json.loads(CliRunner().invoke(cli, ["worth", "--logs", "logs", "--json"]).output)
    assert next(one["way"] for one in answer["ways"]) == "this memory"


def test_a_memory_without_sessions_has_nothing_to_replay(tmp_path: Path) -> None:
    found = replayed(tmp_path, [])
    assert (found.sessions, found.failures, found.rules.rules) == (0, 0, ())
