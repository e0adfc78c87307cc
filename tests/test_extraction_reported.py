"""Which failures are known only from words: a person's report, a pasted output, an editor's diagnostics?"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

    from helix_episodes.model import Episode, Event
    from session_script import Script

    Begin = Callable[..., Script]
    Extracted = Callable[[Script], Episode]

PASTED = """I get this on the build server:
  shop/cart.go:12:2: SA4006: this value of total is never used (staticcheck)
  1 issues:
  * staticcheck: 1"""


def errors(episode: Episode) -> list[Event]:
    return [event for event in episode.events if event.type == "error"]


@pytest.mark.parametrize(
    "text",
    [
        "I'm getting this error on the server: exit status 3",
        "The checkout page crashes now",
        "it still fails",
        "the second part is not correct, prices have two digits",
        "the tests are failing, can you take a look?",
        "why is the build failing?",
        "2 tests are failing in the cart",
    ],
)
def test_what_a_person_reports_is_an_error_in_their_words(script: Begin, episode_of: Extracted, text: str) -> None:
    (error,) = errors(episode_of(script("s").prompt("Round the prices").edit("shop/cart.py").prompt(text)))
    assert (error.actor, error.check, error.family) == ("user", "work", "reported by the user")
    assert error.evidence is not None
    assert error.evidence.quote == text


@pytest.mark.parametrize(
    "text",
    [
        "does it fail locally?",
        "if it fails, tell me",
        "add a test that makes sure that it fails when the total is wrong",
        "what happens when the server crashes",
        "fix the failing test",
        "Great. Now handle errors in the cart",
        "can we show the error to the user?",
        "```\nit still fails\n```",
    ],
)
def test_what_is_asked_or_supposed_is_no_failure(script: Begin, episode_of: Extracted, text: str) -> None:
    assert errors(episode_of(script("s").prompt("Round the prices").edit("shop/cart.py").prompt(text))) == []


def test_a_request_that_begins_a_session_rejects_nothing(script: Begin, episode_of: Extracted) -> None:
    assert errors(episode_of(script("s").prompt("This is wrong in the docs: prices have two digits"))) == []


def test_a_customers_trouble_is_no_failure_of_the_agents_work(script: Begin, episode_of: Extracted) -> None:
    log = script("s").prompt("Hello").say("How can I help?").prompt("The lamp I got is wrong, it is broken.")
    assert errors(episode_of(log.call("exchange_item", {"item": "7"}, output="done"))) == []


def test_a_report_is_answered_by_what_comes_next_and_settled_by_acceptance(
    script: Begin, episode_of: Extracted
) -> None:
    log = script("s").prompt("Round the prices").edit("shop/cart.py").prompt("the total is wrong, it is broken")
    log = log.edit("shop/total.py").prompt("that works, thanks")
    episode = episode_of(log)
    (error,) = errors(episode)
    second = episode.decisions[1]
    (fix,) = episode.fixes
    assert (second.type, second.caused_by) == ("recovery", (error.id,))
    assert (fix.error, fix.changes) == (error.id, (second.id,))
    accepted = next(event for event in episode.events if event.id == fix.verified_by)
    assert (accepted.type, accepted.actor, accepted.content) == (
        "milestone", "user", "the user accepts: that works, thanks"
    )  # fmt: skip


def test_a_report_that_nobody_accepts_has_no_fix(script: Begin, episode_of: Extracted) -> None:
    log = script("s").prompt("Do").edit("a.py").prompt("it is broken").edit("b.py").prompt("and rename it")
    assert episode_of(log).fixes == ()


def test_looking_beyond_the_project_answers_a_report(script: Begin, episode_of: Extracted) -> None:
    log = script("s").prompt("Do").edit("a.py").prompt("you are wrong, there is no such option")
    log = log.call("Grep", {"pattern": "option"}, output="a.py:1").call(
        "WebSearch", {"query": "shop option"}, output="x"
    )
    decision = episode_of(log).decisions[-1]
    assert (decision.type, decision.chosen) == ("recovery", "use WebSearch: shop option")


def test_pasted_output_is_read_by_the_tools_own_grammar_and_repaired_by_its_next_run(
    script: Begin, episode_of: Extracted
) -> None:
    log = script("s").prompt(PASTED).edit("shop/cart.go").run("golangci-lint run", "0 issues.")
    episode = episode_of(log)
    (error,) = errors(episode)
    assert (error.check, error.family, error.path) == ("golangci-lint", "staticcheck SA4006", "shop/cart.go")
    (fix,) = episode.fixes
    assert (fix.error, fix.changes) == (error.id, ("d001",))
    assert episode.outcome == "success"


def listed(*found: dict[str, Any]) -> str:
    return json.dumps([{"uri": "file:///work/shop/shop/cart.py", "diagnostics": list(found)}])


def test_asking_the_editor_is_a_check(script: Begin, episode_of: Extracted) -> None:
    wrong = {"message": "undefined: total", "severity": "Error"}
    asked = {"uri": "file:///work/shop/shop/cart.py"}
    log = script("s").prompt("Do").edit("shop/cart.py").call("mcp__ide__getDiagnostics", asked, output=listed(wrong))
    log = log.edit("shop/cart.py").call("mcp__ide__getDiagnostics", asked, output=listed())
    episode = episode_of(log)
    (error,) = errors(episode)
    assert (error.check, error.family) == ("diagnostics", "undefined name")
    assert [one.type for one in episode.decisions] == ["implementation", "test", "recovery", "test"]
    assert [fix.error for fix in episode.fixes] == [error.id]
    assert (episode.outcome, episode.outcome_basis) == ("success", "measured")


def test_hints_are_no_failures(script: Begin, episode_of: Extracted) -> None:
    hint = {"message": "loop can be modernised", "severity": "Hint"}
    log = script("s").prompt("Do").edit("shop/cart.py").call("mcp__ide__getDiagnostics", {}, output=listed(hint))
    assert errors(episode_of(log)) == []


def test_diagnostics_sent_along_count_unless_the_agent_dismisses_them(script: Begin, episode_of: Extracted) -> None:
    def log(name: str, words: str) -> Script:
        wrong = {"message": '"io" imported and not used', "severity": "Error"}
        one = script(name).prompt("Do").edit("shop/cart.py")
        attached = {"type": "diagnostics", "isNew": True, "files": json.loads(listed(wrong))}
        first = one.records[-1]
        record = {**first, "type": "attachment", "uuid": f"{name}-d", "attachment": attached}
        one.records.append({key: value for key, value in record.items() if key not in {"message", "toolUseResult"}})
        return one.say(words).edit("shop/cart.py")

    (error,) = errors(episode_of(log("a", "The import is not used any more, let me remove it.")))
    assert (error.check, error.family, error.path) == ("diagnostics", "unused import", "shop/cart.py")
    assert errors(episode_of(log("b", "That diagnostic is stale, the import is used."))) == []


def test_a_diagnostic_the_log_leaves_out_counts_when_the_agent_acts_on_it(script: Begin, episode_of: Extracted) -> None:
    log = script("s").prompt("Do").edit("shop/cart.py")
    acted = log.say("The diagnostics show that `total` is undefined. Let me fix that.").edit("shop/cart.py")
    episode = episode_of(acted)
    (error,) = errors(episode)
    assert (error.check, error.family) == ("diagnostics", "undefined name")
    assert [one.caused_by for one in episode.decisions] == [(), (error.id,)]
    looked = (
        script("t").prompt("Do").edit("a.py").say("The diagnostics show an undefined name.").run("pytest", "1 passed")
    )
    assert errors(episode_of(looked)) == []


def test_only_changes_to_the_named_file_brought_a_pasted_failure_about(script: Begin, episode_of: Extracted) -> None:
    log = script("s").prompt("Do").edit("shop/cart.go").edit("shop/total.go").prompt(PASTED)
    episode = episode_of(log)
    (error,) = errors(episode)
    led = [link.source for link in episode.links if link.reason == "edit-test" and link.target == error.id]
    assert led == [one.id for one in episode.decisions if one.action and one.action.path == "shop/cart.go"]
