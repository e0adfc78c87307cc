r"""What may be asked: 1 to 500 of the characters that the seed allows, and not blanks alone.

>>> checked("pytest fails: no module named shop")
'pytest fails: no module named shop'
>>> words("pytest fails: no module of it")
('pytest', 'fails', 'module')
"""

from __future__ import annotations

import re

from helix_graph.errors import InvalidSearchQuery, WrongType
from helix_graph.graph.vocabulary import STOP_WORDS

LONGEST = 500
#: Letters and digits of ASCII, white space and ``- . , _ ( ) & :``, as the seed has it.
_ALLOWED = re.compile(r"[a-zA-Z0-9\s\-.,_()&:]+")
_WORD = re.compile(r"[a-z0-9]+")
#: Shorter words say too little for a file's name to be found by them; so in the seed's own search.
_SHORTEST_WORD = 3


def checked(query: str) -> str:
    """The query, if it is one.

    Raises:
        WrongType: It is no text.
        InvalidSearchQuery: It is empty, too long, or holds another character.
    """
    if not isinstance(query, str):
        raise WrongType("query", value=query, wanted="a text")
    if not query.strip():
        raise InvalidSearchQuery("it is empty")
    if len(query) > LONGEST:
        raise InvalidSearchQuery(f"it has {len(query)} characters, and {LONGEST} are allowed")
    allowed = _ALLOWED.match(query)
    end = allowed.end() if allowed else 0
    if end < len(query):
        raise InvalidSearchQuery(
            f"character {end + 1} is {query[end]!r}; letters, digits, spaces and - . , _ ( ) & : are allowed"
        )
    return query


def words(query: str) -> tuple[str, ...]:
    """Its words of three characters and more in lower case, each once, without those that every text has."""
    found = (word for word in _WORD.findall(query.lower()) if len(word) >= _SHORTEST_WORD and word not in STOP_WORDS)
    return tuple(dict.fromkeys(found))
