"""What an edit replaced: kept without secrets, and shown line by line with the remedy that it is."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from helix_cli.app import cli
from helix_episodes.model import REPLACED_LIMIT
from helix_graph import Memory
from helix_graph.issues.remedies import edit_diff
from session_script import BEGIN, Script

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from helix_episodes.model import Episode

    Extracted = Callable[[Script], Episode]

OLD = "func Total(lines []Line) int {\n\treturn lines[0].Price\n}"
NEW = "func Total(lines []Line) int {\n\treturn sum(lines)\n}"
FAILS, PASSES = "--- FAIL: TestTotal (0.01s)\n    cart_test.go:12: got 3\nFAIL\tshop/api\t0.1s", "ok  \tshop/api\t0.1s"


def replaced_in(episode: Episode) -> list[str]:
    return [one.evidence.replaced for one in episode.decisions if one.evidence]


def test_only_the_lines_that_were_replaced_are_kept(episode_of: Extracted) -> None:
    log = Script("s").prompt("Fix the total").edit("api/cart.go", old=OLD, new=NEW)
    assert replaced_in(episode_of(log)) == ["return lines[0].Price"]


def test_of_lines_taken_out_the_old_text_is_kept(episode_of: Extracted) -> None:
    log = Script("s").prompt("Clean up").edit("cart.py", old="a = 1\nprint(a)\nreturn a", new="a = 1\nreturn a")
    (decision,) = episode_of(log).decisions
    assert decision.evidence is not None
    kept = edit_diff(replaced=decision.evidence.replaced, wrote=decision.evidence.quote)
    assert kept == (" a = 1", "-print(a)", " return a")


def test_lines_added_replace_nothing(episode_of: Extracted) -> None:
    log = Script("s").prompt("Log it").edit("cart.py", old="a = 1\nreturn a", new="a = 1\nprint(a)\nreturn a")
    assert replaced_in(episode_of(log)) == [""]


def test_what_was_replaced_is_short_and_without_secrets(episode_of: Extracted) -> None:
    secret = "AKIA" + "Q7NF3XZ2TRWPLD5M"
    long = "\n".join(f"price_{number} = {number}" for number in range(60))
    log = Script("s").prompt("Clean up").edit("a.py", old=f'key = "{secret}"', new="key = load()")
    log = log.run("pytest -q", "1 passed in 0.1s").edit("b.py", old=long, new="prices = load()")
    first, last = [text for text in replaced_in(episode_of(log)) if text]
    assert secret not in first
    assert first.startswith("key = ")
    assert len(last) == REPLACED_LIMIT


def test_a_text_that_was_cut_says_nothing_of_what_lay_behind() -> None:
    found = edit_diff(replaced="a = 1\nprint(a)\nb = 2\nc = \u2026", wrote="a = 1\nb = 2\nc = 3\nd = 4")
    assert found == (" a = 1", "-print(a)", " b = 2")


@pytest.mark.everyday
def test_a_remedy_is_shown_with_the_old_and_the_new_line(tmp_path: Path) -> None:
    memory = Memory.init(tmp_path)
    logs = []
    for day in (1, 2):
        log = (
            Script(f"s{day}", begin=BEGIN + timedelta(days=day))
            .prompt("Fix the total")
            .edit("api/cart.go")
            .run("go test ./...", FAILS, code=1)
        )
        log = log.edit("api/cart.go", old=OLD, new=NEW).run("go test ./...", PASSES)
        logs.append(log.save(tmp_path / "logs"))
    memory.extract(logs)
    memory.graph.compile()
    (issue,) = memory.issues.list().issues
    assert issue.remedy is not None
    assert issue.remedy.diff == ("-return lines[0].Price", "+return sum(lines)")
    told = CliRunner().invoke(cli, ["issues", "show", issue.id], env={"HELIX_DIR": str(memory.root)})
    assert '- "return lines[0].Price"\n    + "return sum(lines)"' in told.stdout
