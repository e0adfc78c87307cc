"""Which runs of a check does an episode list, with what changed before, and what did each failure take?"""

from __future__ import annotations

import json
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from helix_graph import Memory
from helix_graph.graph.episode_facts import facts_of
from helix_graph.graph.model import changes_in

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from helix_episodes.model import Cost, Episode
    from session_script import Script

    Begin = Callable[..., Script]
    Extracted = Callable[[Script], Episode]

FAILS = "--- FAIL: TestTotal (0.01s)\n    cart_test.go:12: got 3\nFAIL\tshop/api\t0.1s"
PASSES = "ok  \tshop/api\t0.1s"


def cost_of(episode: Episode, content: str) -> Cost:
    (cost,) = [one.cost for one in episode.events if one.content.startswith(content) and one.cost is not None]
    return cost


def test_a_run_names_what_changed_since_the_last_run_of_its_check(script: Begin, episode_of: Extracted) -> None:
    log = script("s").prompt("Add totals").write("api/cart.go", "a\nb\n").edit("api/cart.go", "a\nb\nc", "a\nx\ny\nc")
    log = log.run("cd web && go test ./...", FAILS, code=1).edit("api/cart.go").run("go test ./...", PASSES)
    episode = episode_of(log.run("rm api/old.go").run("go test ./...", PASSES))
    assert [(run.check, run.passed, run.fresh, run.edits) for run in episode.runs] == [
        ("go test", False, True, 2),
        ("go test", True, False, 1),
        ("go test", True, True, 1),
    ]
    assert [(one.path, one.kind, one.lines) for one in episode.runs[0].changed] == [("api/cart.go", "create", 4)]
    assert [(one.path, one.kind) for one in episode.runs[2].changed] == [("api/old.go", "delete")]
    assert (episode.runs[0].directory, episode.runs[1].seconds) == ("web", 30.0)
    assert facts_of(episode).runs[0].check == "go test"
    assert changes_in(facts_of(episode).runs[0].changed) == episode.runs[0].changed


def test_an_episode_is_called_after_its_session_whatever_the_id_looks_like(
    script: Begin, episode_of: Extracted
) -> None:
    episode = episode_of(script("ses_21fc7c776ffeUx6637jfPiYstb").prompt("Add totals").run("ls"))
    assert episode.id == "episode-ses_21fc7c776ffeUx6637jfPiYstb"


def test_a_check_that_the_machine_stopped_gives_no_verdict_and_is_not_the_last_run(
    script: Begin, episode_of: Extracted
) -> None:
    log = (
        script("s")
        .prompt("Add totals")
        .edit("api/cart.go")
        .run("go test ./...", "zsh: command not found: go", code=127)
    )
    stopped, ran = episode_of(log.run("go test ./...", PASSES)).runs
    assert (stopped.passed, ran.fresh, ran.files) == (None, True, 1)


def test_a_test_written_before_what_it_tests_fails_deliberately_and_costs_nothing(
    script: Begin, episode_of: Extracted
) -> None:
    log = script("s").prompt("Add totals").write("api/cart_test.go").run("go test ./...", FAILS, code=1)
    episode = episode_of(log.edit("api/cart.go").run("go test ./...", PASSES))
    assert [run.deliberate for run in episode.runs] == [True, False]
    assert [one.cost for one in episode.events] == [None, None]


def test_a_failure_costs_what_was_done_until_its_repair_shows(script: Begin, episode_of: Extracted) -> None:
    log = script("s").prompt("Add totals").edit("api/cart.go").run("go test ./...", FAILS, code=1)
    log.at += timedelta(hours=2)  # somebody's lunch is no work
    log = log.edit("api/cart.go").edit("api/sum.go").run("go test ./...", PASSES).edit("README.md")
    cost = cost_of(episode_of(log), "go test fails")
    assert (cost.steps, cost.seconds, cost.end) == (3, 150, "repair")


def test_failures_that_are_open_at_once_share_the_steps(script: Begin, episode_of: Extracted) -> None:
    log = script("s").prompt("Add totals").edit("api/cart.go").run("go test ./...", FAILS, code=1)
    log = log.edit_fails("api/cart.go").edit("api/cart.go").run("go test ./...", PASSES)
    episode = episode_of(log)
    costs = [one.cost for one in episode.events if one.cost is not None]
    # The failed edit itself is the test's alone, its repair is shared, and the run after it is the test's again.
    assert sorted(one.steps for one in costs) == [0.5, 2.5]
    assert sum(one.seconds or 0 for one in costs) == 180


def test_what_is_never_repaired_ends_where_the_user_speaks(script: Begin, episode_of: Extracted) -> None:
    log = script("s").prompt("Lint").run("rtk bun run test", "error: unrecognized subcommand 'bun'", code=2)
    log = log.run("ls").prompt("Go on").run("ls").run("ls")
    cost = cost_of(episode_of(log), "rtk")
    assert (cost.end, cost.steps) == ("prompt", 1)


def test_a_check_that_never_started_costs_nothing_after_another_of_its_kind_has_run(
    script: Begin, episode_of: Extracted
) -> None:
    log = script("s").prompt("Fix totals").run("make test", "make: *** No rule to make target 'test'.  Stop.", code=2)
    log = log.run("ls").run("pytest -q", "3 passed in 0.10s").edit("api/cart.py").edit("api/sum.py").edit("README.md")
    cost = cost_of(episode_of(log), "make")
    assert (cost.end, cost.steps) == ("instead", 2)


def test_a_command_that_only_looks_costs_nothing_after_another_look_with_its_programs(
    script: Begin, episode_of: Extracted
) -> None:
    log = script("s").prompt("Go").run("cat -A a.ts | sed -n '1,9p'", "cat: illegal option -- A\nusage: cat", code=1)
    log = log.run("sed -n '1,9p' a.ts | cat -v", "x = 1").edit("a.ts").edit("b.ts").edit("c.ts")
    cost = cost_of(episode_of(log), "cat")
    assert (cost.end, cost.steps) == ("instead", 1)


def test_waiting_for_a_permission_is_no_cost_but_a_long_build_is(script: Begin, episode_of: Extracted) -> None:
    def late(log: Script, tool: str, arguments: dict[str, str], output: str) -> Script:
        """A call whose result comes four minutes later."""
        log.call(tool, arguments, output=output)
        at = log.at + timedelta(minutes=4)
        log.records[-1]["timestamp"], log.at = at.isoformat(), at + timedelta(seconds=30)
        return log

    log = script("s").prompt("Add totals").edit("api/cart.go").run("go test ./...", FAILS, code=1)
    log = late(log, "Edit", {"file_path": "/work/shop/api/cart.go", "old_string": "a", "new_string": "b"}, "updated")
    log = late(log, "Bash", {"command": "git diff | head -20"}, "+b")
    waited = cost_of(episode_of(late(log, "Bash", {"command": "go test ./..."}, PASSES)), "go test fails")
    assert (waited.steps, waited.end) == (3, "repair")
    assert 5 * 60 <= (waited.seconds or 0) < 7 * 60  # the tests' four minutes, none of the other two


def test_the_same_failure_again_goes_on_with_the_one_before(script: Begin, episode_of: Extracted) -> None:
    log = script("s").prompt("Add totals")
    for _ in range(3):
        log = log.edit("api/cart.go").run("go test ./...", FAILS, code=1)
    episode = episode_of(log.edit("api/cart.go").run("go test ./...", PASSES))
    assert sum(one.cost.steps for one in episode.events if one.cost) == pytest.approx(6)


def test_a_run_that_names_an_event_that_is_not_there_stops_nothing(script: Begin, tmp_path: Path) -> None:
    """A file of another maker, or an edited one: its run is counted, what it names is not."""
    memory = Memory.init(tmp_path)
    log = script("s").prompt("Make the tests pass").run("pytest", "1 failed", code=1).save(tmp_path / "s.jsonl")
    memory.extract([log])
    (path,) = memory.episodes.files()
    episode = json.loads(path.read_text())
    assert episode["runs"][0]["events"]
    episode["runs"][0]["events"] = ["e999"]
    path.write_text(json.dumps(episode))
    assert memory.graph.compile().skipped == ()
    assert [one.check for one in memory.causality.checks().checks] == ["pytest"]
    assert memory.causality.runbook() is not None
