"""Does a report's prose become what it tells: milestones, failures, choices, each linked to what stands beside it?"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from helix_episodes.extraction.pipeline import extract
from helix_episodes.readers import read_sessions

if TYPE_CHECKING:
    from helix_episodes.model import Episode

FIXTURES = Path(__file__).parent / "fixtures" / "ai_agents"


def episode_of(name: str) -> Episode:
    (session,) = read_sessions(FIXTURES / name)
    return extract(session)


def told(folder: Path, *entries: object, **more: object) -> Episode:
    path = folder / "2026-04-01-session-1.json"
    document = {"session": {"objective": "Tidy"}, "protocolCompliance": {}, "workLog": list(entries), **more}
    path.write_text(json.dumps(document), encoding="utf-8")
    (session,) = read_sessions(path)
    return extract(session)


def failures(episode: Episode) -> list[str]:
    return [event.content for event in episode.events if event.type == "error"]


def test_a_report_becomes_an_episode() -> None:
    episode = episode_of("2026-03-02-session-7-export-totals.json")
    assert failures(episode) == ["The export failed: totals differ by one cent"], "an order is no failure"
    assert [one.chosen for one in episode.decisions] == [
        "Chose Decimal over float because cents must add up",
        "Round once, at the end",
        "Keep the CSV layout",
        "Export nightly",
    ]
    assert (episode.outcome, episode.outcome_basis) == ("success", "declared")
    assert [event.commit for event in episode.events if event.type == "commit"] == [
        "9f8e7d6c5b4a39281706f5e4d3c2b1a098765432"
    ]
    assert episode.metrics.tool_calls is None
    assert episode.metrics.files_changed is None


def test_what_was_done_is_linked_to_what_was_found_and_a_decision_to_what_came_of_it() -> None:
    episode = episode_of("2026-03-02-session-7-export-totals.json")
    names = {one.id: one.chosen for one in episode.decisions} | {one.id: one.content for one in episode.events}
    links = {(names[link.source], link.reason, names[link.target]) for link in episode.links}
    assert ("Ran the export on March", "entry", "The export failed: totals differ by one cent") in links
    assert ("Round once, at the end", "stated", "Totals agree with the ledger") in links


def test_a_problem_is_linked_to_its_remedy() -> None:
    episode = episode_of("2026-03-03-session-8-cache.md")
    names = {event.id: event.content for event in episode.events} | {one.id: one.chosen for one in episode.decisions}
    stated = [(names[link.source], names[link.target]) for link in episode.links if link.reason == "stated"]
    assert any(source.startswith("Clock skew") and target.startswith("compare with") for source, target in stated)


@pytest.mark.parametrize(
    "text",
    [
        "The importer crashed on an empty file",
        "The linter exited 2",
        "Resolved the clear-text logging violation",
        "3 tests failed after the merge",
        "The guard could not find the second path",
    ],
)
def test_a_failure_that_was_met_is_an_error(text: str, tmp_path: Path) -> None:
    assert failures(told(tmp_path, {"action": "Looked into it", "finding": text})) or failures(
        told(tmp_path, {"action": text})
    )


@pytest.mark.parametrize(
    "text",
    [
        "0 errors across 191 files",
        "Improved error handling and error messages",
        "Token-like strings must still fail",
        "Control: restoring the old read fails 10",
        "The scan finds no violations and no regressions",
        "Added tests that cover a crashed detector",
        "If the upload failed, the job would retry",
        "256 tests passed, 0 failed",
        "Rejected the reviewer's wording",
        "Fix the flaky test next",
    ],
)
def test_a_word_of_failure_alone_is_none(text: str, tmp_path: Path) -> None:
    assert failures(told(tmp_path, {"action": "Ran it", "result": text})) == []
    assert failures(told(tmp_path, {"action": text})) == []


@pytest.mark.parametrize(
    ("text", "options", "rationale"),
    [
        ("Chose a hook over a cron job", ("a cron job",), ""),
        (
            "Removed the wrapper rather than the caller because nothing else uses it",
            ("the caller",),
            "nothing else uses it",
        ),
    ],
)
def test_prose_that_takes_one_thing_and_leaves_another_is_a_decision(
    text: str, options: tuple[str, ...], rationale: str, tmp_path: Path
) -> None:
    (decision,) = told(tmp_path, {"action": "Worked", "outcome": text}).decisions
    assert (decision.options, decision.rationale) == (options, rationale)
    assert decision.stated


@pytest.mark.parametrize(
    "text",
    [
        "Read the decision log and the chosen design",
        "Verified which option was selected earlier",
        "Added three tests",
        "The review returned two non-blocking remarks",
        "If we opted for sharding, costs would grow",
    ],
)
def test_a_word_of_choice_alone_is_none(text: str, tmp_path: Path) -> None:
    assert told(tmp_path, {"action": "Worked", "outcome": text}).decisions == ()


def test_a_success_declared_over_a_failing_last_check_is_partial(tmp_path: Path) -> None:
    entries = [{"action": "Ran pytest", "result": "2 tests failed in pytest"}]
    assert told(tmp_path, *entries, status="complete").outcome == "partial"
    entries.append({"action": "Ran pytest again", "result": "12 tests passed"})
    assert told(tmp_path, *entries, status="complete").outcome == "success"


def test_links_run_forwards_and_every_statement_can_be_found_in_the_log() -> None:
    for name in ("2026-03-02-session-7-export-totals.json", "2026-03-03-session-8-cache.md"):
        episode = episode_of(name)
        lines = (FIXTURES / name).read_text().splitlines()
        assert episode.events
        assert episode.links
        for event in episode.events:
            assert event.evidence is not None
            assert 1 <= event.evidence.line <= len(lines)
        order = {event.id: n for n, event in enumerate(episode.events)}
        for link in episode.links:
            if {link.source, link.target} <= set(order):
                assert order[link.source] < order[link.target]


@pytest.mark.slow
@pytest.mark.corpus
def test_every_log_of_the_corpus_becomes_the_same_episode_twice(corpora: Path) -> None:
    logs = sorted((corpora / "ai-agents" / "sessions").iterdir())
    assert logs
    for log in logs:
        (first,), (again,) = read_sessions(log), read_sessions(log)
        assert extract(first) == extract(again)
