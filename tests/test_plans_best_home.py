"""Who is given an insight that a session gives out once? The task that it fits best, of those that are known."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from helix_graph import Memory

if TYPE_CHECKING:
    from pathlib import Path

CART = "Write the parcel cart totals"
CLIENT = "Write the parcel API client with retries"
LEARNT = f"When attempting '{CLIENT}': blocked by the sandbox has no credentials"
PLAN = {"objective": "Sell parcels", "tasks": [{"objective": CART}, {"objective": CLIENT, "depends": "none"}]}


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    """A memory that knows one thing, which fits both tasks, and the second better."""
    memory = Memory.init(tmp_path)
    memory.insights.store(LEARNT, ["derived", "failure"])
    assert memory.plans.inject(CART).names
    return memory


@pytest.mark.parametrize("order", [("001", "002"), ("002", "001")])
def test_of_a_plan_the_task_that_it_was_learnt_from(order: tuple[str, str], memory: Memory) -> None:
    memory.plans.save(PLAN)
    made = {seq: memory.plans.workspaces.create(seq, session="second run") for seq in order}
    assert [one.content for one in made["002"].failures] == [LEARNT]
    assert made["001"].injected == ()


@pytest.mark.parametrize("session", [None, "s"])
def test_of_a_batch_the_task_that_it_fits_best(session: str | None, memory: Memory) -> None:
    first, second = memory.plans.batch_inject([CART, CLIENT], session=session).results
    assert (len(first.names), len(second.names)) == (0, 1)


def test_a_place_that_is_left_is_taken_by_the_next_best(memory: Memory) -> None:
    other = memory.insights.store("Write cart totals of a parcel in cents")["name"]
    first, second = memory.plans.batch_inject([CART, CLIENT], 1).results
    assert first.names == (other,)
    assert second.names[0] != other


def test_who_comes_alone_is_not_kept_waiting(memory: Memory) -> None:
    assert len(memory.plans.inject(CART, session="s").names) == 1
    memory.plans.save(PLAN)
    memory.plans.update("002", status="complete")
    assert len(memory.plans.workspaces.create("001", session="t").injected) == 1
