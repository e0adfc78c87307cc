"""Do two mentions of the same thing get one label, and two different things two?"""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helix_episodes.model import Action, Decision, Event
from helix_episodes.normalization import extension, is_telling, message_template, template
from helix_graph.graph.node_labels import check_label, decision_key, decision_kind, event_key, event_type, outcome_key
from whole_tables import each_row


def decision(chosen: str = "do it", **action: Any) -> Decision:  # noqa: ANN401  (the fields of an Action)
    acted = Action(**action) if action else None
    return Decision(id="d001", timestamp=None, type="implementation", chosen=chosen, action=acted)


def failure(check: str | None, family: str | None = None, message: str | None = None, content: str = "") -> Event:
    return Event(id="e001", timestamp=None, type="error", content=content, check=check, family=family, message=message)


@each_row(
    ("expected", "action"),
    [
        ("edit source (.go)", {"verb": "edit", "role": "source", "path": "hub/prefix.go"}),
        ("create test (.py)", {"verb": "create", "role": "test", "path": "tests/test_cart.py"}),
        ("edit ci (.yml), suppress a check", {"verb": "edit", "role": "ci", "path": "a/ci.yml", "suppresses": True}),
        ("delete file", {"verb": "delete", "path": "Makefile"}),
        ("run mise lint", {"verb": "run", "program": "mise", "subcommand": "lint"}),
        ("run git push --force", {"verb": "run", "program": "git", "subcommand": "push", "flags": ("--force",)}),
        ("run gh pr create", {"verb": "run", "program": "gh", "subcommand": "pr create"}),
        ("run deploy.sh", {"verb": "run", "program": "./scripts/deploy.sh"}),
        ("run python <path>.py", {"verb": "run", "program": "python", "subcommand": "tools/seed.py"}),
        ("delegate to Explore", {"verb": "delegate", "object": "Explore"}),
        ("use WebFetch", {"verb": "use", "object": "WebFetch"}),
        ("delegate to security", {"verb": "delegate", "object": "house:review:security"}),
        ("choose sqlite over json", {"verb": "choose", "object": "SQLite over JSON"}),
        ("choose only new", {"verb": "choose", "object": "Only new (Recommended)"}),
        ("choose plan", {"verb": "choose", "object": "Plan: let carts expire"}),
    ],
)
def test_actions_become_short_sentences(expected: str, action: dict[str, Any]) -> None:
    assert decision_key(decision(**action)) == expected


@each_row(
    ("expected", "chosen"),
    [
        ("use cache", "We'll adopt a shared cache for sessions"),
        ("use cache", "Use the caching layer"),
        ("not use cache", "Do not use the caching layer"),
        ("add test", "Added regression tests for the parser"),
        ("remove dependency", "Drop the left-pad dependency"),
        ("run hook --no-verify", "Run the hooks with --no-verify"),
        ("serena-first routing", "Serena-first routing"),
        ("tuples over lists", "tuples over lists"),
    ],
)
def test_prose_becomes_verb_and_class(expected: str, chosen: str) -> None:
    assert decision_key(decision(chosen)) == expected


@each_row(
    ("expected", "event"),
    [
        ("golangci-lint fails: errcheck", failure("golangci-lint", "errcheck")),
        ("Edit fails: text not unique", failure("Edit", "text not unique")),
        ("git fails: cannot stat <path>.py", failure("git", None, "cannot stat /tmp/x/cart.py:31")),
        ("step fails: no message", failure(None)),
        ("pytest passes", Event(id="e", timestamp=None, type="test", content="", check="pytest", status="ok")),
        (
            "pytest fails: AssertionError",
            Event(
                id="e",
                timestamp=None,
                type="test",
                content="",
                check="pytest",
                family="AssertionError",
                status="error",
            ),
        ),
        ("commit", Event(id="e", timestamp=None, type="commit", content="Fix cart", commit="4fd21ab")),
        (
            "Explore reports back",
            Event(id="e", timestamp=None, type="handoff", content="found it", check="Explore", status="ok"),
        ),
        ("hand over to Explore", Event(id="e", timestamp=None, type="handoff", content="look", check="house:Explore")),
        (
            "Edit rejected",
            Event(id="e", timestamp=None, type="tool_call", content="Edit rejected: no", status="rejected"),
        ),
        ("lint.sh fails: no such file", failure("./tools/lint.sh", "no such file")),
        ("Bash denied", Event(id="e", timestamp=None, type="tool_call", content="x", check="Bash", status="denied")),
    ],
)
def test_events_say_what_happened(expected: str, event: Event) -> None:
    assert event_key(event) == expected


def test_a_failed_test_run_is_an_error_node_and_a_passed_one_an_event() -> None:
    run = Event(id="e", timestamp=None, type="test", content="", check="pytest", status="error")
    assert event_type(run) == "error"
    passed = Event(id="e", timestamp=None, type="test", content="", check="pytest", status="ok")
    assert event_type(passed) == "event"


def test_failures_of_one_check_begin_alike() -> None:
    assert (event_key(failure("go test", "panic")) or "").startswith(check_label("go test"))


def test_an_unknown_outcome_has_no_label() -> None:
    assert outcome_key("unknown") is None
    assert outcome_key("success") == "success"


def test_a_command_without_a_program_is_prose() -> None:
    assert decision_kind(decision("x", verb="run")) == "prose"
    assert decision_kind(decision("x", verb="edit")) == "edit"


hashes = st.from_regex(r"[a-f][0-9][0-9a-f]{6,12}", fullmatch=True)
paths = st.from_regex(r"/[a-z]{1,8}/[a-z]{1,8}\.go", fullmatch=True)
numbers = st.integers(min_value=0, max_value=10**9)


@given(hashes, hashes, paths, paths, numbers, numbers)
def test_another_hash_path_or_number_is_the_same_label(
    one_hash: str, other_hash: str, one_path: str, other_path: str, one: int, other: int
) -> None:
    def label(sha: str, path: str, number: int) -> str | None:
        return event_key(failure("git", None, f"{path}:{number}: object {sha} missing after {number} tries"))

    assert label(one_hash, one_path, one) == label(other_hash, other_path, other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("use --no-verify", "use --verify"),
        ("retry the request", "do not retry the request"),
        ("ruff E501 first", "ruff F401 first"),
        ("answered HTTP 404", "answered HTTP 500"),
        ("exit code 1 of the script", "exit code 2 of the script"),
        ("tsc TS2345 in cart", "tsc TS2339 in cart"),
    ],
)
def test_another_negation_flag_or_code_is_another_label(one: str, other: str) -> None:
    assert decision_key(decision(one)) != decision_key(decision(other))
    assert event_key(failure("x", None, one)) != event_key(failure("x", None, other))


def test_negating_a_decision_with_an_action_free_option_changes_it() -> None:
    yes = decision(verb="choose", object="cache the response of the slow upstream service in memory")
    no = decision(verb="choose", object="cache the response of the slow upstream service, never in memory")
    assert decision_key(yes) != decision_key(no)


@given(st.text(max_size=200))
def test_masking_twice_is_masking_once(text: str) -> None:
    assert template(template(text)) == template(text)


@given(st.text())
def test_any_text_has_a_label(text: str) -> None:
    assert decision_key(decision(text))
    assert event_key(failure(text, text, text, text))


def test_a_message_keeps_names_and_drops_numbers_folders_and_sentences() -> None:
    assert message_template("cart.go:12:3: undefined: Total") == message_template("cart.go:40:1: undefined: Total")
    assert message_template("cart.go:12:3: undefined: Total") != message_template("cart.go:12:3: undefined: Price")
    assert message_template("\x1b[31mred\x1b[0m  line") == "red line"
    assert message_template("got 'no more than three words', not 'Cart'") == "got <text>, not Cart"


def test_a_message_that_only_says_failed_tells_nothing() -> None:
    assert not is_telling("FAILED (exit status 1)")
    assert is_telling("undefined: Total")


def test_extensions_are_of_the_last_part() -> None:
    assert extension("a.b/c") == ""
    assert extension("a/b.test.ts") == ".ts"


def test_long_lines_are_masked_in_bounded_time() -> None:
    assert len(template("a" * 1_000_000)) == 400
    assert len(template("/a" * 500_000)) <= 400
