"""Does a report's choice get an outcome from what the log tells of it, and from nothing else?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from told_reports import in_json, links

if TYPE_CHECKING:
    from pathlib import Path

    from helix_episodes.model import Episode

CHOICE = {"action": "Replaced the parser of export_rows.py with a scanner", "result": "Committed"}


def outcomes(episode: Episode) -> list[str]:
    return [decision.outcome for decision in episode.decisions]


def test_a_status_below_another_name_than_the_outcomes_is_not_the_sessions(tmp_path: Path) -> None:
    detail = {"status": "failed", "detail": "The export crashed"}
    assert in_json(tmp_path, outcome={"deployment": detail}).outcome == "unknown"
    assert in_json(tmp_path, outcome={"outcome": {"status": "complete"}}).outcome == "success"


def test_a_change_is_judged_by_the_next_check_that_names_what_it_names(tmp_path: Path) -> None:
    check = {"action": "Ran tests/test_export_rows.py", "result": "Green"}
    named = in_json(tmp_path, CHOICE, {**check, "action": "tests/test_export_rows.py: 12 passed"})
    assert outcomes(named) == ["success"]
    assert {one[1] for one in links(named) if "12 passed" in one[3]} == {"edit-test"}
    assert outcomes(in_json(tmp_path, CHOICE, {**check, "action": "tests/test_import.py: 12 passed"})) == ["unknown"]


def test_a_run_of_everything_judges_a_change_only_when_it_is_the_next(tmp_path: Path) -> None:
    everything = {"action": "Ran the full suite: 300 passed", "result": "Seen"}
    assert outcomes(in_json(tmp_path, CHOICE, everything)) == ["success"]
    between = {"action": "tests/test_import.py: 12 passed", "result": "Seen"}
    assert outcomes(in_json(tmp_path, CHOICE, between, everything)) == ["unknown"]


def test_a_change_came_to_what_its_own_entry_found_in_other_words_than_its_own(tmp_path: Path) -> None:
    assert outcomes(in_json(tmp_path, {**CHOICE, "result": "The export works again"})) == ["success"]
    assert outcomes(in_json(tmp_path, {**CHOICE, "result": "The export should work"})) == ["unknown"]
    found = {"action": "Read it", "result": "Replaced the parser with a scanner, which works"}
    assert outcomes(in_json(tmp_path, found)) == ["unknown"]


def test_what_was_only_judged_is_not_proven_by_tests(tmp_path: Path) -> None:
    rejected = {"action": "Kept one cache over the second one", "result": "Seen"}
    assert outcomes(in_json(tmp_path, rejected, {"action": "Ran the full suite: 300 passed"})) == ["unknown"]


def test_a_decision_that_is_listed_apart_came_to_what_its_entry_found(tmp_path: Path) -> None:
    entry = {"action": "Replaced nested loops in the importer with one query", "result": "Import works again"}
    decision = {"decision": "Use one query instead of nested loops in the importer"}
    assert outcomes(in_json(tmp_path, entry, decisions=[decision])) == ["success"]
    assert outcomes(in_json(tmp_path, {**entry, "result": "Import not fixed yet"}, decisions=[decision])) == ["unknown"]
    assert outcomes(in_json(tmp_path, entry, decisions=["Ask the owner of the importer"]))[-1] == "unknown"
