"""Do the headings, labels and lists of a report tell its decisions, failures and lessons, and only those?"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from helix_episodes.extraction.pipeline import extract
from helix_episodes.readers import read_sessions
from told_reports import decisions, failures, in_json, in_markdown, links, standing

if TYPE_CHECKING:
    from pathlib import Path

    from helix_episodes.model import Episode


def test_what_is_put_off_among_the_next_steps_is_no_decision(tmp_path: Path) -> None:
    assert decisions(in_markdown(tmp_path, "## Next Steps\n\n### Deferred\n\n- Second cache\n")) == []


def test_a_heading_that_justifies_decides_what_it_says_with_what_is_below_as_its_reason(tmp_path: Path) -> None:
    body = "### Why one retry is enough\n\nThe queue repeats by itself.\n\n### Why it failed\n\nNobody knows.\n"
    (decision,) = in_markdown(tmp_path, body).decisions
    assert (decision.chosen, decision.rationale) == ("one retry is enough", "The queue repeats by itself.")


def test_a_step_of_the_protocol_that_was_left_out_is_no_decision(tmp_path: Path) -> None:
    body = (
        "## Session End\n\n| Req | Step | Status | Evidence |\n|---|---|---|---|\n"
        "| MUST | Ask the tester | [x] | SKIPPED: only prose changed |\n"
    )
    assert decisions(in_markdown(tmp_path, body)) == []


def test_how_sure_someone_is_and_what_was_found_out_are_no_decisions(tmp_path: Path) -> None:
    body = "## Decisions\n\n1. **Verdict**: Keep the map\n2. **Confidence**: High\n3. **Key Finding**: The map is old\n"
    assert decisions(in_markdown(tmp_path, body)) == ["Verdict: Keep the map"]


@pytest.mark.parametrize(
    ("status", "expected"),
    [("Deferred to #12", "Cache on the client: Deferred to #12"), ("Rejected", "Cache on the client: Rejected")]
    + [(word, "Cache on the client") for word in ("Accepted", "complete", "Final")],
)
def test_a_status_that_says_what_was_decided_is_part_of_the_decision(
    tmp_path: Path, status: str, expected: str
) -> None:
    decision = {"decision": "Cache on the client", "status": status, "rationale": "It is the slow side"}
    assert decisions(in_json(tmp_path, decisions=[decision])) == [expected]


def test_a_status_with_its_reason_is_a_decision_of_its_own(tmp_path: Path) -> None:
    (decision,) = in_json(tmp_path, decisions=[{"status": "Deferred to #12", "rationale": "Too slow"}]).decisions
    assert (decision.chosen, decision.rationale) == ("Deferred to #12", "Too slow")


def test_an_outcome_with_its_task_is_an_entry_of_work(tmp_path: Path) -> None:
    outcome = {"task": "Reran the importer", "outcome": "It crashed on a single row"}
    episode = in_json(tmp_path, outcomes=[outcome])
    assert failures(episode) == ["It crashed on a single row"]
    assert "Reran the importer" in {event.content for event in episode.events}


CHALLENGES = ["The export timed out on large files", "The index held stale entries"]
RESOLUTIONS = ["Purged the stale entries before each run", "Streamed large files instead of loading them"]


def remedies(episode: Episode) -> set[tuple[str, str]]:
    words = {event.id: event.content for event in episode.events} | {one.id: one.chosen for one in episode.decisions}
    return {
        (words[link.source], words[link.target])
        for link in episode.links
        if link.reason == "stated" and words[link.source] in CHALLENGES and words[link.target] in RESOLUTIONS
    }


def test_remedies_in_a_list_of_their_own_belong_to_the_problems_that_they_name(tmp_path: Path) -> None:
    crosswise = {(CHALLENGES[0], RESOLUTIONS[1]), (CHALLENGES[1], RESOLUTIONS[0])}
    assert remedies(in_json(tmp_path, challenges=CHALLENGES, resolutions=RESOLUTIONS)) == crosswise
    listed = "".join(f"- {one}\n" for one in CHALLENGES), "".join(f"- {one}\n" for one in RESOLUTIONS)
    assert remedies(in_markdown(tmp_path, f"## Challenges\n\n{listed[0]}\n## Resolutions\n\n{listed[1]}")) == crosswise


def test_a_mistake_its_consequence_and_its_correction_are_a_chain(tmp_path: Path) -> None:
    avoid = {
        "antipattern": "Nesting the conditions three deep",
        "consequence": "The importer crashed on a single row",
        "correction": "Wrote one branch for each case",
    }
    episode = in_json(tmp_path, learnings={"avoidances": [avoid]})
    assert {
        ("Nesting the conditions three deep", "The importer crashed on a single row"),
        ("The importer crashed on a single row", "Wrote one branch for each case"),
    } <= {(source, target) for source, _, _, target in links(episode)}


def test_an_objective_is_read_with_the_list_below_it(tmp_path: Path) -> None:
    path = tmp_path / "2026-03-02-session-8.md"
    head = "# Session 8: Exports\n\n**Date**: 2026-03-02\n\n## Objective\n\nFind in the exports:\n\n"
    path.write_text(f"{head}- what is slow\n- what is stale\n\n## Work Log\n\n- Read the exports\n", encoding="utf-8")
    assert standing(path).task == "Find in the exports: what is slow; what is stale"


def test_what_was_done_for_the_protocol_is_not_the_task(tmp_path: Path) -> None:
    log = [{"action": "Session protocol compliance check"}, {"action": "Activated Serena and read HANDOFF.md"}]
    episode = in_json(tmp_path, session={"objective": "TBD"}, workLog=[*log, {"action": "Fixed the export of rows"}])
    assert episode.task == "Fixed the export of rows"


def test_a_report_with_names_in_snake_case_is_read(tmp_path: Path) -> None:
    path = tmp_path / "2026-03-02-session-7.json"
    report = {
        "session_info": {"session_date": "2026-03-02", "session_objective": "Speed up the export"},
        "work_completed": [{"task": "Streamed large files", "outcome": "42 tests passed"}],
        "key_decisions": [{"decision": "Stream instead of load", "rationale": "Large files time out"}],
        "lessons_learned": ["Measure before caching"],
    }
    path.write_text(json.dumps(report, indent=1), encoding="utf-8")
    (session,) = read_sessions(path)
    episode = extract(session)
    assert (session.reader, episode.task) == ("ai-agents", "Speed up the export")
    assert decisions(episode) == ["Stream instead of load"]
    assert list(episode.lessons) == ["Measure before caching"]
    assert {event.type for event in episode.events} >= {"test"}


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
        ("Four files conflicted in the merge", 1),
        ("The gate never finds the reason", 1),
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
        ("Fix the upload regression", ["Fix the upload regression"]),
        ("Resolve issue #12: add an upload", []),
        ("Add an upload", []),
    ],
)
def test_a_task_that_orders_a_mending_tells_of_the_trouble(tmp_path: Path, objective: str, expected: list[str]) -> None:
    assert failures(in_json(tmp_path, session={"objective": objective})) == expected


@pytest.mark.parametrize(
    ("said", "options"),
    [
        ("Kept the small helper over the script of the branch, and deleted its test.", ("the script of the branch",)),
        ("Replaced the regular expression with a scanner.", ("the regular expression",)),
        ("Moved reads to the new server while preserving the writes.", ()),
        ("Changed the behaviour, since prose proves nothing.", ()),
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
