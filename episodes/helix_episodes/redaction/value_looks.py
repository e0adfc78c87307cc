"""What a value looks like: drawn by chance, chosen by a person, made of words, or put in a value's place."""

from __future__ import annotations

import math
import re
from collections import Counter
from itertools import pairwise

# Sixteen characters are the shortest keys in use; words with a number do not reach a part of twelve.
_SHORTEST_KEY = 16
_SHORTEST_PART = 12
_LEAST_ENTROPY = 2.5
_SHORTEST_NUMBER = 6

# Random letters change case at every second or third; the words of a name are longer, four letters and more.
_SHORTEST_SCRAMBLE = 10
_LONGEST_MEAN_PART = 3.5
_MOST_NUMBERS = 3

_PART_SEPARATORS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
#: A sign as an address spells it: ``%40`` is ``@``, while ``%s`` and ``%NAME%`` mean something else.
_ENCODED = re.compile(r"%[0-9A-Fa-f]{2}.*[^%]$")
_NUMBER = re.compile(r"\d+")
_UUID = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_WORD_LIKE = re.compile(r"[A-Z]?[a-z]+|[A-Z]+")
# What follows ``password`` where it is a field's name, type, label or state.
_NO_PASSWORD = re.compile(
    r"address|body|confirm|confirmation|current|default|disabled|email|empty|enabled|error|example|false|field|form|hash"
    r"|hashed|hidden|incorrect|input|invalid|kennwort|key|label|missing|name|new|none|null|old|optional|pass|passphrase"
    r"|passwd|passwords?|passwort|plain|plaintext|prompt|pwd|required|reset|secret|senha|short|stdin|str|string|text"
    r"|token|true|type|undefined|unknown|user|username|value|wachtwoord|weak|wrong"
)


def is_placeholder(value: str) -> bool:
    """Something in place of a value: a variable, a mask, a hint to fill it in."""
    lowered = value.lower()
    if (
        value[0] in "$*"
        or (value[0] == "%" and not _ENCODED.match(value))
        or "${" in value
        or "***" in value
        or "..." in value
        or "EXAMPLE" in value
        or "xxxx" in lowered
    ):
        return True
    return any(word in lowered for word in ("redacted", "your", "placeholder", "changeme", "change-me", "change_me"))


def says_what_it_is(value: str) -> bool:
    """Words such as ``required`` or ``current-password``: a label, a type or a state, not a password."""
    words = [word.lower() for word in _WORD_LIKE.findall(value)]
    return not words or any(_NO_PASSWORD.fullmatch(word) for word in words)


def is_mixed(value: str) -> bool:
    """Letters together with digits or signs, as in a password; words joined by hyphens are a name."""
    letters = any(character.isalpha() for character in value)
    others = any(character.isdigit() or character in "!@#$%^&*+?=~|" for character in value)
    return (letters and others) or (value.isdigit() and len(value) >= _SHORTEST_NUMBER)


def looks_random(value: str) -> bool:
    """Long, of letters and digits without a break by which people join words, and without much repetition."""
    if len(value) < _SHORTEST_KEY or entropy(value) < _LEAST_ENTROPY:
        return False
    if _UUID.fullmatch(value):
        return True
    parts = (part for part in re.split(r"[-_.:]", value) if len(part) >= _SHORTEST_PART)
    return any(any(map(str.isdigit, part)) and any(map(str.isalpha, part)) for part in parts)


def entropy(value: str) -> float:
    """Bits per character, from 0 for one letter repeated to log2 of the number of different ones.

    >>> entropy("aaaa"), entropy("abcd")
    (-0.0, 2.0)
    """
    counts = Counter(value)
    return -sum(count / len(value) * math.log2(count / len(value)) for count in counts.values())


def has_digit(match: re.Match[str]) -> bool:
    """Tells a key from words joined by hyphens."""
    return any(character.isdigit() for character in match[0])


def has_digit_or_both_cases(match: re.Match[str]) -> bool:
    """Tells a key, even of letters alone, from words in small letters."""
    cases = any(map(str.isupper, match[0])) and any(map(str.islower, match[0]))
    return has_digit(match) or cases


def is_scrambled(value: str) -> bool:
    """Letters that are no words: capitals where no word begins, or pairs of letters that words have not.

    >>> is_scrambled("GQrZxOOCwtre"), is_scrambled("newUserPassword")
    (True, False)
    """
    if not value.isascii() or len(value) < _SHORTEST_SCRAMBLE or " " in value:
        return False
    parts = _PART_SEPARATORS.findall(value)
    return is_unlike_words(value) or (
        value.replace("_", "").replace("-", "").isalpha()
        and not (value.isupper() or value.islower())
        and sum(map(len, parts)) <= _LONGEST_MEAN_PART * len(parts)
    )


def is_unlike_words(value: str) -> bool:
    """Whether a quarter of the letters that follow each other do so in hardly any word, as half do by chance.

    >>> is_unlike_words("hdbjc-hcakc"), is_unlike_words("XMLHttpRequest.onreadystatechange")
    (True, False)
    """
    letters = value.lower()
    if _HEX.fullmatch(letters):
        return False
    pairs = [one + other for one, other in pairwise(letters) if one.isalpha() and other.isalpha()]
    rare = [pair for pair in pairs if pair in _RARE_PAIRS]
    return len(set(rare)) >= _FEWEST_RARE and len(rare) * 4 >= len(pairs)


def is_strewn_with_digits(value: str) -> bool:
    """Digits in three places or more, where names have one number.

    >>> is_strewn_with_digits("pXz9w3QlY7Zkuvqdt7s8"), is_strewn_with_digits("loadKeyFromVault20240115")
    (True, False)
    """
    return looks_random(value) and len(_NUMBER.findall(value)) >= _MOST_NUMBERS


def is_strong(value: str) -> bool:
    """Made as passwords are: a sign among letters, letters of both cases with a digit, or digits in three places."""
    letters = any(map(str.isalpha, value))
    signs = any(character in "!@#$%^&*?~" for character in value)
    kinds = any(map(str.isupper, value)) and any(map(str.islower, value)) and any(map(str.isdigit, value))
    return letters and (signs or kinds or len(_NUMBER.findall(value)) >= _MOST_NUMBERS)


#: Pairs of letters, by the first, that make less than 3 in 10,000 of all pairs in the words of 60 MB of agents' logs
#: (9,901 words of three letters and more that occur five times): 3 % of the pairs of a word, 53 % of those of chance.
_RARE_LIST = """
    aehjoqxz bcdfghjkmnpqvwxz cbdfgjnpqvwxz dcfhjkmnpqtvwxyz ejkz fbcdghjkmnpqvwxz gbcdfjkmpqtvwxyz hbcdfghjklnpqsvwxz
    ihijkquwy jabcdfghijklmnpqrtvwxyz kbcfghjklmnopqrtuvwxyz lbcghjkmqrwxz mcfghjknqrtvwxyz njqwxz oehqyz pbcfgjmnqvwxz
    qabcdefghijklmnopqrstvwxyz rhjqxz sbdfgjqrvxz tbgjknqvxz uhjkoquvwxyz vbcdfghjklmnpqrstuvwxyz wbcdfgjklmpqtuvwxyz
    xabdfghjklmnoqrsuvwxyz yabdfghjkloqruvwxyz zbcdfghjklmnopqrstuvwxyz
"""
_RARE_PAIRS = frozenset(row[0] + other for row in _RARE_LIST.split() for other in row[1:])
_FEWEST_RARE = 3
_HEX = re.compile(r"[0-9a-f-]+")
_RUN = re.compile(r"[A-Z]?[a-z]+|[A-Z]+|\d{1,3}")
#: Of random letters and digits a run of one sort has 1.6 to 2.5 on average, of names made of words 4 and more.
_LONGEST_MEAN_RUN = 3.3
#: Small letters with digits have longer runs; behind a service's own prefix that is enough.
_LONGEST_MEAN_RUN_OF_SERVICE = 4.5


def is_made_of_words(value: str, *, longest: float = _LONGEST_MEAN_RUN) -> bool:
    """Whether small letters, capitals and digits follow each other in runs as long as those of words.

    >>> is_made_of_words("Deploy2024TokenValueLong"), is_made_of_words("s.ciI64Bx9QmRw")
    (True, False)
    """
    runs = _RUN.findall(value)
    return sum(map(len, runs)) > longest * len(runs)


def is_drawn(match: re.Match[str]) -> bool:
    """A key of chance: with a digit or in both cases, and not made of words."""
    return has_digit_or_both_cases(match) and (
        is_unlike_words(match[0]) or not is_made_of_words(match[0], longest=_LONGEST_MEAN_RUN_OF_SERVICE)
    )


def is_of_all_letters(match: re.Match[str]) -> bool:
    """Capitals, small letters and digits, as random base64 has them and joined names seldom do."""
    return all(any(is_one(character) for character in match[0]) for is_one in (str.isupper, str.islower, str.isdigit))


#: What a sentence needs, and a phrase drawn by chance has not.
_FUNCTION_WORD_LIST = """
    the a an is are be must your you for to of or and not no in at with enter please least from this that if
    when by on it was has have should can cannot will does do did
"""
FUNCTION_WORDS = frozenset(_FUNCTION_WORD_LIST.split())
_SHORTEST_PHRASE, _SHORTEST_WORD = 3, 3
_PHRASE_WORD = re.compile(r"[A-Za-z]+")


def is_phrase(value: str) -> bool:
    """Three words or more drawn by chance: none that a sentence needs, none that says what should be there.

    >>> is_phrase("correct horse battery staple"), is_phrase("the horse is correct")
    (True, False)
    """
    words = _PHRASE_WORD.findall(value)
    return (
        len(words) >= _SHORTEST_PHRASE
        and min(map(len, words)) >= _SHORTEST_WORD
        and FUNCTION_WORDS.isdisjoint(map(str.lower, words))
        and not says_what_it_is(value)
    )
