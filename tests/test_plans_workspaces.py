"""What is a builder given, and what happens when its work ends: once, whoever says so and however often?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from helix_episodes.errors import InvalidArgument, NotFound, WriteFailed
from helix_graph import Memory
from helix_graph.errors import InvalidConfiguration
from helix_graph.plans.model import InvalidPlan, PlanError
from plan_world import SHOES, Handed, NotedInsights, plans_in

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from helix_graph.plans.api import Plans


@pytest.fixture
def insights() -> NotedInsights:
    texts = [("mind-the-gap", "Carts overflow without a limit"), ("use-totals", "Sum in cents, never in floats")]
    return NotedInsights(*texts, tags={"mind-the-gap": ["failure", "shop"], "use-totals": ["pattern"]})


def test_a_workspace_has_the_seeds_parts(tmp_path: Path, insights: NotedInsights) -> None:
    plans = plans_in(tmp_path, insights)
    plans.save(SHOES)
    made = plans.workspaces.create("001")
    assert (made.task_seq, made.task_slug, made.objective) == ("001", "cart", "Build the cart")
    assert (made.delta, made.verify, made.budget, made.framework) == (("shop/cart.py",), "pytest -q", 7, "fastapi")
    assert made.idioms == {"required": ("Use Depends() for auth",), "forbidden": ("Store passwords in plain text",)}
    assert [one.name for one in made.failures] == ["mind-the-gap"]
    assert [one.name for one in made.patterns] == ["use-totals"]
    assert made.injected == ("mind-the-gap", "use-totals")
    assert plans.workspaces.get(made.id) == made
    assert plans.status().active == 1


def test_its_lineage_is_what_completed_parents_delivered(tmp_path: Path) -> None:
    plans = plans_in(tmp_path)
    plans.save(SHOES)
    for seq in ("001", "002"):
        plans.workspaces.create(seq)
    plans.workspaces.complete(1, "a cart with a limit")
    early = plans.workspaces.create("003")
    assert [(one.seq, one.slug, one.delivered) for one in early.lineage.parents] == [
        ("001", "cart", "a cart with a limit")
    ]
    plans.workspaces.block(2, "no drawer")
    assert len(plans.workspaces.create("003").lineage.parents) == 1


def test_every_attempt_has_an_id_of_its_own(tmp_path: Path) -> None:
    plans = plans_in(tmp_path)
    plans.save(SHOES)
    assert [plans.workspaces.create("001").task_id for _ in range(2)] == ["001-w1", "001-w2"]


def test_completing_tells_plan_insights_and_episodes(tmp_path: Path, insights: NotedInsights) -> None:
    plans = plans_in(tmp_path, insights)
    plans.save(SHOES)
    plans.workspaces.create("001")
    with pytest.raises(InvalidArgument, match="'use-total' was not shown; did you mean 'use-totals'"):
        plans.workspaces.complete(1, "a cart", ["use-total"])
    assert insights.fed == {}, "a misspelt name moves nothing"
    ended = plans.workspaces.complete(1, "a cart", ["use-totals"])
    assert (ended.status, ended.utilized) == ("complete", ("use-totals",))
    assert insights.fed == {"workspace-1": (["mind-the-gap", "use-totals"], "delivered", ["use-totals"])}
    task = plans.load().tasks[0]  # type: ignore[union-attr]  # there is one
    assert (task.status, task.delivered, task.utilized_memories) == (
        "complete",
        "a cart",
        ("use-totals",),
    )
    assert (tmp_path / "episodes" / f"{ended.episode}.json").exists()


def test_blocking_tells_them_too(tmp_path: Path, insights: NotedInsights) -> None:
    plans = plans_in(tmp_path, insights)
    plans.save(SHOES)
    plans.workspaces.create("001")
    ended = plans.workspaces.block(1, "no cart in stock", [])
    assert (ended.status, ended.reason) == ("blocked", "no cart in stock")
    assert insights.fed["workspace-1"][1:] == ("blocked", [])
    task = plans.load().tasks[0]  # type: ignore[union-attr]  # there is one
    assert (task.status, task.blocked_reason) == ("blocked", "no cart in stock")
    assert plans.workspaces.get(1).delivered == "BLOCKED: no cart in stock"


def test_without_names_the_tasks_episode_decides(tmp_path: Path, insights: NotedInsights) -> None:
    plans = plans_in(tmp_path, insights)
    plans.save(SHOES)
    plans.workspaces.create("001", session="s")
    assert insights.handed == [(("mind-the-gap", "use-totals"), "001-w1", "s", "Build the cart")]
    ended = plans.workspaces.complete(1, "a cart with a limit")
    assert insights.told == {"workspace-1": ended.episode}
    assert insights.fed["workspace-1"][0] == ["mind-the-gap", "use-totals"]


def test_a_workspace_that_cannot_be_given_its_insights_is_not_made(tmp_path: Path) -> None:
    class Unsettled(NotedInsights):
        def hand_over(self, names: Iterable[str], **options: Any) -> Handed:  # noqa: ANN401, ARG002
            raise InvalidConfiguration(path=tmp_path / "config.toml", problem="withhold must be 0 to 0.5")

    plans = plans_in(tmp_path, Unsettled(("one", "Sum in cents, never in floats")))
    plans.save(SHOES)
    with pytest.raises(InvalidConfiguration):
        plans.workspaces.create("001")
    assert plans.status().active == 0
    with pytest.raises(NotFound):
        plans.workspaces.get(1)


def test_said_again_it_changes_nothing(tmp_path: Path, insights: NotedInsights) -> None:
    plans = plans_in(tmp_path, insights)
    plans.save(SHOES)
    plans.workspaces.create("001")
    first = plans.workspaces.complete(1, "a cart", ["use-totals"])
    (episode,) = (tmp_path / "episodes").iterdir()
    written = episode.stat().st_mtime_ns
    assert plans.workspaces.complete(1, "another cart", []) == first
    assert len(insights.fed) == 1
    assert episode.stat().st_mtime_ns == written


def test_an_ending_is_not_turned_round(tmp_path: Path, insights: NotedInsights) -> None:
    plans = plans_in(tmp_path, insights)
    plans.save(SHOES)
    plans.workspaces.create("001")
    plans.workspaces.block(1, "no stock", [])
    with pytest.raises(PlanError, match="workspace 1 is blocked already"):
        plans.workspaces.complete(1, "a cart after all")
    assert insights.fed["workspace-1"][1] == "blocked"


def statuses(plans: Plans) -> list[str]:
    plan = plans.load()
    assert plan is not None
    return [task.status for task in plan.tasks[:1]]


def test_a_late_end_of_an_earlier_attempt_turns_nothing_round(tmp_path: Path) -> None:
    plans = plans_in(tmp_path)
    plans.save(SHOES)
    for _ in range(3):
        plans.workspaces.create("001")
    plans.workspaces.block(1, "gave up early")
    assert statuses(plans) == ["active"], "a later attempt is under way"
    plans.workspaces.complete(2, "a cart")
    plans.workspaces.block(3, "too late")
    assert statuses(plans) == ["complete"]
    assert plans.load().tasks[0].delivered == "a cart"  # type: ignore[union-attr]  # there is one


def test_an_earlier_attempt_that_delivers_after_all_does_so(tmp_path: Path) -> None:
    plans = plans_in(tmp_path)
    plans.save(SHOES)
    for _ in range(2):
        plans.workspaces.create("001")
    plans.workspaces.block(2, "no stock")
    assert statuses(plans) == ["blocked"]
    plans.workspaces.complete(1, "a cart")
    assert statuses(plans) == ["complete"]


def test_what_is_delivered_is_not_attempted_again_unless_it_is_opened(tmp_path: Path) -> None:
    plans = plans_in(tmp_path)
    plans.save(SHOES)
    plans.workspaces.create("001")
    plans.workspaces.complete(1, "a cart")
    with pytest.raises(PlanError, match="plan update 001 --status pending"):
        plans.workspaces.create("001")
    assert statuses(plans) == ["complete"]
    plans.update("001", status="pending")
    assert plans.workspaces.create("001").id == 2


def test_a_workspace_whose_task_cannot_be_told_of_is_not_made(tmp_path: Path) -> None:
    plans = plans_in(tmp_path)
    plans.save(SHOES)
    (tmp_path / "injection-state").write_text("a file in the folder's place")
    with pytest.raises(WriteFailed):
        plans.workspaces.create("001")
    assert statuses(plans) == ["pending"]
    with pytest.raises(NotFound):
        plans.workspaces.get(1)


def test_what_a_killed_process_left_owing_is_paid_by_the_next(
    tmp_path: Path, insights: NotedInsights, monkeypatch: pytest.MonkeyPatch
) -> None:
    plans = plans_in(tmp_path, insights)
    plans.save(SHOES)
    plans.workspaces.create("001")
    with monkeypatch.context() as killed:
        kill = "helix_graph.plans.workspaces.complete_ended"
        killed.setattr(kill, lambda _: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            plans.workspaces.complete(1, "a cart")
    assert plans.workspaces.get(1).status == "complete"
    assert (insights.fed, (tmp_path / "episodes").exists()) == ({}, False)
    plans.workspaces.create("002")
    assert list(insights.fed) == ["workspace-1"]
    assert len(list((tmp_path / "episodes").iterdir())) == 1


def test_a_task_of_its_own_needs_no_plan(tmp_path: Path) -> None:
    plans = plans_in(tmp_path)
    made = plans.workspaces.create({"seq": "9", "objective": "Sweep the floor", "delta": ["floor/"]})
    assert (made.plan_id, made.task_id) == (None, "9-w1")
    assert plans.workspaces.complete(1, "swept").status == "complete"


def test_what_is_not_there_is_named(tmp_path: Path) -> None:
    plans = plans_in(tmp_path)
    with pytest.raises(NotFound):
        plans.workspaces.create("001")
    with pytest.raises(InvalidPlan, match="objective: is missing"):
        plans.workspaces.create({"seq": "1"})
    with pytest.raises(NotFound, match="no workspace 3"):
        plans.workspaces.complete(3, "x")
    plans.save(SHOES)
    with pytest.raises(NotFound):
        plans.workspaces.create("009")
    with pytest.raises(NotFound, match="no plan 4"):
        plans.workspaces.create("001", plan=4)


def labels_leading_to(memory: Memory, outcome: str) -> set[str]:
    memory.graph.compile()
    return {one.node.label for group in memory.graph.causes(outcome).groups for one in group.relations}


def test_what_was_delivered_enters_the_graph(tmp_path: Path) -> None:
    memory = Memory(tmp_path / ".helix")
    plans = plans_in(memory.root)
    plans.save(SHOES)
    plans.workspaces.create("001")
    plans.workspaces.complete(1, "Add a limit to the cart", verified=True)
    assert labels_leading_to(memory, "success") == {"pytest passes"}


@pytest.mark.parametrize("verified", [None, False], ids=["nobody says", "the check failed"])
def test_without_a_passing_check_the_builders_word_decides(verified: Any, tmp_path: Path) -> None:  # noqa: ANN401  (True, False or None)
    memory = Memory(tmp_path / ".helix")
    plans = plans_in(memory.root)
    plans.save(SHOES)
    plans.workspaces.create("001")
    plans.workspaces.complete(1, "Add a limit to the cart", verified=verified)
    (label,) = labels_leading_to(memory, "success")
    assert "limit" in label
    assert "fails" not in label


@pytest.mark.parametrize(
    ("verified", "check"), [(None, "task"), (False, "pytest")], ids=["nobody says", "the check failed"]
)
def test_why_a_task_was_blocked_enters_the_graph(verified: Any, check: str, tmp_path: Path) -> None:  # noqa: ANN401  (as above)
    memory = Memory(tmp_path / ".helix")
    plans = plans_in(memory.root)
    plans.save(SHOES)
    plans.workspaces.create("001")
    plans.workspaces.block(1, "the cart service refuses connections", verified=verified)
    assert labels_leading_to(memory, "failure") == {f"{check} fails: the cart service refuses connections"}
    assert memory.graph.seen("the cart service refuses connections").found


def test_no_secret_of_a_report_is_kept(tmp_path: Path) -> None:
    plans = plans_in(tmp_path)
    secret = "ghp_" + "0123456789abcdefghijABCDEFGHIJ012345"
    plans.save({"objective": "x", "tasks": [{"objective": f"Use {secret}", "verify": f"TOKEN={secret} pytest"}]})
    plans.workspaces.create("001")
    plans.workspaces.block(1, f"the token {secret} is refused")
    held = b"".join(path.read_bytes() for path in sorted(tmp_path.rglob("*")) if path.is_file())
    assert secret.encode() not in held
