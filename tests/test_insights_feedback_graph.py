"""Does feedback follow from what was done: uptake after the injection, a path to the outcome, the outcome's words?"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest
from msgspec.structs import replace

from helix_episodes.errors import InvalidArgument, NotFound
from helix_episodes.model import Action
from helix_graph.errors import NotOneOf
from helix_graph.insights.api import Insights
from learnt_world import remember, repaired
from stub_embedder import StubEmbedder

if TYPE_CHECKING:
    from pathlib import Path

    from helix_episodes.model import Episode
    from helix_graph import Memory

ADVICE = "Carts: mind what is looked up"


def at(hour: int, minute: int) -> datetime:
    return datetime(2026, 11, 2, hour, minute, tzinfo=UTC)


class World:
    """A memory with a session before and one after, in which an insight is handed over at half past nine."""

    def __init__(self, folder: Path, *later: Episode, semantic: bool = False) -> None:
        self.memory: Memory = remember(folder, repaired("before"), *later)
        self.now = at(9, 30)
        engine = StubEmbedder() if semantic else None
        self.insights = Insights(
            self.memory.root / "helix.db",
            embedder=lambda: engine,
            clock=lambda: self.now,
            history=self.memory.insights.history,
        )

    def advise(self, content: str = ADVICE, *, step: tuple[str, str] | None = None, session: str = "after") -> str:
        name = self.insights.store(content)["name"]
        if step:
            self.insights.link(name, *step, episode="before")
        self.insights.hand_over([name], session=session, about="the cart")
        return name

    def verdict(self, session: str = "after") -> dict[str, Any]:
        (verdict,) = self.insights.feedback_from_episode(session)["verdicts"]
        return verdict


AFTER = repaired("after", day=2)


def test_the_same_file_in_the_same_manner_with_a_path_is_causal(tmp_path: Path) -> None:
    world = World(tmp_path, AFTER)
    name = world.advise(step=("decision", "Edit shop/cart.py"))
    verdict = world.verdict()
    assert verdict["causal"]
    assert verdict["uptake"] == "the same file in the same manner in d1: edit shop/cart.py"
    assert verdict["path"][0] == "edit source (.py)"
    assert verdict["path"][-1] == "success"
    assert "taken up, and a path of strength" in verdict["reason"]
    assert world.insights.why(name)["effectiveness"] == 0.55


def running(command: str) -> Episode:
    """The session after, in which a command is run instead of its tests."""
    before, first, second = AFTER.decisions
    run = Action(verb="run", program=command.split(maxsplit=1)[0], command=command)
    return replace(
        AFTER, decisions=(before, first, replace(second, type="implementation", chosen=f"Run {command}", action=run))
    )


def test_the_same_command_is_uptake(tmp_path: Path) -> None:
    world = World(tmp_path, running("make migrate STEP=2"))
    world.insights.link(world.insights.store(ADVICE)["name"], "decision", "Run make migrate STEP=2", episode="after")
    world.insights.hand_over([world.insights.store(ADVICE)["name"]], session="after", about="the cart")
    assert world.verdict()["uptake"] == "the same command in d2: make migrate STEP=2"


@pytest.mark.parametrize("command", ["pytest -q tests/cart", "golangci-lint run ./...", "cat shop/till.py"])
def test_to_run_a_check_or_to_look_is_no_uptake_in_whatever_words(tmp_path: Path, command: str) -> None:
    world = World(tmp_path, running(command), semantic=True)
    name = world.insights.store(f"Run {command} and mind what it says")["name"]
    world.insights.link(name, "decision", f"Run {command}", episode="after")
    world.insights.hand_over([name], session="after", about="the cart")
    assert world.verdict()["uptake"] is None


def test_a_coarse_node_shared_is_none(tmp_path: Path) -> None:
    world = World(tmp_path, repaired("after", day=2, path="shop/till.py"))
    name = world.advise(step=("decision", "Edit shop/cart.py"))
    verdict = world.verdict()
    assert (verdict["causal"], verdict["uptake"]) == (False, None)
    assert verdict["reason"] == "linked, but not taken up after it was shown"
    assert world.insights.why(name)["use_count"] == 1


def test_what_was_done_before_it_was_handed_over_is_none(tmp_path: Path) -> None:
    world = World(tmp_path, AFTER)
    world.now = at(11, 0)
    world.advise(step=("decision", "Edit shop/cart.py"))
    assert not world.verdict()["causal"]


def test_to_cite_its_name_is_uptake(tmp_path: Path) -> None:
    name = "carts-mind-what-is-looked-up"
    before, first, second = AFTER.decisions
    citing = replace(AFTER, decisions=(before, replace(first, rationale=f"As {name} says"), second))
    world = World(tmp_path, citing)
    assert world.advise() == name
    verdict = world.verdict()
    assert verdict["uptake"] == "its name is cited in d1"
    assert verdict["causal"], "without a link, what was done with it joins it to the graph"


def test_a_name_in_a_command_or_path_is_not_cited(tmp_path: Path) -> None:
    """Whoever brings an insight in a file chooses its name."""
    name = "carts-mind-what-is-looked-up"
    before, first, second = AFTER.decisions
    action = Action(verb="run", program="git", subcommand="checkout", command=f"git checkout src/{name}/a.py")
    run = replace(first, chosen=f"git checkout src/{name}/a.py", action=action, rationale=f"Look at src/{name}/a.py")
    world = World(tmp_path, replace(AFTER, decisions=(before, run, second)))
    assert world.advise() == name
    assert world.verdict()["uptake"] is None


def test_a_decision_in_the_same_words_is_uptake_where_there_are_vectors(tmp_path: Path) -> None:
    world = World(tmp_path, chosen("Edit shop/cart.py"), semantic=True)
    world.advise("Edit shop/cart.py Guard the lookup of carts", step=("error", "pytest: 1 failed"))
    assert world.verdict()["uptake"].startswith("a decision in the same words in d1, cosine 0.")


def chosen(text: str) -> Episode:
    """The session after, in which the change was a choice and not an answer to an error."""
    before, first, second = AFTER.decisions
    return replace(AFTER, decisions=(before, replace(first, type="implementation", chosen=text), second))


def test_like_words_about_another_file_are_none(tmp_path: Path) -> None:
    other = World(tmp_path / "file", chosen("Edit shop/cart.py"), semantic=True)
    other.advise("Edit shop/till.py Guard the lookup of carts", step=("error", "pytest: 1 failed"))
    assert other.verdict()["uptake"] is None


NAMING = "Mend the discount of the cart in cart.py, then sleep"


def test_advice_like_the_outcome_and_linked_elsewhere_is_credited_for_the_file_that_its_text_names(
    tmp_path: Path,
) -> None:
    world = World(tmp_path, AFTER, semantic=True)
    world.advise(NAMING, step=("error", "pytest: 1 failed"))
    verdict = world.verdict()
    assert verdict["uptake"] == "a file that it names in d1: edit shop/cart.py"
    assert (verdict["cosine"] >= 0.4, verdict["causal"], verdict["taken_up"]) == (True, True, True)


@pytest.mark.parametrize(
    "advice", ["Prefer small commits over big ones, in cart.py too", "Mend the discount in till.py"]
)
def test_a_named_file_alone_credits_nothing_nor_does_another_file(tmp_path: Path, advice: str) -> None:
    world = World(tmp_path, AFTER)
    world.advise(advice, step=("error", "pytest: 1 failed"))
    assert not world.verdict()["causal"]


def test_a_command_that_the_text_quotes_is_uptake_unless_it_only_checks_or_is_warned_of(tmp_path: Path) -> None:
    cases = (
        ("After a change of carts run `make migrate STEP=2`, then look again", "make migrate STEP=2", True),
        ("After a change of carts never run `make migrate STEP=2`", "make migrate STEP=2", False),
        ("After a change of carts run `pytest -q tests/cart`, then look again", "pytest -q tests/cart", False),
    )
    for number, (content, command, seen) in enumerate(cases):
        world = World(tmp_path / str(number), running(command))
        world.advise(content, step=("error", "pytest: 1 failed"))
        assert (world.verdict()["uptake"] == f"the command that it names in d2: {command}") == seen


def test_a_label_stands_for_no_file(tmp_path: Path) -> None:
    world = World(tmp_path, AFTER)
    world.advise(step=("decision", "edit source (.py)"))
    verdict = world.verdict()
    assert (verdict["uptake"], verdict["path"]) == (None, ())


def test_an_insight_without_links_stands_on_the_cosine_alone(tmp_path: Path) -> None:
    world = World(tmp_path, AFTER, semantic=True)
    world.advise("Mend the discount of the cart, then sleep")
    verdict = world.verdict()
    assert verdict["cosine"] >= 0.4
    assert verdict["causal"]
    assert verdict["reason"].startswith("no links, so by the text alone")


@pytest.mark.parametrize(
    ("advice", "causal"),
    [("Mend the discount of the cart, then sleep", True), ("Prefer small commits over large ones", False)],
)
def test_without_vectors_it_is_said_and_shared_words_stand_in(
    advice: str,
    causal: bool,  # noqa: FBT001  (an expected value)
    tmp_path: Path,
) -> None:
    world = World(tmp_path, AFTER)
    world.advise(advice)
    told = world.insights.feedback_from_episode("after")
    assert told["note"] == "HELIX_EMBEDDING is set to lexical: judged by graph, citation and shared words"
    (verdict,) = told["verdicts"]
    assert (verdict["causal"], verdict["cosine"]) == (causal, None)
    assert "relevance by words" in verdict["reason"]


def test_a_failure_blocks(tmp_path: Path) -> None:
    world = World(tmp_path, repaired("after", day=2, outcome="failure"))
    name = world.advise(step=("decision", "Edit shop/cart.py"))
    world.verdict()
    assert world.insights.why(name)["effectiveness"] == 0.45


@pytest.mark.parametrize("outcome", ["partial", "unknown"])
def test_what_is_no_verdict_makes_no_feedback_and_says_so(tmp_path: Path, outcome: Any) -> None:  # noqa: ANN401  (one of the four)
    world = World(tmp_path, repaired("after", day=2, outcome=outcome))
    name = world.advise()
    told = world.insights.feedback_from_episode("after")
    assert (told["feedback"], told["note"]) == ([], f"the outcome is {outcome}, which says nothing about an insight")
    assert world.insights.why(name)["use_count"] == 0


def test_told_twice_counts_once(tmp_path: Path) -> None:
    world = World(tmp_path, AFTER)
    name = world.advise(step=("decision", "Edit shop/cart.py"))
    world.verdict()
    (again,) = world.insights.feedback_from_episode("after")["feedback"]
    assert again["repeated"]
    assert world.insights.why(name)["use_count"] == 1
    assert world.insights.rebuild()["changed"] == 0


def test_the_log_keeps_why(tmp_path: Path) -> None:
    world = World(tmp_path, AFTER)
    name = world.advise(step=("decision", "Edit shop/cart.py"))
    verdict = world.verdict()
    (step,) = world.insights.why(name)["feedback"]
    assert (step["reason"], step["episode"]) == (verdict["reason"], "episode-after")
    assert '"rule":"strict 3"' in world.insights.export()


def test_what_only_the_sessions_own_log_shows_counts_as_well(tmp_path: Path) -> None:
    name = "carts-mind-what-is-looked-up"
    world = World(tmp_path, replace(AFTER, injected=(name,)))
    world.insights.store(ADVICE)
    assert [one["name"] for one in world.insights.feedback_from_episode("after")["verdicts"]] == [name]


def test_an_episode_in_which_nothing_was_handed_over_says_so(tmp_path: Path) -> None:
    told = World(tmp_path, AFTER).insights.feedback_from_episode("after")
    assert (told["feedback"], told["note"][:20]) == ([], "no insight was shown")
    with pytest.raises(NotFound):
        World(tmp_path / "other", AFTER).insights.feedback_from_episode("nobody")


def test_a_text_alone_is_judged_by_its_words(tmp_path: Path) -> None:
    world = World(tmp_path, semantic=True)
    near = world.insights.store("Mend the discount of the cart, then sleep")["name"]
    far = world.insights.store("Prefer small commits over large ones")["name"]
    told = world.insights.feedback_from_text("Mend the discount of the cart", [near, far], "delivered")
    assert {one["name"]: one["causal"] for one in told["verdicts"]} == {near: True, far: False}
    again = world.insights.feedback_from_text("Mend the discount of the cart", [near, far], "delivered")
    assert again["feedback"][0]["repeated"]
    with pytest.raises(InvalidArgument):
        world.insights.feedback_from_text("done", [], "delivered")
    with pytest.raises(NotOneOf):
        world.insights.feedback_from_text("done", [near], "success")
