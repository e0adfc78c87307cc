"""Which plans are kept, which are refused and why, which tasks are ready, and when is a plan stuck?"""

from __future__ import annotations

import copy
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest

from helix_episodes.errors import NotFound
from helix_graph.errors import NotOneOf
from helix_graph.plans.model import InvalidPlan, PlanError
from plan_world import SHOES, plans_in

if TYPE_CHECKING:
    from pathlib import Path


def chain(**statuses: str) -> dict[str, Any]:
    """Four tasks, each after the one before, and one by itself."""
    waits = {"a": "none", "b": "a", "c": "b", "d": "c", "e": "none"}
    tasks = [
        {"seq": seq, "objective": f"do {seq}", "depends": depends, "status": statuses.get(seq, "pending")}
        for seq, depends in waits.items()
    ]
    return {"objective": "all", "tasks": tasks}


def test_a_plan_comes_back_as_it_was_saved(tmp_path: Path) -> None:
    plans = plans_in(tmp_path)
    saved = plans.save(SHOES)
    plan = plans.load()
    assert (saved.id, saved.task_count) == (1, 3)
    assert plan is not None
    assert (plan.objective, plan.framework, plan.status) == ("Sell shoes", "fastapi", "active")
    assert plan.idioms["forbidden"] == ("Store passwords in plain text",)
    assert [(task.seq, task.slug, task.budget, task.depends) for task in plan.tasks] == [
        ("001", "cart", 7, "none"),
        ("002", "till", 7, "none"),
        ("003", "shop", 5, "001,002"),
    ]


def test_what_a_task_leaves_out_is_filled_in(tmp_path: Path) -> None:
    plans = plans_in(tmp_path)
    plans.save({"objective": "x", "tasks": [{"objective": "Implement JWT authentication!"}, {"objective": "測試"}]})
    plan = plans.load()
    assert plan is not None
    assert [(task.seq, task.slug, task.status) for task in plan.tasks] == [
        ("001", "implement-jwt-authentication", "pending"),
        ("002", "task-2", "pending"),
    ]


@pytest.mark.parametrize(
    ("place", "change", "named"),
    [
        (0, {"depends": "003"}, "Cycle detected: "),
        (0, {"depends": "001"}, "Cycle detected: 001 -> 001"),
        (1, {"depends": "001,009"}, "tasks[1].depends: task 002 waits for '009'"),
        (2, {"seq": "001"}, "tasks[2].seq: '001' is the number of tasks[0] already"),
        (1, {"seq": "../../escape"}, "tasks[1].seq: '../../escape'"),
        (1, {"seq": "none"}, "tasks[1].seq"),
        (1, {"depend": "001"}, "tasks[1]: 'depend': no such field"),
        (1, {"budget": 0}, "tasks[1].budget"),
        (1, {"budget": "7"}, "tasks[1].budget"),
        (1, {"delta": 3}, "tasks[1].delta"),
        (1, {"status": "done"}, "tasks[1].status"),
        (1, {"objective": " "}, "tasks[1].objective"),
        (1, {"objective": "a\x1b[31m"}, "tasks[1].objective"),
        (1, {"depends": {"a": 1}}, "tasks[1].depends"),
    ],
    ids=str,
)
def test_a_plan_that_cannot_be_carried_out_is_refused_and_the_part_is_named(
    place: int, change: dict[str, Any], named: str, tmp_path: Path
) -> None:
    plan = copy.deepcopy(SHOES)
    plan["tasks"][place] |= change
    plans = plans_in(tmp_path)
    with pytest.raises(InvalidPlan) as refused:
        plans.save(plan)
    assert named in str(refused.value)
    assert plans.load() is None


@pytest.mark.parametrize(
    "given", [{}, {"objective": "x"}, {"objective": "x", "tasks": []}, {"tasks": [{"objective": "x"}]}, []]
)
def test_what_is_no_plan_is_refused(given: Any, tmp_path: Path) -> None:  # noqa: ANN401  (what it must refuse)
    with pytest.raises(InvalidPlan):
        plans_in(tmp_path).save(given)


def test_a_circle_is_named_the_same_way_every_time(tmp_path: Path) -> None:
    plan = {"objective": "x", "tasks": [{"seq": s, "objective": s, "depends": d} for s, d in ("ab", "bc", "ca")]}
    said = set()
    for _ in range(3):
        with pytest.raises(InvalidPlan) as refused:
            plans_in(tmp_path).save(plan)
        said.add(str(refused.value))
    assert len(said) == 1
    assert "a -> " in said.pop()


def test_ready_tasks_are_those_whose_parents_are_complete(tmp_path: Path) -> None:
    plans = plans_in(tmp_path)
    plans.save(SHOES)
    assert [task.seq for task in plans.ready()] == ["001", "002"]
    plans.update("001", status="complete", delivered="a cart")
    assert [task.seq for task in plans.ready()] == ["002"]
    plans.update("002", status="complete")
    assert [task.seq for task in plans.ready()] == ["003"]


def test_waves_are_generations(tmp_path: Path) -> None:
    plans = plans_in(tmp_path)
    plans.save(chain())
    assert plans.waves() == (("a", "e"), ("b",), ("c",), ("d",))


@pytest.mark.parametrize(
    ("statuses", "state", "unreachable"),
    [
        ({}, "in_progress", []),
        ({"a": "active", "e": "complete"}, "in_progress", []),
        ({"a": "blocked"}, "in_progress", ["b", "c", "d"]),
        ({"a": "blocked", "e": "complete"}, "stuck", ["b", "c", "d"]),
        ({"a": "complete", "b": "blocked", "e": "complete"}, "stuck", ["c", "d"]),
        ({"a": "blocked", "e": "active"}, "in_progress", ["b", "c", "d"]),
        (dict.fromkeys("abcde", "complete"), "complete", []),
        (dict.fromkeys("abcde", "blocked"), "all_blocked", []),
        ({**dict.fromkeys("abcd", "complete"), "e": "blocked"}, "all_blocked", []),
    ],
    ids=str,
)
def test_status_tells_waiting_from_stuck(
    statuses: dict[str, str], state: str, unreachable: list[str], tmp_path: Path
) -> None:
    plans = plans_in(tmp_path)
    plans.save(chain(**statuses))
    found = plans.status()
    assert (found.state, [one.seq for one in found.unreachable]) == (state, unreachable)
    assert found.stalled == (state in {"stuck", "all_blocked"})
    assert all(one.blocked_by == (next(s for s in statuses if statuses[s] == "blocked"),) for one in found.unreachable)


def test_a_stalled_plan_says_why(tmp_path: Path) -> None:
    plans = plans_in(tmp_path)
    plans.save(chain(e="complete"))
    plans.update("a", status="blocked", blocked_reason="no network")
    assert plans.status().reason == "blocked: a (no network); b, c, d wait for them"


def test_the_newest_active_plan_counts_until_it_is_closed(tmp_path: Path) -> None:
    plans = plans_in(tmp_path)
    plans.save(SHOES)
    plans.save(chain())
    assert plans.load().id == 2  # type: ignore[union-attr]  # there is one
    closed = plans.complete()
    assert (closed.plan_id, closed.unfinished) == (2, ("a", "b", "c", "d", "e"))
    assert plans.load().id == 1  # type: ignore[union-attr]  # as above


def test_without_a_plan_nothing_is_ready(tmp_path: Path) -> None:
    plans = plans_in(tmp_path)
    assert (plans.load(), plans.ready(), plans.waves(), plans.status().state) == (None, (), (), "none")


def test_what_is_not_there_is_named(tmp_path: Path) -> None:
    plans = plans_in(tmp_path)
    with pytest.raises(NotFound, match="no plan is active"):
        plans.update("001", status="active")
    with pytest.raises(NotFound, match="no plan 7"):
        plans.load(7)
    plans.save(SHOES)
    with pytest.raises(NotFound, match="it has 001, 002, 003"):
        plans.update("009", status="active")
    with pytest.raises(NotOneOf, match="pending, active"):
        plans.update("001", status="done")


def changed_on_the_disk(path: Path, before: bytes, after: bytes) -> None:
    """Changes bytes in the file itself, which runs no trigger."""
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    whole = path.read_bytes()
    assert whole.count(before) == 1
    path.write_bytes(whole.replace(before, after))


@pytest.mark.parametrize(
    ("before", "after"),
    [(b"shop/cart.py", b"shop/card.py"), (b"Ship the parcels", b"Skip the parcels"), (b"shop/cart", b"shop/\xffart")],
)
def test_an_exploration_that_the_disk_changed_is_not_read(tmp_path: Path, before: bytes, after: bytes) -> None:
    explorations = plans_in(tmp_path).explorations
    explorations.save({"targets": ["shop/cart.py"]}, objective="Ship the parcels")
    changed_on_the_disk(explorations.root / "helix.db", before, after)
    assert explorations.unreadable() == [1]
    with pytest.raises(PlanError, match="exploration 1 is not what was saved; explore again"):
        explorations.load()
    explorations.save({"targets": ["shop/cart.py"]}, objective="Ship them again")
    newest = explorations.load()
    assert newest is not None
    assert newest.id == 2


def test_what_another_program_writes_into_an_exploration_is_read(tmp_path: Path) -> None:
    explorations = plans_in(tmp_path).explorations
    explorations.save({"targets": []}, objective="Ship the parcels")
    with closing(sqlite3.connect(explorations.root / "helix.db")) as connection, connection:
        connection.execute("UPDATE exploration SET data = ?", ('{"targets":["shop/cart.py"]}',))
    assert explorations.unreadable() == []
    newest = explorations.load()
    assert newest is not None
    assert newest.data == {"targets": ["shop/cart.py"]}


def test_explorations_come_back_and_go(tmp_path: Path) -> None:
    explorations = plans_in(tmp_path).explorations
    assert explorations.load() is None
    explorations.save({"objective": "old", "targets": []})
    explorations.save(
        {"targets": ["shop/cart.py"], "note": "token=ghp_0123456789abcdefghijABCDEFGHIJ012345"}, objective="new"
    )
    newest = explorations.load()
    assert newest is not None
    assert (newest.objective, newest.data["targets"]) == ("new", ["shop/cart.py"])
    assert "ghp_" not in str(newest.data)
    (tmp_path / "explorer-results").mkdir()
    (tmp_path / "explorer-results" / "one.json").write_text("{}")
    cleared = explorations.clear()
    assert (cleared.explorations, cleared.results) == (2, 1)
    assert explorations.load() is None


@pytest.mark.parametrize("part", ["/etc/passwd", "../../x", "src/../../etc", "src/../lib", "C:\\shop", "..\\x", ".."])
def test_a_delta_that_can_name_no_file_of_the_tree_is_refused_by_its_place(part: str, tmp_path: Path) -> None:
    tasks = [{"objective": "a", "delta": ["src"]}, {"objective": "b", "delta": ["src/a.py", part]}]
    with pytest.raises(InvalidPlan) as refused:
        plans_in(tmp_path).save({"objective": "x", "tasks": tasks})
    assert refused.value.where == "tasks[1].delta[1]"
    assert repr(part) in str(refused.value)
    with pytest.raises(InvalidPlan, match=r"delta\[0\]"):
        plans_in(tmp_path).workspaces.create({"objective": "b", "delta": part})
