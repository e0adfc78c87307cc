"""Topics under kill -9, compaction beside a writer, two writers, and files that are no longer what was written."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from helix_episodes.errors import HelixGraphError
from helix_graph.errors import MemoryDamaged
from helix_graph.topics.door import Topics

if TYPE_CHECKING:
    from pathlib import Path

_STORE = """
import sys
from pathlib import Path
from helix_graph.topics.door import Topics
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


@pytest.mark.parametrize("acknowledged", [1, 7, 20])
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
    with pytest.raises(MemoryDamaged, match="nothing else holds"):
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


def test_a_flipped_letter_of_an_entry_is_named_and_not_compacted_away(whole: Path) -> None:
    before = whole.read_bytes()
    place = before.index(b"entry number4 about")
    spoilt = before[:place] + b"Entry" + before[place + 5 :]
    whole.write_bytes(spoilt)
    topics = Topics(whole)
    for attempt in (lambda: everything(topics), lambda: topics.topics("compact"), lambda: topics.topics("export")):
        with pytest.raises(MemoryDamaged, match="is not what was written"):
            attempt()
    assert whole.read_bytes() == spoilt


def test_a_spoilt_index_is_made_anew_from_the_log(whole: Path) -> None:
    topics = Topics(whole)
    expected = everything(topics)
    with topics.database.writing() as connection:
        connection.execute("DELETE FROM topic_posting")
        connection.execute("DELETE FROM topic_entry WHERE topic = 'topic-1'")
    with pytest.raises(MemoryDamaged, match="reindex"):
        everything(topics)
    with pytest.raises(MemoryDamaged, match="reindex"):
        topics.topics("compact")
    topics.topics("reindex")
    assert everything(topics) == expected
    assert topics.search("number4").total == 1
