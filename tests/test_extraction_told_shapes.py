"""Do the headings, labels and lists of a report tell its decisions, failures and lessons, and only those?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from told_reports import decisions, failures, in_json, in_markdown, links

if TYPE_CHECKING:
    from pathlib import Path


def test_what_a_heading_says_was_not_done_was_decided_for_the_reason_behind_it(tmp_path: Path) -> None:
    body = (
        "## Findings\n\n### Tickets Not Created (known)\n\n- Second cache \u2192 covered by the first cache\n- Retry\n"
    )
    episode = in_markdown(tmp_path, body)
    assert decisions(episode) == ["Tickets Not Created: Second cache", "Tickets Not Created: Retry"]
    assert links(episode) == {("covered by the first cache", "stated", "causes", "Tickets Not Created: Second cache")}


def test_what_is_put_off_among_the_next_steps_is_no_decision(tmp_path: Path) -> None:
    assert decisions(in_markdown(tmp_path, "## Next Steps\n\n### Deferred\n\n- Second cache\n")) == []


def test_an_item_that_begins_with_a_judgement_is_a_decision(tmp_path: Path) -> None:
    body = "## Recommendations\n\n1. **REJECT** the second cache\n2. Look at the retries\n3. KEEPING pace is hard\n"
    assert decisions(in_markdown(tmp_path, body)) == ["REJECT the second cache"]


def test_a_heading_that_justifies_is_a_decision_with_what_stands_below_as_its_reason(tmp_path: Path) -> None:
    body = "### Why one retry is enough\n\nThe queue repeats by itself.\n\n### Why it failed\n\nNobody knows.\n"
    (decision,) = in_markdown(tmp_path, body).decisions
    assert (decision.chosen, decision.rationale) == ("Why one retry is enough", "The queue repeats by itself.")


def test_a_finding_that_names_a_problem_is_told_by_its_evidence(tmp_path: Path) -> None:
    body = """## Findings

### Critical Finding: Coverage Gap (P0)

**Evidence**: A third of the uploads failed due to the check reading only the last page

**Resolution**: Extended the check to all pages

### Finding: Fast startup

**Evidence**: It took a second
"""
    episode = in_markdown(tmp_path, body)
    told = "Coverage Gap (P0): A third of the uploads failed due to the check reading only the last page"
    assert failures(episode) == [told]
    assert links(episode) >= {
        ("the check reading only the last page", "stated", "causes", told),
        (told, "stated", "causes", "Extended the check to all pages"),
    }


def test_a_problem_statement_is_a_failure_and_the_solution_after_it_its_remedy(tmp_path: Path) -> None:
    body = (
        "## Problem Statement\n\nThe template names files that nobody ships:\n\n- a.md\n- b.md\n\n"
        "## Solution\n\nTake the names out.\n\n## Proposed Solution\n\nWrite a checker.\n"
    )
    episode = in_markdown(tmp_path, body)
    assert failures(episode) == ["The template names files that nobody ships"]
    assert links(episode) == {("The template names files that nobody ships", "stated", "causes", "Take the names out.")}


def test_a_cause_with_its_mending_is_a_lesson_and_a_way_around_a_decision(tmp_path: Path) -> None:
    body = (
        "## Crash Discovery\n\n**Root Cause**: A pipeline gives one thing instead of a list.\n\n"
        "**Fix**: Wrap what it gives.\n\n**Workaround Used**: Left the check out.\n"
    )
    episode = in_markdown(tmp_path, body)
    cause = "A pipeline gives one thing instead of a list."
    assert failures(episode) == [cause]
    assert episode.lessons == (f"{cause} Wrap what it gives.",)
    assert decisions(episode) == ["Left the check out."]
    assert (cause, "stated", "causes", "Left the check out.") in links(episode)


def test_what_was_done_about_problems_is_work_and_not_the_problems(tmp_path: Path) -> None:
    body = "## Review\n\n### Issues Addressed\n\n1. **P0-1**: Changed the field from required to optional\n"
    episode = in_markdown(tmp_path, body)
    assert failures(episode) == []
    assert [decision.options for decision in episode.decisions] == [("required",)]


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
        "correction": "Kept the wrapped list for preventing the loss",
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
        ("Found one open thread (a bot): the parser takes negative sizes and adds them", 1),
        ("Found one open thread: none of it matters", 0),
        ("The reader accepts malformed rows and shows them", 1),
        ("The page no longer exists on the server", 1),
        ("Four files conflicted in the merge", 1),
        ("The gate never reads the reason", 1),
        ("The command exits 1 when a row is stale", 0),
        ("The command now exits 1 and names the row", 0),
        ("Error found: 'could not find expected colon'", 1),
        ("Searched first, and found that the drift warning has a prefix", 0),
        ("Addressed all four threads: one overflow (declined), one wrong name (left)", 0),
        ("Round 1: Fixed P1-2 (the page fails to load). Round 2: Fixed P1-3 (added the end of the file).", 2),
    ],
)
def test_a_finding_is_a_failure_by_its_predicate(tmp_path: Path, said: str, expected: int) -> None:
    episode = in_json(tmp_path, {"action": "Looked at the work", "result": said})
    assert len(failures(episode)) == expected, failures(episode)


@pytest.mark.parametrize(("again", "expected"), [("47", 1), ("12", 2)])
def test_a_failure_told_again_with_its_count_is_one(tmp_path: Path, again: str, expected: int) -> None:
    first = {"action": "Measured", "result": "The nightly upload failed for 47 of the customers in the north"}
    second = {"action": "Summed up", "result": f"Found an upload gap that hit {again} northern customers"}
    assert len(failures(in_json(tmp_path, first, second))) == expected


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
        ("Raised MAX_WAIT from 5 to 6 seconds.", ()),
        ("Moved reads to the new server while preserving the writes.", ()),
        ("Pinned the behaviour, since prose proves nothing.", ()),
        ("Added a bound, mirroring the producer's own.", ()),
        ("Shrank the line instead of raising the limit.", ("raising the limit",)),
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


def test_a_need_that_is_suggested_and_a_trap_are_lessons(tmp_path: Path) -> None:
    body = (
        "## Findings\n\n### Interruptions\n\n- Two runs were stopped\n- Suggests need for signs of progress in runs\n\n"
        "## Work Log\n\n- Recorded a trap met on the way: two edits in one second leave a stale cache behind\n"
    )
    assert set(in_markdown(tmp_path, body).lessons) == {
        "signs of progress in runs",
        "two edits in one second leave a stale cache behind",
    }
