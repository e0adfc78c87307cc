"""Do the sentences of a report promise no more than the counts and the logs hold?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from helix_graph.graph.patterns import Pattern
from helix_graph.web import report_text
from helix_graph.web.rendering import plain
from helix_graph.web.report_model import rate_of
from learnt_world import remember, repaired

if TYPE_CHECKING:
    from pathlib import Path


def test_the_list_of_evidence_says_what_only_the_agent_says(tmp_path: Path) -> None:
    claimed = msgspec.structs.replace(repaired("s1"), outcome="success", outcome_basis="declared")
    judged = msgspec.structs.replace(repaired("s2", day=2), outcome="success", outcome_basis="judged")
    made = remember(tmp_path, claimed, judged).report()
    page = made.data.decode()
    assert page.count("succeeded, only the agent says · ") == 1
    assert page.count("succeeded · ") == 1
    assert {one.episode: one.basis for one in made.report.evidence} == {
        "episode-s1": "declared",
        "episode-s2": "judged",
    }


def test_nearly_all_is_not_all_and_hardly_any_not_none() -> None:
    assert report_text.rate_clause(rate_of(3956, 3959)) == "3,956 of 3,959, over 99 % (99.8 to 100.0 %)"
    assert report_text.rate_clause(rate_of(3, 3959)).startswith("3 of 3,959, under 1 % (0.0 to 0.2 %)")
    assert report_text.rate_clause(rate_of(20, 20)).startswith("20 of 20, 100 % (84 to 100 %)")


def test_what_happens_otherwise_is_counted_where_it_is_too_early_for_a_rate() -> None:
    row = Pattern(
        id="p", name="", description="", trigger="pytest fails", action="run lint", success_rate=0.75, occurrences=12,
        last_used=None, successes=9, interval=rate_of(9, 12).interval, base_rate=0.25, base_n=4, basis="outcome",
        level="family", too_early=False, unmeasured=0, episodes=(), decisions=(),
    )  # fmt: skip
    assert report_text.without_note(row) == "without it 1 of 4"
    assert report_text.without_note(msgspec.structs.replace(row, base_n=40)) == "without it 25 % of 40"


def test_markdown_sends_nobody_a_message_and_links_nowhere() -> None:
    shown = plain("@octocat wrote to a@b.example about HTTPS://x.example/@y and www.z.example")
    assert shown == (
        "@<!-- -->octocat wrote to a@<!-- -->b.example about HTTPS\\://x.example/@<!-- -->y and www\\.z.example"
    )


def test_dates_name_the_year_where_days_of_two_years_stand_together(tmp_path: Path) -> None:
    early, late = repaired("s1"), repaired("s2")
    early = msgspec.structs.replace(early, timestamp="2024-06-01T10:00:00Z")
    late = msgspec.structs.replace(late, timestamp="2026-06-01T10:00:00Z")
    memory = remember(tmp_path, early, late)
    rows = [row for row in memory.report(format="markdown", days=366).data.decode().splitlines() if " to " in row]
    assert any(row.startswith("| 31 May 2024 to 31 May 2025 |") for row in rows)
    page = memory.report(days=366).data.decode()
    assert '<th scope="row">31 May 2024 to 31 May 2025</th>' in page
    assert ">May 2024</text>" in page
    assert '<th scope="row">1 Jun</th>' in memory.report().data.decode()
