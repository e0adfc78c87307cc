"""What becomes of what is stored: names, tags, sources, links, warnings, and what is refused."""

from __future__ import annotations

import tempfile
import unicodedata
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helix_episodes.errors import InvalidArgument
from helix_graph.errors import OutOfRange, WrongType
from helix_graph.topics.api import Topics
from helix_graph.topics.fields import hyphened, singular, tag_names
from thoroughness import examples
from topic_clock import topics_at


@pytest.fixture
def topics(tmp_path: Path) -> Topics:
    return topics_at(tmp_path)


def test_a_topic_has_one_spelling_everywhere(topics: Topics) -> None:
    assert topics.store("My Topic/Sub_X", "one").entry.topic == "my-topic-sub-x"
    assert topics.batch([{"topic": "MY TOPIC/sub_x", "text": "two"}]).entries[0].topic == "my-topic-sub-x"
    assert topics.edit("append", "My Topic/Sub_X", text="more").topic == "my-topic-sub-x"
    assert len(topics.read("my topic/SUB x").entries) == 2
    assert topics.search("two", topic="My Topic.Sub X").total == 1
    assert len(topics.topics("entries", topic="MY-topic-sub-x").entries) == 2


@pytest.mark.parametrize("name", ["", "  ", "!!!", "---", "😀"])
def test_a_name_without_a_letter_is_refused(topics: Topics, name: str) -> None:
    with pytest.raises(InvalidArgument, match="letter or a digit"):
        topics.store(name, "text")


def test_a_long_name_is_refused_and_harms_nothing(topics: Topics) -> None:
    topics.store("x" * 128, "fits")
    with pytest.raises(InvalidArgument, match="129"):
        topics.store("x" * 129, "does not")
    topics.store("after", "still here")
    assert topics.topics("list").entries == 2


@settings(max_examples=examples(50), deadline=None)
@given(st.text(max_size=30))
def test_sanitising_twice_changes_nothing(name: str) -> None:
    assert hyphened(hyphened(name)) == hyphened(name)


@pytest.mark.parametrize(
    ("plural", "one"),
    [
        ("gotchas", "gotcha"),
        ("Classes", "class"),
        ("entries", "entry"),
        ("patches", "patch"),
        ("caches", "cache"),
        ("databases", "database"),
        ("series", "series"),
        ("apis", "api"),
        ("status", "status"),
        ("statuses", "status"),
        ("analysis", "analysis"),
        ("indices", "index"),
        ("aws", "aws"),
        ("leaves", "leaf"),
        ("lenses", "lens"),
        ("gases", "gas"),
        ("gas", "gas"),
        ("heroes", "hero"),
        ("quizzes", "quiz"),
        ("https", "https"),
        ("data-flows", "data-flow"),
    ],
)
def test_tags_are_in_the_singular(topics: Topics, plural: str, one: str) -> None:
    assert topics.store("t", "text", tags=plural).entry.tags == (one,)
    assert topics.search("text", tag=plural).total == 1


@pytest.mark.parametrize(("given", "kept"), [("[x]", ("x",)), (["b, c"], ("b", "c")), (["[b", "c]"], ("b", "c"))])
def test_tags_written_as_a_list_are_its_members(topics: Topics, given: Any, kept: tuple[str, ...]) -> None:  # noqa: ANN401  (a text or a list)
    assert topics.store("t", "text", tags=given).entry.tags == kept


@settings(max_examples=examples(50), deadline=None)
@given(st.text(alphabet="abceghiostuxyz", min_size=1, max_size=9))
def test_the_singular_of_a_singular_is_itself(word: str) -> None:
    assert singular(singular(word)) == singular(word)


def test_32_tags_fit_and_33_do_not() -> None:
    assert len(tag_names("tags", [f"tag{number}" for number in range(32)])) == 32
    with pytest.raises(InvalidArgument, match="33"):
        tag_names("tags", [f"tag{number}" for number in range(33)])


def test_tags_are_sorted_each_once_and_without_blanks() -> None:
    assert tag_names("tags", " P0, gotchas,,gotcha , hot  path") == ("gotcha", "hot path", "p0")


@pytest.mark.parametrize(
    ("text", "tag"),
    [
        ("Gotcha: never call it twice", "gotcha"),
        ("\n  BUG: lost update", "gotcha"),
        ("security: keys rotate", "invariant"),
        ("Design: one writer", "decision"),
        ("data flow: a to b", "data-flow"),
        ("benchmark: 3 ms", "performance"),
        ("todo: retry", "gap"),
        ("impl: read the log", "how-to"),
        ("module: cache", "module-map"),
        ("overview: all of it", "architecture"),
        ("coupling: a knows b", "coupling"),
        ("pattern: retry once", "pattern"),
    ],
)
def test_the_beginning_gives_a_tag_also_in_a_batch(topics: Topics, text: str, tag: str) -> None:
    assert topics.store("t", text).entry.tags == (tag,)
    assert topics.batch([{"topic": "u", "text": text}]).entries[0].tags == (tag,)
    assert topics.store("v", text, tags="mine").entry.tags == ("mine",)


def test_what_an_entry_says_of_tags_is_text_and_no_tag(topics: Topics) -> None:
    entry = topics.store("t", "[tags: injected]\n[source: /etc/passwd]\nreal text", tags="true").entry
    assert entry.tags == ("true",)
    assert entry.source is None
    assert topics.read("t").entries[0].text.startswith("[tags: injected]")


def test_the_seeds_own_example_is_a_near_duplicate(topics: Topics) -> None:
    topics.store("engine", "CachedEntry holds pre-tokenized tf_map for zero-alloc search", tags="performance")
    second = topics.store("engine", "CachedEntry has pre-tokenized tf_map")
    assert second.duplicate is not None
    assert (second.duplicate.index, second.duplicate.line[:17]) == (0, "CachedEntry holds")
    assert len(topics.read("engine").entries) == 2
    assert topics.store("engine", "CachedEntry has pre-tokenized tf_map", force=True).duplicate is None
    assert topics.store("elsewhere", "CachedEntry has pre-tokenized tf_map").duplicate is None


@pytest.mark.parametrize(
    ("older", "newer", "alike"),
    [
        ("alpha beta gamma delta epsilon zeta eta theta", "alpha beta gamma delta epsilon zeta eta iota", 7 / 9),
        ("alpha beta gamma delta epsilon zeta eta theta", "alpha beta gamma delta epsilon zeta kappa iota", None),
        ("same words", "same words", 1.0),
        ("few words here", "few words there", None),
    ],
)
def test_seventy_percent_of_the_words_make_a_near_duplicate(
    topics: Topics, older: str, newer: str, alike: float | None
) -> None:
    topics.store("t", older, tags="one, two, three, four", source="a/very/long/path.py:3")
    found = topics.store("t", newer).duplicate
    assert (found and found.similarity) == (alike and pytest.approx(alike, abs=0.001))


def test_a_batch_is_stored_whole_and_names_those_alike(topics: Topics) -> None:
    text = "alpha beta gamma delta epsilon zeta eta"
    answer = topics.batch(
        [{"topic": "a", "text": text}, {"topic": "b", "text": "other"}, {"topic": "a", "text": text + " theta"}]
    )
    assert (len(answer.entries), answer.topics) == (3, 2)
    assert [(one.first, one.second) for one in answer.alike] == [(0, 2)]
    assert topics.topics("list").entries == 3


@pytest.mark.parametrize(
    ("item", "problem"),
    [
        ({"text": "x"}, "topic missing"),
        ({"topic": "t", "text": " "}, "text is empty"),
        ({"topic": "t", "text": "x", "colour": "red"}, "there is no colour"),
        ({"topic": "t", "text": "x", "links": "t:0"}, "leads to no topic"),
        ("text", "must be an object"),
    ],
)
def test_a_batch_with_a_bad_item_stores_nothing_and_says_which(topics: Topics, item: Any, problem: str) -> None:  # noqa: ANN401  (any JSON)
    with pytest.raises(InvalidArgument, match=rf"entries\[1\]: .*{problem}"):
        topics.batch([{"topic": "ok", "text": "fine"}, item])
    assert topics.topics("list").entries == 0


def test_links_must_lead_to_entries_and_follow_them(topics: Topics) -> None:
    topics.batch([{"topic": "cache", "text": "first"}, {"topic": "cache", "text": "second"}])
    assert topics.store("net", "see there", links="Cache:1 cache:0, cache:1").entry.links == ("cache:1", "cache:0")
    for link, problem in (
        ("cache:2", "no entry"),
        ("nosuch:0", "no topic"),
        ("cache", "no link"),
        ("cache:-1", "no link"),
    ):
        with pytest.raises(InvalidArgument, match=problem):
            topics.store("net", "text", links=link)
    topics.edit("delete", "cache", index=0)
    topics.edit("rename", "cache", new_name="store")
    assert topics.read("net").entries[0].links == ("store:0", "#1")
    assert topics.topics("list").entries == 2


def test_secrets_are_cut_before_anything_is_written(topics: Topics) -> None:
    key = "ghp_" + "0123456789abcdefghijABCDEFGHIJ012345"
    topics.store("keys", f"the key is {key}", source=f"vault/{key}")
    topics.edit("append", "keys", text=f"again {key}")
    topics.topics("import", json=f'[{{"topic": "keys", "text": "imported {key}"}}]')
    assert key.encode() not in topics.database.path.read_bytes()
    assert "[redacted:github-token]" in topics.read("keys").entries[0].text


@settings(max_examples=examples(10), deadline=None)
@given(st.lists(st.text(alphabet=st.characters(exclude_categories=["Cs"])), min_size=1, max_size=20))
def test_any_unicode_stays_as_it_is(texts: list[str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        topics = Topics(Path(folder) / "helix.db")
        topics.batch([{"topic": "t", "text": f"é😀 {text}"} for text in texts])
        assert [entry.text for entry in topics.read("t").entries] == [f"é😀 {text}" for text in texts]


def test_half_a_character_is_refused_by_name(topics: Topics) -> None:
    for call in (
        lambda: topics.store("t", "broken \ud83d emoji"),
        lambda: topics.store("t\udc00", "text"),
        lambda: topics.store("t", "text", tags="\ud83d"),
        lambda: topics.search("\ud83d"),
    ):
        with pytest.raises(InvalidArgument, match="half a character"):
            call()
    assert topics.store("t", "whole 😀").entry.text == "whole 😀"


def test_composed_and_decomposed_letters_are_the_same_word(topics: Topics) -> None:
    topics.store("t", unicodedata.normalize("NFD", "café crème"))
    assert topics.search(unicodedata.normalize("NFC", "CAFÉ")).total == 1


@pytest.mark.parametrize(
    ("given_", "error"),
    [
        ({"text": "  \n"}, InvalidArgument),
        ({"text": 7}, WrongType),
        ({"text": "x" * 100_001}, InvalidArgument),
        ({"confidence": 1.5}, OutOfRange),
        ({"confidence": float("nan")}, OutOfRange),
        ({"confidence": "0.5"}, WrongType),
        ({"tags": ",".join(f"t{n}q" for n in range(33))}, InvalidArgument),
        ({"source": "x" * 1_001}, InvalidArgument),
    ],
)
def test_what_cannot_be_kept_is_refused(topics: Topics, given_: dict[str, Any], error: type[Exception]) -> None:
    with pytest.raises(error):
        topics.store(**{"topic": "t", "text": "x", **given_})
    assert topics.topics("list").entries == 0


def test_confidence_zero_is_kept_and_ranks_last(topics: Topics) -> None:
    topics.store("t", "alpha beta", confidence=0.0)
    topics.store("t", "alpha and a good many other words beside it")
    hits = topics.search("alpha").hits
    assert [hit.entry.confidence for hit in hits] == [1.0, 0.0]
