"""Near duplicates: entries that share most of their significant words.

Texts are compared by their significant words (`helix_graph.topics.tokens`), never by tags or sources. Two are near
duplicates when more than 70 % of their words are shared (Jaccard), or when the new one has no significant word that the
old one lacks. Below six words chance alone shares that many, so there only the same words count.

Not every pair is compared. Of n words a text shares more than a share t with another only if one of its n - ⌈t n⌉ + 1
rarest words is among the other's rarest as well (prefix filtering; Chaudhuri, Ganti, Kaushik, *A Primitive Operator for
Similarity Joins in Data Cleaning*, 2006).

>>> list(similar_pairs(["red green blue", "red green blue pink", "yellow"], above=0.4))
[(0, 1, 0.75)]
"""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING

import msgspec

from helix_graph.database import ANY_OF, as_list
from helix_graph.topics.entries import indices, sound_by_id
from helix_graph.topics.fields import first_line
from helix_graph.topics.model import Duplicate
from helix_graph.topics.tokens import overlap, significant_words

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Collection, Iterable, Iterator, Sequence


#: 0.7 x 30 may come out as a little more than 21, and must not be rounded up to 22.
_ROUNDING = 1e-9


def similar_pairs(texts: Iterable[str], *, above: float) -> Iterator[tuple[int, int, float]]:
    """Places of two texts with a larger share of their words in common than ``above``, and that share (Jaccard)."""
    sets = [significant_words(text) for text in texts]
    frequency = Counter(word for words in sets for word in words)
    having: dict[str, list[int]] = {}
    for second, words in enumerate(sets):
        rarest = sorted(words, key=lambda word: (frequency[word], word))[: prefix_length(words, above=above)]
        for first in sorted({place for word in rarest for place in having.get(word, ())}):
            share = overlap(sets[first], words)
            if share > above:
                yield first, second, share
        for word in rarest:
            having.setdefault(word, []).append(second)


def prefix_length(words: Collection[str], *, above: float) -> int:
    """So many of these words it takes to meet every set that shares more than ``above`` with them.

    >>> prefix_length(list("abcdefghij"), above=0.7)
    4
    """
    return len(words) - math.ceil(above * len(words) - _ROUNDING) + 1


THRESHOLD = 0.70
#: Below so many words the seed's program compares nothing; here such texts are compared for being the same.
FEWEST = 6
#: Of entries that share rare words the ones with the most are compared: an exact copy shares all of them.
_COMPARED = 200
#: So many rare words must be shared (of as many more that are looked at): most entries are out before their topic is
#: looked up, which costs more than the counting.
_SHARED = 4
_LINE = 100
_NUMBERS = msgspec.json.Decoder(list[int])


def near(one: frozenset[str], other: frozenset[str]) -> float:
    """How alike two texts' words are, 0 to 1; 0 where they are no near duplicates. ``one`` is the newer text."""
    if not one or (len(one) < FEWEST and one != other):
        return 0.0
    share = overlap(one, other)
    return share if share > THRESHOLD or one <= other else 0.0


def duplicate_of(connection: sqlite3.Connection, topic: str, text: str) -> Duplicate | None:
    """The entry of the topic that is the most alike, when one is a near duplicate; of equals the older one."""
    words = significant_words(text)
    found, _ = sound_by_id(
        connection, _candidates(connection, topic, words)
    )  # a damaged one must not keep out new ones
    alike = ((near(words, significant_words(one.record.text)), -entry) for entry, one in found.items())
    similarity, negative = max(alike, default=(0.0, 0))
    if not similarity:
        return None
    record = found[-negative].record
    index = indices(connection, (record.entry,))[record.entry][1]
    return Duplicate(
        id=record.entry, index=index, similarity=round(similarity, 3), line=first_line(record.text, width=_LINE)
    )


def _candidates(connection: sqlite3.Connection, topic: str, words: frozenset[str]) -> list[int]:
    """Entries of the topic that share a rare word, those with the most first."""
    shared = min(_SHARED, math.ceil(THRESHOLD * len(words)))
    prefix = prefix_length(words, above=THRESHOLD) + shared - 1
    rare = connection.execute(
        f"SELECT word, entries FROM topic_word WHERE spelling {ANY_OF} ORDER BY entries, word",  # noqa: S608  (our own names and constants)
        (as_list(words),),
    ).fetchall()
    unmet = len(words) - len(rare)  # words that no entry has are the rarest
    chosen: Sequence[int] = [word for word, _ in rare[: max(prefix - unmet, 0)]]
    # All in one row, and counted here: of ten thousand, SQLite's own counting would take three times as long.
    query = f"SELECT json_group_array(entry) FROM topic_posting WHERE word {ANY_OF}"  # noqa: S608  (a constant)
    having = Counter(_NUMBERS.decode(connection.execute(query, (as_list(chosen),)).fetchone()[0]))
    rows = connection.execute(
        f"SELECT entry FROM topic_entry WHERE topic = ? AND entry {ANY_OF}",  # noqa: S608  (our own names and constants)
        (topic, as_list(entry for entry, n in having.items() if n >= shared)),
    )
    return sorted((entry for (entry,) in rows), key=lambda entry: (-having[entry], entry))[:_COMPARED]
