"""The index: everything that follows from the log, maintained in the same transaction.

It holds entries by topic, tags, links and words. `add_to_index` and `remove_from_index` are each
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
from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from typing import TYPE_CHECKING, get_args

from helix_graph.topics.fields import content_lines, first_line
from helix_graph.topics.model import Category
from helix_graph.topics.schema import VIEW
from helix_graph.word_search import indexed

if TYPE_CHECKING:
    import sqlite3

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


def add_to_index(connection: sqlite3.Connection, entries: Sequence[NumberedRecord]) -> None:
    """Takes entries into the index."""
    records = [one.record for one in entries]
    connection.executemany(
        "INSERT INTO topic_entry (entry, number, topic, position, stored, changed, category, confidence)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        [
            (r.entry, one.number, r.topic, r.position, r.stored, r.changed, category(r.tags, r.text), r.confidence)
            for one, r in zip(entries, records, strict=True)
        ],
    )
    connection.executemany("INSERT INTO topic_tag VALUES (?, ?)", [(tag, r.entry) for r in records for tag in r.tags])
    connection.executemany(
        "INSERT OR IGNORE INTO topic_link VALUES (?, ?)", [(target, r.entry) for r in records for target in r.links]
    )
    connection.executemany(
        "INSERT INTO topic VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET entries = entries + excluded.entries",
        sorted(Counter(r.topic for r in records).items()),
    )
    connection.executemany(
        "INSERT INTO topic_text (rowid, text) VALUES (?, ?)", [(r.entry, indexed(r.text)) for r in records]
    )
    connection.execute("UPDATE topic_totals SET entries = entries + ?", (len(records),))


#: Of a hundred thousand entries one percent is reported at a time.
_AT_ONCE = 1_000


def add_in_parts(
    connection: sqlite3.Connection, entries: Sequence[NumberedRecord], progress: Callable[[int, int], None] | None
) -> None:
    """Takes many entries into the index; ``progress`` is told how many of how many."""
    for place in range(0, len(entries), _AT_ONCE):
        add_to_index(connection, entries[place : place + _AT_ONCE])
        if progress:
            progress(min(place + _AT_ONCE, len(entries)), len(entries))


def remove_from_index(connection: sqlite3.Connection, record: EntryRecord) -> None:
    """Takes an entry out of the index."""
    entry = (record.entry,)
    connection.execute("DELETE FROM topic_text WHERE rowid = ?", entry)
    connection.executemany("DELETE FROM topic_tag WHERE tag = ? AND entry = ?", [(t, *entry) for t in record.tags])
    connection.executemany(
        "DELETE FROM topic_link WHERE target = ? AND source = ?", [(t, *entry) for t in record.links]
    )
    connection.execute("DELETE FROM topic_entry WHERE entry = ?", entry)
    connection.execute("UPDATE topic SET entries = entries - 1 WHERE name = ?", (record.topic,))
    connection.execute("DELETE FROM topic WHERE name = ? AND entries = 0", (record.topic,))
    connection.execute("UPDATE topic_totals SET entries = entries - 1")


def clear_index(connection: sqlite3.Connection) -> None:
    """Takes everything out."""
    for table in VIEW:
        connection.execute(f"DELETE FROM {table}")  # noqa: S608  (our own names and constants)
    connection.execute("UPDATE topic_totals SET entries = 0")
