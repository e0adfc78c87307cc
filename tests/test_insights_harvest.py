"""Do lessons and fixes of episodes become insights: marked, linked, once, in any order, and gone with their session?"""

from __future__ import annotations

import sqlite3
from itertools import permutations
from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from helix_episodes.errors import NotFound
from helix_episodes.model import CORRECTS, Action, Evidence
from helix_graph.errors import NoMemory
from helix_graph.insights.api import Insights
from learnt_world import LESSON, remember, repaired
from stub_embedder import StubEmbedder

if TYPE_CHECKING:
    from pathlib import Path

    from helix_episodes.model import Decision, Episode
    from helix_graph import Memory

FIX = (
    "When pytest fails with KeyError: 'discount' in cart.py: edit shop/cart.py to `return prices.get('discount', 0)`. "
    "Verified by pytest in 1 session. Applies to this message, not to every KeyError."
)


def semantic(memory: Memory) -> Insights:
    """The memory's insights, with an engine by which texts that share words are alike."""
    engine = StubEmbedder()
    return Insights(memory.root / "helix.db", embedder=lambda: engine, history=memory.insights.history)


def contents(insights: Insights) -> set[str]:
    return {
        str(hit["content"])
        for hit in insights.recall("pytest cart KeyError database suite hangs", limit=100, min_relevance=0)
    }


def test_a_fix_is_told_from_facts_alone_and_begins_lower_than_what_is_told(tmp_path: Path) -> None:
    insights = remember(tmp_path, repaired("one")).insights
    (name,) = insights.harvest()["added"]
    why = insights.why(name)
    assert why["content"] == FIX
    assert (why["origin"], why["effectiveness"], why["tags"]) == ("derived", 0.4, ["derived", "fix"])
    assert insights.store("Told by a person, at some length")["status"] == "added"
    assert why["effectiveness"] < insights.why("told-by-a-person-at-some-length")["effectiveness"]


def test_it_is_linked_to_the_change_the_error_and_the_session(tmp_path: Path) -> None:
    insights = remember(tmp_path, repaired("one", lessons=(LESSON,))).insights
    fix, lesson = sorted(insights.harvest()["added"])
    assert {(one["relation"], one["to"], one["origin"]) for one in insights.why(fix)["links"]} == {
        ("derived_from", "decision: Edit shop/cart.py", "extraction"),
        ("addresses", "error: pytest: 1 failed", "extraction"),
        ("prevents", "error: pytest: 1 failed", "extraction"),
    }
    assert [(one["relation"], one["episode"]) for one in insights.why(lesson)["links"]] == [
        ("derived_from", "episode-one")
    ]
    assert insights.unresolved() == ()


def test_of_two_changes_nobody_knows_which_one_it_was(tmp_path: Path) -> None:
    episode = repaired("one")
    both = replace(episode, fixes=(replace(episode.fixes[0], changes=("d1", "d2"), share=0.5),))
    assert remember(tmp_path, both).insights.harvest()["added"] == []


def doubtful() -> dict[str, Episode]:
    """Sessions like the one that teaches a fix, each with one thing that makes it doubtful."""
    sound = repaired("one")
    before, change, after = sound.decisions
    failed, passed = sound.events
    shown = Evidence(line=5, quote="unrelated = tidy(up, here)")

    def run(decision: Decision, command: str) -> Decision:
        return replace(decision, action=Action(verb="run", program=command.partition(" ")[0], command=command))

    alone, whole = run(before, "golangci-lint run cart.go"), run(after, "golangci-lint run ./...")
    linted = tuple(replace(one, check="golangci-lint") for one in (failed, passed))
    lint_fix = (replace(sound.fixes[0], check="golangci-lint"),)
    user = tuple(replace(one, check="work") for one in (failed, passed))
    return {
        "another scope": replace(sound, decisions=(run(before, "pytest -q tests/till"), change, after)),
        "one file alone": replace(sound, decisions=(alone, change, whole), events=linted, fixes=lint_fix),
        "no check": replace(sound, decisions=(run(before, "make up"), change, run(after, "make up"))),
        "a person's remark": replace(sound, events=user, links=()),
        "passed with no word": replace(sound, events=(failed, replace(passed, evidence=None))),
        "not between": replace(sound, decisions=(before, replace(change, timestamp="2026-11-01T11:00:00Z"), after)),
        "nothing said of the change": replace(sound, decisions=(before, replace(change, evidence=None), after)),
        "about something else": replace(sound, decisions=(before, replace(change, evidence=shown), after)),
        "a plan accepted": replace(sound, fixes=(replace(sound.fixes[0], verified_by="d2"),)),
    }


@pytest.mark.parametrize("why", list(doubtful()))
def test_a_fix_that_is_doubtful_teaches_nothing(tmp_path: Path, why: str) -> None:
    assert remember(tmp_path, doubtful()[why]).insights.harvest()["added"] == []


def test_a_fix_that_no_check_verified_teaches_nothing(tmp_path: Path) -> None:
    episode = repaired("one")
    unverified = replace(episode, fixes=(replace(episode.fixes[0], verified_by=None),))
    assert remember(tmp_path, unverified).insights.harvest()["added"] == []


def test_twice_is_once(tmp_path: Path) -> None:
    insights = remember(tmp_path, repaired("one", lessons=(LESSON,)), repaired("two", day=2)).insights
    insights.harvest()
    before = insights.export()
    again = insights.harvest()
    assert (again["added"], again["links"]) == ([], 0)
    assert insights.export() == before


@pytest.mark.slow
def test_the_order_of_episodes_makes_no_difference(tmp_path: Path) -> None:
    episodes = (
        repaired("one", day=3, line=40, lessons=(LESSON,)),
        repaired("two", day=1),
        repaired("three", day=2, path="shop/till.py", lessons=(f"{LESSON} and runs",)),
    )
    exports = set()
    for number, order in enumerate(permutations(episodes)):
        memory = remember(tmp_path / str(number), *episodes)
        insights = semantic(memory)
        for episode in order:
            insights.harvest(episode.id)
        exports.add(insights.export())
    assert len(exports) == 1


def test_what_repaired_an_issue_in_several_sessions_is_one_insight_with_the_links_of_all(tmp_path: Path) -> None:
    sessions = repaired("one", line=99), repaired("two", day=2), repaired("three", day=3, path="shop/till.py")
    insights = remember(tmp_path, *sessions).insights
    (name,) = insights.harvest()["added"]
    why = insights.why(name)
    assert why["content"] == FIX.replace("1 session.", "2 sessions; 1 session made another change.")
    assert {one["episode"] for one in why["links"]} == {"episode-one", "episode-two", "episode-three"}


def test_a_session_that_repairs_the_issue_later_is_counted(tmp_path: Path) -> None:
    memory = remember(tmp_path, repaired("one"), repaired("two", day=2))
    (name,) = memory.insights.harvest("one")["added"]
    assert memory.insights.why(name)["content"] == FIX
    assert memory.insights.harvest("two")["known"] == 1
    assert memory.insights.why(name)["content"] == FIX.replace("1 session", "2 sessions")


def test_sessions_are_counted_once_however_often_they_repaired_it(tmp_path: Path) -> None:
    one = repaired("one")
    error, passed = one.events
    again = replace(error, id="e3"), replace(passed, id="e4")
    links = tuple(replace(link, target={"e1": "e3", "e2": "e4"}.get(link.target, link.target)) for link in one.links)
    twice = replace(
        one,
        events=(*one.events, *again),
        links=(*one.links, *links),
        fixes=(*one.fixes, replace(one.fixes[0], error="e3", verified_by="e4")),
    )
    insights = remember(tmp_path, twice).insights
    (name,) = insights.harvest()["added"]
    assert "in 1 session." in insights.why(name)["content"]


def linted(change: Action, written: str = "", *, message: str = "") -> Episode:
    """A session in which a linter complains of `shop/cart.go`, one thing is changed, and the linter passes."""
    sound = repaired("one")
    before, decision, after = sound.decisions
    runs = Action(verb="run", program="golangci-lint", command="golangci-lint run")
    failed, passed = (replace(one, check="golangci-lint") for one in sound.events)
    message = message or "shop/cart.go:3:1: error returned from external package is unwrapped (wrapcheck)"
    return replace(
        sound,
        decisions=(
            replace(before, action=runs),
            replace(decision, action=change, evidence=Evidence(line=5, quote=written)),
            replace(after, action=runs),
        ),
        events=(replace(failed, family="wrapcheck", message=message, path="shop/cart.go"), passed),
        fixes=(replace(sound.fixes[0], check="golangci-lint"),),
    )


def test_a_rule_has_one_recipe_without_old_line_numbers(tmp_path: Path) -> None:
    edit = Action(verb="edit", role="source", path="shop/cart.go")
    insights = remember(tmp_path, linted(edit, 'return fmt.Errorf("wrapcheck: %w", err)')).insights
    (name,) = insights.harvest()["added"]
    assert insights.why(name)["content"] == (
        "When golangci-lint reports wrapcheck: change the place that it names, as in shop/cart.go: "
        '`return fmt.Errorf("wrapcheck: %w", err)`. '
        "Verified by golangci-lint in 1 session. Applies wherever golangci-lint reports it."
    )


def test_a_command_that_repairs_by_itself_is_a_recipe(tmp_path: Path) -> None:
    fixer = Action(verb="run", program="golangci-lint", command="golangci-lint run --fix")
    (name,) = remember(tmp_path, linted(fixer)).insights.harvest()["added"]
    assert "run `golangci-lint run --fix`. Verified" in Insights(tmp_path / ".helix" / "helix.db").why(name)["content"]


@pytest.mark.parametrize(
    "episode",
    [
        linted(Action(verb="edit", role="source", path="shop/cart.go", suppresses=True), "x() //nolint:wrapcheck"),
        replace(
            linted(Action(verb="edit", role="source", path="shop/cart.go"), "func Total() int {"),
            events=(
                replace(linted(Action(verb="edit")).events[0], family="undefined name", message="undefined: Total"),
                linted(Action(verb="edit")).events[1],
            ),
        ),
    ],
    ids=["a complaint that was silenced", "a name that was missing"],
)
def test_what_only_repeats_the_complaint_teaches_nothing(tmp_path: Path, episode: Episode) -> None:
    assert remember(tmp_path, episode).insights.harvest()["added"] == []


def test_a_test_that_was_given_another_expectation_teaches_nothing(tmp_path: Path) -> None:
    sound = repaired("one")
    failed, passed = sound.events
    _, change, _ = sound.decisions
    edited = replace(change, action=Action(verb="edit", role="test", path="tests/test_cart.py"))
    tested = replace(failed, tests=("tests/test_cart.py::test_discount",))
    episode = replace(sound, events=(tested, passed), decisions=(sound.decisions[0], edited, sound.decisions[2]))
    assert remember(tmp_path, episode).insights.harvest()["added"] == []


def test_lessons_in_other_words_are_merged_and_their_links_united(tmp_path: Path) -> None:
    longer = f"{LESSON} and runs"
    insights = semantic(
        remember(tmp_path, repaired("one", lessons=(longer,), day=2), repaired("two", lessons=(LESSON,)))
    )
    assert insights.harvest()["merged"] == 1
    found = [hit for hit in insights.recall(LESSON) if hit["content"] == LESSON]
    assert {one["episode"] for one in insights.why(found[0]["name"])["links"]} == {"episode-one", "episode-two"}
    assert longer not in contents(insights)


def test_what_somebody_told_takes_the_lesson_in_and_keeps_its_words(tmp_path: Path) -> None:
    insights = semantic(remember(tmp_path, repaired("one", lessons=(f"{LESSON} and runs",))))
    told = insights.store(LESSON)["name"]
    assert insights.harvest()["taken_in"] == 1
    assert insights.get(told)["content"] == LESSON  # type: ignore[index]  # it was stored above
    assert [one["episode"] for one in insights.why(told)["links"]] == ["episode-one"]


def test_a_lesson_that_says_the_opposite_goes_into_none(tmp_path: Path) -> None:
    opposite = f"Never {LESSON[0].lower()}{LESSON[1:]}"
    sessions = (repaired("one", lessons=(LESSON,)), repaired("two", lessons=(opposite,), day=2))
    insights = semantic(remember(tmp_path / "both", *sessions))
    assert insights.harvest()["merged"] == 0
    assert {LESSON, opposite} <= contents(insights)
    told = semantic(remember(tmp_path / "told", sessions[1]))
    told.store(LESSON)
    assert told.harvest()["taken_in"] == 0


def test_what_a_person_rejected_or_forgot_does_not_come_back(tmp_path: Path) -> None:
    insights = remember(tmp_path, repaired("one", lessons=(LESSON,))).insights
    fix, lesson = sorted(insights.harvest()["added"])
    insights.reject(fix)
    insights.forget([lesson])
    again = insights.harvest()
    assert (again["added"], again["kept_out"]) == ([], 2)


def test_control_characters_stop_no_lesson_and_are_left_out(tmp_path: Path) -> None:
    said = f"{CORRECTS}No, don't use \x1b[31mred\x1b[0m floats."
    one = repaired("one", lessons=(LESSON.replace(" ", " \x07", 1),))
    coloured = replace(one.events[1], id="e9", type="milestone", content=said, check=None)
    insights = remember(tmp_path, replace(one, events=(*one.events, coloured)), repaired("two", day=2)).insights
    answer = insights.harvest()
    assert (answer["lessons"], len(answer["added"]), answer["kept_out"]) == (2, 3, 0)
    assert any("red" in one and "floats." in one for one in contents(insights))
    assert all(one.isprintable() for one in contents(insights))


def test_a_dry_run_says_what_would_be_added_and_adds_nothing(tmp_path: Path) -> None:
    insights = remember(tmp_path, repaired("one", lessons=(LESSON,))).insights
    assert len(insights.harvest(dry_run=True)["added"]) == 2
    assert contents(insights) == set()
    assert insights.harvest(dry_run=True)["added"] == insights.harvest()["added"]


def test_one_episode_or_those_since_a_day(tmp_path: Path) -> None:
    from datetime import UTC, date, datetime

    insights = remember(tmp_path, repaired("one"), repaired("two", day=9, path="shop/till.py")).insights
    assert insights.harvest(since=date(2026, 11, 5), dry_run=True)["episodes"] == 1
    assert insights.harvest(since=datetime(2026, 11, 9, 10, tzinfo=UTC), dry_run=True)["episodes"] == 1
    assert insights.harvest("one", dry_run=True)["episodes"] == 1
    with pytest.raises(NotFound):
        insights.harvest("nobody")


def test_insights_of_no_memory_have_nothing_to_harvest(tmp_path: Path) -> None:
    with pytest.raises(NoMemory):
        Insights(tmp_path / "helix.db").harvest()


def test_forgetting_a_session_takes_what_it_alone_taught_and_proves_it(tmp_path: Path) -> None:
    memory = remember(tmp_path, repaired("one", lessons=(LESSON,)), repaired("two", day=2, path="shop/till.py"))
    memory.insights.harvest()
    report = memory.forget(["one"])
    assert report.proof
    assert report.proof.whole
    assert {hit["content"] for hit in memory.insights.recall("pytest KeyError", limit=9, min_relevance=0)} == {
        FIX.replace("edit shop/cart.py", "edit shop/till.py")
    }
    assert LESSON.encode() not in (memory.root / "helix.db").read_bytes()


def test_what_two_sessions_taught_stays_in_the_words_of_the_other(tmp_path: Path) -> None:
    memory = remember(tmp_path, repaired("one", line=777), repaired("two", day=2))
    (name,) = memory.insights.harvest()["added"]
    assert "2 sessions" in str(memory.insights.get(name))
    report = memory.forget(["one"])
    assert report.proof
    assert report.proof.whole
    why = memory.insights.why(name)
    assert (why["content"], why["episode"]) == (FIX, "episode-two")
    assert {one["episode"] for one in why["links"]} == {"episode-two"}


def test_what_the_log_says_of_a_forgotten_session_is_numbers(tmp_path: Path) -> None:
    memory = remember(tmp_path, repaired("one"), repaired("two", day=2))
    (name,) = memory.insights.harvest()["added"]
    memory.insights.hand_over([name], session="one", about="Mend the discount of the cart")
    memory.insights.feedback_from_episode("one")
    uses = memory.insights.why(name)["use_count"]
    memory.forget(["one"])
    why = memory.insights.why(name)
    assert (why["use_count"], why["injected"][0]["session"], why["injected"][0]["query"]) == (uses, "", "")
    assert [step["episode"] for step in why["feedback"]] == [None]
    with sqlite3.connect(memory.root / "helix.db") as connection:
        dump = "\n".join(connection.iterdump())
    assert "episode-one" not in dump
    assert memory.insights.rebuild()["changed"] == 0


def test_an_import_brings_nothing_of_a_forgotten_session_back_and_says_so(tmp_path: Path) -> None:
    memory = remember(
        tmp_path / "here", repaired("one", lessons=(LESSON,)), repaired("two", day=2, path="shop/till.py")
    )
    names = memory.insights.harvest()["added"]
    memory.insights.hand_over(names, session="one", about="Mend the discount of the cart")
    memory.insights.feedback_from_episode("one")
    before = tmp_path / "before.jsonl"
    memory.insights.export_to(before)
    memory.forget(["one"])
    silent = memory.insights.export()
    answer = memory.insights.import_from(before)
    assert (answer["insights"], answer["left_out"]) == (0, 9), "a fix of both and a lesson, with six links and one"
    assert memory.insights.export() == silent
    elsewhere = remember(tmp_path / "elsewhere", repaired("two", day=2)).insights.import_from(before)
    assert (elsewhere["insights"], elsewhere["left_out"]) == (2, 0)
