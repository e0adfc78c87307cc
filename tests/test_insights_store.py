"""What becomes of a text that is stored: its name, what it merges with, what is cut, what is refused."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING

import pytest

from helix_episodes.errors import InvalidArgument
from helix_graph.errors import OutOfRange, WrongType
from helix_graph.insights.api import Insights
from helix_graph.insights.scoring import LONGEST_NAME
from stub_embedder import Fixed, StubEmbedder

if TYPE_CHECKING:
    from pathlib import Path

ADVICE = "When the cart test fails, look at the discount first"


def content_of(insights: Insights, name: str) -> str:
    found = insights.get(name)
    assert found is not None
    return str(found["content"])


@pytest.fixture
def insights(tmp_path: Path) -> Insights:
    return Insights(tmp_path / "helix.db")


def test_a_name_is_the_beginning_of_the_text(insights: Insights) -> None:
    assert insights.store(ADVICE) == {
        "status": "added",
        "name": "when-the-cart-test-fails-look-at-the-discount-fir",
        "reason": "",
    }


def test_names_that_clash_get_a_suffix_and_stay_short(insights: Insights) -> None:
    long = "x" * 60
    names = [insights.store(f"{long} number {number}")["name"] for number in range(30)]
    assert len(set(names)) == 30
    assert max(map(len, names)) <= LONGEST_NAME
    assert names[0] == "x" * 50


def test_a_text_that_is_the_suffixed_name_of_another_gets_its_own(insights: Insights) -> None:
    first, second = (insights.store(f"{'x' * 60} {place}")["name"] for place in range(2))
    third = insights.store(second)["name"]
    assert len({first, second, third}) == 3


@pytest.mark.parametrize("content", ["日本語のテストが失敗したらログを最初に見てください。", "🔥" * 25])
def test_a_text_without_latin_letters_has_a_name_too(insights: Insights, content: str) -> None:
    assert insights.store(content)["name"].startswith("insight-")


def test_the_same_text_but_for_case_and_blanks_merges_without_a_model(insights: Insights) -> None:
    first = insights.store(ADVICE, ["a"])
    again = insights.store(ADVICE.upper().replace(" ", "  "), ["b"])
    assert again == {"status": "merged", "name": first["name"], "reason": "similar exists", "kept": "new"}
    found = insights.get(first["name"])
    assert found is not None
    assert (found["tags"], found["use_count"], found["last_used"]) == (["a", "b"], 0, None)


def test_the_best_match_takes_a_text_in(tmp_path: Path) -> None:
    texts = {f"{'a' * 25}": 0.86, f"{'b' * 25}": 0.99, f"{'c' * 25}": 1.0}
    engine = Fixed(texts)
    lexical, insights = Insights(tmp_path / "helix.db"), Insights(tmp_path / "helix.db", embedder=lambda: engine)
    names = [lexical.store(text)["name"] for text in ("a" * 25, "b" * 25)]
    insights.reindex()
    assert insights.store("c" * 25)["name"] == names[1]


def test_the_fuller_text_is_kept_and_found_by_its_own_vector(tmp_path: Path) -> None:
    engine = StubEmbedder()
    insights = Insights(tmp_path / "helix.db", embedder=lambda: engine)
    short = "one two three four five six seven eight nine"
    name = insights.store(short)["name"]
    assert insights.store(f"{short} ten")["status"] == "merged"
    assert content_of(insights, name).endswith("ten")
    assert insights.recall(f"{short} ten")[0]["_relevance"] == 1.0
    insights.store(short)
    assert content_of(insights, name).endswith("ten")


def test_what_a_person_provided_keeps_its_words_and_is_not_taken_in(tmp_path: Path) -> None:
    engine = StubEmbedder()
    insights = Insights(tmp_path / "helix.db", embedder=lambda: engine)
    short = "one two three four five six seven eight nine"
    name = insights.store(short, ["user-provided"])["name"]
    assert insights.store(f"{short} ten", ["x"])["name"] == name
    assert content_of(insights, name) == short
    other = insights.store(f"{short} eleven", ["user-provided"])
    assert other["status"] == "added"
    assert insights.consolidate(0.8)["merged"] == 0


def test_secrets_are_cut_before_anything_is_stored(insights: Insights, tmp_path: Path) -> None:
    secret = "ghp_0123456789abcdefghijABCDEFGHIJ012345"  # noqa: S105  (invented)
    name = insights.store(f"Use the token {secret} for the release job", [f"ci {secret}"])["name"]
    assert secret not in str(insights.get(name))
    insights.export_to(tmp_path / "out.jsonl")
    assert not [path for path in tmp_path.rglob("*") if path.is_file() and secret.encode() in path.read_bytes()]


def test_what_is_no_text_or_no_list_is_refused(insights: Insights) -> None:
    with pytest.raises(WrongType):
        insights.store(ADVICE, "ci")
    with pytest.raises(WrongType):
        insights.store(ADVICE, [1])  # type: ignore[list-item]
    with pytest.raises(WrongType):
        insights.store(17)  # type: ignore[arg-type]
    with pytest.raises(InvalidArgument):
        insights.store(f"{ADVICE}\x1b[31m")
    with pytest.raises(OutOfRange):
        insights.store(ADVICE, [f"tag {number}" for number in range(21)])
    with pytest.raises(OutOfRange):
        insights.store(ADVICE, ["x" * 81])
    assert insights.health()["total_insights"] == 0


def test_nothing_is_too_short(insights: Insights) -> None:
    assert insights.store("") == {"status": "rejected", "name": "", "reason": "content too short (min 20 chars)"}


def test_whoever_knows_the_seeds_table_can_read_and_write_it(insights: Insights, tmp_path: Path) -> None:
    insights.store(ADVICE, ["ci"])
    columns = "name, content, embedding, effectiveness, use_count, causal_hits, created_at, last_used, last_feedback_at"
    with sqlite3.connect(tmp_path / "helix.db") as connection:
        row = connection.execute(f"SELECT {columns}, tags FROM insight").fetchone()  # noqa: S608  (a constant)
        assert row[1] == ADVICE
        connection.execute(
            "INSERT INTO insight (name, content, created_at) VALUES ('by-hand', 'Written by a script', '2026-01-01')"
        )
        connection.execute("UPDATE insight SET content = 'Written by a shell script' WHERE name = 'by-hand'")
    connection.close()
    assert [hit["name"] for hit in insights.recall("shell script")] == ["by-hand"]
    assert insights.feedback(["by-hand"], "delivered")["updated"] == 1


def test_storing_what_is_there_embeds_nothing_else_again(tmp_path: Path) -> None:
    engine = StubEmbedder()
    insights = Insights(tmp_path / "helix.db", embedder=lambda: engine)
    insights.store(ADVICE)
    insights.reindex()
    assert engine.calls == 1
