"""Secrets behind a telling name: ``api_key = …``, ``--token …``, ``"password": "…"``.

The name alone is nothing: "forgot password" is a sentence, ``token = next(tokens)`` is code. Behind it must stand a
value with the look of chance, or, where people choose the value themselves, a literal that is no label.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from helix_episodes.redaction.chance import (
    is_mixed,
    is_placeholder,
    is_scrambled,
    is_strewn_with_digits,
    looks_random,
    says_what_it_is,
)
from helix_episodes.redaction.rules import Cut, Rule, compiled, cuts_by, mentions

if TYPE_CHECKING:
    from collections.abc import Iterator

# Names after which a value of the right shape is a secret.
_NAMES = (
    r"(?:api[_-]?key|secret|token|passw(?:or)?d|passphrase|pwd|credentials?|private[_-]?key|access[_-]?key|auth[_-]?key"
    r"|account[_-]?key|encryption[_-]?key|signing[_-]?key|client[_-]?key)"
)
_NEEDLES = ("key", "secret", "token", "passw", "passphrase", "pwd", "credential")
# One of them stands between a name and its value.
_JOINTS = (":", "=", "--")
_VALUE = r"([^\s\"'`,;<>()\[\]{}\\]{6,512})"
# Names for which people choose the value themselves, so that it is short and needs no look of chance.
_CHOSEN_BY_PEOPLE = ("passw", "pwd", "passphrase")

_DOTTED_NAME = re.compile(r"[A-Za-z_]\w*(?:(?:\.|::|->)[A-Za-z_]\w*)+[.:]?")
_PATH_BEGINNINGS = ("/", "./", "../", "~/", "http://", "https://")


# From a needle to its joint: the rest of the name (twelve letters at most) and what stands between.
_JOINED = r"[\w-]{0,32}\\?[\"']?\s{0,4}[:=]"
#: A name's needle stands at most this far from its first letter (``encryption_key``), and its value ends this far on.
_BEFORE, _AFTER = 12, 600


def named_secrets(text: str, *, lowered: str) -> Iterator[Cut]:
    """The values behind telling names, and behind the options of commands that are so called.

    ``lowered`` is the text in small letters.
    """
    if mentions(text, _JOINTS) and mentions(lowered, _NEEDLES):
        for start, end in _windows(text, lowered):
            yield from cuts_by(_NAMED, text, start=start, end=end)
        if "--" in text:
            yield from cuts_by(_OPTION, text)


def _windows(text: str, lowered: str) -> Iterator[tuple[int, int]]:
    """Where the expression for names can match at all; trying it at every letter takes five times as long."""
    if len(lowered) != len(text):  # a letter such as the Turkish capital I becomes two: places no longer agree
        yield 0, len(text)
        return
    joined = compiled(_JOINED)
    places = sorted(place for needle in _NEEDLES for place in _places(lowered, needle) if joined.match(text, place))
    start = end = -1
    for place in places:
        if place - _BEFORE > end:
            if end >= 0:
                yield start, end
            start = max(0, place - _BEFORE)
        end = place + _AFTER
    if end >= 0:
        yield start, end


def _places(text: str, needle: str) -> Iterator[int]:
    place = text.find(needle)
    while place >= 0:
        yield place
        place = text.find(needle, place + 1)


def _is_secret(match: re.Match[str]) -> bool:
    name, value = match[1].lower(), match[2]
    if is_placeholder(value) or _is_code(match, value):
        return False
    if _is_assigned(match) and is_scrambled(value):
        return True
    if _is_literal(match) and any(chosen in name for chosen in _CHOSEN_BY_PEOPLE) and not says_what_it_is(value):
        return True
    return _is_chosen(name, value)


def _is_chosen(name: str, value: str) -> bool:
    """The look that a value must have behind such a name."""
    if any(chosen in name.lower() for chosen in _CHOSEN_BY_PEOPLE):
        return is_mixed(value)
    return looks_random(value)


def _is_option(match: re.Match[str]) -> bool:
    """What a command is given stands there itself; only code has dots between names."""
    return not match[2].startswith(_PATH_BEGINNINGS) and (
        _is_secret(match) or (_DOTTED_NAME.fullmatch(match[2]) is not None and _is_chosen(match[1], match[2]))
    )


def _is_assigned(match: re.Match[str]) -> bool:
    """Between name and value stands ``=`` and nothing else."""
    return match.string[match.end(1) : match.start(2)].strip() == "="


def _is_literal(match: re.Match[str]) -> bool:
    """Right behind the bare name, and in quotes or, as in a shell or a connection string, joined to it by ``=``."""
    before, after = match.string[match.end(1) : match.start(2)], match.string[match.end(2) : match.end(2) + 1]
    if before[-1:] in ("'", '"'):
        return after in (before[-1], "\\") and before[:1] in (*"'\":= ", "\\")
    return before == "=" and after not in (")", ",", "]", "}")


def _is_code(match: re.Match[str], value: str) -> bool:
    """A call, an attribute, a path or an address: where the value comes from, not what it is."""
    after = match.string[match.end(2) : match.end(2) + 1]
    if after in ("(", "[") or value.startswith(_PATH_BEGINNINGS):
        return True
    # A file may be named after a key: ``api_key=<key>.txt``.
    return _DOTTED_NAME.fullmatch(value) is not None and not is_strewn_with_digits(value.partition(".")[0])


_NAMED = Rule(
    "secret",
    _NEEDLES,
    r"(?i)(" + _NAMES + r")[\w-]{0,20}\\?[\"']?\s{0,4}[:=]{1,2}>?\s{0,4}\\?[\"'`]?" + _VALUE,
    group=2,
    accept=_is_secret,
)
_OPTION = Rule(
    "secret",
    ("--",),
    # What stands before is looked at last, so that the search can leap from one hyphen to the next.
    r"--(?<![\w-]--)(?i:(?:[a-z]{1,16}-){0,3}(" + _NAMES + r"))\s{1,4}[\"']?" + _VALUE,
    group=2,
    accept=_is_option,
)
