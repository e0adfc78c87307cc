"""How are the insights judged that a task was given? By what the task did, why is kept, and each showing once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from msgspec.structs import replace

from git_world import git, repository
from helix_episodes.store import EpisodeStore
from helix_graph import Memory
from helix_graph.insights.api import Insights
from helix_graph.plans.api import Plans
from learnt_world import remember, repaired
from stub_embedder import StubEmbedder

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from session_script import Script

FITS = "Build the cart with a limit on what it holds"
OTHER = "Rotate the signing keys every quarter"
#: As often as is allowed: of so few insights some are shown and some are held back.
WITHHOLD = "[insights]\nwithhold = 0.5\n"


def reason(memory: Memory, name: str) -> str:
    (step,) = memory.insights.why(name)["feedback"]
    assert step["episode"].startswith("episode-task-")
    return str(step["reason"])


def test_without_vectors_shared_words_with_the_ending_count(tmp_path: Path) -> None:
    memory = Memory.init(tmp_path)
    fits, other = (memory.insights.store(text)["name"] for text in (FITS, "Build shops of brick, steel and glass"))
    made = memory.plans.workspaces.create({"objective": "Build the cart"})
    assert {*made.injected} == {fits, other}
    memory.plans.workspaces.complete(1, "the cart has a limit on what it holds")
    assert reason(memory, fits).startswith("no links, so by the text alone: relevance by words ")
    assert memory.insights.get(fits)["causal_hits"] == 1  # type: ignore[index]  # there is one
    assert reason(memory, other).endswith("below 0.40")
    assert memory.insights.get(other)["causal_hits"] == 0  # type: ignore[index]  # there is one


@pytest.mark.parametrize(
    ("told", "why"),
    [
        ("a limit on what the cart holds", "taken up, and a path of strength "),
        ("what was asked for", "no links, so by the text alone: cosine 0."),
    ],
)
def test_with_vectors_the_choice_or_the_cosine_with_the_ending_counts(told: str, why: str, tmp_path: Path) -> None:
    memory, engine = Memory.init(tmp_path), StubEmbedder()
    insights = Insights(memory.root / "helix.db", embedder=lambda: engine, history=memory.insights.history)
    name = insights.store(FITS)["name"]
    plans = Plans(memory.root, insights=insights, episodes=EpisodeStore(memory.root / "episodes"))
    plans.workspaces.create({"objective": "Build the cart"})
    plans.workspaces.complete(1, told)
    assert reason(memory, name).startswith(why)


def test_to_be_advised_for_a_task_is_not_to_follow_the_advice(tmp_path: Path) -> None:
    """A blocked task's approach is what was asked, which the advice was picked by."""
    memory, engine = remember(tmp_path / ".helix", repaired("before")), StubEmbedder()
    insights = Insights(memory.root / "helix.db", embedder=lambda: engine, history=memory.insights.history)
    name = insights.store("Build the cart with a limit")["name"]
    insights.link(name, "decision", "Edit shop/cart.py", episode="before")
    plans = Plans(memory.root, insights=insights, episodes=EpisodeStore(memory.root / "episodes"))
    plans.workspaces.create({"objective": "Build the cart with a limit"})
    plans.workspaces.block(1, "no stock")
    assert reason(memory, name) == "linked, but not taken up after it was shown"


class Shop:
    """A memory of a session that mended ``shop/cart.py``, in a repository, and an insight that says so to a task."""

    def __init__(self, folder: Path, objective: str) -> None:
        self.folder = repository(folder, shop__cart="x = 1", shop__till="x = 1")
        self.memory = remember(folder / ".helix", repaired("before"))
        self.name = self.memory.insights.store(f"{objective}: mind the discount")["name"]
        self.memory.insights.link(self.name, "decision", "Edit shop/cart.py", episode="before")
        made = self.memory.plans.workspaces.create({"objective": objective, "delta": ["shop"]}, tree=folder)
        assert made.injected == (self.name,)

    def change(self, path: str) -> None:
        (self.folder / path).write_text("x = 2\n")

    @property
    def verdict(self) -> dict[str, Any]:
        (step,) = self.memory.insights.why(self.name)["feedback"]
        return dict(step)


def test_what_was_done_with_it_and_led_to_the_outcome_counts_whatever_the_words(tmp_path: Path) -> None:
    shop = Shop(tmp_path / "shop", "Open on Sundays")
    shop.change("shop/cart.py")
    ended = shop.memory.plans.workspaces.complete(1, "quite another matter")
    assert (ended.feedback or {})["causal"] == 1
    assert "taken up, and a path of strength" in shop.verdict["reason"]
    assert "edit shop/cart.py" in shop.verdict["reason"]


def test_what_was_not_taken_up_does_not_count_however_alike_its_words(tmp_path: Path) -> None:
    shop = Shop(tmp_path / "shop", "Open on Sundays")
    shop.change("shop/till.py")
    ended = shop.memory.plans.workspaces.complete(1, "Open on Sundays: mind the discount")
    assert (ended.feedback or {})["causal"] == 0
    assert shop.verdict["reason"] == "linked, but not taken up after it was shown"


def test_what_changed_before_the_task_began_is_not_its_doing(tmp_path: Path) -> None:
    shop = Shop(tmp_path / "shop", "Open on Sundays")
    shop.change("shop/cart.py")
    git(shop.folder, "stash", "-q")
    assert shop.memory.plans.workspaces.complete(1, "opened").feedback
    assert shop.verdict["reason"] == "linked, but not taken up after it was shown"


def test_a_failure_that_it_led_to_counts_against_it(tmp_path: Path) -> None:
    shop = Shop(tmp_path / "shop", "Open on Sundays")
    shop.change("shop/cart.py")
    shop.memory.plans.workspaces.block(1, "the tills stay shut")
    assert shop.memory.insights.why(shop.name)["effectiveness"] == 0.45


def test_who_says_what_helped_is_believed(tmp_path: Path) -> None:
    shop = Shop(tmp_path / "shop", "Open on Sundays")
    shop.memory.plans.workspaces.complete(1, "opened", [shop.name])
    assert (shop.verdict["reason"], shop.verdict["episode"][:13]) == ("named as causal", "episode-task-")


@pytest.mark.parametrize("utilized", [None, [], ["all"]], ids=["nobody says", "none helped", "all helped"])
@pytest.mark.slow
def test_the_ending_counts_for_what_was_held_back_as_well(utilized: list[str] | None, tmp_path: Path) -> None:
    memory = Memory.init(tmp_path)
    (memory.root / "config.toml").write_text(WITHHOLD)
    for number in range(6):
        memory.insights.store(f"{FITS} number {'abcdef'[number] * 3}")
    for number in range(4):
        made = memory.plans.workspaces.create({"objective": f"{FITS} again {number}"})
        memory.plans.workspaces.complete(made.id, "a cart", made.injected if utilized else utilized)
        assert memory.insights.readiness().measured == number + 1
    report = memory.insights.uplift()
    assert report.pooled.given.n > 0
    assert report.pooled.withheld.n > 0


@pytest.mark.slow
def test_a_task_of_which_everything_was_held_back_counts(tmp_path: Path) -> None:
    memory = Memory.init(tmp_path)
    (memory.root / "config.toml").write_text(WITHHOLD)
    memory.insights.store(FITS)
    injected = {memory.plans.workspaces.create({"objective": f"{FITS} again {number}"}).injected for number in range(8)}
    assert () in injected
    for number in range(1, 9):
        memory.plans.workspaces.complete(number, "a cart", None if number % 2 else [])
    assert memory.insights.readiness().measured == 8


def test_the_session_that_gave_the_task_out_does_not_judge_it_again(tmp_path: Path) -> None:
    memory = Memory.init(tmp_path)
    name = memory.insights.store(FITS)["name"]
    memory.plans.workspaces.create({"objective": "Build the cart"}, session="orchestrator")
    memory.insights.hand_over([name], session="orchestrator", about="its own prompt")
    memory.plans.workspaces.complete(1, "a cart")
    whole = EpisodeStore(memory.root / "episodes")
    whole.save(repaired("orchestrator"))
    told = memory.insights.feedback_from_episode("orchestrator")
    assert [one["names"] for one in told["feedback"]] == [[name]], "of the two showings its own"
    assert memory.insights.get(name)["use_count"] == 2  # type: ignore[index]  # there is one


def test_nor_where_only_its_log_shows_what_the_task_was_given(tmp_path: Path) -> None:
    memory = Memory.init(tmp_path)
    name = memory.insights.store(FITS)["name"]
    memory.plans.workspaces.create({"objective": "Build the cart"})
    memory.plans.workspaces.complete(1, "a cart")
    EpisodeStore(memory.root / "episodes").save(replace(repaired("orchestrator"), injected=(name,)))
    assert memory.insights.feedback_from_episode("orchestrator")["feedback"] == []


@pytest.fixture
def done(tmp_path: Path, script: Callable[..., Script]) -> Callable[[str, str], Path]:
    """The transcript of a builder that was given a prompt and says something."""

    def save(prompt: str, said: str) -> Path:
        return script("agent-b1").prompt(prompt).say(said).save(tmp_path / "logs")

    return save


@pytest.mark.parametrize("first", ["builder", "orchestrator"])
def test_a_builder_that_reports_as_a_planner_does_counts_once(
    first: str, tmp_path: Path, done: Callable[[str, str], Path]
) -> None:
    memory = Memory.init(tmp_path)
    name = memory.insights.store(FITS)["name"]
    memory.plans.workspaces.create({"objective": "Build the cart"})
    log = done(memory.plans.workspaces.prompt(1), "PLAN_COMPLETE: 3 tasks")
    if first == "orchestrator":
        memory.plans.workspaces.complete(1, "a cart")
    memory.plans.learn(log, pauses=())
    memory.plans.workspaces.complete(1, "a cart")
    assert memory.insights.get(name)["use_count"] == 1  # type: ignore[index]  # there is one
    assert memory.plans.workspaces.get(1).status == "complete"
    assert memory.plans.wait_builders(["001-w1"], timeout=0).plan_complete


def test_without_a_workspace_the_report_counts_for_the_showing(
    tmp_path: Path, done: Callable[[str, str], Path]
) -> None:
    memory = Memory.init(tmp_path)
    fits = memory.insights.store(FITS)["name"]
    memory.insights.store(OTHER)
    memory.plans.inject("Build the cart", task_id="t1")
    learnt = memory.plans.learn(done("TASK_ID: t1\nOBJECTIVE: Build the cart", "DELIVERED: it has a limit"), pauses=())
    assert (learnt.injected, (learnt.feedback or {})["causal"]) == ((fits,), 1)
    assert memory.insights.readiness().measured == 1
    (step,) = memory.insights.why(fits)["feedback"]
    assert "relevance by words" in step["reason"]
