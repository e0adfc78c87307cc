"""Names and uids: what an insight is called, and what it is.

A name is the beginning of the text as a slug. One that is taken gets the first digits of the uid, which no other
insight has. The uid is the digest of the text as it was first stored; after an insight was forgotten its uid is gone
for good, and the same text, when somebody stores it again, is another insight.

>>> slug_of("When pytest fails: run it with -x first, then read the log")
'when-pytest-fails-run-it-with-x-first-then-read'
>>> slug_of("日本語") == ""
True
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from helix_graph.insights.rows import digest
from helix_graph.insights.settings import LONGEST_NAME

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Iterator

_NO_SLUG = re.compile("[^a-z0-9]+")
#: Digits of the uid behind a name: 32 bits first, then twice that, then all of it.
_DIGITS = (8, 16, 32)
#: What a text without a Latin letter or digit is called, before its digits.
_NAMELESS = "insight"


def slug_of(content: str) -> str:
    """The name that a text asks for; empty when there is no letter in it that a name can have."""
    return _NO_SLUG.sub("-", content[:LONGEST_NAME].lower()).strip("-")


def free_name(content_slug: str, uid: str, *, taken: Callable[[str], bool]) -> str:
    """The slug, or the first name made of it and the uid that is not taken."""
    return next(name for name in _names(content_slug, uid) if not taken(name))


def free_uid(connection: sqlite3.Connection, content: str) -> str:
    """The digest of a text, or of the text and a count, when it was forgotten that often."""
    uid, again = digest(content), 0
    while connection.execute("SELECT 1 FROM insight_forgotten WHERE uid = ?", (uid,)).fetchone():
        again += 1
        uid = digest(f"{digest(content)} {again}")
    return uid


def is_name(connection: sqlite3.Connection, name: str) -> bool:
    """Whether an insight is called so."""
    return connection.execute("SELECT 1 FROM insight WHERE name = ?", (name,)).fetchone() is not None


def _names(slug: str, uid: str) -> Iterator[str]:
    if slug:
        yield slug
    for digits in _DIGITS:
        yield f"{(slug or _NAMELESS)[: LONGEST_NAME - digits - 1].rstrip('-')}-{uid[:digits]}"
    count = 2
    while True:
        yield f"{_NAMELESS}-{uid[:32]}-{count}"
        count += 1
