"""How long topics take to store, find, read and edit, beside bare SQLite in the same run.

    python benchmarks/topics.py [--sizes 1000 10000 100000] [--runs N]

Entries of 40 words are drawn from 8,000 words by Zipf's law (the k-th word is 1/k as frequent as the first), in 60
topics with 20 tags, as in the measurements of the original (``reference/knowledge-base-behaviour.md`` §4). Every call
opens and closes the file, as a command does, but for those "as a server does", which keep the writer's connection. Each
line has the least, the median and the 95th percentile of N calls in milliseconds, each with another question, and the
median of the processor's time: where other programs work beside it, the least and the processor tell more of the
machine at rest. Beside them, on a file with the same entries in a table and in FTS5: storing a row with a durable
commit, reading one row by its key, and FTS5's own best twenty for the same words. "search" asks for two words of some
entry, "common" for two of the hundred most frequent words, "or" for any of three words.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import random
import sqlite3
import statistics
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from helix_graph.helix_db import kept_open
from helix_graph.topics.api import Topics

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

VOCABULARY = [f"w{place}" for place in range(8_000)]
WEIGHTS = [1 / (place + 1) for place in range(8_000)]
WORDS = 40
TOPICS = 60
TAGS = 20


class Drawing:
    """Entries and questions, the same in every run."""

    def __init__(self) -> None:
        self.random = random.Random(7)  # noqa: S311  (no secret)

    def text(self) -> str:
        return " ".join(self.random.choices(VOCABULARY, WEIGHTS, k=WORDS))

    def entry(self) -> dict[str, str]:
        topic, tag = self.random.randrange(TOPICS), self.random.randrange(TAGS)
        return {"topic": f"topic-{topic}", "text": self.text(), "tags": f"tag{tag}"}

    def words(self, count: int) -> str:
        return " ".join(self.random.sample(sorted(set(self.text().split())), count))

    def common(self) -> str:
        return " ".join(self.random.sample(VOCABULARY[:100], 2))


def filled(path: Path, size: int, drawing: Drawing) -> tuple[Topics, list[str]]:
    topics, entries = Topics(path), [drawing.entry() for _ in range(size)]
    topics.topics("import", json=json.dumps(entries))
    return topics, [entry["text"] for entry in entries]


def bare_file(path: Path, texts: list[str]) -> None:
    with bare(path) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("BEGIN")
        connection.execute("CREATE TABLE entry (id INTEGER PRIMARY KEY, text TEXT)")
        connection.execute("CREATE VIRTUAL TABLE words USING fts5(text, content='')")
        connection.executemany("INSERT INTO entry VALUES (?, ?)", enumerate(texts, 1))
        connection.executemany("INSERT INTO words (rowid, text) VALUES (?, ?)", enumerate(texts, 1))
        connection.execute("COMMIT")


@contextlib.contextmanager
def bare(path: Path) -> Iterator[sqlite3.Connection]:
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA synchronous = FULL")
        yield connection


def bare_row(path: Path, key: int) -> None:
    with bare(path) as connection:
        assert connection.execute("SELECT text FROM entry WHERE id = ?", (key,)).fetchone()


def bare_store(path: Path, text: str) -> None:
    with bare(path) as connection:
        connection.execute("INSERT INTO entry (text) VALUES (?)", (text,))


def bare_search(path: Path, words: str) -> None:
    with bare(path) as connection:
        connection.execute(
            "SELECT rowid, rank FROM words WHERE words MATCH ? ORDER BY rank LIMIT 20", (words,)
        ).fetchall()


def timed(name: str, runs: int, call: Callable[[], object]) -> None:
    taken, worked = [], []
    for _ in range(runs):
        start, processor = time.perf_counter(), time.process_time()
        call()
        worked.append(1000 * (time.process_time() - processor))
        taken.append(1000 * (time.perf_counter() - start))
    taken.sort()
    figures = (taken[0], statistics.median(taken), taken[int(0.95 * len(taken))], statistics.median(worked))
    print(f"  {name:<38}" + "".join(f"{figure:>10.2f}" for figure in figures), flush=True)


def measure(folder: Path, size: int, runs: int) -> None:
    drawing = Drawing()
    begin = time.perf_counter()
    topics, texts = filled(folder / "helix.db", size, drawing)
    rate = size / (time.perf_counter() - begin)
    bytes_ = (folder / "helix.db").stat().st_size
    print(f"{size:,} entries ({rate:,.0f} imported a second, {bytes_ / 1e6:.0f} MB), n = {runs} each")
    print(f"  {'':<38}" + "".join(f"{head:>10}" for head in ("least ms", "p50 ms", "p95 ms", "cpu ms")))
    plain = folder / "bare.db"
    bare_file(plain, texts)

    def store_then_search() -> None:
        text = drawing.text()
        topics.store("topic-1", text)
        assert topics.search(" ".join(text.split()[:2]), detail="brief").total

    def some() -> int:
        return drawing.random.randrange(size // TOPICS // 2)

    timed("bare SQLite: one row by its key", runs, lambda: bare_row(plain, 1 + some()))
    timed("bare SQLite: FTS5, the search's words", runs, lambda: bare_search(plain, drawing.words(2)))
    timed("bare SQLite: one row stored, durably", runs, lambda: bare_store(plain, drawing.text()))
    timed("search", runs, lambda: topics.search(drawing.words(2)))
    timed("search, detail full", runs, lambda: topics.search(drawing.words(2), detail="full"))
    timed("search, detail count", runs, lambda: topics.search(drawing.words(2), detail="count"))
    timed("search in a topic", runs, lambda: topics.search(drawing.words(2), topic="topic-3"))
    timed("search, common", runs, lambda: topics.search(drawing.common()))
    timed("search, or", runs, lambda: topics.search(drawing.words(3), mode="or"))
    timed("store", runs, lambda: topics.store("topic-1", drawing.text()))
    timed("store, then search", runs, store_then_search)
    with kept_open():
        timed("store, as a server does", runs, lambda: topics.store("topic-1", drawing.text()))
        timed("store, then search, as a server does", runs, store_then_search)
    timed("read one entry", runs, lambda: topics.read("topic-2", index=some()))
    timed("edit: append to one entry", runs, lambda: topics.edit("append", "topic-2", text="more", index=some()))
    timed("brief of a topic", max(runs // 5, 1), lambda: topics.brief(f"topic-{drawing.random.randrange(10, TOPICS)}"))
    timed("brief of everything", max(runs // 5, 1), topics.brief)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=[1_000, 10_000, 100_000])
    parser.add_argument("--runs", type=int, default=100)
    options = parser.parse_args()
    for size in options.sizes:
        with tempfile.TemporaryDirectory() as folder:
            measure(Path(folder), size, options.runs)


if __name__ == "__main__":
    main()
