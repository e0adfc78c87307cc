"""Does `seen` find the issue that a text names, in whatever form it is pasted, and leave out what helps nobody?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from helix_episodes.extraction.fingerprints import keys_of_text
from helix_episodes.store import encode_episode
from helix_graph.graph.api import Graph
from thoroughness import few_rows

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from helix_episodes.model import Episode, Event
    from session_script import Script

    Begin = Callable[..., Script]
    Extracted = Callable[[Script], Episode]

BUILD = "# example.com/shop\nstore/price.go:12:5: undefined: agent"
LINT = (
    "[lint:go] $ golangci-lint run ./...\n[lint:go] store/sum.go:3:1: undefined: agent (typecheck)\n"
    "[lint:go] 1 issues:\n[lint:go] * typecheck: 1\n[lint:go] ERROR task failed"
)
PYTEST = "FAILED tests/test_cart.py::test_total - KeyError: 'vat'\n===== 1 failed, 4 passed in 0.12s ====="
TRACEBACK = (
    "____________ test_total ____________\n\n    def test_total():\n>       total()\n"
    "E       KeyError: 'vat'\n\ntests/test_cart.py:12: KeyError"
)
RSPEC = """\
2 examples, 1 failure

Failed examples:

rspec ./spec/cart_spec.rb:12 # Cart adds two prices
"""
LINTED = """\
store/sum.go:3:1: Error return value of `os.Remove` is not checked (errcheck)
store/sum.go:9:7: G306: Expect WriteFile permissions to be 0600 or less (gosec)
store/kind.go:4:2: missing cases in switch of type shop.Kind: shop.Big, shop.Small (exhaustive)
3 issues:
* errcheck: 1
* exhaustive: 1
* gosec: 1"""
TESTS = "--- FAIL: TestTotal (0.01s)\n    cart_test.go:12: got 3\n--- FAIL: TestPrice (0.01s)\nFAIL\nFAIL\tshop\t0.01s"


@pytest.fixture
def known(script: Begin, episode_of: Extracted, tmp_path: Path) -> Callable[..., Graph]:
    """A graph of one session that ran a command with an output, and failed."""

    def asked(command: str, output: str, *, said: str = "") -> Graph:
        log = script("s").prompt("Do").edit("store/price.go")
        log = log.say(said) if said else log
        return remembered(tmp_path, episode_of(log.run(command, output, code=1)))

    return asked


def remembered(folder: Path, *episodes: Episode) -> Graph:
    (folder / "episodes").mkdir(exist_ok=True)
    for episode in episodes:
        (folder / "episodes" / f"{episode.id}.json").write_bytes(encode_episode(episode))
    graph = Graph(folder / "episodes", folder / "causality")
    graph.compile()
    return graph


@pytest.mark.parametrize(
    ("command", "output", "pasted"),
    few_rows(
        [
            ("go build ./...", BUILD, LINT),
            ("mise run lint", LINT, BUILD),
            ("go build ./...", BUILD, "undefined: agent"),
            ("go build ./...", BUILD, "other.go:99:1: undefined: agent"),
            ("pytest", PYTEST, TRACEBACK),
            ("pytest", PYTEST, "E       KeyError: 'vat'"),
            ("pytest", PYTEST, "test_total"),
            ("pytest", PYTEST, "tests/test_cart.py::test_total"),
            ("go test ./...", TESTS, "TestTotal"),
            ("go test ./...", TESTS, "--- FAIL: TestPrice (0.20s)"),
            ("bundle exec rspec", RSPEC, "rspec ./spec/cart_spec.rb:40 # Cart adds two prices"),
            ("golangci-lint run", LINTED, "Error return value of `os.Remove` is not checked (errcheck)"),
            ("golangci-lint run", LINTED, "G306: Expect WriteFile permissions to be 0600 or less"),
            ("golangci-lint run", LINTED, "G306: Expect WriteFile permissions to be 0600 or less (gosec)"),
            (
                "golangci-lint run",
                LINTED,
                "missing cases in switch of type shop.Kind: shop.Big, shop.Small (exhaustive)",
            ),
            ("go build ./...", BUILD, "web:build: other.go:99:1: undefined: agent"),
            ("go build ./...", BUILD, "#12 3.4 other.go:99:1: undefined: agent"),
            ("go build ./...", BUILD, "2026-03-02T09:00:00Z other.go:99:1: undefined: agent"),
            ("go build ./...", BUILD, "12:00:01 [api] other.go:99:1: undefined: agent"),
        ],
        8,
    ),
)
def test_an_issue_is_found_in_any_form(known: Callable[..., Graph], command: str, output: str, pasted: str) -> None:
    answer = known(command, output).seen(pasted)
    assert (answer.level, answer.sessions["exact"]) == ("exact", 1)


@pytest.mark.parametrize(
    ("command", "output", "pasted"),
    [
        ("mise run lint", LINT, "[lint:go] $ golangci-lint run ./..."),
        ("mise run lint", LINT, "[lint:go] ERROR task failed"),
        ("go build ./...", BUILD, "# example.com/shop"),
        ("go build ./...", BUILD, "undefined: price"),
        ("pytest", PYTEST, "===== 1 failed, 4 passed in 0.12s ====="),
        ("pytest", PYTEST, "FAILED tests/test_cart.py::test_price - KeyError: 'vat of price'"),
        ("go test ./...", TESTS, "TestSum"),
    ],
)
def test_a_banner_or_another_issue_is_not_the_same_error(
    known: Callable[..., Graph], command: str, output: str, pasted: str
) -> None:
    assert known(command, output).seen(pasted).level != "exact"


@pytest.mark.parametrize(
    "banner",
    [
        "\u27a4 YN0000: \u2514 Completed in 0s 201ms",
        "\u27a4 YN0000: Failed with errors in 0s 402ms",
        "Errors while running CTest",
        "In deploy.sh line 3:",
        "npm error code ERESOLVE",
        "npm error ERESOLVE unable to resolve dependency tree",
    ],
)
def test_a_closing_or_opening_line_of_a_tool_is_no_issue(banner: str) -> None:
    assert list(keys_of_text(banner)) == []


def test_two_conflicts_of_packages_are_two_issues() -> None:
    def conflict(peer: str) -> set[str]:
        head = "npm error code ERESOLVE\nnpm error ERESOLVE unable to resolve dependency tree\nnpm error\n"
        return set(keys_of_text(f"{head}npm error Could not resolve dependency:\nnpm error peer {peer} from a form"))

    assert conflict("react@17")
    assert conflict("react@17").isdisjoint(conflict("vue@2"))


def test_a_failure_that_was_announced_is_no_precedent(known: Callable[..., Graph]) -> None:
    told = "First a test that must fail."
    assert known("pytest", PYTEST).seen(PYTEST).found
    assert not known("pytest", PYTEST, said=told).seen(PYTEST).found


def test_an_event_names_its_issue_and_what_it_is_about(script: Begin, episode_of: Extracted) -> None:
    error = _error(episode_of(script("s").prompt("Do").edit("store/price.go").run("go build ./...", BUILD, code=1)))
    again = _error(episode_of(script("t").prompt("Do").edit("store/sum.go").run("mise run lint", LINT, code=1)))
    assert error.fingerprint == again.fingerprint is not None
    assert error.place
    assert again.place
    assert (error.place.file, error.place.symbol) == ("store/price.go", "agent")
    assert again.place.file == "store/sum.go"


def test_an_output_without_a_diagnostic_names_no_issue(script: Begin, episode_of: Extracted) -> None:
    error = _error(
        episode_of(script("s").prompt("Do").edit("a.go").run("mise run lint", "[lint] ERROR task failed", code=1))
    )
    assert (error.fingerprint, error.place, error.also) == (None, None, ())


def _error(episode: Episode) -> Event:
    return next(event for event in episode.events if event.type == "error")
