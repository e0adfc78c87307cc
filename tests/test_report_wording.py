"""Do the sentences of a report promise no more than the counts and the logs hold?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

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


def test_markdown_sends_nobody_a_message_and_links_nowhere() -> None:
    shown = plain("@octocat wrote to a@b.example about HTTPS://x.example/@y and www.z.example")
    assert shown == (
        "@<!-- -->octocat wrote to a@<!-- -->b.example about HTTPS\\://x.example/@<!-- -->y and www\\.z.example"
    )
