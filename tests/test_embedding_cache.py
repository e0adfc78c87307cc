"""Is no text embedded twice, and can the file that remembers vectors never spoil an answer?"""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from helix_graph import Memory
from helix_graph.embedding.cache import CACHE_NAME, Cached
from stub_embedder import StubEmbedder

if TYPE_CHECKING:
    from collections.abc import Callable

    from session_script import Script

TEXTS = ["mend the import", "", "a red fox", "mend the import", "\ud83d half"]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "cache" / "vectors.db"


def asked(file: Path, texts: list[str], model: str = "stub") -> list[str]:
    """What the engine behind a new cache on this file is asked for; the answer is what it alone would say."""
    engine = StubEmbedder(model)
    vectors = Cached(engine, file).embed(texts)
    assert np.array_equal(vectors, StubEmbedder().embed(texts))
    return engine.embedded


def test_each_text_is_embedded_once(file: Path) -> None:
    assert asked(file, TEXTS) == ["mend the import", "", "a red fox", "\ud83d half"]
    assert asked(file, [*TEXTS, "new"]) == ["new"]
    assert asked(file, []) == []


def test_models_do_not_mix(file: Path) -> None:
    asked(file, ["a red fox"])
    assert asked(file, ["a red fox"], model="another") == ["a red fox"]


@pytest.mark.slow
def test_more_texts_than_a_query_takes_values(file: Path) -> None:
    texts = [f"text {number}" for number in range(2000)]
    asked(file, texts)
    assert asked(file, texts) == []


def test_the_oldest_go_when_there_are_more_than_are_kept(file: Path) -> None:
    for texts in (["one", "two"], ["three"], ["four"]):
        Cached(StubEmbedder(), file, most=3).embed(texts)
    engine = StubEmbedder()
    Cached(engine, file, most=3).embed(["four", "three", "two"])
    assert engine.embedded == []
    Cached(engine, file, most=3).embed(["one"])
    assert engine.embedded == ["one"]
    with closing(sqlite3.connect(file)) as connection:
        assert connection.execute("SELECT count(*) FROM vector").fetchone() == (3,)


def test_the_texts_themselves_are_not_kept(file: Path) -> None:
    asked(file, ["a secret that nobody should read"])
    assert b"secret" not in b"".join(path.read_bytes() for path in file.parent.iterdir())


def zeros(file: Path) -> None:
    file.write_bytes(bytes(file.stat().st_size))


def cut_off(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:50])


def scribbled(file: Path) -> None:
    """Every page but the header's first hundred bytes is nonsense."""
    data = file.read_bytes()
    file.write_bytes(data[:100] + b"\xa5" * (len(data) - 100))


def tables_gone(file: Path) -> None:
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("DROP TABLE vector")


def later_version(file: Path) -> None:
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("ALTER TABLE vector ADD COLUMN more TEXT")
        connection.execute("PRAGMA user_version = 99")


@pytest.mark.parametrize("spoil", [zeros, cut_off, scribbled, tables_gone, later_version])
def test_a_damaged_file_is_made_anew(spoil: Callable[[Path], None], file: Path) -> None:
    asked(file, ["a red fox"])
    spoil(file)
    assert asked(file, ["a red fox"]) == ["a red fox"]
    assert asked(file, ["a red fox"]) == []


def test_numbers_of_the_wrong_length_are_none(file: Path) -> None:
    asked(file, ["a red fox"])
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("UPDATE vector SET numbers = x'00'")
        connection.commit()
    assert asked(file, ["a red fox"]) == ["a red fox"]
    assert asked(file, ["a red fox"]) == []


def foreign(file: Path) -> None:
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("CREATE TABLE theirs (word TEXT)")


@pytest.mark.parametrize("stand_in", [foreign, Path.mkdir, lambda file: file.write_bytes(b"no database at all " * 9)])
def test_what_is_not_ours_is_left_alone_and_costs_no_answer(stand_in: Callable[[Path], None], file: Path) -> None:
    file.parent.mkdir()
    stand_in(file)
    before = file.read_bytes() if file.is_file() else None
    cached = Cached(StubEmbedder(), file)
    assert np.array_equal(cached.embed(TEXTS[:3]), StubEmbedder().embed(TEXTS[:3]))
    assert "was not written by helix-graph" in str(cached.problem)
    assert (file.read_bytes() if file.is_file() else None) == before


WORKER = """
import sys
from pathlib import Path
from helix_graph.embedding.cache import Cached
from stub_embedder import StubEmbedder
cached = Cached(StubEmbedder(), Path(sys.argv[1]))
for number in range(20):
    texts = [f"text {(number + k) % 30}" for k in range(5)]
    assert (cached.embed(texts) == StubEmbedder().embed(texts)).all()
    # While another process puts a new file in the damaged one's place, a call may have to do without; it says so.
    assert cached.problem is None or sys.argv[2] == "damaged", cached.problem
"""


@pytest.mark.slow
@pytest.mark.parametrize("damaged", [False, True])
def test_processes_share_it_from_a_cold_start(file: Path, *, damaged: bool) -> None:
    if damaged:
        asked(file, ["a red fox"])
        scribbled(file)
    helpers = Path(__file__).parent / "helpers"
    command = [sys.executable, "-c", f"import sys; sys.path.insert(0, {str(helpers)!r})\n{WORKER}", str(file)]
    command.append("damaged" if damaged else "sound")
    workers = [subprocess.Popen(command, stderr=subprocess.PIPE) for _ in range(4)]
    assert [(worker.communicate()[1], worker.returncode) for worker in workers] == [(b"", 0)] * 4
    assert asked(file, [f"text {number}" for number in range(24)]) == []


def test_forgetting_empties_it_and_the_doctor_knows_it(tmp_path: Path, script: Callable[..., Script]) -> None:
    memory = Memory(tmp_path / ".helix")
    log = script("gone").prompt("mend the import of respx").run("pytest", "1 passed").save(tmp_path / "logs")
    memory.extract([log])
    memory.graph.compile()
    file = memory.root / CACHE_NAME
    asked(file, ["mend the import of respx"])
    assert [one for one in memory.doctor().findings if "vectors" in one.file] == []
    (session,) = (json.loads(path.read_bytes())["session"] for path in (memory.root / "episodes").iterdir())
    report = memory.forget([session])
    assert report.proof
    assert report.proof.whole
    assert asked(file, ["mend the import of respx"]) == ["mend the import of respx"]
