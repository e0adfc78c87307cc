"""The tables of insights within helix.db, and an insight's row in the form of the seed.

``insight`` has the columns of the seed under their names, and others: a program that knows the seed's table can read
and write this one. Long columns come last, so that reading the counts does not read the texts. Triggers maintain what
follows from a row, whoever writes it: the index of words (``insight_text``) and the revision at which a vector was
last written, by which the matrix of vectors next to the database is updated (`helix_graph.insights.vectors`). What
other programs write is indexed as it is; `index_words` adds what only our tokenizer sees.

There are no foreign keys: an import may bring a link or an entry of the log before the insight it belongs to.
"""

from __future__ import annotations

import json

from helix_episodes.light_imports import blake2b
from helix_graph.database import ANY_OF, as_list, word_table
from helix_graph.helix_db import Tables
from helix_graph.insights.safe_quoting import cut_line, logged_name_or_quoted, sanitize_line
from helix_graph.word_search import indexed, relevance

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable
    from typing import Any

    from helix_graph.insights.model import StoredInsight

#: Hex digits of a uid: 128 bits, so that two texts never meet in one.
_DIGEST_BYTES = 16


def text_digest(content: str) -> str:
    """A digest of a text that ignores case and white space.

    >>> text_digest("Run  the tests") == text_digest("run the tests")
    True
    """
    plain = " ".join(content.casefold().split())
    return blake2b(plain.encode(), digest_size=_DIGEST_BYTES).hexdigest()


_INSIGHT = """
CREATE TABLE insight (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    uid TEXT NOT NULL UNIQUE DEFAULT (lower(hex(randomblob(16)))),
    name TEXT NOT NULL UNIQUE,
    slug TEXT NOT NULL DEFAULT '',
    digest TEXT NOT NULL DEFAULT '',
    effectiveness REAL NOT NULL DEFAULT 0.5,
    use_count INTEGER NOT NULL DEFAULT 0,
    causal_hits INTEGER NOT NULL DEFAULT 0,
    created_at TEXT NOT NULL,
    last_used TEXT,
    last_feedback_at TEXT,
    decayed_until TEXT,
    state TEXT NOT NULL DEFAULT 'active',
    state_at TEXT NOT NULL DEFAULT '',
    merged_into TEXT NOT NULL DEFAULT '',
    edited_at TEXT NOT NULL DEFAULT '',
    tagged_at TEXT NOT NULL DEFAULT '',
    origin TEXT NOT NULL DEFAULT 'told',
    initial REAL NOT NULL DEFAULT 0.5,
    model TEXT,
    vector INTEGER,
    tags TEXT NOT NULL DEFAULT '[]',
    episode TEXT NOT NULL DEFAULT '',
    source TEXT NOT NULL DEFAULT '',
    reason TEXT NOT NULL DEFAULT '',
    told TEXT NOT NULL DEFAULT '{}',
    content TEXT NOT NULL,
    embedding BLOB
);
CREATE INDEX insight_digest ON insight (digest);
CREATE INDEX insight_vector ON insight (vector);
CREATE INDEX insight_merged ON insight (merged_into) WHERE merged_into != '';
CREATE INDEX insight_standing ON insight (
    state, model, last_used, created_at, effectiveness, use_count, causal_hits, last_feedback_at, decayed_until
);
"""

#: `vectors` reads what was written since the revision it knows; ``memory`` identifies the database.
_VECTORS = """
CREATE TABLE insight_revision (
    only_row INTEGER PRIMARY KEY CHECK (only_row = 1),
    memory TEXT NOT NULL,
    vectors INTEGER NOT NULL
);
INSERT INTO insight_revision VALUES (1, lower(hex(randomblob(16))), 0);
CREATE TRIGGER insight_vector_first AFTER INSERT ON insight WHEN new.embedding IS NOT NULL BEGIN
    UPDATE insight_revision SET vectors = vectors + 1;
    UPDATE insight SET vector = (SELECT vectors FROM insight_revision) WHERE number = new.number;
END;
CREATE TRIGGER insight_vector_anew AFTER UPDATE OF embedding, model ON insight BEGIN
    UPDATE insight_revision SET vectors = vectors + 1;
    UPDATE insight SET vector = (SELECT vectors FROM insight_revision) WHERE number = new.number;
END;
"""

#: A forgotten uid is a hash of a text; nothing else of the insight is kept.
_FORGOTTEN = "CREATE TABLE insight_forgotten (uid TEXT PRIMARY KEY, ts TEXT NOT NULL) WITHOUT ROWID;"

_LINK = """
CREATE TABLE insight_link (
    id TEXT PRIMARY KEY,
    insight TEXT NOT NULL,
    relation TEXT NOT NULL,
    target TEXT NOT NULL DEFAULT '',
    node_type TEXT NOT NULL DEFAULT '',
    node_text TEXT NOT NULL DEFAULT '',
    episode TEXT NOT NULL DEFAULT '',
    origin TEXT NOT NULL,
    score REAL NOT NULL,
    created_at TEXT NOT NULL
) WITHOUT ROWID;
CREATE INDEX insight_link_from ON insight_link (insight);
CREATE INDEX insight_link_to ON insight_link (target);
CREATE INDEX insight_link_node ON insight_link (node_type, node_text);
"""

#: Entries are only ever added. ``verdicts`` holds the attribution of each insight with its reason; ``insight_judged``
#: finds the entries that speak of one.
_LOG = """
CREATE TABLE insight_feedback (
    id TEXT PRIMARY KEY,
    ts TEXT NOT NULL,
    kind TEXT NOT NULL,
    outcome TEXT,
    names TEXT NOT NULL,
    verdicts TEXT NOT NULL,
    episode TEXT,
    policy TEXT NOT NULL,
    days INTEGER NOT NULL DEFAULT 0,
    standing TEXT
) WITHOUT ROWID;
CREATE INDEX insight_feedback_order ON insight_feedback (ts, id);
CREATE INDEX insight_feedback_kind ON insight_feedback (kind, ts);
CREATE TABLE insight_judged (
    uid TEXT NOT NULL,
    feedback TEXT NOT NULL,
    PRIMARY KEY (uid, feedback)
) WITHOUT ROWID;
CREATE INDEX insight_judged_by ON insight_judged (feedback);
"""

_INJECTIONS = """
CREATE TABLE insight_injection (
    id TEXT PRIMARY KEY,
    ts TEXT NOT NULL,
    task TEXT NOT NULL,
    session TEXT NOT NULL,
    query TEXT NOT NULL,
    shown TEXT NOT NULL,
    withheld TEXT NOT NULL,
    policy TEXT NOT NULL
) WITHOUT ROWID;
CREATE INDEX insight_injection_order ON insight_injection (ts, id);
"""

#: Which injection an outcome is about, and with which chance each of the shown might have been withheld.
_MEASURED = """
ALTER TABLE insight_feedback ADD COLUMN injection TEXT NOT NULL DEFAULT '';
ALTER TABLE insight_injection ADD COLUMN chances TEXT NOT NULL DEFAULT '{}';
CREATE INDEX insight_feedback_injection ON insight_feedback (injection) WHERE injection != '';
CREATE INDEX insight_link_episode ON insight_link (episode) WHERE episode != '';
"""

#: ``texts`` changes with whatever the index of words may say, so that what was counted there holds until it does.
_COUNTED = "ALTER TABLE insight_revision ADD COLUMN texts INTEGER NOT NULL DEFAULT 0"

#: Older versions had an index that other packages could not share, and triggers of their own for ``texts``.
_OLD_INDEX_GONE = """
DROP TRIGGER IF EXISTS insight_text_first;
DROP TRIGGER IF EXISTS insight_text_gone;
DROP TRIGGER IF EXISTS insight_text_anew;
DROP TRIGGER IF EXISTS insight_texts_first;
DROP TRIGGER IF EXISTS insight_texts_gone;
DROP TRIGGER IF EXISTS insight_texts_anew;
DROP TABLE IF EXISTS insight_text;
"""
_WORDS = """;
CREATE TRIGGER insight_text_first AFTER INSERT ON insight BEGIN
    INSERT INTO insight_text (rowid, text) VALUES (new.number, new.content || ' ' || new.tags);
    UPDATE insight_revision SET texts = texts + 1;
END;
CREATE TRIGGER insight_text_gone AFTER DELETE ON insight BEGIN
    DELETE FROM insight_text WHERE rowid = old.number;
    UPDATE insight_revision SET texts = texts + 1;
END;
CREATE TRIGGER insight_text_anew AFTER UPDATE OF content, tags ON insight BEGIN
    UPDATE insight_text SET text = new.content || ' ' || new.tags WHERE rowid = new.number;
    UPDATE insight_revision SET texts = texts + 1;
END;
"""

#: What came by an import and was not there before: it is revoked by its file, and is nobody's word here.
_IMPORTS = """
CREATE TABLE insight_import (
    id TEXT PRIMARY KEY,
    file TEXT NOT NULL,
    sha256 TEXT NOT NULL,
    ts TEXT NOT NULL
) WITHOUT ROWID;
CREATE INDEX insight_import_file ON insight_import (sha256);
"""


def index_words(connection: sqlite3.Connection) -> None:
    """Makes the index of words again."""
    rows = connection.execute("SELECT number, content || ' ' || tags FROM insight").fetchall()
    connection.execute("DELETE FROM insight_text")
    connection.executemany(
        "INSERT INTO insight_text (rowid, text) VALUES (?, ?)", [(number, indexed(text)) for number, text in rows]
    )


#: The rows that a file, git or the team's server brought.
_BROUGHT = "(SELECT number FROM insight JOIN insight_import i ON i.id = insight.uid)"


def own_and_brought(connection: sqlite3.Connection) -> dict[str, int]:
    """The conditions on rows of the index of words by which this user's own and what others brought are asked apart.

    What others brought could else make any word a common one. With each, how many rows meet it; one condition that is
    always met where nothing was brought.
    """
    (every,) = connection.execute("SELECT count(*) FROM insight").fetchone()
    (brought,) = connection.execute(f"SELECT count(*) FROM {_BROUGHT}").fetchone()  # noqa: S608  (a constant)
    if not brought:
        return {"": every}
    return {f"AND +rowid NOT IN {_BROUGHT}": every - brought, f"AND +rowid IN {_BROUGHT}": brought}


def relevance_by_words(
    connection: sqlite3.Connection, query: str, *, frequent: dict[str, dict[str, int]] | None = None
) -> dict[int, float]:
    """The rows that share words with a query, and their relevance by words (`helix_graph.word_search.relevance`).

    ``frequent`` is that function's, by the condition of `own_and_brought`.
    """
    found: dict[int, float] = {}
    for among, total in own_and_brought(connection).items():
        counted = {} if frequent is None else frequent.setdefault(among, {})
        found |= relevance(connection, "insight_text", query, total=total, frequent=counted, among=among)
    return found


#: What was relevant to an injection and not chosen; and the insights whose effect is known, with half of its interval's
#: width, as of so many feedbacks: to work that out reads the whole log.
_EFFECTS = """
ALTER TABLE insight_injection ADD COLUMN passed_over TEXT NOT NULL DEFAULT '[]';
ALTER TABLE insight_revision ADD COLUMN effects TEXT NOT NULL DEFAULT '{}';
ALTER TABLE insight_revision ADD COLUMN effects_of INTEGER NOT NULL DEFAULT 0;
"""

#: The state of the tombstones' folder at which no insight was of a forgotten session (`insights.insight_db`).
_NOTHING_FORGOTTEN = "ALTER TABLE insight_revision ADD COLUMN forgotten TEXT NOT NULL DEFAULT '';"

INSIGHT_TABLES = Tables(
    room="insights",
    steps=(
        f"{_INSIGHT}{_VECTORS}{_FORGOTTEN}{_LINK}{_LOG}{_INJECTIONS}",
        _MEASURED,
        _COUNTED,
        f"{_OLD_INDEX_GONE}{word_table('insight_text')}{_WORDS}",
        index_words,
        _IMPORTS,
        _EFFECTS,
        _NOTHING_FORGOTTEN,
    ),
)


#: What the seed shows of an insight, in its order.
_SEED_FIELDS = (
    "name", "content", "effectiveness", "use_count", "created_at", "last_used", "tags", "causal_hits",
)  # fmt: skip
SHOWN_DECIMALS = 3


def seed_form(stored: StoredInsight) -> dict[str, Any]:
    """An insight as the seed shows it."""
    said, did = stored.insight, stored.standing
    return {
        "name": stored.name,
        "content": said.content,
        "effectiveness": round(did.effectiveness, SHOWN_DECIMALS),
        "use_count": did.use_count,
        "created_at": said.created_at,
        "last_used": did.last_used,
        "tags": list(said.tags),
        "causal_hits": did.causal_hits,
    }


def seed_forms(connection: sqlite3.Connection, numbers: Iterable[int]) -> dict[int, dict[str, Any]]:
    """The insights in these rows, by number, as the seed shows them; ``_said_by`` of what no person here wrote.

    A damaged one (`damaged_among`) is left out.
    """
    wanted = list(numbers)
    damaged = damaged_among(connection, wanted)
    sound = as_list(number for number in wanted if number not in damaged)
    query = f"SELECT number, {', '.join(_SEED_FIELDS)} FROM insight WHERE number {ANY_OF}"  # noqa: S608  (constants)
    forms: dict[int, dict[str, Any]] = {
        number: dict(zip(_SEED_FIELDS, values, strict=True)) for number, *values in connection.execute(query, (sound,))
    }
    for form in forms.values():
        form |= {"effectiveness": round(form["effectiveness"], SHOWN_DECIMALS), "tags": json.loads(form["tags"])}
    for number, said in _authors(connection, forms).items():
        forms[number]["_said_by"] = said
    return forms


#: A text whose bytes are no text at all is damaged as well, and stops nobody who reads the others.
_TEXTS = f"SELECT number, digest, CAST(content AS BLOB) FROM insight WHERE number {ANY_OF}"  # noqa: S608  (a constant)
_INDEXED = f"""
SELECT number, CAST(tags AS BLOB), CAST(text AS BLOB) FROM insight LEFT JOIN insight_text t ON t.rowid = number
WHERE number {ANY_OF}
"""  # noqa: S608  (a constant)


def damaged_among(connection: sqlite3.Connection, numbers: Iterable[int]) -> dict[int, str | None]:
    """Those of these rows whose text nobody stored, and what it was where the index still has that.

    The text is neither that of its digest nor that of the index of words. What another program writes into the table
    is in the index by its triggers, and so is no damage; and a change of case or blanks leaves the digest as it is.
    """
    rows = connection.execute(_TEXTS, (as_list(numbers),))
    read = ((number, kept, _readable(content)) for number, kept, content in rows)
    doubtful = {number: (kept, content) for number, kept, content in read if text_digest(content) != kept}
    found: dict[int, str | None] = {}
    for number, tags, text in connection.execute(_INDEXED, (as_list(doubtful),)) if doubtful else ():
        (kept, content), tagged, said = doubtful[number], f" {_readable(tags)}", _readable(text or b"")
        if said not in {content + tagged, indexed(content + tagged)}:
            before = said.removesuffix(tagged)
            if len(before) == len(content):  # the index may have it in small letters
                pairs = zip(content, before, strict=True)
                before = "".join(now if now.casefold() == was.casefold() else was for now, was in pairs)
            found[number] = before if text_digest(before) == kept else None
    return found


def hide_from_search(connection: sqlite3.Connection, numbers: Iterable[int]) -> None:
    """Takes damaged texts out of the index, which after a change would say that they are as they should be."""
    connection.execute(f"UPDATE insight_text SET text = '' WHERE rowid {ANY_OF}", (as_list(numbers),))  # noqa: S608  (a constant)


def _readable(raw: bytes) -> str:
    return raw.decode("utf-8", "replace")


#: As long as an author's name, with what says that git has it.
_LONGEST_FILE = 100
#: Who wrote an insight, in the words that stand behind a quotation; a person's text, stored or edited here, has no row.
_SAID_BY = f"""
SELECT number, CASE
    WHEN i.file IS NOT NULL THEN 'imported from '
    WHEN origin = 'imported' THEN 'imported'
    WHEN origin = 'agent' THEN 'written by an agent'
    ELSE 'from a session''s log'
END, ifnull(i.file, ''),
    substr(created_at, 1, 10), episode
FROM insight LEFT JOIN insight_import i ON i.id = insight.uid
WHERE number {ANY_OF} AND (i.file IS NOT NULL OR (origin != 'told' AND edited_at = ''))
"""  # noqa: S608  (a constant)


def said_by(connection: sqlite3.Connection, numbers: Iterable[int]) -> dict[int, str]:
    """Of the insights in these rows that are not a person's of this project, who or what wrote them.

    Nobody wrote a damaged one as it is (`damaged_among`).
    """
    wanted = list(numbers)
    return {**_authors(connection, wanted), **dict.fromkeys(damaged_among(connection, wanted), _DAMAGED)}


#: What stands behind the quotation of a text that is not what was stored.
_DAMAGED = "damaged in helix.db, see helix-graph doctor"


def _authors(connection: sqlite3.Connection, numbers: Iterable[int]) -> dict[int, str]:
    return {
        # a file, an author in git and a session have the names that somebody chose: a sentence is no word of ours
        number: sanitize_line(how)
        + (f" {_name(file)}" if file else "")
        + sanitize_line(f", {when}")
        + (f", session {_name(session)}" if session else "")
        for number, how, file, when, session in connection.execute(_SAID_BY, (as_list(numbers),))
    }


def _name(name: str) -> str:
    return logged_name_or_quoted(cut_line(name, _LONGEST_FILE))


def legacy_forms(connection: sqlite3.Connection, numbers: Iterable[int]) -> dict[int, dict[str, str]]:
    """The form in which the insights in these rows were told to the older seed, by number."""
    query = f"SELECT number, told FROM insight WHERE number {ANY_OF}"  # noqa: S608  (a constant)
    return {number: json.loads(told) for number, told in connection.execute(query, (as_list(numbers),))}
