"""Have we met this error before, and what fixed it?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from helix_episodes.errors import InvalidArgument
from helix_graph.errors import OutOfRange

if TYPE_CHECKING:
    from collections.abc import Callable

    from episode_drawing import Draw, Remember
    from helix_episodes.model import Episode
    from helix_graph.graph.api import Graph
    from session_script import Script

FIXED = ("run ruff -> ruff fails: E501", "edit a.py -| ruff fails: E501", "edit a.py -> ruff passes")


@pytest.fixture
def graph(draw: Draw, remember: Remember) -> Graph:
    return remember(
        draw("open", "run ruff -> ruff fails: E501", at="2026-03-09T10:00:00Z"),
        draw("fixed", *FIXED, at="2026-03-02T10:00:00Z"),
        draw("other", "run ruff -> ruff fails: F401", at="2026-03-05T10:00:00Z"),
        draw("tests", "run pytest -> pytest fails: test failed", at="2026-03-04T10:00:00Z"),
    )


def test_the_very_line_is_recognised_but_for_its_numbers(graph: Graph) -> None:
    answer = graph.seen("shop/cart.py:977: E501")
    assert (answer.found, answer.level) == (True, "exact")


def test_a_repaired_session_is_shown_and_one_that_never_was_is_counted(graph: Graph) -> None:
    answer = graph.seen("a.py:977: E501")
    (first,) = answer.precedents
    assert [(issue.sessions, issue.fixed) for issue in answer.issues] == [(2, 1)]
    assert (first.episode, first.fixed) == ("episode-fixed", True)
    (remedy,) = first.fixes
    assert (remedy.label, remedy.path, remedy.verified, remedy.verified_by) == (
        "edit source (.py)",
        "a.py",
        True,
        "ruff passes",
    )
    assert (first.session, first.date, first.task) == ("fixed", "2026-03-02T10:00:00Z", "the task of fixed")
    assert (first.line, first.quote) == (2, "ruff fails: E501")


def test_a_fix_that_nothing_verified_comes_after_one_that_was(draw: Draw, remember: Remember) -> None:
    graph = remember(
        draw("fixed", *FIXED, at="2026-03-02T10:00:00Z"),
        draw("perhaps", *FIXED[:2], at="2026-03-09T10:00:00Z"),
    )
    assert [p.episode for p in graph.seen("E501").precedents] == ["episode-fixed", "episode-perhaps"]
    assert [p.fixed for p in graph.seen("E501").precedents] == [True, False]


def test_a_kind_is_counted_where_its_repairs_say_nothing_of_this_error(graph: Graph) -> None:
    """The words of the change to `a.py` do not tell why it was made: it is no answer for another file."""
    answer = graph.seen("shop/price.py:3:89: E501 Line too long (99 > 88)\nFound 1 error.\n")
    assert (answer.level, answer.looked_for[0]) == ("family", "ruff fails: E501")
    assert [(issue.sessions, issue.fixed) for issue in answer.issues] == [(2, 1)]
    assert answer.precedents == ()


@pytest.mark.parametrize(
    "text", ["shop/price.py:3:89: B006 Mutable default\nFound 1 error.\n", "=== 1 failed, 2 passed in 0.31s ===\n"]
)
def test_that_the_same_check_failed_is_no_precedent(graph: Graph, text: str) -> None:
    assert not graph.seen(text).found


@pytest.mark.parametrize("text", ["ruff", "ruff fails: E501", "RUFF FAILS: e501"])
def test_a_label_or_a_part_of_it_will_do(graph: Graph, text: str) -> None:
    assert graph.seen(text).level == "family"


def test_a_code_in_a_line_without_its_summary_is_recognised(graph: Graph) -> None:
    assert graph.seen("lib/new.py:1:1: E501 too long by far").level == "family"


def test_what_was_never_met_is_not_found(graph: Graph) -> None:
    answer = graph.seen("error[E0308]: mismatched types\n --> src/main.rs:2:5\n")
    assert (answer.found, answer.level, answer.precedents) == (False, None, ())


def test_without_a_text_the_newest_errors_are_shown(graph: Graph) -> None:
    answer = graph.seen(limit=2)
    assert answer.level == "recent"
    assert [precedent.episode for precedent in answer.precedents] == ["episode-open", "episode-other"]


def test_a_text_with_nothing_in_it_is_no_question(graph: Graph) -> None:
    """A program that printed nothing must not be answered with somebody's errors."""
    with pytest.raises(InvalidArgument, match="TEXT is empty"):
        graph.seen(" \n")


def test_words_that_any_program_may_say_are_no_precedent_for_another(draw: Draw, remember: Remember) -> None:
    graph = remember(draw("s", "run deploy.sh -> deploy.sh fails: no such file"))
    assert not graph.seen("grep: foo/bar.go: No such file or directory").found
    assert graph.seen("deploy.sh: line 3: No such file or directory").found


def test_a_session_counts_once_per_level(draw: Draw, remember: Remember) -> None:
    graph = remember(draw("s", "run ruff -> ruff fails: E501", "run ruff#2 -> ruff fails: E501#2"))
    assert len(graph.seen("E501").precedents) == 1


def test_a_megabyte_of_output_is_answered(graph: Graph) -> None:
    assert graph.seen("all is well\n" * 90_000 + "shop/cart.py:4: E501\n").level == "exact"


@pytest.mark.parametrize("limit", [0, 101])
def test_the_limit_has_a_range(graph: Graph, limit: int) -> None:
    with pytest.raises(OutOfRange, match="between 1 and 100"):
        graph.seen("x", limit=limit)


@pytest.mark.parametrize(
    "text", ["process timed out", "confirmation FAILED: process timed out", "resume_test.go:12: resume with user"]
)
def test_a_part_of_a_recorded_message_is_found_where_it_is_said(
    script: Callable[[str], Script],
    episode_of: Callable[[Script], Episode],
    draw: Draw,
    remember: Remember,
    text: str,
) -> None:
    said = "resume_test.go:833: resume with user confirmation failed: process timed out"
    output = f"--- FAIL: TestResume (0.10s)\n    {said}\nFAIL\nFAIL\texample.com/shop\t0.3s\n"
    log = script("s1").prompt("Work on the shop").run("go test ./...", output, code=1)
    graph = remember(episode_of(log), draw("t", "run go build -> go build fails: out of process"))
    answer = graph.seen(text)
    assert answer.level == "part"
    assert [one.message for one in answer.precedents] == [said]


def test_a_message_without_its_place_is_the_same_kind_of_error(draw: Draw, remember: Remember) -> None:
    graph = remember(draw("s", "run golangci-lint -> golangci-lint fails: unused", "edit a.go -> golangci-lint passes"))
    with_place = graph.seen("cmd/x/foo.go:12:6: func lookupThing is unused (unused)")
    without = graph.seen("func lookupThing is unused (unused)")
    assert with_place.level == without.level == "family"
    assert [one.sessions for one in with_place.issues] == [one.sessions for one in without.issues]
