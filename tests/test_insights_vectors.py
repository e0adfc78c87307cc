"""Does the file of vectors ever change an answer? It is only there to save time."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from helix_graph.insights.api import Insights
from many_insights import lay_in
from stub_embedder import StubEmbedder

if TYPE_CHECKING:
    from pathlib import Path


def text(place: int) -> str:
    return f"alpha{place} beta{place} gamma{place} delta{place} {'common ' * (place % 3)}".strip()


@pytest.mark.slow
def test_two_that_write_in_turn_find_what_one_without_the_file_finds(tmp_path: Path) -> None:
    engine = StubEmbedder(dimensions=16)
    writers = [Insights(tmp_path / "helix.db", embedder=lambda: engine) for _ in range(2)]
    for start in range(0, 560, 280):
        lay_in(tmp_path / "helix.db", [text(place) for place in range(start, start + 280)], engine)
        writers[start % 2].recall(text(3))
    names = [hit["name"] for hit in writers[0].recall(text(3), limit=3)]
    writers[0].edit(names[0], "another text altogether, about zeta and omega")
    writers[1].forget([names[1]])
    for place in range(560, 564):
        writers[place % 2].store(text(place))
    queries = [text(place) for place in range(0, 564, 37)] + ["zeta omega", text(3)]
    found = [[list(one.recall(query)) for query in queries] for one in writers]
    shutil.rmtree(tmp_path / "cache")
    fresh = Insights(tmp_path / "helix.db", embedder=lambda: engine)
    expected = [list(fresh.recall(query)) for query in queries]
    assert found == [expected, expected]
    assert names[1] not in {hit["name"] for hits in expected for hit in hits}


def test_a_folder_that_can_not_be_written_costs_time_only(tmp_path: Path) -> None:
    engine = StubEmbedder(dimensions=16)
    (tmp_path / "cache").write_text("a file stands in the folder's place")
    insights = Insights(tmp_path / "helix.db", embedder=lambda: engine)
    lay_in(insights.path, [text(place) for place in range(300)], engine)
    assert insights.recall(text(299))[0]["content"] == text(299)


def test_a_copy_of_another_memorys_file_is_not_taken_for_ones_own(tmp_path: Path) -> None:
    engine = StubEmbedder(dimensions=16)
    one, other = (Insights(tmp_path / name / "helix.db", embedder=lambda: engine) for name in ("one", "other"))
    lay_in(one.path, [text(place) for place in range(300)], engine)
    lay_in(other.path, [text(place + 300) for place in range(300)], engine)
    one.recall(text(1))
    other.recall(text(1))
    shutil.copytree(tmp_path / "one" / "cache", tmp_path / "other" / "cache", dirs_exist_ok=True)
    again = Insights(tmp_path / "other" / "helix.db", embedder=lambda: engine)
    assert again.recall(text(301))[0]["content"] == text(301)
