"""The tables of topics in helix.db: the log, which is the truth, and the index that follows from it; and checksums.

``topic_log`` only grows, until ``compact``. A record's body is JSON, and its checksum covers the body and the record's
number, so that a flipped byte is noticed and named instead of being believed. Everything else can be rebuilt from it:
``topic_text`` is the index of the words (`helix_graph.word_search`), ``topic_term`` what FTS5 says of it.
"""

from __future__ import annotations

import json
import zlib

from helix_graph.database import word_table
from helix_graph.helix_db import Tables
from helix_graph.word_search import indexed

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3

_LOG = """
CREATE TABLE topic_log (number INTEGER PRIMARY KEY, body BLOB NOT NULL, checksum INTEGER NOT NULL);
CREATE TABLE topic_totals (
    only INTEGER PRIMARY KEY CHECK (only = 1),
    numbers INTEGER NOT NULL,
    entries INTEGER NOT NULL,
    words INTEGER NOT NULL
);
INSERT INTO topic_totals VALUES (1, 0, 0, 0)
"""
_VIEW = """
CREATE TABLE topic (name TEXT PRIMARY KEY, entries INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE topic_entry (
    entry INTEGER PRIMARY KEY,
    number INTEGER NOT NULL,
    topic TEXT NOT NULL,
    position INTEGER NOT NULL,
    stored INTEGER NOT NULL,
    changed INTEGER NOT NULL,
    category TEXT NOT NULL
);
CREATE UNIQUE INDEX topic_entry_place ON topic_entry (topic, position);
CREATE INDEX topic_entry_stored ON topic_entry (stored, topic);
CREATE INDEX topic_entry_category ON topic_entry (category, stored);
CREATE TABLE topic_tag (tag TEXT NOT NULL, entry INTEGER NOT NULL, PRIMARY KEY (tag, entry)) WITHOUT ROWID;
CREATE TABLE topic_link (target INTEGER NOT NULL, source INTEGER NOT NULL, PRIMARY KEY (target, source)) WITHOUT ROWID
"""
#: Older versions had postings of their own.
_WORDS = f"""
DROP TABLE IF EXISTS topic_word;
DROP TABLE IF EXISTS topic_posting;
ALTER TABLE topic_totals DROP COLUMN words;
ALTER TABLE topic_entry ADD COLUMN confidence REAL NOT NULL DEFAULT 1.0;
{word_table("topic_text")};
CREATE VIRTUAL TABLE topic_term USING fts5vocab (topic_text, row)
"""
#: What `reindex` empties and fills again.
VIEW = ("topic", "topic_entry", "topic_tag", "topic_link", "topic_text")


def _index_words(connection: sqlite3.Connection) -> None:
    """Fills the index from the log; the words of a damaged record cannot be known."""
    rows = connection.execute("SELECT e.entry, l.* FROM topic_entry e JOIN topic_log l ON l.number = e.number")
    records = [(json.loads(row[1]), entry) for entry, *row in rows.fetchall() if is_sound(*row)]
    connection.executemany(
        "INSERT INTO topic_text (text, rowid) VALUES (?, ?)",
        [(indexed(record["text"]), one) for record, one in records],
    )
    connection.executemany(
        "UPDATE topic_entry SET confidence = ? WHERE entry = ?",
        [(record["confidence"], one) for record, one in records if "confidence" in record],
    )


def checksum_of(number: int, body: bytes) -> int:
    """What stands beside the record in the log."""
    return zlib.crc32(body, zlib.crc32(b"%d" % number))


def is_sound(number: int, body: bytes, checksum: int) -> bool:
    """Whether a row of the log is what was written."""
    return isinstance(body, bytes) and checksum_of(number, body) == checksum


TOPIC_TABLES = Tables(room="topics", steps=(_LOG + ";" + _VIEW, _WORDS, _index_words))
