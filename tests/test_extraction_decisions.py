"""Which decisions does an episode tell of, and which not?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

    from helix_episodes.model import Episode
    from session_script import Script

    Begin = Callable[..., Script]
    Chosen = Callable[[Script], list[tuple[str, str]]]
    Extracted = Callable[[Script], Episode]


@pytest.fixture
def chosen(episode_of: Extracted) -> Chosen:
    return lambda one: [(decision.type, decision.chosen) for decision in episode_of(one).decisions]


def test_a_run_of_edits_to_one_file_is_one_decision(script: Begin, episode_of: Extracted) -> None:
    log = script("s").prompt("Add a cart").edit("shop/cart.py").edit("shop/tax.py").edit("shop/cart.py")
    cart, tax = episode_of(log).decisions
    assert (cart.chosen, cart.action.count if cart.action else 0) == ("edit shop/cart.py", 2)
    assert cart.evidence is not None
    assert (cart.evidence.line, cart.evidence.also) == (2, (6,))
    assert tax.chosen == "edit shop/tax.py"


@pytest.mark.parametrize("breaker", ["command", "prompt"])
def test_a_command_or_a_prompt_breaks_the_run(script: Begin, chosen: Chosen, breaker: str) -> None:
    log = script("s").prompt("Add a cart").edit("shop/cart.py")
    log = log.run("pytest", "1 passed in 0.1s") if breaker == "command" else log.prompt("And tax")
    edits = [words for _, words in chosen(log.edit("shop/cart.py")) if words.startswith("edit")]
    assert edits == ["edit shop/cart.py", "edit shop/cart.py"]


def test_looking_is_none(script: Begin, chosen: Chosen) -> None:
    log = script("s").prompt("What is this?").call("Read", {"file_path": "/work/shop/a.py"}, output="1\tx")
    log = (
        log.call("Grep", {"pattern": "x"}, output="a.py")
        .run("git status && ls | head -3", "clean")
        .run("cat a.py", "x")
    )
    assert chosen(log) == []


@pytest.mark.parametrize(
    "command",
    [
        "bd --readonly list --json", "tracker session show 12", "tracker ready", "runner run api -- git diff --stat",
        "cargo info serde", "deploytool release create --help", "wsl -e sh -c 'which zsh; ls'",
        "gh api repos/ann/shop/actions/jobs/1/logs > /tmp/job.log && tail -20 /tmp/job.log",
        "python3 -c \"print(open('a.txt').read()[:80])\"", "gh api repos/a/b/readme --jq .content | base64 -d",
    ],
)  # fmt: skip
def test_programs_that_nobody_knows_may_only_look_too(script: Begin, chosen: Chosen, command: str) -> None:
    assert chosen(script("s").prompt("What is this?").run(command, "x")) == []


@pytest.mark.parametrize(
    "command",
    [
        "bd create 'list of carts'", "tracker add list", "runner run api -- git push", "wsl -e sh -c 'rm -r build'",
        "python3 -c \"open('a.txt', 'w').write('x'); print('done')\"", "perl -pi -e 's/print/say/' a.pl",
        "curl -s https://shop.example/data > data.json",
    ],
)  # fmt: skip
def test_programs_that_nobody_knows_may_change_something(script: Begin, chosen: Chosen, command: str) -> None:
    assert chosen(script("s").prompt("Do it").run(command, "x")) == [("implementation", f"run {command}")]


def test_waiting_for_a_command_that_runs_is_none(script: Begin, chosen: Chosen) -> None:
    waits = script("s").prompt("Test").call("write_stdin", {"session_id": 7, "chars": "\u0003"}, output="^C")
    assert chosen(waits) == []
    types = script("t").prompt("Test").call("write_stdin", {"session_id": 7, "chars": "yes\n"}, output="ok")
    assert len(chosen(types)) == 1


def test_a_look_after_a_tools_error_is_how_it_recovers(script: Begin, chosen: Chosen) -> None:
    log = script("s").prompt("Fix the cart")
    log = log.call(
        "Read", {"file_path": "/work/shop/cart.py"}, error="<tool_use_error>File does not exist.</tool_use_error>"
    )
    log = log.call("Glob", {"pattern": "**/cart.py"}, output="/work/shop/src/cart.py")
    log = log.call("Read", {"file_path": "/work/shop/src/cart.py"}, output="1\tx")
    log = log.call("Read", {"file_path": "/work/shop/src/cart.py"}, output="1\tx")
    assert chosen(log) == [("recovery", "use Glob: **/cart.py"), ("recovery", "use Read: src/cart.py")]


def test_the_same_command_again_without_a_change_is_the_same_decision(script: Begin, episode_of: Extracted) -> None:
    log = script("s").prompt("Check").run("pytest", "1 passed in 0.1s").run("pytest", "1 passed in 0.1s")
    log = log.edit("shop/cart.py").run("pytest", "1 passed in 0.1s")
    runs = [one.action.count for one in episode_of(log).decisions if one.action and one.action.verb == "run"]
    assert runs == [2, 1]


def test_a_look_that_answers_an_error_and_repairs_none_has_not_failed(script: Begin, episode_of: Extracted) -> None:
    error = "<tool_use_error>File does not exist.</tool_use_error>"
    log = script("s").prompt("Read the cart").call("Read", {"file_path": "/work/shop/cart.py"}, error=error)
    looked = episode_of(log.call("Glob", {"pattern": "**/cart.py"}, output="/work/shop/src/cart.py")).decisions[-1]
    assert (looked.type, looked.outcome) == ("recovery", "unknown")


def test_the_first_answer_to_an_error_is_a_recovery_and_its_context_is_the_error(
    script: Begin, episode_of: Extracted
) -> None:
    log = script("s").prompt("Add a cart").edit("shop/cart.py")
    log = log.run("ruff check .", "shop/cart.py:1:80: E501 Line too long (90 > 79)\nFound 1 error.", code=1)
    log = log.say("I'll wrap the line.").edit("shop/cart.py").edit("shop/other.py")
    recovery, other = episode_of(log).decisions[-2:]
    assert (recovery.type, recovery.rationale) == ("recovery", "I'll wrap the line.")
    assert recovery.context.startswith("ruff fails: E501")
    assert other.type == "implementation"


def test_a_refused_call_is_a_decision_that_failed(script: Begin, episode_of: Extracted) -> None:
    log = script("s").prompt("Add a cart")
    log = log.rejected("Bash", {"command": "git push --force"}, "not to main")
    (decision,) = episode_of(log).decisions
    assert (decision.chosen, decision.outcome) == ("run git push --force", "failure")
    assert decision.action is not None
    assert decision.action.flags == ("--force",)


def test_an_edit_that_silences_a_check_is_marked(script: Begin, episode_of: Extracted) -> None:
    log = (
        script("s")
        .prompt("Fix lint")
        .edit("a.py", "import os", "import os  # noqa: F401")
        .edit("b.py", "x  # noqa", "y")
    )
    marks = [one.action.suppresses for one in episode_of(log).decisions if one.action]
    assert marks == [True, False]


def test_a_delegation_is_routing(script: Begin, chosen: Chosen) -> None:
    arguments = {"subagent_type": "Explore", "description": "Find the tax rules", "prompt": "Look for them."}
    log = script("s").prompt("Explain tax").call("Task", arguments, output="They are in tax.py.")
    assert chosen(log) == [("routing", "delegate to Explore: Find the tax rules")]


def test_a_decision_that_a_message_spells_out_is_taken_whole(script: Begin, episode_of: Extracted) -> None:
    text = "Two.\n\n## Decisions\n\n1. Store cents as integers because floats round\n2. No cache\n\n## Next\n\n1. Go"
    decisions = episode_of(script("s").prompt("Design it").say(text)).decisions
    assert [(one.chosen, one.rationale, one.stated) for one in decisions] == [
        ("Store cents as integers", "floats round", True),
        ("No cache", "", True),
    ]


def test_words_of_choice_in_prose_make_none(script: Begin, chosen: Chosen) -> None:
    assert chosen(script("s").prompt("Hi").say("I decided to look; the chosen option was selected before.")) == []


def test_context_never_repeats_the_choice(script: Begin, episode_of: Extracted) -> None:
    (decision,) = episode_of(script("s").prompt("run make test").run("make test", "ok")).decisions
    assert decision.chosen == "run make test"
    assert decision.context == ""


def test_a_tool_that_was_told_nothing_is_quoted_by_its_name_and_proves_nothing(
    script: Begin, episode_of: Extracted
) -> None:
    (decision,) = episode_of(script("s").prompt("Do").call("mcp__desk__submit", {}, output="done")).decisions
    assert decision.outcome == "unknown"
    assert decision.evidence is not None
    assert decision.evidence.quote == "mcp__desk__submit"


@pytest.mark.parametrize(("between", "answers"), [(3, True), (4, False)])
def test_a_look_answers_an_error_of_at_most_four_calls_ago(
    script: Begin, chosen: Chosen, between: int, *, answers: bool
) -> None:
    log = script("s").prompt("Find the cart")
    log = log.call("Read", {"file_path": "/work/shop/cart.py"}, error="File does not exist.")
    for number in range(between):
        log = log.call("Read", {"file_path": f"/work/shop/other{number}.py"}, output="x = 1")
    log = log.call("Glob", {"pattern": "**/cart.py"}, output="/work/shop/lib/cart.py")
    assert chosen(log) == ([("recovery", "use Glob: **/cart.py")] if answers else [])
