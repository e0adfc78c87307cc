"""Are the entries of a work log told whole: each fault of a list, what was picked, and what holds in general?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from told_reports import decisions, failures, in_json, in_markdown, links

if TYPE_CHECKING:
    from pathlib import Path


def test_each_row_of_a_table_of_defects_is_a_failure(tmp_path: Path) -> None:
    rows = "| Finding id | Issue | Severity |\n|---|---|---|\n| 7 | Cache keeps old rows | High |\n| 8 | #12 | Low |\n"
    assert failures(in_markdown(tmp_path, f"## Analysis\n\n{rows}")) == ["Cache keeps old rows: 7: High"]


def test_what_stands_indented_below_a_table_of_decisions_is_part_of_the_last_one(tmp_path: Path) -> None:
    table = "| Decision | Rationale |\n|---|---|\n| Keep the map | It is fast |\n"
    items = "- Rationale: nobody reads it twice\n  - It is small\n"
    (decision,) = in_markdown(tmp_path, f"## Decisions\n\n{table}\n{items}").decisions
    assert decision.rationale == "It is fast nobody reads it twice It is small"


def test_a_table_of_tickets_lists_no_failures(tmp_path: Path) -> None:
    rows = "| Issue | Priority | Title |\n|---|---|---|\n| #12 | P1 | Add a second cache |\n"
    assert failures(in_markdown(tmp_path, f"## Analysis\n\n{rows}")) == []


@pytest.mark.parametrize(
    ("said", "count"),
    [
        ("Measured the cost instead of assuming it.", 1),
        ("The boundary was measured rather than assumed.", 1),
        ("Moved the six notes to docs/notes.md.", 1),
        ("Merged origin/main into the branch.", 0),
        ("Measured the cost of the search before removing it.", 1),
        ("Reproduced each finding before acting.", 0),
    ],
)
def test_what_was_picked_or_left_is_a_decision(tmp_path: Path, said: str, count: int) -> None:
    assert len(decisions(in_json(tmp_path, {"action": said}))) == count


@pytest.mark.parametrize(
    ("said", "told"),
    [
        (
            "Found the bug of the judge. The key of a row is cut.",
            ["Found the bug of the judge. The key of a row is cut."],
        )
    ],
)
def test_each_fault_is_told_with_what_it_was(tmp_path: Path, said: str, told: list[str]) -> None:
    assert failures(in_json(tmp_path, {"action": "Looked", "result": said})) == told


@pytest.mark.parametrize(
    ("said", "lessons"),
    [
        ("Found it. A retry that hides its cause is not a fix.", ["A retry that hides its cause is not a fix."]),
        ("A retry was added, which is not a fix.", []),
        ("A retry of upload_rows is not logged.", []),
        ("Never ran the suite of the cache.", []),
        ("When reading it, the cache failed at once.", []),
    ],
)
def test_what_holds_in_general_is_a_lesson(tmp_path: Path, said: str, lessons: list[str]) -> None:
    assert list(in_json(tmp_path, {"action": said}).lessons) == lessons


def test_a_change_answers_the_failure_that_its_statement_tells_before(tmp_path: Path) -> None:
    failed = "The lint gate failed on the second cache."
    chosen = "Replaced the second cache with a lock."
    assert (failed, "stated", "causes", chosen) in links(in_json(tmp_path, {"action": f"{failed} {chosen}"}))
    assert (failed, "stated", "causes", chosen) not in links(in_json(tmp_path, {"action": f"{chosen} {failed}"}))


def test_a_push_did_not_bring_its_tests_about(tmp_path: Path) -> None:
    assert links(in_json(tmp_path, {"action": "Pushed the branch", "result": "12 tests passed"})) == set()
    assert links(in_json(tmp_path, {"action": "Split the cache", "result": "12 tests passed"})) != set()


def test_a_status_in_progress_yields_to_the_one_at_the_end(tmp_path: Path) -> None:
    body = "## Status\n\nIn Progress\n\n## Work Log\n\n- Split the cache\n\n## Status\n\n**COMPLETE**: Handed on.\n"
    assert in_markdown(tmp_path, body).outcome == "success"
    assert in_markdown(tmp_path, body.replace("COMPLETE", "Later")).outcome == "partial"
