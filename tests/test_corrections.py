"""Is what a person corrects kept in the person's words, found again, and nothing else taken for it?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from helix_episodes.extraction.user_reports import correction_in
from helix_graph import Memory
from hook_calls import call
from whole_tables import each_row

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from session_script import Script

CORRECTION = "No, don't use a third-party client for that. Keep a table of rates in the repo instead."


@pytest.mark.parametrize(
    ("prompt", "said"),
    [
        (CORRECTION, CORRECTION),
        ("never open PRs against release!", "never open PRs against release!"),
        (
            "No. Put the helpers in shop/util.py, not in the cart",
            "No. Put the helpers in shop/util.py, not in the cart.",
        ),
        ("I said no mocks in the tests", "I said no mocks in the tests."),
        ("Use tabs instead of spaces here", "Use tabs instead of spaces here."),
        ("No, make it a Decimal", "No, make it a Decimal."),
        ("use integers for money, no floats", "use integers for money, no floats."),
        ("rename it back to fetchAll, other teams call it", "rename it back to fetchAll, other teams call it."),
        ("stop adding comments to every line", "stop adding comments to every line."),
        ("It is slow. We never mock the database", "We never mock the database."),
        ("That locks all; do a lock per account instead", "That locks all; do a lock per account instead."),
    ],
)
def test_a_correction_is_kept_in_the_persons_words(prompt: str, said: str) -> None:
    assert correction_in(prompt) == said


@each_row(
    "prompt",
    [
        "No problem, thanks!",
        "Don't worry about it",
        "No problem. Use the new one then.",
        "don't forget the changelog",
        "no, don't push yet",
        "Stop here for now",
        "Don't you think a table is better?",
        "Add a page for returns. It should not use the old client.",
        "Now use the rates in the cart",
        "Why don't we use a client instead of a table?",
        "ok, commit",
        "Add a page for returns. Use a table instead of a list.",
        "the table is cut off, no scrollbar",
        "Do not commit anything before I have looked",
    ],
)
def test_nothing_else_is_taken_for_one(prompt: str) -> None:
    assert correction_in(prompt) is None


@pytest.mark.slow
def test_a_correction_is_told_where_it_fits(tmp_path: Path, script: Callable[..., Script]) -> None:
    (tmp_path / "shop" / ".git").mkdir(parents=True)
    memory = Memory.init(tmp_path / "shop")
    log = (
        script("corrected", root=str(tmp_path / "shop"))
        .prompt("Show prices in other currencies")
        .run("pip install forex-client", "installed")
        .prompt(CORRECTION)
        .run("pytest -q", "2 passed in 0.1s")
    )
    memory.extract([log.save(tmp_path / "logs")])
    memory.graph.compile()
    memory.insights.harvest()
    asked = {"session_id": "next", "cwd": str(tmp_path / "shop")}
    assert "third-party client" in call("session-start", {**asked, "source": "startup"}).context
    prompt = "Which currencies are in the table of rates?"
    assert "third-party client" in call("user-prompt", {**asked, "session_id": "other", "prompt": prompt}).context
    assert call("user-prompt", {**asked, "session_id": "other", "prompt": "Paint the garden fence"}).said is None
