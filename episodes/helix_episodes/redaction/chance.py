"""Whether a value looks like a secret: made by chance, or chosen by a person, and not merely standing for one.

The entropy of a value is that of its own letters, in bits per character: English names with digits lie near 3, random
base64 of forty characters above 4, random hex near 3.4 (Shannon's formula over the value's own frequencies).

>>> looks_random("8f3a91c27be04d55a1"), looks_random("user_profile_page_2")
(True, False)
"""

from __future__ import annotations

import math
import re
from collections import Counter

# Sixteen characters are the shortest keys in use; words with a number do not reach a part of twelve.
_SHORTEST_KEY = 16
_SHORTEST_PART = 12
_LEAST_ENTROPY = 3.0
_SHORTEST_NUMBER = 6

# Random letters change case at every second or third; the words of a name are longer, four letters and more.
_SHORTEST_SCRAMBLE = 10
_LONGEST_MEAN_PART = 3
_MOST_NUMBERS = 3

_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
#: A sign as an address spells it: ``%40`` is ``@``, while ``%s`` and ``%NAME%`` stand for something else.
_ENCODED = re.compile(r"%[0-9A-Fa-f]{2}.*[^%]$")
_WORDS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+")
# What stands behind ``password`` where it is a field's name, type, label or state.
_NO_PASSWORD = re.compile(
    r"address|body|confirm|confirmation|current|default|disabled|email|empty|enabled|error|example|false|field|form|hash"
    r"|hashed|hidden|incorrect|input|invalid|kennwort|key|label|missing|name|new|none|null|old|optional|pass|passphrase"
    r"|passwd|passwords?|passwort|plain|plaintext|prompt|pwd|required|reset|secret|senha|short|stdin|str|string|text"
    r"|token|true|type|undefined|unknown|user|username|value|wachtwoord|weak|wrong"
)


def is_placeholder(value: str) -> bool:
    """Something that stands for a value: a variable, a mask, a hint to fill it in."""
    lowered = value.lower()
    if (
        value[0] in "$*"
        or (value[0] == "%" and not _ENCODED.match(value))
        or "${" in value
        or "***" in value
        or "..." in value
        or "xxxx" in lowered
    ):
        return True
    return "redacted" in lowered or "your" in lowered or "placeholder" in lowered


def says_what_it_is(value: str) -> bool:
    """Words such as ``required`` or ``current-password``: a label, a type or a state, not a password."""
    words = [word.lower() for word in _WORDS.findall(value)]
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
    return any(_is_random_part(part) for part in re.split(r"[-_.:]", value))


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
    """Letters alone, but no words: capitals stand where no word begins, as hardly any name has them.

    >>> is_scrambled("GQrZxOOCwtre"), is_scrambled("newUserPassword")
    (True, False)
    """
    parts = _PARTS.findall(value)
    return (
        value.isascii()
        and value.isalpha()
        and len(value) >= _SHORTEST_SCRAMBLE
        and not (value.isupper() or value.islower())
        and len(value) <= _LONGEST_MEAN_PART * len(parts)
    )


def is_strewn_with_digits(value: str) -> bool:
    """Digits in three places or more, where names have one number.

    >>> is_strewn_with_digits("pXz9w3QlY7Zkuvqdt7s8"), is_strewn_with_digits("loadKeyFromVault20240115")
    (True, False)
    """
    return looks_random(value) and len(re.findall(r"\d+", value)) >= _MOST_NUMBERS


def is_strong(value: str) -> bool:
    """Made as passwords are: a sign among letters, or letters of both cases with a digit."""
    letters = any(map(str.isalpha, value))
    signs = any(character in "!@#$%^&*?~" for character in value)
    kinds = any(map(str.isupper, value)) and any(map(str.islower, value)) and any(map(str.isdigit, value))
    return letters and (signs or kinds)


def is_of_all_letters(match: re.Match[str]) -> bool:
    """Capitals, small letters and digits, as random base64 has them and joined names seldom do."""
    return all(any(is_one(character) for character in match[0]) for is_one in (str.isupper, str.islower, str.isdigit))


def _is_random_part(part: str) -> bool:
    digits = sum(character.isdigit() for character in part)
    letters = sum(character.isalpha() for character in part)
    return len(part) >= _SHORTEST_PART and letters > 0 and digits > 0
