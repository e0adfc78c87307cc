"""Topics under kill -9, compaction beside a writer, two writers, and files that are no longer what was written."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from helix_episodes.errors import HelixGraphError
from helix_graph import Memory
from helix_graph.errors import MemoryDamaged
from helix_graph.helix_db import kept_open
from helix_graph.topics.answer_texts import form_of
from helix_graph.topics.api import Topics
from thoroughness import few

if TYPE_CHECKING:
    from pathlib import Path

_STORE = """
import sys
from pathlib import Path
from helix_graph.topics.api import Topics
topics = Topics(Path(sys.argv[1]))
for number in range(int(sys.argv[3])):
    text = f"{sys.argv[2]} number{number} of the storing loop"
    topics.store("log", text)
    print(text, flush=True)
"""


def storing(path: Path, name: str, count: int) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", _STORE, str(path), name, str(count)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def texts(topics: Topics, topic: str = "log") -> list[str]:
    return [entry.text for entry in topics.read(topic).entries]


def everything(topics: Topics) -> dict[str, list[str]]:
    return {one.topic: texts(topics, one.topic) for one in topics.topics("list").topics}


@pytest.mark.parametrize("acknowledged", few([7, 1, 20], 1))
def test_a_killed_writer_loses_nothing_that_it_acknowledged(tmp_path: Path, acknowledged: int) -> None:
    writer = storing(tmp_path / "helix.db", "a", 10_000)
    assert writer.stdout is not None
    told = [writer.stdout.readline().strip() for _ in range(acknowledged)]
    os.kill(writer.pid, signal.SIGKILL)
    told += [line.strip() for line in writer.stdout.readlines() if line.endswith("\n")]
    writer.wait()
    writer.stdout.close()
    topics = Topics(tmp_path / "helix.db")
    kept = texts(topics)
    assert kept[: len(told)] == told
    assert len(kept) - len(told) <= 1  # one may have been stored and not told yet
    assert topics.search(f"number{acknowledged - 1}").total == 1
    topics.store("log", "and on it goes")
    topics.topics("compact")
    assert texts(topics) == [*kept, "and on it goes"]


@pytest.mark.slow
def test_compacting_beside_a_writer_loses_nothing(tmp_path: Path) -> None:
    topics = Topics(tmp_path / "helix.db")
    topics.store("other", "kept")
    writer = storing(tmp_path / "helix.db", "b", 30)
    compacted = 0
    while writer.poll() is None:
        topics.edit("revise", "other", text=f"kept {compacted}", index=0)
        compacted += topics.topics("compact").removed > 0
    assert writer.stdout is not None
    told = writer.stdout.read().splitlines()
    writer.stdout.close()
    assert compacted > 0
    assert len(told) == 30
    assert texts(topics) == told


@pytest.mark.slow
def test_two_writers_keep_everything_under_ids_of_their_own(tmp_path: Path) -> None:
    writers = [storing(tmp_path / "helix.db", name, 15) for name in ("a", "b")]
    told = []
    for writer in writers:
        out, _ = writer.communicate(timeout=60)
        told += out.splitlines()
    answer = Topics(tmp_path / "helix.db").read("log")
    assert sorted(entry.text for entry in answer.entries) == sorted(told)
    assert len(told) == 30
    assert len({entry.id for entry in answer.entries}) == 30


def test_who_has_the_file_open_loses_nothing_when_another_process_closes_it(tmp_path: Path) -> None:
    """A process that reads the file's beginning itself would lose its locks: the other would delete the log in use."""
    topics = Topics(tmp_path / "helix.db")
    with kept_open():
        topics.store("log", "before")
        assert topics.search("before").total == 1
        storing(tmp_path / "helix.db", "elsewhere", 1).communicate(timeout=60)
        topics.store("log", "after")
        storing(tmp_path / "helix.db", "later", 1).communicate(timeout=60)
    assert [text.split()[0] for text in texts(topics)] == ["before", "elsewhere", "after", "later"]


def test_what_one_process_stores_another_finds_at_once(tmp_path: Path) -> None:
    here = Topics(tmp_path / "helix.db")
    here.store("log", "a first look")
    assert here.search("number0").total == 0
    storing(tmp_path / "helix.db", "elsewhere", 1).communicate(timeout=60)
    assert here.search("number0").total == 1


@pytest.fixture
def whole(tmp_path: Path) -> Path:
    path = tmp_path / "helix.db"
    topics = Topics(path)
    for number in range(12):
        topics.store(f"topic-{number % 3}", f"entry number{number} about caches " + "filler " * 40)
    topics.edit("revise", "topic-0", text="said anew about caches", index=1)
    return path


@pytest.mark.parametrize("share", [0.3, 0.6, 0.95])
def test_a_torn_file_is_refused_and_left_as_it_is(whole: Path, share: float) -> None:
    torn = whole.read_bytes()[: int(whole.stat().st_size * share)]
    whole.write_bytes(torn)
    topics = Topics(whole)
    with pytest.raises(MemoryDamaged, match="nowhere else"):
        everything(topics)
    with pytest.raises(MemoryDamaged):
        topics.topics("compact")
    with pytest.raises(MemoryDamaged):
        topics.store("topic-0", "one more")
    assert whole.read_bytes() == torn


def test_a_flipped_byte_is_never_believed(whole: Path) -> None:
    before, expected = whole.read_bytes(), everything(Topics(whole))
    refused = 0
    for place in range(4096, len(before), 1_499):
        spoilt = bytearray(before)
        spoilt[place] ^= 0x01
        whole.write_bytes(spoilt)
        try:
            assert everything(Topics(whole)) == expected, place
        except HelixGraphError:
            refused += 1
            assert whole.read_bytes() == spoilt
    assert refused > 3


def flip(path: Path, letters: bytes) -> None:
    """Changes a letter of one record's body."""
    before = path.read_bytes()
    place = before.index(letters)
    path.write_bytes(before[:place] + letters.swapcase() + before[place + len(letters) :])


def test_a_damaged_record_is_left_out_by_name_and_its_bytes_are_kept(whole: Path) -> None:
    topics = Topics(whole)
    expected = everything(topics)
    flip(whole, b'"entry number4 about')  # in the log: the index has the words as well
    with pytest.raises(HelixGraphError, match="record 5 of the topics is not what was written"):
        topics.read("topic-1")
    assert topics.read("topic-1", index=2).entries[0].text == expected["topic-1"][2]
    assert [texts(topics, name) for name in ("topic-0", "topic-2")] == [expected["topic-0"], expected["topic-2"]]
    found, exported = topics.search("caches", limit=50), topics.topics("export")
    assert (len(found.hits), found.total, len(exported.entries)) == (11, 12, 11)
    for answer in (found, exported, topics.topics("compact"), topics.topics("compact"), topics.search("number4")):
        assert [(one.record, one.topic, one.index, one.entry) for one in answer.damaged] == [(5, "topic-1", 1, 5)]
    assert "left out: record 5" in form_of(found)
    assert b"ENTRY NUMBER4 ABOUT" in whole.read_bytes()
    topics.store("topic-1", "entry number4 about caches " + "filler " * 40)


def test_the_doctor_names_a_damaged_record_and_sets_it_aside(tmp_path: Path) -> None:
    memory = Memory(tmp_path / ".helix")
    for number in range(3):
        memory.topics.store("t", f"entry number{number} of three")
    memory.topics.edit("delete", "t", index=0)
    assert memory.doctor().healthy
    flip(memory.topics.database.path, b"entry number1 of")
    (finding,) = (one for one in memory.doctor().findings if one.kind == "damaged record")
    assert finding.problem == "record 2 of the topics is not what was written: topic t, index 0, entry 2"
    assert memory.doctor(fix=True).healthy
    assert texts(memory.topics, "t") == ["entry number2 of three"]
    assert [b"ENTRY NUMBER1 OF" in path.read_bytes() for path in (tmp_path / ".helix/set-aside/topics").iterdir()] == [
        True
    ]
    assert memory.doctor().healthy


def test_what_a_damaged_tombstone_buried_stays_buried(tmp_path: Path) -> None:
    memory = Memory(tmp_path / ".helix")
    memory.topics.store("t", "gone for good")
    memory.topics.store("t", "kept")
    memory.topics.edit("delete", "t", index=0)
    flip(memory.topics.database.path, b'"buries"')
    assert [one.text for one in memory.topics.topics("export").entries] == ["kept"]
    assert memory.topics.topics("compact").entries == 1
    (finding,) = (one for one in memory.doctor().findings if one.kind == "damaged record")
    assert "the index has no entry for it" in finding.problem
    assert memory.doctor(fix=True).healthy
    memory.topics.topics("reindex")
    assert texts(memory.topics, "t") == ["kept"]


def test_a_spoilt_index_is_made_anew_from_the_log(whole: Path) -> None:
    topics = Topics(whole)
    expected = everything(topics)
    with topics.database.writing() as connection:
        connection.execute("DELETE FROM topic_text")
        connection.execute("DELETE FROM topic_entry WHERE topic = 'topic-1'")
    with pytest.raises(MemoryDamaged, match="reindex"):
        everything(topics)
    with pytest.raises(MemoryDamaged, match="reindex"):
        topics.topics("compact")
    topics.topics("reindex")
    assert everything(topics) == expected
    assert topics.search("number4").total == 1
