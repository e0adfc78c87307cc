"""The index: everything that follows from the log, maintained in the same transaction.

It holds entries by topic, tags, links, and for each word its positions. `add_to_index` and `remove_from_index` are each
other's inverse, so the index of a log is the same however it came about. Each entry is in one of ten categories, found
in three passes:

1. *Tags*: ``gotcha`` is a gotcha, whatever the text says.
2. *Keywords* in the first three lines: the first significant word decides. Words are whole: Singapore is no gap.
3. *Body*, for entries without any tag: significant words further down, and the shapes of the content, such as arrows or
   measurements.

>>> category(("decision",), "we never do that"), category((), "Beware of the cache")
('decisions', 'gotchas')
>>> category((), "Singapore office"), category((), "request -> queue -> worker")
('other', 'data-flow')
"""

from __future__ import annotations

import re
from collections import Counter
from itertools import islice
from typing import TYPE_CHECKING, get_args

from helix_graph.database import ANY_OF, as_list
from helix_graph.topics.fields import content_lines, first_line
from helix_graph.topics.model import Category
from helix_graph.topics.ranking import words
from helix_graph.topics.schema import VIEW

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Sequence

    from helix_graph.topics.entry_log import EntryRecord, NumberedRecord


CATEGORIES: tuple[Category, ...] = tuple(get_args(Category))
_FIRST_LINES = 3

#: The seed's table: how a first line begins, and the tag that an untagged entry gets for it.
_PREFIXES = {
    "gotcha": ("gotcha:", "bug:"),
    "invariant": ("invariant:", "security:"),
    "decision": ("decision:", "design:"),
    "data-flow": ("data flow:", "flow:"),
    "performance": ("perf:", "benchmark:"),
    "gap": ("gap:", "missing:", "todo:"),
    "how-to": ("how-to:", "impl:", "fix:"),
    "module-map": ("module:",),
    "architecture": ("overview:",),
    "coupling": ("coupling:",),
    "pattern": ("pattern:",),
}
_TAGS: dict[str, Category] = {
    "architecture": "architecture",
    "module-map": "architecture",
    "overview": "architecture",
    "data-flow": "data-flow",
    "pipeline": "data-flow",
    "invariant": "invariants",
    "constraint": "invariants",
    "security": "invariants",
    "gotcha": "gotchas",
    "bug": "gotchas",
    "decision": "decisions",
    "design": "decisions",
    "how-to": "how-to",
    "workflow": "how-to",
    "performance": "performance",
    "zero-alloc": "performance",
    "benchmark": "performance",
    "gap": "gaps",
    "missing": "gaps",
    "todo": "gaps",
    "pattern": "patterns",
    "coupling": "patterns",
}
_KEYWORDS: dict[Category, str] = {
    "architecture": r"architecture|overview|modules?|layers?|components?",
    "data-flow": r"data[ -]flows?|pipelines?|flows? (?:from|to|into|through)",
    "invariants": r"invariants?|must (?:not|never|always)|never|always|security",
    "gotchas": r"gotchas?|bugs?|pitfalls?|caveats?|beware|careful|watch out|traps?",
    "decisions": r"decisions?|decided|chose|chosen|design|rationale",
    "how-to": r"how[ -]to|workflows?|steps|recipe|fix(?:ed)?",
    "performance": r"performance|perf|benchmarks?|latency|throughput|zero-alloc",
    "gaps": r"gaps?|missing|todo|fixme|not (?:yet )?implemented|unimplemented",
    "patterns": r"patterns?|couplings?|conventions?|idioms?",
}
_SHAPES: dict[Category, str] = {
    "data-flow": r"->|→|=>",
    "performance": r"\b\d+(?:\.\d+)?\s?(?:ms|µs|us|ns|[kmg]i?b/s|x faster)\b|\bO\([^)\s]{1,12}\)",
    "how-to": r"^\s*(?:\$ |1[.)] )",
    "decisions": r"\binstead of\b|\brather than\b|\bbecause\b",
    "architecture": r"\b(?:struct|class|trait|interface|package|crate)\b",
}


def _table(patterns: dict[Category, str], *, form: str) -> tuple[tuple[Category, re.Pattern[str]], ...]:
    flags = re.IGNORECASE | re.MULTILINE
    return tuple((name, re.compile(form.format(pattern), flags)) for name, pattern in patterns.items())


_BY_KEYWORD = _table(_KEYWORDS, form=r"(?<![\w-])(?:{})(?![\w-])")
_BY_SHAPE = _table(_SHAPES, form="{}")


def auto_tags(text: str) -> tuple[str, ...]:
    """The tag that an untagged entry gets for how its first line begins, by the seed's table.

    >>> auto_tags("Bug: the cache is never emptied"), auto_tags("a bug: see below")
    (('gotcha',), ())
    """
    line = first_line(text).lower()
    return tuple(tag for tag, prefixes in _PREFIXES.items() if line.startswith(prefixes))


def category(tags: Iterable[str], text: str) -> Category:
    """Where an entry belongs; ``other`` where nothing tells."""
    names = tuple(tags)
    for one in CATEGORIES:
        if any(_TAGS.get(tag) == one for tag in names):
            return one
    head = "\n".join(islice(content_lines(text), _FIRST_LINES))
    found = _earliest(head, _BY_KEYWORD)
    if not (found or names):
        found = _earliest(text, _BY_KEYWORD) or _earliest(text, _BY_SHAPE)
    return found or "other"


def _earliest(text: str, table: tuple[tuple[Category, re.Pattern[str]], ...]) -> Category | None:
    """The category whose telling word or shape stands first."""
    found = [(match.start(), place) for place, (_, how) in enumerate(table) if (match := how.search(text))]
    return table[min(found)[1]][0] if found else None


#: Words of so many entries are sorted together, because rows that go into the table in its order go in five times as
#: fast; more at once would only take more memory.
AT_ONCE = 2_000


def add_to_index(connection: sqlite3.Connection, entries: Sequence[NumberedRecord]) -> None:
    """Takes entries into the index."""
    for place in range(0, len(entries), AT_ONCE):
        _add(connection, entries[place : place + AT_ONCE])


def remove_from_index(connection: sqlite3.Connection, record: EntryRecord) -> None:
    """Takes an entry out of the index, as it was taken in: perhaps by a version that cut fewer words from its text."""
    removed = connection.execute(
        "DELETE FROM topic_posting WHERE entry = ?"  # noqa: S608  (our own names and constants)
        f" AND word IN (SELECT word FROM topic_word WHERE spelling {ANY_OF}) RETURNING word, length",
        (record.entry, as_list(_counts(record))),
    ).fetchall()
    connection.executemany(
        "UPDATE topic_word SET entries = entries - 1 WHERE word = ?", [(word,) for word, _ in removed]
    )
    length = removed[0][1] if removed else 0
    connection.executemany(
        "DELETE FROM topic_tag WHERE tag = ? AND entry = ?", [(t, record.entry) for t in record.tags]
    )
    connection.executemany(
        "DELETE FROM topic_link WHERE target = ? AND source = ?", [(target, record.entry) for target in record.links]
    )
    connection.execute("DELETE FROM topic_entry WHERE entry = ?", (record.entry,))
    connection.execute("UPDATE topic SET entries = entries - 1 WHERE name = ?", (record.topic,))
    connection.execute("DELETE FROM topic WHERE name = ? AND entries = 0", (record.topic,))
    connection.execute("UPDATE topic_totals SET entries = entries - 1, words = words - ?", (length,))


def clear_index(connection: sqlite3.Connection) -> None:
    """Takes everything out."""
    for table in VIEW:
        connection.execute(f"DELETE FROM {table}")  # noqa: S608  (our own names and constants)
    connection.execute("UPDATE topic_totals SET entries = 0, words = 0")


def _add(connection: sqlite3.Connection, entries: Sequence[NumberedRecord]) -> None:
    records = [one.record for one in entries]
    counts = {record.entry: _counts(record) for record in records}
    connection.executemany("INSERT INTO topic_entry VALUES (?, ?, ?, ?, ?, ?, ?)", map(_entry_row, entries))
    connection.executemany("INSERT INTO topic_tag VALUES (?, ?)", [(tag, r.entry) for r in records for tag in r.tags])
    connection.executemany(
        "INSERT OR IGNORE INTO topic_link VALUES (?, ?)", [(target, r.entry) for r in records for target in r.links]
    )
    connection.executemany(
        "INSERT INTO topic VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET entries = entries + excluded.entries",
        sorted(Counter(record.topic for record in records).items()),
    )
    numbers = _word_numbers(connection, counts.values())
    rows = (
        (numbers[word], r.entry, times, counts[r.entry].total(), r.confidence, r.stored)
        for r in records
        for word, times in counts[r.entry].items()
    )
    connection.executemany("INSERT INTO topic_posting VALUES (?, ?, ?, ?, ?, ?)", sorted(rows))
    total = sum(one.total() for one in counts.values())
    connection.execute("UPDATE topic_totals SET entries = entries + ?, words = words + ?", (len(records), total))


def _word_numbers(connection: sqlite3.Connection, counts: Iterable[Counter[str]]) -> dict[str, int]:
    """The number of each word, with the entries counted that have it now."""
    having = Counter(word for one in counts for word in one)
    connection.executemany(
        "INSERT INTO topic_word (spelling, entries) VALUES (?, ?)"
        " ON CONFLICT (spelling) DO UPDATE SET entries = entries + excluded.entries",
        sorted(having.items()),
    )
    rows = connection.execute(f"SELECT spelling, word FROM topic_word WHERE spelling {ANY_OF}", (as_list(having),))  # noqa: S608  (our own names and constants)
    return dict(rows.fetchall())


def _entry_row(one: NumberedRecord) -> tuple[int | str, ...]:
    r = one.record
    kind = category(r.tags, r.text)
    return (r.entry, one.number, r.topic, r.position, r.stored, r.changed, kind)


def _counts(record: EntryRecord) -> Counter[str]:
    return Counter(words(record.text))
