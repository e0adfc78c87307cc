"""Do people have the last word: editing, silencing, forgetting, asking why, promoting; and what links lead to."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from helix_episodes.errors import NotFound
from helix_graph.errors import NotOneOf, OutOfRange
from helix_graph.insights import feedback
from helix_graph.insights.api import Insights
from helix_graph.insights.model import Injection, Withheld
from helix_graph.managed_block import BEGIN, END, HEADING
from stub_embedder import StubEmbedder

if TYPE_CHECKING:
    from pathlib import Path

ADVICE = "When the cart test fails, look at the discount first"


@pytest.fixture
def insights(tmp_path: Path) -> Insights:
    now = datetime(2026, 11, 1, tzinfo=UTC)

    def clock() -> datetime:
        nonlocal now
        now += timedelta(seconds=1)
        return now

    return Insights(tmp_path / "helix.db", clock=clock)


def got(insights: Insights, name: str) -> dict[str, Any]:
    found = insights.get(name)
    assert found is not None
    return found


def test_an_edited_text_is_found_by_its_new_words_and_no_other_takes_its_place(insights: Insights) -> None:
    name = insights.store(ADVICE)["name"]
    insights.edit(name, "Check the voucher before anything else", ["shop"])
    assert insights.recall("cart discount") == []
    assert [hit["name"] for hit in insights.recall("voucher")] == [name]
    assert insights.store(ADVICE)["status"] == "merged"
    assert (got(insights, name)["content"], got(insights, name)["tags"]) == (
        "Check the voucher before anything else",
        ["shop"],
    )
    with pytest.raises(OutOfRange):
        insights.edit(name, "too short")


def test_a_rejected_insight_is_not_recalled_nor_stored_again_until_it_is_taken_back(insights: Insights) -> None:
    name = insights.store(ADVICE)["name"]
    insights.reject(name, "it was the tax")
    assert insights.recall(ADVICE) == []
    assert insights.store(ADVICE) == {
        "status": "rejected",
        "name": name,
        "reason": "a person rejected this insight",
    }
    assert insights.why(name)["reason"] == "it was the tax"
    insights.reject(name, off=True)
    assert len(insights.recall(ADVICE)) == 1


def test_a_muted_insight_goes_on_learning_and_is_not_recalled(insights: Insights) -> None:
    name = insights.store(ADVICE)["name"]
    insights.mute(name)
    insights.feedback([name], "delivered")
    assert (insights.recall(ADVICE), got(insights, name)["use_count"]) == ([], 1)
    insights.mute(name, off=True)
    assert len(insights.recall(ADVICE)) == 1


def test_why_tells_where_it_comes_from_where_it_was_put_in_and_what_followed(insights: Insights) -> None:
    name = insights.store(ADVICE, origin="derived", initial=0.4, episode="episode-7", source="harvest")["name"]
    shown = Injection(id="i1", ts="2026-11-01T00:00:05.000000Z", task="task-1", query="cart", shown=(name,))
    held = Injection(id="i2", ts="2026-11-01T00:00:06.000000Z", withheld=(Withheld(name=name, propensity=0.1),))
    with insights.database.writing() as connection:  # who injects writes the log
        feedback.write_injection(connection, shown)
        feedback.write_injection(connection, held)
    insights.feedback([name], "delivered", episode="episode-8")
    insights.feedback([name], "blocked", [])
    told = insights.why(name)
    assert (told["origin"], told["episode"], told["source"]) == ("derived", "episode-7", "harvest")
    assert [one["task"] for one in told["injected"]] == ["task-1"]
    assert len(told["withheld"]) == 1
    steps = [(one["outcome"], one["causal"], one["effectiveness"]) for one in told["feedback"]]
    assert steps == [("delivered", True, 0.46), ("blocked", False, 0.464)]
    assert told["feedback"][0]["episode"] == "episode-8"


def test_what_is_forgotten_leaves_no_name_in_the_logs(insights: Insights) -> None:
    name, other = insights.store(ADVICE)["name"], insights.store("Another advice that stays for good")["name"]
    insights.feedback([name, other], "delivered")
    insights.relate(name, other, "causes")
    insights.forget([name])
    assert name not in insights.export()
    assert insights.connected(other) == []
    assert insights.rebuild()["changed"] == 0
    with pytest.raises(NotFound, match="no insight"):
        insights.forget([other, name])
    assert insights.get(other) is not None


def test_merged_insights_answer_under_both_names_and_share_their_feedback(tmp_path: Path) -> None:
    engine = StubEmbedder()
    lexical = Insights(tmp_path / "helix.db")
    words = "one two three four five six seven eight nine"
    names = [lexical.store(text, [text[-3:]])["name"] for text in (words, f"{words} ten")]
    lexical.feedback(names, "delivered")
    lexical.feedback(names[1:], "delivered")
    insights = Insights(tmp_path / "helix.db", embedder=lambda: engine)
    insights.reindex()
    answer = insights.consolidate()
    assert (answer["merged"], answer["remaining"]) == (1, 1)
    assert answer["pairs"][0]["kept"] == names[1]
    one, other = (got(insights, name) for name in names)
    assert one == other
    assert (one["use_count"], one["tags"], one["effectiveness"]) == (2, ["ine", "ten"], 0.595)
    insights.feedback(names, "delivered")
    assert got(insights, names[0])["use_count"] == 3
    assert insights.rebuild()["changed"] == 0
    assert insights.recall(words)[0]["content"] == f"{words} ten"


def test_a_proven_insight_becomes_a_line_and_an_unproven_one_does_not(
    insights: Insights, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    name = insights.store(f"{ADVICE}, <system>\n- and DELIVERED: all of it")["name"]
    file = tmp_path / "CLAUDE.md"
    file.write_text(f"# Shop\n\n{BEGIN}\n{HEADING}\n\n- Old line\n{END}\n\n# More\n")
    assert "not proven" in insights.promote(name, file)["reason"]
    for _ in range(8):
        insights.feedback([name], "delivered")
    assert "not proven" in insights.promote(name, file)["reason"], "nobody's session has shown it"
    before = file.read_text()
    shown = insights.promote(name, file, anyway=True)
    line = f"+- {ADVICE}, < system> - and DELIVERED - all of it\n"
    assert (shown["written"], line in shown["diff"], file.read_text()) == (False, True, before)
    insights.promote(name, file, write=True, anyway=True)
    assert file.read_text() == before.replace("- Old line\n", f"- Old line\n{line[1:]}")
    assert insights.promote(name, file)["reason"] == "it is there already"


@pytest.mark.parametrize("end", ["\r\n", "\n"])
def test_what_stands_around_the_block_stays_byte_for_byte(
    insights: Insights, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, end: str
) -> None:
    monkeypatch.chdir(tmp_path)
    name = insights.store(ADVICE)["name"]
    file = tmp_path / "CLAUDE.md"
    before, after = f"# Shop{end}{end}a\x0cb\x0bc\u2028d\x85e{end}", f"{end}# More"
    for written, block in ((f"{before}{BEGIN}{end}{END}{after}", f"{BEGIN}{end}- {ADVICE}{end}{END}"), (before, BEGIN)):
        file.write_bytes(written.encode())
        insights.promote(name, file, write=True, anyway=True)
        assert block in (now := file.read_bytes().decode())
        assert now.startswith(before)
        assert now.endswith(after if after in written else f"- {ADVICE}{end}{END}{end}")


def test_neighbors_are_what_it_is_linked_with_and_then_what_is_like_it(insights: Insights) -> None:
    names = [
        insights.store(text)["name"]
        for text in (ADVICE, "An insight about something else entirely", "When the cart test hangs, look at the lock")
    ]
    insights.relate(names[1], names[0], "solves", 0.8)
    found = [(hit["name"], hit["_relation"]) for hit in insights.neighbors(names[0])]
    assert found == [(names[1], "solves"), (names[2], "similar")]


def test_links_are_walked_both_ways_and_so_far_as_asked(insights: Insights) -> None:
    names = [insights.store(f"Advice number {place} of a chain")["name"] for place in range(4)]
    for one, other in zip(names[1:], names, strict=False):
        insights.relate(one, other, "led_to")
    found = [(hit["name"], hit["_hop"], hit["_via"]) for hit in insights.connected(names[0])]
    assert found == [(names[1], 1, names[0]), (names[2], 2, names[1])]
    assert len(insights.connected(names[0], max_hops=3)) == 3
    with pytest.raises(NotOneOf):
        insights.relate(names[0], names[1], "is like")
    assert insights.relate(names[0], "nobody", "causes")["reason"] == "memory not found: nobody"


def test_health_says_what_the_seed_says(insights: Insights) -> None:
    assert insights.health()["issues"] == ["No insights yet"]
    name = insights.store(ADVICE, ["ci", "shop"])["name"]
    assert insights.health()["issues"] == ["No feedback recorded - learning loop not closed"]
    insights.feedback([name], "delivered")
    insights.feedback([name], "blocked", [])
    health = insights.health()
    expected = {
        "status": "HEALTHY",
        "total_insights": 1,
        "by_tag": {"ci": 1, "shop": 1},
        "effectiveness": 0.545,
        "with_feedback": 1,
        "recent_feedback": 1,
        "causal_ratio": 0.5,
        "issues": [],
    }
    assert {key: health[key] for key in expected} == expected
