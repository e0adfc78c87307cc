"""Does a report's prose become links, lessons and reasons that it tells, and each quotation one that its log holds?"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from helix_episodes.verification import verify
from told_reports import failures, in_json, in_markdown, links, standing

if TYPE_CHECKING:
    from pathlib import Path


def test_a_quotation_stands_though_marks_are_cut_and_sentences_are_wrapped(tmp_path: Path) -> None:
    body = """## Work Log

- **Parser** - rewrote [the reader](src/reader.py) so that
  wrapped sentences are one
  - a first detail
  - a second detail

## Issues Encountered

| Issue | Description |
|-------|-------------|
| Lost rows | The importer crashed on an empty file |

## Learnings

### Name the cache

Two users of one key share a value,
and neither knows.

- Name what a key depends on

## Commits

- `abc1234` feat: name the cache
"""
    episode = in_markdown(tmp_path, body)
    assert failures(episode) == ["Lost rows: The importer crashed on an empty file"]
    (commit,) = [event for event in episode.events if event.type == "commit"]
    assert commit.evidence is not None
    assert commit.evidence.quote == "abc1234"


def test_an_invented_quotation_does_not_stand_however_marks_are_read(tmp_path: Path) -> None:
    episode = in_markdown(tmp_path, "## Work Log\n\n- Renamed the *old* reader\n")
    path = tmp_path / "2026-04-01-session-2.md"
    path.write_text(path.read_text().replace("old", "new"), encoding="utf-8")
    assert [one.result for one in verify(episode, path) if "reader" in one.quote] == ["missing"]


def test_a_commit_is_quoted_from_the_line_that_names_it(tmp_path: Path) -> None:
    gate = {"level": "MUST", "complete": True, "evidence": "Commits abc1234 and def5678"}
    path = tmp_path / "2026-04-01-session-1.json"
    document = {
        "protocolCompliance": {"sessionEnd": {"changesCommitted": gate}},
        "workLog": [],
        "endingCommit": "abc1234",
    }
    path.write_text(json.dumps(document, indent=1), encoding="utf-8")
    episode = standing(path)
    assert [event.commit for event in episode.events] == ["abc1234", "def5678"]


def test_the_fact_that_a_decision_rests_on_is_its_cause_and_an_aim_is_none(tmp_path: Path) -> None:
    decisions = [
        {"decision": "Use a queue", "rationale": "The worker drops messages under load. It was measured."},
        {"decision": "Use one file", "rationale": "To keep it simple for readers"},
    ]
    episode = in_json(tmp_path, decisions=decisions)
    assert links(episode) == {("The worker drops messages under load.", "stated", "causes", "Use a queue")}


@pytest.mark.parametrize(
    ("declared", "outcome"),
    [
        ("success", "success"),
        ("failed", "failure"),
        ("accepted", "unknown"),
        ("Totals now match the ledger", "success"),
        ("Not yet measured", "unknown"),
    ],
)
def test_a_decision_came_out_as_the_log_says_and_no_better(declared: str, outcome: str, tmp_path: Path) -> None:
    episode = in_json(tmp_path, decisions=[{"decision": "Round once", "outcome": declared}], status="complete")
    assert [one.outcome for one in episode.decisions] == [outcome]


def test_a_decision_without_a_reason_of_its_own_has_the_one_that_its_words_give(tmp_path: Path) -> None:
    (decision,) = in_json(tmp_path, decisions=["Kept one file rather than a folder, because nobody reads it"]).decisions
    assert (decision.rationale, decision.options) == ("nobody reads it", ("a folder",))


def test_a_long_decision_is_named_by_its_first_eighty_characters(tmp_path: Path) -> None:
    (decision,) = in_json(tmp_path, decisions=[f"Keep {'x' * 100}"]).decisions
    assert decision.action is not None
    assert decision.action.object == f"Keep {'x' * 74}…"


def test_a_deed_is_no_good_outcome_of_itself(tmp_path: Path) -> None:
    episode = in_json(tmp_path, {"action": "Verified the reader", "outcome": "The map works as expected"})
    assert [(event.content, event.status) for event in episode.events] == [
        ("Verified the reader", "unknown"),
        ("The map works as expected", "ok"),
    ]


@pytest.mark.parametrize("again", ["The importer crashed on a file", "On a file the importer crashed"])
def test_a_failure_of_three_words_that_is_found_twice_is_one(again: str, tmp_path: Path) -> None:
    episode = in_json(tmp_path, {"finding": "The importer crashed on a file"}, {"finding": again})
    assert failures(episode) == ["The importer crashed on a file"]


def test_a_failure_of_two_words_that_is_found_twice_is_one(tmp_path: Path) -> None:
    episode = in_json(tmp_path, {"finding": "The importer crashed"}, {"finding": "The importer crashed"})
    assert failures(episode) == ["The importer crashed"]


def test_a_reason_points_at_its_failure_by_a_word_that_three_statements_use(tmp_path: Path) -> None:
    entries = [{"finding": "The parser crashed"}, "Read the parser crash notes", "Tidied the parser after a crash"]
    decided = [{"decision": "Rewrote it", "rationale": "crashes of the parser"}]
    episode = in_json(tmp_path, *entries, decisions=decided)
    assert ("The parser crashed", "stated", "causes", "Rewrote it") in links(episode)


def test_what_says_more_of_a_deed_is_not_caused_by_it(tmp_path: Path) -> None:
    entries = [
        {"action": "Measured the cache", "detail": "Read all four hosts twice"},
        {"action": "Added the index", "result": "Wrote it in schema.sql"},
        {"action": "Warmed the cache", "result": "Reads now hit in 80 percent"},
    ]
    assert {(source, kind) for source, _, kind, _ in links(in_json(tmp_path, *entries))} == {
        ("Measured the cache", "correlates"),
        ("Added the index", "correlates"),
        ("Warmed the cache", "causes"),
    }


def test_a_failure_that_is_told_again_by_what_fixed_it_is_one(tmp_path: Path) -> None:
    entries = [
        {"action": "Ran the importer", "result": "The importer crashed on quoted separators"},
        {"action": "Tidied the readme"},
        {"action": "Fixed the importer crash on quoted separators", "result": "9 tests passed"},
    ]
    episode = in_json(tmp_path, *entries)
    assert failures(episode) == ["The importer crashed on quoted separators"]


def test_a_told_cause_precedes_its_failure(tmp_path: Path) -> None:
    entry = {"action": "Ran the upload", "result": "The upload failed because the token had expired overnight."}
    assert ("the token had expired overnight", "stated", "causes") in {
        one[:3] for one in links(in_json(tmp_path, entry))
    }


def test_lessons_that_prose_counts_off_are_each_one(tmp_path: Path) -> None:
    told = "Three lessons. First, measure before cutting. Second, cut once. Third, keep the receipt of every cut."
    episode = in_json(tmp_path, {"action": "Looked back"}, learnings=[told, "Are reviews too slow?"])
    assert [text.partition(",")[0] for text in episode.lessons] == ["First", "Second", "Third"]


def test_a_phase_and_a_single_word_are_labels_and_no_events(tmp_path: Path) -> None:
    entries = [
        {"phase": "diagnosis", "action": "Read the log", "outcome": "The disk was full"},
        {"step": "Design", "detail": "Compared three layouts"},
    ]
    contents = {event.content for event in in_json(tmp_path, *entries).events}
    assert contents == {"Read the log", "The disk was full", "Compared three layouts"}


@pytest.mark.parametrize(
    "text",
    [
        "Attempted hardening with exit code 2",
        "Documented the exporter failure and its cause",
        "Fifth defect found and fixed",
        "Disabling the guard fails 6 tests",
        "Mutation-tested the guard; both variants failed",
        "Confirmed 7 failures against the pre-fix code",
        "Two runs are listed; Commands Missed",
        "Added a guard so an empty scan cannot pass silently",
        "Cleared the list by deleting dead entries, not by raising the limit",
    ],
)
def test_what_only_speaks_of_failure_is_none(text: str, tmp_path: Path) -> None:
    assert failures(in_json(tmp_path, {"action": "Went on", "result": text})) == []


@pytest.mark.parametrize(
    "text",
    [
        "The review bot found the summary naming the wrong column",
    ],
)
def test_what_was_met_in_other_shapes_is_a_failure(text: str, tmp_path: Path) -> None:
    assert len(failures(in_json(tmp_path, {"action": "Went on", "result": text}))) == 1


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("Changed the field from required to optional", 1),
        ("Dropped the wrapper; used the plain call instead", 1),
        ("Moved the helper to its own follow-up PR", 1),
        ("Trimmed the prose rather than raising the limit. Replaced the version because the next one broke.", 2),
        ("Isolated unit tests did not catch this because they share one path", 0),
        ("Verified the export rather than trusting the cache", 1),
        ("Rewrote the guide from 300 lines to 150", 0),
    ],
)
def test_every_choice_of_a_statement_is_taken_and_no_description(text: str, count: int, tmp_path: Path) -> None:
    assert len(in_json(tmp_path, {"action": "Went on", "result": text}).decisions) == count


def test_a_choice_that_the_log_spells_out_is_one_decision(tmp_path: Path) -> None:
    entry = {"action": "Cached the totals by currency rather than by host"}
    episode = in_json(tmp_path, entry, decisions=["Cache totals by currency, not by host"])
    assert [one.chosen for one in episode.decisions] == ["Cache totals by currency, not by host"]


def test_the_reason_for_a_remedy_makes_it_a_decision(tmp_path: Path) -> None:
    body = """## Challenges

1. **Empty names**
   - Problem: the reader threw on an empty name
   - Fix: skip such rows
   - Reason: they carry no data
"""
    (decision,) = in_markdown(tmp_path, body).decisions
    assert (decision.chosen, decision.rationale) == ("skip such rows", "they carry no data")


@pytest.mark.parametrize(
    ("finding", "outcome"), [("2 tests failed in pytest", "partial"), ("2 pre-existing failures", "success")]
)
def test_only_a_failure_of_its_own_contradicts_a_declared_success(finding: str, outcome: str, tmp_path: Path) -> None:
    assert in_json(tmp_path, {"action": "Ran pytest", "result": finding}, status="complete").outcome == outcome


@pytest.mark.slow
@pytest.mark.corpus
def test_every_quotation_of_the_corpus_stands_on_its_line(corpora: Path) -> None:
    for log in sorted((corpora / "ai-agents" / "sessions").iterdir()):
        standing(log)
