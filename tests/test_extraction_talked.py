"""Which decisions are taken from words alone, and which words are none?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

    from helix_episodes.model import Decision, Episode
    from session_script import Script

    Begin = Callable[..., Script]
    Extracted = Callable[[Script], Episode]

OFFER = """We could store the prices in several ways, the options are:

1. **A table** - one row a price
2. **A file** - simple, slow

Which one do you want?"""
PLAN = "I'll do it in two steps. I need to:\n1. Move the rounding\n2. Adapt the tests\n\nLet me begin."
ADVICE = "Both work.\n\n### Recommendation\n\nTake the table, it is faster."


@pytest.fixture
def talked(script: Begin, episode_of: Extracted) -> Callable[[str], tuple[Decision, ...]]:
    """The decisions of a session in which the agent only says something and looks at a file."""

    def said(text: str) -> tuple[Decision, ...]:
        log = script("s").prompt("How should we store prices?").say(text)
        return episode_of(log.call("Read", {"file_path": "/work/shop/a.py"}, output="x")).decisions

    return said


@pytest.mark.parametrize(
    ("text", "chosen", "rationale"),
    [
        ("I'd recommend a table because it is faster.", "I'd recommend a table", "it is faster."),
        (ADVICE, "Take the table, it is faster.", ""),
        ("I'll use `round()` since the prices are small.", "I'll use `round()`", "the prices are small."),
        ("Let's keep the map instead of a list.", "Let's keep the map instead of a list.", ""),
        (PLAN, "plan: Move the rounding; Adapt the tests", ""),
        (OFFER, "offer A table, A file", "Which one do you want?"),
    ],
)
def test_what_a_message_chooses(
    talked: Callable[[str], tuple[Decision, ...]], text: str, chosen: str, rationale: str
) -> None:
    (decision,) = talked(text)
    assert (decision.chosen, decision.rationale) == (chosen, rationale)
    assert (decision.type, decision.stated, decision.actor) == ("design", True, "agent")


@pytest.mark.parametrize(
    "lead",
    [
        "To go on, I'll need the following:",
        "I will need some more details:",
        "I need to confirm a few details first:",
        "To set this up, I'll have to gather some information:",
    ],
)
def test_what_the_agent_asks_for_is_no_plan(talked: Callable[[str], tuple[Decision, ...]], lead: str) -> None:
    assert talked(f"{lead}\n\n1. The name of your shop.\n2. Which prices have tax in them?\n\nThen I can go on.") == ()


def test_an_offer_has_its_options(talked: Callable[[str], tuple[Decision, ...]]) -> None:
    assert talked(OFFER)[0].options == ("A table", "A file")


@pytest.mark.parametrize(
    "text",
    [
        "I'll take a look at the log since the test is red.",
        "I'll keep waiting rather than starting another check.",
        "I'm going to pin this down to one commit rather than rely on memory.",
        "I'll let it finish rather than interrupting the build.",
        "We should get the actual output rather than the names.",
        "I should be careful with the tree because it is dirty.",
        "I should have said so, since the branch was local.",
        "## Missing issues I recommend creating\n\n- Export",
        "Would you recommend a table? I don't know.",
        "If it is slow, I'll use a table instead of a file.",
        "I'll check the tests because they may break.",
        "```\nI'd recommend a table\n```",
        "> I'd recommend a table",
        "There are two options:\n\nnothing is listed here.",
        "The call takes these options:\n\n- `-v` more words\n- `-q` fewer words\n\nThat is all.",
        "Here is what I did:\n\n1. Moved the rounding\n2. Adapted the tests",
        "I should probably use a table instead of a file.",
        "The store uses a table instead of a file.",
        "### Recommendation\n\nYour table is exactly right.",
    ],
)
def test_words_that_choose_nothing(talked: Callable[[str], tuple[Decision, ...]], text: str) -> None:
    assert talked(text) == ()


def test_a_plan_is_quoted_by_its_first_step(talked: Callable[[str], tuple[Decision, ...]]) -> None:
    (plan,) = talked(PLAN)
    assert plan.evidence is not None
    assert plan.evidence.quote == "Move the rounding"


def test_a_choice_that_is_thought_and_then_said_counts_once(script: Begin, episode_of: Extracted) -> None:
    log = script("s").prompt("Do").think("I'll use a map instead of a list.").say("I'd recommend a map.")
    assert [one.chosen for one in episode_of(log).decisions] == ["I'd recommend a map."]


def test_what_a_thought_goes_on_with_is_no_choice(script: Begin, episode_of: Extracted) -> None:
    log = script("s").prompt("Go").think("I'll adjust the tests since the page has changed.")
    assert episode_of(log).decisions == ()


def test_a_choice_that_is_only_thought_counts(script: Begin, episode_of: Extracted) -> None:
    log = script("s").prompt("Do").think("I'll use a map instead of a list.").say("Let me begin.")
    assert [one.chosen for one in episode_of(log).decisions] == ["I'll use a map instead of a list."]


def test_an_unanswered_question_is_a_proposal_and_an_answered_one_a_persons_choice(
    script: Begin, episode_of: Extracted
) -> None:
    asked = {"questions": [{"question": "Table or file?", "options": [{"label": "Table"}, {"label": "File"}]}]}
    (proposed,) = episode_of(script("a").prompt("Do").rejected("AskUserQuestion", asked)).decisions
    assert (proposed.chosen, proposed.options, proposed.actor) == ("ask: Table or file?", ("Table", "File"), "agent")
    answer = 'User has answered your questions: "Table or file?"="Table". Go on.'
    (chosen,) = episode_of(script("b").prompt("Do").call("AskUserQuestion", asked, output=answer)).decisions
    assert (chosen.chosen, chosen.actor) == ("Table", "user")


def test_an_assent_has_the_question_it_answers_as_context(script: Begin, episode_of: Extracted) -> None:
    log = script("s").prompt("Look at the cart").say("Rounding is wrong. Shall I fix it?").prompt("yes please")
    (decision,) = episode_of(log.edit("shop/cart.py")).decisions
    assert decision.context == "yes please – Shall I fix it?"  # noqa: RUF001  (a dash, as it is written)


def test_a_look_that_is_announced_first_is_no_choice(talked: Callable[[str], tuple[Decision, ...]]) -> None:
    assert talked("I will first search for `price.py` since the total is computed there.") == ()


def test_what_the_next_call_carries_out_is_that_calls_decision(script: Begin, episode_of: Extracted) -> None:
    words = "Let's remove scratch.py since nothing reads it."
    log = script("s").prompt("Do").say(words).run("rm scratch.py", "")
    assert [one.chosen for one in episode_of(log).decisions] == ["run rm scratch.py"]
    other = script("t").prompt("Do").say(words).run("rm notes.txt", "")
    assert [one.stated for one in episode_of(other).decisions] == [True, False]
    place = script("u").prompt("Do").say("I'll put it in price.py since the totals are there.").edit("shop/price.py")
    assert [one.stated for one in episode_of(place).decisions] == [True, False]
