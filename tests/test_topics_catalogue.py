"""What there is and keeping it in order: lists, references, stale sources, pruning, compacting, reindexing."""

from __future__ import annotations

import base64
import os
from random import Random
from typing import TYPE_CHECKING, Any

import pytest

from helix_episodes.errors import InvalidArgument, NotFound
from helix_graph.errors import NotOneOf
from topic_clock import NOW, Clock, topics_at

if TYPE_CHECKING:
    from pathlib import Path

    from helix_graph.topics.api import Topics


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def topics(tmp_path: Path, clock: Clock) -> Topics:
    return topics_at(tmp_path, clock)


def sizes(answer: Any) -> dict[str, int]:  # noqa: ANN401  (one of several answers)
    return {one.topic: one.entries for one in answer}


def test_topics_are_listed_by_name(topics: Topics) -> None:
    for topic in ("network", "api", "network"):
        topics.store(topic, "text")
    answer: Any = topics.topics()
    assert list(sizes(answer.topics).items()) == [("api", 1), ("network", 2)]
    assert answer.entries == 3


def test_recent_counts_new_entries_by_topic(topics: Topics, clock: Clock) -> None:
    for ago, topic in ((200, "old"), (50, "engine"), (5, "engine"), (2, "api")):
        clock.back(hours=ago)
        topics.store(topic, "text")
    clock.back()
    recent: Any = topics.topics("recent")
    assert list(sizes(recent.topics).items()) == [("engine", 2), ("api", 1)]
    assert sizes(topics.topics("recent", days=1).topics) == {"engine": 1, "api": 1}
    assert sizes(topics.topics("recent", days=9, hours=3).topics) == {"api": 1}


def test_stats_count_tags_and_words(topics: Topics, clock: Clock) -> None:
    clock.back(days=37)
    topics.store("a", "red green", tags="hot")
    clock.back()
    topics.store("b", "red", tags="hot, cold")
    stats: Any = topics.topics("stats", detail="tags")
    assert (stats.topics, stats.entries, stats.newest) == (2, 2, NOW)
    assert [(one.tag, one.entries) for one in stats.tags] == [("hot", 2), ("cold", 1)]
    index: Any = topics.topics("stats", detail="index")
    assert (index.index.terms, index.index.postings) == (2, 3)


def test_entries_are_those_that_hold_a_text(topics: Topics) -> None:
    for text in ("a cache", "a queue", "Cached"):
        topics.store("t", text)
    answer: Any = topics.topics("entries", topic="t", match_str="cache")
    assert [(one.index, one.text) for one in answer.entries] == [(0, "a cache"), (2, "Cached")]
    assert answer.total == 3


def test_references_are_links_and_names_as_whole_words(topics: Topics) -> None:
    topics.store("cache", "nothing to tell")
    topics.store("build-gotchas", "arm64 only")
    topics.store("engine", "the Cache is large; the cache is warm")
    topics.store("engine", "see there", links="cache:0")
    topics.store("engine", "cached values, build and then gotchas")
    topics.store("net", "as build-gotchas say, and the build gotchas too")
    answer: Any = topics.topics("xref", topic="cache")
    assert (sizes(answer.referenced_by), sizes(answer.references)) == ({"engine": 2}, {})
    graph: Any = topics.topics("graph")
    edges = {(one.source, one.target): one.entries for one in graph.edges}
    assert edges == {("engine", "cache"): 2, ("net", "build-gotchas"): 1}
    focused: Any = topics.topics("graph", focus="build-*")
    assert [one.target for one in focused.edges] == ["build-gotchas"]
    assert topics.topics("graph", focus="buil").edges == ()
    assert 'did you mean "cache"' in topics.topics("xref", topic="cach").hint  # type: ignore[operator]


def test_stale_entries_are_older_than_their_source(topics: Topics, tmp_path: Path) -> None:
    for name, at in (("young.py", 60), ("old.py", -60)):
        (tmp_path / name).write_text("\n".join(f"line {n}" for n in range(1, 20)))
        os.utime(tmp_path / name, (NOW.timestamp() + at,) * 2)
    topics.store("t", "on the young one", source="young.py:9")
    topics.store("t", "on the old one", source="old.py")
    topics.store("t", "on none", source="gone.py:1")
    answer: Any = topics.topics("stale")
    assert [(one.entry.index, one.line, one.current) for one in answer.entries] == [(0, 9, None)]
    assert (answer.checked, answer.absent) == (2, 1)
    shown: Any = topics.topics("stale", refresh=True)
    assert shown.entries[0].current.splitlines()[3] == "9: line 9"


def test_refresh_shows_nothing_from_outside(topics: Topics, tmp_path: Path) -> None:
    outside = tmp_path.parent / f"{tmp_path.name}-outside.txt"
    outside.write_text("private")
    os.utime(outside, (NOW.timestamp() + 60,) * 2)
    topics.store("t", "x", source=f"../{outside.name}")
    answer: Any = topics.topics("stale", refresh=True)
    assert [one.current for one in answer.entries] == [None]


def test_refresh_shows_no_secret(topics: Topics, tmp_path: Path) -> None:
    """Whoever wrote an entry chose the file that is read, and an agent may read the answer."""
    secret = "ghp_" + "Zq3Vb8Xw2Rk6Tm9Yp4Ls7Nd1Hf5Jc0Ga9Ue3"
    (tmp_path / ".env").write_text(f"TOKEN={secret}\nDB=postgres://app:hunter2XYZpw@db/x\nMODE=quick\n")
    os.utime(tmp_path / ".env", (NOW.timestamp() + 60,) * 2)
    topics.store("t", "how the shop is deployed", source=".env:1")
    answer: Any = topics.topics("stale", refresh=True)
    shown = answer.entries[0].current
    assert secret not in shown
    assert "hunter2XYZpw" not in shown
    assert shown.splitlines()[2] == "3: MODE=quick"


def test_refresh_shows_no_line_of_a_private_key(topics: Topics, tmp_path: Path) -> None:
    """Of which none looks like a secret by itself."""
    random = Random(3)  # noqa: S311  (no key)
    body = [base64.b64encode(random.randbytes(48)).decode() for _ in range(25)]
    begin, end = ("-----" + f"{word} RSA PRIVATE KEY" + "-----" for word in ("BEGIN", "END"))
    (tmp_path / "id_rsa").write_text("\n".join([begin, *body, end, "host machine.example"]))
    os.utime(tmp_path / "id_rsa", (NOW.timestamp() + 60,) * 2)
    topics.store("t", "the key of the machine", source="id_rsa:10")
    topics.store("t", "its host", source="id_rsa:28")
    answer: Any = topics.topics("stale", refresh=True)
    first, second = (one.current for one in answer.entries)
    assert not any(line in first + second for line in body)
    assert second.splitlines()[-1] == "28: host machine.example"


def test_prune_lists_first_and_removes_only_when_told(topics: Topics, clock: Clock) -> None:
    clock.back(days=100)
    topics.store("t", "old and left alone")
    topics.store("t", "old and written to since")
    clock.back()
    topics.edit("revise", "t", text="young again", index=1)
    listed: Any = topics.topics("prune", days=90)
    assert ([one.text for one in listed.entries], listed.applied) == (["old and left alone"], False)
    assert topics.read("t").total == 2
    done: Any = topics.topics("prune", days=90, apply=True)
    assert done.applied
    assert [one.text for one in topics.read("t").entries] == ["young again"]


@pytest.mark.slow
def test_compact_takes_out_what_was_buried_and_tells_bytes(topics: Topics) -> None:
    for number in range(30):
        topics.store("t", f"number{number} " + "secretword " * 900)
    topics.edit("append", "t", text="x", index=0)
    ids = [one.id for one in topics.read("t").entries][20:]
    for _ in range(20):
        topics.edit("delete", "t", index=0)
    kept = topics.read("t")
    told: list[tuple[int, int]] = []
    answer: Any = topics.topics("compact", progress=lambda done, total: told.append((done, total)))
    assert (answer.entries, answer.removed) == (10, 42)
    assert answer.bytes_before > answer.bytes_after == topics.database.path.stat().st_size
    assert topics.read("t") == kept
    assert [one.id for one in kept.entries] == ids
    assert told[-1] == (3, 3)
    assert b"number3 " not in topics.database.path.read_bytes()


def test_reindexing_changes_no_answer(topics: Topics) -> None:
    for number in range(5):
        topics.store(f"t{number % 2}", f"entry number{number}", tags="hot")
    topics.edit("append", "t1", text="more words", index=0)
    before = (topics.search("entry", mode="or"), topics.topics("stats", detail="tags"), topics.topics("list"))
    answer: Any = topics.topics("reindex")
    assert answer.entries == 5
    assert (topics.search("entry", mode="or"), topics.topics("stats", detail="tags"), topics.topics("list")) == before


@pytest.mark.parametrize(
    ("action", "given", "error"),
    [
        ("bogus", {}, NotOneOf),
        ("list", {"days": 3}, InvalidArgument),
        ("xref", {}, InvalidArgument),
        ("import", {}, InvalidArgument),
        ("stats", {"detail": "words"}, NotOneOf),
        ("entries", {"topic": "t", "index": 9}, NotFound),
        ("graph", {"colour": "red"}, InvalidArgument),
    ],
)
def test_what_an_action_does_not_have_is_refused(
    topics: Topics, action: str, given: dict[str, Any], error: type[Exception]
) -> None:
    topics.store("t", "text")
    with pytest.raises(error):
        topics.topics(action, **given)


def test_references_are_the_most_used_first_and_else_by_name(topics: Topics) -> None:
    topics.store("store", "nothing")
    for name in ("pear", "fig", "plum", "kiwi", "apple", "lime"):
        topics.store(name, "see there", links="store:0")
    topics.store("pear", "see there too", links="store:0")
    graph: Any = topics.topics("graph")
    assert [one.source for one in graph.edges] == ["pear", "apple", "fig", "kiwi", "lime", "plum"]
