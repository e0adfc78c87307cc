"""What does a paragraph of a report tell, sentence by sentence: which failures, choices, reasons and lessons?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from told_reports import decisions, failures, in_json, in_markdown, links

if TYPE_CHECKING:
    from pathlib import Path


def told(tmp_path: Path, said: str) -> list[str]:
    """The failures of a report that has one entry, which only tells what was found."""
    return failures(in_json(tmp_path, {"action": "Looked at the shop", "result": said}))


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        (
            "Traced the lost orders. The queue timed out at night and dropped them.",
            ["The queue timed out at night and dropped them."],
        ),
        ("The importer crashed on empty rows. It crashed again.", ["The importer crashed on empty rows."]),
        (
            "The importer crashed on empty rows. Replaced the reader. Then the upload timed out after a minute.",
            ["The importer crashed on empty rows.", "Then the upload timed out after a minute."],
        ),
        (
            "The 8 failures include 6 issues that need a new run. The remaining names are wrong in the old table.",
            ["The 8 failures include 6 issues that need a new run."],
        ),
        (
            "The lint review caught this change adding a second clock",
            ["The lint review caught this change adding a second clock"],
        ),
    ],
)
def test_which_failures_a_paragraph_tells(tmp_path: Path, said: str, expected: list[str]) -> None:
    assert told(tmp_path, said) == expected


@pytest.mark.parametrize(
    "said",
    [
        "The merge gate found 60 threads, zero unresolved, and no failed checks",
        "Confirmed no other spelling evades the filter",
        "Defect 3: none",
    ],
)
def test_what_was_looked_for_and_not_there_is_no_failure(tmp_path: Path, said: str) -> None:
    assert told(tmp_path, said) == []


def test_each_mending_of_a_paragraph_tells_its_own_trouble(tmp_path: Path) -> None:
    entry = {"action": "Fixed the stale total. Corrected the stale tax in the footer."}
    assert failures(in_json(tmp_path, entry)) == ["Fixed the stale total.", "Corrected the stale tax in the footer."]


def test_a_mending_that_only_says_that_there_was_trouble_is_told_by_what_stands_behind_it(tmp_path: Path) -> None:
    said = "Fixed the total defect. The reader took the tax of another row."
    assert failures(in_json(tmp_path, {"action": said})) == [said]
    assert failures(in_json(tmp_path, {"action": "Fixed the total defect. Moved the reader."})) == [
        "Fixed the total defect."
    ]


def test_a_deed_that_only_points_at_a_trouble_is_told_by_what_was_found(tmp_path: Path) -> None:
    entry = {"action": "Verified the reported bug still exists", "result": "The export crashed on every second order"}
    assert failures(in_json(tmp_path, entry)) == ["The export crashed on every second order"]


@pytest.mark.parametrize(
    "said",
    [
        "Changed the reader to refuse a row without a price",
        "Added a second index, which the nightly export reads",
        "Built the report with a column for refunds",
        "Repaired the totals by rounding once instead of rounding each line",
    ],
)
def test_a_change_that_is_told_with_its_substance_is_a_choice(tmp_path: Path, said: str) -> None:
    assert decisions(in_json(tmp_path, {"action": said})) == [said]


@pytest.mark.parametrize(
    "said",
    [
        "Added a page for the prices",
        "Deleted the link to a page that did not exist",
        "Located the reader by name: it is the one in tools and not elsewhere",
        "Fixed the totals by rounding once",
    ],
)
def test_a_bare_deed_chooses_nothing(tmp_path: Path, said: str) -> None:
    assert decisions(in_json(tmp_path, {"action": said})) == []


def test_what_a_task_orders_nobody_has_chosen_yet(tmp_path: Path) -> None:
    ordered = "Split the shop to follow the new rule"
    assert decisions(in_json(tmp_path, {"action": ordered})) == [ordered]
    assert decisions(in_json(tmp_path, {"action": "Ran it"}, session={"objective": ordered})) == []


def test_a_failure_told_before_a_choice_is_what_the_choice_answers(tmp_path: Path) -> None:
    episode = in_json(tmp_path, {"action": "The push failed at the size gate. Split the page instead of raising it."})
    assert ("The push failed at the size gate.", "stated", "causes", "Split the page instead of raising it.") in links(
        episode
    )


def test_a_bare_title_over_lessons_is_none(tmp_path: Path) -> None:
    body = "## Learnings\n\n### Price Table Order\n\n**Lesson**: Load the tax table before any page\n"
    assert in_markdown(tmp_path, body).lessons == ("Load the tax table before any page",)
