"""Do the headings, labels and lists of a report tell its decisions, failures and lessons, and only those?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from told_reports import decisions, failures, in_json, in_markdown, links

if TYPE_CHECKING:
    from pathlib import Path


def test_what_is_put_off_among_the_next_steps_is_no_decision(tmp_path: Path) -> None:
    assert decisions(in_markdown(tmp_path, "## Next Steps\n\n### Deferred\n\n- Second cache\n")) == []


def test_a_heading_that_justifies_is_a_decision_with_what_stands_below_as_its_reason(tmp_path: Path) -> None:
    body = "### Why one retry is enough\n\nThe queue repeats by itself.\n\n### Why it failed\n\nNobody knows.\n"
    (decision,) = in_markdown(tmp_path, body).decisions
    assert (decision.chosen, decision.rationale) == ("Why one retry is enough", "The queue repeats by itself.")


@pytest.mark.parametrize(("level", "expected"), [("MUST", ["Skipped: Ask the tester"]), ("SHOULD", [])])
def test_a_binding_step_that_was_left_out_for_a_reason_was_decided(
    tmp_path: Path, level: str, expected: list[str]
) -> None:
    body = (
        "## Session End\n\n| Req | Step | Status | Evidence |\n|---|---|---|---|\n"
        f"| {level} | Ask the tester | [x] | SKIPPED: only prose changed |\n"
    )
    episode = in_markdown(tmp_path, body)
    assert decisions(episode) == expected
    assert [decision.rationale for decision in episode.decisions] == ["only prose changed"] * len(expected)


def test_what_a_mistake_led_to_is_a_failure_once(tmp_path: Path) -> None:
    avoid = {
        "antipattern": "Unwrapping the list",
        "consequence": "The importer crashed on a single row",
        "correction": "Kept the wrapped list because one row is a list too",
    }
    episode = in_json(tmp_path, learnings={"avoidances": [avoid]})
    assert failures(episode) == ["The importer crashed on a single row"]
    assert decisions(episode) == ["Kept the wrapped list"]
    told = in_json(
        tmp_path,
        {"action": "Ran it", "result": "The importer crashed on a single row of the sheet"},
        learnings={"avoidances": [avoid]},
    )
    assert failures(told) == ["The importer crashed on a single row of the sheet"]


def test_a_failure_that_a_lesson_looks_back_on_is_not_the_last_check(tmp_path: Path) -> None:
    avoid = {"antipattern": "Unwrapping the list", "consequence": "The change broke 5 tests, causing 5 failures"}
    body = {"action": "Ran the tests", "result": "40 tests passed"}
    episode = in_json(tmp_path, body, learnings={"avoidances": [avoid]}, status="complete")
    assert (episode.outcome, failures(episode)) == ("success", ["The change broke 5 tests, causing 5 failures"])


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("Found one open thread: none of it matters", 0),
        ("The page no longer exists on the server", 1),
        ("Four files conflicted in the merge", 1),
        ("The gate never reads the reason", 1),
        ("The command exits 1 when a row is stale", 0),
        ("The command now exits 1 and names the row", 0),
        ("Error found: 'could not find expected colon'", 1),
    ],
)
def test_a_finding_is_a_failure_by_its_predicate(tmp_path: Path, said: str, expected: int) -> None:
    episode = in_json(tmp_path, {"action": "Looked at the work", "result": said})
    assert len(failures(episode)) == expected, failures(episode)


@pytest.mark.parametrize(
    ("objective", "expected"),
    [
        ("Fix the upload timeout", ["Fix the upload timeout"]),
        ("Resolve issue #12: add an upload", []),
        ("Add an upload", []),
    ],
)
def test_a_task_that_orders_a_mending_tells_of_the_trouble(tmp_path: Path, objective: str, expected: list[str]) -> None:
    assert failures(in_json(tmp_path, session={"objective": objective})) == expected


@pytest.mark.parametrize(
    ("said", "options"),
    [
        ("Rejected the second cache on measurement, not caution.", ()),
        ("Kept the small helper over the script of the branch, and deleted its test.", ("the script of the branch",)),
        ("Replaced the regular expression with a scanner.", ("the regular expression",)),
        ("Moved reads to the new server while preserving the writes.", ()),
        ("Pinned the behaviour, since prose proves nothing.", ()),
    ],
)
def test_a_sentence_that_judges_swaps_or_spares_is_a_choice(
    tmp_path: Path, said: str, options: tuple[str, ...]
) -> None:
    (decision,) = in_json(tmp_path, {"action": said, "result": "Seen"}).decisions
    assert decision.options == options


@pytest.mark.parametrize(
    "said",
    [
        "Raised the number of rows from 5 to 6.",
        "Reduced the file from 226 to 121 lines.",
        "Tested three rules and confirmed the matching test.",
        "Kept an eye on it.",
        "Wrote a summary of all rejected ideas.",
    ],
)
def test_a_sentence_that_only_counts_or_looks_is_none(tmp_path: Path, said: str) -> None:
    assert decisions(in_json(tmp_path, {"action": said, "result": "Seen"})) == []


def test_praise_is_a_reason_only_where_two_things_are_compared(tmp_path: Path) -> None:
    praised = {"decision": "Use a queue", "rationale": "Better for bursts of users"}
    assert links(in_json(tmp_path, decisions=[praised])) == set()
    compared = in_json(tmp_path, decisions=[{**praised, "alternatives": ["Poll"]}])
    assert links(compared) == {("Better for bursts of users", "stated", "causes", "Use a queue")}
