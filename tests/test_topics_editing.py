"""Reading and editing: which entry is meant, what of it stays, and what is refused."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from helix_episodes.errors import InvalidArgument, NotFound
from helix_graph.errors import NotOneOf, OutOfRange, WrongType
from thoroughness import few_rows
from topic_clock import NOW, Clock, topics_at

if TYPE_CHECKING:
    from pathlib import Path

    from helix_graph.topics.api import Topics


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def topics(tmp_path: Path, clock: Clock) -> Topics:
    made = topics_at(tmp_path, clock)
    clock.back(days=3)
    made.store("engine", "first entry", tags="old", source="a.py:1", confidence=0.5)
    made.store("engine", "second entry", tags="hot")
    made.store("engine", "third entry", links="engine:0")
    clock.back()
    return made


def texts(topics: Topics, topic: str = "engine") -> list[str]:
    return [entry.text for entry in topics.read(topic).entries]


def test_indices_are_those_of_storing_and_edits_keep_them(topics: Topics) -> None:
    ids = [entry.id for entry in topics.read("engine").entries]
    for _ in range(2):
        topics.edit("append", "engine", text="more", index=0)
        topics.edit("tag", "engine", tags="new", index=0)
    topics.edit("revise", "engine", text="second, revised", index=1)
    topics.store("engine", "fourth entry")
    assert texts(topics) == ["first entry\nmore\nmore", "second, revised", "third entry", "fourth entry"]
    assert [entry.id for entry in topics.read("engine").entries][:3] == ids
    assert [entry.index for entry in topics.read("engine").entries] == [0, 1, 2, 3]


def test_a_deleted_id_is_never_given_again(topics: Topics) -> None:
    gone = topics.edit("delete", "engine").entry
    assert gone is not None
    topics.topics("compact")
    assert topics.store("engine", "another").entry.id > gone.id


def test_revise_keeps_what_is_known_of_an_entry_and_dates_it(topics: Topics) -> None:
    entry = topics.edit("revise", "engine", text="anew", match_str="FIRST").entry
    assert entry is not None
    assert (entry.text, entry.tags, entry.source, entry.confidence) == ("anew", ("old",), "a.py:1", 0.5)
    assert entry.modified == NOW
    assert entry.stored < NOW
    assert topics.edit("revise", "engine", text="x", index=2).entry.links == ("engine:0",)  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("given", "changed"),
    [({}, 2), ({"index": 1}, 1), ({"match_str": "SECOND"}, 1), ({"match_str": "entry"}, 0), ({"tag": "Olds"}, 0)],
)
def test_append_finds_its_entry(topics: Topics, given: dict[str, Any], changed: int) -> None:
    topics.edit("append", "engine", text="more", **given)
    assert [text.endswith("\nmore") for text in texts(topics)] == [place == changed for place in range(3)]


@pytest.mark.parametrize(
    ("given", "left"),
    [
        ({}, ["first entry", "second entry"]),
        ({"index": 0}, ["second entry", "third entry"]),
        ({"match_str": "second"}, ["first entry", "third entry"]),
        ({"all": True}, []),
    ],
)
def test_delete_takes_what_is_named(topics: Topics, given: dict[str, Any], left: list[str]) -> None:
    topics.edit("delete", "engine", **given)
    assert texts(topics) == left


def test_tags_are_added_and_removed_in_one_spelling(topics: Topics) -> None:
    entry = topics.edit("tag", "engine", tags="Performances, hot-paths", remove="OLDS", index=0).entry
    assert entry is not None
    assert entry.tags == ("hot-path", "performance")
    assert topics.search("first", tag="performance").total == 1
    assert topics.search("first", tag="old").total == 0


def test_rename_and_merge_move_everything(topics: Topics) -> None:
    topics.store("motor", "other")
    ids = [entry.id for entry in topics.read("engine").entries]
    assert topics.edit("rename", "engine", new_name="New Engine").entries == 3
    assert [entry.id for entry in topics.read("new-engine").entries] == ids
    topics.edit("merge", "new-engine", into="motor")
    assert texts(topics, "motor") == ["other", "first entry", "second entry", "third entry"]
    assert topics.read("motor").entries[3].links == ("motor:1",)
    assert [one.topic for one in topics.topics("list").topics] == ["motor"]


@pytest.mark.parametrize(
    ("call", "error", "says"),
    few_rows(
        [
            (("append", "nosuch", {"text": "x"}), NotFound, "no topic 'nosuch'"),
            (("append", "engin", {"text": "x"}), NotFound, 'did you mean "engine"'),
            (("append", "engine", {}), InvalidArgument, "needs text"),
            (("append", "engine", {"text": " "}), InvalidArgument, "empty"),
            (("append", "engine", {"text": "x", "index": 3}), NotFound, "index 3 out of range"),
            (("append", "engine", {"text": "x", "index": -1}), OutOfRange, "index"),
            (("append", "engine", {"text": "x", "match_str": "zzz"}), NotFound, 'no entry matching "zzz"'),
            (("append", "engine", {"text": "x", "tag": "zzz"}), NotFound, 'no entry with tag "zzz"'),
            (("append", "engine", {"text": "x", "index": 0, "match_str": "f"}), InvalidArgument, "one of them"),
            (("revise", "engine", {"text": "x"}), InvalidArgument, "index or match_str"),
            (("revise", "engine", {"text": "x", "tag": "hot"}), InvalidArgument, "means nothing to revise"),
            (("delete", "engine", {"index": 7}), NotFound, "out of range"),
            (("delete", "engine", {"all": True, "index": 0}), InvalidArgument, "one of them"),
            (("delete", "engine", {"text": "x"}), InvalidArgument, "means nothing to delete"),
            (("tag", "engine", {}), InvalidArgument, "tags or remove"),
            (("rename", "engine", {}), InvalidArgument, "new_name"),
            (("rename", "engine", {"new_name": "ENGINE"}), InvalidArgument, "itself"),
            (("rename", "engine", {"new_name": "motor"}), InvalidArgument, "merge"),
            (("merge", "engine", {"into": "nosuch"}), NotFound, "no topic 'nosuch'"),
            (("merge", "engine", {"into": "engine"}), InvalidArgument, "itself"),
            (("explode", "engine", {}), NotOneOf, "append, revise"),
        ],
        10,
    ),
)
def test_what_is_unclear_is_refused_and_changes_nothing(
    topics: Topics, call: tuple[str, str, dict[str, Any]], error: type[Exception], says: str
) -> None:
    topics.store("motor", "other")
    action, topic, given = call
    with pytest.raises(error, match=says):
        topics.edit(action, topic, **given)
    assert texts(topics) == ["first entry", "second entry", "third entry"]


def test_reading_what_is_not_there(topics: Topics) -> None:
    answer = topics.read("engin")
    assert (answer.entries, answer.total) == ((), 0)
    assert 'did you mean "engine"' in (answer.hint or "")
    with pytest.raises(NotFound, match="indices go from 0 to 2"):
        topics.read("engine", index=3)
    assert topics.read("engine", index=1).entries[0].text == "second entry"


def test_an_edit_appends_and_touches_no_record_before_it(topics: Topics) -> None:
    def log() -> list[Any]:
        with topics.database.reading() as connection:
            return connection.execute("SELECT * FROM topic_log ORDER BY number").fetchall()

    before = log()
    topics.edit("revise", "engine", text="anew", index=0)
    topics.edit("delete", "engine", index=1)
    assert log()[: len(before)] == before
    assert len(log()) == len(before) + 3


@pytest.mark.parametrize("nothing", ["", " ", "\n"])
def test_a_text_to_look_for_that_holds_nothing_names_no_entry(tmp_path: Path, nothing: str) -> None:
    topics = topics_at(tmp_path)
    topics.store("t", "stays as it is")
    for action, given in (("delete", {}), ("append", {"text": "x"}), ("revise", {"text": "x"}), ("tag", {"tags": "x"})):
        with pytest.raises(InvalidArgument, match="match_str is empty"):
            topics.edit(action, "t", match_str=nothing, **given)  # type: ignore[arg-type]
    with pytest.raises(InvalidArgument):
        topics.topics("entries", topic="t", match_str=nothing)
    assert [entry.text for entry in topics.read("t").entries] == ["stays as it is"]


def test_a_word_for_yes_is_no_flag(tmp_path: Path) -> None:
    topics = topics_at(tmp_path)
    topics.store("t", "stays")
    maybe: Any = "maybe"
    for attempt in (
        lambda: topics.edit("delete", "t", all=maybe),
        lambda: topics.topics("prune", apply=maybe),
    ):
        with pytest.raises(WrongType, match="true or false"):
            attempt()
    assert len(topics.read("t").entries) == 1


def test_the_sentence_of_a_topic_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(NotFound) as refused:
        topics_at(tmp_path).edit("append", "nope", text="x")
    assert str(refused.value) == "no topic 'nope'; `helix-graph topic topics` lists all topics"


def test_an_object_is_no_batch(tmp_path: Path) -> None:
    one: Any = {"topic": "t", "text": "x"}
    with pytest.raises(WrongType, match="a list of objects"):
        topics_at(tmp_path).batch(one)
