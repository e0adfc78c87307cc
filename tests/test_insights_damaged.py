"""Is an insight whose stored bytes changed behind SQLite's back named, told to nobody, and restored?"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from damaged_rows import damage
from git_world import git
from helix_cli.app import run
from helix_graph import Memory
from helix_graph.errors import ShareRefused
from hook_calls import call
from thoroughness import few

if TYPE_CHECKING:
    from pathlib import Path

TEXT = "When the parcel API times out, Retry with the same key"
FILE = "Of the parcel API's answers only parcelKey2Label holds the key to retry with"
QUESTION = "the parcel API times out, retry with which key"


@pytest.fixture
def memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Memory:
    monkeypatch.delenv("HELIX_DIR", raising=False)
    return Memory.init(tmp_path)


def named(memory: Memory) -> list[str]:
    return [one.problem for one in memory.doctor().findings if one.kind == "damaged record"]


def told(memory: Memory, capsys: pytest.CaptureFixture[str]) -> str:
    """All that an agent or a person is told without asking for an insight by its name."""
    asked = {"session_id": "later", "cwd": str(memory.root.parent)}
    found = [call("user-prompt", {**asked, "prompt": QUESTION}).context]
    found.append(call("session-start", {**asked, "session_id": "new", "source": "startup"}).context)
    capsys.readouterr()
    for command in (["insight", "list"], ["insight", "recall", QUESTION], ["search", QUESTION]):
        assert run(command) == 0
    return "".join([*found, capsys.readouterr().out])


@pytest.mark.parametrize("after", few([b"patcel", b"p\xffrcel"], 1), ids=["a letter", "no text"])
def test_a_damaged_text_is_named_told_to_nobody_and_restored(
    memory: Memory, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], after: bytes
) -> None:
    monkeypatch.chdir(memory.root.parent)
    memory.insights.store(TEXT, ["user-provided"])
    memory.insights.store("When the parcel API answers 503, Retry with another key")
    assert TEXT in told(memory, capsys)
    damage(memory, "parcel API times", after + b" API times")
    shown = told(memory, capsys)
    assert ("Retry with another key" in shown, "Retry with the same key" in shown) == (True, False)
    assert ["when-the-parcel-api-times" in one for one in named(memory)] == [True]
    assert memory.doctor(fix=True).healthy
    assert named(memory) == []
    assert TEXT in [one["content"] for one in memory.insights.newest()]
    assert [one["content"] for one in memory.insights.recall("times out")] == [TEXT]


def test_asked_for_by_name_it_is_quoted_as_damaged(memory: Memory) -> None:
    name = memory.insights.store(TEXT)["name"]
    damage(memory, "times", b"timed")
    found = memory.insights.get(name)
    assert found is not None
    assert "damaged" in found["_said_by"]
    assert "damaged" in memory.insights.why(name)["said_by"]


def test_what_changes_next_to_it_does_not_make_it_sound(memory: Memory) -> None:
    name = memory.insights.store(FILE)["name"]
    damage(memory, "answers", b"answerz")
    memory.insights.edit(name, tags=["parcels"])
    memory.insights.reindex()
    memory.insights.store(f"{FILE} again")
    memory.insights.consolidate()
    assert [name in one for one in named(memory)] == [True]
    assert not memory.doctor(fix=True).healthy  # the index has other words, so a person must
    memory.insights.store(FILE)
    assert named(memory) == []
    found = memory.insights.get(name)
    assert found is not None
    assert (found["content"], found["tags"], "_said_by" in found) == (FILE, ["parcels"], False)


def test_an_edit_gives_it_another_text(memory: Memory) -> None:
    name = memory.insights.store(FILE)["name"]
    damage(memory, "answers", b"answerz")
    memory.insights.edit(name, content=TEXT)
    assert named(memory) == []
    assert [one["content"] for one in memory.insights.newest()] == [TEXT]


def test_what_another_program_writes_into_the_table_is_no_damage(memory: Memory) -> None:
    memory.insights.store(TEXT)
    with closing(sqlite3.connect(memory.insights.path)) as connection, connection:
        connection.execute("UPDATE insight SET content = ?", (FILE,))
    assert named(memory) == []
    memory.insights.reindex()
    assert named(memory) == []
    assert [one["content"] for one in memory.insights.newest()] == [FILE]


@pytest.mark.parametrize("after", [b"patcel", b"p\xffrcel"], ids=["a letter", "no text"])
def test_a_damaged_text_is_in_no_export_and_in_no_pull_request(
    memory: Memory, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path, after: bytes
) -> None:
    git(tmp_path, "init", "-q")
    monkeypatch.chdir(tmp_path)
    name = memory.insights.store(TEXT)["name"]
    other = memory.insights.store(FILE)["name"]
    memory.insights.relate(name, other, "led_to")
    memory.insights.feedback([name, other], "delivered")
    damage(memory, "parcel API times", after + b" API times")
    assert run(["insight", "export", "--output", "backup.jsonl"]) == 0
    assert f'"{name}": its text is not what was stored, so it is left out' in capsys.readouterr().err
    exported = (tmp_path / "backup.jsonl").read_bytes()
    assert (b"Retry with the same key" in exported, FILE.encode() in exported) == (False, True)
    with pytest.raises(ShareRefused, match=r"its text is not what was stored, so it stays here.*nothing was shared"):
        memory.sharing.add([name])
    assert run(["share", "add", other]) == 0
    assert f"insight {name}" in capsys.readouterr().err.replace('"', "")
    shared = b"".join(path.read_bytes() for path in (memory.root / "shared").rglob("*.json"))
    assert (b"Retry with the same key" in shared, FILE.encode() in shared) == (False, True)
    assert memory.doctor(fix=True).healthy
    copy = Memory.init(tmp_path / "copy")
    assert run(["insight", "export", "--output", "backup.jsonl"]) == 0
    copy.insights.import_from(tmp_path / "backup.jsonl", own=True)
    assert {one["content"] for one in copy.insights.newest()} == {TEXT, FILE}
