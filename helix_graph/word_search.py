"""Search by words: how texts are cut into words, the index of them, and the two scores over it.

Insights and topics (helix.db) and decisions (graph.db) each have an index of this kind: an FTS5 table that compares
words by their stems (``porter unicode61``), without case and accents. What goes into it passes `indexed` first, which
adds what FTS5 does not see: ``CachedEntry`` is *cached* and *entry* next to the whole, ``parseJSON2Xml`` has *json* as
well as *json2*, and runs of Chinese, Japanese and Korean, where words have no blanks between them, become pairs of
neighbouring characters. A query asks for the parts alone (`query_words`), so that ``CachedEntry`` also finds the text
"the cached entry".

>>> indexed("CachedEntry holds tf_map; 数据库")
'cached entry cachedentry holds tf_map; 数据 据库 库'
>>> query_words("where is the CachedEntry of 数据库")
('where', 'is', 'the', 'cached', 'entry', 'of', '数据', '据库')
>>> telling(query_words("where is the CachedEntry of HTTPServer"))
('cached', 'entry', 'http', 'server')

*BM25*, for topics and decisions. As in the seed the score of a word is ``times * idf / (times + K1 * (1 - B + B *
length / mean length))``, with Lucene's ``idf = ln((N - n + 0.5) / (n + 0.5) + 1)`` over all N rows, n of which have the
word; K1 = 1.2, B = 0.75 (Robertson and Zaragoza, *The Probabilistic Relevance Framework: BM25 and Beyond*, 2009).
FTS5's own ``bm25`` has another idf, which is almost 0 for a word that half of the rows have; each word's share is taken
from it and weighted anew.

*Relevance*, for insights, lies between 0 and 1, on the scale of a cosine. The fewer rows have a word, the more it
weighs, and three times as much when it is an identifier such as ``E0382`` or ``foo_bar``. The relevance of a row is the
weight of the words that it shares with the query, divided by the weight of the six heaviest words of the query (or a
pasted page would find nothing).
"""

from __future__ import annotations

import json
import unicodedata
from contextlib import closing
from functools import lru_cache
from itertools import groupby
from math import log

from helix_episodes.light_imports import Regex
from helix_graph.database import open_in_memory, word_table
from helix_graph.stop_words import STOP_WORDS, is_common, is_stop_word

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Collection, Container, Iterable, Mapping, Sequence


_RUN = Regex(r"[^\W_]+")
#: A run that has parts has a capital inside it, or begins as a code does (F401). Most runs have none, and looking for
#: capitals takes a tenth of the time that looking at each run does.
_PARTED = r"[A-Z](?:(?<=[^\W_].)|(?=[0-9][^\W_]))"
_PARTED_ASCII, _PARTED_ANY = Regex(_PARTED), Regex(rf"{_PARTED}|[^\W_\x00-\x7f]")
#: The parts of an identifier: capitals with their number, capitals before a word, a word with its capital.
_PART = Regex(r"[A-Z]+[0-9]+|[A-Z]+(?![a-z])|[A-Z]?[^A-Z]+")
#: Han, kana and Hangul. A regular expression of these would take ten milliseconds to compile, and hooks have no time.
_CJK = (
    *((0x3005, 0x3007), (0x3040, 0x30FF), (0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xAC00, 0xD7A3)),
    *((0xF900, 0xFAFF), (0x20000, 0x3FFFF)),
)
_KATAKANA = "\u30a1", "\u30ff"
_HANGUL = "\uac00", "\ud7a3"
#: A single letter finds nothing that one looks for; a single Chinese character may.
_SHORTEST = 2


def rare(words: Iterable[str]) -> tuple[str, ...]:
    """The words that tell what a text is about: neither stop words nor such as are in any prompt to an agent.

    >>> rare(query_words("Please look into why one of the carts with discounts fails, make the tests pass and commit"))
    ('carts', 'discounts')
    """
    return tuple(word for word in words if not (word.isdigit() or is_common(word)))


def indexed(text: str) -> str:
    """A text as the index takes it: identifiers whole after their parts, and pairs of Chinese characters.

    >>> indexed("Let toJSON2Xml keep F401 in old_Cart")
    'let to json json2 xml tojson2xml keep f401 in old_cart'
    >>> indexed("Ünder 缓存Key…")
    'ünder 缓存 存 key...'
    """
    text = _normal(text)
    plain = text.isascii()
    if plain and text.lower() == text:  # nothing is written together, as in most texts; looking for that takes longer
        return text
    found: list[str] = []
    done = 0
    for mark in (_PARTED_ASCII if plain else _PARTED_ANY).finditer(text):
        at = mark.start()
        if at < done:
            continue
        begin, end = at, at + 1
        while begin > done and text[begin - 1].isalnum():
            begin -= 1
        while end < len(text) and text[end].isalnum():
            end += 1
        found += (text[done:begin], _spread(text[begin:end]))
        done = end
    return "".join((*found, text[done:])).casefold()


def query_words(text: str) -> tuple[str, ...]:
    """The words by which a text is looked for, each once."""
    return tuple(dict.fromkeys(word for run in _RUN.findall(_normal(text)) for word in _asked(run)))


def telling(words: Iterable[str]) -> tuple[str, ...]:
    """The words that are no stop words."""
    return tuple(word for word in words if not is_stop_word(word))


def _normal(text: str) -> str:
    return text if text.isascii() else unicodedata.normalize("NFKC", text)


@lru_cache(maxsize=65_536)
def _spread(run: str) -> str:
    return " ".join(word for piece in _pieces(run) for word in _stored(piece))


def _pieces(run: str) -> list[str]:
    """What is Chinese, Japanese or Korean of a run, and what is not."""
    return [run] if run.isascii() else ["".join(piece) for _, piece in groupby(run, _is_cjk)]


def _is_cjk(character: str) -> bool:
    return any(first <= ord(character) <= last for first, last in _CJK)


def _stored(piece: str) -> list[str]:
    if _is_cjk(piece[0]):
        return [piece[place : place + 2] for place in range(len(piece))]  # the last stands for itself
    parts = _PART.findall(piece)
    if len(parts) == 1:
        return [piece]
    # Before a part that a number ends, its letters: in toJSON2Xml is json.
    letters = ((part.rstrip("0123456789"), part) for part in parts)
    return [word for both in letters for word in dict.fromkeys(both) if word] + [piece]


@lru_cache(maxsize=65_536)
def _asked(run: str) -> tuple[str, ...]:
    """The parts of a run; the whole where a part is too short to be asked for (iOS)."""
    found: list[str] = []
    for piece in _pieces(run):
        if _is_cjk(piece[0]):
            found += [piece[place : place + 2] for place in range(max(len(piece) - 1, 1))]
        else:
            parts = _PART.findall(piece)
            found += [part.casefold() for part in (parts if min(map(len, parts)) >= _SHORTEST else [piece])]
    return tuple(word for word in found if len(word) >= _SHORTEST or _is_cjk(word))


def match_all(words: Iterable[str]) -> str:
    """FTS5's query for the rows that have every one of the words, or phrases."""
    return " AND ".join(map(_quoted, words))


def match_any(words: Iterable[str]) -> str:
    """FTS5's query for the rows that have some of the words, or phrases."""
    return " OR ".join(map(_quoted, words))


def _quoted(word: str) -> str:
    """A word for FTS5; a single Chinese character begins some pair, or is the last of a run."""
    return f'"{word}" *' if len(word) == 1 else f'"{word}"'


def which_have(texts: Sequence[str], words: Collection[str]) -> set[int]:
    """The places of the texts that have one of the words, as the index compares them."""
    if not words:
        return set()
    with closing(open_in_memory()) as connection:
        connection.execute(word_table("text_index"))
        connection.executemany("INSERT INTO text_index (rowid, text) VALUES (?, ?)", enumerate(map(indexed, texts)))
        rows = connection.execute("SELECT rowid FROM text_index WHERE text_index MATCH ?", (match_any(words),))
        return {place for (place,) in rows}


def frequencies(connection: sqlite3.Connection, index: str, words: Iterable[str], *, among: str = "") -> dict[str, int]:
    """How many rows of an index have each of the words, of those that meet the condition ``among``."""
    query = f"SELECT count(*) FROM {index} WHERE {index} MATCH ? {among}"  # noqa: S608  (constants of ours)
    return {word: int(connection.execute(query, (_quoted(word),)).fetchone()[0]) for word in words}


#: The constant of FTS5's ``bm25`` that the seed's does not have, and the least idf that it takes.
_K1_AND_ONE = 2.2
_LEAST_IDF = 1e-6
#: So many rows are ranked in some milliseconds, whatever words they share.
_FEW = 1000


def rarer(having: Mapping[str, int], *, total: int) -> list[str]:
    """The words that fewer than half of all rows have, or that few have; the rarest where there are none.

    More frequent ones weigh little in BM25; looking for rows by the others alone saves ranking nearly every row.
    """
    ranked = sorted((count, word) for word, count in having.items() if count)
    return [word for count, word in ranked if count < max(total / 2, _FEW)] or [word for _, word in ranked[:1]]


def idf(total: int, having: int) -> float:
    """How much a word tells that so many of all rows have.

    >>> round(idf(100, 1), 2), round(idf(100, 99), 2)
    (4.21, 0.01)
    """
    return log((total - having + 0.5) / (having + 0.5) + 1)


def bm25(index: str, having: Mapping[str, int], *, total: int, among: str = "chosen") -> tuple[str, list[str | float]]:
    """A common table ``share`` in SQL, with its values: the ``score`` of each word in each ``row`` that has it.

    Only the rows of the table ``among`` are scored, of which there must be one, or with an empty name all.
    """
    shares: list[str] = []
    values: list[str | float] = []
    # The plus keeps SQLite from asking FTS5 for each of the rows by itself.
    within = f" AND +rowid IN (SELECT row FROM {among})" if among else ""  # noqa: S608  (a name of ours)
    for word, count in having.items():
        if count:
            theirs = log((total - count + 0.5) / (count + 0.5))
            weight = -idf(total, count) / (theirs if theirs > 0 else _LEAST_IDF) / _K1_AND_ONE
            shares.append(
                f"SELECT rowid AS row, bm25({index}) * ? AS score FROM {index}"  # noqa: S608  (a table of ours)
                f" WHERE {index} MATCH ?{within}"
            )
            values += [weight, _quoted(word)]
    # Materialized, since FTS5 does not let SQLite group what it ranks.
    none = "SELECT NULL AS row, 0.0 AS score WHERE FALSE"
    return f"share AS MATERIALIZED ({' UNION ALL '.join(shares) or none})", values


#: A compound such as ``shop/cart.py`` is looked for as a phrase, next to its parts.
_TERM = Regex(r"\w+(?:[._:/-]+\w+)*")
#: A longer query is cut here: looking up a word takes a tenth of a millisecond in a memory of 100,000.
_MOST_WORDS = 48
#: This many of the heaviest words are the whole of a query.
_SPAN = 6
#: How much more an identifier says than another word of the same frequency.
_IDENTIFIER = 3.0
#: As if so many more rows were known that lack the word: in a memory of three, one in three is not yet frequent.
_PRIOR = 50
#: This many postings are read, of the rarest words first: reading one takes half a microsecond.
_MOST_POSTINGS = 3000


def relevance(
    connection: sqlite3.Connection,
    index: str,
    query: str,
    *,
    total: int,
    frequent: dict[str, int],
    among: str = "",
) -> dict[int, float]:
    """The rows that share words with a query, and their relevance: more than 0, at most 1.

    ``total`` is the number of all rows. ``frequent`` is what is known of frequent words, which take long to count; what
    is counted is added. Rows that do not meet the condition ``among``, if any is named, do not count.
    """
    asked = _evidence(query)
    having = {word: frequent[word] for word in asked if word in frequent}
    having |= frequencies(connection, index, (word for word in asked if word not in having), among=among)
    frequent.update((word, count) for word, count in having.items() if count >= _MOST_POSTINGS)
    weights = {
        word: log(1 + (total + _PRIOR) / (having[word] + 1)) * (_IDENTIFIER if identifier else 1.0)
        for word, identifier in asked.items()
    }
    whole = sum(sorted(weights.values())[-_SPAN:])
    shared: dict[int, float] = {}
    left = _MOST_POSTINGS
    for word in sorted((word for word in asked if having[word]), key=lambda word: (having[word], word)):
        if left <= 0:
            break
        numbers = _newest(connection, index, word, most=left, among=among)
        left -= len(numbers)
        for number in numbers:
            shared[number] = shared.get(number, 0.0) + weights[word]
    return {number: weight / whole if weight < whole else 1.0 for number, weight in shared.items()}


#: A word of a third of all rows, the project's own name for one, is not rare there; among few rows none is common.
_OF_ALL, _FEW_ROWS = 3, 10


def sharing_rare_words(
    connection: sqlite3.Connection, index: str, query: str, *, fewest: int, among: str = ""
) -> dict[int, float]:
    """The rows that share at least so many rare words with a query, and how much these weigh: more than 0, at most 1.

    What share they are of the query does not matter: a prompt says much that is not about the work. A path or a name
    with a number or an underscore counts for two. Rows that do not meet the condition ``among``, if any is named (as
    ``AND +rowid IN (…)``), do not count.
    """
    words = [word for word in _evidence(query) if rare(query_words(word))]
    asked = {word: 2 if any(one in "_/.:" or one.isdigit() for one in word) else 1 for word in words}
    size = f"SELECT count(*) FROM {index} WHERE TRUE {among}"  # noqa: S608  (constants of ours)
    total = int(connection.execute(size).fetchone()[0])
    most = min(max(total // _OF_ALL, _FEW_ROWS), _MOST_POSTINGS)
    counted = frequencies(connection, index, asked, among=among)
    having = {word: count for word, count in counted.items() if 0 < count <= most}
    weights = {word: log(1 + _PRIOR / (1 + count)) for word, count in having.items()}
    whole = sum(weights.values()) or 1.0
    shared: dict[int, list[str]] = {}
    for word in sorted(having, key=lambda word: (having[word], word)):
        for number in _newest(connection, index, word, most=_MOST_POSTINGS):
            shared.setdefault(number, []).append(word)
    return {
        number: sum(map(weights.__getitem__, words)) / whole
        for number, words in shared.items()
        # Most rows share one word, and are left out before words are told from pairs.
        if sum(map(asked.__getitem__, words)) >= fewest and shared_words(asked, words) >= fewest
    }


def shared_words(asked: Mapping[str, int], shared: Container[str]) -> int:
    """How many words of a query are shared, each for as much as it counts.

    Pairs of characters that follow each other are of one stretch, and two of its characters a word. A run of katakana
    or Hangul within it is one word, however long.

    >>> shared_words(dict.fromkeys(query_words("数据库连接"), 1), {"数据", "据库"})
    1
    >>> shared_words(dict.fromkeys(query_words("timeout 数据库连接"), 1), {"timeout", "数据", "连接"})
    3
    >>> shared_words(dict.fromkeys(query_words("データベース"), 1), query_words("データベース"))
    1
    """
    count, stretch = 0, ""
    for word in [word for word in asked if word in shared]:
        if word.isascii() or not _is_cjk(word[0]):
            count += asked[word]
        elif stretch.endswith(word[0]):
            stretch += word[1:]
        else:
            count += _words_in(stretch)
            stretch = word
    return count + _words_in(stretch)


def _words_in(stretch: str) -> int:
    """About how many words a stretch of Chinese, Japanese or Korean is."""
    count, others = 0, 0
    for script, run in groupby(stretch, _script):
        length = len(list(run))
        if script:
            count += length >= script
        else:
            others += length
    return max(count + others // 2, 1) if stretch else 0


def _script(character: str) -> int:
    """How many characters make a word of a script whose words show their ends, 0 of one whose words do not.

    Katakana changes to another script at a word's end, and Korean has blanks: however long, it is one word there.
    """
    if _KATAKANA[0] <= character <= _KATAKANA[1]:
        return 3
    return 2 if _HANGUL[0] <= character <= _HANGUL[1] else 0


def _evidence(query: str) -> dict[str, bool]:
    """The telling words and the compounds of a query, and whether each is an identifier."""
    found: dict[str, bool] = {}
    for term in _TERM.findall(_normal(query)):
        if not any(map(_is_cjk, term)) and len(_RUN.findall(term)) > 1:
            found[indexed(term)] = True
        found.update((word, not word.isdigit() and any(map(str.isdigit, word))) for word in telling(query_words(term)))
    # A question in hiragana alone asks for something as well.
    found = found or {word: False for word in query_words(query) if _is_cjk(word[0]) and word not in STOP_WORDS}
    return dict(list(found.items())[:_MOST_WORDS])


def _newest(connection: sqlite3.Connection, index: str, word: str, *, most: int, among: str = "") -> list[int]:
    """The rows with a word, the newest of them."""
    newest = f"SELECT rowid FROM {index} WHERE {index} MATCH ? {among} ORDER BY rowid DESC LIMIT ?"  # noqa: S608  (a table of ours)
    # All numbers in one row: reading them takes half as long as taking each from a row of its own.
    query = f"SELECT json_group_array(rowid) FROM ({newest})"  # noqa: S608  (as above)
    found: list[int] = json.loads(connection.execute(query, (_quoted(word), most)).fetchone()[0])
    return found
