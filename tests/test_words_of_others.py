"""Does what somebody else wrote stay as they wrote it, whichever way it came, and may one say it differently?"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from helix_cli.app import run
from helix_graph.errors import WrittenByOthers
from helix_graph.sharing.records import SharedEntry, SharedInsight
from team_world import contents, member

if TYPE_CHECKING:
    from pathlib import Path

    from helix_graph import Memory

RETRY = "Retry the parcel service once before giving up on a label"
TWICE = "Retry the parcel service twice before giving up on a label"
NOTE = "The rates are in cents, and rounded once at the end"
INSIGHT = SharedInsight(uid="1" * 64, slug="retry", content=RETRY, created_at="2026-03-02T10:00:00.000000Z")
ENTRY = SharedEntry(topic="rates", text=NOTE, stored="2026-03-02T10:00:00Z")


@pytest.fixture(params=["git", "team server"])
def way(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def bob(way: str, tmp_path: Path) -> Memory:
    """A memory that has an insight and an entry of Ann's."""
    memory = member(tmp_path / "bob")
    memory.sharing.take_in([(INSIGHT, "Ann"), (ENTRY, "Ann")], through=way)
    return memory


def test_an_insight_of_somebody_else_is_not_edited_and_an_own_version_takes_its_place(bob: Memory, way: str) -> None:
    with pytest.raises(WrittenByOthers, match=r"by Ann.*insight store --content.*insight mute retry"):
        bob.insights.edit("retry", content=TWICE)
    with pytest.raises(WrittenByOthers):
        bob.insights.edit("retry", tags=["parcels"])
    assert contents(bob) == [RETRY]
    bob.insights.store(TWICE)
    bob.insights.mute("retry")
    assert contents(bob) == [TWICE]
    assert [one.content for one in bob.sharing.own.records()] == [TWICE]  # type: ignore[union-attr]
    later = replace(INSIGHT, content=f"{RETRY}, says Ann", edited_at="2026-04-02T10:00:00Z")
    bob.sharing.take_in([(later, "Ann")], through=way)
    assert contents(bob) == [TWICE]
    bob.insights.mute("retry", off=True)
    assert contents(bob) == sorted([f"{RETRY}, says Ann", TWICE])


@pytest.mark.parametrize(
    "change", [{"action": "revise", "text": "Other words", "index": 0}, {"action": "append", "text": "and more"},
               {"action": "tag", "tags": "parcels", "index": 0}],
)  # fmt: skip
def test_an_entry_of_somebody_else_gets_no_other_words(bob: Memory, change: dict[str, object]) -> None:
    with pytest.raises(WrittenByOthers, match="topic store"):
        bob.topics.edit(topic="rates", **change)  # type: ignore[arg-type]
    assert [(one.text, one.tags) for one in bob.topics.read("rates").entries] == [(NOTE, ())]
    bob.topics.store("rates", "A note of one's own")
    bob.topics.edit("revise", "rates", index=1, text="A note of one's own, revised")
    bob.topics.edit("delete", "rates", index=0)
    assert [one.text for one in bob.topics.read("rates").entries] == ["A note of one's own, revised"]


def test_the_command_says_what_to_do_instead(
    bob: Memory, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(bob.root.parent)
    assert run(["insight", "edit", "retry", "--content", TWICE]) == 1
    assert "insight store" in capsys.readouterr().err
    assert run(["topic", "edit", "revise", "rates", "--index", "0", "--text", "x", "--json"]) == 1
    assert "topic store" in capsys.readouterr().err
    assert run(["topic", "read", "rates", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["entries"][0]["text"] == NOTE
    assert run(["insight", "edit", "retry"]) == 2
    assert "needs content or tags" in capsys.readouterr().err


def test_a_lesson_of_another_s_session_in_one_s_own_words_is_one_s_own(tmp_path: Path) -> None:
    memory = member(tmp_path / "bob", "of-ann")
    (name, *_) = memory.insights.harvest()["added"]
    marker = memory.root / "team" / "episodes" / "episode-of-ann.json"
    marker.parent.mkdir(parents=True)
    marker.write_text('{"author":"ann","subject":"","hash":""}')
    assert memory.sharing.own.records() == ()
    memory.insights.edit(name, content=TWICE)
    assert [one.content for one in memory.sharing.own.records()] == [TWICE]  # type: ignore[union-attr]
