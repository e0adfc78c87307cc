"""Who is done? Told from the files of this wave alone, whatever else stands in them."""

from __future__ import annotations

import json
import os
import threading
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from helix_episodes.errors import InvalidArgument
from helix_graph.errors import OutOfRange
from plan_world import plans_in

if TYPE_CHECKING:
    from pathlib import Path

NOW = datetime.now(UTC)


def told(root: Path, *entries: object) -> None:
    lines = (one if isinstance(one, str) else json.dumps(one) for one in entries)
    with (root / "task-status.jsonl").open("a") as file:
        file.writelines(f"{line}\n" for line in lines)


def entry(task: Any, outcome: str = "delivered", *, after: float = 0.0, **more: object) -> dict[str, object]:  # noqa: ANN401  (JSON)
    return {"task_id": task, "outcome": outcome, "ts": (NOW + timedelta(seconds=after)).isoformat(), **more}


def found_by(root: Path, name: str, value: object, *, age: float = 0.0) -> Path:
    folder = root / "explorer-results"
    folder.mkdir(exist_ok=True)
    path = folder / f"{name}.json"
    path.write_text(value if isinstance(value, str) else json.dumps(value))
    at = datetime.now(UTC).timestamp() - age
    os.utime(path, (at, at))
    return path


def test_a_wave_of_builders_is_told_by_outcome_in_the_order_asked(tmp_path: Path) -> None:
    told(
        tmp_path,
        entry("3", "crashed"),
        entry("2", "blocked", summary="no stock"),
        entry("1", insight="cents, not floats"),
        entry("4", "plan_complete"),
        entry("5", "unknown"),
        entry("6"),
    )
    found = plans_in(tmp_path).wait_builders(["6", "1", "2", "3", "4", "5"], timeout=0)
    assert (found.completed, found.count, found.all_delivered, found.insights_emitted) == (True, 6, False, 1)
    by_outcome = [found.delivered, found.blocked, found.crashed, found.plan_complete, found.unknown]
    assert [[one["task_id"] for one in group or ()] for group in by_outcome] == [["6", "1"], ["2"], ["3"], ["4"], ["5"]]
    assert found.blocked == [entry("2", "blocked", summary="no stock")]
    assert not found.succeeded


def test_who_is_missing_is_told_in_the_order_asked(tmp_path: Path) -> None:
    told(tmp_path, entry("2"))
    found = plans_in(tmp_path).wait_builders(["3", "2", "1", "3", ""], timeout=0)
    assert (found.completed, found.timed_out) == (False, True)
    assert (found.found, found.missing, found.expected) == (["2"], ["3", "1"], ["3", "2", "1"])


def test_odd_lines_are_skipped_and_the_last_line_counts(tmp_path: Path) -> None:
    told(
        tmp_path,
        entry("1", "blocked"),
        "no json",
        "[1, 2]",
        "null",
        '"text"',
        entry("1"),
        {"outcome": "x"},
        '{"task_id": "1"',
    )
    assert plans_in(tmp_path).wait_builders(["1"], timeout=0).all_delivered


def test_an_id_that_is_a_number_is_met(tmp_path: Path) -> None:
    told(tmp_path, entry(7))
    assert plans_in(tmp_path).wait_builders(["7"], timeout=0).completed


def test_only_what_ended_since_the_task_was_given_its_insights_counts(tmp_path: Path) -> None:
    plans = plans_in(tmp_path)
    told(tmp_path, entry("t1", "blocked", after=-3600))
    assert plans.wait_builders(["t1"], timeout=0).completed
    plans.inject("Build the cart", task_id="t1")  # another attempt under the same id
    assert plans.wait_builders(["t1"], timeout=0).missing == ["t1"]
    told(tmp_path, entry("t1", after=3600))
    assert plans.wait_builders(["t1"], timeout=0).all_delivered


def test_a_start_can_be_told(tmp_path: Path) -> None:
    told(tmp_path, entry("1", after=-60), {"task_id": "2", "outcome": "delivered"}, entry("3", after=60))
    found = plans_in(tmp_path).wait_builders(["1", "2", "3"], timeout=0, since=NOW)
    assert found.found == ["3"]


def test_a_line_that_comes_while_waiting_is_seen(tmp_path: Path) -> None:
    timer = threading.Timer(0.2, told, (tmp_path, entry("1")))
    timer.start()
    assert plans_in(tmp_path).wait_builders(["1"], timeout=30, poll_interval=0.02).completed


def test_a_wave_of_explorers_tells_each_finding_once(tmp_path: Path) -> None:
    found_by(
        tmp_path,
        "b",
        {"status": "ok", "findings": [{"file": "cart.py", "what": "again"}, "loose", {"what": "no file"}]},
    )
    found_by(tmp_path, "a", {"findings": [{"file": "cart.py", "what": "first"}]})
    found_by(tmp_path, "c", {"findings": "not a list"})
    found = plans_in(tmp_path).wait_explorers(3, timeout=0)
    assert (found.completed, found.count, found.errors) == (True, 3, None)
    assert found.findings == [{"file": "cart.py", "what": "first"}, "loose", {"what": "no file"}]


def test_too_few_explorers_time_out_with_what_there_is(tmp_path: Path) -> None:
    found_by(tmp_path, "a", {"findings": [1, 1]})
    found = plans_in(tmp_path).wait_explorers(2, timeout=0)
    assert (found.completed, found.timed_out, found.count, found.expected, found.findings) == (False, True, 1, 2, [1])


@pytest.mark.parametrize("half", ["", '{"findings": ['], ids=["empty", "begun"])
def test_a_half_written_file_is_looked_at_again_however_long_it_stays_so(half: str, tmp_path: Path) -> None:
    path = found_by(tmp_path, "a", half)
    timer = threading.Timer(0.3, path.write_text, (json.dumps({"findings": ["one"]}),))
    timer.start()
    found = plans_in(tmp_path).wait_explorers(1, timeout=30, poll_interval=0.02)
    assert (found.completed, found.errors, found.findings) == (True, None, ["one"])


def test_a_file_that_is_no_json_when_the_time_is_over_is_named(tmp_path: Path) -> None:
    found_by(tmp_path, "a", '{"findings": [')
    found_by(tmp_path, "c", {"findings": ["one"]})
    for timeout in (0, 0.1):
        found = plans_in(tmp_path).wait_explorers(2, timeout=timeout, poll_interval=0.02)
        assert (found.completed, found.timed_out, found.count, found.findings) == (False, True, 1, ["one"])
        assert [error.split(":")[0] for error in found.errors or ()] == ["a.json"]
        assert not found.succeeded


def test_one_more_explorer_than_is_waited_for_may_still_be_writing(tmp_path: Path) -> None:
    found_by(tmp_path, "a", '{"findings": [')
    found_by(tmp_path, "b", {"findings": ["one"]})
    found = plans_in(tmp_path).wait_explorers(1, timeout=0)
    assert (found.completed, found.findings, found.errors) == (True, ["one"], None)


def test_json_that_is_no_object_is_an_error_of_its_explorer(tmp_path: Path) -> None:
    found_by(tmp_path, "b", "[]")
    found_by(tmp_path, "c", {"findings": ["one"]})
    found = plans_in(tmp_path).wait_explorers(2, timeout=0)
    assert (found.completed, found.count, found.findings, found.succeeded) == (True, 2, ["one"], False)
    assert found.errors == ["b.json: no JSON object"]


def test_results_of_an_earlier_wave_do_not_count(tmp_path: Path) -> None:
    plans = plans_in(tmp_path)
    found_by(tmp_path, "old", {"findings": ["old"]}, age=60)
    assert plans.wait_explorers(1, timeout=0).completed
    plans.explorations.save({"objective": "x"})
    assert not plans.wait_explorers(1, timeout=0).completed
    found_by(tmp_path, "new", {"findings": ["new"]})
    assert plans.wait_explorers(1, timeout=0).findings == ["new"]
    assert plans.wait_explorers(2, timeout=0, since=NOW - timedelta(hours=1)).completed
    assert plans.wait_explorers(1, timeout=0, since=NOW - timedelta(hours=1), agent_ids=["old"]).findings == ["old"]


def test_a_pipe_in_a_files_place_keeps_nobody_waiting(tmp_path: Path) -> None:
    (tmp_path / "explorer-results").mkdir()
    os.mkfifo(tmp_path / "explorer-results" / "a.json")
    os.mkfifo(tmp_path / "task-status.jsonl")
    plans = plans_in(tmp_path)
    assert plans.wait_explorers(1, timeout=0).errors == ["a.json: it is a named pipe, not a regular file"]
    assert plans.wait_builders(["1"], timeout=0).timed_out


@pytest.mark.parametrize("seconds", [-1, 1e9, float("nan"), float("inf")])
def test_times_out_of_range_are_refused(seconds: float, tmp_path: Path) -> None:
    with pytest.raises(OutOfRange):
        plans_in(tmp_path).wait_builders(["1"], timeout=seconds)
    with pytest.raises(OutOfRange):
        plans_in(tmp_path).wait_explorers(1, timeout=0, poll_interval=seconds)


def test_waiting_for_nobody_or_elsewhere_is_refused(tmp_path: Path) -> None:
    plans = plans_in(tmp_path)
    with pytest.raises(InvalidArgument):
        plans.wait_builders(["", " "], timeout=0)
    with pytest.raises(OutOfRange):
        plans.wait_explorers(0, timeout=0)
    with pytest.raises(InvalidArgument):
        plans.wait_explorers(1, timeout=0, agent_ids=["../x"])
