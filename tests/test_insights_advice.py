"""Which lessons of a log are advice that can be read on its own?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from learnt_world import remember, repaired
from thoroughness import few

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    "lesson",
    [
        "Always empty the cart before the next test starts",
        "When the till hangs, restart the printer before the suite.",
        "A price without a currency cannot be compared, so it is refused.",
        "Avoid: Counting prices twice. Compare the sum with the receipt before it is sent.",
        "`make till` fails because the printer must be on first.",
    ],
)
def test_whole_sentences_of_advice_or_cause_are_harvested(tmp_path: Path, lesson: str) -> None:
    insights = remember(tmp_path, repaired("one", lessons=(lesson,))).insights
    added = insights.harvest()["added"]
    assert lesson in {insights.why(name)["content"] for name in added}


@pytest.mark.parametrize(
    "lesson",
    few(
        [
            "progress of the till and resuming after a power cut",
            "Receipt printing and currency handling in the shop",
            "Prevention: Add to the protocol of the till",
            "Rounding trap: Observation: prices are cut. Fix: Use decimals because cents must stay.",
            "Till enhancement: Original pattern: `round(price)` because it is short",
            "a price without a currency cannot be compared, so it is refused",
            "Second, a price without a currency must be refused.",
            "This means that prices must never be rounded.",
            "Always round prices with decimals (see the",
            "Always wrap what `round returns before it is shown",
            "Use decimals for prices, and then:",
            "The reviewer correctly found that prices must be rounded",
            "Prices were rounded twice because the till must be fast.",
            "All three cases involved prices that must never be rounded.",
            "Always see PR #12 before prices are rounded",
            "The shop has a till and a printer in it.",
        ],
        8,
    ),
)
def test_fragments_labels_and_reports_are_not(tmp_path: Path, lesson: str) -> None:
    assert remember(tmp_path, repaired("one", lessons=(lesson,))).insights.harvest()["lessons"] == 0
