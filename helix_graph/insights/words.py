"""Relevance by words: which insights share words with a query, and how much that says.

It lies between 0 and 1, on the scale of a cosine. The fewer insights have a word, the more it weighs (inverse document
frequency), and three times as much when it is an identifier such as ``E0382`` or ``foo_bar``. The relevance of an
insight is the weight of the words that it shares with the query, divided by the weight of the six heaviest words of the
query (or a pasted page would find nothing).

>>> words("Why does E0382 come when I run the tests?")
['e0382', 'come', 'run', 'tests']
>>> words("import shop/cart.py")
['import', 'shop/cart.py', 'shop', 'cart']
"""

from __future__ import annotations

import json
import re
from math import log

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3
    from typing import TypeVar

    import numpy as np
    from numpy.typing import NDArray

    #: One, or many at once.
    Shares = TypeVar("Shares", float, "NDArray[np.float64]")


_TERM = re.compile(r"\w+(?:[._:/-]+\w+)*")
_PART = re.compile(r"[^\W_]+")
_SHORTEST_PART = 3
#: A longer query is cut here: looking up a word takes a tenth of a millisecond in a memory of 100,000.
_MOST_WORDS = 48
#: This many of the heaviest words are the whole of a query.
_SPAN = 6
#: How much more an identifier says than another word of the same frequency.
_IDENTIFIER = 3.0
#: As if so many more insights were known that lack the word: in a memory of three, one in three is not yet frequent.
_PRIOR = 50
#: This many postings are read, of the rarest words first: reading one takes half a microsecond.
_MOST_POSTINGS = 3000
_LITTLE = (
    "a about after all also am an and any are as at be because been before being both but by can could did do does "
    "doing done for from get got had has have having he her here him his how i if in into is it its just like me more "
    "most my no not of on only or other our out over own same she should so some such than that the their them then "
    "there these they this those through to too under until up us use used using very was we were what when where "
    "which while who whom why will with would you your"
)
#: Words that say nothing by themselves.
STOP_WORDS = frozenset(_LITTLE.split())


def words(query: str) -> list[str]:
    """The words of a query that may say something, each once, in lower case; compounds and their parts."""
    found: dict[str, None] = {}
    for term in _TERM.findall(query.casefold()):
        parts = _PART.findall(term)
        if len(parts) > 1:
            found[term] = None
        found.update((part, None) for part in parts if len(parts) == 1 or len(part) >= _SHORTEST_PART)
    return [word for word in found if word not in STOP_WORDS][:_MOST_WORDS]


class WordFrequencies:
    """How many rows have a frequent word, which takes long to count: what was counted holds until a text changes."""

    def __init__(self) -> None:
        self._counted: tuple[object, dict[str, int]] = (None, {})

    def at(self, connection: sqlite3.Connection) -> dict[str, int]:
        """What is known of the state that the connection sees, to which whoever counts adds."""
        state = connection.execute("SELECT memory, texts FROM insight_revision").fetchone()
        counted = self._counted
        if counted[0] != state:
            self._counted = counted = (state, {})
        return counted[1]


def relevance_by_words(connection: sqlite3.Connection, query: str, *, frequent: WordFrequencies) -> dict[int, float]:
    """The rows that share words with the query, and their relevance by words: more than 0, at most 1."""
    counted = frequent.at(connection)
    frequencies = {word: counted.get(word) or _frequency(connection, word) for word in words(query)}
    counted.update((word, found) for word, found in frequencies.items() if found >= _MOST_POSTINGS)
    total = int(connection.execute("SELECT count(*) FROM insight").fetchone()[0])
    weights = {word: _weight(word, found, total) for word, found in frequencies.items()}
    whole = sum(sorted(weights.values())[-_SPAN:])
    shared: dict[int, float] = {}
    left = _MOST_POSTINGS
    for word in sorted((word for word in weights if frequencies[word]), key=lambda word: (frequencies[word], word)):
        if left <= 0:
            break
        numbers = _postings(connection, word, most=left)
        left -= len(numbers)
        for number in numbers:
            shared[number] = shared.get(number, 0.0) + weights[word]
    return {number: weight / whole if weight < whole else 1.0 for number, weight in shared.items()}


def _weight(word: str, frequency: int, total: int) -> float:
    plain = log(1 + (total + _PRIOR) / (frequency + 1))
    has_digits = not word.isdigit() and any(character.isdigit() for character in word)
    return plain * _IDENTIFIER if has_digits or len(_PART.findall(word)) > 1 else plain


def _frequency(connection: sqlite3.Connection, word: str) -> int:
    query = "SELECT count(*) FROM insight_text WHERE insight_text MATCH ?"
    return int(connection.execute(query, (_phrase(word),)).fetchone()[0])


def _postings(connection: sqlite3.Connection, word: str, *, most: int) -> list[int]:
    """The rows with a word, the newest of them."""
    newest = "SELECT rowid FROM insight_text WHERE insight_text MATCH ? ORDER BY rowid DESC LIMIT ?"
    # All numbers in one row: reading them takes half as long as taking each from a row of its own.
    query = f"SELECT json_group_array(rowid) FROM ({newest})"  # noqa: S608  (constants)
    found: list[int] = json.loads(connection.execute(query, (_phrase(word), most)).fetchone()[0])
    return found


def _phrase(word: str) -> str:
    return '"' + word.replace('"', '""') + '"'


def combined_relevance(meaning: Shares, by_words: Shares) -> Shares:
    """Two shares of evidence as one: what either leaves open is settled by the other as far as that goes.

    >>> combined_relevance(0.6, 0.0), round(combined_relevance(0.6, 0.5), 2), combined_relevance(1.0, 0.3)
    (0.6, 0.8, 1.0)
    """
    return meaning + by_words - meaning * by_words
