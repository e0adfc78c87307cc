"""Go on, try another way, or ask for help? And does the count outlive the process?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from helix_episodes.errors import InvalidArgument
from plan_world import NotedInsights, plans_in

if TYPE_CHECKING:
    from pathlib import Path

GOAL = "Make the login test pass"


def test_the_same_way_again_and_again_ends_in_escalation(tmp_path: Path) -> None:
    said = [plans_in(tmp_path).assess(GOAL, "Mock the database") for _ in range(6)]  # each anew, as after a restart
    assert [one.recommendation for one in said] == ["continue", "continue", "pivot", "pivot", "escalate", "escalate"]
    assert [one.attempts for one in said] == [1, 2, 3, 4, 5, 6]
    assert said[2].reason == "the same approach 3 times in a row"


def test_ever_other_ways_end_in_escalation_too(tmp_path: Path) -> None:
    plans = plans_in(tmp_path)
    ways = ["Mock the database", "Start a container", "Skip migrations", "Freeze the clock", "Patch the session"]
    assert [plans.assess(GOAL, way).recommendation for way in ways] == ["continue"] * 4 + ["escalate"]


def test_the_same_way_in_other_words_is_the_same_way(tmp_path: Path) -> None:
    plans = plans_in(tmp_path)
    said = [
        plans.assess(GOAL, way)
        for way in ("Mock the database", "mock the whole database", "We should mock the DATABASE")
    ]
    assert said[-1].recommendation == "pivot"


def test_the_same_way_is_known_in_a_language_without_blanks_between_words(tmp_path: Path) -> None:
    plans = plans_in(tmp_path)
    said = [plans.assess(GOAL, way) for way in ("模拟整个数据库连接", "模拟数据库连接", "用模拟数据库连接")]
    assert [one.recommendation for one in said] == ["continue", "continue", "pivot"]


def test_objectives_are_counted_apart(tmp_path: Path) -> None:
    plans = plans_in(tmp_path)
    for _ in range(4):
        plans.assess(GOAL, "Mock the database")
    assert plans.assess("Make the logout test pass", "Mock the database").attempts == 1
    assert plans.assess(f"  {GOAL.upper()} ", "Mock the database").attempts == 5


def test_long_objectives_that_begin_alike_are_counted_apart(tmp_path: Path) -> None:
    plans = plans_in(tmp_path)
    plans.assess("x" * 100 + " one", "Mock the database")
    assert plans.assess("x" * 100 + " two", "Mock the database").attempts == 1


def test_a_known_failure_of_this_way_says_pivot_at_once_and_to_what(tmp_path: Path) -> None:
    texts = [
        ("mocked", "Mocking is no help: to mock the database hides that the migration is missing"),
        ("container", "A container with the real schema finds what fakes hide"),
    ]
    insights = NotedInsights(*texts, tags={"mocked": ["failure"], "container": ["pattern"]})
    found = plans_in(tmp_path, insights).assess(GOAL, "Mock the database")
    assert found.recommendation == "pivot"
    assert "mock the database" in found.reason
    assert found.suggested_pivot == texts[1][1]


def test_a_failure_that_shares_less_than_half_of_the_words_is_none_of_this_way(tmp_path: Path) -> None:
    insights = NotedInsights(("mocked", "To mock the database hides the rest"), tags={"mocked": ["failure"]})
    approach = "Mock the billing service of a remote database server"
    assert plans_in(tmp_path, insights).assess(GOAL, approach).recommendation == "continue"


@pytest.mark.parametrize("approach", ["Use a lock", "Add a user"])
def test_parts_of_words_and_words_without_meaning_say_nothing(approach: str, tmp_path: Path) -> None:
    insights = NotedInsights(("clock", "A clock that is used by users may be blocked"), tags={"clock": ["failure"]})
    assert plans_in(tmp_path, insights).assess(GOAL, approach).recommendation == "continue"


def test_reaching_the_objective_ends_the_count(tmp_path: Path) -> None:
    plans = plans_in(tmp_path)
    plans.workspaces.create({"seq": "1", "objective": GOAL})
    for _ in range(4):
        plans.assess(GOAL, "Mock the database")
    plans.workspaces.complete(1, "it passes")
    assert plans.assess(GOAL, "Mock the database").attempts == 1


def test_an_empty_question_is_refused_and_not_counted(tmp_path: Path) -> None:
    plans = plans_in(tmp_path)
    for objective, approach in ((" ", "x"), (GOAL, "")):
        with pytest.raises(InvalidArgument):
            plans.assess(objective, approach)
    assert plans.assess(GOAL, "Mock the database").attempts == 1
