"""Which of an agent's lines are its report? Not examples, not quotations, not prose; and the text may stand below."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from helix_graph.plans.transcripts import insight_in, report_in, result_in
from plan_world import NotedInsights, plans_in
from whole_tables import each_row

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from session_script import Script

BLOCKED = ("blocked", "no network")


@each_row(
    "more",
    [
        "```\nDELIVERED: like this\n```",
        "```text\nDELIVERED: like this\n```\nIs that it?",
        "~~~\nDELIVERED: like this\n```\nDELIVERED: still inside\n~~~",
        "````\n```\nDELIVERED: like this\n```\n````",
        "   ```\nDELIVERED: like this\n   ```",
        "\n    DELIVERED: all was done well, as I was to say",
        "\n\tDELIVERED: all was done well, as I was to say",
        "```\nDELIVERED: never closed",
        "> DELIVERED: they said",
        "Delivered: nothing",
        "delivered: nothing",
        "Plan_complete: 3 tasks",
    ],
)
def test_an_example_a_quotation_or_prose_takes_nothing_back(more: str) -> None:
    assert report_in(f"BLOCKED: no network\n{more}") == BLOCKED


def test_after_an_example_the_report_counts() -> None:
    assert report_in("```\nDELIVERED: like this\n```\nBLOCKED: no network") == BLOCKED
    assert report_in("Use ```x``` here\nBLOCKED: no network") == BLOCKED


def test_prose_after_a_delivery_does_not_block() -> None:
    assert report_in("DELIVERED: a cart\n\nNotes\nBlocked: nothing") == ("delivered", "a cart")


def test_a_block_of_code_ends_with_its_message() -> None:
    assert report_in("```\nleft open", "BLOCKED: no network") == BLOCKED


@each_row(
    ("said", "told"),
    [
        ("BLOCKED:\nno network", "no network"),
        ("**BLOCKED:**\n\n\nno network\r\n\nThat is all.", "no network"),
        ("BLOCKED:\nno network\nat all\n\nMore of it.", "no network at all"),
        ("BLOCKED:\n```\nno network\n```\nMore of it.", "no network More of it."),
        ("BLOCKED:\n```\nno network\n\n```", "no network"),
        ("BLOCKED: here\nno network", "here"),
        ('BLOCKED:\nINSIGHT: {"content": "the network goes down at night"}', ""),
        ("BLOCKED:\n\n", ""),
        ("BLOCKED:", ""),
    ],
)
def test_what_is_told_may_stand_below_its_marker(said: str, told: str) -> None:
    assert report_in(said) == ("blocked", told)


def test_a_marker_below_a_marker_is_another_report() -> None:
    assert report_in("BLOCKED:\nDELIVERED:\na cart") == ("delivered", "a cart")
    assert report_in("BLOCKED: no network\nDELIVERED:\n<summary>") == BLOCKED
    assert report_in("BLOCKED:", "no network") == ("blocked", "")


@pytest.mark.parametrize(
    "said",
    [
        '```\nINSIGHT: {"content": "an example of what one may say"}\n```',
        'Insight: {"content": "not as the seeds write it at all"}',
        '    INSIGHT: {"content": "an example of what one may say"}',
    ],
)
def test_an_insight_that_is_an_example_is_none(said: str) -> None:
    assert insight_in(said) is None
    real = 'INSIGHT: {"content": "the network goes down at night"}'
    found = insight_in(real, said)
    assert found is not None
    assert found.content == "the network goes down at night"


def test_a_result_may_stand_in_a_block_of_code() -> None:
    assert result_in("Here:", '```json\n{"findings": []}\n```') == {"findings": []}


def test_an_ending_without_a_word_ends_the_task_and_teaches_nothing(
    tmp_path: Path, script: Callable[..., Script]
) -> None:
    insights = NotedInsights()
    plans = plans_in(tmp_path, insights)
    plans.workspaces.create({"objective": "Build the cart"})
    log = script("agent-b1").prompt(plans.workspaces.prompt(1)).say("I give up.\n\n**BLOCKED:**")
    learnt = plans.learn(log.save(tmp_path / "logs"), pauses=())
    assert (learnt.outcome, learnt.summary, learnt.insight, learnt.problems) == ("blocked", "", None, ())
    assert insights.stored == []
    assert plans.workspaces.get(1).status == "blocked"
    assert len(plans.wait_builders(["001-w1"], timeout=0).blocked or ()) == 1
