"""Does a memory that an older version wrote, with an index of words for each package, answer as a new one does?"""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from helix_graph import Memory

#: Version 3 of the tables of insights and version 1 of those of topics: two insights, and a topic with an edited and a
#: deleted entry.
OLD = Path(__file__).parent / "fixtures" / "helix-before-shared-index.db.gz"


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    (tmp_path / "helix.db").write_bytes(gzip.decompress(OLD.read_bytes()))
    return Memory(tmp_path)


def test_insights_of_an_older_version_are_found_by_the_words_of_this_one(memory: Memory) -> None:
    (cached,) = memory.insights.recall("cached entries of the table", semantic=False)
    assert cached["content"] == "Empty the CachedEntry table before the tests run"
    assert [hit["content"][:3] for hit in memory.insights.recall("慢查询", semantic=False)] == ["数据库"]


def test_topics_of_an_older_version_are_whole_and_found_by_the_words_of_this_one(memory: Memory) -> None:
    texts = [entry.text for entry in memory.topics.read("engine").entries]
    assert [text[:10] for text in texts] == ["CachedEntr", "缓存条目保存在内存里", "second wor"]
    (held,) = memory.topics.search("holding", detail="full").hits
    assert held.entry.confidence == 0.5
    assert [memory.topics.search(query).total for query in ("内存", "wording", "first", "deleted")] == [1, 1, 0, 0]


def test_a_reindexed_memory_answers_as_the_one_that_was_taken_over(memory: Memory) -> None:
    before = [memory.topics.search(query, detail="full") for query in ("cached search", "内存", "wording")]
    memory.topics.topics("reindex")
    memory.insights.reindex()
    assert [memory.topics.search(query, detail="full") for query in ("cached search", "内存", "wording")] == before
    assert len(memory.insights.recall("CachedEntry", semantic=False)) == 1


def test_what_is_stored_later_is_found_next_to_it(memory: Memory) -> None:
    memory.insights.store("Fill the CachedEntry table after the tests have run")
    memory.topics.store("engine", "The cached entry is written once a day")
    assert len(memory.insights.recall("cached entry table", semantic=False)) == 2
    assert memory.topics.search("CachedEntry").total == 2
