"""The older seed's calls over the same insights: triggers with resolutions, what was utilized of what was injected."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from helix_graph.insights.api import Insights

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def insights(tmp_path: Path) -> Insights:
    return Insights(tmp_path / "helix.db")


def test_what_is_stored_comes_back_with_trigger_and_resolution(insights: Insights) -> None:
    first = insights.first_form
    stored = first.store("ImportError when using circular imports", "Move shared types to a module of their own")
    assert (stored["status"], stored["reason"]) == ("added", "")
    (hit,) = first.recall("circular imports ImportError")
    assert hit["trigger"] == "ImportError when using circular imports"
    assert (hit["type"], hit["helped"], hit["failed"]) == ("failure", 0, 0)
    assert first.recall("circular imports", type="pattern") == []
    assert insights.get(stored["name"]) is not None


@pytest.mark.parametrize(
    ("trigger", "resolution", "kind", "reason"),
    [
        ("a circular import", "move it", "lesson", "type must be failure or pattern"),
        ("short", "move it", "failure", "trigger too short"),
        ("a circular import", "  ", "failure", "resolution empty"),
    ],
)
def test_what_can_not_be_stored_is_rejected_with_a_reason(
    insights: Insights, trigger: str, resolution: str, kind: str, reason: str
) -> None:
    assert insights.first_form.store(trigger, resolution, kind) == {"status": "rejected", "name": "", "reason": reason}


def test_the_same_twice_merges(insights: Insights) -> None:
    first = insights.first_form
    first.store("a circular import", "move the types " * 30)
    assert first.store("a circular import", "move the types " * 30)["status"] == "merged"


def test_feedback_counts_what_helped_and_what_did_not(insights: Insights) -> None:
    first = insights.first_form
    names = [first.store(f"trigger number {place} of two", "do it")["name"] for place in range(2)]
    answer = first.feedback(utilized=[names[0], "elsewhere"], injected=[*names, "unknown"])
    assert answer == {"helped": 1, "unhelpful": 1, "missing": ["unknown"]}
    hits = {hit["name"]: hit for hit in first.recall("trigger number two")}
    assert [(hits[name]["helped"], hits[name]["failed"]) for name in names] == [(1, 0), (0, 1)]
    assert [hits[name]["_effectiveness"] for name in names] == [1.0, 0.0]
    assert hits[names[0]]["_score"] == round(0.5 * hits[names[0]]["_relevance"] + 0.3 + 0.2, 3)
    assert [hit["name"] for hit in first.recall("trigger number two", min_effectiveness=0.5)] == names[:1]


def test_there_is_no_gate(insights: Insights) -> None:
    first = insights.first_form
    first.store("trigger about shipping costs", "round them up")
    query = "unrelated words and only costs in a long long question about everything else there is"
    assert len(first.recall(query)) == 1
    assert insights.recall(query) == []


def test_what_succeeded_is_chunked_and_strengthened_when_it_works_again(insights: Insights) -> None:
    assert insights.chunk("Add auth", "failed at the end", "JWT")["status"] == "skipped"
    stored = insights.chunk("Add auth", "Success: all tests pass", "Use Depends() with JWT validation")
    assert stored["status"] == "added"
    again = insights.chunk("Add auth", "success", "Use Depends() with JWT validation")
    assert (again["status"], again["name"]) == ("strengthened", stored["name"])
    found = insights.get(stored["name"])
    assert found is not None
    assert (found["use_count"], found["effectiveness"]) == (1, 0.55)
