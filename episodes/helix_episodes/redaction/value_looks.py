"""What a value looks like: drawn by chance, chosen by a person, made of words, or put in a value's place."""

from __future__ import annotations

import base64
import binascii
import math
import re
import string
from collections import Counter
from functools import lru_cache
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
        (value[0] == "$" and not (value.startswith("$$") and is_strong(value)))
        or value[0] == "*"
        or (value[0] == "%" and not _ENCODED.match(value))
        or "${" in value
        or "***" in value
        or "..." in value
        or "EXAMPLE" in value
        or "xxxx" in lowered
    ):
        return True
    return any(
        word in lowered
        for word in ("redacted", "your", "placeholder", "changeme", "change me", "change-me", "change_me")
    )


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
    return (
        is_unlike_words(value)
        or is_by_chance(value)
        or _APP_PASSWORD.fullmatch(value) is not None
        or (
            value.replace("_", "").replace("-", "").isalpha()
            and not (value.isupper() or value.islower())
            and sum(map(len, parts)) <= _LONGEST_MEAN_PART * len(parts)
        )
    )


@lru_cache(maxsize=8192)  # the long words of texts come again and again
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


def is_by_chance(value: str) -> bool:
    """Whether the letters and digits of a value follow each other as chance has it and not as words do.

    >>> is_by_chance("BPTNEpszjoBPPV"), is_by_chance("0yp18bp5oq"), is_by_chance("loadSessionBytes2")
    (True, True, False)
    """
    if len(value) < _SHORTEST_BY_CHANCE or not value.isascii() or _POINTER.fullmatch(value):
        return False
    has_digits = any(map(str.isdigit, value))
    if sum(map(str.isalpha, value)) < _FEWEST_LETTERS:
        return False
    is_name = not has_digits and is_made_of_words(value)
    return likelihood_of_chance(value) >= (_BY_CHANCE_OF_LONG_RUNS if is_name else _BY_CHANCE)


def likelihood_of_chance(value: str) -> float:
    """How much likelier chance makes the letters and digits of a value than people who name something."""
    return sum(_likelihood(part) for part in _ALNUM.findall(value))


def _likelihood(part: str) -> float:
    part = part.lower() if part.isupper() else part
    sorts = part.translate(_SORTS)
    return sum(
        _RARE_STEPS[step] if step in _RARE_STEPS and pair.lower() in _RARE_PAIRS else _STEPS[step]
        for step, pair in ((sorts[at : at + 2], part[at : at + 2]) for at in range(len(part) - 1))
    )


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
#: How much likelier (log of the ratio) two characters follow each other in random keys than in the 13,500 mixed words
#: of agents' logs, by their sorts: small letter, capital, digit; a rare pair of letters apart.
_STEPS = {"ll": -2.0, "lU": 0.6, "ld": 3.5, "Ul": -0.4, "UU": 2.8, "Ud": 6.0, "dl": 3.5, "dU": 1.1, "dd": -1.6}
_RARE_STEPS = {"ll": 2.5, "Ul": 5.0, "UU": 4.8}
#: 99 % of random keys of 12 letters and digits reach it, and 100 of these words, most of them pointers and names with
#: JSON, HTTP and the like; of those of letters alone with runs as short as chance makes them, 3 do.
_BY_CHANCE, _BY_CHANCE_OF_LONG_RUNS = 3.0, 12.0
#: Dates, versions and durations have fewer letters.
_SHORTEST_BY_CHANCE, _FEWEST_LETTERS = 8, 4
_SORTS = str.maketrans(string.ascii_letters + string.digits, "l" * 26 + "U" * 26 + "d" * 10)
#: As Apple makes them for one program.
_APP_PASSWORD = re.compile(r"[a-z]{4}(?:-[a-z]{4}){3}")
_POINTER = re.compile(r"0x.*|h?[0-9a-f-]+|[0-9A-F-]+")
_ALNUM = re.compile(r"[A-Za-z0-9]+")
_SHORTEST_PASSWORD = 8
_HEX = re.compile(r"[0-9a-f-]+")
_NAMED_HEX = re.compile(r"(?:[A-Za-z]\w{0,20}[-:_.@])*(?:[0-9a-f-]+|[0-9A-F-]+)")
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


def mean_run(value: str) -> float:
    """The mean length of the runs of small letters, capitals and digits."""
    runs = _RUN.findall(value)
    return sum(map(len, runs)) / max(1, len(runs))


#: What is no password though it holds letters, digits and a sign: versions, dates, codes of addresses, globs, issues.
_NO_LIKENESS = re.compile(
    r".*(?:%(?!\d{3})(?:0[AD]|2[0-9A-F]|3[A-F]|40|5[B-F]|60|7[B-F]|[89A-F][0-9A-F])|\*\*|\.\*|://|\.\d|@v?\d|…).*"
    r"|[A-Za-z/_-]*#\d+|0x.*|[\d:.TZ+-]+|[\w.-]+@[\w.-]+|sha\d{1,3}-.*|[A-Z]+(?:-\d+)+|\$\w+|[&*-]?\w+[?&]?"
    r"|\d+[-_#+][^\d]*|.*[/.]|\d+Z&\w*"
)
#: Names with a number that an operator joins, in which words are longer than chance makes them.
_JOINED_NAMES = re.compile(
    r"[a-z_.-]+\d{0,3}(?:[+#?&=*~^%][a-z_.]+\d{0,3})+|[A-Za-z_.-]+\d{0,2}(?:[+#?&=*~^%][A-Za-z_.]+\d{0,2})+"
)
#: Words and numbers with a sign between them or behind, as people make passwords of them.
_MADE = re.compile(
    r"[A-Z][a-z]{2,}[-_]\d{2,}[a-z]{3,}[-_]?|[a-z]{3,}\d{2,}[-_][A-Z][a-z]{2,}[-_]?|[A-Z][a-z]{2,}\d{2,4}[-_]"
    r"|[a-z]*(?:[a-z]\d|\d[a-z])[a-z0-9]*(?:\d[a-z]|[a-z]\d)[a-z0-9]*[-_][a-z0-9]*(?:[a-z]\d[a-z]|\d[a-z]\d)[a-z0-9]*"
)
#: Parts that a sign joins, and what the pods of Kubernetes are called.
_JOINED, _POD = re.compile(r"\w+(?:-\w+)*"), re.compile(r"[a-z0-9-]+-[0-9a-z]{8,10}-[a-z0-9]{5}")
_PARTED = re.compile(r"[A-Za-z0-9]{3,}(?:[-_.][A-Za-z0-9]{3,}){1,3}")
_SHORTEST_LIKE, _SHORTEST_LETTERS = 8, 10
#: Of 20,000 keys of 14 characters drawn by chance 98 % have runs as short as this.
_LONGEST_LIKE_RUN, _LONGEST_LETTERS_RUN = 3.0, 2.4


def is_like_password(value: str) -> bool:
    """Whether a value can hardly be anything but a password or a key, which a line that speaks of one makes likely.

    >>> is_like_password("Linen^692pickle"), is_like_password("x86_64.*linux"), is_like_password("w4lnu7Kf1ddl")
    (True, False, True)
    """
    if len(value) < _SHORTEST_LIKE or _NAMED_HEX.fullmatch(value) or is_placeholder(value):
        return False
    both = any(map(str.isupper, value)) and any(map(str.islower, value))
    if value.isalnum():
        return both and (_is_mixed_like_key(value) or is_by_chance(value))
    if "/" in value or "\\" in value:
        return False
    digits = sum(map(str.isdigit, value))
    is_short = both and len(value) >= _SHORTEST_LETTERS and mean_run(value) <= _LONGEST_LETTERS_RUN
    if any(sign in value for sign in "!^*%+#$&~?@"):
        is_made = (both and digits > 0) or (digits >= _MOST_NUMBERS and any(map(str.isalpha, value)))
        is_name = mean_run(value) > _LONGEST_LIKE_RUN and _JOINED_NAMES.fullmatch(value) is not None
        return (
            is_made and not is_name and not _NO_LIKENESS.fullmatch(value)
            if digits
            else is_short or (both and is_by_chance(value))
        )
    if digits and (_MADE.fullmatch(value) or (_JOINED.fullmatch(value) and is_by_chance(value))):
        return not _POD.fullmatch(value)
    return is_short and _PARTED.fullmatch(value) is not None and (digits > 0 or is_unlike_words(value))


def has_words_and_number(value: str) -> bool:
    """Whether a hyphen or an underscore joins words and numbers as people make passwords of them."""
    return _MADE.fullmatch(value) is not None


def _is_mixed_like_key(value: str) -> bool:
    """Letters of both cases, with digits or without, in runs as short as chance makes them."""
    if not (any(map(str.isupper, value)) and any(map(str.islower, value))) or value.startswith("0x"):
        return False
    run, unlike = mean_run(value), is_unlike_words(value)
    if any(map(str.isdigit, value)):
        return len(value) >= _SHORTEST_LETTERS and (run <= _LONGEST_LIKE_RUN or unlike)
    return len(value) >= _SHORTEST_PART and (run <= _LONGEST_LETTERS_RUN or (unlike and run <= _LONGEST_MEAN_PART))


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


def is_pair_of_words(value: str) -> bool:
    """Two words and more, perhaps with numbers, none of which a sentence needs."""
    words = value.split(" ")
    return (
        len(words) > 1
        and min(map(len, words)) >= _SHORTEST_WORD
        and FUNCTION_WORDS.isdisjoint(value.lower().split())
        and not says_what_it_is(value)
    )


def is_grouped_code(value: str) -> bool:
    """Groups of one length that make no words, as codes are shown that are to be typed.

    >>> is_grouped_code("o4aq p6q9 b2zl fz7e"), is_grouped_code("that this will work")
    (True, False)
    """
    groups = re.split(r"[ -]", value)
    return len(set(map(len, groups))) == 1 and (
        is_unlike_words(value.replace(" ", "")) or sum(not group.isalpha() for group in groups) > 1
    )


def is_made_as_password(value: str) -> bool:
    """Letters, digits and a sign, as people are asked for, and no name."""
    return (
        len(value) >= _SHORTEST_PASSWORD
        and is_strong(value)
        and any(map(str.isdigit, value))
        and any(sign in value for sign in "!@#%^&*?+-_")
        and not (value.replace(".", "").isidentifier() and is_made_of_words(value))
    )


def is_dense(value: str, *, shortest: int = 16) -> bool:
    """Capitals, small letters and digits in short runs, as random keys have them, or letters that make no words."""
    if len(value) < shortest or " " in value:
        return False
    if not (any(map(str.isupper, value)) and any(map(str.islower, value))):
        return False
    return (
        (any(map(str.isdigit, value)) and not is_made_of_words(value)) or is_unlike_words(value) or is_by_chance(value)
    )


def is_pair(value: str) -> bool:
    """``user:password`` in base64."""
    try:
        plain = base64.b64decode(value, validate=True)
    except (binascii.Error, ValueError):
        return False
    return b":" in plain and plain.isascii() and plain.decode("ascii").isprintable()
