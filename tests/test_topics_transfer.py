"""Export and import: nothing is lost on the way, and what the original exported is understood."""

from __future__ import annotations

import json
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helix_graph.errors import InvalidImport
from helix_graph.topics.answer_texts import form_of
from helix_graph.topics.api import Topics
from thoroughness import examples
from topic_clock import Clock, topics_at

WHOLE = st.characters(exclude_categories=["Cs"])
ENTRY = st.fixed_dictionaries(
    {
        "topic": st.sampled_from(["a", "b", "Ünïcode topic"]),
        "text": st.one_of(st.just("the same again"), st.text(alphabet=WHOLE, max_size=60).map("x".__add__)),
        "tags": st.lists(st.text(alphabet=WHOLE, max_size=8), max_size=3).map(",".join),
        "confidence": st.one_of(st.none(), st.floats(0, 1)),
        "source": st.one_of(st.none(), st.text(alphabet=WHOLE, max_size=20)),
    }
)


@settings(max_examples=examples(15), deadline=None)
@given(st.lists(ENTRY, min_size=1, max_size=12), st.lists(st.integers(0, 30), max_size=6), st.lists(st.integers(0, 30)))
@pytest.mark.slow
def test_a_round_trip_loses_nothing(entries: list[dict[str, Any]], edits: list[int], deletions: list[int]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        clock = Clock()
        one, other = Topics(Path(folder) / "one.db", clock=clock), Topics(Path(folder) / "other.db")
        stored = one.batch(entries).entries
        for place in edits:
            clock.back(days=place)
            target = stored[place % len(stored)]
            one.edit("revise", target.topic, text=f"revised {place}", index=target.index)
            one.store("links", "see", links=f"{target.topic}:{target.index}")
        for place in deletions:
            left = one.topics("list").topics
            if left:
                size = left[place % len(left)]
                one.edit("delete", size.topic, index=place % size.entries)
        exported: Any = one.topics("export")
        done: Any = other.topics("import", json=exported.json())
        assert (done.entries, done.left_out) == (max(0, len(stored) + len(edits) - len(deletions)), ())
        assert other.topics("export") == exported
        for size in one.topics("list").topics:
            assert other.read(size.topic) == one.read(size.topic)


def test_ids_are_kept_in_a_new_memory_and_new_in_any_other(tmp_path: Path) -> None:
    one, other = topics_at(tmp_path / "one"), topics_at(tmp_path / "other")
    one.store("t", "gone")
    one.store("t", "kept")
    one.edit("delete", "t", index=0)
    one.store("t", "linked", links="t:0")
    exported: Any = one.topics("export")
    ids = [entry.id for entry in one.read("t").entries]
    other.topics("import", json=exported.json())
    assert [entry.id for entry in other.read("t").entries] == ids
    other.topics("import", json=exported.json(), force=True)
    again = other.read("t").entries
    assert len({entry.id for entry in again}) == 4
    assert [entry.links for entry in again] == [(), ("t:0",), (), ("t:2",)]
    assert other.store("t", "next").entry.id > max(entry.id for entry in again)


def test_importing_ones_own_export_again_stores_nothing_unless_forced(tmp_path: Path) -> None:
    one, other = topics_at(tmp_path / "one"), topics_at(tmp_path / "other")
    for text in ("said twice", "said twice", "kept", "gone"):
        one.store("t", text, tags="gotcha")
    one.store("t", "see", links="t:2 t:3")
    one.edit("delete", "t", index=3)
    text = one.topics("export").json()
    again = one.topics("import", json=text)
    assert (again.entries, again.topics, again.already) == (0, 0, 4)
    assert form_of(again) == "imported 0 entries across 0 topics; 4 already there"
    assert one.topics("export").json() == text
    other.store("t", "said twice", tags="gotcha")
    assert (other.topics("import", json=text).already, len(other.read("t").entries)) == (1, 4)
    assert other.topics("import", json=text, force=True).entries == 4
    person = '[{"topic": "p", "text": "by hand"}]'
    assert [other.topics("import", json=person).already for _ in range(2)] == [0, 1]


def test_a_link_to_a_deleted_entry_survives_and_leads_to_no_other_entry(tmp_path: Path) -> None:
    one, new, other = (topics_at(tmp_path / name) for name in ("one", "new", "other"))
    one.store("t", "kept")
    one.store("t", "gone")
    one.store("t", "see", links="t:0 t:1")
    one.edit("delete", "t", index=1)
    text = one.topics("export").json()
    new.topics("import", json=text)
    assert new.read("t").entries == one.read("t").entries
    assert new.read("t").entries[1].links == ("t:0", "#2")
    for number in range(9):
        other.store("u", f"entry {number} of another memory")
    other.topics("import", json=text)
    after = [other.store("u", f"later {number}").entry.id for number in range(5)]
    link, gone = other.read("t").entries[1].links
    assert link == "t:0"
    assert gone.startswith("#")
    assert int(gone[1:]) not in {*after, *range(1, 12)}


def test_the_seeds_array_is_taken_in(tmp_path: Path) -> None:
    topics = topics_at(tmp_path)
    done: Any = topics.topics("import", json='[{"topic":"test","text":"imported"},{"topic":"test","text":"imported"}]')
    assert (done.entries, done.topics) == (2, 1)
    assert [entry.text for entry in topics.read("test").entries] == ["imported", "imported"]


def test_a_link_of_the_seeds_array_leads_to_an_entry_of_the_array(tmp_path: Path) -> None:
    topics = topics_at(tmp_path)
    array = [{"topic": "engine", "text": "a fact"}, {"topic": "net", "text": "a link", "links": ["engine:0"]}]
    done: Any = topics.topics("import", json=json.dumps(array))
    assert done.left_out == ()
    assert topics.read("net").entries[0].links == ("engine:0",)


def test_the_originals_export_is_understood_with_its_repeated_keys(tmp_path: Path) -> None:
    topics = topics_at(tmp_path)
    body = "[tags: gotchas, hot]\\n[source: src/ffi.rs:15]\\n[confidence: 0.8]\\n[links: a:1 b:0 b:7]\\narm64 only 😀"
    text = (
        f'{{"a":[{{"ts":29527571,"body":"{body}"}}],"b":[{{"ts":29527572,"body":"between"}}],'
        '"a":[{"ts":29527573,"body":"second of a"},{"ts":29527574,"body":""}]}'
    )
    done: Any = topics.topics("import", json=text)
    assert done.entries == 3
    assert [one.problem[:20] for one in done.left_out] == ["text is empty; give ", "its link b:7 leads t"]
    first = topics.read("a").entries[0]
    assert (first.text, first.tags, first.source) == ("arm64 only 😀", ("gotcha", "hot"), "src/ffi.rs:15")
    assert (first.confidence, first.links) == (0.8, ("a:1", "b:0"))
    assert first.stored == datetime.fromtimestamp(29527571 * 60, tz=UTC)


def test_the_originals_later_export_is_understood(tmp_path: Path) -> None:
    topics = topics_at(tmp_path)
    entry = {"timestamp": "2026-02-21 06:11", "tags": ["Gotchas"], "body": "arm64 only"}
    text = json.dumps({"version": "4.0.0", "topics": [{"topic": "My Topic", "entries": [entry]}]})
    topics.topics("import", json=text)
    found = topics.read("my-topic").entries[0]
    assert (found.text, found.tags, found.stored.isoformat()) == (
        "arm64 only",
        ("gotcha",),
        "2026-02-21T06:11:00+00:00",
    )


def test_a_topic_of_the_originals_may_be_called_as_the_later_exports_list_is(tmp_path: Path) -> None:
    topics = topics_at(tmp_path)
    topics.topics("import", json='{"topics":[{"ts":29527571,"body":"arm64 only"}]}')
    assert [one.text for one in topics.read("topics").entries] == ["arm64 only"]


def test_a_bad_item_is_left_out_and_named(tmp_path: Path) -> None:
    topics = topics_at(tmp_path)
    items = [{"topic": "t", "text": "fine"}, {"topic": "t"}, {"topic": "!", "text": "x"}, 7]
    done: Any = topics.topics("import", json=json.dumps([*items, {"topic": "t", "text": "x", "stored": "never"}]))
    assert done.entries == 1
    assert [one.place for one in done.left_out] == ["[1]", "[2]", "[3]", "[4]"]
    null: Any = topics.topics("import", json='[{"topic":"t","text":null},{"topic":null,"text":"x"},{}]')
    assert [one.problem.split(";")[0] for one in null.left_out] == [
        "cannot import: it needs text",
        "cannot import: it needs topic",
        "cannot import: it needs topic and text",
    ]
    early: Any = topics.topics("import", json='[{"topic":"t","text":"x","stored":"0001-01-01T00:00:00+05:00"}]')
    assert "is no time" in early.left_out[0].problem
    late: Any = topics.topics("import", json='[{"topic":"t","text":"x","stored":32503680000000}]')
    assert (late.entries, "in the future" in late.left_out[0].problem) == (0, True)
    half: Any = topics.topics(
        "import", json='[{"topic":"t","text":"broken \\ud83d"},{"topic":"t","text":"\\ud83d\\ude00"}]'
    )
    assert (half.entries, half.left_out[0].place) == (1, "[0]")
    assert topics.search("fine").total == 1


@pytest.mark.parametrize("text", ["", "{", "7", '"text"', '{"a": 3}', "[" * 100_000])
def test_what_is_no_export_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(InvalidImport):
        topics_at(tmp_path).topics("import", json=text or " ")
